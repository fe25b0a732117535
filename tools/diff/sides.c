// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/sides.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "config.h"
#include "filter/report/banner.h"
#include "filter/report/rows.h"
#include "filter/write/table.h"
#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "filter/write/text-scale.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"
#include "symtab/plural.h"
#include "tools/diff/columns.h"

enum {
	LEAST_PATH = 16 /* cells of a recording's name */
};

#define INDENT "          " /* as wide as the words in front of lines */

/* How the comparison was made */

static void write_image(FILE *f, const struct hlg_diff *diff,
			const struct hlg_image *image)
{
	size_t before = strlen(INDENT "image ") + (size_t)hlg_table_cells(image->path);
	char base[32], from[96], escaped[4 * sizeof(from)], line[sizeof(escaped) + 64];

	hlg_base_describe(image, from, sizeof(from));
	hlg_escape(escaped, sizeof(escaped), from);
	fputs(INDENT "image ", f);
	hlg_escape_print(f, image->path);
	hlg_base_where(image, base, sizeof(base));
	snprintf(line, sizeof(line), ", %s (%s)", base, escaped);
	hlg_text_line_fold(f, &diff->screen, before, INDENT "      ", line);
	if (image->elf.build_id[0])
		fprintf(f, INDENT "      build id %s\n", image->elf.build_id);
}

static void write_details_of(FILE *f, const struct hlg_diff *diff, int s)
{
	enum {
		SHOWN = 10
	};
	const struct hlg_diff_side *side = &diff->side[s];
	const struct hlg_tested *tested = &side->report.trust.all;
	const double effective = hlg_rows_observations(&side->report, &side->all);
	char percent[16], said[80], line[256];
	size_t n = (size_t)snprintf(
		line, sizeof(line),
		"%zu recording%s, %" PRIu64 " guest sample%s, period %" PRIu64,
		side->n_runs, hlg_plural_s(side->n_runs), side->all.guest.samples,
		hlg_plural_s(side->all.guest.samples), side->all.guest.period);

	if (side->all.dropped.samples)
		n += (size_t)snprintf(line + n, sizeof(line) - n, ", %" PRIu64 " dropped",
				      side->all.dropped.samples);
	if (effective + 0.5 < (double)hlg_rows_sum(&side->report, &side->all).samples)
		snprintf(line + n, sizeof(line) - n, " (%.0f effective)", effective);
	fprintf(f, "%-10s", hlg_diff_columns_side[s]);
	hlg_text_line_fold(f, &diff->screen, strlen(INDENT), INDENT, line);
	for (size_t i = 0; i < side->n_runs && i < SHOWN; i++) {
		fputs(INDENT, f);
		hlg_escape_print(f, side->paths[i]);
		fputc('\n', f);
	}
	if (side->n_runs > SHOWN)
		fprintf(f, INDENT "... and %zu more\n", side->n_runs - SHOWN);
	for (size_t i = 0; i < side->space->n_images; i++)
		write_image(f, diff, side->space->images[i]);
	n = (size_t)snprintf(line, sizeof(line), "check %s",
			     hlg_banner_said(said, &side->report));
	if (tested->addrs.on + tested->addrs.off)
		snprintf(line + n, sizeof(line) - n,
			 " (%s %% of samples on instruction starts)",
			 hlg_interval_percent(percent, tested->by_samples.share));
	hlg_text_line_wrap(f, &diff->screen, INDENT, line);
}

void hlg_diff_sides_details(FILE *f, const struct hlg_diff *diff)
{
	char line[96];

	fputs("\nhlguest   " HLG_VERSION "\n", f);
	write_details_of(f, diff, 0);
	write_details_of(f, diff, 1);
	hlg_text_line_wrap(f, &diff->screen, "matched   ", diff->matched);
	hlg_text_line_wrap(f, &diff->screen, "shares    ", diff->shares);
	hlg_text_line_wrap(f, &diff->screen, "test      ", diff->test);
	snprintf(line, sizeof(line),
		 "* significant: q <= %g %%, the false discovery rate over all",
		 100 * HLG_COMPARE_LEVEL);
	hlg_text_line_wrap(f, &diff->screen, INDENT, line);
	hlg_text_line_wrap(f, &diff->screen, INDENT,
			   "rows of a table (Benjamini-Hochberg)");
	hlg_text_line_wrap(f, &diff->screen, INDENT,
			   "intervals are of 95 %, each row's own");
	hlg_text_line_notes(f, &diff->screen, &diff->notes, HLG_NOTE_DETAIL);
}

void hlg_diff_sides_warnings(FILE *f, const struct hlg_diff *diff)
{
	for (int s = 0; s < 2; s++) {
		const char *banner = diff->side[s].report.banner;
		char label[32];

		snprintf(label, sizeof(label), "!! %s: ", hlg_diff_columns_side[s]);
		if (banner)
			hlg_text_line_wrap(f, &diff->screen, label, banner);
	}
	hlg_text_line_notes(f, &diff->screen, &diff->notes, HLG_NOTE_WARNING);
}

void hlg_diff_sides_head(FILE *f, const struct hlg_diff *diff)
{
	hlg_diff_sides_warnings(f, diff);
	fprintf(f, "%-10s%s\n", "total", hlg_diff_total_meaning(diff));
}

static const char *fit_words(char buf[static 176], const struct hlg_report *report)
{
	const enum hlg_trust_verdict verdict = report->trust.all.verdict;
	const bool said = verdict == HLG_TRUST_VERIFIED || verdict == HLG_TRUST_MIXED;
	char outside[80], text[80];

	snprintf(buf, 176, "%s%s%s", said ? "check " : "",
		 verdict == HLG_TRUST_TOO_FEW ? hlg_banner_few(text, report)
					      : hlg_banner_said(text, report),
		 hlg_banner_outside(outside, report));
	return buf;
}

/* A side's only recording, without the folder that both are in where cells are too few.
 */
static const char *path_of(const struct hlg_diff *diff, int s, long cells)
{
	const char *path = diff->side[s].paths[0];

	return hlg_table_cells(path) <= cells
		       ? path
		       : path + hlg_table_folder(path, diff->side[!s].paths[0]);
}

/* "before    main.data, 3432 guest samples, 3.432 s in 4.0 s, check OK" */
static void write_side(FILE *f, const struct hlg_diff *diff, int s)
{
	const struct hlg_diff_side *side = &diff->side[s];
	const struct hlg_diff_side *other = &diff->side[!s];
	struct hlg_count sum = hlg_rows_sum(&side->report, &side->all);
	uint64_t others = hlg_rows_sum(&other->report, &other->all).period;
	struct hlg_text_scale scale = hlg_text_scale_for(
		&side->report, hlg_text_scale_event(&side->report, &side->report.all),
		/* One unit for both, unless it would leave nothing. */
		others > sum.period && others / 100 < sum.period ? others : sum.period);
	char rest[384], period[32], span[32], fit[176];
	bool known = side->n_runs == 1 && hlg_text_scale_span(span, &side->report);
	bool apart; /* what is known of it is on a line of its own */
	long room = diff->screen.columns ? (long)diff->screen.columns : LONG_MAX;
	char of[48] = "", exits[40] = "";
	int n;

	if (side->n_runs == 1 && diff->recordings[s] > 1)
		snprintf(of, sizeof(of), ", %" PRIu64 " recordings", diff->recordings[s]);
	if (side->all.border.samples && side->options->border != HLG_BORDER_DROP)
		snprintf(exits, sizeof(exits), ", %" PRIu64 " at VM exits",
			 side->all.border.samples);
	n = snprintf(rest, sizeof(rest), "%s, %" PRIu64 " guest sample%s%s, %s%s%s, %s%s",
		     of, sum.samples, hlg_plural_s(sum.samples), exits,
		     hlg_text_scale_period(period, &scale, sum.period),
		     known ? " in " : "", known ? span : "",
		     fit_words(fit, &side->report),
		     side->report.profile->checked.word && hlg_space_is_made(side->space)
			     ? " when saved"
			     : "");
	room -= (long)strlen(INDENT);
	apart = side->n_runs == 1 && room - n < LEAST_PATH &&
		hlg_table_cells(path_of(diff, s, room - n)) > room - n;
	fprintf(f, "%-10s", hlg_diff_columns_side[s]);
	if (side->n_runs == 1) {
		room -= apart ? 1 : n;
		hlg_table_cut(f, path_of(diff, s, room), room, diff->screen.ascii);
	} else {
		fprintf(f, "%" PRIu64 " recording%s", diff->recordings[s],
			hlg_plural_s(diff->recordings[s]));
	}
	if (apart) {
		fputs(",\n", f);
		hlg_text_line_wrap(f, &diff->screen, INDENT, rest + strlen(", "));
	} else {
		fprintf(f, "%s\n", rest);
	}
}

void hlg_diff_sides_tail(FILE *f, const struct hlg_diff *diff)
{
	write_side(f, diff, 0);
	write_side(f, diff, 1);
	hlg_text_head_selected(f, diff->side[0].options->selection, &diff->screen);
	hlg_text_line_notes(f, &diff->screen, &diff->notes, HLG_NOTE_PLAIN);
}
