/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What saved profiles say of their own samples: whether these fitted the ELF that they
 * were saved with. Who has no ELF knows no more than that.
 */
#ifndef HLG_FILTER_PROFILE_CHECKED_H
#define HLG_FILTER_PROFILE_CHECKED_H

#include <stdbool.h>

/* The worse, the larger; filter/trust/verdict.h has what they mean. Saved profiles have
 * these numbers. */
enum hlg_checked_word {
	HLG_CHECKED_NOTHING, /* no saved profile was read */
	HLG_CHECKED_VERIFIED,
	HLG_CHECKED_TOO_FEW,
	HLG_CHECKED_UNTESTED,
	HLG_CHECKED_MIXED,
	HLG_CHECKED_MISMATCH
};

/* Of all that were read, the worst. All zero before the first. */
struct hlg_checked {
	enum hlg_checked_word word;
	bool suppressed; /* functions were guest addresses in one of them */
	char *said;      /* why; NULL: nothing was said */
};

/* Adds what one says; said may be NULL. False without memory. */
bool hlg_checked_add(struct hlg_checked *checked, enum hlg_checked_word word,
		     bool suppressed, const char *said);
bool hlg_checked_merge(struct hlg_checked *to, const struct hlg_checked *from);
void hlg_checked_finish(struct hlg_checked *checked);

#endif
