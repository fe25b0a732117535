// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/report-table.h"

#include <string.h>

#include "filter/report/callgraph.h"
#include "filter/view/place-name.h"

const struct hlg_column hlg_report_table_columns[HLG_REPORT_COLUMNS] = {
	[HLG_REPORT_RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[HLG_REPORT_SERIES] = {"series", NULL, .type = HLG_VALUE_TEXT},
	[HLG_REPORT_KIND] = {"kind", NULL, .type = HLG_VALUE_WORD},
	[HLG_REPORT_NAME] = {"name", "function", .type = HLG_VALUE_TEXT, .gap = 2},
	[HLG_REPORT_SYMBOL] = {"symbol", NULL, .type = HLG_VALUE_TEXT},
	[HLG_REPORT_ALIASES] = {"aliases", NULL, .type = HLG_VALUE_LIST, .between = " "},
	[HLG_REPORT_IMAGE] = {"image", NULL, .type = HLG_VALUE_TEXT},
	[HLG_REPORT_ADDR] = {"addr", NULL, .type = HLG_VALUE_ADDR},
	[HLG_REPORT_SIZE] = {"size", "size", .type = HLG_VALUE_COUNT, 2, 7, .none = "-"},
	[HLG_REPORT_SAMPLES] = {"samples", "samples", .type = HLG_VALUE_COUNT, 2, 8},
	[HLG_REPORT_PERIOD] = {"period", "period", .type = HLG_VALUE_COUNT, 1, 16},
	[HLG_REPORT_PERCENT] = {"percent", "overhead", .type = HLG_VALUE_PERCENT, 0, 8,
				.unit = " %", .flags = HLG_COLUMN_PAINTED},
	[HLG_REPORT_LOW] = {"low", NULL, .type = HLG_VALUE_PERCENT},
	[HLG_REPORT_HIGH] = {"high", NULL, .type = HLG_VALUE_PERCENT},
	[HLG_REPORT_UNSURE] = {"unsure", NULL, .type = HLG_VALUE_BOOL},
	[HLG_REPORT_EDGE] = {"edge", "edge %", .type = HLG_VALUE_PERCENT, 2, 6,
			     .none = "-", .flags = HLG_COLUMN_OMIT},
	[HLG_REPORT_SELF_SAMPLES] = {"self_samples", NULL, .type = HLG_VALUE_COUNT},
	[HLG_REPORT_SELF_PERIOD] = {"self_period", NULL, .type = HLG_VALUE_COUNT},
	[HLG_REPORT_SELF_PERCENT] = {"self_percent", NULL, .type = HLG_VALUE_PERCENT},
	[HLG_REPORT_MARK] = {NULL, "", .type = HLG_VALUE_BOOL, 1, 1, .unit = "~"},
	[HLG_REPORT_INTERVAL] = {NULL, "95 % interval", .type = HLG_VALUE_SHARES, 0, 15},
	[HLG_REPORT_BAR] = {NULL, "heat", .type = HLG_VALUE_BAR, 2, -10},
	[HLG_REPORT_MARGIN] = {NULL, "95 %", .type = HLG_VALUE_WORD, 1, 7},
	[HLG_REPORT_TIME] = {NULL, "time", .type = HLG_VALUE_WORD, 1, 10},
	[HLG_REPORT_RANGE] = {NULL, "region", .type = HLG_VALUE_WORD},
};

void hlg_report_table_count(struct hlg_value c[static HLG_REPORT_COLUMNS],
			    struct hlg_count count)
{
	c[HLG_REPORT_SAMPLES] = hlg_table_count_value(count.samples);
	c[HLG_REPORT_PERIOD] = hlg_table_count_value(count.period);
}

static void share_cells(struct hlg_value *c, const struct hlg_share *share)
{
	c[HLG_REPORT_PERCENT] = hlg_table_number_value(share->share);
	c[HLG_REPORT_LOW] = hlg_table_number_value(share->low);
	c[HLG_REPORT_HIGH] = hlg_table_number_value(share->high);
	c[HLG_REPORT_INTERVAL] = hlg_table_share_value(*share);
}

/* The other names of a place's symbol. */
static const char *next_alias(const void *of, size_t *i)
{
	const struct hlg_place *place = of;
	size_t n;
	const struct hlg_symbol *first =
		hlg_image_aliases(place->image, place->symbol, &n);

	if (*i < n && &first[*i] == place->symbol)
		++*i;
	if (*i >= n || *i > HLG_IMAGE_ALIASES)
		return NULL;
	if (*i == HLG_IMAGE_ALIASES) {
		++*i;
		return "...";
	}
	return hlg_image_name(place->image, &first[(*i)++]);
}

void hlg_report_table_row(struct hlg_value c[static HLG_REPORT_COLUMNS],
			  const struct hlg_report *r, const struct hlg_row *row,
			  const char *series)
{
	const struct hlg_place *place = &row->place;

	memset(c, 0, HLG_REPORT_COLUMNS * sizeof(*c));
	c[HLG_REPORT_RECORD] = hlg_table_text_value(row->border ? HLG_PLACE_NAME_BORDER
						    : place->kind <= HLG_GAP ? "function"
									     : "other");
	c[HLG_REPORT_SERIES] = hlg_table_text_value(series);
	c[HLG_REPORT_KIND] =
		hlg_table_text_value(r->suppressed  ? "address"
				     : row->border  ? HLG_PLACE_NAME_BORDER
				     : row->inlined ? "inlined"
						    : hlg_place_name_kind(place->kind));
	c[HLG_REPORT_NAME] = hlg_table_text_value(row->name);
	if (place->symbol && !row->misfit)
		c[HLG_REPORT_SYMBOL] =
			hlg_table_text_value(hlg_image_name(place->image, place->symbol));
	if (place->symbol && !row->misfit && r->options->aliases)
		c[HLG_REPORT_ALIASES] =
			(struct hlg_value){.is = true, .list = {next_alias, place}};
	if (place->image)
		c[HLG_REPORT_IMAGE] = hlg_table_text_value(hlg_image_word(place->image));
	if (place->image && !row->inlined) {
		c[HLG_REPORT_ADDR] = hlg_table_count_value(place->start);
		c[HLG_REPORT_SIZE] = hlg_table_count_value(place->end - place->start);
	}
	hlg_report_table_count(c, row->count);
	share_cells(c, &row->share);
	c[HLG_REPORT_UNSURE] = c[HLG_REPORT_MARK] = hlg_table_count_value(row->unsure);
	if (row->edge_known)
		c[HLG_REPORT_EDGE] = hlg_table_number_value((double)row->edge /
							    (double)row->count.samples);
}

void hlg_report_table_region(struct hlg_value c[static HLG_REPORT_COLUMNS],
			     const struct hlg_report *r, const struct hlg_view *v,
			     const struct hlg_region *region, const char *series)
{
	memset(c, 0, HLG_REPORT_COLUMNS * sizeof(*c));
	c[HLG_REPORT_RECORD] = hlg_table_text_value("region");
	c[HLG_REPORT_SERIES] = hlg_table_text_value(series);
	c[HLG_REPORT_NAME] =
		hlg_table_text_value(v->rows[v->parts[region->first_part].row].name);
	c[HLG_REPORT_IMAGE] = hlg_table_text_value(
		region->image ? hlg_image_word(region->image) : NULL);
	c[HLG_REPORT_ADDR] = hlg_table_count_value(region->addr);
	c[HLG_REPORT_SIZE] = hlg_table_count_value(r->options->region);
	hlg_report_table_count(c, region->count);
	share_cells(c, &region->share);
}

void hlg_report_table_host(struct hlg_value c[static HLG_REPORT_COLUMNS],
			   const struct hlg_host_row *row, double share,
			   const char *series)
{
	memset(c, 0, HLG_REPORT_COLUMNS * sizeof(*c));
	c[HLG_REPORT_RECORD] = hlg_table_text_value("host");
	c[HLG_REPORT_SERIES] = hlg_table_text_value(series);
	c[HLG_REPORT_NAME] = hlg_table_text_value(row->comm);
	c[HLG_REPORT_IMAGE] = hlg_table_text_value(row->dso);
	hlg_report_table_count(c, row->count);
	c[HLG_REPORT_PERCENT] = hlg_table_number_value(share);
}

void hlg_report_table_sums(struct hlg_report_table_sum sums[static HLG_REPORT_SUMS],
			   const struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;

	*sums++ = (struct hlg_report_table_sum){"seen", r->profile->seen};
	*sums++ = (struct hlg_report_table_sum){"deselected", r->profile->deselected};
	*sums++ = (struct hlg_report_table_sum){"host", r->profile->host};
	*sums++ = (struct hlg_report_table_sum){"tracepoint",
						hlg_profile_traced(r->profile)};
	*sums++ = (struct hlg_report_table_sum){"guest", v->guest};
	for (int k = 0; k < HLG_N_KINDS; k++)
		*sums++ = (struct hlg_report_table_sum){
			hlg_place_name_kind((enum hlg_kind)k), v->kinds[k]};
	*sums++ = (struct hlg_report_table_sum){HLG_PLACE_NAME_BORDER, v->border};
	*sums++ = (struct hlg_report_table_sum){"padding", v->padding};
	*sums++ = (struct hlg_report_table_sum){"dropped", v->dropped};
}

/* Whether or not its samples fit there. */
static size_t find_run(const struct hlg_report *r, uint32_t sandbox, unsigned lane,
		       const struct hlg_image **image, uint64_t *base)
{
	*image = hlg_trust_of_sandbox(&r->trust, (int32_t)sandbox, base);
	if (*image)
		return 1;
	if (r->space->n_lanes)
		return hlg_space_in_lane(r->space, lane, image, base);
	*image = hlg_trust_of_own(&r->trust, (int32_t)sandbox, base);
	return *image ? 1 : 2;
}

size_t hlg_report_table_runs(const struct hlg_report *r, uint32_t sandbox, unsigned lane,
			     const struct hlg_image **image, uint64_t *base)
{
	const size_t n = find_run(r, sandbox, lane, image, base);

	return n == 1 && hlg_trust_is_off(&r->trust, sandbox) ? 0 : n;
}

const char *hlg_report_table_state(enum hlg_state state)
{
	static const char *const words[] = {"guest kernel", "guest user", "host kernel",
					    "host user",    "hypervisor", "other"};

	return words[state];
}

int hlg_report_table_stack_sums(
	struct hlg_report_table_stack_sum sums[static HLG_REPORT_STACK_SUMS],
	const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_callgraph_sums s;
	int rc = hlg_callgraph_sum(&s, r, err);
	const struct hlg_report_table_stack_sum all[HLG_REPORT_STACK_SUMS] = {
		{"host half", "host_half", s.known, false, true},
		{"no KVM_RUN stack", "no_kvm_run_stack", s.orphan, false, true},
		{"no callchain", "no_callchain", s.bare, false, s.bare.samples != 0},
		{"not kept", "not_kept", s.lost, false, s.lost.samples != 0},
		{"with guest callers", "guest_callers", s.called, false,
		 s.called.samples != 0},
		{"aside", "aside", s.aside, false, false},
		{"KVM_RUNs", "kvm_runs", {s.marks, 0}, true, false},
		{"host halves", "host_halves", {s.halves, 0}, true, false},
		{"host frames", "host_frames", {s.frames, 0}, true, false},
		{"unresolved", "unresolved", {s.unresolved, 0}, true, false},
	};

	if (rc == 0)
		memcpy(sums, all, sizeof(all));
	return rc;
}

void hlg_report_table_caller_sums(
	struct hlg_report_table_caller_sum sums[static HLG_REPORT_CALLER_SUMS],
	const struct hlg_report *r)
{
	const struct hlg_caller_sums *c = &r->callers;
	const struct hlg_report_table_caller_sum all[HLG_REPORT_CALLER_SUMS] = {
		{"stacks", "stacks", c->stacks},
		{"whole", "whole", c->whole},
		{"truncated", "truncated", c->truncated},
		{"calls", "calls", c->edges},
		{"proved", "proved", c->confirmed},
		{"by pointer", "by_pointer", c->indirect},
		{"wrong", "wrong", c->wrong},
		{"inserted", "inserted", c->inserted},
		{"caller unknown", "caller_unknown", c->unknown},
		{"left out", "left_out", c->refused},
		{"not recorded", "not_recorded", c->none},
	};

	memcpy(sums, all, sizeof(all));
}
