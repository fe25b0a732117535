// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/judge.h"

#include <stdlib.h>

#include "filter/profile/index.h"
#include "symtab/code/body.h"
#include "symtab/code/frame.h"
#include "symtab/grow.h"

/* Jumps from function to function that a tail call may take; and instructions that are
 * looked at for one edge: a hostile file must not take forever. */
#define TAIL_CALLS 4
#define LOOKED_AT  1000000

struct function {
	struct hlg_place place;
	const struct hlg_image *image;
	struct hlg_body body;
};

/* An edge that was judged: it depends on nothing else. */
struct memo {
	const void *below; /* place's owner */
	uint64_t call;     /* the guest's */
	enum hlg_body_rbp rbp;
	struct hlg_edge edge;
};

struct hlg_judge {
	const struct hlg_space *space;
	const struct hlg_trust *trust;
	struct function **functions;
	uint32_t n_functions;
	struct memo *memos;
	uint32_t n_memos;
	struct hlg_index function_index, memo_index;
	size_t left;         /* of LOOKED_AT */
	signed char *frames; /* of each image: does it keep them? -1: not asked yet */
	bool ok;             /* there was memory */
};

struct hlg_judge *hlg_judge_open(const struct hlg_space *space,
				 const struct hlg_trust *trust)
{
	struct hlg_judge *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->space = space;
	j->trust = trust;
	j->ok = true;
	j->frames = malloc(space->n_images + 1);
	if (!j->frames) {
		hlg_judge_close(j);
		return NULL;
	}
	for (size_t i = 0; i < space->n_images; i++)
		j->frames[i] = -1;
	return j;
}

void hlg_judge_close(struct hlg_judge *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < j->n_functions; i++) {
		hlg_body_finish(&j->functions[i]->body);
		free(j->functions[i]);
	}
	free(j->functions);
	free(j->memos);
	free(j->frames);
	hlg_index_finish(&j->function_index);
	hlg_index_finish(&j->memo_index);
	free(j);
}

struct search {
	const struct hlg_judge *j;
	const void *key;
};

static bool same_function(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;

	return search->j->functions[number]->place.owner == search->key;
}

static struct function *read_function(struct hlg_judge *j, const struct hlg_place *place,
				      struct hlg_code *code)
{
	struct function *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->place = *place;
	f->image = place->image;
	if (!HLG_GROW(j->functions, j->n_functions) ||
	    !hlg_body_read(&f->body, code, place)) {
		hlg_body_finish(&f->body);
		free(f);
		return NULL;
	}
	return f;
}

/* The function or label of a place; NULL: it cannot be decoded, or without memory. */
static const struct function *function_of(struct hlg_judge *j,
					  const struct hlg_place *place)
{
	const struct search search = {j, place->owner};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, (uintptr_t)place->owner);
	const struct hlg_image_test *test = hlg_trust_of(j->trust, place->image);
	struct function *f;
	uint32_t known;

	if (!place->symbol || !test || !test->code)
		return NULL;
	known = hlg_index_find(&j->function_index, hash, same_function, &search);
	if (known != HLG_INDEX_NONE)
		return j->functions[known];
	f = read_function(j, place, test->code);
	j->ok &= f && hlg_index_add(&j->function_index, hash, j->n_functions);
	if (f)
		j->functions[j->n_functions++] = f;
	return f;
}

/* What has an own address of f's image. */
static const struct function *function_at(struct hlg_judge *j, const struct function *f,
					  uint64_t addr)
{
	struct hlg_place place;

	hlg_image_lookup(f->image, addr, &place);
	return function_of(j, &place);
}

static bool is_indirect(const struct hlg_body_insn *insn, enum hlg_flow flow)
{
	return insn->flow == flow && !insn->direct;
}

static bool has_indirect(const struct function *f, enum hlg_flow flow)
{
	for (size_t i = 0; i < f->body.n; i++)
		if (is_indirect(&f->body.insns[i], flow))
			return true;
	return false;
}

/* Is there still leave to look at all of f? */
static bool look(struct hlg_judge *j, const struct function *f)
{
	bool may = f->body.n <= j->left;

	j->left -= may ? f->body.n : j->left;
	return may;
}

/* Does f jump to the function, itself or by way of others? */
static bool jumps_to(struct hlg_judge *j, const struct function *f,
		     const struct function *to, unsigned most)
{
	if (!look(j, f))
		return false;
	for (size_t i = 0; most && i < f->body.n; i++) {
		const struct hlg_body_insn *insn = &f->body.insns[i];
		const struct function *next;

		if (!hlg_body_is_out(&f->body, insn))
			continue;
		next = function_at(j, f, insn->target);
		if (next == to || (next && jumps_to(j, next, to, most - 1)))
			return true;
	}
	return false;
}

/* Does f call the function, or one that jumps to it? */
static bool calls(struct hlg_judge *j, const struct function *f,
		  const struct function *to)
{
	for (size_t i = 0; i < f->body.n; i++) {
		const struct hlg_body_insn *insn = &f->body.insns[i];
		const struct function *next;

		if (insn->flow != HLG_FLOW_CALL || !insn->direct)
			continue;
		next = function_at(j, f, insn->target);
		if (next == to || (next && jumps_to(j, next, to, TAIL_CALLS)))
			return true;
	}
	return false;
}

/* A framed function that calls `below`: f, or one that it jumps to; NULL if none does. */
static const struct function *find_caller(struct hlg_judge *j, const struct function *f,
					  const struct function *below, unsigned most)
{
	if (f->body.framed && calls(j, f, below))
		return f;
	for (size_t i = 0; most && i < f->body.n; i++) {
		const struct hlg_body_insn *insn = &f->body.insns[i];
		const struct function *next, *found;

		if (!hlg_body_is_out(&f->body, insn))
			continue;
		next = function_at(j, f, insn->target);
		found = next && next != f ? find_caller(j, next, below, most - 1) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

/* The call goes to `to`, where `below` has a frame of its own. */
static void judge_own(struct hlg_judge *j, const struct function *below,
		      const struct function *to, struct hlg_edge *edge)
{
	if (to == below || jumps_to(j, to, below, TAIL_CALLS)) {
		edge->kind = HLG_EDGE_CONFIRMED;
	} else if (has_indirect(to, HLG_FLOW_BRANCH)) {
		edge->kind = HLG_EDGE_INDIRECT;
	} else {
		edge->kind = HLG_EDGE_WRONG;
		edge->unknown = true;
	}
}

/* The call goes to `to`, and rbp is that of the caller of `below`. */
static void judge_caller(struct hlg_judge *j, const struct function *below,
			 const struct function *to, struct hlg_edge *edge)
{
	const struct function *caller = find_caller(j, to, below, TAIL_CALLS);

	/* It sets its frame up in a way that is not known; or it is a part of the
	 * function that was called, with the frame of that one. */
	if (!caller && !below->body.framed &&
	    (to == below || (to->body.framed && jumps_to(j, to, below, 1)))) {
		edge->kind = HLG_EDGE_CONFIRMED;
		return;
	}
	edge->kind = HLG_EDGE_CONFIRMED;
	if (!caller && to->body.framed) {
		caller = to;
		edge->kind = has_indirect(to, HLG_FLOW_CALL) ? HLG_EDGE_INDIRECT
							     : HLG_EDGE_WRONG;
	}
	if (!caller)
		edge->kind = HLG_EDGE_WRONG;
	edge->missing = caller;
	edge->inserted = caller ? caller->place.start : 0;
	edge->unknown = edge->kind == HLG_EDGE_WRONG;
}

static bool covers(const struct hlg_body *body, uint64_t addr)
{
	for (uint64_t at = addr, n = 0; n < 16 && at >= body->start; at--, n++) {
		const struct hlg_body_insn *insn = hlg_body_at(body, at);

		if (insn)
			return insn->addr + insn->length > addr;
	}
	return false;
}

static struct hlg_edge judge(struct hlg_judge *j, const struct function *below,
			     enum hlg_body_rbp rbp, const struct function *caller,
			     uint64_t call)
{
	const struct hlg_body_insn *insn = hlg_body_before(&caller->body, call + 1);
	struct hlg_edge edge = {.kind = HLG_EDGE_UNPROVED};
	const struct function *to;

	j->left = LOOKED_AT;
	if (!insn || insn->flow != HLG_FLOW_CALL) {
		if (covers(&caller->body, call))
			edge.kind = HLG_EDGE_NO_CALL;
		return edge;
	}
	if (!insn->direct) {
		edge.kind = HLG_EDGE_INDIRECT;
		edge.unknown = rbp != HLG_BODY_RBP_OWN;
		return edge;
	}
	to = function_at(j, caller, insn->target);
	if (!to)
		return edge;
	if (rbp == HLG_BODY_RBP_OWN || (rbp == HLG_BODY_RBP_UNKNOWN && to == below))
		judge_own(j, below, to, &edge);
	else
		judge_caller(j, below, to, &edge);
	return edge;
}

static bool same_memo(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct memo *a = search->key, *b = &search->j->memos[number];

	return a->below == b->below && a->call == b->call && a->rbp == b->rbp;
}

static enum hlg_body_rbp rbp_at(const struct function *f, uint64_t addr)
{
	for (unsigned back = 0; back < 16; back++) { /* in the call */
		const struct hlg_body_insn *insn = hlg_body_at(&f->body, addr - back);

		if (insn)
			return (enum hlg_body_rbp)insn->rbp;
	}
	return HLG_BODY_RBP_UNKNOWN;
}

bool hlg_judge_edge(struct hlg_judge *j, uint64_t below, uint64_t call, bool exact,
		    struct hlg_edge *edge)
{
	const struct function *low, *high;
	struct hlg_place lower, higher;
	struct memo key = {.call = call};
	const struct search search = {j, &key};
	uint64_t hash;
	uint32_t known;

	*edge = (struct hlg_edge){.kind = HLG_EDGE_UNPROVED};
	hlg_space_lookup(j->space, below, &lower);
	hlg_space_lookup(j->space, call, &higher);
	low = function_of(j, &lower);
	high = function_of(j, &higher);
	if (!low || !high)
		return j->ok;
	key.below = lower.owner;
	key.rbp = exact ? HLG_BODY_RBP_OWN : rbp_at(low, lower.addr);
	hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, (uintptr_t)key.below),
			     call << 2 | key.rbp);
	known = hlg_index_find(&j->memo_index, hash, same_memo, &search);
	if (known != HLG_INDEX_NONE) {
		*edge = j->memos[known].edge;
		return j->ok;
	}
	key.edge = *edge = judge(j, low, key.rbp, high, higher.addr);
	if (!HLG_GROW(j->memos, j->n_memos) ||
	    !hlg_index_add(&j->memo_index, hash, j->n_memos))
		return false;
	j->memos[j->n_memos++] = key;
	return j->ok;
}

bool hlg_judge_alone(struct hlg_judge *j, uint64_t ip, bool *missing)
{
	const struct function *f;
	struct hlg_place place;
	uint64_t entry;

	*missing = false;
	hlg_space_lookup(j->space, ip, &place);
	f = function_of(j, &place);
	if (!f)
		return j->ok;
	entry = f->image->elf.entry;
	*missing = f->body.framed && rbp_at(f, place.addr) == HLG_BODY_RBP_CALLER &&
		   !(entry >= place.start && entry < place.end);
	return j->ok;
}

bool hlg_judge_has_frames(struct hlg_judge *j, uint64_t ip)
{
	struct hlg_frame_count count;
	struct hlg_place place;
	struct hlg_err err;
	signed char *frames;

	hlg_space_lookup(j->space, ip, &place);
	if (!hlg_space_has(j->space, place.image))
		return true;
	frames = &j->frames[place.image->number];
	if (*frames < 0)
		*frames = hlg_frame_count(place.image, &count, &err) < 0 ||
			  hlg_frame_is_kept(&count);
	return *frames;
}
