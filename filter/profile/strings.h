/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts that recur, each kept once and called by a number, from 1 on. */
#ifndef HLG_FILTER_PROFILE_STRINGS_H
#define HLG_FILTER_PROFILE_STRINGS_H

#include "filter/profile/index.h"

#define HLG_NO_STRING 0

struct hlg_strings {
	char **names; /* [n] is number n + 1 */
	uint32_t n;
	struct hlg_index index; /* of names, from 0 */
};

/* The number of a text, which is copied when it is new; HLG_NO_STRING without memory. */
uint32_t hlg_strings_add(struct hlg_strings *names, const char *text);

/* The number of a text that is there; HLG_NO_STRING if it is not. */
uint32_t hlg_strings_find(const struct hlg_strings *names, const char *text);

/* Owned by names; NULL for HLG_NO_STRING. */
const char *hlg_strings_get(const struct hlg_strings *names, uint32_t name);

void hlg_strings_finish(struct hlg_strings *names);

#endif
