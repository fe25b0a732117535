/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guests of hlguest calibrate share with the command that runs them. Included by
 * assembly too: macros only, those for assembly at the end.
 *
 * Each guest is a function of one ELF, guests.elf, at GUESTS_BASE: the command starts it
 * by its symbol, in ring 3 unless said otherwise. It ends with out to GUESTS_PORT_DONE.
 * Parameters and results are 64-bit words from the symbol `shared` on.
 */
#ifndef CALIBRATE_GUESTS_H
#define CALIBRATE_GUESTS_H

#define GUESTS_BASE 0x400000

#define GUESTS_PORT_ROUND 99  /* to the monitor and back */
#define GUESTS_PORT_LOST  102 /* an exception that nobody expects; ends the run */
#define GUESTS_PORT_DONE  108 /* the end */

#define GUESTS_VECTOR_INT  0x81 /* a vector for programs ... */
#define GUESTS_VECTOR_TRAP 3    /* ... and one that they reach everywhere */

/* Words of `shared`, by their offset. */
#define GUESTS_OPERATIONS 0  /* in: of a string program */
#define GUESTS_ITERATIONS 8  /* in: of a crossing, GUESTS_CROSSINGS at most */
#define GUESTS_ENTRY      16 /* in: guest address of the entry of field's first page */
#define GUESTS_STEPS      24 /* out: instructions that ended in #DB */
#define GUESTS_SERVED     32 /* out: page faults */
#define GUESTS_REFUSED    40 /* out: #UD and #GP */
#define GUESTS_CALL_RING  48 /* out: the ring that syscall entered, last */
#define GUESTS_HOT        56 /* in: of a landing guest, turns between two exits */
#define GUESTS_CHAIN      64 /* in: guest address of the first link of the chain */
#define GUESTS_SHARED     72 /* bytes */

/* Four TSC readings of each crossing: before, first in ring 0, last there, after. */
#define GUESTS_CROSSINGS 4096
#define GUESTS_TIMES     4

#define GUESTS_PAGE         4096
#define GUESTS_OPERATES_MAX 1000000
#define GUESTS_BUFFER       (2 * GUESTS_OPERATES_MAX) /* bytes: operations on words */

#ifdef __ASSEMBLER__

/* A function of the ELF, up to `end`, on a line of the cache of its own. */
	.macro function name
	.p2align 6, 0xcc
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.macro end name
	.size	\name, . - \name
	.endm

#endif

#endif
