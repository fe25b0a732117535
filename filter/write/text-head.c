// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-head.h"

#include <inttypes.h>

#include "config.h"
#include "filter/write/trust-text.h"
#include "filter/write/write.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"

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
	hlg_trust_text_bases(f, r, image);
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

	hlg_trust_text_banner(f, r);
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
	hlg_trust_text_write(f, r);
	fputc('\n', f);
}

static void write_sum(FILE *f, const char *what, struct hlg_count count,
		      struct hlg_count of)
{
	char percent[16];
	double share = of.samples ? (double)count.samples / (double)of.samples : 0;

	fprintf(f, "%-16s %12" PRIu64 " %20" PRIu64 " %8s %%\n", what, count.samples,
		count.period, hlg_write_percent(percent, share));
}

/* With stacks=counters: the states from one up to, not including, another. */
static void write_states(FILE *f, const struct hlg_report *r, enum hlg_state from, int to,
			 struct hlg_count of)
{
	char what[32];

	for (int i = from; r->options->stacks == HLG_STACKS_COUNTERS && i < to; i++) {
		snprintf(what, sizeof(what), "    %s", hlg_write_state(i));
		write_sum(f, what, r->profile->states[i], of);
	}
}

static void write_sums(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_view *v = &r->all;
	struct hlg_count unlabelled = v->kinds[HLG_GAP];

	hlg_count_sub(&unlabelled, v->padding);
	fprintf(f, "%-16s %12s %20s %10s\n", "", "samples", "period", "share");
	write_sum(f, "seen", p->seen, p->seen);
	write_sum(f, "  deselected", p->deselected, p->seen);
	write_sum(f, "  host", p->host, p->seen);
	write_states(f, r, HLG_HOST_KERNEL, HLG_N_STATES, p->host);
	write_sum(f, "  guest", v->guest, p->seen);
	write_states(f, r, HLG_GUEST_KERNEL, HLG_HOST_KERNEL, v->guest);
	write_sum(f, "    function", v->kinds[HLG_FUNCTION], v->guest);
	write_sum(f, "    label", v->kinds[HLG_LABEL], v->guest);
	write_sum(f, "    gap", v->kinds[HLG_GAP], v->guest);
	write_sum(f, "      padding", v->padding, v->guest);
	write_sum(f, "      unlabelled", unlabelled, v->guest);
	write_sum(f, "    data", v->kinds[HLG_DATA], v->guest);
	write_sum(f, "    outside", v->kinds[HLG_OUTSIDE], v->guest);
	if (v->dropped.samples)
		write_sum(f, "  dropped gaps", v->dropped, v->guest);
	fputc('\n', f);
}

static void write_notes(FILE *f, const struct hlg_report *r)
{
	for (size_t i = 0; i < r->n_notes; i++) {
		fputs("note: ", f);
		hlg_escape_print(f, r->notes[i]);
		fputc('\n', f);
	}
	if (r->n_notes)
		fputc('\n', f);
}

void hlg_text_head(FILE *f, const struct hlg_report *r)
{
	write_header(f, r);
	write_sums(f, r);
	write_notes(f, r);
}
