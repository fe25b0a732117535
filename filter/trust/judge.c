// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/judge.h"

#include <stdlib.h>

#include "filter/profile/index.h"
#include "symtab/code/all-calls.h"
#include "symtab/code/frame.h"
#include "symtab/grow.h"

/* Functions that one call may end up in; and instructions of functions that are searched
 * for one edge: a hostile file must not take forever. What is left then may be. */
#define REACHED   32
#define LOOKED_AT 1000000

/* Functions that are kept have all bytes of code there are so many times, at most: those
 * of real programs hardly overlap. */
#define NESTING 2

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

/* Of the functions of an image that call others. */
struct frames {
	bool asked;
	bool most, all; /* so many keep frame pointers; yes where it cannot be told */
};

struct hlg_judge {
	const struct hlg_space *space;
	const struct hlg_trust *trust;
	struct function **functions;
	uint32_t n_functions;
	struct memo *memos;
	uint32_t n_memos;
	struct hlg_index function_index, memo_index;
	size_t left;                  /* of LOOKED_AT */
	bool spent;                   /* more was asked for */
	uint64_t bytes;               /* of code that may still be kept */
	struct frames *frames;        /* of each image */
	struct hlg_all_calls **calls; /* of each image that was asked for */
	bool ok;                      /* there was memory */
};

/* Bytes of [start, end) that are in the file. */
static uint64_t stored(const struct hlg_image *image, uint64_t start, uint64_t end)
{
	uint64_t size = hlg_image_stored(image, start);

	return size < end - start ? size : end - start;
}

static uint64_t count_code(const struct hlg_space *space)
{
	uint64_t n = 0;

	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		for (size_t k = 0; k < image->n_areas; k++)
			if (image->areas[k].code)
				n += stored(image, image->areas[k].start,
					    image->areas[k].end);
	}
	return n;
}

struct hlg_judge *hlg_judge_open(const struct hlg_space *space,
				 const struct hlg_trust *trust)
{
	struct hlg_judge *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->space = space;
	j->trust = trust;
	j->ok = true;
	j->bytes = NESTING * count_code(space);
	j->frames = calloc(space->n_images + 1, sizeof(*j->frames));
	j->calls = calloc(space->n_images + 1, sizeof(*j->calls));
	if (!j->frames || !j->calls) {
		hlg_judge_close(j);
		return NULL;
	}
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
	for (size_t i = 0; j->calls && i < j->space->n_images; i++) {
		if (j->calls[i])
			hlg_all_calls_finish(j->calls[i]);
		free(j->calls[i]);
	}
	free(j->calls);
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

/* Is there still room to keep a function? */
static bool keep(struct hlg_judge *j, const struct hlg_place *place)
{
	uint64_t size = stored(place->image, place->start, place->end);
	bool may = size <= j->bytes;

	j->bytes -= may ? size : 0;
	return may;
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

/* The function or label of a place; NULL: it cannot be decoded, or kept beside those that
 * overlap it, or without memory. */
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
	if (!keep(j, place))
		return NULL;
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

static struct frames frames_of(struct hlg_judge *j, const struct hlg_image *image)
{
	struct hlg_frame_count count;
	struct frames *frames;
	struct hlg_err err;

	if (!hlg_space_has(j->space, image))
		return (struct frames){true, true, true};
	frames = &j->frames[image->number];
	if (frames->asked)
		return *frames;
	*frames = (struct frames){true, true, true};
	if (hlg_frame_count(image, &count, &err) == 0) {
		frames->most = hlg_frame_is_kept(&count);
		frames->all = hlg_frame_is_always_kept(&count);
	}
	return *frames;
}

/* Is there still leave to look at all of f? */
static bool look(struct hlg_judge *j, const struct function *f)
{
	bool may = f->body.n <= j->left;

	j->left -= may ? f->body.n : j->left;
	j->spent |= !may;
	return may;
}

/* Where a call may end up: in the function that it leads to, or by tail calls in others,
 * which then return to it. */
struct reach {
	const struct function *f[REACHED];
	unsigned n;
	bool anywhere; /* and more, that cannot be told: by pointer, or too many */
};

static void reach_one(struct reach *reach, const struct function *f)
{
	for (unsigned i = 0; i < reach->n; i++)
		if (reach->f[i] == f)
			return;
	if (reach->n < REACHED)
		reach->f[reach->n++] = f;
	else
		reach->anywhere = true;
}

static void find_reach(struct hlg_judge *j, const struct function *to,
		       struct reach *reach)
{
	*reach = (struct reach){.f = {to}, .n = 1};
	for (unsigned k = 0; k < reach->n; k++) {
		const struct function *f = reach->f[k], *next;

		reach->anywhere |= !look(j, f);
		for (size_t i = 0; i < f->body.n && !reach->anywhere; i++) {
			const struct hlg_body_insn *insn = &f->body.insns[i];

			reach->anywhere |= hlg_body_is_tail_pointer(insn);
			if (!hlg_body_is_tail(&f->body, insn))
				continue;
			next = function_at(j, f, insn->target);
			if (next)
				reach_one(reach, next);
			else
				reach->anywhere = true;
		}
	}
}

/* May a call of f end up anywhere? */
static bool calls_anywhere(struct hlg_judge *j, const struct function *f)
{
	if (!look(j, f))
		return true;
	for (size_t i = 0; i < f->body.n; i++) {
		const struct hlg_body_insn *insn = &f->body.insns[i];
		const struct function *to;
		struct reach reach;

		if (insn->flow != HLG_FLOW_CALL)
			continue;
		to = insn->direct ? function_at(j, f, insn->target) : NULL;
		if (!to)
			return true;
		find_reach(j, to, &reach);
		if (reach.anywhere)
			return true;
	}
	return false;
}

static bool reaches(const struct reach *reach, const struct function *f)
{
	for (unsigned i = 0; i < reach->n; i++)
		if (reach->f[i] == f)
			return true;
	return false;
}

/* Is `to` a part of f, with its frame? */
static bool has_part(struct hlg_judge *j, const struct function *f,
		     const struct function *to)
{
	const bool may = look(j, f);

	for (size_t i = 0; may && i < f->body.n; i++)
		if (hlg_body_is_part(&f->body, &f->body.insns[i]) &&
		    function_at(j, f, f->body.insns[i].target) == to)
			return true;
	return false;
}

/* Where the call ends up, the frame is the function's own. */
static void judge_own(const struct function *below, const struct reach *reach,
		      struct hlg_edge *edge)
{
	edge->kind = reaches(reach, below) ? HLG_EDGE_CONFIRMED
		     : reach->anywhere     ? HLG_EDGE_INDIRECT
					   : HLG_EDGE_WRONG;
	edge->unknown = edge->kind == HLG_EDGE_WRONG;
}

/* All calls of an image; NULL without memory. */
static const struct hlg_all_calls *calls_of(struct hlg_judge *j,
					    const struct hlg_image *image)
{
	struct hlg_all_calls **calls = &j->calls[image->number];

	if (!*calls) {
		*calls = calloc(1, sizeof(**calls));
		j->ok &= *calls &&
			 hlg_all_calls_read(*calls, hlg_trust_of(j->trust, image)->code,
					    image);
	}
	return *calls;
}

/* Functions by their first address, each once. */
struct set {
	uint64_t at[REACHED];
	unsigned n;
	bool full;
};

static void put(struct set *set, uint64_t addr)
{
	for (unsigned i = 0; i < set->n; i++)
		if (set->at[i] == addr)
			return;
	if (set->n < REACHED)
		set->at[set->n++] = addr;
	else
		set->full = true;
}

/* Who calls a function: callers, by its address or that of who ends up in it by tail
 * calls, and whether it can be called by pointer, too. */
static bool find_callers(const struct hlg_all_calls *calls, uint64_t function,
			 struct set *callers)
{
	struct set ways = {.at = {function}, .n = 1};
	bool by_pointer = false;

	*callers = (struct set){.n = 0};
	for (unsigned k = 0; k < ways.n; k++) {
		size_t n;
		const struct hlg_call *to = hlg_all_calls_to(calls, ways.at[k], &n);

		by_pointer |= hlg_all_calls_is_taken(calls, ways.at[k]);
		/* Who is called by thousands is asked for by each of them. */
		for (size_t i = 0; i < n && !callers->full; i++)
			put(to[i].tail ? &ways : callers, to[i].from);
	}
	return by_pointer || ways.full || callers->full;
}

/* May a call by pointer end up in it? */
static bool is_pointed_to(const struct hlg_all_calls *calls, uint64_t function)
{
	struct set callers;

	return find_callers(calls, function, &callers);
}

/* May f call one of the callers that has no frame, itself or by way of others such? */
static bool is_between(struct hlg_judge *j, const struct hlg_all_calls *calls,
		       const struct function *f, const struct set *callers)
{
	for (unsigned i = 0; i < callers->n; i++) {
		const struct function *g = function_at(j, f, callers->at[i]);
		struct set whose;

		if (!g || g->body.framed)
			continue;
		if (find_callers(calls, callers->at[i], &whose) && calls_anywhere(j, f))
			return true;
		for (unsigned k = 0; k < whose.n; k++) {
			const struct function *h = function_at(j, f, whose.at[k]);

			if (h == f || (h && !h->body.framed))
				return true;
		}
	}
	return false;
}

/* Who may have called `below`. */
struct owner {
	const struct function *f;
	unsigned n; /* so many may; f is the only one if 1 */
	bool sure;  /* f calls it by its address, and none without a frame between them */
};

/*
 * The frame is that of the caller of `below`, which one of the functions in reach is, or,
 * by pointer, any.
 */
static struct owner find_caller(struct hlg_judge *j, const struct function *below,
				const struct reach *reach)
{
	const struct hlg_all_calls *calls = calls_of(j, below->image);
	struct owner owner = {.sure = true};
	struct set callers = {.n = 0};
	bool by_pointer = !calls || find_callers(calls, below->place.start, &callers);

	if (by_pointer && reach->anywhere)
		return (struct owner){.n = REACHED};
	for (unsigned i = 0; i < reach->n && by_pointer; i++) {
		if (!reach->f[i]->body.framed || !calls_anywhere(j, reach->f[i]))
			continue;
		owner = (struct owner){.f = reach->f[i], .n = owner.n + 1};
	}
	for (unsigned i = 0; calls && i < callers.n; i++) {
		const struct function *f = function_at(j, below, callers.at[i]);

		if (!f || (!reaches(reach, f) &&
			   !(reach->anywhere && is_pointed_to(calls, callers.at[i]))))
			continue;
		if (!f->body.framed) /* its caller has the frame */
			return (struct owner){.n = REACHED};
		owner.n += f != owner.f;
		owner.sure |= f == owner.f;
		owner.f = f;
	}
	if (owner.n == 1)
		owner.sure &= calls && !is_between(j, calls, owner.f, &callers);
	return owner;
}

/* Is `below` a part of one that the call ends up in, or has it a frame that is set up in
 * a way that is not known? */
static bool is_part(struct hlg_judge *j, const struct function *below,
		    const struct reach *reach)
{
	if (reach->n && reach->f[0] == below && !below->body.framed)
		return true;
	for (unsigned i = 0; i < reach->n && !below->body.framed; i++)
		if (reach->f[i]->body.framed && has_part(j, reach->f[i], below))
			return true;
	return false;
}

static void judge_caller(struct hlg_judge *j, const struct function *below,
			 const struct reach *reach, const struct hlg_image *image,
			 struct hlg_edge *edge)
{
	struct owner owner;

	if (is_part(j, below, reach)) {
		edge->kind = HLG_EDGE_CONFIRMED;
		return;
	}
	owner = find_caller(j, below, reach);
	/* Where another image lies does not follow from where this call is. */
	edge->missing = owner.n == 1 && owner.f->image == image;
	edge->inserted = edge->missing ? owner.f->place.start : 0;
	/* By pointer it may call one without a frame, which then calls this one. */
	edge->unknown =
		!edge->missing || (!owner.sure && !frames_of(j, below->image).all);
	edge->kind = edge->missing && owner.sure && reach->n ? HLG_EDGE_CONFIRMED
							     : HLG_EDGE_INDIRECT;
	if (owner.n || reach->anywhere)
		return;
	/* Nobody calls it whom the call could end up in. (These are of its image.) */
	edge->kind = HLG_EDGE_WRONG;
	if (reach->n == 1 && reach->f[0]->body.framed) {
		edge->missing = true;
		edge->inserted = reach->f[0]->place.start;
	}
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
	struct reach reach = {.anywhere = true};

	j->left = LOOKED_AT;
	j->spent = false;
	if (!insn || insn->flow != HLG_FLOW_CALL) {
		if (covers(&caller->body, call))
			edge.kind = HLG_EDGE_NO_CALL;
		return edge;
	}
	to = insn->direct ? function_at(j, caller, insn->target) : NULL;
	if (to)
		find_reach(j, to, &reach);
	else if (insn->direct)
		return edge;
	if (rbp == HLG_BODY_RBP_OWN || (rbp == HLG_BODY_RBP_UNKNOWN && to == below))
		judge_own(below, &reach, &edge);
	else
		judge_caller(j, below, &reach, caller->image, &edge);
	/* What was not looked at may have been the way. */
	if (j->spent && edge.kind == HLG_EDGE_WRONG)
		edge = (struct hlg_edge){.kind = HLG_EDGE_INDIRECT, .unknown = true};
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
	struct hlg_place place;

	hlg_space_lookup(j->space, ip, &place);
	return frames_of(j, place.image).most;
}
