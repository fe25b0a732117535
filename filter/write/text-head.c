// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-head.h"

#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "filter/stats/interval.h"
#include "filter/write/report-table.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"

#define INDENT "         "

static void write_banner(FILE *f, const struct hlg_report *r)
{
	for (size_t i = 0; i < r->n_warnings; i++) {
		fputs("!! ", f);
		hlg_escape_print(f, r->notes.line[i]);
		fputs("\n\n", f);
	}
	if (!r->banner)
		return;
	fputs("!! ", f);
	hlg_escape_print(f, r->banner);
	fputs("\n\n", f);
}

static void write_boundaries(FILE *f, const char *what, const struct hlg_boundaries *b,
			     const struct hlg_share *share)
{
	char percent[16], low[16], high[16];

	fprintf(f, INDENT "%-10s %10" PRIu64 " of %10" PRIu64 " %8s %%  %6s - %6s\n",
		what, b->on, b->on + b->off, hlg_interval_percent(percent, share->share),
		hlg_interval_percent(low, share->low),
		hlg_interval_percent(high, share->high));
}

static void write_trust(FILE *f, const struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;
	char chance[16];

	fprintf(f, "trust    %s", hlg_verdict_word(t->verdict));
	if (t->addrs.on + t->addrs.off == 0) {
		fputc('\n', f);
	} else {
		fputs("  (on instruction boundaries, 99 % interval", f);
		if (t->bytes > 0)
			fprintf(f, "; by chance %s %%",
				hlg_interval_percent(chance, t->chance));
		fputs(")\n", f);
		write_boundaries(f, "samples", &t->samples, &t->by_samples);
		write_boundaries(f, "addresses", &t->addrs, &t->by_addrs);
	}
	if (t->samples.undecodable)
		fprintf(f,
			INDENT "%" PRIu64 " sample%s in functions and labels could not "
			       "be tested\n",
			t->samples.undecodable, t->samples.undecodable == 1 ? "" : "s");
	for (size_t i = 0; i < r->remarks.n; i++) {
		fputs(INDENT, f);
		hlg_escape_print(f, r->remarks.line[i]);
		fputc('\n', f);
	}
}

static void write_base(FILE *f, const struct hlg_image_test_base *sum)
{
	fprintf(f, INDENT "  0x%-16" PRIx64 " %12" PRIu64 " samples", sum->base,
		sum->count.samples);
	if (sum->tid >= 0)
		fprintf(f, ", thread %" PRId32, sum->tid);
	fputc('\n', f);
}

static void write_bases(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image)
{
	enum {
		SHOWN = 40
	};
	const struct hlg_image_test *ti = hlg_trust_of(&r->trust, image);

	if (!ti || ti->n_bases < 2)
		return;
	for (size_t i = 0; i < ti->n_bases && i < SHOWN; i++)
		write_base(f, &ti->bases[i]);
	if (ti->n_bases > SHOWN)
		fprintf(f, INDENT "  ... and %zu more\n", ti->n_bases - SHOWN);
}

static const char *machine_name(const struct hlg_image *image)
{
	if (image->map)
		return "perf map";
	return image->elf.machine == EM_AARCH64 ? "AArch64" : "x86-64";
}

static void write_image(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image)
{
	char from[96];

	fputs("image    ", f);
	hlg_escape_print(f, image->path);
	fprintf(f, "  (%s, %zu symbol%s", machine_name(image), image->tab.n_syms,
		image->tab.n_syms == 1 ? "" : "s");
	if (!image->map)
		fprintf(f, " from %s", image->elf.dynsym ? ".dynsym" : ".symtab");
	fputs(")\n", f);
	if (image->elf.build_id[0])
		fprintf(f, "         build id %s\n", image->elf.build_id);
	hlg_base_describe(image, from, sizeof(from));
	if (image->n_also)
		fprintf(f, "         %zu bases (", hlg_image_n_bases(image));
	else
		fprintf(f, "         base 0x%" PRIx64 " (", image->base);
	hlg_escape_print(f, from);
	fputs(")\n", f);
	write_bases(f, r, image);
}

static const char *weight_words(const struct hlg_report *r)
{
	if (r->options->weight == HLG_WEIGHT_SAMPLES)
		return "samples";
	if (r->all.weight == HLG_WEIGHT_SAMPLES)
		return "period within an event, samples over all";
	return "period";
}

static void write_header(FILE *f, const struct hlg_report *r)
{
	static const char *const gaps[] = {"retag: rows of their own", "drop: left out",
					   "stretch: credited to the symbol before"};

	write_banner(f, r);
	fprintf(f, "hlguest %s\n\n", HLG_VERSION);
	for (size_t i = 0; i < r->space->n_images; i++)
		write_image(f, r, r->space->images[i]);
	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];

		fputs("event    ", f);
		hlg_escape_print(f, event->name);
		fprintf(f,
			"  (precise_ip %u, %" PRIu64 " guest sample%s, period %" PRIu64
			")\n",
			event->precise_ip, r->events[i].count.samples,
			r->events[i].count.samples == 1 ? "" : "s",
			r->events[i].count.period);
	}
	fprintf(f, "weight   %s\n", weight_words(r));
	fprintf(f, "gaps     %s\n", gaps[r->options->gaps]);
	write_trust(f, r);
	fputc('\n', f);
}

static struct hlg_table sums_table(struct hlg_column columns[static 4], const char *what,
				   int width)
{
	const struct hlg_column all[4] = {
		{NULL, what, .type = HLG_VALUE_WORD, .width = (signed char)-width},
		{NULL, "samples", .type = HLG_VALUE_COUNT, 1, (signed char)(28 - width)},
		{NULL, "period", .type = HLG_VALUE_COUNT, 1, 20},
		{NULL, "share", .type = HLG_VALUE_PERCENT, 1, 10, .unit = " %"},
	};

	memcpy(columns, all, sizeof(all));
	return (struct hlg_table){columns, .n = 4};
}

static void write_sum(FILE *f, const struct hlg_table *table, const char *what,
		      struct hlg_count count, struct hlg_count of)
{
	const struct hlg_value c[] = {
		hlg_table_text_value(what), hlg_table_count_value(count.samples),
		hlg_table_count_value(count.period),
		hlg_table_number_value(
			of.samples ? (double)count.samples / (double)of.samples : 0)};

	hlg_table_text_row(f, table, c, 0);
}

/* With stacks=counters: the states from one up to, not including, another. */
static void write_states(FILE *f, const struct hlg_table *table,
			 const struct hlg_report *r, enum hlg_state from, int to,
			 struct hlg_count of)
{
	char what[32];

	for (int i = from; r->options->stacks == HLG_STACKS_COUNTERS && i < to; i++) {
		snprintf(what, sizeof(what), "    %s",
			 hlg_report_table_state((enum hlg_state)i));
		write_sum(f, table, what, r->profile->states[i], of);
	}
}

static void write_sums(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_view *v = &r->all;
	struct hlg_count unlabelled = v->kinds[HLG_GAP];
	struct hlg_column columns[4];
	const struct hlg_table t = sums_table(columns, "", 16);

	hlg_count_sub(&unlabelled, v->padding);
	hlg_table_text_head(f, &t);
	write_sum(f, &t, "seen", p->seen, p->seen);
	write_sum(f, &t, "  deselected", p->deselected, p->seen);
	write_sum(f, &t, "  host", p->host, p->seen);
	write_states(f, &t, r, HLG_HOST_KERNEL, HLG_N_STATES, p->host);
	write_sum(f, &t, "  guest", v->guest, p->seen);
	write_states(f, &t, r, HLG_GUEST_KERNEL, HLG_HOST_KERNEL, v->guest);
	write_sum(f, &t, "    function", v->kinds[HLG_FUNCTION], v->guest);
	write_sum(f, &t, "    label", v->kinds[HLG_LABEL], v->guest);
	write_sum(f, &t, "    gap", v->kinds[HLG_GAP], v->guest);
	write_sum(f, &t, "      padding", v->padding, v->guest);
	write_sum(f, &t, "      unlabelled", unlabelled, v->guest);
	write_sum(f, &t, "    data", v->kinds[HLG_DATA], v->guest);
	write_sum(f, &t, "    outside", v->kinds[HLG_OUTSIDE], v->guest);
	if (v->dropped.samples)
		write_sum(f, &t, "  dropped gaps", v->dropped, v->guest);
	fputc('\n', f);
}

int hlg_text_head_stacks(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_report_table_stack_sum s[HLG_REPORT_STACK_SUMS];
	struct hlg_column columns[4];
	const struct hlg_table t = sums_table(columns, "guest stacks", 20);
	int rc = r->stacks ? hlg_report_table_stack_sums(s, r, err) : 0;
	char name[32];

	if (rc < 0 || !r->stacks)
		return rc;
	hlg_table_text_head(f, &t);
	for (size_t i = 0; i < HLG_REPORT_STACK_SUMS; i++) {
		snprintf(name, sizeof(name), "  %s", s[i].name);
		if (s[i].shown)
			write_sum(f, &t, name, s[i].count, r->all.guest);
	}
	fprintf(f,
		"  %" PRIu64 " KVM_RUNs seen, %" PRIu64
		" distinct host halves; of %" PRIu64 " host frames, %" PRIu64
		" are of no known function\n",
		s[HLG_REPORT_KVM_RUNS].count.samples, s[HLG_REPORT_HALVES].count.samples,
		s[HLG_REPORT_HOST_FRAMES].count.samples,
		s[HLG_REPORT_UNRESOLVED].count.samples);
	if (s[HLG_REPORT_ASIDE].count.samples)
		fprintf(f,
			"  %" PRIu64 " of the host's samples tell of KVM_RUN, not of "
			"time: they are in no stack and no row\n",
			s[HLG_REPORT_ASIDE].count.samples);
	fputc('\n', f);
	return 0;
}

static void write_notes(FILE *f, const struct hlg_report *r)
{
	for (size_t i = r->n_warnings; i < r->notes.n; i++) {
		fputs("note: ", f);
		hlg_escape_print(f, r->notes.line[i]);
		fputc('\n', f);
	}
	if (r->notes.n > r->n_warnings)
		fputc('\n', f);
}

void hlg_text_head(FILE *f, const struct hlg_report *r)
{
	write_header(f, r);
	write_sums(f, r);
	write_notes(f, r);
}
