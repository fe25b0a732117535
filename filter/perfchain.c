// SPDX-License-Identifier: GPL-2.0-only
#include "perfchain.h"

#include <stdlib.h>
#include <string.h>

#include "mapped.h"

/* perf's, filled in when it loads the filter (hlguest.c). */
extern __attribute__((visibility("default"))) struct perf_dlfilter_fns perf_dlfilter_fns;

/* perf_dlfilter_al as of perf 5.14: what is behind comm would have to be given back. */
#define AL_SIZE (offsetof(struct perf_dlfilter_al, comm) + sizeof(const char *))

/* A sample under way. */
struct naming {
	struct hlg_perfchain *chain;
	void *ctx;
	int32_t pid;
	uint8_t cpumode;
	char text[4096]; /* PATH_MAX: of what has no symbol */
};

void hlg_perfchain_finish(struct hlg_perfchain *chain)
{
	hlg_names_finish(&chain->names);
	free(chain->known);
	*chain = (struct hlg_perfchain){0};
}

static struct hlg_perfchain_known *find(const struct hlg_perfchain *c, int32_t pid,
					uint64_t ip)
{
	size_t mask = c->room - 1;
	/* As hlg_cell_slot. */
	size_t i = (ip ^ (uint64_t)(uint32_t)pid << 32) * UINT64_C(0x9e3779b97f4a7c15) >>
			   20 &
		   mask;

	while (c->known[i].name && (c->known[i].ip != ip || c->known[i].pid != pid))
		i = (i + 1) & mask;
	return &c->known[i];
}

static bool grow(struct hlg_perfchain *c)
{
	struct hlg_perfchain more = {.room = c->room ? 2 * c->room : 256};

	more.known = calloc(more.room, sizeof(*more.known));
	if (!more.known)
		return false;
	for (size_t i = 0; i < c->room; i++)
		if (c->known[i].name)
			*find(&more, c->known[i].pid, c->known[i].ip) = c->known[i];
	free(c->known);
	c->known = more.known;
	c->room = more.room;
	return true;
}

/* The newest name counts. Without memory it is forgotten. */
static void remember(struct hlg_perfchain *c, int32_t pid, uint64_t ip, const char *text)
{
	uint32_t name = hlg_names_add(&c->names, text);
	struct hlg_perfchain_known *known;

	if (name == HLG_NO_NAME || (2 * (c->n + 1) > c->room && !grow(c)))
		return;
	known = find(c, pid, ip);
	c->n += known->name == HLG_NO_NAME;
	*known = (struct hlg_perfchain_known){ip, pid, name};
}

static void name_frame(void *to, uint64_t ip, unsigned cpumode,
		       struct hlg_host_frame *frame)
{
	struct naming *naming = to;
	struct hlg_perfchain *c = naming->chain;
	struct perf_dlfilter_al al = {.size = AL_SIZE};

	if (cpumode != naming->cpumode) {
		if (c->room && find(c, naming->pid, ip)->name)
			frame->name =
				hlg_names_get(&c->names, find(c, naming->pid, ip)->name);
		return;
	}
	if (!perf_dlfilter_fns.resolve_address ||
	    perf_dlfilter_fns.resolve_address(naming->ctx, ip, &al) != 0)
		return;
	frame->name =
		al.sym ? al.sym
		       : hlg_mapped_name(naming->text, sizeof(naming->text), al.dso);
	if (cpumode == PERF_RECORD_MISC_USER)
		remember(c, naming->pid, ip, frame->name);
}

bool hlg_perfchain_take(struct hlg_perfchain *chain, struct hlg_stacks *stacks,
			struct hlg_profile *profile, const struct hlg_sample *s,
			enum hlg_verdict verdict,
			const struct perf_dlfilter_sample *sample, void *ctx,
			const char *(*comm)(void *ctx))
{
	enum hlg_kvm_mark mark = hlg_stacks_event(profile->events[s->event].name);
	bool runs = mark && hlg_stacks_is_run(mark, sample->raw_data, sample->raw_size);
	bool shows_host = profile->options->mode != HLG_SHOW_GUEST;
	struct naming naming = {
		.chain = chain, .ctx = ctx, .pid = s->pid, .cpumode = s->cpumode};
	struct hlg_stacks_sample of = {.pid = s->pid,
				       .tid = s->tid,
				       .ip = s->ip,
				       .cpumode = s->cpumode,
				       .name = name_frame,
				       .ctx = &naming};

	if (runs || (verdict == HLG_HOST && shows_host && !mark) || verdict == HLG_GUEST)
		of.chain = hlg_chains_add(&stacks->chains, sample->raw_callchain,
					  sample->raw_callchain_nr);
	if (runs || verdict == HLG_HOST || !hlg_stacks_knows(stacks, s->pid, s->tid))
		of.comm = comm(ctx);
	if (runs)
		hlg_stacks_enter(stacks, &of);
	if (verdict == HLG_GUEST)
		hlg_stacks_guest(stacks, &of, hlg_profile_series(profile, s), s->period);
	if (verdict != HLG_HOST)
		return true;
	if (mark)
		hlg_count_add(&stacks->aside, (struct hlg_count){1, s->period});
	else if (shows_host)
		hlg_stacks_host(stacks, &of, hlg_profile_series(profile, s), s->period);
	return !mark;
}
