// SPDX-License-Identifier: GPL-2.0-only
#include "stacks.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* as in hlg_cell_slot */

/* A chain of a process, named. node is 0 in free slots, which no chain's end has. */
struct hlg_stacks_memo {
	uint32_t chain, comm, mappings, node;
	int32_t pid, tid; /* tid: -1 unless it is a root */
	uint64_t ip;      /* of host samples without a chain */
};

struct hlg_stacks_thread {
	int32_t pid, tid;
	uint32_t node; /* 0: free; HLG_NO_NODE: the mark's stack was lost */
};

enum hlg_kvm_mark hlg_stacks_event(const char *event)
{
	if (strcmp(event, "syscalls:sys_enter_ioctl") == 0)
		return HLG_MARK_IOCTL;
	return strcmp(event, "kvm:kvm_entry") == 0 ? HLG_MARK_ENTRY : HLG_MARK_NONE;
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

bool hlg_stacks_init(struct hlg_stacks *s, const struct hlg_options *options)
{
	s->roots = options->roots;
	return hlg_tree_init(&s->tree);
}

void hlg_stacks_finish(struct hlg_stacks *s)
{
	hlg_chains_finish(&s->chains);
	hlg_tree_finish(&s->tree);
	free(s->stacks);
	free(s->memos);
	free(s->threads);
	*s = (struct hlg_stacks){0};
}

static uint64_t hash_key(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = a * GOLDEN;

	h = (h ^ h >> 32 ^ b) * GOLDEN;
	h = (h ^ h >> 32 ^ c) * GOLDEN;
	return h >> 20;
}

static struct hlg_stack *find_stack(const struct hlg_stacks *s,
				    const struct hlg_stack *key)
{
	size_t mask = s->room - 1;
	size_t i = hash_key((uint64_t)key->series << 32 | key->node,
			    (uint64_t)key->chain << 1 | key->guest, key->ip) &
		   mask;

	for (; s->stacks[i].count.samples; i = (i + 1) & mask)
		if (s->stacks[i].ip == key->ip && s->stacks[i].node == key->node &&
		    s->stacks[i].series == key->series &&
		    s->stacks[i].chain == key->chain && s->stacks[i].guest == key->guest)
			break;
	return &s->stacks[i];
}

static bool grow_stacks(struct hlg_stacks *s)
{
	struct hlg_stacks more = {.room = s->room ? 2 * s->room : 256};

	more.stacks = calloc(more.room, sizeof(*more.stacks));
	if (!more.stacks)
		return false;
	for (size_t i = 0; i < s->room; i++)
		if (s->stacks[i].count.samples)
			*find_stack(&more, &s->stacks[i]) = s->stacks[i];
	free(s->stacks);
	s->stacks = more.stacks;
	s->room = more.room;
	return true;
}

/* What is in key, with its count. Without memory nothing happens. */
static void add(struct hlg_stacks *s, const struct hlg_stack *key)
{
	struct hlg_stack *stack;

	if (key->node == HLG_NO_NODE || key->series == HLG_NO_SERIES ||
	    key->count.samples == 0 ||
	    (2 * (s->n_stacks + 1) > s->room && !grow_stacks(s)))
		return;
	stack = find_stack(s, key);
	if (stack->count.samples) {
		hlg_count_add(&stack->count, key->count);
		return;
	}
	*stack = *key;
	s->n_stacks++;
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

static struct hlg_stacks_memo *find_memo(const struct hlg_stacks *s,
					 const struct hlg_stacks_memo *key)
{
	size_t mask = s->room_memos - 1;
	size_t i = hash_key((uint64_t)key->chain << 32 | key->comm,
			    (uint64_t)(uint32_t)key->pid << 32 | (uint32_t)key->tid,
			    key->ip ^ (uint64_t)key->mappings << 40) &
		   mask;

	for (; s->memos[i].node; i = (i + 1) & mask)
		if (s->memos[i].chain == key->chain && s->memos[i].comm == key->comm &&
		    s->memos[i].pid == key->pid && s->memos[i].tid == key->tid &&
		    s->memos[i].mappings == key->mappings && s->memos[i].ip == key->ip)
			break;
	return &s->memos[i];
}

static bool grow_memos(struct hlg_stacks *s)
{
	struct hlg_stacks more = {.room_memos = s->room_memos ? 2 * s->room_memos : 256};

	more.memos = calloc(more.room_memos, sizeof(*more.memos));
	if (!more.memos)
		return false;
	for (size_t i = 0; i < s->room_memos; i++)
		if (s->memos[i].node)
			*find_memo(&more, &s->memos[i]) = s->memos[i];
	free(s->memos);
	s->memos = more.memos;
	s->room_memos = more.room_memos;
	return true;
}

/* The stack of a host sample or a mark. */
static uint32_t stack_of(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
			 bool mark)
{
	struct hlg_stacks_memo *memo,
		key = {
			.chain = sample->chain,
			.mappings = sample->mappings,
			.pid = sample->pid,
			.tid = s->roots & HLG_ROOT_TID ? sample->tid : -1,
			.ip = mark || sample->chain ? 0 : sample->ip,
			.comm = hlg_names_add(&s->tree.names,
					      sample->comm ? sample->comm : "[unknown]"),
		};

	if (sample->chain == HLG_LOST_CHAIN || key.comm == HLG_NO_NAME ||
	    (2 * (s->n_memos + 1) > s->room_memos && !grow_memos(s)))
		return HLG_NO_NODE;
	memo = find_memo(s, &key);
	if (memo->node)
		return memo->node;
	key.node = name_chain(s, sample);
	if (key.node == HLG_TREE_ROOT && mark)
		key.node = note(s, sample, HLG_STACKS_BARE);
	else if (key.node == HLG_TREE_ROOT)
		key.node = frame(s, sample, bottom_of(s, sample), sample->ip,
				 sample->cpumode);
	if (key.node != HLG_NO_NODE) {
		*memo = key;
		s->n_memos++;
	}
	return key.node;
}

static struct hlg_stacks_thread *find_thread(const struct hlg_stacks *s, int32_t pid,
					     int32_t tid)
{
	size_t mask = s->room_threads - 1;
	size_t i = hash_key((uint32_t)pid, (uint32_t)tid, 0) & mask;

	while (s->threads[i].node &&
	       (s->threads[i].tid != tid || s->threads[i].pid != pid))
		i = (i + 1) & mask;
	return &s->threads[i];
}

static bool grow_threads(struct hlg_stacks *s)
{
	struct hlg_stacks more = {.room_threads =
					  s->room_threads ? 2 * s->room_threads : 64};

	more.threads = calloc(more.room_threads, sizeof(*more.threads));
	if (!more.threads)
		return false;
	for (size_t i = 0; i < s->room_threads; i++)
		if (s->threads[i].node)
			*find_thread(&more, s->threads[i].pid, s->threads[i].tid) =
				s->threads[i];
	free(s->threads);
	s->threads = more.threads;
	s->room_threads = more.room_threads;
	return true;
}

void hlg_stacks_enter(struct hlg_stacks *s, const struct hlg_stacks_sample *sample)
{
	struct hlg_stacks_thread *thread;

	s->marks++;
	if (2 * (s->n_threads + 1) > s->room_threads && !grow_threads(s))
		return;
	thread = find_thread(s, sample->pid, sample->tid);
	s->n_threads += !thread->node;
	*thread = (struct hlg_stacks_thread){sample->pid, sample->tid,
					     stack_of(s, sample, true)};
}

bool hlg_stacks_knows(const struct hlg_stacks *s, int32_t pid, int32_t tid)
{
	return s->room_threads && find_thread(s, pid, tid)->node;
}

/* The callers inside the guest: what stands behind its markers, but for the ip itself. */
static uint32_t guest_chain(struct hlg_stacks *s, uint32_t chain, uint64_t ip)
{
	uint64_t callers[HLG_CHAIN_MAX];
	size_t n, first = 0;
	const uint64_t *words = hlg_chains_get(&s->chains, chain, &n);

	n = hlg_chains_guest(words, n, callers);
	if (n && callers[0] == ip)
		first = 1;
	return hlg_chains_add(&s->chains, callers + first, n - first);
}

void hlg_stacks_guest(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
		      uint32_t series, uint64_t period)
{
	struct hlg_stack key = {
		.series = series, .guest = true, .ip = sample->ip, .count = {1, period}};

	if (hlg_stacks_knows(s, sample->pid, sample->tid))
		key.node = find_thread(s, sample->pid, sample->tid)->node;
	else
		key.node = note(s, sample, HLG_STACKS_ORPHAN);
	if (sample->chain != HLG_NO_CHAIN)
		key.chain = guest_chain(s, sample->chain, sample->ip);
	add(s, &key);
}

void hlg_stacks_host(struct hlg_stacks *s, const struct hlg_stacks_sample *sample,
		     uint32_t series, uint64_t period)
{
	add(s, &(struct hlg_stack){.series = series,
				   .node = stack_of(s, sample, false),
				   .count = {1, period}});
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

	to->marks += from->marks;
	hlg_count_add(&to->aside, from->aside);
	for (size_t i = 0; nodes && i < from->room; i++) {
		struct hlg_stack key = from->stacks[i];
		const uint64_t *words;
		size_t n;

		if (!key.count.samples)
			continue;
		words = hlg_chains_get(&from->chains, key.chain, &n);
		if (key.chain != HLG_LOST_CHAIN)
			key.chain = hlg_chains_add(&to->chains, words, n);
		key.series = hlg_profile_map(profile, from_profile, key.series);
		key.node = nodes[key.node];
		add(to, &key);
	}
	free(nodes);
}
