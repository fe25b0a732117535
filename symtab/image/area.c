// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sweep over the edges of segments and sections: between two edges everything is
 * uniform, so counting what is open there decides the area.
 */
#include "symtab/image/area.h"

#include <stdlib.h>
#include <string.h>

enum {
	LOAD,
	LOAD_EXEC,
	HEADERS,
	CODE,
	DATA,
	N_WHAT
};

struct edge {
	uint64_t at;
	uint32_t section;
	int delta; /* +1 opens, -1 closes */
	int what;
};

struct sweep {
	size_t open[N_WHAT];
	uint32_t section[N_WHAT]; /* opened last */
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->delta != y->delta)
		return x->delta - y->delta;
	return x->section < y->section ? -1 : x->section > y->section;
}

static size_t add_edges(struct edge *edges, size_t n, int what, uint32_t section,
			uint64_t start, uint64_t end)
{
	if (start == end)
		return n;
	edges[n++] = (struct edge){start, section, 1, what};
	edges[n++] = (struct edge){end, section, -1, what};
	return n;
}

/* Where a segment's bytes of the ELF's own headers end. */
static uint64_t find_headers_end(const struct hlg_elf64 *elf, const struct hlg_load *load)
{
	uint64_t headers = elf->headers > load->offset ? elf->headers - load->offset : 0;

	return load->addr + (headers < load->filesz ? headers : load->filesz);
}

static size_t collect_edges(const struct hlg_elf64 *elf, struct edge *edges)
{
	size_t n = 0;

	for (size_t i = 0; i < elf->n_loads; i++) {
		const struct hlg_load *load = &elf->loads[i];

		n = add_edges(edges, n, load->exec ? LOAD_EXEC : LOAD, 0, load->addr,
			      load->end);
		n = add_edges(edges, n, HEADERS, 0, load->addr,
			      find_headers_end(elf, load));
	}
	for (size_t i = 0; i < elf->n_sections; i++)
		n = add_edges(edges, n, elf->sections[i].exec ? CODE : DATA, (uint32_t)i,
			      elf->sections[i].addr, elf->sections[i].end);
	qsort(edges, n, sizeof(*edges), compare_edges);
	return n;
}

/* The area between two edges, by what is open there; false when nothing is loaded. */
static bool classify(const struct sweep *s, struct hlg_area *area)
{
	if (!s->open[LOAD] && !s->open[LOAD_EXEC])
		return false;
	if (s->open[CODE]) {
		area->code = true;
		area->section = s->section[CODE];
	} else if (s->open[DATA]) {
		area->code = false;
		area->section = s->section[DATA];
	} else {
		area->code = s->open[LOAD_EXEC] && !s->open[HEADERS];
		area->section = 0;
	}
	return true;
}

static void append(struct hlg_area *areas, size_t *n, struct hlg_area area)
{
	struct hlg_area *last = *n ? &areas[*n - 1] : NULL;

	if (last && last->end == area.start && last->section == area.section &&
	    last->code == area.code)
		last->end = area.end;
	else
		areas[(*n)++] = area;
}

/* Returns false when executable sections overlap. */
static bool run(const struct edge *edges, size_t n_edges, struct hlg_area *areas,
		size_t *n)
{
	struct sweep s = {{0}, {0}};

	for (size_t i = 0; i < n_edges; i++) {
		struct hlg_area area;

		s.open[edges[i].what] += (size_t)edges[i].delta;
		if (edges[i].delta > 0)
			s.section[edges[i].what] = edges[i].section;
		if (s.open[CODE] > 1)
			return false;
		if (i + 1 == n_edges || edges[i + 1].at == edges[i].at)
			continue;
		area.start = edges[i].at;
		area.end = edges[i + 1].at;
		if (classify(&s, &area))
			append(areas, n, area);
	}
	return true;
}

int hlg_area_build(const struct hlg_elf64 *elf, const char *path, struct hlg_area **areas,
		   size_t *n_areas, struct hlg_err *err)
{
	size_t max = 2 * (2 * elf->n_loads + elf->n_sections);
	struct edge *edges = calloc(max, sizeof(*edges));
	bool ok;

	*n_areas = 0;
	*areas = calloc(max, sizeof(**areas));
	if (!edges || !*areas) {
		free(edges);
		return hlg_err_memory(err, path);
	}
	ok = run(edges, collect_edges(elf, edges), *areas, n_areas);
	free(edges);
	if (!ok)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has executable sections that overlap (the ELF is "
				   "damaged; build or copy it again)",
				   path);
	return 0;
}
