// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/border.h"

#include <stdlib.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "symtab/code/line.h"
#include "symtab/grow.h"

#define DISPATCH "dispatch_function" /* hyperlight-guest-bin, src/lib.rs */

/* Samples of one event at one own address. */
struct spot {
	const struct hlg_image *image;
	const void *owner;
	uint64_t addr, samples;
	uint32_t event;
};

/* One function, label or gap, by the samples of one event. */
struct search {
	struct hlg_border *border;
	struct hlg_code *code;
	struct hlg_place place;
	struct hlg_lines lines;
	const struct spot *spots; /* by address */
	size_t n_spots;
};

static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->image != y->image)
		return x->image->number < y->image->number ? -1 : 1;
	if (x->owner != y->owner)
		return (uintptr_t)x->owner < (uintptr_t)y->owner ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* What of the cells lies in images, by place, event and address; NULL without memory. */
static struct spot *collect(const struct hlg_space *space,
			    const struct hlg_profile *profile,
			    const struct hlg_cell *cells, size_t n_cells, size_t *n)
{
	struct spot *spots = malloc((n_cells + 1) * sizeof(*spots));
	size_t k = 0;

	*n = 0;
	for (size_t i = 0; spots && i < n_cells; i++) {
		struct hlg_place place;

		hlg_space_lookup(space, cells[i].ip, &place);
		if (place.image && place.kind != HLG_DATA)
			spots[k++] =
				(struct spot){place.image, place.owner, place.addr,
					      cells[i].count.samples,
					      profile->series[cells[i].series].event};
	}
	if (spots)
		qsort(spots, k, sizeof(*spots), compare_spots);
	for (size_t i = 0; i < k; i++) {
		if (*n && compare_spots(&spots[*n - 1], &spots[i]) == 0)
			spots[*n - 1].samples += spots[i].samples;
		else
			spots[(*n)++] = spots[i];
	}
	return spots;
}

/* Have they more than times the mean of the others, as they are? */
static bool is_more(const struct hlg_border_counts *c, double times)
{
	return c->near_addrs && (double)c->samples * (double)c->near_addrs >
					times * (double)c->addrs * (double)c->near;
}

bool hlg_border_stands_out(const struct hlg_border_counts *c, double times)
{
	double weight = times * (double)c->addrs;

	return c->samples && is_more(c, times) &&
	       hlg_interval_binomial(c->samples, c->samples + c->near,
				     weight / (weight + (double)c->near_addrs)) <=
		       HLG_BORDER_LEVEL;
}

static uint64_t samples_at(const struct search *s, uint64_t addr)
{
	size_t from = 0, to = s->n_spots;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->spots[mid].addr < addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from < s->n_spots && s->spots[from].addr == addr ? s->spots[from].samples
								: 0;
}

/* Is the guest entered there? */
static bool is_entry(const struct search *s, uint64_t addr)
{
	const struct hlg_place *place = &s->place;

	if (!place->image->map && addr == place->image->elf.entry)
		return true;
	return place->symbol && addr == place->start &&
	       strcmp(hlg_image_name(place->image, place->symbol), DISPATCH) == 0;
}

/* May its samples be of the border? */
static bool is_candidate(const struct search *s, size_t i)
{
	const struct hlg_line_insn *insn = &s->lines.insn[i];

	return insn->leave != HLG_LEAVE_NEVER || insn->before != HLG_LEAVE_NEVER ||
	       is_entry(s, insn->addr);
}

/* Bytes of symbols inside of this one are not its own. */
static bool is_own(const struct search *s, uint64_t addr)
{
	struct hlg_place place;

	hlg_image_lookup(s->place.image, addr, &place);
	return place.owner == s->place.owner;
}

/* Adds what is no candidate of instructions [from, to). */
static void add_near(const struct search *s, struct hlg_border_counts *counts,
		     size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		uint64_t addr = s->lines.insn[i].addr;

		if (is_candidate(s, i) || !is_own(s, addr))
			continue;
		counts->near += samples_at(s, addr);
		counts->near_addrs++;
	}
}

/* The end of instruction i's line. */
static size_t line_end(const struct search *s, size_t i)
{
	size_t to = i + 1;

	while (to < s->lines.n && s->lines.insn[to].line == s->lines.insn[i].line)
		to++;
	return to;
}

static size_t line_begin(const struct search *s, size_t i)
{
	while (i && s->lines.insn[i - 1].line == s->lines.insn[i].line)
		i--;
	return i;
}

/* Adds those that run as often as n sides of an exit from instruction i on, or more
 * often. */
static void add_neighbours(const struct search *s, struct hlg_border_counts *counts,
			   size_t i, size_t n, enum hlg_leave leave)
{
	size_t first = line_end(s, 0), from = line_begin(s, i), to = line_end(s, i);
	bool once = !s->lines.insn[i].loops;

	if (n == 2 && to == i + 1) {
		to = line_end(s, i + 1);
		once &= !s->lines.insn[i + 1].loops;
	}
	add_near(s, counts, from, to);
	if (once && from)
		add_near(s, counts, 0, first);
	if (counts->near_addrs == 0 && leave == HLG_LEAVE_ALWAYS)
		add_near(s, counts, 0, s->lines.n);
}

/* n sides of one exit, or an entry, from instruction i on, and their neighbours. */
static struct hlg_border_counts count(const struct search *s, size_t i, size_t n,
				      enum hlg_leave leave)
{
	struct hlg_border_counts counts = {.addrs = n};

	for (size_t k = i; k < i + n; k++)
		counts.samples += samples_at(s, s->lines.insn[k].addr);
	add_neighbours(s, &counts, i, n, leave);
	return counts;
}

static bool add(struct hlg_border *border, const struct hlg_image *image, uint64_t addr)
{
	if (!HLG_GROW(border->at, border->n))
		return false;
	border->at[border->n++] = (struct hlg_border_addr){image, addr};
	return true;
}

/*
 * Tests instruction i, and the next one if both are sides of one exit: together, and each
 * by itself. False without memory.
 */
static bool test(const struct search *s, size_t i, bool exit, enum hlg_leave leave)
{
	const struct hlg_line_insn *insn = s->lines.insn;
	double times = leave == HLG_LEAVE_MAY ? HLG_BORDER_TIMES_MAY : HLG_BORDER_TIMES;
	size_t n = exit && i + 1 < s->lines.n && insn[i + 1].before != HLG_LEAVE_NEVER
			   ? 2
			   : 1;
	struct hlg_border_counts sides[2], both = count(s, i, n, leave);
	bool out = hlg_border_stands_out(&both, times);

	for (size_t k = 0; k < n; k++) {
		sides[k] = count(s, i + k, 1, leave);
		out |= hlg_border_stands_out(&sides[k], times);
	}
	for (size_t k = 0; out && k < n; k++)
		if (is_more(&sides[k], times) &&
		    !add(s->border, s->place.image, insn[i + k].addr))
			return false;
	return true;
}

/* Each exit of the place, and where the guest is entered. */
static bool search_lines(const struct search *s)
{
	const struct hlg_line_insn *insn = s->lines.insn;
	bool ok = true;

	for (size_t i = 0; ok && i < s->lines.n; i++) {
		if (insn[i].leave != HLG_LEAVE_NEVER)
			ok = test(s, i, true, insn[i].leave);
		if (ok && is_entry(s, insn[i].addr))
			ok = test(s, i, false, HLG_LEAVE_ALWAYS);
	}
	return ok;
}

/* Spots of one place. */
static bool search_place(struct search *s, const struct spot *spots, size_t n)
{
	bool ok;

	hlg_image_lookup(spots->image, spots->addr, &s->place);
	ok = hlg_line_find(&s->lines, s->code, &s->place);
	for (size_t i = 0, j; ok && i < n; i = j) {
		for (j = i + 1; j < n && spots[j].event == spots[i].event; j++)
			;
		s->spots = spots + i;
		s->n_spots = j - i;
		ok = search_lines(s);
	}
	hlg_line_finish(&s->lines);
	return ok;
}

/* Spots of one image. */
static int search_image(struct hlg_border *border, const struct spot *spots, size_t n,
			struct hlg_err *err)
{
	struct search s = {.border = border};
	struct hlg_err why;
	int rc = hlg_code_open(&s.code, spots->image, &why);

	if (rc < 0)
		return rc == HLG_ESYSTEM ? hlg_err_memory(err, "report") : 0;
	for (size_t i = 0, j; rc == 0 && i < n; i = j) {
		for (j = i + 1; j < n && spots[j].owner == spots[i].owner; j++)
			;
		if (!search_place(&s, spots + i, j - i))
			rc = hlg_err_memory(err, "report");
	}
	hlg_code_close(s.code);
	return rc;
}

static int compare_addrs(const void *a, const void *b)
{
	const struct hlg_border_addr *x = a, *y = b;

	if (x->image != y->image)
		return x->image->number < y->image->number ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Each address once, in order. */
static void settle(struct hlg_border *border)
{
	size_t n = 0;

	if (border->n)
		qsort(border->at, border->n, sizeof(*border->at), compare_addrs);
	for (size_t i = 0; i < border->n; i++)
		if (n == 0 || compare_addrs(&border->at[n - 1], &border->at[i]) != 0)
			border->at[n++] = border->at[i];
	border->n = n;
}

int hlg_border_find(struct hlg_border *border, const struct hlg_space *space,
		    const struct hlg_profile *profile, const struct hlg_cell *cells,
		    size_t n_cells, struct hlg_err *err)
{
	size_t n;
	struct spot *spots = collect(space, profile, cells, n_cells, &n);
	int rc = spots ? 0 : hlg_err_memory(err, "report");

	*border = (struct hlg_border){0};
	for (size_t i = 0, j; rc == 0 && i < n; i = j) {
		for (j = i + 1; j < n && spots[j].image == spots[i].image; j++)
			;
		rc = search_image(border, spots + i, j - i, err);
	}
	free(spots);
	settle(border);
	return rc;
}

int hlg_border_of(struct hlg_border *border, const struct hlg_space *space,
		  const struct hlg_profile *profile, struct hlg_err *err)
{
	struct hlg_cell *cells = malloc((profile->n_cells + 1) * sizeof(*cells));
	size_t n = 0;
	int rc;

	*border = (struct hlg_border){0};
	if (!cells)
		return hlg_err_memory(err, "report");
	for (size_t i = 0; i < hlg_profile_room(profile); i++)
		if (profile->cells[i].count.samples)
			cells[n++] = profile->cells[i];
	rc = hlg_border_find(border, space, profile, cells, n, err);
	free(cells);
	return rc;
}

bool hlg_border_has(const struct hlg_border *border, const struct hlg_image *image,
		    uint64_t addr)
{
	const struct hlg_border_addr key = {image, addr};

	return border && border->n && image &&
	       bsearch(&key, border->at, border->n, sizeof(key), compare_addrs);
}

void hlg_border_finish(struct hlg_border *border)
{
	free(border->at);
	*border = (struct hlg_border){0};
}
