// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/window.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

/* What one cell has gained in a slice. */
struct gain {
	struct hlg_count count;
	uint32_t cell;
};

struct hlg_top_slice {
	struct gain *gains;
	size_t n;
	struct hlg_top_sums sums;
	uint64_t took; /* ns; 0: the slice is empty */
};

/* A cell to be found. */
struct search {
	const struct hlg_top_window *window;
	uint64_t ip;
	uint32_t series;
};

static bool is_same(const void *ctx, uint32_t number)
{
	const struct search *s = ctx;
	const struct hlg_top_cell *cell = &s->window->cells[number];

	return cell->ip == s->ip && cell->series == s->series;
}

/* The number of a cell, new or known; HLG_INDEX_NONE without memory. */
static uint32_t find(struct hlg_top_window *w, uint64_t ip, uint32_t series)
{
	const struct search search = {w, ip, series};
	uint64_t hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, ip), series);
	uint32_t number = hlg_index_find(&w->index, hash, is_same, &search);

	if (number != HLG_INDEX_NONE)
		return number;
	if (!HLG_GROW(w->cells, w->n_cells) ||
	    !hlg_index_add(&w->index, hash, w->n_cells))
		return HLG_INDEX_NONE;
	w->cells[w->n_cells] = (struct hlg_top_cell){.ip = ip, .series = series};
	return w->n_cells++;
}

static struct hlg_top_sums sums_of(const struct hlg_profile *p, uint64_t lost)
{
	struct hlg_top_sums sums = {.seen = p->seen,
				    .host = p->host,
				    .deselected = p->deselected,
				    .traced = hlg_profile_traced(p).samples,
				    .lost = lost};

	for (uint32_t i = 0; i < p->n_series; i++)
		sums.squares += p->series[i].squares;
	for (uint32_t i = 0; i < p->n_events; i++) {
		const struct hlg_event *event = &p->events[i];

		if (strcmp(event->name, "kvm:kvm_exit") == 0)
			sums.exits += event->host.samples;
		if (strcmp(event->name, "kvm:kvm_userspace_exit") == 0)
			sums.vmm_exits += event->host.samples;
	}
	return sums;
}

static struct hlg_count minus(struct hlg_count a, struct hlg_count b)
{
	hlg_count_sub(&a, b);
	return a;
}

static struct hlg_top_sums less(const struct hlg_top_sums *a,
				const struct hlg_top_sums *b)
{
	return (struct hlg_top_sums){minus(a->seen, b->seen),
				     minus(a->host, b->host),
				     minus(a->deselected, b->deselected),
				     a->squares - b->squares,
				     a->exits - b->exits,
				     a->vmm_exits - b->vmm_exits,
				     a->traced - b->traced,
				     a->lost - b->lost};
}

static void add(struct hlg_top_sums *to, const struct hlg_top_sums *from)
{
	hlg_count_add(&to->seen, from->seen);
	hlg_count_add(&to->host, from->host);
	hlg_count_add(&to->deselected, from->deselected);
	to->squares += from->squares;
	to->exits += from->exits;
	to->vmm_exits += from->vmm_exits;
	to->traced += from->traced;
	to->lost += from->lost;
}

/* Takes a slice out of what is recent. */
static void forget(struct hlg_top_window *w, struct hlg_top_slice *slice)
{
	for (size_t i = 0; i < slice->n; i++)
		hlg_count_sub(&w->cells[slice->gains[i].cell].recent,
			      slice->gains[i].count);
	free(slice->gains);
	*slice = (struct hlg_top_slice){0};
}

bool hlg_top_window_begin(struct hlg_top_window *w, size_t n, uint64_t now)
{
	*w = (struct hlg_top_window){
		.n_slices = n, .began = now, .zeroed = now, .closed = now};
	w->slices = calloc(n, sizeof(*w->slices));
	return w->slices != NULL;
}

void hlg_top_window_finish(struct hlg_top_window *w)
{
	for (size_t i = 0; w->slices && i < w->n_slices; i++)
		free(w->slices[i].gains);
	free(w->slices);
	free(w->cells);
	hlg_index_finish(&w->index);
	*w = (struct hlg_top_window){0};
}

/* A cell of the profile; false without memory. */
static bool take(struct hlg_top_window *w, struct hlg_top_slice *slice,
		 const struct hlg_cell *from)
{
	uint32_t number = find(w, from->ip, from->series);
	struct hlg_top_cell *cell;
	struct hlg_count gained;

	if (number == HLG_INDEX_NONE)
		return false;
	cell = &w->cells[number];
	gained = minus(from->count, cell->last);
	if (gained.samples == 0)
		return true;
	if (!HLG_GROW(slice->gains, slice->n))
		return false;
	slice->gains[slice->n++] = (struct gain){gained, number};
	hlg_count_add(&cell->recent, gained);
	cell->last = from->count;
	return true;
}

bool hlg_top_window_close(struct hlg_top_window *w, const struct hlg_profile *p,
			  uint64_t lost, uint64_t now)
{
	const struct hlg_top_sums sums = sums_of(p, lost);
	struct hlg_top_slice *slice;
	bool ok = true;

	w->at = (w->at + 1) % w->n_slices;
	slice = &w->slices[w->at];
	forget(w, slice);
	for (size_t i = 0; i < hlg_profile_room(p); i++)
		if (p->cells[i].count.samples)
			ok &= take(w, slice, &p->cells[i]);
	slice->sums = less(&sums, &w->last);
	slice->took = now - w->closed;
	w->last = sums;
	w->closed = now;
	return ok;
}

void hlg_top_window_zero(struct hlg_top_window *w)
{
	for (size_t i = 0; i < w->n_slices; i++)
		forget(w, &w->slices[i]);
	for (uint32_t i = 0; i < w->n_cells; i++)
		w->cells[i].zero = w->cells[i].last;
	w->zero = w->last;
	w->zeroed = w->closed;
}

struct hlg_count hlg_top_window_count(const struct hlg_top_cell *cell,
				      enum hlg_top_which which)
{
	return which == HLG_TOP_RECENT ? cell->recent : minus(cell->last, cell->zero);
}

struct hlg_top_sums hlg_top_window_sums(const struct hlg_top_window *w,
					enum hlg_top_which which)
{
	struct hlg_top_sums sums = {.exits = 0};

	if (which == HLG_TOP_SINCE)
		return less(&w->last, &w->zero);
	for (size_t i = 0; i < w->n_slices; i++)
		add(&sums, &w->slices[i].sums);
	return sums;
}

uint64_t hlg_top_window_took(const struct hlg_top_window *w, enum hlg_top_which which)
{
	uint64_t took = 0;

	if (which == HLG_TOP_SINCE)
		return w->closed - w->zeroed;
	for (size_t i = 0; i < w->n_slices; i++)
		took += w->slices[i].took;
	return took;
}

struct hlg_count hlg_top_window_guest(const struct hlg_top_sums *sums)
{
	return minus(minus(sums->seen, sums->host), sums->deselected);
}
