// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-sums.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filter/view/calls.h"
#include "filter/write/report-table.h"
#include "filter/write/text-line.h"
#include "symtab/plural.h"

static bool is_tested(const struct hlg_report *r)
{
	return r->trust.all.samples.on + r->trust.all.samples.off > 0;
}

/* "3997 samples = 3432 guest + 565 host": terms, and how long the line is by now. */
struct sum {
	FILE *f;
	const struct hlg_screen *screen;
	size_t column, indent;
	bool any;
};

static void begin_sum(struct sum *s, const char *label, uint64_t n, int width,
		      const char *what)
{
	int used = fprintf(s->f, "%-*s%*" PRIu64 " %-7s =", (int)strlen(HLG_TEXT_INDENT),
			   label, width, n, what);

	s->indent = (size_t)(used > 0 ? used - 1 : 0);
	s->column = s->indent + 1;
	s->any = false;
}

static void add_term(struct sum *s, uint64_t n, const char *what)
{
	char term[96];
	int used;

	if (n == 0)
		return;
	used = snprintf(term, sizeof(term), "%s%" PRIu64 " %s", s->any ? "+ " : "", n,
			what);
	if (s->screen->columns && s->column + 1 + (size_t)used > s->screen->columns) {
		fprintf(s->f, "\n%*s", (int)s->indent, "");
		s->column = s->indent;
	}
	s->column += (size_t)fprintf(s->f, " %s", term);
	s->any = true;
}

static void end_sum(struct sum *s)
{
	fputs(s->any ? "\n" : " 0\n", s->f);
}

/* What becomes of gap samples, if not the usual: they are not tested, as the check has
 * it. */
static void add_gaps(struct sum *s, const struct hlg_report *r)
{
	const char *const gaps[] = {
		is_tested(r) ? " (untested)" : "",
		" (left out: gaps=drop)",
		" (credited to the symbol before: gaps=stretch)",
	};
	const uint64_t n = r->all.kinds[HLG_GAP].samples;
	char what[64];

	snprintf(what, sizeof(what), "gap%s%s", hlg_plural_s(n), gaps[r->options->gaps]);
	add_term(s, n, what);
}

/* "12 %", or that it is less than one. */
static const char *whole_percent(char buf[static 16], double share)
{
	long percent = lround(100 * share);

	snprintf(buf, 16, percent ? "%ld %%" : "under 1 %%", percent);
	return buf;
}

/* What crossed between a Hyperlight guest and its host, where that was recorded. */
static void write_calls(FILE *f, const struct hlg_report *r)
{
	struct hlg_calls calls;
	char share[16], line[160];
	size_t n;

	if (!hlg_calls_count(&calls, r->space, r->profile))
		return;
	n = (size_t)snprintf(line, sizeof(line),
			     "%" PRIu64 " guest call%s, %" PRIu64 " host call%s",
			     calls.guest, calls.guest == 1 ? "" : "s", calls.host,
			     calls.host == 1 ? "" : "s");
	if (calls.host_ns && calls.time_ns)
		snprintf(line + n, sizeof(line) - n, ", which took %s of the time",
			 whole_percent(share,
				       (double)calls.host_ns / (double)calls.time_ns));
	else
		snprintf(line + n, sizeof(line) - n, " (what they took: hlguest exits)");
	hlg_text_line_wrap(f, &r->screen, "calls     ", line);
}

static void write_sums(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_view *v = &r->all;
	const uint64_t traced = hlg_profile_traced(p).samples;
	struct sum s = {.f = f, .screen = &r->screen};
	char number[24];
	int width = snprintf(number, sizeof(number), "%" PRIu64, p->seen.samples);

	begin_sum(&s, "accounted", p->seen.samples, width,
		  p->seen.samples == 1 ? "sample" : "samples");
	add_term(&s, v->guest.samples, "guest");
	add_term(&s, hlg_profile_host(p).samples, "host");
	add_term(&s, traced, traced == 1 ? "tracepoint hit" : "tracepoint hits");
	add_term(&s, p->deselected.samples, "filtered out");
	end_sum(&s);
	if (v->guest.samples == 0)
		return;
	begin_sum(&s, "", v->guest.samples, width, "guest");
	add_term(&s, v->kinds[HLG_FUNCTION].samples, "in functions");
	add_term(&s, v->kinds[HLG_LABEL].samples,
		 hlg_plural_word(v->kinds[HLG_LABEL].samples, "label", "labels"));
	add_gaps(&s, r);
	add_term(&s, v->border.samples,
		 r->options->border == HLG_BORDER_DROP
			 ? "at VM exits (left out: border=drop)"
			 : "at VM exits");
	add_term(&s, v->kinds[HLG_DATA].samples, "data");
	add_term(&s, v->kinds[HLG_OUTSIDE].samples,
		 is_tested(r) ? "outside the ELF (untested)" : "outside the ELF");
	end_sum(&s);
	write_calls(f, r);
}

static int write_stacks(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	static const char *const words[HLG_REPORT_ASIDE] = {
		"with a host part", "without (no vCPU entry was seen)",
		"without (the vCPU entry has no callchain)", "not kept (no memory)",
		NULL /* among those above */
	};
	struct hlg_report_table_stack_sum s[HLG_REPORT_STACK_SUMS];
	struct sum sum = {.f = f, .screen = &r->screen};
	int rc = r->stacks ? hlg_report_table_stack_sums(s, r, err) : 0;

	if (rc < 0 || !r->stacks || r->all.guest.samples == 0)
		return rc;
	/* Who asked for callers in the guest did not ask for the host's part. */
	if (r->callers.stacks && !s[HLG_REPORT_KVM_RUNS].count.samples)
		return 0;
	begin_sum(&sum, "stacks", r->all.guest.samples, 1, "guest");
	for (size_t i = 0; i < HLG_REPORT_ASIDE; i++)
		if (words[i])
			add_term(&sum, s[i].count.samples, words[i]);
	end_sum(&sum);
	if (s[HLG_REPORT_KVM_RUNS].count.samples)
		fprintf(f,
			HLG_TEXT_INDENT "%" PRIu64 " vCPU entr%s, from %" PRIu64
					" place%s; %" PRIu64 " of %" PRIu64
					" host frame%s %s no name\n",
			s[HLG_REPORT_KVM_RUNS].count.samples,
			hlg_plural_word(s[HLG_REPORT_KVM_RUNS].count.samples, "y", "ies"),
			s[HLG_REPORT_HALVES].count.samples,
			hlg_plural_s(s[HLG_REPORT_HALVES].count.samples),
			s[HLG_REPORT_UNRESOLVED].count.samples,
			s[HLG_REPORT_HOST_FRAMES].count.samples,
			hlg_plural_s(s[HLG_REPORT_HOST_FRAMES].count.samples),
			hlg_plural_word(s[HLG_REPORT_UNRESOLVED].count.samples, "has",
					"have"));
	if (s[HLG_REPORT_ASIDE].count.samples)
		fprintf(f,
			HLG_TEXT_INDENT "%" PRIu64
					" tracepoint hit%s in no stack and no row\n",
			s[HLG_REPORT_ASIDE].count.samples,
			hlg_plural_word(s[HLG_REPORT_ASIDE].count.samples, " is",
					"s are"));
	return 0;
}

/* A terminal that is a bit too narrow has less of the blanks in front of periods. */
static struct hlg_table sums_table(struct hlg_column columns[static 4],
				   const struct hlg_screen *screen, const char *what,
				   int width)
{
	enum {
		WIDTH = 61,
		PERIOD = 20,
		LEAST = 14
	};
	const int lacks = screen->lines && screen->columns < WIDTH
				  ? WIDTH - (int)screen->columns
				  : 0;
	const int period = PERIOD - lacks > LEAST ? PERIOD - lacks : LEAST;
	const struct hlg_column all[4] = {
		{NULL, what, .type = HLG_VALUE_WORD, .width = (signed char)-width},
		{NULL, "samples", .type = HLG_VALUE_COUNT, 1, (signed char)(28 - width)},
		{NULL, "period", .type = HLG_VALUE_COUNT, 1, (signed char)period},
		{NULL, "share", .type = HLG_VALUE_PERCENT, 1, 10, .unit = " %",
		 .none = "-"},
	};

	memcpy(columns, all, sizeof(all));
	return (struct hlg_table){.columns = columns, .n = 4};
}

/* share: NAN where it is no part. */
static void put_sum(FILE *f, const struct hlg_table *table, const char *what,
		    struct hlg_count count, double share)
{
	const struct hlg_value c[] = {
		hlg_table_text_value(what), hlg_table_count_value(count.samples),
		hlg_table_count_value(count.period), hlg_table_number_value(share)};

	hlg_table_text_row(f, table, c, 0);
}

static void write_sum(FILE *f, const struct hlg_table *table, const char *what,
		      struct hlg_count count, struct hlg_count of)
{
	put_sum(f, table, what, count,
		hlg_interval_part_share(count.samples, of.samples - count.samples));
}

static bool has_states(const struct hlg_report *r)
{
	return r->options->stacks == HLG_STACKS_COUNTERS;
}

/* With stacks=counters: the states from one up to, not including, another. */
static void write_states(FILE *f, const struct hlg_table *table,
			 const struct hlg_report *r, enum hlg_state from, int to,
			 struct hlg_count of)
{
	char what[32];

	for (int i = from; has_states(r) && i < to; i++) {
		snprintf(what, sizeof(what), "    %s",
			 hlg_report_table_state((enum hlg_state)i));
		write_sum(f, table, what, r->profile->states[i], of);
	}
}

/* What was sampled, host and guest, is 100 %; what was left out, and hits of
 * tracepoints, are no parts of it. */
static void write_whole(FILE *f, const struct hlg_table *t, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_count traced = hlg_profile_traced(p), host = hlg_profile_host(p);
	const uint64_t guest = r->all.guest.samples;
	const bool all = p->seen.samples == host.samples + guest;

	hlg_table_text_head(f, t);
	put_sum(f, t, "all", p->seen, all && p->seen.samples ? 1 : NAN);
	put_sum(f, t, "  filtered out", p->deselected, NAN);
	if (traced.samples)
		put_sum(f, t, "  tracepoint hits", traced, NAN);
	put_sum(f, t, "  host", host, hlg_interval_part_share(host.samples, guest));
	if (traced.samples && has_states(r)) /* states are of both */
		put_sum(f, t, "  host and hits", p->host, NAN);
	write_states(f, t, r, HLG_HOST_KERNEL, HLG_N_STATES, p->host);
	put_sum(f, t, "  guest", r->all.guest,
		hlg_interval_part_share(guest, host.samples));
}

void hlg_text_sums_all(FILE *f, const struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;
	struct hlg_count unlabelled = v->kinds[HLG_GAP];
	struct hlg_column columns[4];
	const struct hlg_table t = sums_table(columns, &r->screen, "", 19);

	hlg_count_sub(&unlabelled, v->padding);
	write_whole(f, &t, r);
	write_states(f, &t, r, HLG_GUEST_KERNEL, HLG_HOST_KERNEL, v->guest);
	write_sum(f, &t, "    function", v->kinds[HLG_FUNCTION], v->guest);
	write_sum(f, &t, "    label", v->kinds[HLG_LABEL], v->guest);
	write_sum(f, &t, "    gap", v->kinds[HLG_GAP], v->guest);
	write_sum(f, &t, "      padding", v->padding, v->guest);
	write_sum(f, &t, "      unlabelled", unlabelled, v->guest);
	write_sum(f, &t, "    VM exits", v->border, v->guest);
	write_sum(f, &t, "    data", v->kinds[HLG_DATA], v->guest);
	write_sum(f, &t, "    outside", v->kinds[HLG_OUTSIDE], v->guest);
	if (v->dropped.samples)
		write_sum(f, &t, "  dropped gaps", v->dropped, v->guest);
}

int hlg_text_sums_write(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	int rc;

	if (r->options->stacks == HLG_STACKS_COUNTERS)
		hlg_text_sums_all(f, r);
	else
		write_sums(f, r);
	rc = write_stacks(f, r, err);
	hlg_text_line_notes(f, &r->screen, &r->notes, HLG_NOTE_PLAIN);
	hlg_text_line_notes(f, &r->screen, &r->remarks, HLG_NOTE_PLAIN);
	if (r->options->verbose)
		hlg_text_line_notes(f, &r->screen, &r->notes, HLG_NOTE_DETAIL);
	return rc;
}
