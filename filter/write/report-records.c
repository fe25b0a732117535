// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of the report, as CSV has them: `interval`, `selected`, `total`, `event`,
 * `sandbox`, `note`, `stacks`, `trust`, `remark`, `function` (with labels and gaps),
 * `other` (data, outside; and guest addresses, when names are suppressed), `region`,
 * `host`.
 */
#include <inttypes.h>
#include <stdio.h>

#include "filter/report/children.h"
#include "filter/report/rows.h"
#include "filter/write/format.h"
#include "filter/write/report-table.h"

static const struct hlg_table table = {hlg_report_table_columns,
				       .n = HLG_REPORT_SELF_SAMPLES};
static const struct hlg_table with_self = {hlg_report_table_columns,
					   .n = HLG_REPORT_COLUMNS};

/* Are there records of functions with what they call? */
static bool has_children(const struct hlg_report *r)
{
	return r->options->children && r->stacks;
}

/* A record that has a name, and a count if it is not NULL. */
static void write_record(struct hlg_records *to, const char *record, const char *name,
			 const struct hlg_count *count)
{
	struct hlg_value c[HLG_REPORT_COLUMNS] = {0};

	c[HLG_REPORT_RECORD] = hlg_table_text_value(record);
	c[HLG_REPORT_NAME] = hlg_table_text_value(name);
	if (count)
		hlg_report_table_count(c, *count);
	hlg_format_record(to, c);
}

/* What the intervals of records are of. */
static void write_intervals(struct hlg_records *to)
{
	static const struct {
		const char *of;
		double level;
	} intervals[] = {{"rows", HLG_INTERVAL_LEVEL}, {"trust", HLG_INTERVAL_LEVEL99}};

	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		struct hlg_value c[HLG_REPORT_COLUMNS] = {0};

		c[HLG_REPORT_RECORD] = hlg_table_text_value("interval");
		c[HLG_REPORT_NAME] = hlg_table_text_value(intervals[i].of);
		c[HLG_REPORT_PERCENT] = hlg_table_number_value(1 - intervals[i].level);
		hlg_format_record(to, c);
	}
}

struct test {
	const char *verdict, *name;
	const uint64_t *n;
	const struct hlg_share *share; /* NULL: nothing was tested */
};

static void write_test(struct hlg_records *to, const struct test *test,
		       const struct hlg_report_records_columns *at)
{
	struct hlg_value c[HLG_REPORT_COLUMNS] = {0};

	c[at->record] = hlg_table_text_value("trust");
	c[at->kind] = hlg_table_text_value(test->verdict);
	c[at->name] = hlg_table_text_value(test->name);
	if (test->n)
		c[at->count] = hlg_table_count_value(*test->n);
	if (test->share && at->low) {
		c[at->low] = hlg_table_number_value(test->share->low);
		c[at->high] = hlg_table_number_value(test->share->high);
	}
	if (test->share)
		c[at->percent] = hlg_table_number_value(test->share->share);
	hlg_format_record(to, c);
}

void hlg_report_records_check(struct hlg_records *to, const struct hlg_tested *tested,
			      const struct hlg_boundaries *b,
			      const struct hlg_share *share,
			      const struct hlg_report_records_columns *at)
{
	const double chance = tested->chance;
	const struct hlg_share by_chance = {chance, chance, chance};
	const struct test tests[] = {
		{hlg_verdict_word(tested->verdict), "on boundaries", &b->on,
		 b->on + b->off ? share : NULL},
		{NULL, "off boundaries", &b->off, NULL},
		{NULL, "not tested", &b->undecodable, NULL},
		{NULL, "by chance", NULL, tested->bytes > 0 ? &by_chance : NULL},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		write_test(to, &tests[i], at);
}

static void write_trust(struct hlg_records *to, const struct hlg_report *r)
{
	static const struct hlg_report_records_columns at = {
		HLG_REPORT_RECORD,  HLG_REPORT_KIND, HLG_REPORT_NAME, HLG_REPORT_SAMPLES,
		HLG_REPORT_PERCENT, HLG_REPORT_LOW,  HLG_REPORT_HIGH};

	hlg_report_records_check(to, &r->trust.all, &r->trust.all.samples,
				 &r->trust.all.by_samples, &at);
	for (size_t i = 0; i < r->remarks.n; i++)
		write_record(to, "remark", r->remarks.line[i], NULL);
}

static int write_stacks(struct hlg_records *to, const struct hlg_report *r,
			struct hlg_err *err)
{
	struct hlg_report_table_stack_sum sums[HLG_REPORT_STACK_SUMS];
	int rc = r->stacks ? hlg_report_table_stack_sums(sums, r, err) : 0;

	for (size_t i = 0; rc == 0 && r->stacks && i < HLG_REPORT_STACK_SUMS; i++) {
		struct hlg_value c[HLG_REPORT_COLUMNS] = {0};

		c[HLG_REPORT_RECORD] = hlg_table_text_value("stacks");
		c[HLG_REPORT_NAME] = hlg_table_text_value(sums[i].name);
		hlg_report_table_count(c, sums[i].count);
		c[HLG_REPORT_PERIOD].is = !sums[i].number;
		hlg_format_record(to, c);
	}
	return rc;
}

static void write_callers(struct hlg_records *to, const struct hlg_report *r)
{
	struct hlg_report_table_caller_sum sums[HLG_REPORT_CALLER_SUMS];

	hlg_report_table_caller_sums(sums, r);
	for (size_t i = 0; i < HLG_REPORT_CALLER_SUMS; i++) {
		struct hlg_value c[HLG_REPORT_COLUMNS] = {0};

		c[HLG_REPORT_RECORD] = hlg_table_text_value("callers");
		c[HLG_REPORT_NAME] = hlg_table_text_value(sums[i].name);
		c[HLG_REPORT_SAMPLES] = hlg_table_count_value(sums[i].number);
		hlg_format_record(to, c);
	}
}

/* The states are parts of the host and the guest. */
static void write_states(struct hlg_records *to, const struct hlg_report *r)
{
	for (int i = 0; r->options->stacks == HLG_STACKS_COUNTERS && i < HLG_N_STATES;
	     i++)
		write_record(to, "total", hlg_report_table_state((enum hlg_state)i),
			     &r->profile->states[i]);
}

static void write_head(struct hlg_records *to, const struct hlg_report *r)
{
	struct hlg_report_table_sum sums[HLG_REPORT_SUMS];

	hlg_format_begin(to, has_children(r) ? &with_self : &table);
	hlg_report_table_sums(sums, r);
	write_intervals(to);
	if (r->options->selection)
		write_record(to, "selected", r->options->selection, NULL);
	for (size_t i = 0; i < HLG_REPORT_SUMS; i++) {
		write_record(to, "total", sums[i].name, &sums[i].count);
		if (i == HLG_REPORT_GUEST)
			write_states(to, r);
	}
	for (uint32_t i = 0; i < r->n_events; i++)
		write_record(to, "event", r->profile->events[r->events[i].event].name,
			     &r->events[i].count);
	for (uint32_t i = 0; i < r->profile->sandboxes.n; i++) {
		char number[16];

		snprintf(number, sizeof(number), "%" PRIu32, i + 1);
		write_record(to, "sandbox", number, &r->profile->sandboxes.at[i].count);
	}
	for (size_t i = 0; i < r->notes.n; i++)
		write_record(to, "note", r->notes.line[i], NULL);
	write_trust(to, r);
}

struct view_writing {
	struct hlg_records *to;
	struct hlg_err err;
	int rc;
};

/* Functions with all that they call, and what of it they have themselves. */
static void write_children(struct view_writing *w, const struct hlg_report *r,
			   const struct hlg_view *v, const char *series)
{
	struct hlg_value c[HLG_REPORT_COLUMNS];
	struct hlg_children children;
	size_t n = 0;

	w->rc = hlg_children_build(&children, r, v, &w->err);
	if (w->rc == 0)
		n = hlg_children_shown(&children, r, 0);
	for (size_t i = 0; i < n; i++) {
		struct hlg_row row = hlg_children_row(&children, i);

		hlg_report_table_row(c, r, &row, series);
		c[HLG_REPORT_RECORD] = hlg_table_text_value("children");
		c[HLG_REPORT_UNSURE].is = false;
		c[HLG_REPORT_SELF_SAMPLES] =
			hlg_table_count_value(children.rows[i].self.samples);
		c[HLG_REPORT_SELF_PERIOD] =
			hlg_table_count_value(children.rows[i].self.period);
		c[HLG_REPORT_SELF_PERCENT] =
			hlg_table_number_value(children.rows[i].self_share);
		hlg_format_record(w->to, c);
	}
	hlg_children_finish(&children);
}

static void write_view(void *of, const struct hlg_report *r, const struct hlg_view *v,
		       const char *series)
{
	struct view_writing *w = of;
	struct hlg_records *to = w->to;
	size_t n = hlg_rows_shown(r, v->n_rows, hlg_rows_share, v);
	size_t regions = hlg_rows_regions_shown(r, v);
	struct hlg_value c[HLG_REPORT_COLUMNS];

	for (size_t k = 0; k < v->n_rows; k++) {
		size_t i = hlg_rows_at(v, k);

		if (i >= n)
			continue;
		hlg_report_table_row(c, r, &v->rows[i], series);
		hlg_format_record(to, c);
	}
	for (size_t i = 0; i < hlg_rows_borders_shown(r, v); i++) {
		hlg_report_table_row(c, r, &v->borders[i], series);
		hlg_format_record(to, c);
	}
	if (has_children(r) && w->rc == 0)
		write_children(w, r, v, series);
	for (size_t i = 0; i < regions; i++) {
		hlg_report_table_region(c, r, v, &v->regions[i], series);
		hlg_format_record(to, c);
	}
}

static void write_host_row(void *to, const struct hlg_host_row *row, double share,
			   const char *series)
{
	struct hlg_value c[HLG_REPORT_COLUMNS];

	hlg_report_table_host(c, row, share, series);
	hlg_format_record(to, c);
}

int hlg_report_records(void *report, struct hlg_records *to, struct hlg_err *err)
{
	const struct hlg_report *r = report;
	struct view_writing view = {.to = to};
	int rc;

	write_head(to, r);
	rc = write_stacks(to, r, err);
	if (r->callers.stacks || r->callers.refused)
		write_callers(to, r);
	if (rc == 0)
		rc = hlg_rows_each_view(&view, r, write_view, err);
	if (rc == 0 && view.rc < 0) {
		*err = view.err;
		rc = view.rc;
	}
	return rc < 0 ? rc : hlg_rows_each_host(to, r, write_host_row, err);
}
