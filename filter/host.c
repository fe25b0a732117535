// SPDX-License-Identifier: GPL-2.0-only
#include "host.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash_text(uint64_t h, const char *s)
{
	do
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	while (*s++);
	return h;
}

static size_t find_slot(const struct hlg_host *host, uint32_t series, const char *dso,
			const char *comm)
{
	uint64_t h =
		hash_text(hash_text(UINT64_C(0xcbf29ce484222325) ^ series, dso), comm);
	size_t mask = host->n_index - 1, i = (h ^ h >> 32) & mask;

	for (; host->index[i]; i = (i + 1) & mask) {
		const struct hlg_host_row *row = &host->rows[host->index[i] - 1];

		if (row->series == series && strcmp(row->comm, comm) == 0 &&
		    strcmp(row->dso, dso) == 0)
			break;
	}
	return i;
}

static bool grow(struct hlg_host *host)
{
	size_t room = host->room ? 2 * host->room : 256;
	struct hlg_host_row *rows = reallocarray(host->rows, room, sizeof(*rows));
	uint32_t *index;

	if (!rows)
		return false;
	host->rows = rows;
	index = calloc(2 * room, sizeof(*index));
	if (!index)
		return false;
	free(host->index);
	host->index = index;
	host->n_index = 2 * room;
	host->room = room;
	for (size_t i = 0; i < host->n_rows; i++)
		index[find_slot(host, rows[i].series, rows[i].dso, rows[i].comm)] =
			(uint32_t)i + 1;
	return true;
}

static struct hlg_host_row *find_row(struct hlg_host *host, uint32_t series,
				     const char *dso, const char *comm)
{
	struct hlg_host_row *row;
	size_t slot;

	if (host->n_rows == host->room && !grow(host))
		return NULL;
	slot = find_slot(host, series, dso, comm);
	if (host->index[slot])
		return &host->rows[host->index[slot] - 1];
	row = &host->rows[host->n_rows];
	*row = (struct hlg_host_row){series, strdup(dso), strdup(comm), {0, 0}};
	if (!row->dso || !row->comm) {
		free(row->dso);
		free(row->comm);
		return NULL;
	}
	host->index[slot] = (uint32_t)++host->n_rows;
	return row;
}

void hlg_host_add(struct hlg_host *host, uint32_t series, const char *dso,
		  const char *comm, uint64_t period)
{
	struct hlg_host_row *row = NULL;

	if (series != HLG_NO_SERIES)
		row = find_row(host, series, dso ? dso : "[unknown]",
			       comm ? comm : "[unknown]");
	hlg_count_add(row ? &row->count : &host->unnamed, (struct hlg_count){1, period});
}

void hlg_host_merge(struct hlg_host *host, struct hlg_profile *profile,
		    const struct hlg_host *from, const struct hlg_profile *from_profile)
{
	for (size_t i = 0; i < from->n_rows; i++) {
		const struct hlg_host_row *row = &from->rows[i];
		uint32_t series = hlg_profile_map(profile, from_profile, row->series);
		struct hlg_host_row *to = NULL;

		if (series != HLG_NO_SERIES)
			to = find_row(host, series, row->dso, row->comm);
		hlg_count_add(to ? &to->count : &host->unnamed, row->count);
	}
	hlg_count_add(&host->unnamed, from->unnamed);
}

struct order {
	const struct hlg_profile *profile;
	enum hlg_weight weight;
};

static int compare_rows(const void *a, const void *b, void *order)
{
	const struct hlg_host_row *x = a, *y = b;
	const struct order *o = order;
	uint64_t wx =
		o->weight == HLG_WEIGHT_SAMPLES ? x->count.samples : x->count.period;
	uint64_t wy =
		o->weight == HLG_WEIGHT_SAMPLES ? y->count.samples : y->count.period;
	int rc;

	if (wx != wy)
		return wx > wy ? -1 : 1;
	rc = strcmp(x->comm, y->comm);
	if (rc == 0)
		rc = strcmp(x->dso, y->dso);
	return rc ? rc : hlg_profile_compare_series(o->profile, x->series, y->series);
}

void hlg_host_sort(struct hlg_host *host, const struct hlg_profile *profile,
		   enum hlg_weight weight)
{
	struct order order = {profile, weight};

	if (host->n_rows)
		qsort_r(host->rows, host->n_rows, sizeof(*host->rows), compare_rows,
			&order);
}

void hlg_host_finish(struct hlg_host *host)
{
	for (size_t i = 0; i < host->n_rows; i++) {
		free(host->rows[i].dso);
		free(host->rows[i].comm);
	}
	free(host->rows);
	free(host->index);
	memset(host, 0, sizeof(*host));
}
