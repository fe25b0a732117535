/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Crossings: what it takes to leave a ring, or the guest, and to come back.
 *
 * Ring 3 reads the TSC, crosses, and reads it again; in ring 0 a handler's first
 * instruction reads it, and its last before iretq. mfence keeps loads and stores of the
 * surroundings out; between the two readings of a pair stands nothing but the crossing
 * and the three instructions that put the first one away.
 *
 *	r8 before, r13 first in ring 0, r14 last there, rax after
 *
 * An instruction that is refused (#UD, #GP) goes on at r15.
 */
#include "guests.h"

	.text

	.macro ticks to
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, \to
	.endm

	.macro prologue
	mov	shared + GUESTS_ITERATIONS(%rip), %r12
	mov	shared + GUESTS_ENTRY(%rip), %r10
	lea	samples(%rip), %rdi
	lea	field(%rip), %rsi
	xor	%r13d, %r13d
	xor	%r14d, %r14d
	lea	2f(%rip), %r15
	.p2align 4
1:
	mfence
	ticks	%r8
	.endm

	.macro epilogue
2:
	rdtsc
	mfence
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%r8, (%rdi)
	mov	%r13, 8(%rdi)
	mov	%r14, 16(%rdi)
	mov	%rax, 24(%rdi)
	add	$GUESTS_PAGE, %rsi
	add	$(8 * GUESTS_TIMES), %rdi
	dec	%r12
	jnz	1b
	out	%al, $GUESTS_PORT_DONE
	ud2
	.endm

	.macro crossing name, code:vararg
	function \name
	prologue
	\code
	epilogue
	end \name
	.endm

	/* The measurement itself; also in ring 0. */
	crossing cross_nothing

	crossing cross_fault, mov (%rsi), %ebx
	crossing cross_int, int $GUESTS_VECTOR_INT
	crossing cross_trap, .byte 0xcd, GUESTS_VECTOR_TRAP /* int 3, not int3 */
	crossing cross_ud, ud2
	crossing cross_syscall, syscall
	crossing cross_out, out %al, $GUESTS_PORT_ROUND
	crossing cross_vmcall, vmcall
	crossing cross_vmmcall, vmmcall
	crossing cross_hlt, hlt /* in ring 0 */

	/* cpuid writes the registers that ticks uses, and ebx, ecx: nothing we keep. */
	function cross_cpuid
	prologue
	xor	%eax, %eax
	cpuid
	epilogue
	end	cross_cpuid

	/*
	 * Before cross_fault: every page is touched while it is there, so that the host
	 * has memory for it, and has mapped that; else its own fault would be in the way
	 * back. Then ring 0 takes the pages away.
	 */
	function touch_field
	lea	field(%rip), %rsi
	mov	$GUESTS_CROSSINGS, %ecx
1:
	mov	(%rsi), %ebx
	add	$GUESTS_PAGE, %rsi
	dec	%ecx
	jnz	1b
	out	%al, $GUESTS_PORT_DONE
	ud2
	end	touch_field

	function take_field
	lea	field(%rip), %rsi
	mov	shared + GUESTS_ENTRY(%rip), %r10
	mov	$GUESTS_CROSSINGS, %ecx
1:
	andq	$~1, (%r10)
	invlpg	(%rsi)
	add	$8, %r10
	add	$GUESTS_PAGE, %rsi
	dec	%ecx
	jnz	1b
	out	%al, $GUESTS_PORT_DONE
	ud2
	end	take_field

	/* Handlers: in ring 0, on the monitor's stack. */

	.macro leave
	mfence
	ticks	%r14
	iretq
	.endm

	function handle_fault
	ticks	%r13
	add	$8, %rsp /* the error code */
	orq	$1, (%r10)
	add	$8, %r10
	incq	shared + GUESTS_SERVED(%rip)
	leave
	end	handle_fault

	function handle_int
	ticks	%r13
	leave
	end	handle_int

	/* #GP has an error code, which nobody reads; #UD has none. */
	function handle_protection
	ticks	%r13
	add	$8, %rsp
	jmp	1f
	end	handle_protection

	function handle_ud
	ticks	%r13
1:
	incq	shared + GUESTS_REFUSED(%rip)
	mov	%r15, (%rsp)
	leave
	end	handle_ud

	function handle_step
	incq	shared + GUESTS_STEPS(%rip)
	iretq
	end	handle_step

	function handle_lost
	out	%al, $GUESTS_PORT_LOST
	hlt
	end	handle_lost

	/* Some software that emulates syscall stays in ring 3. */
	function enter_syscall
	ticks	%r13
	mov	%r13, %r14
	mov	%cs, %eax
	and	$3, %eax
	mov	%rax, shared + GUESTS_CALL_RING(%rip)
	jnz	1f
	mfence
	ticks	%r14
	sysretq
1:
	jmp	*%rcx
	end	enter_syscall

	.data
	.p2align 12
	.globl	shared
	.type	shared, @object
shared:
	.fill	GUESTS_SHARED, 1, 0
	.size	shared, GUESTS_SHARED

	.bss
	.p2align 12
	.globl	samples
	.type	samples, @object
samples:
	.skip	GUESTS_CROSSINGS * GUESTS_TIMES * 8
	.size	samples, . - samples
	.globl	source, target
	.type	source, @object
	.type	target, @object
source:
	.skip	GUESTS_BUFFER
	.size	source, . - source
	.p2align 12
target:
	.skip	GUESTS_BUFFER
	.size	target, . - target
	.p2align 12
	.globl	field
	.type	field, @object
field:
	.skip	GUESTS_CROSSINGS * GUESTS_PAGE
	.size	field, . - field

	.section .note.GNU-stack, "", @progbits
