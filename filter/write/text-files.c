// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of recordings. On a screen that has no room for their paths, columns are left
 * out, and then what all paths have in common, so that what tells them apart stays.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/write/format.h"
#include "filter/write/table.h"
#include "symtab/escape.h"

enum {
	SAMPLES,
	GUEST,
	SHARE,
	LOST,
	BASE,
	CHECK,
	FILE_NAME,
	COLUMNS,
	NAME = 24, /* cells for names, before columns are left out */
	FEW = 40   /* recordings are listed in text, however small top= is */
};

static const struct hlg_column all_columns[COLUMNS] = {
	[SAMPLES] = {NULL, "samples", .type = HLG_VALUE_COUNT, 0, 9, .none = "-"},
	[GUEST] = {NULL, "guest", .type = HLG_VALUE_COUNT, 1, 9, .none = "-"},
	[SHARE] = {NULL, "share", .type = HLG_VALUE_PERCENT, 1, 8, .unit = " %",
		   .none = "-"},
	[LOST] = {NULL, "lost", .type = HLG_VALUE_COUNT, 1, 6, .none = "-"},
	[BASE] = {NULL, "base", .type = HLG_VALUE_WORD, 2, -14, .none = "-"},
	[CHECK] = {NULL, "check", .type = HLG_VALUE_WORD, 1, -11, .none = "-"},
	[FILE_NAME] = {NULL, "file", .type = HLG_VALUE_TEXT, 1},
};

/* The list as it is written. */
struct list {
	const struct hlg_report *r;
	const struct hlg_table_sink *sink;
	unsigned char layout[COLUMNS];
	struct hlg_column columns[COLUMNS];
	struct hlg_table table;
	size_t folder; /* bytes of each path that are left out */
	size_t alike;  /* of each path, from its beginning */
	bool tails;    /* only what paths end with tells them apart */
};

/* Bytes that all paths begin with, whole characters. */
static size_t alike_of(const struct hlg_report *r)
{
	const char *first = r->files[0].path;
	size_t n = strlen(first), at = 0;

	for (size_t i = 1; i < r->n_files; i++) {
		size_t same = 0;

		while (same < n && r->files[i].path[same] == first[same])
			same++;
		n = same;
	}
	for (size_t step; at < n; at += step) {
		step = hlg_escape_plain(first + at);
		step = step ? step : 1;
		if (at + step > n)
			break;
	}
	return at;
}

static long longest(const struct list *l)
{
	long most = 0;

	for (size_t i = 0; i < l->r->n_files; i++) {
		long n = hlg_table_cells(l->r->files[i].path + l->folder);
		most = n > most ? n : most;
	}
	return most;
}

/* Cells that are left for paths. */
static long room_of(const struct list *l)
{
	return (long)l->table.screen.columns - (long)hlg_table_front(&l->table);
}

/* Would these look the same, cut in the middle as tables cut? */
static bool are_one_when_cut(const struct list *l, const char *a, const char *b)
{
	const size_t n_a = strlen(a), n_b = strlen(b);
	const long left = room_of(l) - 2;
	const size_t head = (size_t)(left > 0 ? left - left / 3 : 0);
	const size_t tail = (size_t)(left > 0 ? left / 3 : 0);

	return n_a > head + tail && n_b > head + tail && strncmp(a, b, head) == 0 &&
	       strcmp(a + n_a - tail, b + n_b - tail) == 0;
}

static void fit(struct list *l)
{
	static const unsigned char in_order[] = {SHARE, LOST, SAMPLES};
	const char *first = l->r->files[0].path;
	long most = longest(l);

	if (most <= room_of(l))
		return;
	l->alike = alike_of(l->r);
	l->folder = SIZE_MAX;
	for (size_t i = 0; i < l->r->n_files; i++) {
		size_t folder = hlg_table_folder(first, l->r->files[i].path);

		l->folder = folder < l->folder ? folder : l->folder;
	}
	most = longest(l);
	most = most < NAME ? most : NAME;
	for (size_t i = 0; i < sizeof(in_order) && room_of(l) < most; i++)
		hlg_table_leave_out(&l->table, l->layout, in_order[i]);
	for (size_t i = 1; i < l->r->n_files; i++)
		l->tails |= are_one_when_cut(l, l->r->files[i - 1].path + l->folder,
					     l->r->files[i].path + l->folder);
}

/* "file (in some/folder/)", to be freed: as much of it as there is room for. */
static char *heading_of(const struct list *l)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	long room = room_of(l) - (long)strlen("file (in )");
	char *folder = strndup(l->r->files[0].path, l->folder);

	if (f) {
		fputs("file", f);
		if (folder && l->folder && room >= 6) {
			fputs(" (in ", f);
			hlg_table_cut(f, folder, room, l->table.screen.ascii);
			fputc(')', f);
		}
	}
	free(folder);
	return hlg_memstream_close(&m);
}

/* A path that has no room is cut at its left: as much of what all begin with as must be,
 * or of all. To be freed; NULL without memory. */
static char *name_of(const struct list *l, const char *path)
{
	const size_t most = l->tails ? strlen(path) : l->alike;
	const long room = room_of(l);
	const char *dots = l->table.screen.ascii ? ".." : "\u2026";
	size_t at = l->folder;
	char *name;

	if (!l->table.screen.columns || hlg_table_cells(path + at) <= room)
		return strdup(path + at);
	while (at < most && hlg_table_cells(path + at) + 2 > room) {
		size_t step = hlg_escape_plain(path + at);

		at += step ? step : 1;
	}
	if (asprintf(&name, "%s%s", at > l->folder ? dots : "", path + at) < 0)
		return NULL;
	return name;
}

static bool write_file(FILE *f, const struct list *l, const struct hlg_report_file *file)
{
	const uint64_t host = file->host - file->traced;
	char base[32], trust[12], *name = name_of(l, file->path);
	struct hlg_value c[COLUMNS] = {
		[SAMPLES] = hlg_table_count_value(file->samples),
		[GUEST] = hlg_table_count_value(file->guest),
		[SHARE] = hlg_table_number_value(
			hlg_interval_part_share(file->guest, host)),
		[LOST] = hlg_table_count_value(file->lost),
		[BASE] = hlg_table_text_value(file->fit.n_bases ? base : NULL),
		[CHECK] = hlg_table_text_value(trust),
		[FILE_NAME] = hlg_table_text_value(name),
	};
	bool whole;

	if (file->fit.n_bases > 1)
		snprintf(base, sizeof(base), "%zu bases", file->fit.n_bases);
	else
		snprintf(base, sizeof(base), "0x%" PRIx64, file->fit.base);
	/* "WRONG ELF OR BASE" is long for a column. */
	snprintf(trust, sizeof(trust), "%.*s",
		 file->fit.verdict == HLG_TRUST_MISMATCH ? 5 : 11,
		 hlg_verdict_said(file->fit.verdict));
	for (size_t i = 0; file->problem && i < FILE_NAME; i++)
		c[i].is = false;
	if (file->problem)
		c[CHECK] = hlg_table_text_value("left out");
	whole = name && l->sink->row(f, &l->table, c, 0);
	free(name);
	return whole;
}

int hlg_text_files(FILE *f, const struct hlg_report *r, const struct hlg_table_sink *sink,
		   struct hlg_err *err)
{
	struct list l = {.r = r, .sink = sink};
	char *heading;
	bool ok;

	memcpy(l.columns, all_columns, sizeof(all_columns));
	for (int i = 0; i < COLUMNS; i++)
		l.layout[i] = (unsigned char)i;
	l.table = (struct hlg_table){l.columns, l.layout, COLUMNS, .screen = r->screen};
	if (l.table.screen.columns)
		fit(&l);
	heading = heading_of(&l);
	ok = heading;
	if (heading) {
		l.columns[FILE_NAME].heading = heading;
		sink->head(f, &l.table);
	}
	for (size_t i = 0; ok && i < r->n_files; i++)
		ok &= write_file(f, &l, &r->files[i]);
	free(heading);
	return ok ? 0 : hlg_err_memory(err, "report");
}

int hlg_text_files_write(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	const uint64_t top = r->options->top;
	struct hlg_report shown = *r;
	size_t wrong = 0;
	int rc;

	if (r->n_files < 2)
		return 0;
	if (top && r->n_files > FEW && (top == HLG_UNSET || r->n_files > top))
		shown.n_files = top == HLG_UNSET || top < FEW ? FEW : (size_t)top;
	for (size_t i = shown.n_files; i < r->n_files; i++)
		wrong +=
			r->files[i].problem || r->files[i].fit.verdict >= HLG_TRUST_MIXED;
	fputc('\n', f);
	rc = hlg_text_files(f, &shown, &hlg_table_text, err);
	if (shown.n_files == r->n_files)
		return rc;
	fprintf(f, "(%zu more", r->n_files - shown.n_files);
	if (wrong)
		fprintf(f, ", %zu of them left out or not fitting", wrong);
	fputs(": --top=0)\n", f);
	return rc;
}
