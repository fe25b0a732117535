// SPDX-License-Identifier: GPL-2.0-only
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#define NO_CELL UINT32_MAX

/* splitmix64's last steps (Steele, Lea, Flood, 2014). */
static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

static uint64_t hash_key(const struct hlg_exits_key *k)
{
	uint64_t rest = (uint64_t)k->reason << 32 | (uint64_t)k->vcpu;

	return mix(k->rip ^ mix(rest ^ k->port * UINT64_C(0x9e3779b97f4a7c15)) ^
		   ((uint64_t)k->kind << 8 | k->isa));
}

static bool same(const struct hlg_exits_key *a, const struct hlg_exits_key *b)
{
	return a->rip == b->rip && a->port == b->port && a->reason == b->reason &&
	       a->vcpu == b->vcpu && a->kind == b->kind && a->isa == b->isa &&
	       a->has_rip == b->has_rip;
}

static size_t find_index(const struct hlg_exits_sums *s, const struct hlg_exits_key *key)
{
	size_t mask = s->room_index - 1, i = hash_key(key) & mask;

	while (s->index[i] && !same(&s->cells[s->index[i] - 1].key, key))
		i = (i + 1) & mask;
	return i;
}

static bool grow_cells(struct hlg_exits_sums *s)
{
	size_t room = s->room_cells ? 2 * s->room_cells : 64;
	struct hlg_exits_cell *cells = NULL;
	uint32_t *index;

	if (room < UINT32_MAX / 2)
		cells = reallocarray(s->cells, room, sizeof(*cells));
	if (!cells)
		return false;
	s->cells = cells;
	index = calloc(2 * room, sizeof(*index));
	if (!index)
		return false;
	free(s->index);
	s->index = index;
	s->room_index = 2 * room;
	s->room_cells = room;
	for (size_t i = 0; i < s->n_cells; i++)
		index[find_index(s, &cells[i].key)] = (uint32_t)i + 1;
	return true;
}

static uint32_t cell_of(struct hlg_exits_sums *s, const struct hlg_exits_key *key)
{
	size_t at;

	if (s->n_cells == s->room_cells && !grow_cells(s))
		return NO_CELL;
	at = find_index(s, key);
	if (!s->index[at]) {
		s->cells[s->n_cells] =
			(struct hlg_exits_cell){.key = *key, .min = UINT64_MAX};
		s->index[at] = (uint32_t)++s->n_cells;
	}
	return s->index[at] - 1;
}

static struct hlg_exits_value *value_of(const struct hlg_exits_sums *s, uint32_t cell,
					uint64_t value)
{
	size_t mask = s->room_values - 1;
	size_t i = mix(value ^ (uint64_t)cell << 40) & mask;

	while (s->values[i].n &&
	       (s->values[i].value != value || s->values[i].cell != cell))
		i = (i + 1) & mask;
	return &s->values[i];
}

static bool grow_values(struct hlg_exits_sums *s)
{
	struct hlg_exits_sums more = {.room_values =
					      s->room_values ? 2 * s->room_values : 256};

	more.values = calloc(more.room_values, sizeof(*more.values));
	if (!more.values)
		return false;
	for (size_t i = 0; i < s->room_values; i++)
		if (s->values[i].n)
			*value_of(&more, s->values[i].cell, s->values[i].value) =
				s->values[i];
	free(s->values);
	s->values = more.values;
	s->room_values = more.room_values;
	return true;
}

#define OCTAVES 59 /* of 64 values; the first has 0 to 63 */

/* Where a latency is counted in dense, and the value it is counted as. */
static unsigned octave_of(uint64_t ns)
{
	return ns < 64 ? 0 : 58 - (unsigned)__builtin_clzll(ns);
}

static unsigned part_of(uint64_t ns, unsigned octave)
{
	return ns >> (octave ? octave - 1 : 0) & 63;
}

static uint64_t dense_value(unsigned octave, unsigned part)
{
	return octave ? hlg_exits_quantize((uint64_t)(64 + part) << (octave - 1)) : part;
}

/* A cell that has many pairs gets a table: false without memory, or if it has few. */
static bool count_dense(struct hlg_exits_cell *cell, uint64_t ns)
{
	unsigned octave = octave_of(ns);

	if (!cell->dense && cell->n >= HLG_EXITS_DENSE)
		cell->dense = calloc(OCTAVES, sizeof(*cell->dense));
	if (!cell->dense)
		return false;
	if (!cell->dense[octave])
		cell->dense[octave] = calloc(64, sizeof(*cell->dense[octave]));
	if (!cell->dense[octave])
		return false;
	cell->dense[octave][part_of(ns, octave)]++;
	return true;
}

static void count_value(struct hlg_exits_sums *s, uint32_t cell, uint64_t value,
			uint64_t n)
{
	struct hlg_exits_value *v;

	if (2 * s->n_values >= s->room_values && !grow_values(s)) {
		s->no_memory = true;
		return;
	}
	v = value_of(s, cell, value);
	s->n_values += v->n == 0;
	v->value = value;
	v->cell = cell;
	v->n += n;
}

static void free_dense(struct hlg_exits_cell *cell)
{
	for (unsigned i = 0; cell->dense && i < OCTAVES; i++)
		free(cell->dense[i]);
	free(cell->dense);
	cell->dense = NULL;
}

void hlg_exits_settle(struct hlg_exits_sums *s)
{
	for (uint32_t cell = 0; cell < s->n_cells; cell++) {
		uint64_t **dense = s->cells[cell].dense;

		for (unsigned i = 0; dense && i < OCTAVES; i++)
			for (unsigned k = 0; dense[i] && k < 64; k++)
				if (dense[i][k])
					count_value(s, cell, dense_value(i, k),
						    dense[i][k]);
		free_dense(&s->cells[cell]);
	}
}

void hlg_exits_add(struct hlg_exits_sums *s, const struct hlg_exits_key *pair,
		   uint64_t ns)
{
	struct hlg_exits_key key = *pair;
	struct hlg_exits_cell *cell;
	uint32_t number;

	if (s->fold && key.has_rip)
		key.rip = s->fold(s->fold_ctx, key.rip);
	number = cell_of(s, &key);
	if (number == NO_CELL) {
		s->no_memory = true;
		return;
	}
	cell = &s->cells[number];
	cell->n++;
	cell->total += ns;
	if (ns < cell->min)
		cell->min = ns;
	if (ns > cell->max)
		cell->max = ns;
	if (s->exact || !count_dense(cell, ns))
		count_value(s, number, s->exact ? ns : hlg_exits_quantize(ns), 1);
	s->pairs[key.kind]++;
	s->total[key.kind] += ns;
}

uint32_t hlg_exits_add_vcpu(struct hlg_exits_sums *s, int32_t pid, int32_t tid,
			    int64_t id)
{
	if (s->n_vcpus == s->room_vcpus) {
		size_t room = s->room_vcpus ? 2 * s->room_vcpus : 16;
		struct hlg_exits_vcpu *vcpus = NULL;

		if (room < UINT32_MAX)
			vcpus = reallocarray(s->vcpus, room, sizeof(*vcpus));
		if (!vcpus) {
			s->no_memory = true;
			return UINT32_MAX;
		}
		s->vcpus = vcpus;
		s->room_vcpus = room;
	}
	s->vcpus[s->n_vcpus] = (struct hlg_exits_vcpu){.pid = pid, .tid = tid, .id = id};
	return (uint32_t)s->n_vcpus++;
}

void hlg_exits_sums_finish(struct hlg_exits_sums *s)
{
	for (size_t i = 0; i < s->n_cells; i++)
		free_dense(&s->cells[i]);
	free(s->cells);
	free(s->index);
	free(s->values);
	free(s->vcpus);
	*s = (struct hlg_exits_sums){0};
}
