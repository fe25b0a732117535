/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What libtraceevent gets to see of a tracepoint's format.
 *
 * The text comes out of a recording, so somebody else may have written it, and
 * libtraceevent (1.7) trusts it: an unfinished array in a declaration ends the program.
 * So only lines go through that look as the kernel writes them (kernel/trace/
 * trace_events.c, f_show) and declare a number:
 *
 *	name: kvm_exit
 *	ID: 103
 *	format:
 *		field:unsigned int exit_reason;	offset:8;	size:4;	signed:0;
 *
 * Of any other there would be nothing to take: arrays, strings, and the "print fmt", a
 * program in C that nobody here runs.
 */
#ifndef HLG_TOOLS_TRACEPOINT_VET_H
#define HLG_TOOLS_TRACEPOINT_VET_H

#include <stddef.h>

/* At most so many bytes come out for size that went in, with a NUL behind them. */
#define HLG_TRACE_VET_ROOM(size) ((size) + 32)

/* Fills out. Returns the length, without the NUL. */
size_t hlg_trace_vet(char *out, const char *text, size_t size);

#endif
