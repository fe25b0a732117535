/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Twenty programs whose instructions can be counted by hand: five string operations, on
 * bytes and words, each repeated by its prefix and by `loop`. Four instructions (five
 * with two pointers), the operations, three to end: with n operations
 *
 *	            retired         single-stepped
 *	rep         8 (9)           n + 7 (n + 8): a repeated one is one step each time
 *	loop        2n + 7 (+ 8)    the same
 *
 * The last instruction leaves a guest; where a program runs natively, the command writes
 * syscall over it, which is as long.
 */
#include "guests.h"

	.text

	.macro program name, prefix, op, source, target
	.p2align 6, 0xcc
	.globl	\name
	.type	\name, @function
\name:
	cld
	mov	shared + GUESTS_OPERATIONS(%rip), %rcx
	xor	%eax, %eax
	.if	\source
	lea	source(%rip), %rsi
	.endif
	.if	\target
	lea	target(%rip), %rdi
	.endif
	.ifc	\prefix, loop
1:
	\op
	loop	1b
	.else
	\prefix \op
	.endif
	mov	$60, %eax /* exit, by the rules of Linux */
	xor	%edi, %edi
	out	%al, $GUESTS_PORT_DONE
	.size	\name, . - \name
	.endm

	/* The bytes of both buffers are all zero: compared, they are equal to the end. */
	.macro programs size
	program	rep_lods\size, rep, lods\size, 1, 0
	program	rep_stos\size, rep, stos\size, 0, 1
	program	rep_movs\size, rep, movs\size, 1, 1
	program	rep_scas\size, repe, scas\size, 0, 1
	program	rep_cmps\size, repe, cmps\size, 1, 1
	program	loop_lods\size, loop, lods\size, 1, 0
	program	loop_stos\size, loop, stos\size, 0, 1
	program	loop_movs\size, loop, movs\size, 1, 1
	program	loop_scas\size, loop, scas\size, 0, 1
	program	loop_cmps\size, loop, cmps\size, 1, 1
	.endm

	programs b
	programs w

	.section .note.GNU-stack, "", @progbits
