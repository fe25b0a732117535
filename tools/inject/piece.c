// SPDX-License-Identifier: GPL-2.0-only
#include "piece.h"

#include <stdlib.h>

static bool add(struct hlg_pieces *to, struct hlg_piece piece)
{
	if (to->n == to->room) {
		size_t room = to->room ? 2 * to->room : 64;
		void *more = reallocarray(to->piece, room, sizeof(*to->piece));

		if (!more)
			return false;
		to->piece = more;
		to->room = room;
	}
	to->piece[to->n++] = piece;
	return true;
}

static bool same_mapping(const struct hlg_piece *x, const struct hlg_piece *y)
{
	return x->pid == y->pid && x->image == y->image && x->bias == y->bias;
}

static int compare(const void *a, const void *b)
{
	const struct hlg_piece *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->bias != y->bias)
		return x->bias < y->bias ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static uint32_t index_of(const struct hlg_space *space, const struct hlg_image *image)
{
	uint32_t i = 0;

	while (space->images[i] != image)
		i++;
	return i;
}

/* What was sampled: a unit that needs a companion, or, empty, that a base has samples. */
static bool add_hit(struct hlg_pieces *spots, const struct hlg_report *r,
		    const struct hlg_units *units, const struct hlg_row *row,
		    const struct hlg_hit *hit)
{
	struct hlg_piece spot = {.pid = r->profile->series[hit->series].pid,
				 .image = index_of(r->space, row->place.image),
				 .bias = hit->ip - hit->addr,
				 .companion = true};
	struct hlg_unit unit;

	if (hlg_units_find(&units[spot.image], hit->addr, &unit) && !unit.plain) {
		spot.start = unit.start;
		spot.end = unit.end;
	}
	if (spots->n && compare(&spots->piece[spots->n - 1], &spot) == 0)
		return true;
	return add(spots, spot);
}

static bool collect(struct hlg_pieces *spots, const struct hlg_report *r,
		    const struct hlg_units *units)
{
	for (size_t i = 0; i < r->all.n_rows; i++) {
		const struct hlg_row *row = &r->all.rows[i];

		for (size_t k = 0; row->place.image && k < row->n_hits; k++)
			if (!add_hit(spots, r, units, row,
				     &r->all.hits[row->first_hit + k]))
				return false;
	}
	if (spots->n)
		qsort(spots->piece, spots->n, sizeof(*spots->piece), compare);
	return true;
}

/* The n spots of one mapping inside one PT_LOAD, and what is between them if it is code.
 */
static bool cut_load(struct hlg_pieces *to, const struct hlg_piece *spots, size_t n,
		     const struct hlg_load *load)
{
	struct hlg_piece piece = spots[0];
	uint64_t at = load->addr;

	for (size_t i = 0; i < n; i++) {
		const struct hlg_piece *spot = &spots[i];

		if (spot->start < at || spot->start == spot->end || spot->end > load->end)
			continue; /* met before, empty, or of another */
		piece.companion = false;
		piece.start = at;
		piece.end = spot->start;
		if (load->exec && piece.start < piece.end && !add(to, piece))
			return false;
		if (!add(to, *spot))
			return false;
		at = spot->end;
	}
	piece.companion = false;
	piece.start = at;
	piece.end = load->end;
	return !load->exec || at == load->end || add(to, piece);
}

bool hlg_pieces_build(struct hlg_pieces *pieces, const struct hlg_report *report,
		      const struct hlg_units *units)
{
	struct hlg_pieces spots = {0};
	bool ok = collect(&spots, report, units);

	*pieces = (struct hlg_pieces){0};
	for (size_t i = 0, j; ok && i < spots.n; i = j) {
		const struct hlg_elf64 *elf =
			&report->space->images[spots.piece[i].image]->elf;

		for (j = i; j < spots.n && same_mapping(&spots.piece[i], &spots.piece[j]);
		     j++)
			;
		for (size_t k = 0; ok && k < elf->n_loads; k++)
			ok = cut_load(pieces, &spots.piece[i], j - i, &elf->loads[k]);
	}
	hlg_pieces_finish(&spots);
	return ok;
}

void hlg_pieces_finish(struct hlg_pieces *pieces)
{
	free(pieces->piece);
}
