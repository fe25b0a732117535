// SPDX-License-Identifier: GPL-2.0-only
/* What the writers share, and text. */
#include "tools/exits/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filter/write/write.h"
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

/* Three digits at least, in the largest unit that leaves them. */
static const char *time_of(char buf[static 24], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	int unit = 0;

	while (value >= 10000 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, 24, "%.*f %s", unit ? 1 : 0, value, units[unit]);
	return buf;
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
	for (size_t i = 0; i < r->n_notes; i++) {
		fputs("# ", f);
		hlg_escape_print(f, r->notes[i]);
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
		fprintf(f, "%s%s %s (%s %%)", between, name, time_of(time, ns),
			hlg_write_percent(percent, sum ? (double)ns / (double)sum : 0));
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
	fprintf(f, "\n%10s %7s %11s %11s %11s %11s %11s %11s %11s  %s\n", "count",
		"time %", "total", "min", "mean", "p50", "p90", "p99", "max",
		hlg_exits_by_word(t->by));
}

static void write_name(FILE *f, const struct hlg_exits_report *r,
		       const struct hlg_exits_table *t, const struct hlg_exits_row *row)
{
	if (row->isa)
		fprintf(f, "%s ", row->isa);
	if (t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO)
		fprintf(f, "%" PRIu64 " ", row->number);
	hlg_escape_print(f, row->name);
	if (row->vcpu >= 0)
		fprintf(f, " vCPU %" PRId64, row->vcpu);
	if (t->by == HLG_EXITS_BY_VCPU) {
		fputs(": ", f);
		write_parts(f, r, &row->time, ", ");
	} else if (r->by_tid) {
		fprintf(f, "  (tid %d)", row->tid);
	}
	fputc('\n', f);
}

static void write_table(FILE *f, const struct hlg_exits_report *r,
			const struct hlg_exits_table *t)
{
	write_title(f, r, t);
	for (size_t i = 0; i < hlg_exits_shown(r, t); i++) {
		const struct hlg_exits_row *row = &t->rows[i];
		const uint64_t times[] = {row->total, row->min, row->total / row->n,
					  row->p50,   row->p90, row->p99,
					  row->max};
		double share = hlg_exits_share(r, t, row->total);
		char buf[24];

		hlg_colour_begin(f, &r->colours, share);
		fprintf(f, "%10" PRIu64 " %7s", row->n, hlg_write_percent(buf, share));
		hlg_colour_end(f, &r->colours, share);
		for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
			fprintf(f, " %11s", time_of(buf, times[k]));
		fputs("  ", f);
		write_name(f, r, t, row);
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

		fprintf(f, "%10s  ", time_of(buf, i ? UINT64_C(1) << i : 0));
		hlg_colour_bar(f, &r->colours, (double)r->octaves[i], (double)most,
			       BAR_WIDTH);
		fprintf(f, " %10" PRIu64 "\n", r->octaves[i]);
	}
}

void hlg_exits_text(FILE *f, const struct hlg_exits_report *r)
{
	write_head(f, r);
	fputs("\nTime: ", f);
	write_parts(f, r, &r->time, ", ");
	fputc('\n', f);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		if (r->tables[i].n)
			write_table(f, r, &r->tables[i]);
	write_histogram(f, r);
}
