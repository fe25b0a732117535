/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guests in which it is known where the time goes. Each turns shared.HOT times, leaves
 * the guest once, and begins again for as long as it is run.
 *
 * Where one instruction has the time, `NAME_hot` is its address, and from `NAME_field` to
 * `NAME_end` are instructions of one byte but for it: so an address there tells how many
 * instructions late a sample is.
 */
#include "guests.h"

	.text

	/* In the loop: no call, no symbol of its own for the hot instruction. */
	.macro mark name
	.globl	\name
	.type	\name, @notype
	.set	\name, .
	.endm

	.macro turn
	dec	%r12
	jnz	1b
	out	%al, $GUESTS_PORT_ROUND
	.endm

	/* A string operation: stopped halfway, it is where it was. */
	function landing_rep
2:
	mov	shared + GUESTS_HOT(%rip), %r12
1:
	lea	source(%rip), %rsi
	lea	target(%rip), %rdi
	mov	$65536, %ecx
	mark	landing_rep_field
	.fill	16, 1, 0x90
	mark	landing_rep_hot
	rep movsb
	.fill	16, 1, 0x90
	mark	landing_rep_end
	turn
	jmp	2b
	end	landing_rep

	/* A division that waits for the one before: nothing else takes long. */
	function landing_div
2:
	mov	shared + GUESTS_HOT(%rip), %r12
	mov	$3, %ecx
	mov	$0x123456789abcdef, %rax
1:
	mov	$2, %edx
	mark	landing_div_field
	.fill	4, 1, 0x90
	mark	landing_div_hot
	div	%rcx
	.fill	4, 1, 0x90
	mark	landing_div_end
	turn
	jmp	2b
	end	landing_div

	/* A load that waits for the one before, through memory that no near cache holds. */
	function landing_load
	mov	shared + GUESTS_CHAIN(%rip), %rax
2:
	mov	shared + GUESTS_HOT(%rip), %r12
1:
	mark	landing_load_field
	.fill	4, 1, 0x90
	mark	landing_load_hot
	mov	(%rax), %rax
	.fill	4, 1, 0x90
	mark	landing_load_end
	turn
	jmp	2b
	end	landing_load

	/* As many branches as can be, some taken, some not. */
	function landing_branches
2:
	mov	shared + GUESTS_HOT(%rip), %r12
	mov	$0x9e3779b97f4a7c15, %rbx
	mov	$1, %eax
1:
	imul	%rbx, %rax
	.irp	bit, 63, 62, 61, 60, 59, 58, 57, 56
	bt	$\bit, %rax
	jc	3f
	inc	%ecx
3:
	.endr
	turn
	jmp	2b
	end	landing_branches

	/* Instructions of one to eleven bytes: an address shifted by one is seldom one. */
	function landing_mixed
2:
	mov	shared + GUESTS_HOT(%rip), %r12
	lea	source(%rip), %rsi
1:
	.rept	8
	nop
	movabs	$0x1122334455667788, %rax
	add	$0x12345678, %rax
	mov	%eax, 64(%rsi)
	lea	0x11223344(%rsi, %rax, 8), %rcx
	movl	$0x55667788, 0x1000(%rsi)
	xor	%ecx, %eax
	movups	128(%rsi), %xmm0
	.endr
	turn
	jmp	2b
	end	landing_mixed

	/* Hot, then a gap, then what is never called: a late sample would be in these. */
	function landing_neighbour
2:
	mov	shared + GUESTS_HOT(%rip), %r12
1:
	call	neighbour_hot
	turn
	jmp	2b
	end	landing_neighbour

	.p2align 6, 0xcc
	.globl	neighbour_before
	.type	neighbour_before, @function
neighbour_before:
	.fill	16, 1, 0x90
	ret
	end	neighbour_before
	.globl	neighbour_hot
	.type	neighbour_hot, @function
neighbour_hot:
	mov	$16, %ecx
1:
	imul	%rax, %rax
	dec	%ecx
	jnz	1b
	ret
	end	neighbour_hot
	.fill	16, 1, 0x90
	.globl	neighbour_cold
	.type	neighbour_cold, @function
neighbour_cold:
	.fill	16, 1, 0x90
	ret
	end	neighbour_cold

	.section .note.GNU-stack, "", @progbits
