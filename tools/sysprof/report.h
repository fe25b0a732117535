/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest's profile as a stream of LuaJIT's sysprof, for tools that read these.
 *
 * The idea: each place that has samples is a C function of the symbol table, at its guest
 * address, and each image, too, at an address above all of them. Each sample is an event
 * of state CFUNC, with no frames of Lua and two of the host, address and image; outside
 * images one. So the stream has as many events as the guest has samples, whatever weight=
 * says, and folds to what report --format=folded --weight=samples prints.
 *
 * Three things had to give way, since readers know a symbol by its address only, and the
 * stock parser keeps 53 bits of one: addresses of the upper half lose their upper 12
 * bits; 0, which ends a stack, is written as 1; and where samples of two places would
 * have one address, the second moves up.
 */
#ifndef HLG_TOOLS_SYSPROF_REPORT_H
#define HLG_TOOLS_SYSPROF_REPORT_H

#include <stdio.h>

#include "filter/profile/recording.h"
#include "filter/run.h"

/* More samples, an event of some 12 bytes each, are refused. */
#define HLG_SYSPROF_MAX_SAMPLES UINT64_C(100000000)

/* Fails for what a stream has no room for: by=, the host's rows. */
int hlg_sysprof_check(const struct hlg_run *run, struct hlg_err *err);

/* Writes what run has counted: to out=, else to stream. sums are not told in it. */
int hlg_sysprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		       FILE *stream, struct hlg_err *err);

#endif
