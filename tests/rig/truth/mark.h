/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a program in the rig speaks to the plugin: it executes a no-op with a number in its
 * displacement, nopl NUMBER(%rax,%rax,1), that no compiler writes.
 */
#ifndef TRUTH_MARK_H
#define TRUTH_MARK_H

#define MARK_START 0x68676c01 /* all counts are zero now */
#define MARK_STOP  0x68676c02 /* the counts are written to the next file */

/* The bytes before the number, and all of them. */
#define MARK_OPCODE "\x0f\x1f\x84\x00"
#define MARK_SIZE   8

#endif
