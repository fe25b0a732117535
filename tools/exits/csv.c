// SPDX-License-Identifier: GPL-2.0-only
/*
 * CSV (RFC 4180, with '\n'): one header, then records `pairs`, `excluded`, `time`,
 * `note`, those of the tables (`reason`, `function`, `port`, `vcpu`) and `histogram`,
 * whose number is where a row begins. All times are in ns.
 */
#include <inttypes.h>
#include <string.h>

#include "filter/write/write.h"
#include "tools/exits/write.h"

static void begin(FILE *f, const char *record, const char *kind, const char *name)
{
	fprintf(f, "%s,%s,", record, kind);
	hlg_write_cell(f, name);
}

/* Records that have a count, or a time, and nothing else. */
static void write_count(FILE *f, const char *record, const char *kind, const char *name,
			uint64_t n)
{
	begin(f, record, kind, name);
	fprintf(f, ",,,,,,%" PRIu64 ",,,,,,,,\n", n);
}

static void write_time(FILE *f, const char *name, uint64_t ns)
{
	begin(f, "time", "", name);
	fprintf(f, ",,,,,,,,%" PRIu64 ",,,,,,\n", ns);
}

static void write_row(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t, const struct hlg_exits_row *row)
{
	char percent[16];

	begin(f, hlg_exits_by_word(t->by), hlg_exits_kind_word(t->kind), row->name);
	fprintf(f, ",%s,", row->isa ? row->isa : "");
	if (t->by == HLG_EXITS_BY_PORT && row->number & HLG_PORT_MMIO &&
	    row->number != HLG_NO_PORT)
		fprintf(f, "%" PRIu64, row->number & ~HLG_PORT_MMIO);
	else if (row->isa || (t->by == HLG_EXITS_BY_PORT && row->number != HLG_NO_PORT))
		fprintf(f, "%" PRIu64, row->number);
	fputc(',', f);
	if (row->pid >= 0)
		fprintf(f, "%d", row->pid);
	fputc(',', f);
	if (row->tid >= 0)
		fprintf(f, "%d", row->tid);
	fputc(',', f);
	if (row->vcpu >= 0)
		fprintf(f, "%" PRId64, row->vcpu);
	fprintf(f, ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->n,
		hlg_write_percent(percent, hlg_exits_share(r, t, row->total)), row->total,
		row->min, row->total / row->n);
	fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row->p50,
		row->p90, row->p99, row->max);
}

void hlg_exits_csv(FILE *f, const struct hlg_exits_report *r)
{
	const char *name;
	uint64_t n;

	fputs("record,kind,name,isa,number,pid,tid,vcpu,count,percent,total,min,mean,p50,"
	      "p90,p99,max\n",
	      f);
	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++)
		write_count(f, "pairs", hlg_exits_kind_word(kind),
			    kind == HLG_EXITS_GUEST ? "kvm_exit to kvm_entry"
						    : "kvm_userspace_exit to KVM_RUN",
			    r->sums->pairs[kind]);
	for (size_t i = 0; (name = hlg_exits_excluded(r, i, &n)); i++)
		write_count(f, "excluded", "", name, n);
	for (size_t i = 0; (name = hlg_exits_part(r, &r->time, i, &n)); i++)
		if (n != UINT64_MAX)
			write_time(f, name, n);
	for (size_t i = 0; i < r->n_notes; i++) {
		begin(f, "note", "", r->notes[i]);
		fputs(",,,,,,,,,,,,,,\n", f);
	}
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		for (size_t k = 0; k < hlg_exits_shown(r, &r->tables[i]); k++)
			write_row(f, r, &r->tables[i], &r->tables[i].rows[k]);
	for (int i = 0; i < HLG_EXITS_OCTAVES; i++)
		if (r->octaves[i])
			fprintf(f,
				"histogram,%s,\"\",,%" PRIu64 ",,,,%" PRIu64 ",,,,,,,,\n",
				hlg_exits_kind_word(r->kind), i ? UINT64_C(1) << i : 0,
				r->octaves[i]);
}
