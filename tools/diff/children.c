// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/children.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/callgraph.h"
#include "filter/report/children.h"

static void free_rows(struct hlg_row *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++) {
		free(rows[i].name);
		free(rows[i].apart);
	}
	free(rows);
}

/* Puts the children's rows in place of the view's; self of rows, then of the border. */
static bool replace(struct hlg_view *view, struct hlg_count *self,
		    const struct hlg_children *children)
{
	struct hlg_row *rows = calloc(children->n + 1, sizeof(*rows));
	struct hlg_row *borders = calloc(children->n + 1, sizeof(*borders));
	size_t n = 0, n_borders = 0;
	bool ok = rows && borders;

	for (int border = 0; border < 2; border++)
		for (size_t i = 0; ok && i < children->n; i++) {
			struct hlg_row row = hlg_children_row(children, i);

			if (row.border != border)
				continue;
			row.name = strdup(row.name);
			ok = row.name;
			if (self)
				self[n + n_borders] = children->rows[i].self;
			if (border)
				borders[n_borders++] = row;
			else
				rows[n++] = row;
		}
	if (!ok) {
		free_rows(rows, n);
		free_rows(borders, n_borders);
		return false;
	}
	free_rows(view->rows, view->n_rows);
	free_rows(view->borders, view->n_borders);
	view->rows = rows;
	view->n_rows = n;
	view->borders = borders;
	view->n_borders = n_borders;
	return true;
}

static int include(struct hlg_view *view, struct hlg_count **self,
		   const struct hlg_report *report, struct hlg_err *err)
{
	struct hlg_children children;
	int rc = hlg_children_build(&children, report, view, err);

	if (rc == 0 && self)
		*self = calloc(children.n + 1, sizeof(**self));
	if (rc == 0 &&
	    ((self && !*self) || !replace(view, self ? *self : NULL, &children)))
		rc = hlg_err_memory(err, "diff");
	if (rc == 0 && report->options->border != HLG_BORDER_DROP) {
		view->kept = children.all;
		view->observations = view->guest_observations;
		view->border = (struct hlg_count){0, 0};
	}
	hlg_children_finish(&children);
	return rc;
}

/* One recording's stacks are judged by themselves, with the side's images and check. */
static int include_run(struct hlg_diff_side *side, size_t i, struct hlg_err *err)
{
	struct hlg_report report = side->report;
	int rc;

	report.profile = &side->runs[i];
	report.stacks = &side->run_stacks[i];
	report.callers = (struct hlg_caller_sums){0};
	report.notes = (struct hlg_note_list){0};
	rc = hlg_callgraph_judge(&report, err);
	if (rc == 0)
		rc = include(&side->each[i], NULL, &report, err);
	hlg_proof_close(report.proof);
	hlg_note_list_finish(&report.notes);
	return rc;
}

int hlg_diff_children(struct hlg_diff_side *side, const char *of, struct hlg_err *err)
{
	int rc;

	if (side->report.callers.refused)
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: the guest keeps no frame pointers, so its callers "
			"cannot be compared (build it with them, or record "
			"--guest-stacks=cfi; --force compares all the same)",
			of);
	if (!side->report.callers.stacks)
		return hlg_err_set(err, HLG_EINPUT, "%s: %s", of,
				   hlg_callgraph_none(side->report.space));
	rc = include(&side->all, &side->self, &side->report, err);
	for (size_t i = 0; rc == 0 && i < side->n_runs; i++)
		rc = include_run(side, i, err);
	return rc;
}
