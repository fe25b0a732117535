// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/builds.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

static bool is_same(const struct hlg_build *a, const struct hlg_build *b)
{
	return a->noted == b->noted && a->maybe == b->maybe &&
	       strcmp(a->file, b->file) == 0 &&
	       hlg_fingerprint_is_same(&a->print, &b->print);
}

/* A note made before there was a CRC of code has none: of whatever order, one is kept. */
static void keep_code(struct hlg_fingerprint *print, uint32_t code)
{
	if (code > print->code)
		print->code = code;
}

bool hlg_builds_add(struct hlg_builds *builds, const struct hlg_build *build)
{
	const char *slash = strrchr(build->file, '/');
	struct hlg_build copy = *build;

	if (slash)
		copy.file += slash + 1 - build->file;
	for (size_t i = 0; i < builds->n; i++)
		if (is_same(&builds->at[i], &copy)) {
			keep_code(&builds->at[i].print, copy.print.code);
			return true;
		}
	if (builds->n == HLG_BUILDS_MAX) {
		builds->more |= !copy.maybe;
		return true;
	}
	copy.file = strdup(copy.file);
	if (!copy.file || !HLG_GROW(builds->at, builds->n)) {
		free(copy.file);
		builds->lost = true;
		return false;
	}
	builds->at[builds->n++] = copy;
	return true;
}

void hlg_builds_merge(struct hlg_builds *to, const struct hlg_builds *from)
{
	if (from->written && (to->written == 0 || from->written < to->written))
		to->written = from->written;
	to->more |= from->more;
	to->lost |= from->lost;
	for (size_t i = 0; i < from->n; i++)
		hlg_builds_add(to, &from->at[i]);
}

void hlg_builds_finish(struct hlg_builds *builds)
{
	for (size_t i = 0; i < builds->n; i++)
		free(builds->at[i].file);
	free(builds->at);
	*builds = (struct hlg_builds){0};
}
