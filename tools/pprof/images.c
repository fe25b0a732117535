// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images out of saved profiles, for who has no ELF: every sampled address has the name it
 * was saved with, and the addresses between two of one name have it, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "tools/pprof/pprof.h"
#include "tools/pprof/saved.h"

/* The address of a sample or a caller, its image's own, and what is there. */
struct point {
	uint32_t build; /* the first image of the build */
	uint64_t addr;
	const char *name;
};

/* Of a saved image. */
struct build {
	uint32_t first; /* the first image of its build */
	bool again;     /* one before it has the same base */
};

struct points {
	struct point *at; /* by build, then address */
	size_t n;
};

/* Of one build: without a build id, of one name and extent. */
static int compare_builds(const struct hlg_saved_image *a,
			  const struct hlg_saved_image *b)
{
	int order = a->extra.map - b->extra.map;

	if (order == 0)
		order = strcmp(a->build_id, b->build_id);
	if (order || a->build_id[0])
		return order;
	order = strcmp(a->path, b->path);
	if (order == 0)
		order = hlg_bsearch_order(a->start - a->extra.bias,
					  b->start - b->extra.bias);
	return order ? order
		     : hlg_bsearch_order(a->limit - a->extra.bias,
					 b->limit - b->extra.bias);
}

static int compare_images(const void *a, const void *b)
{
	const struct hlg_saved_image *x = *(const struct hlg_saved_image *const *)a;
	const struct hlg_saved_image *y = *(const struct hlg_saved_image *const *)b;
	int order = compare_builds(x, y);

	if (order == 0)
		order = hlg_bsearch_order(x->extra.load_base, y->extra.load_base);
	return order ? order : x < y ? -1 : x > y;
}

/* Fills in the builds of n images of one, by base. In whichever lanes they were saved. */
static void number_build(struct build *builds, const struct hlg_saved_image *images,
			 const struct hlg_saved_image *const *order, size_t n)
{
	const struct hlg_saved_image *first = order[0];

	for (size_t i = 1; i < n; i++)
		if (order[i] < first)
			first = order[i];
	for (size_t i = 0; i < n; i++)
		builds[order[i] - images] = (struct build){
			(uint32_t)(first - images),
			i && order[i - 1]->extra.load_base == order[i]->extra.load_base};
}

/* Fills in the build of each image. False without memory. */
static bool find_builds(struct build *builds, const struct hlg_saved *saved)
{
	const struct hlg_saved_image *images = saved->images.at, **order;
	size_t n = saved->images.n;

	order = calloc(n + 1, sizeof(*order));
	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = &images[i];
	qsort(order, n, sizeof(*order), compare_images);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && compare_builds(order[i], order[end]) == 0;
		     end++)
			;
		number_build(builds, images, order + i, end - i);
	}
	free(order);
	return true;
}

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->build != y->build)
		return x->build < y->build ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_point(struct points *points, const struct hlg_saved *saved,
		      const struct build *builds, const struct hlg_saved_frame *frame)
{
	const struct hlg_saved_image *image;
	struct point point;

	if (!frame->image)
		return;
	point = (struct point){builds[frame->image - 1].first,
			       frame->ip - saved->images.at[frame->image - 1].extra.bias,
			       saved->functions.at[frame->function].symbol};
	image = &saved->images.at[point.build];
	if (point.addr >= image->start - image->extra.bias &&
	    point.addr < image->limit - image->extra.bias)
		points->at[points->n++] = point;
}

/* All addresses of samples and callers, of all builds. False without memory. */
static bool collect(struct points *points, const struct hlg_saved *saved,
		    const struct build *builds)
{
	size_t n = saved->cells.n + 1;

	for (size_t i = 0; i < saved->stacks.n; i++)
		n += saved->stacks.at[i].n_frames;
	points->at = calloc(n, sizeof(*points->at));
	if (!points->at)
		return false;
	for (size_t i = 0; i < saved->cells.n; i++)
		add_point(points, saved, builds, &saved->cells.at[i].at);
	for (size_t i = 0; i < saved->stacks.n; i++)
		for (size_t k = 0; k < saved->stacks.at[i].n_frames; k++)
			add_point(points, saved, builds, &saved->stacks.at[i].frames[k]);
	qsort(points->at, points->n, sizeof(*points->at), compare_points);
	return true;
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

/* A symbol for each run of addresses of one name, of n points of one build. */
static int make_symbols(struct hlg_symtab *tab, const struct point *points, size_t n,
			const char *path, struct hlg_err *err)
{
	size_t size = 1, text = 0;

	for (size_t i = 0; i < n; i++)
		size += strlen(points[i].name) + 1;
	*tab = (struct hlg_symtab){.syms = calloc(n + 1, sizeof(*tab->syms)),
				   .names = calloc(size, 1)};
	if (!tab->syms || !tab->names || size > UINT32_MAX || n > HLG_MAX_SYMBOLS)
		return hlg_err_memory(err, path);
	for (size_t i = 0; i < n; i++) {
		const struct point *point = &points[i];

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

static int add_image(struct hlg_space *space, const struct point *points, size_t n,
		     const struct hlg_saved_image *from, struct hlg_err *err)
{
	struct hlg_symtab tab = {0};
	struct hlg_image *image;
	int rc = make_symbols(&tab, points, n, from->path, err);

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

/* Adds an image for each build that has points; made has room for each image saved. */
static int add_builds(struct hlg_space *space, const struct hlg_saved *saved,
		      const struct build *builds, const struct points *points,
		      struct hlg_image **made, struct hlg_err *err)
{
	size_t at = 0, end;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < saved->images.n; i++, at = end) {
		const struct hlg_saved_image *image = &saved->images.at[i];

		for (end = at; end < points->n && points->at[end].build == i; end++)
			;
		if (end > at) {
			rc = add_image(space, points->at + at, end - at, image, err);
			if (rc == 0)
				made[i] = space->images[space->n_images - 1];
		} else if (made[builds[i].first] && !builds[i].again) {
			rc = hlg_image_add_base(made[builds[i].first],
						image->extra.load_base, err);
		}
	}
	return rc;
}

static int add_images(struct hlg_space *space, const struct hlg_saved *saved,
		      struct hlg_err *err)
{
	size_t n = saved->images.n + 1;
	struct build *builds = calloc(n, sizeof(*builds));
	struct hlg_image **made = calloc(n, sizeof(struct hlg_image *));
	struct points points = {0};
	int rc = builds && made && find_builds(builds, saved) &&
				 collect(&points, saved, builds)
			 ? add_builds(space, saved, builds, &points, made, err)
			 : hlg_err_memory(err, "profiles");

	free(points.at);
	free(made);
	free(builds);
	return rc;
}

int hlg_pprof_images(struct hlg_space *space, char *const *paths, size_t n,
		     struct hlg_err *err)
{
	struct hlg_saved saved = HLG_SAVED_INIT;
	int rc = 0;

	/* What they are split by does not matter here. */
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = hlg_pprof_load(&saved, paths[i], NULL, err);
	if (rc == 0)
		rc = add_images(space, &saved, err);
	hlg_saved_finish(&saved);
	return rc;
}
