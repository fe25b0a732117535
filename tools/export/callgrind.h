/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as a callgrind profile, version 1 (Valgrind User Manual, "Callgrind Format
 * Specification"), for callgrind_annotate and KCachegrind.
 *
 * Positions are instr and line: the image's own address, at which its file can be
 * disassembled, and the source line where debug info tells one. Each event has a column
 * of samples and one of period; what the report weighs comes first. Every row of the
 * report is a function of its own, also labels, gaps, data and what lies outside; names
 * that several rows share get their addresses. Nothing is left out by top= or min=.
 *
 * callgrind_annotate tells functions apart by name and file. So that its rows are the
 * report's, all costs of a function stay in its file: those of code inlined from another
 * are at the line of the call.
 */
#ifndef HLG_TOOLS_EXPORT_CALLGRIND_H
#define HLG_TOOLS_EXPORT_CALLGRIND_H

#include "filter/write/format.h"

extern const struct hlg_format hlg_callgrind_format;

#endif
