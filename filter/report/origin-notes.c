// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/origin-notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/output/memstream.h"

enum {
	SHOWN = 5 /* names of a kind */
};

static int compare(const void *a, const void *b)
{
	const struct hlg_origin *x = *(struct hlg_origin *const *)a;
	const struct hlg_origin *y = *(struct hlg_origin *const *)b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x < y ? -1 : x > y; /* they are by key */
}

/* "n1 5000, n2 4998, and 3 more", those with most recordings first. */
static void note_most(struct hlg_report *r, enum hlg_origin_kind kind, const char *of)
{
	const struct hlg_origins *o = &r->profile->origins;
	size_t first, n = hlg_origins_of(o, kind, &first);
	const struct hlg_origin **list = calloc(n + 1, sizeof(struct hlg_origin *));
	struct hlg_memstream m = {0};
	FILE *f = list && n > 1 ? hlg_memstream_open(&m) : NULL;
	char *text;

	for (size_t i = 0; list && i < n; i++)
		list[i] = &o->at[first + i];
	if (list && n)
		qsort(list, n, sizeof(*list), compare);
	for (size_t i = 0; f && i < n && i < SHOWN; i++)
		fprintf(f, "%s%s %" PRIu64, i ? ", " : "",
			list[i]->name[0] ? list[i]->name : "[not told]", list[i]->n);
	if (f && n > SHOWN)
		fprintf(f, ", and %zu more", n - SHOWN);
	free(list);
	text = hlg_memstream_close(&m);
	if (text)
		hlg_note_list_add(&r->notes, "%s: %s", of, text);
	else if (n > 1)
		r->notes.lost = true;
	free(text);
}

/* Why, of some. */
static void warn_unread(struct hlg_report *r, enum hlg_origin_kind kind, const char *said,
			uint64_t all)
{
	const struct hlg_origins *o = &r->profile->origins;
	size_t first, n = hlg_origins_of(o, kind, &first);
	uint64_t told = 0;
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	char *text;

	for (size_t i = 0; f && i < n && i < SHOWN; i++) {
		fprintf(f, "%s%s", i ? "; " : "", o->at[first + i].key);
		told += o->at[first + i].n;
	}
	if (f && all > told)
		fprintf(f, "%sand %" PRIu64 " more", told ? "; " : "", all - told);
	text = hlg_memstream_close(&m);
	if (text)
		hlg_note_list_warn(&r->notes, "%s: %s", said, text);
	else
		r->notes.lost = true;
	free(text);
}

void hlg_origin_notes_add(struct hlg_report *r)
{
	const struct hlg_origins *o = &r->profile->origins;
	char said[128];

	if (o->unread) {
		snprintf(said, sizeof(said),
			 "%" PRIu64 " of %" PRIu64 " recordings left out", o->unread,
			 r->recordings + o->unread);
		warn_unread(r, HLG_ORIGIN_UNREAD, said, o->unread);
	}
	if (o->unread_profiles) {
		snprintf(said, sizeof(said),
			 "%" PRIu64 " saved profile%s could not be read, of how many "
			 "recordings is not known",
			 o->unread_profiles, o->unread_profiles == 1 ? "" : "s");
		warn_unread(r, HLG_ORIGIN_UNREAD_PROFILE, said, o->unread_profiles);
	}
	if (r->recordings < 2)
		return;
	note_most(r, HLG_ORIGIN_HOST, "recordings by host");
	note_most(r, HLG_ORIGIN_IMAGE, "recordings that may have samples of an image");
}
