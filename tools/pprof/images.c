// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images out of saved profiles, for who has no ELF: every sampled address has the name it
 * was saved with, and the addresses between two of one name have it, too.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/pprof/pprof.h"
#include "tools/pprof/saved.h"

/* A sampled address of an image, its own, and what is there. */
struct point {
	uint64_t addr;
	const char *name;
};

struct points {
	struct point *point;
	size_t n;
};

/* Of one build: without a build id, of one name and extent. */
static bool is_same(const struct hlg_saved_image *a, const struct hlg_saved_image *b)
{
	if (a->extra.map != b->extra.map || strcmp(a->build_id, b->build_id) != 0)
		return false;
	return a->build_id[0] || (strcmp(a->path, b->path) == 0 &&
				  a->start - a->extra.bias == b->start - b->extra.bias &&
				  a->limit - a->extra.bias == b->limit - b->extra.bias);
}

/* All sampled addresses of an image's build, in all profiles; room is for all cells. */
static void collect(struct points *points, const struct hlg_saved *saved, size_t n,
		    const struct hlg_saved_image *image)
{
	uint64_t first = image->start - image->extra.bias,
		 end = image->limit - image->extra.bias;

	points->n = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < saved[i].cells.n; k++) {
			const struct hlg_saved_cell *cell = &saved[i].cells.at[k];
			const struct hlg_saved_image *of;
			uint64_t addr;

			if (!cell->image)
				continue;
			of = &saved[i].images.at[cell->image - 1];
			addr = cell->ip - of->extra.bias;
			if (!is_same(of, image) || addr < first || addr >= end)
				continue;
			points->point[points->n++] = (struct point){
				addr, saved[i].functions.at[cell->function].symbol};
		}
}

static int compare(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Adds a symbol of one address; text has room for its name. */
static void add_symbol(struct hlg_symtab *tab, const struct point *point, size_t *text)
{
	struct hlg_symbol *symbol = &tab->syms[tab->n_syms];

	*symbol = (struct hlg_symbol){.addr = point->addr,
				      .name = (uint32_t)*text,
				      .index = (uint32_t)tab->n_syms,
				      .class = HLG_SYM_FUNCTION};
	*text = (size_t)(stpcpy(tab->names + *text, point->name) + 1 - tab->names);
	tab->n_syms++;
}

/* A symbol for each run of addresses of one name. */
static int make_symbols(struct hlg_symtab *tab, struct points *points, const char *path,
			struct hlg_err *err)
{
	size_t size = 1, text = 0;

	qsort(points->point, points->n, sizeof(*points->point), compare);
	for (size_t i = 0; i < points->n; i++)
		size += strlen(points->point[i].name) + 1;
	*tab = (struct hlg_symtab){.syms = calloc(points->n + 1, sizeof(*tab->syms)),
				   .names = calloc(size, 1)};
	if (!tab->syms || !tab->names || size > UINT32_MAX || points->n > HLG_MAX_SYMBOLS)
		return hlg_err_memory(err, path);
	for (size_t i = 0; i < points->n; i++) {
		const struct point *point = &points->point[i];

		if (i && point->addr == point[-1].addr)
			continue; /* two profiles that disagree: the first word counts */
		if (tab->n_syms == 0 ||
		    strcmp(tab->names + tab->syms[tab->n_syms - 1].name, point->name) !=
			    0)
			add_symbol(tab, point, &text);
		tab->syms[tab->n_syms - 1].end = point->addr + 1;
	}
	return 0;
}

static int add_image(struct hlg_space *space, struct points *points,
		     const struct hlg_saved *saved, size_t n,
		     const struct hlg_saved_image *from, struct hlg_err *err)
{
	struct hlg_symtab tab = {0};
	struct hlg_image *image;
	int rc;

	collect(points, saved, n, from);
	if (points->n == 0)
		return 0;
	rc = make_symbols(&tab, points, from->path, err);
	if (rc < 0) {
		hlg_symbol_finish(&tab);
		return rc;
	}
	rc = hlg_image_make(&image, from->path, &tab, from->start - from->extra.bias,
			    from->limit - from->extra.bias, err);
	if (rc < 0)
		return rc;
	image->map = from->extra.map;
	snprintf(image->elf.build_id, sizeof(image->elf.build_id), "%s", from->build_id);
	rc = hlg_image_set_base(image, from->extra.load_base, HLG_BASE_STATED, err);
	if (rc < 0) {
		hlg_image_destroy(image);
		return rc;
	}
	return hlg_space_add(space, image, err);
}

/* The image of this build that is in the space already, with this base, too. */
static int find_image(const struct hlg_space *space, const struct hlg_saved_image *saved,
		      const struct hlg_saved_image *const *made, bool *found,
		      struct hlg_err *err)
{
	for (size_t i = 0; i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (!is_same(made[i], saved))
			continue;
		*found = true;
		for (size_t k = 0; k < hlg_image_n_bases(image); k++)
			if (hlg_image_base(image, k).bias == saved->extra.bias)
				return 0;
		return hlg_image_add_base(image, saved->extra.load_base, err);
	}
	*found = false;
	return 0;
}

static int add_images(struct hlg_space *space, const struct hlg_saved *saved, size_t n,
		      struct points *points, const struct hlg_saved_image **made,
		      struct hlg_err *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < saved[i].images.n; k++) {
			const struct hlg_saved_image *image = &saved[i].images.at[k];
			bool found;
			int rc = find_image(space, image, made, &found, err);

			if (rc == 0 && !found) {
				made[space->n_images] = image;
				rc = add_image(space, points, saved, n, image, err);
			}
			if (rc < 0)
				return rc;
		}
	return 0;
}

/* *saved becomes the profile at path. */
static int load(struct hlg_saved *saved, const char *path, struct hlg_err *err)
{
	int rc;

	*saved = (struct hlg_saved)HLG_SAVED_INIT;
	rc = hlg_pprof_load(saved, path, NULL, err);
	if (rc == 0 && !hlg_pprof_resolve(saved))
		rc = hlg_err_memory(err, hlg_pprof_name(path));
	return rc;
}

int hlg_pprof_images(struct hlg_space *space, char *const *paths, size_t n,
		     struct hlg_err *err)
{
	struct hlg_saved *saved = calloc(n + 1, sizeof(*saved));
	const struct hlg_saved_image **made = NULL;
	struct points points = {0};
	size_t cells = 0, images = 0;
	int rc = saved ? 0 : hlg_err_memory(err, "profiles");

	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = load(&saved[i], paths[i], err);
		cells += saved[i].cells.n;
		images += saved[i].images.n;
	}
	if (rc == 0) {
		points.point = calloc(cells + 1, sizeof(*points.point));
		made = calloc(images + 1, sizeof(*made));
		rc = points.point && made
			     ? add_images(space, saved, n, &points, made, err)
			     : hlg_err_memory(err, "profiles");
	}
	for (size_t i = 0; saved && i < n; i++)
		hlg_saved_finish(&saved[i]);
	free(saved);
	free(points.point);
	free(made);
	return rc;
}
