// SPDX-License-Identifier: GPL-2.0-only
#include "perfchain.h"

#include <limits.h>
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
	char *text; /* PATH_MAX bytes: too many to be zeroed for each sample */
};

void hlg_perfchain_finish(struct hlg_perfchain *chain)
{
	hlg_names_finish(&chain->names);
	free(chain->known);
	*chain = (struct hlg_perfchain){0};
}

/* The first function of the process that ends behind ip, or of a later process. */
static size_t first_behind(const struct hlg_perfchain *c, int32_t pid, uint64_t ip)
{
	size_t from = 0, to = c->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct hlg_perfchain_known *known = &c->known[middle];

		if (known->pid > pid || (known->pid == pid && known->last >= ip))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

static struct hlg_perfchain_known *find(const struct hlg_perfchain *c, int32_t pid,
					uint64_t ip)
{
	size_t i = first_behind(c, pid, ip);

	return i < c->n && c->known[i].pid == pid && c->known[i].first <= ip
		       ? &c->known[i]
		       : NULL;
}

/*
 * A function, [first, last]; the newest name counts, and what lies across it is
 * forgotten, since something else was mapped there. Without memory nothing is remembered.
 */
static void remember(struct hlg_perfchain *c, int32_t pid, uint64_t first, uint64_t last,
		     const char *text)
{
	uint32_t name = hlg_names_add(&c->names, text);
	size_t from = first_behind(c, pid, first), to = from;

	while (to < c->n && c->known[to].pid == pid && c->known[to].first <= last)
		to++;
	if (name == HLG_NO_NAME ||
	    (from < to && c->known[from].first == first && c->known[from].last == last &&
	     c->known[from].name == name))
		return;
	if (c->n == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		void *known = reallocarray(c->known, room, sizeof(*c->known));

		if (!known)
			return;
		c->known = known;
		c->room = room;
	}
	memmove(c->known + from + 1, c->known + to, (c->n - to) * sizeof(*c->known));
	c->n = c->n + 1 - (to - from);
	c->known[from] = (struct hlg_perfchain_known){first, last, pid, name};
}

static void name_frame(void *to, uint64_t ip, unsigned cpumode,
		       struct hlg_host_frame *frame)
{
	struct naming *naming = to;
	struct hlg_perfchain *c = naming->chain;
	struct perf_dlfilter_al al = {.size = AL_SIZE};

	if (cpumode != naming->cpumode) {
		const struct hlg_perfchain_known *known = find(c, naming->pid, ip);

		if (known)
			frame->name = hlg_names_get(&c->names, known->name);
		return;
	}
	if (!perf_dlfilter_fns.resolve_address ||
	    perf_dlfilter_fns.resolve_address(naming->ctx, ip, &al) != 0)
		return;
	frame->name = al.sym ? al.sym : hlg_mapped_name(naming->text, PATH_MAX, al.dso);
	if (cpumode != PERF_RECORD_MISC_USER)
		return;
	if (al.sym && al.sym_end > al.sym_start && al.symoff < al.sym_end - al.sym_start)
		remember(c, naming->pid, ip - al.symoff,
			 ip - al.symoff + (al.sym_end - al.sym_start - 1), frame->name);
	else
		remember(c, naming->pid, ip, ip, frame->name);
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
	char text[PATH_MAX];
	struct naming naming = {chain, ctx, s->pid, s->cpumode, text};
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
