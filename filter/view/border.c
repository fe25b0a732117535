// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/border.h"

#include <stdlib.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "filter/view/calls.h"
#include "filter/view/place-name.h"
#include "symtab/code/line.h"
#include "symtab/grow.h"
#include "symtab/image/image-bases.h"
#include "symtab/unique.h"

/* Samples of one event at one own address. */
struct spot {
	const struct hlg_image *image;
	const void *owner;
	uint64_t addr, samples;
	uint32_t event;
};

enum {
	LARGEST =
		1 << 20, /* bytes of a place that is searched: no function has so many */
	NESTING = 16     /* as often as any byte of an image is looked at, in the mean */
};

/* What an instruction has. */
struct point {
	uint64_t samples;
	bool candidate; /* its samples may be of the border */
	bool neighbour; /* they are of nothing else than the place's own time */
	bool doubtful;  /* they are more than the neighbours', maybe by chance */
};

/* Samples of one event at such an address. */
struct doubt {
	struct hlg_border_addr at;
	uint64_t samples;
};

struct doubts {
	struct doubt *doubt;
	size_t n;
};

/* What the neighbours of a line, or all, have. */
struct near {
	uint64_t samples, addrs;
};

/* One function, label or gap, by the samples of one event. */
struct search {
	struct hlg_border *border;
	struct doubts *doubts;
	struct hlg_code *code;
	const struct hlg_transits *transits;
	uint64_t left; /* bytes that may be looked at */
	struct hlg_place place;
	struct hlg_lines lines;
	struct point *points; /* of the instructions of lines */
	struct near *near;    /* of the lines */
	struct near all;
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

static void add_spot(void *to, const void *from)
{
	struct spot *spot = to;

	spot->samples += ((const struct spot *)from)->samples;
}

/* What of the cells lies in images, by place, event and address; NULL without memory. */
static struct spot *collect(const struct hlg_space *space,
			    const struct hlg_profile *profile,
			    const struct hlg_cell *cells, size_t n_cells, size_t *n)
{
	struct spot *spots = malloc((n_cells + 1) * sizeof(*spots));
	size_t k = 0;

	for (size_t i = 0; spots && i < n_cells; i++) {
		struct hlg_place place;

		hlg_space_lookup(space, cells[i].ip, &place);
		if (place.image && place.kind != HLG_DATA)
			spots[k++] =
				(struct spot){place.image, place.owner, place.addr,
					      cells[i].count.samples,
					      profile->series[cells[i].series].event};
	}
	*n = HLG_UNIQUE(spots, k, compare_spots, add_spot);
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

/* Is the guest entered there? */
static bool is_entry(const struct search *s, uint64_t addr)
{
	const struct hlg_place *place = &s->place;

	if (!place->image->map && addr == place->image->elf.entry)
		return true;
	for (size_t i = 0; s->transits->n && i < hlg_image_n_bases(place->image); i++)
		if (hlg_transits_is_entry(s->transits,
					  addr + hlg_image_base(place->image, i).bias))
			return true;
	return hlg_calls_enter(place->image, place->symbol, addr - place->start);
}

/* Bytes of symbols inside of this one are not its own. */
static bool is_own(const struct search *s, uint64_t addr)
{
	struct hlg_place place;

	hlg_image_lookup(s->place.image, addr, &place);
	return place.owner == s->place.owner;
}

/* Has KVM carried it out for a guest, as what a device's memory is accessed by? */
static bool is_emulated(const struct search *s, uint64_t addr)
{
	for (size_t i = 0; s->transits->n && i < hlg_image_n_bases(s->place.image); i++)
		if (hlg_transits_at(s->transits,
				    addr + hlg_image_base(s->place.image, i).bias)
			    .emulated)
			return true;
	return false;
}

/* What is carried out for the guest leaves it, whatever it looks like. */
static void mark_emulated(struct search *s)
{
	struct hlg_line_insn *insn = s->lines.insn;

	for (size_t i = 0; i < s->lines.n; i++) {
		if (insn[i].leave == HLG_LEAVE_ALWAYS || !is_emulated(s, insn[i].addr))
			continue;
		insn[i].leave = HLG_LEAVE_ALWAYS;
		if (i + 1 < s->lines.n &&
		    insn[i + 1].addr - insn[i].addr <= HLG_TRANSITS_INSN)
			insn[i + 1].before = HLG_LEAVE_ALWAYS;
	}
}

/* Finds out what the instructions of a place are. False without memory. */
static bool make_points(struct search *s)
{
	size_t n = s->lines.n;

	mark_emulated(s);
	s->points = calloc(n + 1, sizeof(*s->points));
	s->near = calloc(n + 1, sizeof(*s->near)); /* of n lines at most */
	for (size_t i = 0; s->points && i < n; i++) {
		const struct hlg_line_insn *insn = &s->lines.insn[i];

		s->points[i].candidate = insn->leave != HLG_LEAVE_NEVER ||
					 insn->before != HLG_LEAVE_NEVER ||
					 is_entry(s, insn->addr);
		s->points[i].neighbour = !s->points[i].candidate && is_own(s, insn->addr);
	}
	return s->points && s->near;
}

/* Gives them the samples of one event, which are sorted by address. */
static void take_samples(struct search *s, const struct spot *spots, size_t n)
{
	size_t k = 0;

	s->all = (struct near){0, 0};
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct hlg_line_insn *insn = &s->lines.insn[i];
		struct near *near = &s->near[insn->line];
		struct point *point = &s->points[i];

		if (i == 0 || insn->line != insn[-1].line)
			*near = (struct near){0, 0};
		while (k < n && spots[k].addr < insn->addr)
			k++; /* off instructions */
		point->doubtful = false;
		point->samples =
			k < n && spots[k].addr == insn->addr ? spots[k].samples : 0;
		near->samples += point->neighbour ? point->samples : 0;
		near->addrs += point->neighbour;
		s->all.samples += point->neighbour ? point->samples : 0;
		s->all.addrs += point->neighbour;
	}
}

static void add_near(struct hlg_border_counts *counts, struct near near)
{
	counts->near += near.samples;
	counts->near_addrs += near.addrs;
}

/* n sides of one exit, or an entry, from instruction i on, and those that run as often,
 * or more often. */
static struct hlg_border_counts count(const struct search *s, size_t i, size_t n,
				      enum hlg_leave leave)
{
	const struct hlg_line_insn *insn = &s->lines.insn[i];
	struct hlg_border_counts counts = {.addrs = n};
	bool once = !insn->loops;

	for (size_t k = i; k < i + n; k++)
		counts.samples += s->points[k].samples;
	add_near(&counts, s->near[insn->line]);
	if (n == 2 && insn[1].line != insn->line) {
		add_near(&counts, s->near[insn[1].line]);
		once &= !insn[1].loops;
	}
	if (once && insn->line)
		add_near(&counts, s->near[0]);
	if (counts.near_addrs == 0 && leave == HLG_LEAVE_ALWAYS)
		add_near(&counts, s->all);
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
	for (size_t k = 0; !out && leave == HLG_LEAVE_ALWAYS && k < n; k++)
		s->points[i + k].doubtful |= is_more(&sides[k], times);
	for (size_t k = 0; out && k < n; k++)
		if (is_more(&sides[k], times) &&
		    !add(s->border, s->place.image, insn[i + k].addr))
			return false;
	return true;
}

/* Each point once, of whatever it may be a side. False without memory. */
static bool keep_doubts(const struct search *s)
{
	for (size_t i = 0; i < s->lines.n; i++) {
		if (!s->points[i].doubtful)
			continue;
		if (!HLG_GROW(s->doubts->doubt, s->doubts->n))
			return false;
		s->doubts->doubt[s->doubts->n++] = (struct doubt){
			{s->place.image, s->lines.insn[i].addr}, s->points[i].samples};
	}
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
		if (ok && s->points[i].samples && s->points[i].candidate &&
		    is_entry(s, insn[i].addr))
			ok = test(s, i, false, HLG_LEAVE_ALWAYS);
	}
	return ok && keep_doubts(s);
}

/* Spots of one place. */
static bool search_place(struct search *s, const struct spot *spots, size_t n)
{
	uint64_t size;
	bool ok;

	hlg_image_lookup(spots->image, spots->addr, &s->place);
	size = s->place.end - s->place.start;
	if (size > LARGEST || size > s->left)
		return true;
	s->left -= size;
	ok = hlg_line_find(&s->lines, s->code, &s->place) && make_points(s);
	for (size_t i = 0, j; ok && i < n; i = j) {
		for (j = i + 1; j < n && spots[j].event == spots[i].event; j++)
			;
		take_samples(s, spots + i, j - i);
		ok = search_lines(s);
	}
	hlg_line_finish(&s->lines);
	free(s->points);
	free(s->near);
	s->points = NULL;
	s->near = NULL;
	return ok;
}

/* Spots of an image that has the names of a saved profile. */
static int add_named(struct hlg_border *border, const struct spot *spots, size_t n,
		     struct hlg_err *err)
{
	static const char exit[] = HLG_PLACE_NAME_EXIT;

	for (size_t i = 0; i < n; i++) {
		struct hlg_place place;

		hlg_image_lookup(spots->image, spots[i].addr, &place);
		if (place.symbol &&
		    strncmp(hlg_image_name(spots->image, place.symbol), exit,
			    sizeof(exit) - 1) == 0 &&
		    !add(border, spots->image, spots[i].addr))
			return hlg_err_memory(err, "report");
	}
	return 0;
}

/* Spots of one image. */
static int search_image(struct hlg_border *border, struct doubts *doubts,
			const struct hlg_transits *transits, const struct spot *spots,
			size_t n, struct hlg_err *err)
{
	struct search s = {.border = border,
			   .doubts = doubts,
			   .transits = transits,
			   .left = NESTING * (uint64_t)spots->image->elf.id.size};
	int rc;

	if (spots->image->made)
		return add_named(border, spots, n, err);
	rc = hlg_code_open(&s.code, spots->image, err);
	if (rc < 0)
		return rc == HLG_ESYSTEM ? rc : 0;
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
	border->n = HLG_UNIQUE(border->at, border->n, compare_addrs, NULL);
}

int hlg_border_find(struct hlg_border *border, const struct hlg_space *space,
		    const struct hlg_profile *profile, const struct hlg_cell *cells,
		    size_t n_cells, struct hlg_err *err)
{
	struct doubts doubts = {0};
	size_t n;
	struct spot *spots = collect(space, profile, cells, n_cells, &n);
	int rc = spots ? 0 : hlg_err_memory(err, "report");

	*border = (struct hlg_border){0};
	for (size_t i = 0, j; rc == 0 && i < n; i = j) {
		for (j = i + 1; j < n && spots[j].image == spots[i].image; j++)
			;
		rc = search_image(border, &doubts, &profile->transits, spots + i, j - i,
				  err);
	}
	free(spots);
	settle(border);
	for (size_t i = 0; i < doubts.n; i++) {
		const struct doubt *doubt = &doubts.doubt[i];

		/* Another side, or event, may have told. */
		if (!hlg_border_has(border, doubt->at.image, doubt->at.addr))
			border->doubtful += doubt->samples;
	}
	free(doubts.doubt);
	return rc;
}

bool hlg_border_share(struct hlg_border *border, const struct hlg_image *image,
		      const struct hlg_border *from, const struct hlg_image *of)
{
	struct hlg_border grown = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < border->n; i++)
		ok = add(&grown, border->at[i].image, border->at[i].addr);
	for (size_t i = 0; ok && i < from->n; i++)
		ok = from->at[i].image != of || add(&grown, image, from->at[i].addr);
	if (!ok) {
		hlg_border_finish(&grown);
		return false;
	}
	settle(&grown);
	grown.doubtful = border->doubtful;
	hlg_border_finish(border);
	*border = grown;
	return true;
}

bool hlg_border_has(const struct hlg_border *border, const struct hlg_image *image,
		    uint64_t addr)
{
	const struct hlg_border_addr key = {image, addr};

	return border && border->n && image &&
	       bsearch(&key, border->at, border->n, sizeof(key), compare_addrs);
}

/* Does the image of this bias lie at the same base in a lane before, too? */
static bool is_again(const struct hlg_image *image, uint64_t bias)
{
	for (size_t i = 0; i < hlg_image_n_bases(image); i++)
		if (hlg_image_base(image, i).bias == bias)
			return hlg_image_bases_first(image, i) != i;
	return false;
}

uint64_t hlg_border_exits(const struct hlg_border *border, const struct hlg_space *space,
			  const struct hlg_profile *profile)
{
	const struct hlg_transits *c = &profile->transits;
	uint64_t exits = 0;

	for (uint32_t i = 0; border->n && !c->lost && i < c->n; i++) {
		struct hlg_place place;
		bool of = false;

		if (c->at[i].exits == 0)
			continue;
		hlg_space_lookup(space, c->at[i].ip, &place);
		/* Each lane has what is known of an address. */
		if (place.image && is_again(place.image, c->at[i].ip - place.addr))
			continue;
		for (uint64_t k = 0; !of && k <= HLG_TRANSITS_INSN; k++)
			of = hlg_border_has(border, place.image, place.addr + k);
		exits += of ? c->at[i].exits : 0;
	}
	return exits;
}

void hlg_border_finish(struct hlg_border *border)
{
	free(border->at);
	*border = (struct hlg_border){0};
}
