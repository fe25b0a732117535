// SPDX-License-Identifier: GPL-2.0-only
#include "filter/dlfilter/callchain.h"

#include <limits.h>
#include <stdlib.h>

#include "filter/stacks/address-map.h"
#include "filter/stacks/stacks.h"
#include "symtab/grow.h"

/* perf's, filled in when it loads the filter (hlguest.c). */
extern __attribute__((visibility("default"))) struct perf_dlfilter_fns perf_dlfilter_fns;

/* perf_dlfilter_al as of perf 5.14: what is behind comm would have to be given back. */
#define AL_SIZE (offsetof(struct perf_dlfilter_al, comm) + sizeof(const char *))

/* A sample under way. */
struct naming {
	struct hlg_callchain *chain;
	void *ctx;
	int32_t pid;
	uint8_t cpumode;
	char *text; /* PATH_MAX bytes: too many to be zeroed for each sample */
};

/* The functions that perf has named in a process. */
struct hlg_callchain_process {
	struct hlg_address_map known;
	int32_t pid;
};

void hlg_callchain_finish(struct hlg_callchain *chain)
{
	hlg_strings_finish(&chain->names);
	for (uint32_t i = 0; i < chain->n; i++)
		hlg_address_map_finish(&chain->processes[i].known);
	free(chain->processes);
	hlg_index_finish(&chain->index);
	*chain = (struct hlg_callchain){0};
}

static bool same(const void *ctx, uint32_t number)
{
	const struct naming *naming = ctx;

	return naming->chain->processes[number].pid == naming->pid;
}

static uint64_t hash_of(int32_t pid)
{
	return hlg_hash_word(HLG_HASH_SEED, (uint32_t)pid);
}

/* What is known of the sample's process, NULL if nothing is. */
static struct hlg_address_map *known_of(const struct naming *naming)
{
	const struct hlg_callchain *c = naming->chain;
	uint32_t i = hlg_index_find(&c->index, hash_of(naming->pid), same, naming);

	return i == HLG_INDEX_NONE ? NULL : &c->processes[i].known;
}

static struct hlg_address_map *add_process(struct hlg_callchain *c, int32_t pid)
{
	if (!HLG_GROW(c->processes, c->n) ||
	    !hlg_index_add(&c->index, hash_of(pid), c->n))
		return NULL;
	c->processes[c->n] = (struct hlg_callchain_process){.pid = pid};
	return &c->processes[c->n++].known;
}

/*
 * A function, [start, end); the newest name counts, and what lies across it is
 * forgotten, since something else was mapped there. Without memory nothing is remembered.
 */
static void remember(const struct naming *naming, uint64_t start, uint64_t end,
		     const char *text)
{
	struct hlg_callchain *c = naming->chain;
	uint32_t name = hlg_strings_add(&c->names, text);
	struct hlg_address_map *known = known_of(naming);
	const struct hlg_address_range *there =
		known ? hlg_address_map_find(known, start) : NULL;

	if (name == HLG_NO_STRING ||
	    (there && there->start == start && there->end == end && there->name == name))
		return;
	if (!known)
		known = add_process(c, naming->pid);
	if (known)
		hlg_address_map_put(known,
				    (struct hlg_address_range){start, end, 0, name},
				    HLG_ADDRESS_MAP_FORGET);
}

static void name_frame(void *to, uint64_t ip, unsigned cpumode,
		       struct hlg_host_frame *frame)
{
	struct naming *naming = to;
	struct perf_dlfilter_al al = {.size = AL_SIZE};

	if (cpumode != naming->cpumode) {
		const struct hlg_address_map *known = known_of(naming);
		const struct hlg_address_range *at =
			known ? hlg_address_map_find(known, ip) : NULL;

		if (at)
			frame->name = hlg_strings_get(&naming->chain->names, at->name);
		return;
	}
	if (!perf_dlfilter_fns.resolve_address ||
	    perf_dlfilter_fns.resolve_address(naming->ctx, ip, &al) != 0)
		return;
	frame->name =
		al.sym ? al.sym : hlg_stacks_dso_name(naming->text, PATH_MAX, al.dso);
	if (cpumode != PERF_RECORD_MISC_USER)
		return;
	if (al.sym && al.sym_end > al.sym_start && al.symoff < al.sym_end - al.sym_start)
		remember(naming, ip - al.symoff,
			 ip - al.symoff + (al.sym_end - al.sym_start), frame->name);
	else
		remember(naming, ip, ip + 1, frame->name);
}

bool hlg_callchain_take(struct hlg_callchain *chain, struct hlg_stacks *stacks,
			struct hlg_profile *profile, const struct hlg_sample *s,
			enum hlg_disposition disposition,
			const struct perf_dlfilter_sample *sample, void *ctx,
			const char *(*comm)(void *ctx))
{
	enum hlg_kvm_mark mark = hlg_stacks_event(profile->events[s->event].name);
	bool runs = mark && hlg_stacks_is_run(mark, sample->raw_data, sample->raw_size);
	bool shows_host = profile->options->mode != HLG_SHOW_GUEST;
	char text[PATH_MAX];
	struct naming naming = {chain, ctx, s->pid, s->cpumode, text};
	struct hlg_stacks_sample of = {.pid = s->pid,
				       .tid = s->tid,
				       .ip = s->ip,
				       .cpumode = s->cpumode,
				       .name = name_frame,
				       .ctx = &naming};

	if (runs || (disposition == HLG_HOST && shows_host && !mark) ||
	    disposition == HLG_GUEST)
		of.chain = hlg_chains_add(&stacks->chains, sample->raw_callchain,
					  sample->raw_callchain_nr);
	if (runs || disposition == HLG_HOST || !hlg_stacks_knows(stacks, s->pid, s->tid))
		of.comm = comm(ctx);
	if (runs)
		hlg_stacks_enter(stacks, &of);
	if (disposition == HLG_GUEST)
		hlg_stacks_guest(stacks, &of, hlg_profile_series(profile, s), s->period);
	if (disposition != HLG_HOST)
		return true;
	if (mark)
		hlg_count_add(&stacks->aside, (struct hlg_count){1, s->period});
	else if (shows_host)
		hlg_stacks_host(stacks, &of, hlg_profile_series(profile, s), s->period);
	return !mark;
}
