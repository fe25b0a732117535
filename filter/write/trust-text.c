// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/trust-text.h"

#include <inttypes.h>

#include "filter/write/write.h"
#include "symtab/escape.h"

#define INDENT "         "

void hlg_trust_text_banner(FILE *f, const struct hlg_report *r)
{
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
		what, b->on, b->on + b->off, hlg_write_percent(percent, share->share),
		hlg_write_percent(low, share->low), hlg_write_percent(high, share->high));
}

void hlg_trust_text_write(FILE *f, const struct hlg_report *r)
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
				hlg_write_percent(chance, t->chance));
		fputs(")\n", f);
		write_boundaries(f, "samples", &t->samples, &t->by_samples);
		write_boundaries(f, "addresses", &t->addrs, &t->by_addrs);
	}
	if (t->samples.undecodable)
		fprintf(f,
			INDENT "%" PRIu64 " sample%s in functions and labels could not "
			       "be tested\n",
			t->samples.undecodable, t->samples.undecodable == 1 ? "" : "s");
	for (size_t i = 0; i < r->n_remarks; i++) {
		fputs(INDENT, f);
		hlg_escape_print(f, r->remarks[i]);
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

void hlg_trust_text_bases(FILE *f, const struct hlg_report *r,
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
