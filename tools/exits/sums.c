// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/sums.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

/* The highest bits tell. */
static uint64_t hash_key(const struct hlg_exits_key *k)
{
	uint64_t rest = (uint64_t)k->reason << 32 | (uint64_t)k->vcpu, hash;

	hash = hlg_hash_mix(k->port ^ (uint64_t)k->kind << 32 ^ (uint64_t)k->isa << 40 ^
			    (uint64_t)k->other_reason << 48);
	return (hlg_hash_mix(hash ^ rest) ^ k->rip) * hlg_hash_factor;
}

/* Field by field: what was just written in pieces cannot be read in one without a wait.
 */
static bool is_key(const struct hlg_exits_key *a, const struct hlg_exits_key *b)
{
	return a->rip == b->rip && a->port == b->port && a->reason == b->reason &&
	       a->vcpu == b->vcpu && a->kind == b->kind && a->isa == b->isa &&
	       a->has_rip == b->has_rip && a->other_reason == b->other_reason &&
	       a->other_isa == b->other_isa && a->has_other == b->has_other;
}

static inline size_t find_index(const struct hlg_exits_sums *s,
				const struct hlg_exits_key *key)
{
	size_t mask = s->room_index - 1, i = hash_key(key) >> s->index_shift;

	while (s->index[i] && !is_key(&s->cells[s->index[i] - 1].key, key))
		i = (i + 1) & mask;
	return i;
}

static __attribute__((noinline)) bool grow_cells(struct hlg_exits_sums *s)
{
	size_t room = s->room_cells ? 2 * s->room_cells : 64;
	struct hlg_exits_cell *cells = NULL;
	uint32_t *index;

	if (room < UINT32_MAX / 8)
		cells = reallocarray(s->cells, room, sizeof(*cells));
	if (!cells)
		return false;
	s->cells = cells;
	index = calloc(8 * room, sizeof(*index));
	if (!index)
		return false;
	free(s->index);
	s->index = index;
	s->room_index = 8 * room; /* a power of two */
	s->index_shift = (unsigned)__builtin_clzll(s->room_index) + 1;
	s->room_cells = room;
	for (size_t i = 0; i < s->n_cells; i++)
		index[find_index(s, &cells[i].key)] = (uint32_t)i + 1;
	return true;
}

static __attribute__((noinline)) struct hlg_exits_cell *add_cell(
	struct hlg_exits_sums *s, const struct hlg_exits_key *key)
{
	struct hlg_exits_cell *cell;

	if (s->n_cells == s->room_cells && !grow_cells(s))
		return NULL;
	cell = &s->cells[s->n_cells++];
	*cell = (struct hlg_exits_cell){.key = *key, .min = UINT64_MAX};
	s->index[find_index(s, key)] = (uint32_t)s->n_cells;
	return cell;
}

/* NULL without memory. */
static inline struct hlg_exits_cell *cell_of(struct hlg_exits_sums *s,
					     const struct hlg_exits_key *key)
{
	uint32_t number = s->room_index ? s->index[find_index(s, key)] : 0;

	return number ? &s->cells[number - 1] : add_cell(s, key);
}

/* A value that is looked for. */
struct wanted {
	const struct hlg_exits_value *values;
	uint64_t value;
	uint32_t cell;
};

static bool is_value(const void *ctx, uint32_t number)
{
	const struct wanted *w = ctx;

	return w->values[number].value == w->value && w->values[number].cell == w->cell;
}

static void count_value(struct hlg_exits_sums *s, uint32_t cell, uint64_t value,
			uint64_t n)
{
	const struct wanted wanted = {s->values, value, cell};
	uint64_t hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, value), cell);
	uint32_t number = hlg_index_find(&s->of_values, hash, is_value, &wanted);

	if (number != HLG_INDEX_NONE) {
		s->values[number].n += n;
	} else if (!HLG_GROW(s->values, s->n_values) ||
		   !hlg_index_add(&s->of_values, hash, s->n_values)) {
		s->no_memory = true;
	} else {
		s->values[s->n_values++] = (struct hlg_exits_value){value, n, cell};
	}
}

/* What is not counted in the histogram: few, or exact, or there is no room. */
static __attribute__((noinline)) void count_apart(struct hlg_exits_sums *s,
						  struct hlg_exits_cell *cell,
						  uint64_t ns)
{
	uint32_t number = (uint32_t)(cell - s->cells);

	if (s->exact) {
		count_value(s, number, ns, 1);
		return;
	}
	if (cell->n > HLG_EXITS_MANY &&
	    hlg_histogram_grow(&cell->histogram, hlg_histogram_bucket(ns)) &&
	    hlg_histogram_count(&cell->histogram, ns))
		return;
	count_value(s, number, hlg_histogram_quantize(ns), 1);
}

/* One pair of a cell. */
static void count(struct hlg_exits_sums *s, struct hlg_exits_cell *cell, uint64_t ns)
{
	cell->n++;
	cell->total += ns;
	cell->min = ns < cell->min ? ns : cell->min;
	cell->max = ns > cell->max ? ns : cell->max;
	if (!hlg_histogram_count(&cell->histogram, ns))
		count_apart(s, cell, ns);
	s->pairs[cell->key.kind]++;
	s->overflow |= __builtin_add_overflow(s->total[cell->key.kind], ns,
					      &s->total[cell->key.kind]);
}

void hlg_exits_add(struct hlg_exits_sums *s, const struct hlg_exits_key *of, uint64_t ns)
{
	/* As above. */
	struct hlg_exits_key key = {.rip = of->rip,
				    .port = of->port,
				    .reason = of->reason,
				    .vcpu = of->vcpu,
				    .kind = of->kind,
				    .isa = of->isa,
				    .has_rip = of->has_rip,
				    .other_reason = of->other_reason,
				    .other_isa = of->other_isa,
				    .has_other = of->has_other};
	struct hlg_exits_cell *cell;

	if (s->fold && key.has_rip && key.kind != HLG_EXITS_CALL)
		key.rip = s->fold(s->fold_ctx, key.rip);
	cell = cell_of(s, &key);
	if (cell)
		count(s, cell, ns);
	else
		s->no_memory = true;
}

void hlg_exits_settle(struct hlg_exits_sums *s)
{
	for (uint32_t cell = 0; cell < s->n_cells; cell++) {
		struct hlg_histogram *histogram = &s->cells[cell].histogram;

		for (uint32_t i = 0; i < histogram->room; i++)
			if (histogram->n[i])
				count_value(s, cell,
					    hlg_histogram_value(histogram->first + i),
					    histogram->n[i]);
		hlg_histogram_finish(histogram);
	}
}

uint32_t hlg_exits_add_vcpu(struct hlg_exits_sums *s, int32_t pid, int32_t tid,
			    int64_t id)
{
	if (s->n_vcpus == UINT32_MAX || !HLG_GROW(s->vcpus, s->n_vcpus)) {
		s->no_memory = true;
		return UINT32_MAX;
	}
	s->vcpus[s->n_vcpus] =
		(struct hlg_exits_vcpu){.pid = pid, .tid = tid, .id = id, .sandbox = -1};
	return (uint32_t)s->n_vcpus++;
}

uint64_t hlg_exits_n_vcpus(const struct hlg_exits_sums *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_vcpus; i++)
		n += s->vcpus[i].sandbox < 0;
	return n;
}

static void add_lone(struct hlg_exits_lone *to, const struct hlg_exits_lone *from)
{
	to->exits += from->exits;
	to->entries += from->entries;
	to->user += from->user;
	to->runs += from->runs;
	to->lost += from->lost;
	to->late += from->late;
	to->bad += from->bad;
}

/* Adds a cell of other sums; its number here, UINT32_MAX without memory. */
static uint32_t merge_cell(struct hlg_exits_sums *s, const struct hlg_exits_cell *from,
			   uint32_t first_vcpu)
{
	struct hlg_exits_key key = from->key;
	struct hlg_exits_cell *cell;

	key.vcpu += first_vcpu;
	cell = cell_of(s, &key);
	if (!cell)
		return UINT32_MAX;
	cell->n += from->n;
	cell->total += from->total;
	cell->min = from->min < cell->min ? from->min : cell->min;
	cell->max = from->max > cell->max ? from->max : cell->max;
	return (uint32_t)(cell - s->cells);
}

/* Each of the others' sums is one of these. */
static void add_times(struct hlg_exits_sums *s, const struct hlg_exits_vcpu *from)
{
	const uint64_t times[] = {from->guest, from->outside, from->vmm, from->run};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		s->overflow |= __builtin_add_overflow(s->all, times[i], &s->all);
}

void hlg_exits_merge(struct hlg_exits_sums *s, const struct hlg_exits_sums *other)
{
	uint32_t first = (uint32_t)s->n_vcpus;
	uint32_t *numbers = calloc(other->n_cells + 1, sizeof(*numbers));

	s->no_memory |= other->no_memory || !numbers;
	if (!numbers)
		return;
	s->overflow |= other->overflow;
	s->crossed |= other->crossed;
	for (size_t i = 0; i < other->n_vcpus && !s->no_memory; i++) {
		const struct hlg_exits_vcpu *from = &other->vcpus[i];
		uint32_t row = hlg_exits_add_vcpu(s, from->pid, from->tid, from->id);

		if (row != UINT32_MAX)
			s->vcpus[row] = *from;
		add_times(s, from);
	}
	for (size_t i = 0; i < other->n_cells && !s->no_memory; i++) {
		numbers[i] = merge_cell(s, &other->cells[i], first);
		s->no_memory |= numbers[i] == UINT32_MAX;
	}
	for (uint32_t i = 0; i < other->n_values && !s->no_memory; i++)
		count_value(s, numbers[other->values[i].cell], other->values[i].value,
			    other->values[i].n);
	for (int kind = 0; kind < HLG_EXITS_ALL_KINDS; kind++) {
		s->pairs[kind] += other->pairs[kind];
		/* No cell has more than the total of its kind. */
		s->overflow |= __builtin_add_overflow(s->total[kind], other->total[kind],
						      &s->total[kind]);
	}
	add_lone(&s->lone, &other->lone);
	free(numbers);
}

void hlg_exits_sums_finish(struct hlg_exits_sums *s)
{
	for (size_t i = 0; i < s->n_cells; i++)
		hlg_histogram_finish(&s->cells[i].histogram);
	free(s->cells);
	free(s->index);
	free(s->values);
	hlg_index_finish(&s->of_values);
	free(s->vcpus);
	*s = (struct hlg_exits_sums){0};
}
