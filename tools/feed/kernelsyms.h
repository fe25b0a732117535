/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols of the kernel that runs, from /proc/kallsyms, and its build id. */
#ifndef HLG_TOOLS_FEED_KERNELSYMS_H
#define HLG_TOOLS_FEED_KERNELSYMS_H

#include <stdbool.h>
#include <stdint.h>

struct hlg_kernelsyms;

/*
 * From files like /proc/kallsyms and /sys/kernel/notes; what cannot be read leaves it
 * without symbols, or without a build id. NULL without memory.
 */
struct hlg_kernelsyms *hlg_kernelsyms_read(const char *kallsyms, const char *notes);
void hlg_kernelsyms_destroy(struct hlg_kernelsyms *syms);

/* In lower-case hex; empty if it is not known. */
const char *hlg_kernelsyms_build_id(const struct hlg_kernelsyms *syms);

/* Has it _text or _stext at text? Not if its addresses are hidden (kernel.kptr_restrict).
 */
bool hlg_kernelsyms_is_at(const struct hlg_kernelsyms *syms, uint64_t text);

/* The function at ip, a symbol ending where the next begins, as perf has it; or NULL. */
const char *hlg_kernelsyms_find(const struct hlg_kernelsyms *syms, uint64_t ip);

#endif
