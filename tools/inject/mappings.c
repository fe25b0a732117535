// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/mappings.h"

#include <stdlib.h>

#include "symtab/grow.h"
#include "symtab/unique.h"

static int compare(const void *a, const void *b)
{
	const struct hlg_mapping *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->bias != y->bias)
		return x->bias < y->bias ? -1 : 1;
	return x->load < y->load ? -1 : x->load > y->load;
}

static void sort(struct hlg_mappings *m)
{
	m->n = HLG_UNIQUE(m->at, m->n, compare, NULL);
}

/* False without memory, or room for more; hits are many, mappings few. */
static bool add(struct hlg_mappings *m, struct hlg_mapping mapping)
{
	if (m->n >= m->limit) {
		sort(m);
		m->limit = 2 * m->n + 4096;
		if (m->n > HLG_MAPPINGS_MAX)
			return false;
	}
	if (!HLG_GROW(m->at, m->n))
		return false;
	m->at[m->n++] = mapping;
	return true;
}

/*
 * All that hold code, once for a run of hits; and where the hit itself is. False without
 * memory, or room for them.
 */
static bool add_hit(struct hlg_mappings *m, const struct hlg_elf64 *elf,
		    struct hlg_mapping mapping, uint64_t addr, bool first)
{
	for (uint32_t i = 0; i < elf->n_loads; i++) {
		const struct hlg_load *load = &elf->loads[i];

		mapping.load = i;
		if (load->exec ? !first : addr < load->addr || addr >= load->end)
			continue;
		if (!add(m, mapping))
			return false;
	}
	return true;
}

/* Is what perf shows at an image's own address to be from its companion? */
static void see(struct hlg_mappings *m, const struct hlg_units *units, uint32_t image,
		uint64_t addr)
{
	struct hlg_unit unit;

	if (!hlg_companion_unit_find(&units[image], addr, &unit) || !unit.plain)
		m->companion[image] = true;
}

static bool add_row(struct hlg_mappings *m, const struct hlg_report *r,
		    const struct hlg_units *units, const int32_t *pid,
		    const struct hlg_row *row)
{
	uint32_t image = (uint32_t)row->place.image->number;
	const struct hlg_elf64 *elf = &row->place.image->elf;
	struct hlg_mapping last = {0};

	for (size_t i = 0; i < row->n_hits; i++) {
		const struct hlg_hit *hit = &r->all.hits[row->first_hit + i];
		struct hlg_mapping mapping = {
			.pid = pid ? *pid : r->profile->series[hit->series].pid,
			.image = image,
			.bias = hit->ip - hit->addr,
		};

		see(m, units, image, hit->addr);
		if (!add_hit(m, elf, mapping, hit->addr,
			     i == 0 || compare(&last, &mapping) != 0))
			return false;
		last = mapping;
	}
	return true;
}

/* Callers, too: perf names them as it does samples. */
static bool add_callers(struct hlg_mappings *m, const struct hlg_report *r,
			const struct hlg_units *units, const int32_t *pid,
			const struct hlg_paths *paths)
{
	struct hlg_mapping last = {0};

	for (size_t i = 0; i < paths->n; i++) {
		const struct hlg_path *path = &paths->paths[i];

		for (size_t k = 1; k < path->n; k++) {
			uint64_t ip = paths->frames[path->first + k].ip;
			struct hlg_mapping mapping = {
				.pid = pid ? *pid : r->profile->series[path->series].pid};
			struct hlg_place place;

			hlg_space_lookup(r->space, ip, &place);
			if (!place.image)
				continue; /* or a note, which has no address */
			mapping.image = (uint32_t)place.image->number;
			mapping.bias = ip - place.addr;
			see(m, units, mapping.image, place.addr);
			if (!add_hit(m, &place.image->elf, mapping, place.addr,
				     compare(&last, &mapping) != 0))
				return false;
			last = mapping;
		}
	}
	return true;
}

static int too_many(const char *path, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: its guests would map more than %zu pieces of the "
			   "images (select fewer processes, or link with fewer segments)",
			   path, HLG_MAPPINGS_MAX);
}

int hlg_mappings_build(struct hlg_mappings *m, const struct hlg_report *report,
		       const struct hlg_units *units, const int32_t *pid,
		       const char *path, struct hlg_err *err)
{
	struct hlg_paths paths;
	int rc;

	*m = (struct hlg_mappings){0};
	m->companion = calloc(report->space->n_images + 1, sizeof(*m->companion));
	if (!m->companion)
		return hlg_err_memory(err, "images");
	for (size_t i = 0; i < report->all.n_rows; i++) {
		const struct hlg_row *row = &report->all.rows[i];

		if (row->place.image && !add_row(m, report, units, pid, row))
			return m->n > HLG_MAPPINGS_MAX ? too_many(path, err)
						       : hlg_err_memory(err, "images");
	}
	rc = hlg_paths_build(&paths, report, &report->all, err);
	if (rc == 0 && !add_callers(m, report, units, pid, &paths))
		rc = m->n > HLG_MAPPINGS_MAX ? too_many(path, err)
					     : hlg_err_memory(err, "images");
	hlg_paths_finish(&paths);
	if (rc < 0)
		return rc;
	sort(m);
	return m->n > HLG_MAPPINGS_MAX ? too_many(path, err) : 0;
}

void hlg_mappings_finish(struct hlg_mappings *m)
{
	free(m->at);
	free(m->companion);
}
