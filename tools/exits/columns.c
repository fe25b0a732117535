// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/columns.h"

#include <string.h>

const char *hlg_exits_kind_word(enum hlg_exits_kind kind)
{
	static const char *const words[] = {"exit", "vmm", "between", "call"};

	return words[kind];
}

const char *hlg_exits_pair_words(enum hlg_exits_kind kind)
{
	static const char *const words[] = {"kvm_exit to kvm_entry",
					    "kvm_userspace_exit to KVM_RUN",
					    "between guest calls", "guest call"};

	return words[kind];
}

const char *hlg_exits_by_word(enum hlg_exits_by by)
{
	static const char *const words[] = {"reason", "function", "port", "vcpu", "call"};

	return words[by];
}

size_t hlg_exits_shown(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	if (t->by == HLG_EXITS_BY_CALL && !hlg_exits_splits(r))
		return t->n; /* a handful, and of all rows what is asked for most */
	/* A line that says that there is one more is no shorter than that one. */
	return r->top && r->top + r->fitted < t->n ? r->top : t->n;
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

const char *hlg_exits_part_of_time(const struct hlg_exits_report *r,
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

uint64_t hlg_exits_sum_parts(const struct hlg_exits_report *r,
			     const struct hlg_exits_vcpu *vcpu)
{
	uint64_t ns, sum = 0;

	for (size_t i = 0; hlg_exits_part_of_time(r, vcpu, i, &ns); i++)
		sum += ns == UINT64_MAX ? 0 : ns;
	return sum;
}

bool hlg_exits_is_of_calls(const struct hlg_exits_table *t)
{
	return t->by == HLG_EXITS_BY_CALL;
}

double hlg_exits_share(const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		       uint64_t ns)
{
	uint64_t all = hlg_exits_is_of_calls(t) ? hlg_exits_sum_parts(r, &r->time)
						: r->sums->total[t->kind];

	return all ? (double)ns / (double)all : 0;
}

bool hlg_exits_has_share(const struct hlg_exits_row *row)
{
	return row->kind != HLG_EXITS_BETWEEN;
}

const char *hlg_exits_share_of(const struct hlg_exits_table *t)
{
	return hlg_exits_is_of_calls(t)   ? "all time"
	       : t->kind == HLG_EXITS_VMM ? "VMM time"
					  : "exit time";
}

struct hlg_exits_picked hlg_exits_pick(const struct hlg_exits_report *r,
				       enum hlg_exits_kind kind)
{
	const struct hlg_exits_table *t = &r->tables[kind];
	struct hlg_exits_picked picked = {0};

	for (size_t i = 0; i < t->n; i++) {
		picked.n += t->rows[i].n;
		picked.total += t->rows[i].total;
	}
	picked.share = hlg_exits_share(r, t, picked.total);
	return picked;
}

const struct hlg_column hlg_exits_columns[HLG_EXITS_COLUMNS] = {
	[HLG_EXITS_RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[HLG_EXITS_KIND] = {"kind", NULL, .type = HLG_VALUE_WORD},
	[HLG_EXITS_NAME] = {"name", NULL, .type = HLG_VALUE_TEXT},
	[HLG_EXITS_ISA] = {"isa", NULL, .type = HLG_VALUE_WORD},
	[HLG_EXITS_NUMBER] = {"number", NULL, .type = HLG_VALUE_COUNT},
	[HLG_EXITS_PID] = {"pid", NULL, .type = HLG_VALUE_COUNT,
			   .flags = HLG_COLUMN_OMIT},
	[HLG_EXITS_TID] = {"tid", NULL, .type = HLG_VALUE_COUNT,
			   .flags = HLG_COLUMN_OMIT},
	[HLG_EXITS_VCPU] = {"vcpu", NULL, .type = HLG_VALUE_COUNT,
			    .flags = HLG_COLUMN_OMIT},
	[HLG_EXITS_COUNT] = {"count", NULL, .type = HLG_VALUE_COUNT},
	[HLG_EXITS_PERCENT] = {"percent", NULL, .type = HLG_VALUE_PERCENT},
	[HLG_EXITS_PERCENT_OF] = {"percent_of", NULL, .type = HLG_VALUE_WORD},
	[HLG_EXITS_TIMES] = {"total", NULL, .type = HLG_VALUE_NS},
	{"min", NULL, .type = HLG_VALUE_NS},
	{"mean", NULL, .type = HLG_VALUE_NS},
	{"p50", NULL, .type = HLG_VALUE_NS},
	{"p90", NULL, .type = HLG_VALUE_NS},
	{"p99", NULL, .type = HLG_VALUE_NS},
	{"max", NULL, .type = HLG_VALUE_NS},
	[HLG_EXITS_SANDBOX] = {"sandbox", NULL, .type = HLG_VALUE_COUNT,
			       .flags = HLG_COLUMN_OMIT},
};

static void set_number(struct hlg_value *v, const struct hlg_exits_table *t,
		       const struct hlg_exits_row *row)
{
	if (row->isa)
		v[HLG_EXITS_NUMBER] = hlg_table_count_value(row->number);
	else if (t->by == HLG_EXITS_BY_PORT && row->number != HLG_NO_PORT)
		v[HLG_EXITS_NUMBER] = hlg_table_count_value(row->number & ~HLG_PORT_MMIO);
}

void hlg_exits_set_values(struct hlg_value v[static HLG_EXITS_COLUMNS],
			  const struct hlg_exits_report *r,
			  const struct hlg_exits_table *t,
			  const struct hlg_exits_row *row)
{
	const uint64_t times[] = {row->total, row->min, row->total / row->n,
				  row->p50,   row->p90, row->p99,
				  row->max};

	memset(v, 0, HLG_EXITS_COLUMNS * sizeof(*v));
	v[HLG_EXITS_RECORD] = hlg_table_text_value(hlg_exits_by_word(t->by));
	v[HLG_EXITS_KIND] = hlg_table_text_value(hlg_exits_kind_word(row->kind));
	v[HLG_EXITS_NAME] = hlg_table_text_value(row->name);
	v[HLG_EXITS_ISA] = hlg_table_text_value(row->isa);
	set_number(v, t, row);
	v[HLG_EXITS_PID] = hlg_table_id_value(row->pid);
	v[HLG_EXITS_TID] = hlg_table_id_value(row->tid);
	v[HLG_EXITS_VCPU] = hlg_table_id_value(row->vcpu);
	v[HLG_EXITS_SANDBOX] = hlg_table_id_value(row->sandbox > 0 ? row->sandbox : -1);
	v[HLG_EXITS_COUNT] = hlg_table_count_value(row->n);
	if (hlg_exits_has_share(row)) {
		v[HLG_EXITS_PERCENT] =
			hlg_table_number_value(hlg_exits_share(r, t, row->total));
		v[HLG_EXITS_PERCENT_OF] = hlg_table_text_value(hlg_exits_share_of(t));
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		v[HLG_EXITS_TIMES + i] = hlg_table_count_value(times[i]);
}
