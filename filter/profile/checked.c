// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/checked.h"

#include <stdlib.h>
#include <string.h>

/* What is as bad is told by one of them, whatever their order. */
static bool tells_more(const struct hlg_checked *checked, enum hlg_checked_word word,
		       const char *said)
{
	if (word != checked->word)
		return word > checked->word;
	return said && (!checked->said || strcmp(said, checked->said) < 0);
}

bool hlg_checked_add(struct hlg_checked *checked, enum hlg_checked_word word,
		     bool suppressed, const char *said)
{
	char *copy = NULL;

	checked->suppressed |= suppressed;
	if (!tells_more(checked, word, said))
		return true;
	if (said && !(copy = strdup(said)))
		return false;
	free(checked->said);
	checked->said = copy;
	checked->word = word;
	return true;
}

bool hlg_checked_merge(struct hlg_checked *to, const struct hlg_checked *from)
{
	return hlg_checked_add(to, from->word, from->suppressed, from->said);
}

void hlg_checked_finish(struct hlg_checked *checked)
{
	free(checked->said);
	*checked = (struct hlg_checked){0};
}
