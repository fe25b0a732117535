// SPDX-License-Identifier: GPL-2.0-only
#include "tools/sysprof/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

bool hlg_sysprof_more(void *list, size_t n, size_t more, size_t *room, size_t size)
{
	size_t wanted = *room ? *room : 64;
	void *grown;

	if (more <= *room - n)
		return true;
	while (wanted - n < more)
		if (__builtin_mul_overflow(wanted, 2, &wanted))
			return false;
	grown = reallocarray(*(void **)list, wanted, size);
	if (!grown)
		return false;
	*(void **)list = grown;
	*room = wanted;
	return true;
}

struct frame_search {
	const struct hlg_sysprof *s;
	const struct hlg_sysprof_frame *frame;
};

static bool same_frame(const void *ctx, uint32_t number)
{
	const struct frame_search *search = ctx;
	const struct hlg_sysprof_frame *a = search->frame,
				       *b = &search->s->frames[number];

	return a->kind == b->kind && a->addr == b->addr && a->line == b->line &&
	       a->trace == b->trace && a->begins == b->begins &&
	       a->begins_known == b->begins_known && a->chunk == b->chunk &&
	       a->symbol == b->symbol && a->start == b->start;
}

uint32_t hlg_sysprof_frame(struct hlg_sysprof *s, const struct hlg_sysprof_frame *frame)
{
	const struct frame_search search = {s, frame};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, frame->kind);
	uint32_t number;

	hash = hlg_hash_word(hash, frame->addr);
	hash = hlg_hash_word(hash, frame->line);
	hash = hlg_hash_word(hash, frame->trace);
	hash = hlg_hash_word(hash, frame->chunk ^ (uint64_t)frame->symbol << 32);
	number = hlg_index_find(&s->frame_index, hash, same_frame, &search);
	if (number != HLG_INDEX_NONE)
		return number;
	if (!HLG_GROW(s->frames, s->n_frames) ||
	    !hlg_index_add(&s->frame_index, hash, s->n_frames))
		return HLG_INDEX_NONE;
	s->frames[s->n_frames] = *frame;
	return s->n_frames++;
}

struct stack_search {
	const struct hlg_sysprof *s;
	struct hlg_sysprof_stack stack;
	const uint32_t *ids;
};

static bool same_stack(const void *ctx, uint32_t number)
{
	const struct stack_search *search = ctx;
	const struct hlg_sysprof_stack *a = &search->stack,
				       *b = &search->s->stacks[number];

	return a->state == b->state && a->n_lua == b->n_lua && a->n_host == b->n_host &&
	       (a->n_lua + a->n_host == 0 ||
		memcmp(search->ids, search->s->ids + b->at,
		       ((size_t)a->n_lua + a->n_host) * sizeof(*search->ids)) == 0);
}

bool hlg_sysprof_count(struct hlg_sysprof *s, enum hlg_sysprof_state state,
		       const uint32_t *ids, uint32_t n_lua, uint32_t n_host)
{
	const struct stack_search search = {
		s, {.state = state, .n_lua = n_lua, .n_host = n_host}, ids};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, (uint64_t)state << 32 | n_lua);
	size_t n = (size_t)n_lua + n_host;
	/* Room, even for no frames: ids is never NULL where there is a stack. */
	size_t room = n ? n : 1;
	uint32_t number;

	for (size_t i = 0; i < n; i++)
		hash = hlg_hash_word(hash, ids[i]);
	number = hlg_index_find(&s->stack_index, hash, same_stack, &search);
	if (number == HLG_INDEX_NONE) {
		if (!HLG_GROW(s->stacks, s->n_stacks) ||
		    !hlg_sysprof_more(&s->ids, s->n_ids, room, &s->room_ids,
				      sizeof(*s->ids)) ||
		    !hlg_index_add(&s->stack_index, hash, s->n_stacks))
			return false;
		number = s->n_stacks++;
		s->stacks[number] = search.stack;
		s->stacks[number].at = s->n_ids;
		if (n)
			memcpy(s->ids + s->n_ids, ids, n * sizeof(*ids));
		s->n_ids += n;
	}
	s->stacks[number].samples++;
	s->states[state]++;
	s->samples++;
	return true;
}
