/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the demo guest that a compiler does not write: the entry point, the
 * version note, code that no symbol covers, labels without type and size, and three kinds
 * of padding.
 */
#include "demo.h"

	/* gABI note with 8-byte alignment; both lengths count the terminating zero. */
	.section .note.hyperlight-version, "a", @note
	.balign	8
	.long	2f - 1f
	.long	4f - 3f
	.long	1
1:	.asciz	"Hyperlight"
2:	.balign	8
3:	.asciz	"0.17.0"
4:	.balign	8

	.section .text.start, "ax", @progbits
	.globl	_start
	.type	_start, @function
_start:
	xorl	%ebp, %ebp
	call	guest_main
	movl	$PORT_HALT, %edx
	xorl	%eax, %eax
	outl	%eax, %dx
	ud2				/* after Halt the host starts anew at _start */
	.size	_start, . - _start

	.section .text.asm, "ax", @progbits
	.balign	64
	.globl	checksum_words
	.type	checksum_words, @function
checksum_words:				/* rdi: words, rsi: count; returns their sum */
	xorl	%eax, %eax
	testq	%rsi, %rsi
	jz	2f
1:	addq	(%rdi), %rax
	adcq	$0, %rax
	addq	$8, %rdi
	decq	%rsi
	jnz	1b
2:	ret
	.size	checksum_words, . - checksum_words

	/*
	 * No symbol covers this routine: a label that begins with .L stays in the assembler.
	 * A profiler that stretches symbols up to the next one blames checksum_words.
	 */
	.balign	32, 0xcc		/* int3 */
.Lmixer:				/* rdi: words, rsi: count; returns a mix of them */
	movq	%rsi, %rax
1:	movq	(%rdi), %rcx
	xorq	%rax, %rcx
	rolq	$13, %rcx
	leaq	(%rcx, %rcx, 4), %rax
	movq	%rax, (%rdi)
	addq	$8, %rdi
	decq	%rsi
	jnz	1b
	ret

	/* Zeros, as between the sections of some linkers; they disassemble to nonsense. */
	.balign	128, 0

	/*
	 * Exception handlers, each a label only: symbol type NOTYPE, size 0. The demo calls
	 * three of them as plain functions; excp_debug and excp_nmi never run.
	 */
	.globl	excp_divide, excp_debug, excp_nmi, excp_general_protection
	.globl	excp_page_fault, excp_common
excp_divide:
	movl	$0, %ecx
	jmp	excp_common
	.balign	16
excp_debug:
	movl	$1, %ecx
	jmp	excp_common
	.balign	16
excp_nmi:
	movl	$2, %ecx
	jmp	excp_common
	.balign	16
excp_general_protection:
	movl	$13, %ecx
	movl	$6, %edx
1:	leaq	1(%rdi, %rdi, 2), %rdi
	decl	%edx
	jnz	1b
	jmp	excp_common
	.balign	16
excp_page_fault:
	movl	$14, %ecx
	movl	$24, %edx
1:	leaq	1(%rdi, %rdi, 4), %rdi
	rorq	$7, %rdi
	decl	%edx
	jnz	1b
	/* falls through */
excp_common:				/* rdi: state, ecx: vector; returns a new state */
	pushq	%rbx
	pushq	%rdi
	movl	$8, %edx
1:	rolq	%cl, %rdi
	addq	%rcx, %rdi
	decl	%edx
	jnz	1b
	popq	%rbx
	leaq	(%rdi, %rbx), %rax
	popq	%rbx
	ret

	.section .data.rel.ro, "aw", @progbits
	.balign	8
	.globl	unlabelled_mixer
	.type	unlabelled_mixer, @object
unlabelled_mixer:
	.quad	.Lmixer			/* becomes an R_X86_64_RELATIVE */
	.size	unlabelled_mixer, 8

	.section .note.GNU-stack, "", @progbits
