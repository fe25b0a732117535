// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison for people: the answer in a line, what can be said of the total, what
 * changed, the two sides and notes; with verbose= how all of it was made. As text it is
 * fitted to the screen; as Markdown it is for a pull request, in a table.
 */
#include "tools/diff/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/report/rows.h"
#include "filter/write/table.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"
#include "tools/diff/columns.h"
#include "tools/diff/join.h"
#include "tools/diff/sides.h"

enum {
	FEWEST = 10,         /* rows, however low a terminal is */
	LEAST_TIME = 68,     /* columns, of a table with times */
	LEAST_CHILDREN = 120 /* the same, with shares of functions alone, too */
};

static void write_tail(FILE *f, const struct hlg_diff *diff)
{
	hlg_diff_sides_tail(f, diff);
	if (diff->side[0].options->verbose)
		hlg_diff_sides_details(f, diff);
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

	hlg_diff_sides_warnings(f, diff);
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

/* What --fail-if says, for who reads it where nobody sees the status. */
static void put_gate(FILE *f, const struct hlg_diff *diff)
{
	if (!diff->gate.set)
		return;
	if (!diff->gate.said[0]) {
		fprintf(f, "`--fail-if=%g%%`: nothing that counts grew by more.\n\n",
			100 * diff->gate.least);
		return;
	}
	fputs("**FAILED**: ", f);
	put_code(f, diff->gate.said);
	fputs("\n\n", f);
}

/* Lines of text stand in blocks of code: none begins as the block ends. */
int hlg_diff_text_markdown(void *data, FILE *f, struct hlg_err *err)
{
	struct hlg_diff *diff = data;
	char *warnings = hlg_diff_text_of(diff, hlg_diff_sides_warnings);

	if (!warnings)
		return hlg_err_memory(err, "diff");
	diff->screen = (struct hlg_screen){0};
	if (warnings[0])
		fprintf(f, "```\n%s```\n\n", warnings);
	free(warnings);
	fputs("**", f);
	hlg_diff_total_tell(diff, f);
	fprintf(f, "**\n\nThe total: %s.\n\n", hlg_diff_total_meaning(diff));
	put_gate(f, diff);
	put_none_changed(f, diff);
	write_markdown_rows(f, diff);
	fputs("```\n", f);
	write_tail(f, diff);
	fputs("```\n", f);
	return 0;
}
