// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/addresses.h"

#include <stdlib.h>
#include <string.h>

int hlg_page_sampled_compare(const void *a, const void *b)
{
	const struct hlg_page_sampled *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static int compare_hits(const void *a, const void *b)
{
	const struct hlg_hit *x = *(const struct hlg_hit *const *)a,
			     *y = *(const struct hlg_hit *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The addresses of a row; what is in no image is one. */
static void collect_row(struct hlg_page_addresses *a, const struct hlg_report *r,
			const struct hlg_page_offsets *offsets, uint32_t number,
			const struct hlg_hit **hits)
{
	const struct hlg_view *v = &r->all;
	const struct hlg_row *row = &v->rows[number];
	const struct hlg_image *image = r->suppressed ? NULL : row->place.image;

	for (size_t i = 0; i < row->n_hits; i++)
		hits[i] = &v->hits[row->first_hit + i];
	if (image)
		qsort(hits, row->n_hits, sizeof(*hits), compare_hits);
	for (size_t i = 0; i < row->n_hits; i++) {
		if (i == 0 || (image && hits[i]->addr != hits[i - 1]->addr))
			a->all[a->n_all++] = (struct hlg_page_address){
				hlg_page_at(offsets, image, hits[i]->addr), number, 0};
		a->all[a->n_all - 1].count += hlg_count_weigh(v->weight, hits[i]->count);
		a->all_sampled[a->n_sampled++] =
			(struct hlg_page_sampled){hits[i]->ip, (int64_t)a->n_all - 1};
	}
}

bool hlg_page_addresses_collect(struct hlg_page_addresses *a, const struct hlg_report *r,
				const struct hlg_page_offsets *offsets)
{
	const struct hlg_view *v = &r->all;
	size_t n = v->n_hits + v->n_border_hits + 1, unique = 0;
	const struct hlg_hit **hits = calloc(n, sizeof(*hits));

	a->all = calloc(n, sizeof(*a->all));
	a->all_sampled = calloc(n, sizeof(*a->all_sampled));
	a->place = calloc(n, sizeof(*a->place));
	/* A row of which not all are in the list has its start in it, too. */
	a->list = calloc(n + v->n_rows + 1, sizeof(*a->list));
	a->sampled = calloc(n, sizeof(*a->sampled));
	if (!hits || !a->all || !a->all_sampled || !a->place || !a->list || !a->sampled) {
		free(hits);
		return false;
	}
	for (size_t i = 0; i < v->n_rows; i++)
		collect_row(a, r, offsets, (uint32_t)i, hits);
	for (size_t i = 0; i < v->n_borders; i++)
		for (size_t k = 0; k < v->borders[i].n_hits; k++)
			a->all_sampled[a->n_sampled++] = (struct hlg_page_sampled){
				v->hits[v->borders[i].first_hit + k].ip,
				HLG_PAGE_VM_EXITS};
	free(hits);
	if (a->n_sampled)
		qsort(a->all_sampled, a->n_sampled, sizeof(*a->all_sampled),
		      hlg_page_sampled_compare);
	for (size_t i = 0; i < a->n_sampled; i++)
		if (i == 0 || a->all_sampled[i].ip != a->all_sampled[unique - 1].ip)
			a->all_sampled[unique++] = a->all_sampled[i];
	a->n_sampled = unique;
	return true;
}

static int compare_down(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* Which of the first n addresses are the `most` hottest: those above *limit, and of those
 * that have as much the first *equal. False without memory. */
static bool find_limit(const struct hlg_page_address *all, size_t n, size_t most,
		       uint64_t *limit, size_t *equal)
{
	uint64_t *counts = malloc((n + 1) * sizeof(*counts));
	size_t above = 0;

	if (!counts)
		return false;
	for (size_t i = 0; i < n; i++)
		counts[i] = all[i].count;
	if (n)
		qsort(counts, n, sizeof(*counts), compare_down);
	*limit = counts[most - 1];
	while (counts[above] > *limit)
		above++;
	*equal = most - above;
	free(counts);
	return true;
}

/* The addresses [from, to) of one row. start: where it begins. Returns how many of them
 * are not by themselves. */
static size_t fold_row(struct hlg_page_addresses *a, size_t from, size_t to,
		       uint64_t start, uint64_t limit, size_t *equal)
{
	uint32_t others = UINT32_MAX; /* where they are */
	size_t folded = 0;

	for (size_t i = from; i < to; i++) {
		bool kept = a->all[i].count > limit;

		if (a->all[i].count == limit && *equal) {
			--*equal;
			kept = true;
		}
		a->place[i] = kept || a->all[i].at == start ? 0 : 1;
		folded += a->place[i];
	}
	if (folded) {
		others = (uint32_t)a->n;
		a->list[a->n++] = (struct hlg_page_address){start, a->all[from].row, 0};
	}
	for (size_t i = from; i < to; i++) {
		if (a->place[i] || (folded && a->all[i].at == start)) {
			a->place[i] = others;
			a->list[others].count += a->all[i].count;
		} else {
			a->place[i] = (uint32_t)a->n;
			a->list[a->n++] = a->all[i];
		}
	}
	return folded;
}

bool hlg_page_addresses_fold(struct hlg_page_addresses *a, const struct hlg_report *r,
			     const struct hlg_page_offsets *offsets,
			     struct hlg_page_cut *cut)
{
	size_t rows = cut->is.kept_rows, n = 0, equal = SIZE_MAX;
	uint64_t limit = 0, rest = 0;

	a->n = 0;
	while (n < a->n_all && a->all[n].row < rows)
		n++;
	if (cut->addresses < n && !find_limit(a->all, n, cut->addresses, &limit, &equal))
		return false;
	for (size_t from = 0, to; from < n; from = to) {
		const struct hlg_place *place = &r->all.rows[a->all[from].row].place;

		for (to = from; to < n && a->all[to].row == a->all[from].row; to++)
			;
		cut->is.addresses +=
			fold_row(a, from, to,
				 hlg_page_at(offsets, r->suppressed ? NULL : place->image,
					     place->start),
				 limit, &equal);
	}
	cut->is.kept_addresses = a->n;
	for (size_t i = n; i < a->n_all; i++) {
		a->place[i] = (uint32_t)a->n;
		rest += a->all[i].count;
	}
	if (n < a->n_all)
		a->list[a->n++] = (struct hlg_page_address){0, (uint32_t)rows, rest};
	memcpy(a->sampled, a->all_sampled, a->n_sampled * sizeof(*a->sampled));
	for (size_t i = 0; i < a->n_sampled; i++)
		if (a->sampled[i].address != HLG_PAGE_VM_EXITS)
			a->sampled[i].address = a->place[a->sampled[i].address];
	return true;
}

void hlg_page_addresses_finish(struct hlg_page_addresses *a)
{
	free(a->all);
	free(a->all_sampled);
	free(a->list);
	free(a->sampled);
	free(a->place);
}
