/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of messages that go by how many there are: "1 sample is", "2 samples are". */
#ifndef HLG_SYMTAB_PLURAL_H
#define HLG_SYMTAB_PLURAL_H

#include <stdint.h>

/* Of n things one word, or the other. */
static inline const char *hlg_plural_word(uint64_t n, const char *one,
					  const char *several)
{
	return n == 1 ? one : several;
}

/* What nouns end in. */
static inline const char *hlg_plural_s(uint64_t n)
{
	return hlg_plural_word(n, "", "s");
}

#endif
