// SPDX-License-Identifier: GPL-2.0-only
/* The report as text, records and JSON. */
#include "tools/exits/write.h"

#include <inttypes.h>
#include <stdlib.h>
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

static uint64_t sum_parts(const struct hlg_exits_report *r,
			  const struct hlg_exits_vcpu *vcpu)
{
	uint64_t ns, sum = 0;

	for (size_t i = 0; part_of_time(r, vcpu, i, &ns); i++)
		sum += ns == UINT64_MAX ? 0 : ns;
	return sum;
}

/* Calls last longer than exits: they are parts of the guest's time and of its exits'. */
static bool is_of_calls(const struct hlg_exits_table *t)
{
	return t->by == HLG_EXITS_BY_CALL;
}

/* The part of its kind's time that ns is. */
double hlg_exits_write_share(const struct hlg_exits_report *r,
			     const struct hlg_exits_table *t, uint64_t ns)
{
	uint64_t all = is_of_calls(t) ? sum_parts(r, &r->time) : r->sums->total[t->kind];

	return all ? (double)ns / (double)all : 0;
}

/* The host's own time is part of none. */
bool hlg_exits_write_has_share(const struct hlg_exits_row *row)
{
	return row->kind != HLG_EXITS_BETWEEN;
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
	if (hlg_exits_write_has_share(row))
		v[PERCENT] =
			hlg_table_number_value(hlg_exits_write_share(r, t, row->total));
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
	v[column] = hlg_table_count_value(n);
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
}

/*
 * Records `pairs`, `excluded`, `time`, those of the tables (`reason`, `function`, `port`,
 * `vcpu`) and `histogram`, whose number is where a row begins. All times are in ns.
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

/* Above the columns: of what the table is, unless it is of exits, as most are. */
static void write_title(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	fputc('\n', f);
	if (t->kind != r->kind)
		fputs("in the VMM, from kvm_userspace_exit to KVM_RUN:\n", f);
}

/* Whose words all reasons are; NULL: several's, or there are none. */
static const char *isa_of_all(const struct hlg_exits_report *r,
			      const struct hlg_exits_table *t)
{
	for (size_t i = 1; i < n_shown(r, t); i++)
		if (t->rows[0].isa && strcmp(t->rows[i].isa, t->rows[0].isa) != 0)
			return NULL;
	return t->n ? t->rows[0].isa : NULL;
}

/* "VMX reason", "function" */
static const char *heading(char buf[static 32], const struct hlg_exits_report *r,
			   const struct hlg_exits_table *t)
{
	const char *isa = isa_of_all(r, t);

	snprintf(buf, 32, "%s%s%s", isa ? isa : "", isa ? " " : "", by_word(t->by));
	return buf;
}

const char *hlg_exits_write_detail(char buf[static 64], const struct hlg_exits_report *r,
				   const struct hlg_exits_table *t,
				   const struct hlg_exits_row *row, bool behind)
{
	buf[0] = '\0';
	if (!behind && row->isa && !isa_of_all(r, t))
		snprintf(buf, 64, "%s", row->isa);
	else if (!behind && t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO)
		snprintf(buf, 64, "%" PRIu64, row->number);
	else if (behind && row->vcpu >= 0)
		snprintf(buf, 64, "vCPU %" PRId64, row->vcpu);
	else if (behind && r->by_tid && t->by != HLG_EXITS_BY_VCPU)
		snprintf(buf, 64, "(tid %d)", row->tid);
	return buf;
}

/* Writes a row's name, if f is not NULL, cut to what most cells leave for it; 0: whole.
 * Returns how many cells it takes. */
static size_t write_name(FILE *f, size_t most, const struct hlg_exits_report *r,
			 const struct hlg_exits_table *t, const struct hlg_exits_row *row)
{
	char before[64], behind[64];
	long rest, n = hlg_table_cells(row->name);

	hlg_exits_write_detail(before, r, t, row, false);
	hlg_exits_write_detail(behind, r, t, row, true);
	rest = (long)(strlen(before) + !!before[0] + strlen(behind) + !!behind[0]);
	if (f) {
		fprintf(f, "%s%s", before, before[0] ? " " : "");
		n = hlg_table_cut(f, row->name, most ? (long)most - rest : n,
				  r->screen.ascii);
		fprintf(f, "%s%s", behind[0] ? " " : "", behind);
	}
	return (size_t)(n + rest);
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
	char buf[32];
	size_t most = strlen(heading(buf, r, t));

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
	{"p99", TIMES + 5, 7}, {"max", TIMES + 6, 8},
};
enum {
	SHOWN_TIMES = sizeof(shown_times) / sizeof(shown_times[0]),
	MAX_SHOWN = SHOWN_TIMES - 1, /* the number of `max` */
	CALL_WIDTH = 9,              /* of a call's latency: a guest call may be long */
	FEW_COLUMNS = 90 /* of a screen on which names count more than `max` */
};

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit units[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

/* Of totals, and of a line: that in which the largest has five digits at most. */
static struct unit unit_of(uint64_t most)
{
	size_t i = 0;

	while (i < 3 && most / units[i].ns >= 10000)
		i++;
	return units[i];
}

/* Of latencies, which are alike in all columns of a table: us, unless all are shorter, or
 * one has more digits than there is room for. */
static struct unit unit_of_each(const struct hlg_exits_table *t, uint64_t most)
{
	if (is_of_calls(t))
		return units[1];
	return units[most < 10000 ? 0 : most < 1000000000 ? 1 : 2];
}

/* With one decimal, in every locale; of ns, which are whole, with none. */
static const char *time_text(char buf[static 40], uint64_t ns, struct unit unit)
{
	uint64_t tenths = ns / unit.ns * 10 + (ns % unit.ns * 10 + unit.ns / 2) / unit.ns;

	if (unit.ns == 1)
		snprintf(buf, 40, "%" PRIu64, ns);
	else
		snprintf(buf, 40, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
	return buf;
}

/* "guest 2094.0 us (75 %), kernel 639.0 us (25 %)", behind a label. */
static void write_parts(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_vcpu *vcpu, const char *label)
{
	double sum = (double)sum_parts(r, vcpu);
	char line[256] = "", time[40];
	const char *name;
	uint64_t ns, most = 0;
	struct unit unit;
	int n = 0;

	for (size_t i = 0; part_of_time(r, vcpu, i, &ns); i++)
		most = ns != UINT64_MAX && ns > most ? ns : most;
	unit = unit_of(most);
	for (size_t i = 0; (name = part_of_time(r, vcpu, i, &ns)); i++)
		if (ns != UINT64_MAX)
			n += snprintf(line + n, sizeof(line) - (size_t)n,
				      "%s%s %s %s (%.0f %%)", n ? ", " : "", name,
				      time_text(time, ns, unit), unit.name,
				      sum > 0 ? 100 * (double)ns / sum : 0);
	hlg_text_lines_wrapped(f, &r->screen, label, line);
}

/* Functions' names may be long: they come last. Others come first. */
static bool name_is_last(const struct hlg_exits_table *t)
{
	return t->by == HLG_EXITS_BY_FUNCTION;
}

/* How a table's times are shown. */
struct layout {
	struct unit units[SHOWN_TIMES];
	int width[SHOWN_TIMES];
	size_t n;
};

static struct layout layout_of(const struct hlg_exits_report *r,
			       const struct hlg_exits_table *t)
{
	struct layout layout = {.n = SHOWN_TIMES};
	uint64_t total = 0, most = 0;

	for (size_t i = 0; i < n_shown(r, t); i++) {
		total = t->rows[i].total > total ? t->rows[i].total : total;
		most = t->rows[i].max > most ? t->rows[i].max : most;
	}
	for (size_t k = 0; k < SHOWN_TIMES; k++) {
		layout.units[k] = k ? unit_of_each(t, most) : unit_of(total);
		layout.width[k] = k && is_of_calls(t) ? CALL_WIDTH : shown_times[k].width;
	}
	if (is_of_calls(t) ||
	    (name_is_last(t) && r->screen.columns && r->screen.columns < FEW_COLUMNS))
		layout.n = MAX_SHOWN;
	return layout;
}

/* What a table's shares are of. */
static const char *share_heading(const struct hlg_exits_report *r,
				 const struct hlg_exits_table *t)
{
	return is_of_calls(t) ? "of time" : t->kind == r->kind ? "of exits" : "of VMM";
}

static void write_columns(FILE *f, const struct hlg_exits_report *r,
			  const struct hlg_exits_table *t, int width,
			  const struct layout *layout)
{
	char head[32];

	if (!name_is_last(t))
		fprintf(f, "%-*s ", width, heading(head, r, t));
	fprintf(f, "%7s %9s", "count", share_heading(r, t));
	for (size_t k = 0; k < layout->n; k++) {
		snprintf(head, sizeof(head), "%s %s", shown_times[k].name,
			 layout->units[k].name);
		fprintf(f, " %*s", layout->width[k], head);
	}
	fprintf(f, "%s%s\n", name_is_last(t) ? "  " : "",
		name_is_last(t) ? by_word(t->by) : "");
}

static void write_row(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t, const struct hlg_exits_row *row,
		      int width, const struct layout *layout)
{
	double share = hlg_exits_write_has_share(row)
			       ? hlg_exits_write_share(r, t, row->total)
			       : 0;
	struct hlg_value v[COLUMNS];
	char percent[16], time[40];
	int used = 19; /* count, percent, and the gap in front of the name */

	set_values(v, r, t, row);
	if (!name_is_last(t))
		fprintf(f, "%*s", width - (int)write_name(f, 0, r, t, row) + 1, "");
	hlg_colour_begin(f, &r->colours, share);
	fprintf(f, "%7" PRIu64 " %7s%s", row->n,
		hlg_exits_write_has_share(row) ? hlg_interval_percent(percent, share)
					       : "",
		hlg_exits_write_has_share(row) ? " %" : " -");
	hlg_colour_end(f, &r->colours, share);
	for (size_t k = 0; k < layout->n; k++) {
		fprintf(f, " %*s", layout->width[k],
			time_text(time, v[shown_times[k].value].n, layout->units[k]));
		used += 1 + layout->width[k];
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
		rest += hlg_exits_write_has_share(&t->rows[i]) ? t->rows[i].total : 0;
	if (n)
		fprintf(f, "  (%zu more row%s, %s %%: --top=0)\n", n, n == 1 ? "" : "s",
			hlg_interval_percent(percent, hlg_exits_write_share(r, t, rest)));
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
	const struct layout layout = layout_of(r, t);
	int width = name_width(r, t);

	write_title(f, r, t);
	write_columns(f, r, t, width, &layout);
	for (size_t i = 0; i < n_shown(r, t); i++)
		write_row(f, r, t, &t->rows[i], width, &layout);
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
		char from[128], line[512];

		hlg_base_describe(image, from, sizeof(from));
		snprintf(line, sizeof(line), "%s, base 0x%" PRIx64 " (%s)",
			 hlg_image_short_name(image), image->base, from);
		hlg_text_lines_wrapped(f, &r->screen, label, line);
		label = INDENT;
	}
}

/* Of the VMM one reason is a line of the head, not a table. */
static bool is_line(const struct hlg_exits_table *t, const struct hlg_exits_report *r)
{
	return t->n == 1 && t->kind != r->kind;
}

int hlg_exits_write_head(void *report, FILE *f, struct hlg_err *err)
{
	const struct hlg_exits_report *r = report;
	const uint64_t *pairs = r->sums->pairs;

	(void)err;
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
	for (size_t i = 0; r->verbose && i < HLG_EXITS_TABLES; i++)
		if (is_line(&r->tables[i], r))
			write_one(f, r, &r->tables[i], "in VMM    ");
	hlg_text_lines_notes(f, &r->screen, r->notes, HLG_NOTE_WARNING);
	return 0;
}

/* Is the table shown in text? */
static bool is_shown(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	bool is_detail = t->by == HLG_EXITS_BY_VCPU ? !r->by_tid : t->kind != r->kind;

	return t->n && !is_line(t, r) && (r->verbose || !is_detail);
}

/* How many lines text takes with so many rows of a table. */
static size_t n_lines(const struct hlg_exits_report *r, size_t rows)
{
	size_t n = 4 + r->space->n_images;

	for (size_t i = 0; i < HLG_EXITS_TABLES; i++) {
		const struct hlg_exits_table *t = &r->tables[i];

		if (is_shown(r, t))
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
		LEAST = 2
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
	uint64_t most = 2 * (uint64_t)r->sums->n_vcpus, n;
	const char *name, *comma = "not counted: ";
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; (name = excluded(r, i, &n)); i++) {
		if (n)
			fprintf(f, "%s%" PRIu64 " %s", comma, n, name);
		comma = n ? ", " : comma;
	}
	*detail = !lone->lost && !lone->late && !lone->bad && lone->exits <= most &&
		  lone->entries <= most && lone->user <= most && lone->runs <= most;
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
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
	hlg_text_lines_notes_behind(f, &r->screen, &notes, r->verbose);
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
	hlg_exits_write_head(r, f, err);
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
	.name = "text", .top = 20, .notes = true, .write = hlg_exits_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(write_json)};
static const struct hlg_format html = {
	.name = "html", .notes = true, .write = hlg_exits_html};
const struct hlg_format *const hlg_exits_formats[] = {&text, &hlg_format_of_records,
						      &json, &html, NULL};
