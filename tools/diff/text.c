// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison for people: the answer in a line, what can be said of the total, what
 * changed, the two sides and notes; with verbose= how all of it was made. As text it is
 * fitted to the screen; as Markdown it is for a pull request, in a table.
 */
#include "tools/diff/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/output/memstream.h"
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
#include "tools/diff/join.h"

enum {
	FEWEST = 10,         /* rows, however low a terminal is */
	LEAST_PATH = 16,     /* cells of a recording's name */
	LEAST_TIME = 68,     /* columns, of a table with times */
	LEAST_CHILDREN = 120 /* the same, with shares of functions alone, too */
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
	char percent[16], line[256];
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
			     hlg_banner_said(&side->report));
	if (tested->addrs.on + tested->addrs.off)
		snprintf(line + n, sizeof(line) - n,
			 " (%s %% of samples on instruction starts)",
			 hlg_interval_percent(percent, tested->by_samples.share));
	hlg_text_line_wrap(f, &diff->screen, INDENT, line);
}

void hlg_diff_text_details(FILE *f, const struct hlg_diff *diff)
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

/* Around the tables */

/* What is wrong with a side. */
static void write_warnings(FILE *f, const struct hlg_diff *diff)
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

static const char *fit_words(char buf[static 112], const struct hlg_report *report)
{
	static const char *const words[] = {
		[HLG_TRUST_MISMATCH] = "WRONG ELF OR BASE",
		[HLG_TRUST_TOO_FEW] = "too few to check",
		[HLG_TRUST_UNTESTED] = "not checked",
	};
	const enum hlg_trust_verdict verdict = report->trust.all.verdict;
	const bool said = verdict == HLG_TRUST_VERIFIED || verdict == HLG_TRUST_MIXED;
	char outside[80];

	snprintf(buf, 112, "%s%s%s", said ? "check " : "",
		 said ? hlg_banner_said(report) : words[verdict],
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
	char rest[256], period[32], span[32], fit[112];
	bool known = side->n_runs == 1 && hlg_text_scale_span(span, &side->report);
	bool apart; /* what is known of it is on a line of its own */
	long room = diff->screen.columns ? (long)diff->screen.columns : LONG_MAX;
	char of[48] = "";
	int n;

	if (side->n_runs == 1 && diff->recordings[s] > 1)
		snprintf(of, sizeof(of), ", %" PRIu64 " recordings", diff->recordings[s]);
	n = snprintf(rest, sizeof(rest), "%s, %" PRIu64 " guest sample%s, %s%s%s, %s%s",
		     of, sum.samples, hlg_plural_s(sum.samples),
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

void hlg_diff_text_tail(FILE *f, const struct hlg_diff *diff)
{
	write_side(f, diff, 0);
	write_side(f, diff, 1);
	hlg_text_head_selected(f, diff->side[0].options->selection, &diff->screen);
	hlg_text_line_notes(f, &diff->screen, &diff->notes, HLG_NOTE_PLAIN);
}

static void write_tail(FILE *f, const struct hlg_diff *diff)
{
	hlg_diff_text_tail(f, diff);
	if (diff->side[0].options->verbose)
		hlg_diff_text_details(f, diff);
}

/* Rows */

/* A row at hand, for what its numbers and its name do not say. */
struct shown {
	const struct hlg_diff *diff;
	const struct hlg_diff_row *row;
};

/* What the name does not say; put writes a file's name. */
static void put_remark(FILE *f, const struct shown *shown,
		       void (*put)(FILE *f, const char *text))
{
	const struct hlg_diff *diff = shown->diff;
	const struct hlg_diff_row *row = shown->row;
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);

	if (place->kind == HLG_LABEL)
		fputs("  (label, no function)", f);
	if (row->n[0] > 1 || row->n[1] > 1)
		fprintf(f, "  (of this name: %zu before, %zu after)", row->n[0],
			row->n[1]);
	/* That a symbol which is there has no samples, its share says. */
	if (row->presence == HLG_DIFF_NEW || row->presence == HLG_DIFF_GONE)
		fprintf(f, "  (%s)", hlg_diff_columns_presence(row->presence));
	if (diff->images.n > 1 && place->image) {
		fputs("  [", f);
		put(f, hlg_image_word(place->image));
		fputc(']', f);
	}
}

static void write_remark(FILE *f, const void *of)
{
	put_remark(f, of, hlg_escape_print);
}

static void write_region(FILE *f, const void *of)
{
	const struct shown *shown = of;
	const struct hlg_diff *diff = shown->diff;
	const struct hlg_diff_row *row = shown->row;
	int s = row->n[1] ? 1 : 0;
	const struct hlg_view *view = &diff->side[s].all;
	const struct hlg_region *region = row->region[s];

	fprintf(f, "0x%" PRIx64 "-0x%" PRIx64 "  ", region->addr,
		region->addr + (diff->side[s].options->region - 1));
	if (diff->images.n > 1 && region->image) {
		fputc('[', f);
		hlg_escape_print(f, region->image->path);
		fputs("] ", f);
	}
	hlg_escape_print(f, view->rows[view->parts[region->first_part].row].name);
	if (region->n_parts > 1)
		fprintf(f, ", %zu more", region->n_parts - 1);
}

/* Is this row one to be shown, behind so many? */
static bool is_shown(const struct hlg_diff *diff, const struct hlg_diff_row *row,
		     size_t n)
{
	return (row->significant || diff->every) && (diff->most == 0 || n < diff->most) &&
	       hlg_diff_columns_shows(diff, row, n);
}

/* Were as many rows shown as there may be? Else min= left the others out. */
static bool is_full(const struct hlg_diff *diff, size_t n)
{
	const uint64_t top = hlg_rows_top(&diff->side[0].report);

	return (top && n >= top) || (diff->most && n >= diff->most);
}

/* What a table leaves out of the rows that n were shown of; "" for nothing. */
static const char *rest_of(char buf[static 96], const struct hlg_diff *diff,
			   const struct hlg_diff_rows *rows, size_t n)
{
	size_t wanted = diff->every ? rows->n : rows->n_significant;

	buf[0] = '\0';
	if (n < wanted)
		snprintf(buf, 96, "%zu more%s: --%s=0", wanted - n,
			 diff->every     ? ""
			 : diff->by_runs ? " changed"
					 : " that differ",
			 is_full(diff, n) ? "top" : "min");
	else if (n < rows->n)
		snprintf(buf, 96, "%zu without a significant %s: --all", rows->n - n,
			 diff->by_runs ? "change" : "difference");
	return buf;
}

/* Says so if no function changed. */
static void none_changed(FILE *f, const struct hlg_diff *diff)
{
	const struct hlg_diff_rows *rows = &diff->functions;

	if (diff->incomparable || rows->n_significant || (diff->every && rows->n))
		return;
	fprintf(f, "no %s %s (--all shows %s%zu)",
		diff->withheld ? "guest address" : "function",
		diff->by_runs ? "changed significantly"
			      : "differs between these runs beyond chance",
		rows->n > 1 ? "all " : "", rows->n);
}

static bool write_row(FILE *f, const struct hlg_table *table, const struct shown *shown,
		      bool function)
{
	const struct hlg_diff_row *row = shown->row;
	struct hlg_value v[HLG_DIFF_COLUMNS];
	char times[32];

	hlg_diff_columns_set(v, shown->diff, row);
	if (hlg_diff_total_times(times, shown->diff, row->count))
		v[HLG_DIFF_COLUMN_TIME] = hlg_table_text_value(times);
	v[HLG_DIFF_COLUMN_NAME].is = function;
	v[HLG_DIFF_COLUMN_NAME].tail = function ? write_remark : write_region;
	v[HLG_DIFF_COLUMN_NAME].of = shown;
	/* The colours of a large share and of a small one: red grew, green shrank. */
	return hlg_table_text_row(f, table, v,
				  !row->significant        ? 0
				  : row->compared.diff > 0 ? 1
							   : 0.01);
}

/* Is there a column of time? Only of a clock, and not where it would leave no room for
 * names. */
static bool has_time(const struct hlg_diff *diff)
{
	return diff->total.clock &&
	       (!diff->screen.columns ||
		diff->screen.columns >=
			(diff->side[0].self ? LEAST_CHILDREN : LEAST_TIME));
}

/* The columns of a layout that there are. */
static size_t choose(unsigned char *to, const unsigned char *from, size_t n,
		     const struct hlg_diff *diff)
{
	size_t chosen = 0;

	for (size_t i = 0; i < n; i++)
		if (from[i] != HLG_DIFF_COLUMN_TIME || has_time(diff))
			to[chosen++] = from[i];
	return chosen;
}

static const char *time_word(const struct hlg_diff *diff)
{
	return diff->recordings[0] > 1 || diff->recordings[1] > 1 ? "time per run"
								  : "time";
}

static const char *share_word(const struct hlg_diff *diff)
{
	return diff->weight == HLG_WEIGHT_SAMPLES ? "share of the guest's samples"
	       : diff->total.clock                ? "share of the guest's time"
						  : "share of the guest's events";
}

/* What the shares of a table are of. */
static void put_what(FILE *f, const struct hlg_diff *diff)
{
	char what[128];

	snprintf(what, sizeof(what), "%s%s: change, before and after%s", share_word(diff),
		 diff->side[0].options->border == HLG_BORDER_DROP
			 ? hlg_diff_join_exits(diff)
			 : "",
		 has_time(diff) ? "; and what that is in time" : "");
	hlg_text_line_wrap(f, &diff->screen, "", what);
}

/* Blanks in front of so many characters in brackets under the names; fewer where they
 * have no room. */
static int under(const struct hlg_diff *diff, size_t n)
{
	const int usual = diff->every ? 32 : 31;
	const int room = (int)diff->screen.columns - (int)n - 2;

	return !diff->screen.lines || usual <= room ? usual : room > 0 ? room : 0;
}

/* False without memory. */
static bool write_rows(FILE *f, const struct hlg_diff *diff,
		       const struct hlg_diff_rows *rows, const char *what)
{
	static const unsigned char usual[] = {
		HLG_DIFF_COLUMN_SIGNIFICANT, HLG_DIFF_COLUMN_CHANGE,
		HLG_DIFF_COLUMN_PERCENT,     HLG_DIFF_COLUMN_PERCENT + 1,
		HLG_DIFF_COLUMN_TIME,        HLG_DIFF_COLUMN_NAME};
	static const unsigned char children[] = {
		HLG_DIFF_COLUMN_SIGNIFICANT, HLG_DIFF_COLUMN_CHANGE,
		HLG_DIFF_COLUMN_PERCENT,     HLG_DIFF_COLUMN_PERCENT + 1,
		HLG_DIFF_COLUMN_SELF,        HLG_DIFF_COLUMN_SELF + 1,
		HLG_DIFF_COLUMN_TIME,        HLG_DIFF_COLUMN_NAME};
	static const unsigned char wide[] = {
		HLG_DIFF_COLUMN_SIGNIFICANT, HLG_DIFF_COLUMN_CHANGE,
		HLG_DIFF_COLUMN_PERCENT,     HLG_DIFF_COLUMN_PERCENT + 1,
		HLG_DIFF_COLUMN_POINTS,      HLG_DIFF_COLUMN_INTERVAL,
		HLG_DIFF_COLUMN_Q,           HLG_DIFF_COLUMN_TIME,
		HLG_DIFF_COLUMN_NAME};
	bool self = diff->side[0].self && rows == &diff->functions;
	bool all = diff->side[0].options->wide, whole = true;
	size_t from = !diff->every; /* marks tell nothing where all rows have one */
	struct hlg_column columns[HLG_DIFF_COLUMNS];
	const unsigned char *layout = all ? wide : self ? children : usual;
	size_t n_layout = all ? sizeof(wide) : self ? sizeof(children) : sizeof(usual);
	unsigned char chosen[sizeof(wide) + sizeof(children)];
	const struct hlg_table table = {
		columns, chosen, choose(chosen, layout + from, n_layout - from, diff),
		diff->colours, diff->screen};
	char rest[96];
	size_t n = 0;

	if (!rows->n_significant && !(diff->every && rows->n))
		return true;
	memcpy(columns, hlg_diff_columns_all, sizeof(columns));
	columns[HLG_DIFF_COLUMN_NAME].heading = what;
	columns[HLG_DIFF_COLUMN_TIME].heading = time_word(diff);
	if (rows == &diff->functions)
		put_what(f, diff);
	hlg_table_text_head(f, &table);
	for (size_t i = 0; i < rows->n; i++) {
		if (!is_shown(diff, &rows->row[i], n))
			continue;
		n++;
		whole &= write_row(f, &table, &(struct shown){diff, &rows->row[i]},
				   rows == &diff->functions);
	}
	if (rest_of(rest, diff, rows, n)[0])
		fprintf(f, "%*s(%s)\n", under(diff, strlen(rest)), "", rest);
	fputc('\n', f);
	return whole;
}

static const char *heading(const struct hlg_diff *diff)
{
	return diff->withheld       ? "guest address"
	       : diff->side[0].self ? "function, with what it calls"
				    : "function";
}

void hlg_diff_text_head(FILE *f, const struct hlg_diff *diff)
{
	write_warnings(f, diff);
	fprintf(f, "%-10s%s\n", "total", hlg_diff_total_meaning(diff));
}

char *hlg_diff_text_of(const struct hlg_diff *diff,
		       void (*write)(FILE *f, const struct hlg_diff *diff))
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	if (!f)
		return NULL;
	write(f, diff);
	return hlg_memstream_close(&m);
}

static void put_none_changed(FILE *f, const struct hlg_diff *diff)
{
	char *text = hlg_diff_text_of(diff, none_changed);

	if (text && text[0]) {
		hlg_text_line_wrap(f, &diff->screen, "", text);
		fputc('\n', f);
	}
	free(text);
}

static void tell_total(FILE *f, const struct hlg_diff *diff)
{
	hlg_diff_total_tell(diff, f);
}

static void write_head(FILE *f, const struct hlg_diff *diff)
{
	long at = ftell(f);
	char *total;

	write_warnings(f, diff);
	if (ftell(f) > at)
		fputc('\n', f);
	total = hlg_diff_text_of(diff, tell_total);
	hlg_text_line_fold(f, &diff->screen, 0, "  ", total ? total : "");
	free(total);
	hlg_text_line_wrap(f, &diff->screen, "total     ", hlg_diff_total_meaning(diff));
	fputc('\n', f);
	put_none_changed(f, diff);
}

static const char *region_heading(const struct hlg_diff *diff)
{
	enum {
		WIDTH = 84 /* of what may stand in front, and all of it */
	};
	const bool narrow = diff->screen.lines && diff->screen.columns < WIDTH;

	return narrow ? "region" : "region, and most of what is in it";
}

/* As many rows as a terminal shows together with head and tail. */
static void fit_rows(struct hlg_diff *diff, const char *head, const char *tail)
{
	const struct hlg_options *o = diff->side[0].options;
	/* What shares are of, the heading, what is said of the rest, an empty line, and
	 * the prompt behind. */
	unsigned used = 5;

	if (diff->screen.lines == 0 || o->wide || o->verbose || o->top != HLG_UNSET)
		return;
	for (; *head; head++)
		used += *head == '\n';
	for (; *tail; tail++)
		used += *tail == '\n';
	diff->most =
		diff->screen.lines > used + FEWEST ? diff->screen.lines - used : FEWEST;
}

int hlg_diff_text_write(void *data, FILE *f, struct hlg_err *err)
{
	struct hlg_diff *diff = data;
	char *head, *tail;
	bool whole;

	if (diff->side[0].options->wide)
		diff->screen.columns = 0;
	head = hlg_diff_text_of(diff, write_head);
	tail = hlg_diff_text_of(diff, write_tail);
	whole = head && tail;
	if (whole) {
		fit_rows(diff, head, tail);
		fputs(head, f);
		whole = write_rows(f, diff, &diff->functions, heading(diff));
	}
	if (whole && diff->side[0].options->verbose)
		whole = write_rows(f, diff, &diff->regions,
				   diff->withheld ? "region (guest addresses)"
						  : region_heading(diff));
	if (whole)
		fputs(tail, f);
	free(head);
	free(tail);
	return whole ? 0 : hlg_err_memory(err, "diff");
}

/* Markdown */

/* A name between backquotes, where nothing of it is markup: those in it are escaped, and
 * bars, which would end the cell. */
static void put_code(FILE *f, const char *name)
{
	char *escaped = hlg_escape_dup(name);
	char before = '\0';

	fputc('`', f);
	for (const char *at = escaped ? escaped : "?"; *at; before = *at++) {
		if (*at == '`')
			fputs("\\x60", f);
		else if (*at == '|')
			fputs(before == '\\' ? "\\x7c" : "\\|", f);
		else
			fputc(*at, f);
	}
	fputc('`', f);
	free(escaped);
}

static void write_markdown_row(FILE *f, const struct shown *shown)
{
	static const unsigned char layout[] = {HLG_DIFF_COLUMN_CHANGE,
					       HLG_DIFF_COLUMN_PERCENT,
					       HLG_DIFF_COLUMN_PERCENT + 1};
	struct hlg_value v[HLG_DIFF_COLUMNS];
	char number[HLG_TABLE_NUMBER], times[32];

	hlg_diff_columns_set(v, shown->diff, shown->row);
	for (size_t i = 0; i < sizeof(layout); i++) {
		const struct hlg_column *c = &hlg_diff_columns_all[layout[i]];

		fprintf(f, "| %s%s ", hlg_table_number(number, c, &v[layout[i]]),
			c->unit ? c->unit : "");
	}
	if (hlg_diff_total_times(times, shown->diff, shown->row->count))
		fprintf(f, "| %s ", times);
	fputs("| ", f);
	put_code(f, hlg_diff_name(shown->row)[0] ? hlg_diff_name(shown->row) : "?");
	put_remark(f, shown, put_code);
	fputs(shown->row->significant ? " |\n" : "  (not significant) |\n", f);
}

static void write_markdown_rows(FILE *f, const struct hlg_diff *diff)
{
	const struct hlg_diff_rows *rows = &diff->functions;
	char rest[96];
	size_t n = 0;

	if (!rows->n_significant && !(diff->every && rows->n))
		return;
	fprintf(f, "| change | before | after |");
	if (diff->total.clock)
		fprintf(f, " %s |", time_word(diff));
	fprintf(f, " %s |\n| ---: | ---: | ---: |%s :--- |\n", heading(diff),
		diff->total.clock ? " ---: |" : "");
	for (size_t i = 0; i < rows->n; i++)
		if (is_shown(diff, &rows->row[i], n)) {
			write_markdown_row(f, &(struct shown){diff, &rows->row[i]});
			n++;
		}
	if (rest_of(rest, diff, rows, n)[0])
		fprintf(f, "\n(%s)\n", rest);
	fputc('\n', f);
}

/* Lines of text stand in blocks of code: none begins as the block ends. */
int hlg_diff_text_markdown(void *data, FILE *f, struct hlg_err *err)
{
	struct hlg_diff *diff = data;
	char *warnings = hlg_diff_text_of(diff, write_warnings);

	if (!warnings)
		return hlg_err_memory(err, "diff");
	diff->screen = (struct hlg_screen){0};
	if (warnings[0])
		fprintf(f, "```\n%s```\n\n", warnings);
	free(warnings);
	fputs("**", f);
	hlg_diff_total_tell(diff, f);
	fprintf(f, "**\n\nThe total: %s.\n\n", hlg_diff_total_meaning(diff));
	put_none_changed(f, diff);
	write_markdown_rows(f, diff);
	fputs("```\n", f);
	write_tail(f, diff);
	fputs("```\n", f);
	return 0;
}
