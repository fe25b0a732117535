// SPDX-License-Identifier: GPL-2.0-only
/* The report as a table, for people and as CSV. */
#include "tools/exits/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "symtab/escape.h"

#define BAR_WIDTH 40

const char *hlg_exits_kind_word(enum hlg_exits_kind kind)
{
	return kind == HLG_EXITS_GUEST ? "exit" : "vmm";
}

const char *hlg_exits_by_word(enum hlg_exits_by by)
{
	static const char *const words[] = {"reason", "function", "port", "vcpu"};

	return words[by];
}

size_t hlg_exits_shown(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	return r->top && r->top < t->n ? r->top : t->n;
}

double hlg_exits_share(const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		       uint64_t ns)
{
	uint64_t all = r->sums->total[t->kind];

	return all ? (double)ns / (double)all : 0;
}

const char *hlg_exits_excluded(const struct hlg_exits_report *r, size_t i, uint64_t *n)
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

const char *hlg_exits_part(const struct hlg_exits_report *r,
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

const struct hlg_column hlg_exits_columns[HLG_EXITS_COLUMNS] = {
	[HLG_EXITS_COLUMN_RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[HLG_EXITS_COLUMN_KIND] = {"kind", NULL, .type = HLG_VALUE_WORD},
	[HLG_EXITS_COLUMN_NAME] = {"name", "", .type = HLG_VALUE_TEXT, 2},
	[HLG_EXITS_COLUMN_ISA] = {"isa", NULL, .type = HLG_VALUE_WORD},
	[HLG_EXITS_COLUMN_NUMBER] = {"number", NULL, .type = HLG_VALUE_COUNT},
	[HLG_EXITS_COLUMN_PID] = {"pid", NULL, .type = HLG_VALUE_COUNT,
				  .flags = HLG_COLUMN_OMIT},
	[HLG_EXITS_COLUMN_TID] = {"tid", NULL, .type = HLG_VALUE_COUNT,
				  .flags = HLG_COLUMN_OMIT},
	[HLG_EXITS_COLUMN_VCPU] = {"vcpu", NULL, .type = HLG_VALUE_COUNT,
				   .flags = HLG_COLUMN_OMIT},
	[HLG_EXITS_COLUMN_COUNT] = {"count", "count", .type = HLG_VALUE_COUNT, 0, 10,
				    .flags = HLG_COLUMN_PAINTED},
	[HLG_EXITS_COLUMN_PERCENT] = {"percent", "time %", .type = HLG_VALUE_PERCENT, 1,
				      7, .flags = HLG_COLUMN_PAINTED},
	[HLG_EXITS_COLUMN_TIMES] = {"total", "total", .type = HLG_VALUE_NS, 1, 11},
	{"min", "min", .type = HLG_VALUE_NS, 1, 11},
	{"mean", "mean", .type = HLG_VALUE_NS, 1, 11},
	{"p50", "p50", .type = HLG_VALUE_NS, 1, 11},
	{"p90", "p90", .type = HLG_VALUE_NS, 1, 11},
	{"p99", "p99", .type = HLG_VALUE_NS, 1, 11},
	{"max", "max", .type = HLG_VALUE_NS, 1, 11},
};

static void set_number(struct hlg_value *v, const struct hlg_exits_table *t,
		       const struct hlg_exits_row *row)
{
	if (row->isa)
		v[HLG_EXITS_COLUMN_NUMBER] = hlg_table_count_value(row->number);
	else if (t->by == HLG_EXITS_BY_PORT && row->number != HLG_NO_PORT)
		v[HLG_EXITS_COLUMN_NUMBER] =
			hlg_table_count_value(row->number & ~HLG_PORT_MMIO);
}

void hlg_exits_values(struct hlg_value v[static HLG_EXITS_COLUMNS],
		      const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		      const struct hlg_exits_row *row)
{
	const uint64_t times[] = {row->total, row->min, row->total / row->n,
				  row->p50,   row->p90, row->p99,
				  row->max};

	memset(v, 0, HLG_EXITS_COLUMNS * sizeof(*v));
	v[HLG_EXITS_COLUMN_RECORD] = hlg_table_text_value(hlg_exits_by_word(t->by));
	v[HLG_EXITS_COLUMN_KIND] = hlg_table_text_value(hlg_exits_kind_word(t->kind));
	v[HLG_EXITS_COLUMN_NAME] = hlg_table_text_value(row->name);
	v[HLG_EXITS_COLUMN_ISA] = hlg_table_text_value(row->isa);
	set_number(v, t, row);
	v[HLG_EXITS_COLUMN_PID] = hlg_table_id_value(row->pid);
	v[HLG_EXITS_COLUMN_TID] = hlg_table_id_value(row->tid);
	v[HLG_EXITS_COLUMN_VCPU] = hlg_table_id_value(row->vcpu);
	v[HLG_EXITS_COLUMN_COUNT] = hlg_table_count_value(row->n);
	v[HLG_EXITS_COLUMN_PERCENT] =
		hlg_table_number_value(hlg_exits_share(r, t, row->total));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		v[HLG_EXITS_COLUMN_TIMES + i] = hlg_table_count_value(times[i]);
}

/* A record that has a name and one value. */
static void write_record(struct hlg_records *to, const char *record, const char *kind,
			 const char *name, size_t column, uint64_t n)
{
	struct hlg_value v[HLG_EXITS_COLUMNS] = {0};

	v[HLG_EXITS_COLUMN_RECORD] = hlg_table_text_value(record);
	v[HLG_EXITS_COLUMN_KIND] = hlg_table_text_value(kind);
	v[HLG_EXITS_COLUMN_NAME] = hlg_table_text_value(name);
	v[column] = column == HLG_EXITS_COLUMN_NAME ? v[HLG_EXITS_COLUMN_NAME]
						    : hlg_table_count_value(n);
	hlg_format_record(to, v);
}

static void write_head_records(struct hlg_records *to, const struct hlg_exits_report *r)
{
	const char *name;
	uint64_t n;

	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++)
		write_record(to, "pairs", hlg_exits_kind_word(kind),
			     kind == HLG_EXITS_GUEST ? "kvm_exit to kvm_entry"
						     : "kvm_userspace_exit to KVM_RUN",
			     HLG_EXITS_COLUMN_COUNT, r->sums->pairs[kind]);
	for (size_t i = 0; (name = hlg_exits_excluded(r, i, &n)); i++)
		write_record(to, "excluded", NULL, name, HLG_EXITS_COLUMN_COUNT, n);
	for (size_t i = 0; (name = hlg_exits_part(r, &r->time, i, &n)); i++)
		if (n != UINT64_MAX)
			write_record(to, "time", NULL, name, HLG_EXITS_COLUMN_TIMES, n);
	for (size_t i = 0; i < r->notes->n; i++)
		write_record(to, "note", NULL, r->notes->line[i], HLG_EXITS_COLUMN_NAME,
			     0);
}

/*
 * Records `pairs`, `excluded`, `time`, `note`, those of the tables
 * (`reason`, `function`, `port`, `vcpu`) and `histogram`, whose number is where a row
 * begins. All times are in ns.
 */
int hlg_exits_records(void *report, struct hlg_records *to, struct hlg_err *err)
{
	static const struct hlg_table table = {hlg_exits_columns, .n = HLG_EXITS_COLUMNS};
	const struct hlg_exits_report *r = report;
	struct hlg_value v[HLG_EXITS_COLUMNS];

	(void)err;
	hlg_format_begin(to, &table);
	write_head_records(to, r);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		for (size_t k = 0; k < hlg_exits_shown(r, &r->tables[i]); k++) {
			hlg_exits_values(v, r, &r->tables[i], &r->tables[i].rows[k]);
			hlg_format_record(to, v);
		}
	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		if (!r->octaves[i])
			continue;
		memset(v, 0, sizeof(v));
		v[HLG_EXITS_COLUMN_RECORD] = hlg_table_text_value("histogram");
		v[HLG_EXITS_COLUMN_KIND] =
			hlg_table_text_value(hlg_exits_kind_word(r->kind));
		v[HLG_EXITS_COLUMN_NAME] = hlg_table_text_value("");
		v[HLG_EXITS_COLUMN_NUMBER] =
			hlg_table_count_value(i ? UINT64_C(1) << i : 0);
		v[HLG_EXITS_COLUMN_COUNT] = hlg_table_count_value(r->octaves[i]);
		hlg_format_record(to, v);
	}
	return 0;
}

static void write_head(FILE *f, const struct hlg_exits_report *r)
{
	uint64_t n;
	const char *name;

	fprintf(f,
		"# pairs: %" PRIu64 " kvm_exit to kvm_entry, %" PRIu64
		" kvm_userspace_exit to KVM_RUN\n",
		r->sums->pairs[HLG_EXITS_GUEST], r->sums->pairs[HLG_EXITS_VMM]);
	for (size_t i = 0; (name = hlg_exits_excluded(r, i, &n)); i++)
		if (n)
			fprintf(f, "# not counted: %" PRIu64 " %s\n", n, name);
	for (size_t i = 0; i < r->notes->n; i++) {
		fputs("# ", f);
		hlg_escape_print(f, r->notes->line[i]);
		fputc('\n', f);
	}
}

static uint64_t sum_parts(const struct hlg_exits_report *r,
			  const struct hlg_exits_vcpu *vcpu)
{
	uint64_t ns, sum = 0;

	for (size_t i = 0; hlg_exits_part(r, vcpu, i, &ns); i++)
		sum += ns == UINT64_MAX ? 0 : ns;
	return sum;
}

static void write_parts(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_vcpu *vcpu, const char *separator)
{
	uint64_t ns, sum = sum_parts(r, vcpu);
	const char *name, *between = "";
	char time[24], percent[16];

	for (size_t i = 0; (name = hlg_exits_part(r, vcpu, i, &ns)); i++) {
		if (ns == UINT64_MAX)
			continue;
		fprintf(f, "%s%s %s (%s %%)", between, name, hlg_table_ns(time, ns),
			hlg_interval_percent(percent,
					     sum ? (double)ns / (double)sum : 0));
		between = separator;
	}
}

static void write_title(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	static const char *const titles[] = {"Reasons", "Functions", "Ports", "vCPUs"};
	size_t shown = hlg_exits_shown(r, t);

	fprintf(f, "\n%s: %s", titles[t->by],
		t->kind == HLG_EXITS_GUEST ? "kvm_exit to kvm_entry, outside the guest"
					   : "kvm_userspace_exit to KVM_RUN, in the VMM");
	if (shown < t->n)
		fprintf(f, " (%zu of %zu rows)", shown, t->n);
	fputc('\n', f);
}

/* A row at hand. */
struct shown {
	const struct hlg_exits_report *r;
	const struct hlg_exits_table *t;
	const struct hlg_exits_row *row;
};

static void write_name(FILE *f, const void *of)
{
	const struct shown *shown = of;
	const struct hlg_exits_row *row = shown->row;

	if (row->isa)
		fprintf(f, "%s ", row->isa);
	if (shown->t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO)
		fprintf(f, "%" PRIu64 " ", row->number);
	hlg_escape_print(f, row->name);
	if (row->vcpu >= 0)
		fprintf(f, " vCPU %" PRId64, row->vcpu);
	if (shown->t->by == HLG_EXITS_BY_VCPU) {
		fputs(": ", f);
		write_parts(f, shown->r, &row->time, ", ");
	} else if (shown->r->by_tid) {
		fprintf(f, "  (tid %d)", row->tid);
	}
}

static void write_table(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	static const unsigned char layout[] = {
		HLG_EXITS_COLUMN_COUNT,     HLG_EXITS_COLUMN_PERCENT,
		HLG_EXITS_COLUMN_TIMES,     HLG_EXITS_COLUMN_TIMES + 1,
		HLG_EXITS_COLUMN_TIMES + 2, HLG_EXITS_COLUMN_TIMES + 3,
		HLG_EXITS_COLUMN_TIMES + 4, HLG_EXITS_COLUMN_TIMES + 5,
		HLG_EXITS_COLUMN_TIMES + 6, HLG_EXITS_COLUMN_NAME};
	struct hlg_column columns[HLG_EXITS_COLUMNS];
	const struct hlg_table table = {columns, layout, sizeof(layout), r->colours};
	struct hlg_value v[HLG_EXITS_COLUMNS];

	memcpy(columns, hlg_exits_columns, sizeof(columns));
	columns[HLG_EXITS_COLUMN_NAME].heading = hlg_exits_by_word(t->by);
	write_title(f, r, t);
	hlg_table_text_head(f, &table);
	for (size_t i = 0; i < hlg_exits_shown(r, t); i++) {
		const struct shown shown = {r, t, &t->rows[i]};

		hlg_exits_values(v, r, t, shown.row);
		v[HLG_EXITS_COLUMN_NAME] =
			(struct hlg_value){.tail = write_name, .of = &shown};
		hlg_table_text_row(f, &table, v, hlg_exits_share(r, t, shown.row->total));
	}
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
	fputs("\nLatencies, each row twice the one above\n", f);
	for (int i = first; i <= last; i++) {
		char buf[24];

		fprintf(f, "%10s  ", hlg_table_ns(buf, i ? UINT64_C(1) << i : 0));
		hlg_colour_bar(f, &r->colours, (double)r->octaves[i], (double)most,
			       BAR_WIDTH);
		fprintf(f, " %10" PRIu64 "\n", r->octaves[i]);
	}
}

static int write_text(void *report, FILE *f, struct hlg_err *err)
{
	const struct hlg_exits_report *r = report;

	(void)err;
	write_head(f, r);
	fputs("\nTime: ", f);
	write_parts(f, r, &r->time, ", ");
	fputc('\n', f);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		if (r->tables[i].n)
			write_table(f, r, &r->tables[i]);
	write_histogram(f, r);
	return 0;
}

static const struct hlg_format text = {
	.name = "text", .top = 20, .notes = true, .write = write_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(hlg_exits_json)};
const struct hlg_format *const hlg_exits_formats[] = {&text, &hlg_format_of_records,
						      &json, NULL};
