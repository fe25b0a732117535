// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/starts.h"

#include <stddef.h>

/* Are these of one thread with one address, or entries of one sandbox, or thread? */
static bool is_one(const struct hlg_start *a, const struct hlg_start *b)
{
	if (a->halt || b->halt)
		return a->halt == b->halt && a->tid == b->tid && a->ip == b->ip;
	if (a->ended || b->ended)
		return a->ip == b->ip;
	return a->sandbox == b->sandbox && (a->sandbox || a->tid == b->tid);
}

static struct hlg_start *find(struct hlg_starts *starts, const struct hlg_start *start)
{
	for (uint32_t i = 0; i < starts->n; i++)
		if (is_one(&starts->at[i], start))
			return &starts->at[i];
	return NULL;
}

/* Entries come as each CPU's buffer has them. */
static void take_earlier(struct hlg_start *one, const struct hlg_start *start)
{
	if (one->halt || one->ended || start->time >= one->time)
		return;
	one->ip = start->ip;
	one->time = start->time;
	one->tid = start->tid;
}

static bool can_halt(uint64_t ip)
{
	return ip >= HLG_STARTS_HALT_MIN && ip < HLG_STARTS_HALT_MAX;
}

/* NULL: it is no start, or there is no room. */
static struct hlg_start *find_or_add(struct hlg_starts *starts,
				     const struct hlg_start *start)
{
	struct hlg_start *one = find(starts, start);

	if (one || starts->n == HLG_STARTS || (start->halt && !can_halt(start->ip)))
		return one;
	starts->at[starts->n] = *start;
	return &starts->at[starts->n++];
}

void hlg_starts_add(struct hlg_starts *starts, struct hlg_start start)
{
	struct hlg_start *one;

	start.times = 0;
	one = find_or_add(starts, &start);
	if (!one)
		return;
	take_earlier(one, &start);
	if (one->halt || one->times == 0)
		one->times++;
}

void hlg_starts_end(struct hlg_starts *starts)
{
	for (uint32_t i = 0; i < starts->n; i++)
		starts->at[i].ended = true;
}

void hlg_starts_merge(struct hlg_starts *to, const struct hlg_starts *from)
{
	for (uint32_t i = 0; i < from->n; i++) {
		const uint32_t before = to->n;
		struct hlg_start *one = find_or_add(to, &from->at[i]);

		if (!one)
			continue;
		take_earlier(one, &from->at[i]);
		/* A new one has them. */
		if (before < to->n)
			continue;
		if (one->halt && !from->at[i].ended)
			one->times += from->at[i].times;
		else if (one->times < from->at[i].times)
			one->times = from->at[i].times;
	}
}
