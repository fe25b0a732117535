// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stacks/stacks.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

/* A chain of a process, named. */
struct hlg_stacks_memo {
	uint32_t chain, comm, mappings, node;
	int32_t pid, tid; /* tid: -1 unless it is a root */
	uint64_t ip;      /* of host samples without a chain */
	uint8_t cpumode;  /* and so */
};

/* What the last sample of a chain had, + 1: most others of it have that, too. */
struct hlg_stacks_last {
	uint32_t stack, memo;
};

struct hlg_stacks_thread {
	int32_t pid, tid;
	uint32_t node; /* HLG_NO_NODE: the mark's stack was lost */
	bool runs;     /* it was a KVM_RUN */
};

enum hlg_kvm_mark hlg_stacks_event(const char *event, enum hlg_event_kind kind)
{
	if (strcmp(event, "syscalls:sys_enter_ioctl") == 0)
		return HLG_MARK_IOCTL;
	if (strcmp(event, "kvm:kvm_entry") == 0)
		return HLG_MARK_ENTRY;
	return kind == HLG_EVENT_TRACEPOINT || strncmp(event, "kvm:", 4) == 0
		       ? HLG_MARK_OTHER
		       : HLG_MARK_NONE;
}

bool hlg_stacks_is_run(enum hlg_kvm_mark mark, const void *raw, uint64_t size)
{
	enum {
		CMD = 24,
		KVM_RUN = 0xae80
	};
	uint32_t cmd;

	if (mark != HLG_MARK_IOCTL)
		return mark == HLG_MARK_ENTRY;
	if (!raw || size < CMD + sizeof(cmd))
		return false;
	memcpy(&cmd, (const uint8_t *)raw + CMD, sizeof(cmd));
	return cmd == KVM_RUN;
}

const char *hlg_stacks_dso_name(char *buf, size_t size, const char *dso)
{
	const char *slash = dso ? strrchr(dso, '/') : NULL;

	if (!dso || !dso[0])
		dso = "[unknown]";
	if (strncmp(dso, "[kernel.kallsyms]", 17) == 0)
		dso = "[kernel]";
	if (dso[0] == '[')
		snprintf(buf, size, "%s", dso);
	else
		snprintf(buf, size, "[%s]", slash ? slash + 1 : dso);
	return buf;
}

bool hlg_stacks_init(struct hlg_stacks *s, const struct hlg_options *options)
{
	s->roots = options->roots;
	s->timed = options->slices;
	return hlg_tree_init(&s->tree);
}

void hlg_stacks_finish(struct hlg_stacks *s)
{
	hlg_chains_finish(&s->chains);
	hlg_tree_finish(&s->tree);
	free(s->stacks);
	free(s->memos);
	free(s->threads);
	free(s->by_chain);
	hlg_slices_finish(&s->slices);
	hlg_index_finish(&s->stack_index);
	hlg_index_finish(&s->memo_index);
	hlg_index_finish(&s->thread_index);
	*s = (struct hlg_stacks){0};
}

static uint64_t hash_key(uint64_t a, uint64_t b, uint64_t c)
{
	return hlg_hash_word(hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, a), b), c);
}

struct search {
	const struct hlg_stacks *s;
	const void *key;
};

static bool same_stack(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct hlg_stack *a = search->key, *b = &search->s->stacks[number];

	return a->ip == b->ip && a->node == b->node && a->series == b->series &&
	       a->chain == b->chain && a->guest == b->guest && a->end == b->end &&
	       a->way == b->way;
}

/* Without memory a guest sample has no stack, which is seen as the profile has it, too,
 * or has not. */
static uint32_t lose(struct hlg_stacks *s, const struct hlg_stack *key)
{
	s->lacks = true;
	if (!key->guest)
		hlg_count_add(&s->lost, key->count);
	return HLG_NO_STACK;
}

uint32_t hlg_stacks_add(struct hlg_stacks *s, const struct hlg_stack *key)
{
	const struct search search = {s, key};
	uint64_t hash = hash_key((uint64_t)key->series << 32 | key->node,
				 (uint64_t)key->chain << 17 | (uint64_t)key->way << 9 |
					 (uint64_t)key->end << 1 | key->guest,
				 key->ip);
	uint32_t known;

	s->lacks |= key->chain == HLG_LOST_CHAIN;
	if (key->series == HLG_NO_SERIES || key->node == HLG_NO_NODE)
		return lose(s, key);
	known = hlg_index_find(&s->stack_index, hash, same_stack, &search);
	if (known != HLG_INDEX_NONE) {
		hlg_count_add(&s->stacks[known].count, key->count);
		return known;
	}
	if (!HLG_GROW(s->stacks, s->n_stacks) ||
	    !hlg_index_add(&s->stack_index, hash, s->n_stacks))
		return lose(s, key);
	s->stacks[s->n_stacks] = *key;
	return s->n_stacks++;
}

/* What stands below all frames of a sample. */
static uint32_t bottom_of(struct hlg_stacks *s, const struct hlg_stacks_sample *sample)
{
	uint32_t node = HLG_TREE_ROOT;
	char tid[24];

	if (s->roots & HLG_ROOT_COMM)
		node = hlg_tree_child(&s->tree, node, HLG_FRAME_GROUP,
				      sample->comm ? sample->comm : "[unknown]");
	if (s->roots & HLG_ROOT_TID) {
		snprintf(tid, sizeof(tid), "tid %d", (int)sample->tid);
		node = hlg_tree_child(&s->tree, node, HLG_FRAME_GROUP, tid);
	}
	return node;
}

static uint32_t note(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
		     const char *text)
{
	return hlg_tree_child(&s->tree, bottom_of(s, sample), HLG_FRAME_NOTE, text);
}

static uint32_t frame(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
		      uint32_t node, uint64_t ip, unsigned cpumode)
{
	struct hlg_host_frame frame = {cpumode == PERF_RECORD_MISC_USER
					       ? HLG_FRAME_HOST_USER
					       : HLG_FRAME_HOST_KERNEL,
				       "[unknown]"};

	sample->name(sample->ctx, ip, cpumode, &frame);
	return hlg_tree_child(&s->tree, node, frame.frame, frame.name);
}

/* The chain of a sample, named; HLG_TREE_ROOT if there is nothing in it. */
static uint32_t name_chain(struct hlg_stacks *s, const struct hlg_stacks_sample *sample)
{
	uint32_t node = bottom_of(s, sample), bottom = node;
	uint8_t modes[HLG_CHAIN_MAX];
	size_t n;
	const uint64_t *words = hlg_chains_get(&s->chains, sample->chain, &n);

	n = hlg_chains_modes(words, n, modes);
	for (size_t i = n; i-- > 0;)
		if (modes[i])
			node = frame(s, sample, node, words[i], modes[i]);
	return node == bottom ? HLG_TREE_ROOT : node;
}

static bool same_memo(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct hlg_stacks_memo *a = search->key, *b = &search->s->memos[number];

	return a->chain == b->chain && a->comm == b->comm && a->pid == b->pid &&
	       a->tid == b->tid && a->mappings == b->mappings && a->ip == b->ip &&
	       a->cpumode == b->cpumode;
}

/* Names the chain of a sample, or the sample; mark: it is a mark. */
static uint32_t name_stack(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
			   bool mark)
{
	uint32_t node = name_chain(s, sample);

	if (node != HLG_TREE_ROOT)
		return node;
	return mark ? note(s, sample, HLG_STACKS_BARE)
		    : frame(s, sample, bottom_of(s, sample), sample->ip, sample->cpumode);
}

/* What is known of a sample's thread. NULL without memory. */
static struct hlg_stacks_recent *recent_of(struct hlg_stacks *s,
					   const struct hlg_stacks_sample *sample)
{
	struct hlg_stacks_recent *r =
		&s->recent[(uint32_t)sample->tid % HLG_STACKS_RECENT];
	const char *comm = sample->comm ? sample->comm : "[unknown]";

	if (r->comm && r->tid == sample->tid &&
	    strcmp(hlg_strings_get(&s->tree.names, r->comm), comm) == 0)
		return r;
	*r = (struct hlg_stacks_recent){.tid = sample->tid,
					.comm = hlg_strings_add(&s->tree.names, comm)};
	return r->comm == HLG_NO_STRING ? NULL : r;
}

/* Where that is kept; NULL: nowhere. */
static struct hlg_stacks_last *of_chain(struct hlg_stacks *s, uint32_t chain)
{
	uint32_t room = s->n_by_chain ? s->n_by_chain : 64;
	struct hlg_stacks_last *grown;

	if (chain == HLG_NO_CHAIN || chain == HLG_LOST_CHAIN)
		return NULL;
	while (room <= chain)
		room *= 2;
	if (room > s->n_by_chain) {
		grown = reallocarray(s->by_chain, room, sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + s->n_by_chain, 0, (room - s->n_by_chain) * sizeof(*grown));
		s->by_chain = grown;
		s->n_by_chain = room;
	}
	return &s->by_chain[chain];
}

/* The number of a memo, HLG_INDEX_NONE. */
static uint32_t find_memo(struct hlg_stacks *s, const struct hlg_stacks_memo *key,
			  uint64_t hash)
{
	const struct search search = {s, key};
	struct hlg_stacks_last *last = of_chain(s, key->chain);
	uint32_t known;

	if (last && last->memo && same_memo(&search, last->memo - 1))
		return last->memo - 1;
	known = hlg_index_find(&s->memo_index, hash, same_memo, &search);
	if (last && known != HLG_INDEX_NONE)
		last->memo = known + 1;
	return known;
}

/* The stack of a host sample or a mark. */
static uint32_t stack_of(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
			 bool mark)
{
	const struct hlg_stacks_recent *recent = recent_of(s, sample);
	struct hlg_stacks_memo key = {
		.chain = sample->chain,
		.mappings = sample->mappings,
		.pid = sample->pid,
		.tid = s->roots & HLG_ROOT_TID ? sample->tid : -1,
		.ip = mark || sample->chain ? 0 : sample->ip,
		.cpumode = mark || sample->chain ? 0 : sample->cpumode,
		.comm = recent ? recent->comm : HLG_NO_STRING,
	};
	uint64_t hash = hash_key((uint64_t)key.chain << 32 | key.comm,
				 (uint64_t)(uint32_t)key.pid << 32 | (uint32_t)key.tid,
				 key.ip ^ (uint64_t)key.mappings << 40);
	uint32_t known;

	if (sample->chain == HLG_LOST_CHAIN || key.comm == HLG_NO_STRING)
		return HLG_NO_NODE;
	known = find_memo(s, &key, hash);
	if (known != HLG_INDEX_NONE)
		return s->memos[known].node;
	key.node = name_stack(s, sample, mark);
	if (key.node == HLG_NO_NODE)
		return HLG_NO_NODE;
	if (!HLG_GROW(s->memos, s->n_memos) ||
	    !hlg_index_add(&s->memo_index, hash, s->n_memos))
		return HLG_NO_NODE;
	s->memos[s->n_memos++] = key;
	return key.node;
}

static bool same_thread(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct hlg_stacks_thread *a = search->key, *b = &search->s->threads[number];

	return a->tid == b->tid && a->pid == b->pid;
}

static uint64_t hash_thread(int32_t pid, int32_t tid)
{
	return hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, (uint32_t)pid), (uint32_t)tid);
}

/* NULL if there was no mark of it. */
static struct hlg_stacks_thread *find_thread(const struct hlg_stacks *s, int32_t pid,
					     int32_t tid)
{
	const struct hlg_stacks_thread key = {.pid = pid, .tid = tid};
	const struct search search = {s, &key};
	uint32_t known = hlg_index_find(&s->thread_index, hash_thread(pid, tid),
					same_thread, &search);

	return known == HLG_INDEX_NONE ? NULL : &s->threads[known];
}

void hlg_stacks_enter(struct hlg_stacks *s, const struct hlg_stacks_sample *sample)
{
	struct hlg_stacks_thread *thread = find_thread(s, sample->pid, sample->tid);

	if (thread && thread->runs && sample->entry)
		return;
	s->marks++;
	if (!thread) {
		if (!HLG_GROW(s->threads, s->n_threads) ||
		    !hlg_index_add(&s->thread_index,
				   hash_thread(sample->pid, sample->tid), s->n_threads))
			return;
		thread = &s->threads[s->n_threads++];
	}
	*thread = (struct hlg_stacks_thread){sample->pid, sample->tid,
					     stack_of(s, sample, true), !sample->entry};
}

bool hlg_stacks_knows(const struct hlg_stacks *s, int32_t pid, int32_t tid)
{
	return find_thread(s, pid, tid);
}

void hlg_stacks_callers(struct hlg_stacks *s, struct hlg_stack *key, uint32_t chain)
{
	struct hlg_chain_tail tail;
	size_t n, first = 0;
	const uint64_t *words = hlg_chains_get(&s->chains, chain, &n);
	uint64_t *callers = malloc((n + 1) * sizeof(*callers));

	if (!callers) {
		key->chain = HLG_LOST_CHAIN;
		return;
	}
	n = hlg_chains_guest(words, n, callers, &tail);
	if (n && callers[0] == key->ip)
		first = 1;
	key->chain = chain == HLG_LOST_CHAIN
			     ? HLG_LOST_CHAIN
			     : hlg_chains_add(&s->chains, callers + first, n - first);
	key->end = (uint8_t)tail.end;
	key->way = (uint8_t)tail.way;
	free(callers);
}

/* What is below a guest without a mark. */
static uint32_t orphan_of(struct hlg_stacks *s, const struct hlg_stacks_sample *sample)
{
	struct hlg_stacks_recent *recent = recent_of(s, sample);

	if (!recent)
		return HLG_NO_NODE;
	if (!recent->orphan || recent->orphan == HLG_NO_NODE)
		recent->orphan = note(s, sample, HLG_STACKS_ORPHAN);
	return recent->orphan;
}

/* Counts a sample of a stack; key lacks its chain. */
static void count(struct hlg_stacks *s, struct hlg_stack *key,
		  const struct hlg_stacks_sample *sample)
{
	struct hlg_stacks_last *last = of_chain(s, sample->chain);
	struct hlg_stack *known =
		last && last->stack ? &s->stacks[last->stack - 1] : NULL;
	uint32_t stack;

	/* The rest follows from the chain. */
	if (known && known->guest == key->guest && known->ip == key->ip &&
	    known->series == key->series && known->node == key->node) {
		hlg_count_add(&known->count, key->count);
		stack = last->stack - 1;
	} else {
		if (key->guest && sample->chain != HLG_NO_CHAIN)
			hlg_stacks_callers(s, key, sample->chain);
		stack = hlg_stacks_add(s, key);
		last = of_chain(s, sample->chain); /* it may have moved */
		if (last && stack != HLG_NO_STACK)
			last->stack = stack + 1;
	}
	if (s->timed && stack != HLG_NO_STACK)
		hlg_slices_add(&s->slices, sample->time, 0, stack, 0, key->count);
}

void hlg_stacks_guest(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
		      uint32_t series, uint64_t period)
{
	const struct hlg_stacks_thread *thread = find_thread(s, sample->pid, sample->tid);
	struct hlg_stack key = {
		.series = series, .guest = true, .ip = sample->ip, .count = {1, period}};

	key.node = thread ? thread->node : orphan_of(s, sample);
	count(s, &key, sample);
}

void hlg_stacks_host(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
		     uint32_t series, uint64_t period)
{
	struct hlg_stack key = {.series = series,
				.node = stack_of(s, sample, false),
				.count = {1, period}};

	count(s, &key, sample);
}

bool hlg_stacks_have_halves(const struct hlg_stacks *s)
{
	for (uint32_t i = 0; i < s->n_stacks; i++)
		if (s->stacks[i].guest &&
		    (s->tree.nodes[s->stacks[i].node].frame == HLG_FRAME_HOST_USER ||
		     s->tree.nodes[s->stacks[i].node].frame == HLG_FRAME_HOST_KERNEL))
			return true;
	return false;
}

/* Numbers of from's nodes in to; parents come before their children. */
static uint32_t *map_nodes(struct hlg_stacks *to, const struct hlg_stacks *from)
{
	uint32_t *map = calloc((size_t)from->tree.n + 1, sizeof(*map));

	for (uint32_t i = 1; map && i < from->tree.n; i++) {
		const struct hlg_node *node = &from->tree.nodes[i];

		map[i] = hlg_tree_child(&to->tree, map[node->parent], node->frame,
					hlg_tree_name(&from->tree, node));
	}
	return map;
}

void hlg_stacks_merge(struct hlg_stacks *to, const struct hlg_stacks *from,
		      struct hlg_profile *profile, const struct hlg_profile *from_profile)
{
	uint32_t *nodes = map_nodes(to, from);
	uint32_t *numbers = malloc(((size_t)from->n_stacks + 1) * sizeof(*numbers));

	to->marks += from->marks;
	hlg_count_add(&to->aside, from->aside);
	hlg_count_add(&to->lost, from->lost);
	to->lacks |= from->lacks;
	for (size_t i = 0; i < from->n_stacks; i++) {
		struct hlg_stack key = from->stacks[i];
		const uint64_t *words;
		uint32_t number;
		size_t n;

		words = hlg_chains_get(&from->chains, key.chain, &n);
		if (key.chain != HLG_LOST_CHAIN)
			key.chain = hlg_chains_add(&to->chains, words, n);
		if (key.guest)
			key.ip += hlg_profile_move(from_profile, key.series);
		key.series = hlg_profile_map(profile, from_profile, key.series);
		key.node = nodes ? nodes[key.node] : HLG_NO_NODE;
		number = hlg_stacks_add(to, &key);
		if (numbers)
			numbers[i] = number;
	}
	if (numbers)
		hlg_slices_merge(&to->slices, &from->slices, numbers, NULL);
	to->slices.lost |= !numbers;
	free(nodes);
	free(numbers);
}
