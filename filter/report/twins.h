/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows that are called the same: functions of one image, as Rust's and C++'s generics and
 * static functions of C can be. What tells them apart is shown behind the name; it is no
 * part of it, and no key.
 */
#ifndef HLG_FILTER_REPORT_TWINS_H
#define HLG_FILTER_REPORT_TWINS_H

#include "filter/report/report.h"

/* What a function is, in a few words, as "main.rs:12", to be freed; NULL: nothing is
 * known, or no memory. */
struct hlg_twins_hint {
	char *(*of)(void *ctx, const struct hlg_place *place); /* or NULL */
	void *ctx;
};

/*
 * Sets apart of such rows, in the whole view and in those of groups: the hint where all
 * of one name have another one, else the image's own address, ELF 0x4010. Fails without
 * memory.
 */
int hlg_twins_tell(struct hlg_report *report, const struct hlg_twins_hint *hint,
		   struct hlg_err *err);

#endif
