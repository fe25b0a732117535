// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells get a row each by sorting them by what the table tells apart; then the counted
 * latencies of all rows are sorted once, and a walk over them finds every percentile.
 */
#include "tools/exits/table.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/misfits.h"
#include "filter/view/place-name.h"

#define NO_ROW UINT32_MAX

/* The rows of calls, in their order. */
enum call {
	GUEST_CALL,
	HOST_CALL,
	ABORT,
	CANCELLED,
	BETWEEN,
	NO_CALL
};

static const char *const call_names[NO_CALL] = {
	[GUEST_CALL] = "guest call",        [HOST_CALL] = "host call",
	[ABORT] = "abort (panic or fault)", [CANCELLED] = "interrupted (EINTR)",
	[BETWEEN] = "between guest calls",
};

/* What tells a cell's row from another, and the cell. */
struct sorted {
	uint64_t major, minor;
	int64_t sandbox;
	int32_t tid;
	uint32_t cell;
};

/* Pairs of a row that took about this long. */
struct spent {
	uint64_t value, n;
	uint32_t row;
};

/* Is a reason one that was asked for? */
static bool is_reason(const struct hlg_exits_choice *c, unsigned isa, uint32_t reason)
{
	char name[64];
	uint64_t number;

	if (hlg_number_u64(c->reason, &number))
		return reason == number;
	hlg_exits_reason(isa, reason, name, sizeof(name));
	return fnmatch(c->reason, name, FNM_CASEFOLD) == 0;
}

/* Is the pair of a cell wanted? An exit is for its own reason, and for what the VMM was
 * told of it; its time in the VMM likewise. */
static bool wants(const struct hlg_exits_choice *c, const struct hlg_exits_key *key)
{
	if ((c->reason || (c->port && c->port->n)) && key->kind >= HLG_EXITS_KINDS)
		return false; /* no exit: a call, or what is between two */
	if (c->port && c->port->n &&
	    (key->port > INT32_MAX || !hlg_number_list_has(c->port, (int32_t)key->port)))
		return false;
	if (!c->reason)
		return true;
	return is_reason(c, key->isa, key->reason) ||
	       (key->has_other && is_reason(c, key->other_isa, key->other_reason));
}

static int compare_sorted(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->major != y->major)
		return x->major < y->major ? -1 : 1;
	if (x->minor != y->minor)
		return x->minor < y->minor ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->sandbox > y->sandbox) - (x->sandbox < y->sandbox);
}

static int compare_spent(const void *a, const void *b)
{
	const struct spent *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static int compare_rows(const void *a, const void *b)
{
	const struct hlg_exits_row *x = a, *y = b;
	int names;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	names = strcmp(x->name, y->name);
	if (names != 0)
		return names;
	if (x->number != y->number) /* flags of a reason, which are not in its name */
		return x->number < y->number ? -1 : 1;
	if (x->isa && y->isa && strcmp(x->isa, y->isa) != 0)
		return strcmp(x->isa, y->isa);
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->sandbox > y->sandbox) - (x->sandbox < y->sandbox);
}

static int compare_calls(const void *a, const void *b)
{
	const struct hlg_exits_row *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return compare_rows(a, b);
}

static struct hlg_place place_of(const struct hlg_space *space,
				 const struct hlg_exits_key *key)
{
	struct hlg_place place = {.kind = HLG_OUTSIDE};

	if (key->has_rip)
		hlg_space_lookup(space, key->rip, &place);
	return place;
}

/* Was the guest entered where it starts, once in its life? No call is. */
static bool is_start(const struct hlg_space *space, const struct hlg_exits_key *key)
{
	struct hlg_place place = place_of(space, key);

	return place.image && place.addr == place.image->elf.entry;
}

/* kind: of pairs that count as exits. */
static enum call call_of(const struct hlg_exits_key *key, enum hlg_exits_kind kind,
			 const struct hlg_exits_choice *choice,
			 const struct hlg_space *space)
{
	if (!choice->ports->halts && !choice->ports->before_0_18)
		return NO_CALL;
	if (key->kind == HLG_EXITS_CALL)
		return is_start(space, key) ? NO_CALL : GUEST_CALL;
	if (key->kind == HLG_EXITS_BETWEEN)
		return BETWEEN;
	if (key->kind == HLG_EXITS_VMM && key->isa == HLG_ISA_ERRNO &&
	    key->reason == EINTR)
		return CANCELLED;
	if (key->kind == kind && key->port == HLG_PORT_ABORT)
		return ABORT;
	if (key->kind == kind && hlg_calls_is_host_call(choice->ports, key->port))
		return HOST_CALL;
	return NO_CALL;
}

/* Is a cell in the table? */
static bool belongs(const struct hlg_exits_table *table, const struct hlg_exits_key *key,
		    const struct hlg_exits_choice *choice, const struct hlg_space *space)
{
	if (!wants(choice, key))
		return false;
	return table->by == HLG_EXITS_BY_CALL
		       ? call_of(key, table->kind, choice, space) != NO_CALL
		       : key->kind == table->kind;
}

static struct sorted sort_key(const struct hlg_exits_sums *sums, uint32_t cell,
			      const struct hlg_exits_table *table,
			      const struct hlg_exits_choice *choice,
			      const struct hlg_space *space)
{
	const struct hlg_exits_key *key = &sums->cells[cell].key;
	const struct hlg_exits_vcpu *vcpu = &sums->vcpus[key->vcpu];
	struct sorted s = {.tid = choice->by_tid ? vcpu->tid : -1,
			   .sandbox = choice->by_sandbox ? vcpu->sandbox : -1,
			   .cell = cell};
	struct hlg_place place;

	switch (table->by) {
	case HLG_EXITS_BY_REASON:
		s.major = key->isa;
		s.minor = key->reason;
		break;
	case HLG_EXITS_BY_FUNCTION:
		place = place_of(space, key);
		s.major = (uintptr_t)place.owner;
		s.minor = key->has_rip;
		if (choice->check->suppressed)
			s.major = key->has_rip ? key->rip : 0;
		else if (place.kind == HLG_OUTSIDE)
			s.major = 0;
		break;
	case HLG_EXITS_BY_PORT:
		s.major = key->port;
		break;
	case HLG_EXITS_BY_CALL:
		s.major = call_of(key, table->kind, choice, space);
		break;
	default:
		s.major = (uint64_t)(uint32_t)vcpu->pid;
		s.minor = (uint64_t)vcpu->id;
		s.tid = vcpu->tid;
	}
	return s;
}

static char *name_function(const struct hlg_exits_key *key,
			   const struct hlg_exits_choice *choice,
			   const struct hlg_space *space)
{
	struct hlg_place place = place_of(space, key);
	char *name;

	if (!key->has_rip)
		return strdup("[address not recorded]");
	if (choice->check->suppressed)
		return asprintf(&name, "0x%" PRIx64, hlg_space_ip(space, key->rip)) < 0
			       ? NULL
			       : name;
	name = hlg_misfits_has(choice->check, &place)
		       ? hlg_misfits_name(&place)
		       : hlg_place_name(&place, choice->demangle);
	return space->n_lanes && space->n_images > 1
		       ? hlg_place_name_of_image(name, &place)
		       : name;
}

static char *name_row(const struct hlg_exits_sums *sums, const struct sorted *s,
		      const struct hlg_exits_table *table,
		      const struct hlg_exits_choice *choice,
		      const struct hlg_space *space)
{
	const struct hlg_exits_key *key = &sums->cells[s->cell].key;
	const struct hlg_exits_vcpu *vcpu = &sums->vcpus[key->vcpu];
	char buf[64];

	switch (table->by) {
	case HLG_EXITS_BY_REASON:
		return strdup(hlg_exits_reason(key->isa, key->reason, buf, sizeof(buf)));
	case HLG_EXITS_BY_FUNCTION:
		return name_function(key, choice, space);
	case HLG_EXITS_BY_PORT:
		if (hlg_exits_port(choice->ports, key->port))
			return strdup(hlg_exits_port(choice->ports, key->port));
		if (key->port == HLG_NO_PORT)
			return strdup("no port");
		snprintf(buf, sizeof(buf),
			 key->port & HLG_PORT_MMIO ? "mmio 0x%" PRIx64 : "0x%" PRIx64,
			 key->port & ~HLG_PORT_MMIO);
		return strdup(buf);
	case HLG_EXITS_BY_CALL:
		return strdup(call_names[s->major]);
	default:
		snprintf(buf, sizeof(buf), "%d/%d", vcpu->pid, vcpu->tid);
		return strdup(buf);
	}
}

static bool fill_row(struct hlg_exits_row *row, const struct hlg_exits_sums *sums,
		     const struct sorted *s, const struct hlg_exits_table *table,
		     const struct hlg_exits_choice *choice, const struct hlg_space *space)
{
	const struct hlg_exits_key *key = &sums->cells[s->cell].key;
	const struct hlg_exits_vcpu *vcpu = &sums->vcpus[key->vcpu];

	*row = (struct hlg_exits_row){
		.name = name_row(sums, s, table, choice, space),
		.kind = key->kind,
		.pid = -1,
		.tid = s->tid,
		.vcpu = -1,
		.sandbox = s->sandbox,
		.min = UINT64_MAX,
	};
	if (table->by == HLG_EXITS_BY_REASON) {
		row->isa = hlg_exits_isa(key->isa);
		row->number = key->reason;
	} else if (table->by == HLG_EXITS_BY_PORT) {
		row->number = key->port;
	} else if (table->by == HLG_EXITS_BY_CALL) {
		row->number = s->major;
	} else if (table->by == HLG_EXITS_BY_VCPU) {
		row->pid = vcpu->pid;
		row->vcpu = vcpu->id;
	}
	return row->name;
}

static void add_cell(struct hlg_exits_row *row, const struct hlg_exits_cell *cell)
{
	row->n += cell->n;
	row->total += cell->total;
	if (cell->min < row->min)
		row->min = cell->min;
	if (cell->max > row->max)
		row->max = cell->max;
}

static void note_isa(struct hlg_exits_table *table, const char *isa)
{
	const char *first = table->rows[0].isa;

	if (isa && first && strcmp(isa, first) != 0)
		table->several_isas = true;
}

/* Rows from cells that are sorted; row_of[cell] becomes each cell's. */
static bool make_rows(struct hlg_exits_table *table, const struct hlg_exits_sums *sums,
		      const struct sorted *sorted, size_t n, uint32_t *row_of,
		      const struct hlg_exits_choice *choice,
		      const struct hlg_space *space)
{
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_sorted(&sorted[i - 1], &sorted[i]) != 0) {
			if (!fill_row(&table->rows[table->n], sums, &sorted[i], table,
				      choice, space))
				return false;
			note_isa(table, table->rows[table->n].isa);
			table->n++;
		}
		add_cell(&table->rows[table->n - 1], &sums->cells[sorted[i].cell]);
		row_of[sorted[i].cell] = (uint32_t)(table->n - 1);
	}
	return true;
}

void hlg_exits_add_times(struct hlg_exits_vcpu *to, const struct hlg_exits_vcpu *from)
{
	to->guest += from->guest;
	to->outside += from->outside;
	to->inner += from->inner;
	to->vmm += from->vmm;
	to->run += from->run;
}

/* To each vCPU's row what it did. */
static bool add_times(struct hlg_exits_table *table, const struct hlg_exits_sums *sums,
		      const uint32_t *row_of)
{
	bool *seen = calloc(sums->n_vcpus + 1, sizeof(*seen));

	if (!seen)
		return false;
	for (size_t i = 0; i < sums->n_cells; i++) {
		uint32_t vcpu = sums->cells[i].key.vcpu;

		if (row_of[i] == NO_ROW || seen[vcpu])
			continue;
		seen[vcpu] = true;
		hlg_exits_add_times(&table->rows[row_of[i]].time, &sums->vcpus[vcpu]);
	}
	free(seen);
	return true;
}

/* A counted value stands for some around it; a row's own ends are known. */
static uint64_t clamp(const struct hlg_exits_row *row, uint64_t value)
{
	return value < row->min ? row->min : value > row->max ? row->max : value;
}

static void find_percentiles(struct hlg_exits_table *table, const struct spent *spent,
			     size_t n)
{
	uint64_t below = 0;

	for (size_t i = 0; i < n; i++) {
		struct hlg_exits_row *row = &table->rows[spent[i].row];
		uint64_t value = clamp(row, spent[i].value);

		if (i == 0 || spent[i - 1].row != spent[i].row)
			below = 0;
		/* below < rank <= below + n, where rank is the least that is enough. */
		if (below < row->n - row->n / 2 &&
		    below + spent[i].n >= row->n - row->n / 2)
			row->p50 = value;
		if (below < row->n - row->n / 10 &&
		    below + spent[i].n >= row->n - row->n / 10)
			row->p90 = value;
		if (below < row->n - row->n / 100 &&
		    below + spent[i].n >= row->n - row->n / 100)
			row->p99 = value;
		below += spent[i].n;
	}
}

static int octave_of(uint64_t ns)
{
	return 63 - __builtin_clzll(ns | 1);
}

/* How long the pairs of each row took, by powers of two. */
static bool add_octaves(struct hlg_exits_table *table, const struct hlg_exits_sums *sums,
			const uint32_t *row_of)
{
	table->octaves = calloc(table->n + 1, sizeof(*table->octaves));
	if (!table->octaves)
		return false;
	for (size_t i = 0; i < table->n; i++)
		table->rows[i].octaves = table->octaves[i];
	for (size_t i = 0; i < sums->n_values; i++) {
		const struct hlg_exits_value *v = &sums->values[i];

		if (row_of[v->cell] != NO_ROW)
			table->octaves[row_of[v->cell]][octave_of(v->value)] += v->n;
	}
	return true;
}

static bool add_percentiles(struct hlg_exits_table *table,
			    const struct hlg_exits_sums *sums, const uint32_t *row_of)
{
	struct spent *spent = calloc(sums->n_values + 1, sizeof(*spent));
	size_t n = 0;

	if (!spent)
		return false;
	for (size_t i = 0; i < sums->n_values; i++) {
		const struct hlg_exits_value *v = &sums->values[i];

		if (row_of[v->cell] != NO_ROW)
			spent[n++] = (struct spent){v->value, v->n, row_of[v->cell]};
	}
	qsort(spent, n, sizeof(*spent), compare_spent);
	find_percentiles(table, spent, n);
	free(spent);
	return true;
}

int hlg_exits_tabulate(struct hlg_exits_table *table, const struct hlg_exits_sums *sums,
		       enum hlg_exits_kind kind, enum hlg_exits_by by,
		       const struct hlg_exits_choice *choice,
		       const struct hlg_space *space, struct hlg_err *err)
{
	struct sorted *sorted = calloc(sums->n_cells + 1, sizeof(*sorted));
	uint32_t *row_of = calloc(sums->n_cells + 1, sizeof(*row_of));
	size_t n = 0;
	bool ok;

	*table = (struct hlg_exits_table){.kind = kind, .by = by};
	table->rows = calloc(sums->n_cells + 1, sizeof(*table->rows));
	ok = sorted && row_of && table->rows;
	for (uint32_t i = 0; ok && i < sums->n_cells; i++) {
		row_of[i] = NO_ROW;
		if (belongs(table, &sums->cells[i].key, choice, space))
			sorted[n++] = sort_key(sums, i, table, choice, space);
	}
	if (ok)
		qsort(sorted, n, sizeof(*sorted), compare_sorted);
	ok = ok && make_rows(table, sums, sorted, n, row_of, choice, space) &&
	     add_percentiles(table, sums, row_of);
	if (by == HLG_EXITS_BY_REASON)
		ok = ok && add_octaves(table, sums, row_of);
	if (by == HLG_EXITS_BY_VCPU)
		ok = ok && add_times(table, sums, row_of);
	if (ok)
		qsort(table->rows, table->n, sizeof(*table->rows),
		      by == HLG_EXITS_BY_CALL ? compare_calls : compare_rows);
	free(sorted);
	free(row_of);
	return ok ? 0 : hlg_err_memory(err, "exits");
}

void hlg_exits_table_finish(struct hlg_exits_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->rows[i].name);
	free(table->rows);
	free(table->octaves);
	*table = (struct hlg_exits_table){0};
}

void hlg_exits_histogram(uint64_t octaves[HLG_EXITS_OCTAVES],
			 const struct hlg_exits_sums *sums, enum hlg_exits_kind kind,
			 const struct hlg_exits_choice *choice)
{
	memset(octaves, 0, HLG_EXITS_OCTAVES * sizeof(*octaves));
	for (size_t i = 0; i < sums->n_values; i++) {
		const struct hlg_exits_value *v = &sums->values[i];
		const struct hlg_exits_key *key = &sums->cells[v->cell].key;

		if (key->kind == kind && wants(choice, key))
			octaves[octave_of(v->value)] += v->n;
	}
}
