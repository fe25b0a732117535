// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/host.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

struct search {
	const struct hlg_host *host;
	uint32_t series;
	const char *dso, *comm;
};

static bool same(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct hlg_host_row *row = &search->host->rows[number];

	return row->series == search->series && strcmp(row->comm, search->comm) == 0 &&
	       strcmp(row->dso, search->dso) == 0;
}

static struct hlg_host_row *find_row(struct hlg_host *host, uint32_t series,
				     const char *dso, const char *comm)
{
	const struct search search = {host, series, dso, comm};
	uint64_t hash = hlg_hash_text(
		hlg_hash_text(hlg_hash_word(HLG_HASH_SEED, series), dso), comm);
	uint32_t known = hlg_index_find(&host->index, hash, same, &search);
	struct hlg_host_row row = {.series = series};

	if (known != HLG_INDEX_NONE)
		return &host->rows[known];
	row.dso = strdup(dso);
	row.comm = strdup(comm);
	if (!row.dso || !row.comm || !HLG_GROW(host->rows, host->n_rows) ||
	    !hlg_index_add(&host->index, hash, host->n_rows)) {
		free(row.dso);
		free(row.comm);
		return NULL;
	}
	host->rows[host->n_rows] = row;
	return &host->rows[host->n_rows++];
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

static bool is_traced(const struct hlg_profile *profile, const struct hlg_host_row *row)
{
	return profile->events[profile->series[row->series].event].kind ==
	       HLG_EVENT_TRACEPOINT;
}

static int compare_rows(const void *a, const void *b, void *order)
{
	const struct hlg_host_row *x = a, *y = b;
	const struct order *o = order;
	bool tx = is_traced(o->profile, x), ty = is_traced(o->profile, y);
	uint64_t wx = hlg_count_weigh(o->weight, x->count);
	uint64_t wy = hlg_count_weigh(o->weight, y->count);
	int rc;

	if (tx != ty)
		return tx ? 1 : -1;
	if (wx != wy)
		return wx > wy ? -1 : 1;
	rc = strcmp(x->comm, y->comm);
	if (rc == 0)
		rc = strcmp(x->dso, y->dso);
	return rc ? rc : hlg_profile_compare_series(o->profile, x->series, y->series);
}

uint32_t hlg_host_sort(struct hlg_host *host, const struct hlg_profile *profile,
		       enum hlg_weight weight)
{
	struct order order = {profile, weight};
	uint32_t n = 0;

	if (host->n_rows)
		qsort_r(host->rows, host->n_rows, sizeof(*host->rows), compare_rows,
			&order);
	while (n < host->n_rows && !is_traced(profile, &host->rows[n]))
		n++;
	return n;
}

void hlg_host_finish(struct hlg_host *host)
{
	for (size_t i = 0; i < host->n_rows; i++) {
		free(host->rows[i].dso);
		free(host->rows[i].comm);
	}
	free(host->rows);
	hlg_index_finish(&host->index);
	memset(host, 0, sizeof(*host));
}
