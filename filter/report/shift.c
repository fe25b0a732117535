// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/shift.h"
#include "symtab/plural.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool hlg_shift_find(struct hlg_shift *shift, const struct hlg_report *r)
{
	const struct hlg_trust *trust = &r->trust;

	*shift = (struct hlg_shift){0};
	for (size_t i = 0; i < trust->n_images; i++)
		if (trust->images[i].tail.shift)
			shift->n = trust->n_images;
	shift->tails = calloc(shift->n + 1, sizeof(*shift->tails));
	for (size_t i = 0; shift->tails && i < shift->n; i++)
		shift->tails[i] = trust->images[i].tail;
	return shift->tails;
}

void hlg_shift_finish(struct hlg_shift *shift)
{
	free(shift->tails);
	*shift = (struct hlg_shift){0};
}

struct move {
	const struct hlg_shift *shift;
	const struct hlg_space *space;
};

/* Where an address of the other build lies in this one. */
static uint64_t where(const void *ctx, uint64_t ip)
{
	const struct move *move = ctx;
	const struct hlg_tail *tail;
	struct hlg_place place;

	hlg_space_lookup(move->space, ip, &place);
	if (!place.image)
		return ip;
	tail = &move->shift->tails[place.image->number];
	return place.addr >= tail->from ? ip + (uint64_t)tail->shift : ip;
}

/* A stack of a guest and its callers, in room for the longest chain. */
static bool move_stack(const struct move *move, struct hlg_stacks *stacks,
		       struct hlg_stack *stack, uint64_t *room)
{
	const uint64_t lane = stack->ip - hlg_space_ip(move->space, stack->ip);
	size_t n;
	const uint64_t *words = hlg_chains_get(&stacks->chains, stack->chain, &n);

	for (size_t i = 0; i < n; i++) {
		/* A return address is behind its call, which may end its function. */
		uint64_t call = words[i] - 1 + lane;

		room[i] = words[i] + (where(move, call) - call);
	}
	stack->ip = where(move, stack->ip);
	if (n)
		stack->chain = hlg_chains_add(&stacks->chains, room, n);
	return stack->chain != HLG_LOST_CHAIN || n == 0;
}

bool hlg_shift_move(const struct hlg_shift *shift, const struct hlg_space *space,
		    struct hlg_profile *profile, struct hlg_stacks *stacks)
{
	const struct move move = {shift, space};
	uint64_t *room = malloc(HLG_CHAIN_MAX * sizeof(*room));
	bool ok = room && hlg_profile_relocate(profile, where, &move);

	for (uint32_t i = 0; ok && stacks && i < stacks->n_stacks; i++)
		if (stacks->stacks[i].guest)
			ok = move_stack(&move, stacks, &stacks->stacks[i], room);
	free(room);
	return ok;
}

static void note(struct hlg_report *r, const struct hlg_image *image,
		 const struct hlg_tail *tail)
{
	hlg_note_list_warn(&r->notes,
			   "%s: from 0x%" PRIx64 " on, %" PRIu64
			   " sample%s counted %+" PRId64
			   " bytes further on, as if another build of it ran "
			   "(--assume-shift)",
			   image->path, tail->from, tail->samples,
			   hlg_plural_word(tail->samples, " is", "s are"), tail->shift);
}

bool hlg_shift_mark(const struct hlg_shift *shift, struct hlg_report *r)
{
	for (size_t i = 0; i < shift->n; i++)
		if (shift->tails[i].shift)
			note(r, r->space->images[i], &shift->tails[i]);
	for (size_t i = 0; i < r->all.n_rows; i++) {
		struct hlg_row *row = &r->all.rows[i];
		const struct hlg_tail *tail =
			row->place.image ? &shift->tails[row->place.image->number] : NULL;

		if (!tail || !tail->shift || row->apart ||
		    row->place.end <= tail->from + (uint64_t)tail->shift)
			continue;
		if (asprintf(&row->apart, "moved by %+" PRId64, tail->shift) < 0) {
			row->apart = NULL;
			return false;
		}
	}
	return true;
}
