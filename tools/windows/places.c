// SPDX-License-Identifier: GPL-2.0-only
/* Where windows end: the places of their addresses in the guest's images. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/index.h"
#include "filter/report/misfits.h"
#include "filter/view/place-name.h"
#include "symtab/grow.h"
#include "tools/windows/windows.h"

/* An address of a row. */
struct at {
	uint64_t ip;
	size_t row;
	bool guest;
};

static int compare_at(const void *a, const void *b)
{
	const struct at *x = a, *y = b;

	if (x->guest != y->guest)
		return x->guest ? 1 : -1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

struct locating {
	struct hlg_windows *w;
	struct hlg_index index;
	struct hlg_place place; /* at hand; */
	bool host;              /* of the host all are one */
	bool demangle;
	bool lanes;     /* guests lie at the same addresses */
	bool addresses; /* each is a place of its own */
};

static bool is_same(const void *ctx, uint32_t number)
{
	const struct locating *l = ctx;
	const struct hlg_windows_place *p = &l->w->places[number];

	if (p->host != l->host || l->host)
		return p->host == l->host;
	if (l->addresses)
		return p->place.addr == l->place.addr;
	return p->place.owner == l->place.owner && p->place.kind == l->place.kind;
}

/* NULL without memory */
static char *name_of(const struct locating *l)
{
	char *name;

	if (l->host)
		return strdup("[host]");
	if (l->w->check && hlg_misfits_has(l->w->check, &l->place))
		return hlg_misfits_name(&l->place);
	if (!l->addresses) {
		name = hlg_place_name(&l->place, l->demangle);
		return l->lanes ? hlg_place_name_of_image(name, &l->place) : name;
	}
	return asprintf(&name, "0x%" PRIx64, l->place.addr) < 0 ? NULL : name;
}

/* The number of the place at hand; HLG_NO_PLACE without memory. */
static uint32_t number_of(struct locating *l)
{
	uint64_t hash =
		hlg_hash_word(HLG_HASH_SEED, l->host        ? 0
					     : l->addresses ? l->place.addr
							    : (uintptr_t)l->place.owner);
	uint32_t number = hlg_index_find(&l->index, hash, is_same, l);
	struct hlg_windows *w = l->w;
	char *name;

	if (number != HLG_INDEX_NONE)
		return number;
	if (!HLG_GROW(w->places, w->n_places))
		return HLG_NO_PLACE;
	name = name_of(l);
	if (!name || !hlg_index_add(&l->index, hash, (uint32_t)w->n_places)) {
		free(name);
		return HLG_NO_PLACE;
	}
	w->places[w->n_places] = (struct hlg_windows_place){name, l->place, l->host};
	return (uint32_t)w->n_places++;
}

bool hlg_windows_places_locate(struct hlg_windows *w, const struct hlg_space *space,
			       bool demangle)
{
	struct at *ats = calloc(w->n_rows + 1, sizeof(*ats));
	struct locating l = {.w = w,
			     .place.kind = HLG_OUTSIDE,
			     .demangle = demangle,
			     .lanes = space->n_lanes && space->n_images > 1,
			     .addresses = w->check && w->check->suppressed};
	uint32_t number = 0;

	if (!ats)
		return false;
	for (size_t i = 0; i < w->n_rows; i++)
		ats[i] = (struct at){w->rows[i].guest ? w->rows[i].ip : 0, i,
				     w->rows[i].guest};
	qsort(ats, w->n_rows, sizeof(*ats), compare_at);
	for (size_t i = 0; number != HLG_NO_PLACE && i < w->n_rows; i++) {
		if (i == 0 || ats[i].ip != ats[i - 1].ip ||
		    ats[i].guest != ats[i - 1].guest) {
			l.host = !ats[i].guest;
			if (ats[i].guest && l.addresses)
				l.place = (struct hlg_place){
					.kind = HLG_OUTSIDE,
					.addr = hlg_space_ip(space, ats[i].ip)};
			else if (ats[i].guest)
				hlg_space_lookup(space, ats[i].ip, &l.place);
			number = number_of(&l);
		}
		w->rows[ats[i].row].place = number;
	}
	hlg_index_finish(&l.index);
	free(ats);
	return number != HLG_NO_PLACE;
}

static bool is_its_name(const struct hlg_image *image, const struct hlg_symbol *symbol,
			const char *function)
{
	char *name;
	bool same;

	if (strcmp(hlg_image_name(image, symbol), function) == 0)
		return true;
	name = hlg_place_name_symbol(image, symbol, true);
	same = name && strcmp(name, function) == 0;
	free(name);
	return same;
}

/* Is the symbol, or one at the same address, called so? */
static bool is_called(const struct hlg_image *image, const struct hlg_symbol *symbol,
		      const char *function)
{
	size_t n;
	const struct hlg_symbol *alias = hlg_image_aliases(image, symbol, &n);

	for (size_t i = 0; i < n; i++)
		if (is_its_name(image, &alias[i], function))
			return true;
	return false;
}

static bool has_function(const struct hlg_space *space, const char *function)
{
	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		for (size_t j = 0; j < image->tab.n_syms; j++)
			if (is_its_name(image, &image->tab.syms[j], function))
				return true;
	}
	return false;
}

int hlg_windows_places_in(struct hlg_windows *w, const struct hlg_space *space,
			  const char *function, struct hlg_err *err)
{
	bool *in = calloc(w->n_places + 1, sizeof(*in));
	bool any = false;
	size_t n = 0;

	if (in && w->check && w->check->suppressed) {
		free(in);
		return hlg_err_set(err, HLG_EINPUT,
				   "--function=%s: the samples do not fit the ELF or its "
				   "base%s%s",
				   function, w->check->unnamed ? ": " : "",
				   w->check->unnamed
					   ? w->check->unnamed
					   : " (give the right one, or --force)");
	}
	if (!in)
		return hlg_err_memory(err, "function");
	for (size_t i = 0; i < w->n_places; i++) {
		const struct hlg_place *place = &w->places[i].place;

		in[i] = (!w->places[i].host && place->symbol &&
			 is_called(place->image, place->symbol, function)) ||
			strcmp(w->places[i].name, function) == 0;
		any |= in[i];
	}
	for (size_t i = 0; i < w->n_rows; i++)
		if (in[w->rows[i].place])
			w->rows[n++] = w->rows[i];
	w->n_rows = n;
	free(in);
	if (any || has_function(space, function))
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--function=%s: no image has such a function (hlguest "
			   "windows --format=text lists those there are)",
			   function);
}
