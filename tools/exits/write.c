// SPDX-License-Identifier: GPL-2.0-only
/* The report as text, records and JSON. */
#include "tools/exits/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "filter/write/table.h"
#include "filter/write/text-lines.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"
#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#endif

#define BAR_WIDTH 40
#define INDENT    "          " /* as wide as the words in front of lines */

static const char *kind_word(enum hlg_exits_kind kind)
{
	static const char *const words[] = {"exit", "vmm", "between", "call"};

	return words[kind];
}

static const char *by_word(enum hlg_exits_by by)
{
	static const char *const words[] = {"reason", "function", "port", "vcpu", "call"};

	return words[by];
}

static size_t n_shown(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	if (t->by == HLG_EXITS_BY_CALL && !r->by_tid)
		return t->n; /* a handful, and of all rows what is asked for most */
	/* A line that says that there is one more is no shorter than that one. */
	return r->top && r->top + r->fitted < t->n ? r->top : t->n;
}

/* The part of its kind's time that ns is. */
static double share_of(const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		       uint64_t ns)
{
	uint64_t all = r->sums->total[t->kind];

	return all ? (double)ns / (double)all : 0;
}

/* Halves and records that are in no pair: i from 0 on; NULL past the last. */
static const char *excluded(const struct hlg_exits_report *r, size_t i, uint64_t *n)
{
	const struct hlg_exits_lone *lone = &r->sums->lone;
	const struct {
		const char *name;
		uint64_t n;
	} all[] = {
		{"kvm_exit without kvm_entry", lone->exits},
		{"kvm_entry without kvm_exit", lone->entries},
		{"kvm_userspace_exit without KVM_RUN", lone->user},
		{"KVM_RUN without kvm_userspace_exit", lone->runs},
		{"pairs across lost records", lone->lost},
		{"records too late to be put in order", lone->late},
		{"records that lack fields", lone->bad},
	};

	if (i >= sizeof(all) / sizeof(all[0]))
		return NULL;
	*n = all[i].n;
	return all[i].name;
}

/* The parts of a vCPU's time, in the same way; *ns is UINT64_MAX if not recorded. */
static const char *part_of_time(const struct hlg_exits_report *r,
				const struct hlg_exits_vcpu *v, size_t i, uint64_t *ns)
{
	bool exits = r->kind == HLG_EXITS_GUEST;
	const struct {
		const char *name;
		uint64_t ns;
	} all[] = {
		{"guest", exits ? v->guest : UINT64_MAX},
		{"kernel", exits ? v->outside - v->inner : UINT64_MAX},
		{"guest or kernel", exits ? UINT64_MAX : v->run},
		{"VMM", exits ? v->inner : v->vmm},
	};

	if (i >= sizeof(all) / sizeof(all[0]))
		return NULL;
	*ns = all[i].ns;
	return all[i].name;
}

/* The columns of records and JSON; text has some of them (shown_times). */
enum {
	RECORD,
	KIND,
	NAME,
	ISA,
	NUMBER,
	PID,
	TID,
	VCPU,
	COUNT,
	PERCENT,
	TIMES, /* total, min, mean, p50, p90, p99, max */
	COLUMNS = TIMES + 7
};

static const struct hlg_column all_columns[COLUMNS] = {
	[RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[KIND] = {"kind", NULL, .type = HLG_VALUE_WORD},
	[NAME] = {"name", NULL, .type = HLG_VALUE_TEXT},
	[ISA] = {"isa", NULL, .type = HLG_VALUE_WORD},
	[NUMBER] = {"number", NULL, .type = HLG_VALUE_COUNT},
	[PID] = {"pid", NULL, .type = HLG_VALUE_COUNT, .flags = HLG_COLUMN_OMIT},
	[TID] = {"tid", NULL, .type = HLG_VALUE_COUNT, .flags = HLG_COLUMN_OMIT},
	[VCPU] = {"vcpu", NULL, .type = HLG_VALUE_COUNT, .flags = HLG_COLUMN_OMIT},
	[COUNT] = {"count", NULL, .type = HLG_VALUE_COUNT},
	[PERCENT] = {"percent", NULL, .type = HLG_VALUE_PERCENT},
	[TIMES] = {"total", NULL, .type = HLG_VALUE_NS},
	{"min", NULL, .type = HLG_VALUE_NS},
	{"mean", NULL, .type = HLG_VALUE_NS},
	{"p50", NULL, .type = HLG_VALUE_NS},
	{"p90", NULL, .type = HLG_VALUE_NS},
	{"p99", NULL, .type = HLG_VALUE_NS},
	{"max", NULL, .type = HLG_VALUE_NS},
};

static void set_number(struct hlg_value *v, const struct hlg_exits_table *t,
		       const struct hlg_exits_row *row)
{
	if (row->isa)
		v[NUMBER] = hlg_table_count_value(row->number);
	else if (t->by == HLG_EXITS_BY_PORT && row->number != HLG_NO_PORT)
		v[NUMBER] = hlg_table_count_value(row->number & ~HLG_PORT_MMIO);
}

static void set_values(struct hlg_value v[static COLUMNS],
		       const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		       const struct hlg_exits_row *row)
{
	const uint64_t times[] = {row->total, row->min, row->total / row->n,
				  row->p50,   row->p90, row->p99,
				  row->max};

	memset(v, 0, COLUMNS * sizeof(*v));
	v[RECORD] = hlg_table_text_value(by_word(t->by));
	v[KIND] = hlg_table_text_value(kind_word(row->kind));
	v[NAME] = hlg_table_text_value(row->name);
	v[ISA] = hlg_table_text_value(row->isa);
	set_number(v, t, row);
	v[PID] = hlg_table_id_value(row->pid);
	v[TID] = hlg_table_id_value(row->tid);
	v[VCPU] = hlg_table_id_value(row->vcpu);
	v[COUNT] = hlg_table_count_value(row->n);
	if (row->kind == t->kind)
		v[PERCENT] = hlg_table_number_value(share_of(r, t, row->total));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		v[TIMES + i] = hlg_table_count_value(times[i]);
}

/* A record that has a name and one value. */
static void write_record(struct hlg_records *to, const char *record, const char *kind,
			 const char *name, size_t column, uint64_t n)
{
	struct hlg_value v[COLUMNS] = {0};

	v[RECORD] = hlg_table_text_value(record);
	v[KIND] = hlg_table_text_value(kind);
	v[NAME] = hlg_table_text_value(name);
	v[column] = column == NAME ? v[NAME] : hlg_table_count_value(n);
	hlg_format_record(to, v);
}

static void write_head_records(struct hlg_records *to, const struct hlg_exits_report *r)
{
	const char *name;
	uint64_t n;

	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++)
		write_record(to, "pairs", kind_word(kind),
			     kind == HLG_EXITS_GUEST ? "kvm_exit to kvm_entry"
						     : "kvm_userspace_exit to KVM_RUN",
			     COUNT, r->sums->pairs[kind]);
	for (size_t i = 0; (name = excluded(r, i, &n)); i++)
		write_record(to, "excluded", NULL, name, COUNT, n);
	for (size_t i = 0; (name = part_of_time(r, &r->time, i, &n)); i++)
		if (n != UINT64_MAX)
			write_record(to, "time", NULL, name, TIMES, n);
	for (size_t i = 0; i < r->notes->n; i++)
		write_record(to, "note", NULL, r->notes->line[i], NAME, 0);
}

/*
 * Records `pairs`, `excluded`, `time`, `note`, those of the tables
 * (`reason`, `function`, `port`, `vcpu`) and `histogram`, whose number is where a row
 * begins. All times are in ns.
 */
int hlg_exits_records(void *report, struct hlg_records *to, struct hlg_err *err)
{
	static const struct hlg_table table = {all_columns, .n = COLUMNS};
	const struct hlg_exits_report *r = report;
	struct hlg_value v[COLUMNS];

	(void)err;
	hlg_format_begin(to, &table);
	write_head_records(to, r);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		for (size_t k = 0; k < n_shown(r, &r->tables[i]); k++) {
			set_values(v, r, &r->tables[i], &r->tables[i].rows[k]);
			hlg_format_record(to, v);
		}
	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		if (!r->octaves[i])
			continue;
		memset(v, 0, sizeof(v));
		v[RECORD] = hlg_table_text_value("histogram");
		v[KIND] = hlg_table_text_value(kind_word(r->kind));
		v[NAME] = hlg_table_text_value("");
		v[NUMBER] = hlg_table_count_value(i ? UINT64_C(1) << i : 0);
		v[COUNT] = hlg_table_count_value(r->octaves[i]);
		hlg_format_record(to, v);
	}
	return 0;
}

static uint64_t sum_parts(const struct hlg_exits_report *r,
			  const struct hlg_exits_vcpu *vcpu)
{
	uint64_t ns, sum = 0;

	for (size_t i = 0; part_of_time(r, vcpu, i, &ns); i++)
		sum += ns == UINT64_MAX ? 0 : ns;
	return sum;
}

/* "guest 2094.0 us (75 %), kernel 639.0 us (25 %)", behind a label. */
static void write_parts(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_vcpu *vcpu, const char *label)
{
	double sum = (double)sum_parts(r, vcpu);
	char line[256] = "", time[24];
	const char *name;
	uint64_t ns;
	int n = 0;

	for (size_t i = 0; (name = part_of_time(r, vcpu, i, &ns)); i++)
		if (ns != UINT64_MAX)
			n += snprintf(line + n, sizeof(line) - (size_t)n,
				      "%s%s %s (%.0f %%)", n ? ", " : "", name,
				      hlg_table_ns(time, ns),
				      sum > 0 ? 100 * (double)ns / sum : 0);
	hlg_text_lines_wrapped(f, &r->screen, label, line);
}

/* Above the columns: of what the table is, unless it is of exits, as most are. */
static void write_title(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	fputc('\n', f);
	if (t->kind != r->kind)
		fputs("in the VMM, from kvm_userspace_exit to KVM_RUN:\n", f);
}

/* Writes a row's name, if f is not NULL, cut to what most cells leave for it; 0: whole.
 * Returns how many cells it takes. */
static size_t write_name(FILE *f, size_t most, const struct hlg_exits_report *r,
			 const struct hlg_exits_table *t, const struct hlg_exits_row *row)
{
	char before[32] = "", behind[64] = "";
	long n;

	if (row->isa)
		snprintf(before, sizeof(before), "%s ", row->isa);
	else if (t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO)
		snprintf(before, sizeof(before), "%" PRIu64 " ", row->number);
	if (row->vcpu >= 0)
		snprintf(behind, sizeof(behind), " vCPU %" PRId64, row->vcpu);
	else if (r->by_tid && t->by != HLG_EXITS_BY_VCPU)
		snprintf(behind, sizeof(behind), " (tid %d)", row->tid);
	n = hlg_table_cells(row->name);
	if (f) {
		fputs(before, f);
		n = hlg_table_cut(f, row->name,
				  most ? (long)most - (long)strlen(before) -
						  (long)strlen(behind)
				       : n,
				  r->screen.ascii);
		fputs(behind, f);
	}
	return strlen(before) + (size_t)n + strlen(behind);
}

/* For a name behind so many cells; at least some of it; 0: whole. */
static size_t cells_left(const struct hlg_exits_report *r, size_t used)
{
	enum {
		LEAST = 16
	};

	if (r->screen.columns == 0)
		return 0;
	return r->screen.columns > used + LEAST ? r->screen.columns - used : LEAST;
}

static int name_width(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	size_t most = strlen(by_word(t->by));

	for (size_t i = 0; i < n_shown(r, t); i++) {
		size_t n = write_name(NULL, 0, r, t, &t->rows[i]);

		most = n > most ? n : most;
	}
	return (int)most;
}

/* The times that text has, of those of a row. */
static const struct shown_time {
	const char *name;
	size_t value;
	int width;
} shown_times[] = {
	{"total", TIMES, 8},   {"mean", TIMES + 2, 7}, {"p50", TIMES + 3, 7},
	{"p99", TIMES + 5, 7}, {"max", TIMES + 6, 7},
};
enum {
	SHOWN_TIMES = sizeof(shown_times) / sizeof(shown_times[0]),
	MAX_SHOWN = SHOWN_TIMES - 1, /* the number of `max` */
	TIME_WIDTH = 9               /* of a time with its unit */
};

/* The unit of a column: that in which its largest value has five digits at most. */
struct unit {
	const char *name;
	uint64_t ns;
};

static struct unit unit_of(uint64_t most)
{
	static const struct unit units[] = {
		{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	size_t i = 0;

	while (i < 3 && most / units[i].ns >= 10000)
		i++;
	return units[i];
}

/* With one decimal, in every locale; of ns, which are whole, with none. */
static void write_time(FILE *f, uint64_t ns, struct unit unit, int width)
{
	uint64_t tenths = ns / unit.ns * 10 + (ns % unit.ns * 10 + unit.ns / 2) / unit.ns;
	char text[40];

	if (unit.ns == 1)
		snprintf(text, sizeof(text), "%" PRIu64, ns);
	else
		snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64, tenths / 10,
			 tenths % 10);
	fprintf(f, " %*s", width, text);
}

static void find_units(struct unit units[static SHOWN_TIMES],
		       const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	struct hlg_value v[COLUMNS];

	for (size_t k = 0; k < SHOWN_TIMES; k++) {
		uint64_t most = 0;

		for (size_t i = 0; i < n_shown(r, t); i++) {
			set_values(v, r, t, &t->rows[i]);
			if (v[shown_times[k].value].n > most)
				most = v[shown_times[k].value].n;
		}
		units[k] = unit_of(most);
	}
}

/* Functions' names may be long: they come last. Others come first. */
static bool name_is_last(const struct hlg_exits_table *t)
{
	return t->by == HLG_EXITS_BY_FUNCTION;
}

/* Their times are too far apart for one unit: each has its own, and `max` no room. */
static bool is_of_calls(const struct hlg_exits_table *t)
{
	return t->by == HLG_EXITS_BY_CALL;
}

static void write_columns(FILE *f, const struct hlg_exits_table *t, int width,
			  const struct unit units[static SHOWN_TIMES])
{
	char head[32];

	if (!name_is_last(t))
		fprintf(f, "%-*s ", width, by_word(t->by));
	fprintf(f, "%7s %6s", "count", "time %");
	for (size_t k = 0; is_of_calls(t) && k < MAX_SHOWN; k++)
		fprintf(f, " %*s", TIME_WIDTH, shown_times[k].name);
	for (size_t k = 0; !is_of_calls(t) && k < SHOWN_TIMES; k++) {
		snprintf(head, sizeof(head), "%s %s", shown_times[k].name, units[k].name);
		fprintf(f, " %*s", shown_times[k].width, head);
	}
	fprintf(f, "%s%s\n", name_is_last(t) ? "  " : "",
		name_is_last(t) ? by_word(t->by) : "");
}

static void write_row(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t, const struct hlg_exits_row *row,
		      int width, const struct unit units[static SHOWN_TIMES])
{
	double share = row->kind != t->kind ? 0 : share_of(r, t, row->total);
	struct hlg_value v[COLUMNS];
	char percent[16], time[24];
	int used = 16; /* count, percent, and the gap in front of the name */

	set_values(v, r, t, row);
	if (!name_is_last(t))
		fprintf(f, "%*s", width - (int)write_name(f, 0, r, t, row) + 1, "");
	hlg_colour_begin(f, &r->colours, share);
	fprintf(f, "%7" PRIu64 " %6s", row->n,
		row->kind != t->kind ? "-" : hlg_interval_percent(percent, share));
	hlg_colour_end(f, &r->colours, share);
	for (size_t k = 0; is_of_calls(t) && k < MAX_SHOWN; k++)
		fprintf(f, " %*s", TIME_WIDTH,
			hlg_table_ns(time, v[shown_times[k].value].n));
	for (size_t k = 0; !is_of_calls(t) && k < SHOWN_TIMES; k++) {
		write_time(f, v[shown_times[k].value].n, units[k], shown_times[k].width);
		used += 1 + shown_times[k].width;
	}
	if (name_is_last(t)) {
		fputs("  ", f);
		write_name(f, cells_left(r, (size_t)used), r, t, row);
	}
	fputc('\n', f);
	if (t->by == HLG_EXITS_BY_VCPU)
		write_parts(f, r, &row->time, "  ");
}

/* "(3 more rows, 9.20 %: --top=0)" */
static void write_rest(FILE *f, const struct hlg_exits_report *r,
		       const struct hlg_exits_table *t)
{
	size_t shown = n_shown(r, t), n = t->n - shown;
	uint64_t rest = 0;
	char percent[16];

	for (size_t i = shown; i < t->n; i++)
		rest += t->rows[i].kind == t->kind ? t->rows[i].total : 0;
	if (n)
		fprintf(f, "  (%zu more row%s, %s %%: --top=0)\n", n, n == 1 ? "" : "s",
			hlg_interval_percent(percent, share_of(r, t, rest)));
}

/* A table of one row, as a line. */
static void write_one(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t, const char *label)
{
	const struct hlg_exits_row *row = &t->rows[0];
	struct hlg_value v[COLUMNS];
	char time[24], line[512];
	int n = snprintf(line, sizeof(line), "%" PRIu64 " %s:", row->n, row->name);

	set_values(v, r, t, row);
	for (size_t k = 0; k < MAX_SHOWN && n < (int)sizeof(line); k++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%s %s %s",
			      k ? "," : "", shown_times[k].name,
			      hlg_table_ns(time, v[shown_times[k].value].n));
	hlg_text_lines_wrapped(f, &r->screen, label, line);
}

static void write_table(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	struct unit units[SHOWN_TIMES];
	int width = name_width(r, t);

	write_title(f, r, t);
	find_units(units, r, t);
	write_columns(f, t, width, units);
	for (size_t i = 0; i < n_shown(r, t); i++)
		write_row(f, r, t, &t->rows[i], width, units);
	write_rest(f, r, t);
}

static void write_histogram(FILE *f, const struct hlg_exits_report *r)
{
	uint64_t most = 0;
	int first = HLG_EXITS_OCTAVES, last = -1;

	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		if (!r->octaves[i])
			continue;
		first = i < first ? i : first;
		last = i;
		most = r->octaves[i] > most ? r->octaves[i] : most;
	}
	if (last < 0)
		return;
	fputs("\nHow long they took: each row twice the one above\n", f);
	for (int i = first; i <= last; i++) {
		char buf[24];

		fprintf(f, "%10s  ", hlg_table_ns(buf, i ? UINT64_C(1) << i : 0));
		hlg_colour_bar(f, &r->colours, (double)r->octaves[i], (double)most,
			       BAR_WIDTH);
		fprintf(f, " %10" PRIu64 "\n", r->octaves[i]);
	}
}

/* "guest     demo.elf, base 0x4000 (stated)" */
static void write_guests(FILE *f, const struct hlg_exits_report *r)
{
	const char *label = "guest     ";

	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *image = r->space->images[i];
		const char *slash = strrchr(image->path, '/');
		char from[128], line[512];

		hlg_base_describe(image, from, sizeof(from));
		snprintf(line, sizeof(line), "%s, base 0x%" PRIx64 " (%s)",
			 slash && slash[1] ? slash + 1 : image->path, image->base, from);
		hlg_text_lines_wrapped(f, &r->screen, label, line);
		label = INDENT;
	}
}

/* Of the VMM one reason is a line of the head, not a table. */
static bool is_line(const struct hlg_exits_table *t, const struct hlg_exits_report *r)
{
	return t->n == 1 && t->kind != r->kind;
}

static void write_head(FILE *f, const struct hlg_exits_report *r)
{
	const uint64_t *pairs = r->sums->pairs;

	write_guests(f, r);
	fputs("recorded  ", f);
	if (r->kind == HLG_EXITS_GUEST)
		fprintf(f,
			"%" PRIu64 " exits (kvm_exit to kvm_entry), %" PRIu64
			" of them to the VMM\n",
			pairs[HLG_EXITS_GUEST], pairs[HLG_EXITS_VMM]);
	else
		fprintf(f,
			"%" PRIu64 " exits to the VMM (kvm_userspace_exit to KVM_RUN)\n",
			pairs[HLG_EXITS_VMM]);
	write_parts(f, r, &r->time, "time      ");
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		if (is_line(&r->tables[i], r))
			write_one(f, r, &r->tables[i], "in VMM    ");
	hlg_text_lines_notes(f, &r->screen, r->notes, HLG_NOTE_WARNING);
}

/* Is the table shown in text? */
static bool is_shown(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	return t->n && !is_line(t, r) &&
	       (r->verbose || r->by_tid || t->by != HLG_EXITS_BY_VCPU);
}

/* How many lines text takes with so many rows of a table. */
static size_t n_lines(const struct hlg_exits_report *r, size_t rows)
{
	size_t n = 4 + r->space->n_images;

	for (size_t i = 0; i < HLG_EXITS_TABLES; i++) {
		const struct hlg_exits_table *t = &r->tables[i];

		if (is_line(t, r))
			n++;
		else if (is_shown(r, t))
			n += 2 + (t->kind != r->kind) +
			     (rows + 1 < t->n && !is_of_calls(t) ? rows + 1 : t->n);
	}
	for (size_t i = 0; i < r->notes->n; i++)
		n += r->notes->level[i] != HLG_NOTE_DETAIL;
	return n;
}

/* So many rows that all tables are on the screen, but some of each. */
static void fit_rows(struct hlg_exits_report *r)
{
	enum {
		LEAST = 3
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

/* What is in no pair, which counts nowhere else; and the notes. False without memory. */
static bool write_notes(FILE *f, const struct hlg_exits_report *r)
{
	struct hlg_note_list notes = {0};
	const char *name;
	uint64_t n;
	bool ok;

	for (size_t i = 0; (name = excluded(r, i, &n)); i++)
		if (n)
			hlg_note_list_add(&notes, "not counted: %" PRIu64 " %s", n, name);
	hlg_note_list_append(&notes, r->notes);
	hlg_text_lines_notes_behind(f, &r->screen, &notes, r->verbose);
	ok = !notes.lost;
	hlg_note_list_finish(&notes);
	return ok;
}

static int write_text(void *report, FILE *f, struct hlg_err *err)
{
	struct hlg_exits_report *r = report;

	if (r->wide)
		r->screen.columns = 0;
	fit_rows(r);
	write_head(f, r);
	write_tables(f, r);
	if (r->verbose)
		write_histogram(f, r);
	return write_notes(f, r) ? 0 : hlg_err_memory(err, "exits");
}

#if HLG_HAVE_JANSSON
static void put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, hlg_json_number(value));
}

/* "guest or kernel" as "guest_or_kernel_ns". */
static void put_times(json_t *object, const struct hlg_exits_report *r,
		      const struct hlg_exits_vcpu *vcpu)
{
	const char *name;
	uint64_t ns;
	char key[64];

	for (size_t i = 0; (name = part_of_time(r, vcpu, i, &ns)); i++) {
		if (ns == UINT64_MAX)
			continue;
		snprintf(key, sizeof(key), "%s_ns",
			 strcmp(name, "VMM") == 0 ? "vmm" : name);
		for (char *c = key; *c; c++)
			*c = *c == ' ' ? '_' : *c;
		put_count(object, key, ns);
	}
}

static void put_reason_or_port(json_t *object, const struct hlg_exits_table *t,
			       const struct hlg_exits_row *row)
{
	if (row->isa) {
		json_object_set_new(object, "isa", json_string(row->isa));
		put_count(object, "reason", row->number);
	} else if (t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO) {
		put_count(object, "port", row->number);
	} else if (t->by == HLG_EXITS_BY_PORT && row->number != HLG_NO_PORT) {
		json_object_set_new(object, "mmio",
				    hlg_json_hex(row->number & ~HLG_PORT_MMIO));
	}
}

static json_t *row_of(const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		      const struct hlg_exits_row *row)
{
	static const unsigned char name[] = {NAME};
	static const unsigned char rest[] = {PID, TID, VCPU, COUNT, PERCENT};
	const struct hlg_table first = {all_columns, name, sizeof(name), {0}, {0}};
	const struct hlg_table then = {all_columns, rest, sizeof(rest), {0}, {0}};
	struct hlg_value v[COLUMNS];
	json_t *object = json_object();
	char key[16];

	set_values(v, r, t, row);
	hlg_json_row(object, &first, v);
	put_reason_or_port(object, t, row);
	hlg_json_row(object, &then, v);
	for (size_t i = TIMES; i < COLUMNS; i++) {
		snprintf(key, sizeof(key), "%s_ns", all_columns[i].key);
		put_count(object, key, v[i].n);
	}
	if (t->by == HLG_EXITS_BY_VCPU)
		put_times(object, r, &row->time);
	return object;
}

static json_t *table_of(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	json_t *object = json_object(), *rows = json_array();

	json_object_set_new(object, "by", json_string(by_word(t->by)));
	json_object_set_new(object, "kind", json_string(kind_word(t->kind)));
	for (size_t i = 0; i < n_shown(r, t); i++)
		json_array_append_new(rows, row_of(r, t, &t->rows[i]));
	json_object_set_new(object, "rows", rows);
	return object;
}

static json_t *pairs_of(const struct hlg_exits_report *r)
{
	json_t *object = json_object();

	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++)
		put_count(object, kind_word(kind), r->sums->pairs[kind]);
	return object;
}

static json_t *excluded_of(const struct hlg_exits_report *r)
{
	json_t *object = json_object();
	const char *name;
	uint64_t n;

	for (size_t i = 0; (name = excluded(r, i, &n)); i++)
		put_count(object, name, n);
	return object;
}

static json_t *histogram_of(const struct hlg_exits_report *r)
{
	json_t *rows = json_array();

	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		json_t *row;

		if (!r->octaves[i])
			continue;
		row = json_object();
		put_count(row, "from_ns", i ? UINT64_C(1) << i : 0);
		put_count(row, "count", r->octaves[i]);
		json_array_append_new(rows, row);
	}
	return rows;
}

static int write_json(void *report, FILE *f, struct hlg_err *err)
{
	const struct hlg_exits_report *r = report;
	json_t *times = json_object();
	struct hlg_json json;

	hlg_json_begin(&json, f, 1);
	hlg_json_put(&json, "pairs", pairs_of(r));
	hlg_json_put(&json, "excluded", excluded_of(r));
	hlg_json_put(&json, "exact", json_boolean(r->sums->exact));
	put_times(times, r, &r->time);
	hlg_json_put(&json, "time", times);
	hlg_json_put(&json, "notes", hlg_json_lines(r->notes->line, r->notes->n));
	hlg_json_open_list(&json, "tables");
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		if (r->tables[i].n)
			hlg_json_put(&json, NULL, table_of(r, &r->tables[i]));
	hlg_json_close(&json);
	hlg_json_put(&json, "histogram", histogram_of(r));
	return hlg_json_end(&json, err);
}
#endif

static const struct hlg_format text = {
	.name = "text", .top = 20, .notes = true, .write = write_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(write_json)};
const struct hlg_format *const hlg_exits_formats[] = {&text, &hlg_format_of_records,
						      &json, NULL};
