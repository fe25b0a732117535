// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By image, then name; what has no symbol of its own name is last. */
static int compare(const void *a, const void *b)
{
	const struct hlg_row *x = *(struct hlg_row *const *)a;
	const struct hlg_row *y = *(struct hlg_row *const *)b;

	if (x->place.image != y->place.image)
		return (uintptr_t)x->place.image < (uintptr_t)y->place.image ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool are_twins(const struct hlg_row *a, const struct hlg_row *b)
{
	return a->place.image == b->place.image && strcmp(a->name, b->name) == 0;
}

static char *address_of(const struct hlg_row *row)
{
	char *text;

	return asprintf(&text, "ELF 0x%" PRIx64, row->place.start) < 0 ? NULL : text;
}

/* Has each of them a hint, and no two the same one? */
static bool hints_differ(struct hlg_row *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			if (!rows[i]->apart ||
			    (j < i && strcmp(rows[i]->apart, rows[j]->apart) == 0))
				return false;
	return true;
}

/* Puts what marks a row for another reason (shift.h) behind what tells it from others. */
static bool join(struct hlg_row *row, char *mark)
{
	char *both = NULL;
	bool ok =
		!mark || !row->apart || asprintf(&both, "%s, %s", row->apart, mark) >= 0;

	if (ok && mark) {
		free(row->apart);
		row->apart = both ? both : strdup(mark);
		ok = row->apart != NULL;
	}
	free(mark);
	return ok;
}

/* Rows of one name. False without memory. */
static bool tell(struct hlg_row *const *rows, size_t n, const struct hlg_twins_hint *hint)
{
	char **marks = malloc(n * sizeof(*marks));
	bool ok = marks != NULL;

	for (size_t i = 0; ok && i < n; i++) {
		marks[i] = rows[i]->apart;
		rows[i]->apart = hint->of ? hint->of(hint->ctx, &rows[i]->place) : NULL;
	}
	if (marks && !hints_differ(rows, n))
		for (size_t i = 0; i < n; i++) {
			free(rows[i]->apart);
			rows[i]->apart = address_of(rows[i]);
			ok &= rows[i]->apart != NULL;
		}
	for (size_t i = 0; marks && i < n; i++)
		ok &= join(rows[i], marks[i]);
	free(marks);
	return ok;
}

static bool tell_view(struct hlg_view *view, const struct hlg_twins_hint *hint)
{
	struct hlg_row **rows = malloc((view->n_rows + 1) * sizeof(struct hlg_row *));
	size_t n = 0, end;
	bool ok = rows;

	for (size_t i = 0; rows && i < view->n_rows; i++)
		if (view->rows[i].place.symbol && view->rows[i].place.kind != HLG_GAP)
			rows[n++] = &view->rows[i];
	if (n)
		qsort(rows, n, sizeof(struct hlg_row *), compare);
	for (size_t i = 0; ok && i < n; i = end) {
		for (end = i + 1; end < n && are_twins(rows[i], rows[end]);)
			end++;
		if (end - i > 1)
			ok = tell(rows + i, end - i, hint);
	}
	free(rows);
	return ok;
}

int hlg_twins_tell(struct hlg_report *report, const struct hlg_twins_hint *hint,
		   struct hlg_err *err)
{
	bool ok = tell_view(&report->all, hint);

	for (uint32_t i = 0; ok && i < report->n_groups; i++)
		ok = tell_view(&report->groups[i].view, hint);
	return ok ? 0 : hlg_err_memory(err, "report");
}
