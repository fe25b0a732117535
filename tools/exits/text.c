// SPDX-License-Identifier: GPL-2.0-only
/* The report as text: a head, the tables that a screen has room for, notes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/stats/interval.h"
#include "filter/write/text-line.h"
#include "tools/exits/columns.h"
#include "tools/exits/head.h"
#include "tools/exits/write.h"

enum {
	BAR_WIDTH = 40,
	BAR_AROUND = 23, /* cells of a row of the histogram beside its bar */
	LEAST_NAME = 16
};

/* Above the columns: of what the table is, unless it is of exits, as most are. */
static void write_title(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	fputc('\n', f);
	if (t->kind != r->kind)
		fputs("in the VMM, from kvm_userspace_exit to KVM_RUN:\n", f);
}

/* Whose words all reasons are; NULL: several's, or there are none. */
static const char *isa_of_all(const struct hlg_exits_table *t)
{
	return t->n && !t->several_isas ? t->rows[0].isa : NULL;
}

/* "VMX reason", "function" */
static const char *heading(char buf[static 32], const struct hlg_exits_report *r,
			   const struct hlg_exits_table *t)
{
	const char *isa = isa_of_all(t), *what = hlg_exits_by_word(t->by);

	if (t->by == HLG_EXITS_BY_FUNCTION && r->check->suppressed)
		what = "guest address";
	snprintf(buf, 32, "%s%s%s", isa ? isa : "", isa ? " " : "", what);
	return buf;
}

/* "vCPU 0, sandbox 3"; "(tid 7, sandbox 3)" */
static void write_whose(char buf[static 64], const struct hlg_exits_report *r,
			const struct hlg_exits_table *t, const struct hlg_exits_row *row)
{
	const bool of_vcpu = t->by == HLG_EXITS_BY_VCPU;
	char id[32] = "", sandbox[40] = "";
	const char *comma;

	if (of_vcpu && row->vcpu >= 0)
		snprintf(id, sizeof(id), "vCPU %" PRId64, row->vcpu);
	else if (!of_vcpu && r->by_tid)
		snprintf(id, sizeof(id), "tid %d", row->tid);
	if (row->sandbox > 0)
		snprintf(sandbox, sizeof(sandbox), "sandbox %" PRId64, row->sandbox);
	else if (row->sandbox == 0)
		strcpy(sandbox, "no sandbox known");
	comma = id[0] && sandbox[0] ? ", " : "";
	if (id[0] || sandbox[0])
		snprintf(buf, 64, of_vcpu ? "%s%s%s" : "(%s%s%s)", id, comma, sandbox);
}

const char *hlg_exits_write_detail(char buf[static 64], const struct hlg_exits_report *r,
				   const struct hlg_exits_table *t,
				   const struct hlg_exits_row *row, bool behind)
{
	buf[0] = '\0';
	if (!behind && row->isa && !isa_of_all(t))
		snprintf(buf, 64, "%s", row->isa);
	else if (!behind && t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO)
		snprintf(buf, 64, "%" PRIu64, row->number);
	else if (behind)
		write_whose(buf, r, t, row);
	return buf;
}

/* Writes a row's name, if f is not NULL, cut so that all takes most cells, but some of it
 * stays; 0: whole. Returns how many cells all takes. */
static size_t write_name(FILE *f, size_t most, const struct hlg_exits_report *r,
			 const struct hlg_exits_table *t, const struct hlg_exits_row *row)
{
	enum {
		LEAST = 8
	};
	char before[64], behind[64];
	size_t rest, left, n = (size_t)hlg_table_cells(row->name);

	hlg_exits_write_detail(before, r, t, row, false);
	hlg_exits_write_detail(behind, r, t, row, true);
	rest = strlen(before) + !!before[0] + strlen(behind) + !!behind[0];
	left = !most ? n : most > rest + LEAST ? most - rest : LEAST;
	if (f) {
		fprintf(f, "%s%s", before, before[0] ? " " : "");
		hlg_table_cut(f, row->name, (long)left, r->screen.ascii);
		fprintf(f, "%s%s", behind[0] ? " " : "", behind);
	}
	return (n < left ? n : left) + rest;
}

/* For a name behind so many cells; at least some of it; 0: whole. */
static size_t cells_left(const struct hlg_exits_report *r, size_t used)
{
	if (r->screen.columns == 0)
		return 0;
	return r->screen.columns > used + LEAST_NAME ? r->screen.columns - used
						     : LEAST_NAME;
}

/* Of all names, each cut as by write_name(). */
static size_t name_width(size_t most, const struct hlg_exits_report *r,
			 const struct hlg_exits_table *t)
{
	char buf[32];
	size_t width = strlen(heading(buf, r, t));

	for (size_t i = 0; i < hlg_exits_shown(r, t); i++) {
		size_t n = write_name(NULL, most, r, t, &t->rows[i]);

		width = n > width ? n : width;
	}
	return width;
}

enum {
	TOTAL_SHOWN = 0, /* numbers of shown times */
	P50_SHOWN = 2,
	COUNT_AND_SHARE = 17, /* cells */
	CALL_WIDTH = 9,       /* of a call's latency: a guest call may be long */
	FEW_COLUMNS = 90      /* of a screen on which names count more than `max` */
};

/* Of latencies, which are alike in all columns of a table: us, unless all are shorter, or
 * one has more digits than there is room for. Of calls none are in ns. */
static struct hlg_exits_unit unit_of_each(const struct hlg_exits_table *t, uint64_t most)
{
	/* "99999.9", "9999999.9": half of what is behind that is rounded up. */
	const uint64_t room = hlg_exits_is_of_calls(t) ? 10000000 : 100000;
	size_t i = most < 10000 && !hlg_exits_is_of_calls(t) ? 0 : 1;

	while (i < 3 && most >= room * hlg_exits_units[i].ns - hlg_exits_units[i].ns / 20)
		i++;
	return hlg_exits_units[i];
}

/* Functions' names may be long: they come last. Others come first. */
static bool name_is_last(const struct hlg_exits_table *t)
{
	return t->by == HLG_EXITS_BY_FUNCTION;
}

/* How a table's times are shown, and how many cells there are for figures and names. */
struct layout {
	struct hlg_exits_unit units[HLG_EXITS_SHOWN_TIMES];
	int width[HLG_EXITS_SHOWN_TIMES];
	bool shown[HLG_EXITS_SHOWN_TIMES];
	int figures; /* count, share and times */
	size_t name; /* with what is around it, at most; 0: any number */
};

static void leave_out(struct layout *layout, int time)
{
	layout->shown[time] = false;
	layout->figures -= 1 + layout->width[time];
}

/* Where names come first, `max` goes before they are cut; where hardly anything is left
 * of names, what shares and the mean say as well goes. */
static void fit_layout(struct layout *layout, const struct hlg_exits_report *r,
		       const struct hlg_exits_table *t)
{
	static const int in_order[] = {TOTAL_SHOWN, P50_SHOWN};
	const size_t behind = name_is_last(t) ? 2 : 1, columns = r->screen.columns;
	const size_t shortest = name_width(1, r, t);
	const size_t least = shortest > LEAST_NAME ? shortest : LEAST_NAME;

	layout->figures = COUNT_AND_SHARE;
	for (size_t k = 0; k < HLG_EXITS_SHOWN_TIMES; k++) {
		layout->shown[k] = true;
		layout->figures += 1 + layout->width[k];
	}
	if (hlg_exits_is_of_calls(t) ||
	    (columns && columns < FEW_COLUMNS && name_is_last(t)) ||
	    (columns && !name_is_last(t) &&
	     name_width(0, r, t) + 1 + (size_t)layout->figures > columns))
		leave_out(layout, HLG_EXITS_MAX_SHOWN);
	for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
		if (columns && (size_t)layout->figures + behind + least > columns)
			leave_out(layout, in_order[i]);
	layout->name = cells_left(r, (size_t)layout->figures + behind);
}

static struct layout layout_of(const struct hlg_exits_report *r,
			       const struct hlg_exits_table *t)
{
	struct layout layout;
	uint64_t total = 0, most = 0;

	for (size_t i = 0; i < hlg_exits_shown(r, t); i++) {
		total = t->rows[i].total > total ? t->rows[i].total : total;
		most = t->rows[i].max > most ? t->rows[i].max : most;
	}
	for (size_t k = 0; k < HLG_EXITS_SHOWN_TIMES; k++) {
		layout.units[k] = k ? unit_of_each(t, most) : hlg_exits_unit_of(total);
		layout.width[k] = k && hlg_exits_is_of_calls(t)
					  ? CALL_WIDTH
					  : hlg_exits_shown_times[k].width;
	}
	fit_layout(&layout, r, t);
	return layout;
}

/* What a table's shares are of. */
static const char *share_heading(const struct hlg_exits_table *t)
{
	return hlg_exits_is_of_calls(t) ? "of time" : hlg_exits_share_of(t);
}

static void write_columns(FILE *f, const struct hlg_exits_report *r,
			  const struct hlg_exits_table *t, int width,
			  const struct layout *layout)
{
	char head[32];

	if (!name_is_last(t))
		fprintf(f, "%-*s ", width, heading(head, r, t));
	fprintf(f, "%7s %9s", "count", share_heading(t));
	for (size_t k = 0; k < HLG_EXITS_SHOWN_TIMES; k++) {
		if (!layout->shown[k])
			continue;
		snprintf(head, sizeof(head), "%s %s", hlg_exits_shown_times[k].name,
			 layout->units[k].name);
		fprintf(f, " %*s", layout->width[k], head);
	}
	fprintf(f, "%s%s\n", name_is_last(t) ? "  " : "",
		name_is_last(t) ? heading(head, r, t) : "");
}

static void write_row(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t, const struct hlg_exits_row *row,
		      int width, const struct layout *layout)
{
	double share = hlg_exits_has_share(row) ? hlg_exits_share(r, t, row->total) : 0;
	struct hlg_value v[HLG_EXITS_COLUMNS];
	char percent[16], time[40];

	hlg_exits_set_values(v, r, t, row);
	if (!name_is_last(t))
		fprintf(f, "%*s", width - (int)write_name(f, layout->name, r, t, row) + 1,
			"");
	hlg_colour_begin(f, &r->colours, share);
	fprintf(f, "%7" PRIu64 " %7s%s", row->n,
		hlg_exits_has_share(row) ? hlg_interval_percent(percent, share) : "",
		hlg_exits_has_share(row) ? " %" : " -");
	hlg_colour_end(f, &r->colours, share);
	for (size_t k = 0; k < HLG_EXITS_SHOWN_TIMES; k++)
		if (layout->shown[k])
			fprintf(f, " %*s", layout->width[k],
				hlg_exits_time_text(time,
						    v[hlg_exits_shown_times[k].value].n,
						    layout->units[k]));
	if (name_is_last(t)) {
		fputs("  ", f);
		write_name(f, layout->name, r, t, row);
	}
	fputc('\n', f);
	if (t->by == HLG_EXITS_BY_VCPU)
		hlg_exits_write_parts(f, r, &row->time, "  ");
}

/* "(3 more rows, 9.20 %: --top=0)" */
static void write_rest(FILE *f, const struct hlg_exits_report *r,
		       const struct hlg_exits_table *t)
{
	size_t shown = hlg_exits_shown(r, t), n = t->n - shown;
	uint64_t rest = 0;
	char percent[16];

	for (size_t i = shown; i < t->n; i++)
		rest += hlg_exits_has_share(&t->rows[i]) ? t->rows[i].total : 0;
	if (n)
		fprintf(f, "  (%zu more row%s, %s %%: --top=0)\n", n, n == 1 ? "" : "s",
			hlg_interval_percent(percent, hlg_exits_share(r, t, rest)));
}

static void write_table(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	const struct layout layout = layout_of(r, t);
	int width = (int)name_width(layout.name, r, t);

	write_title(f, r, t);
	write_columns(f, r, t, width, &layout);
	for (size_t i = 0; i < hlg_exits_shown(r, t); i++)
		write_row(f, r, t, &t->rows[i], width, &layout);
	write_rest(f, r, t);
}

static void write_histogram(FILE *f, const struct hlg_exits_report *r)
{
	/* A bar is of the longest row; its colour is that of the share of all. */
	const struct hlg_colour plain = {.blocks = r->colours.blocks};
	uint64_t most = 0, all = 0;
	int first = HLG_EXITS_OCTAVES, last = -1, width = BAR_WIDTH;

	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		if (!r->octaves[i])
			continue;
		first = i < first ? i : first;
		last = i;
		all += r->octaves[i];
		most = r->octaves[i] > most ? r->octaves[i] : most;
	}
	if (last < 0)
		return;
	if (r->screen.columns && r->screen.columns < BAR_WIDTH + BAR_AROUND)
		width = r->screen.columns > 2 * BAR_AROUND
				? (int)r->screen.columns - BAR_AROUND
				: BAR_AROUND;
	fputs("\nHow long they took: each row twice the one above\n", f);
	for (int i = first; i <= last; i++) {
		double share = (double)r->octaves[i] / (double)all;
		char buf[24];

		fprintf(f, "%10s  ", hlg_table_ns(buf, i ? UINT64_C(1) << i : 0));
		hlg_colour_begin(f, &r->colours, share);
		hlg_colour_bar(f, &plain, (double)r->octaves[i], (double)most, width);
		hlg_colour_end(f, &r->colours, share);
		fprintf(f, " %10" PRIu64 "\n", r->octaves[i]);
	}
}

/* Is the table shown in text? */
static bool is_shown(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	bool is_detail =
		t->by == HLG_EXITS_BY_VCPU ? !hlg_exits_splits(r) : t->kind != r->kind;

	return t->n && !hlg_exits_is_line(t, r) && (r->verbose || !is_detail);
}

/* How many lines a table takes with so many rows, if it has as many. */
static size_t n_table_lines(const struct hlg_exits_report *r,
			    const struct hlg_exits_table *t, size_t rows)
{
	bool whole =
		rows + 1 >= t->n || (hlg_exits_is_of_calls(t) && !hlg_exits_splits(r));
	size_t n = whole ? t->n : rows;

	if (t->by == HLG_EXITS_BY_VCPU)
		n *= 2; /* the parts of its time */
	return 2 + (t->kind != r->kind) + n + !whole;
}

/* How many lines a note takes, about: words are not broken. */
static size_t n_note_lines(const struct hlg_exits_report *r, const char *note)
{
	const size_t indent = strlen(HLG_EXITS_INDENT), columns = r->screen.columns;

	return columns > indent ? 1 + (strlen(note) - !!*note) / (columns - indent) : 1;
}

/* How many lines text takes with so many rows of a table. */
static size_t n_lines(const struct hlg_exits_report *r, size_t rows)
{
	size_t n = 4 + r->space->n_images + !hlg_exits_check_is_brief(r) +
		   !!r->check->banner + !!r->selection;

	for (size_t i = 0; i < HLG_EXITS_TABLES; i++) {
		const struct hlg_exits_table *t = &r->tables[i];

		if (is_shown(r, t))
			n += n_table_lines(r, t, rows);
	}
	for (size_t i = 0; i < r->notes->n; i++)
		if (r->notes->level[i] != HLG_NOTE_DETAIL)
			n += n_note_lines(r, r->notes->line[i]);
	return n;
}

/* So many rows that all tables are on the screen, but some of each. */
static void fit_rows(struct hlg_exits_report *r)
{
	enum {
		LEAST = 1
	};

	if (!r->fitted || r->verbose || r->screen.lines == 0)
		return;
	while (r->top > LEAST && n_lines(r, r->top) >= r->screen.lines)
		r->top--;
}

/* The tables of exits, then that of the VMM. */
static void write_tables(FILE *f, const struct hlg_exits_report *r)
{
	const struct hlg_exits_table *calls = &r->tables[HLG_EXITS_TABLES - 1];

	/* What users know comes first. */
	if (calls->n)
		write_table(f, r, calls);
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < HLG_EXITS_TABLES; i++) {
			const struct hlg_exits_table *t = &r->tables[i];

			if (is_shown(r, t) && t != calls && (t->kind == r->kind) == own)
				write_table(f, r, t);
		}
}

/*
 * What is in no pair, which counts nowhere else, in a line: a detail if it is no more
 * than a half at the start and one at the end for each vCPU. NULL without memory; "":
 * nothing.
 */
static char *lone_text(const struct hlg_exits_report *r, bool *detail)
{
	const struct hlg_exits_lone *lone = &r->sums->lone;
	uint64_t most = 2 * hlg_exits_n_vcpus(r->sums), n;
	const char *name, *comma = "not counted: ";
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	if (!f)
		return NULL;
	for (size_t i = 0; (name = hlg_exits_excluded(r, i, &n)); i++) {
		if (n)
			fprintf(f, "%s%" PRIu64 " %s", comma, n, name);
		comma = n ? ", " : comma;
	}
	*detail = !lone->lost && !lone->late && !lone->bad && lone->exits <= most &&
		  lone->entries <= most && lone->user <= most && lone->runs <= most;
	return hlg_memstream_close(&m);
}

/* The notes behind the tables. False without memory. */
static bool write_notes(FILE *f, const struct hlg_exits_report *r)
{
	struct hlg_note_list notes = {0};
	bool detail = false, ok;
	char *text = lone_text(r, &detail);

	if (text && text[0] && detail)
		hlg_note_list_detail(&notes, "%s", text);
	else if (text && text[0])
		hlg_note_list_add(&notes, "%s", text);
	hlg_note_list_append(&notes, r->notes);
	hlg_text_line_notes_behind(f, &r->screen, &notes, r->verbose);
	ok = text && !notes.lost;
	hlg_note_list_finish(&notes);
	free(text);
	return ok;
}

int hlg_exits_text(void *report, FILE *f, struct hlg_err *err)
{
	struct hlg_exits_report *r = report;

	if (r->wide)
		r->screen.columns = 0;
	fit_rows(r);
	if (hlg_exits_write_head(r, f, err) < 0)
		return HLG_ESYSTEM;
	write_tables(f, r);
	if (r->verbose)
		write_histogram(f, r);
	return write_notes(f, r) ? 0 : hlg_err_memory(err, "exits");
}
