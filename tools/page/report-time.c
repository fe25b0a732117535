// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/report-time.h"

#include <stdlib.h>

#include "filter/stacks/tree.h"
#include "symtab/unique.h"

/* What ran, where others have an address. */
enum {
	GUEST = 0,
	HOST_USER = -1,
	HOST_KERNEL = -2,
	OTHERS = -3
};

/* Where slices stand in the page: those of each recording behind those of the one before
 * it. Those by address and by stack may be longer than those by thread. */
struct layout {
	const struct hlg_slices *fine; /* by thread: its spans are all of time */
	uint64_t *at, *coarse_at;      /* of each span: where its first slice stands */
	uint64_t n, n_coarse;
	unsigned more; /* times that the longer ones were doubled more often */
};

struct writer {
	struct hlg_page_data *d;
	const struct hlg_report *r;
	const struct hlg_page_sampled *sampled;
	size_t n_sampled;
	const uint32_t *ends;
	struct hlg_page_cut *cut;
	size_t *begins;
	struct layout layout;
	int32_t *tids; /* all threads, sorted, each once */
	size_t n_tids;
};

/* What is written of an entry. */
struct item {
	uint64_t at; /* the slice, as it stands in the page */
	int64_t what;
	uint64_t thread;
	uint64_t count;
};

bool hlg_page_time_has(const struct hlg_report *r, const char **why)
{
	const struct hlg_slices *s = &r->profile->by_thread;

	*why = s->n == 0 ? "The samples have no times." : NULL;
	return !*why;
}

static bool is_mark(const struct hlg_slices_entry *entry)
{
	return entry->series >= HLG_SLICES_EXITS;
}

/* Where slices stand */

/* How often slices are doubled until each recording is in one. */
static unsigned most_doubled(const struct hlg_slices *s)
{
	unsigned most = 0;

	for (uint32_t i = 0; i < s->n_spans; i++)
		while (s->spans[i].last >> most) /* of 40 bits */
			most++;
	return most;
}

/* longer: how much more the longer ones are doubled. */
static bool lay_out(struct layout *l, const struct hlg_profile *profile, unsigned longer)
{
	const struct hlg_slices *fine = &profile->by_thread;
	unsigned most = most_doubled(fine);

	l->fine = fine;
	l->more = profile->by_address.doubled - fine->doubled; /* never less than 0 */
	if (l->more < most)
		l->more = longer < most - l->more ? l->more + longer : most;
	l->at = calloc((size_t)fine->n_spans + 1, sizeof(*l->at));
	l->coarse_at = calloc((size_t)fine->n_spans + 1, sizeof(*l->coarse_at));
	for (uint32_t i = 0; l->at && l->coarse_at && i < fine->n_spans; i++) {
		const struct hlg_slices_span *span = &fine->spans[i];

		l->at[i] = l->n;
		l->coarse_at[i] = l->n_coarse;
		l->n += span->last - span->first + 1;
		l->n_coarse += (span->last >> l->more) - (span->first >> l->more) + 1;
	}
	return l->at && l->coarse_at;
}

static uint32_t span_of(const struct hlg_slices *s, uint32_t recording)
{
	uint32_t from = 0, to = s->n_spans;

	while (to - from > 1) {
		uint32_t middle = from + (to - from) / 2;

		if (s->spans[middle].recording <= recording)
			from = middle;
		else
			to = middle;
	}
	return from;
}

/* What lies outside of all that ran stands at its end. */
static uint64_t place_of(const struct layout *l, const struct hlg_slices_entry *entry,
			 bool coarse)
{
	uint32_t i = span_of(l->fine, entry->recording);
	unsigned more = coarse ? l->more : 0;
	uint64_t first = l->fine->spans[i].first >> more;
	uint64_t last = l->fine->spans[i].last >> more, slice = entry->slice;

	slice = slice < first ? first : slice > last ? last : slice;
	return (coarse ? l->coarse_at : l->at)[i] + slice - first;
}

/* Where each of the longer slices begins, and where all end. */
static void put_begins(struct writer *w)
{
	const struct layout *l = &w->layout;
	uint64_t before = 0;

	hlg_page_data_open(w->d, "begins", '[');
	for (uint32_t i = 0; i < l->fine->n_spans; i++) {
		const struct hlg_slices_span *span = &l->fine->spans[i];

		for (uint64_t s = span->first >> l->more; s <= span->last >> l->more;
		     s++) {
			uint64_t first = s << l->more;
			uint64_t at = first > span->first ? first - span->first : 0;

			hlg_page_data_number(w->d, NULL, l->at[i] + at - before);
			before = l->at[i] + at;
		}
	}
	hlg_page_data_number(w->d, NULL, l->n - before);
	hlg_page_data_close(w->d, ']');
}

/* What entries are of: each sets what and thread; false: of nothing shown. */

static int compare_tids(const void *a, const void *b)
{
	return *(const int32_t *)a < *(const int32_t *)b
		       ? -1
		       : *(const int32_t *)a > *(const int32_t *)b;
}

static bool is_by_thread(const struct writer *w, const struct hlg_slices_entry *entry,
			 struct item *item)
{
	const int32_t *tid =
		bsearch(&entry->tid, w->tids, w->n_tids, sizeof(*tid), compare_tids);

	item->thread = tid ? (uint64_t)(tid - w->tids) : 0;
	switch ((enum hlg_state)(entry->series - HLG_SLICES_STATE)) {
	case HLG_GUEST_KERNEL:
	case HLG_GUEST_USER:
		item->what = GUEST;
		break;
	case HLG_HOST_USER:
		item->what = HOST_USER;
		break;
	case HLG_HOST_KERNEL:
		item->what = HOST_KERNEL;
		break;
	default:
		item->what = OTHERS;
	}
	return !is_mark(entry);
}

static bool is_by_address(const struct writer *w, const struct hlg_slices_entry *entry,
			  struct item *item)
{
	const struct hlg_page_sampled key = {entry->ip, 0}, *found;

	found = w->n_sampled ? bsearch(&key, w->sampled, w->n_sampled, sizeof(key),
				       hlg_page_sampled_compare)
			     : NULL;
	item->what = found ? found->address : HLG_PAGE_VM_EXITS;
	return item->what >= 0;
}

static bool is_by_stack(const struct writer *w, const struct hlg_slices_entry *entry,
			struct item *item)
{
	item->what = w->ends[entry->series];
	return w->ends[entry->series] != HLG_NO_NODE;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void add_item(void *to, const void *from)
{
	struct item *item = to;

	item->count += ((const struct item *)from)->count;
}

/* In order, each once; to be freed. NULL without memory. */
static struct item *collect(const struct writer *w, const struct hlg_slices *s,
			    bool coarse,
			    bool (*is)(const struct writer *,
				       const struct hlg_slices_entry *, struct item *),
			    size_t *n)
{
	struct item *items = malloc(((size_t)s->n + 1) * sizeof(*items));
	size_t all = 0;

	for (uint32_t i = 0; items && i < s->n; i++) {
		const struct hlg_slices_entry *from = &s->entries[i];
		struct item item = {
			.at = place_of(&w->layout, from, coarse),
			.count = hlg_count_weigh(w->r->all.weight, from->count)};

		if (is(w, from, &item))
			items[all++] = item;
	}
	*n = HLG_UNIQUE(items, all, compare_items, add_item);
	return items;
}

static void put_items(struct writer *w, const struct item *item, size_t n, bool threads)
{
	HLG_PAGE_DATA_LIST(w->d, "when", n, number,
			   item[i].at - (i ? item[i - 1].at : 0));
	HLG_PAGE_DATA_LIST(w->d, "what", n, signed,
			   item[i].what - (i && !threads ? item[i - 1].what : 0));
	if (threads)
		HLG_PAGE_DATA_LIST(w->d, "thread", n, number, item[i].thread);
	HLG_PAGE_DATA_LIST(w->d, "count", n, number, item[i].count);
}

/* The tables */

/* As report-data.h numbers them. */
static uint64_t mark_of(const struct hlg_slices_entry *entry)
{
	return entry->series == HLG_SLICES_LOST    ? 0
	       : entry->series == HLG_SLICES_EXITS ? 1
						   : 2;
}

static void put_marks(struct writer *w)
{
	static const char *const keys[] = {"kind", "when", "count"};
	const struct hlg_slices *s = &w->r->profile->by_thread;

	hlg_page_data_open(w->d, "marks", '{');
	for (int k = 0; k < 3; k++) {
		uint64_t before = 0;

		hlg_page_data_open(w->d, keys[k], '[');
		for (uint32_t i = 0; i < s->n; i++) {
			const struct hlg_slices_entry *e = &s->entries[i];
			uint64_t at;

			if (!is_mark(e))
				continue;
			at = place_of(&w->layout, e, false);
			hlg_page_data_number(w->d, NULL,
					     k == 0   ? mark_of(e)
					     : k == 1 ? at - before
						      : e->count.samples);
			before = at;
		}
		hlg_page_data_close(w->d, ']');
	}
	hlg_page_data_close(w->d, '}');
}

/* The recordings that have any time. */
static void put_recordings(struct writer *w)
{
	const struct hlg_slices *s = &w->r->profile->by_thread;
	uint64_t length = hlg_slices_length(s);

	hlg_page_data_open(w->d, "recordings", '{');
	HLG_PAGE_DATA_LIST(w->d, "at", s->n_spans, number, w->layout.at[i]);
	HLG_PAGE_DATA_LIST(w->d, "first", s->n_spans, signed,
			   s->spans[i].began ? (int64_t)(s->spans[i].first * length -
							 s->spans[i].began)
					     : 0);
	HLG_PAGE_DATA_LIST(w->d, "path", s->n_spans, text,
			   s->spans[i].recording < w->r->n_files
				   ? w->r->files[s->spans[i].recording].path
				   : "");
	hlg_page_data_close(w->d, '}');
}

static bool collect_tids(struct writer *w)
{
	const struct hlg_slices *s = &w->r->profile->by_thread;
	size_t all = 0;

	w->tids = calloc((size_t)s->n + 1, sizeof(*w->tids));
	for (uint32_t i = 0; w->tids && i < s->n; i++)
		if (!is_mark(&s->entries[i]))
			w->tids[all++] = s->entries[i].tid;
	if (all)
		qsort(w->tids, all, sizeof(*w->tids), compare_tids);
	for (size_t i = 0; i < all; i++)
		if (i == 0 || w->tids[i] != w->tids[w->n_tids - 1])
			w->tids[w->n_tids++] = w->tids[i];
	return w->tids;
}

static bool put_time(struct writer *w)
{
	const struct hlg_slices *s = &w->r->profile->by_thread;
	size_t n;
	struct item *items = collect(w, s, false, is_by_thread, &n);

	if (!items)
		return false;
	hlg_page_data_open(w->d, "time", '{');
	hlg_page_data_number(w->d, "slice", hlg_slices_length(s));
	hlg_page_data_number(w->d, "n", w->layout.n);
	put_recordings(w);
	put_items(w, items, n, true);
	hlg_page_data_close(w->d, '}');
	put_marks(w);
	hlg_page_data_open(w->d, "threads", '{');
	HLG_PAGE_DATA_LIST(w->d, "tid", w->n_tids, signed, w->tids[i]);
	hlg_page_data_close(w->d, '}');
	free(items);
	return true;
}

static bool put_where(struct writer *w)
{
	size_t n;
	struct item *items =
		collect(w, &w->r->profile->by_address, true, is_by_address, &n);

	if (!items)
		return false;
	hlg_page_data_open(w->d, "where", '{');
	put_begins(w);
	put_items(w, items, n, false);
	hlg_page_data_close(w->d, '}');
	free(items);
	return true;
}

/* Only where they can be had as exactly as what is by address. */
static bool put_stacks(struct writer *w)
{
	const struct hlg_slices *s = w->ends ? &w->r->stacks->slices : NULL;
	size_t n;
	struct item *items;

	if (!s || s->lost || !s->n || w->cut->stacks)
		return true;
	items = collect(w, s, true, is_by_stack, &n);
	if (!items)
		return false;
	hlg_page_data_open(w->d, "stacks", '{');
	put_items(w, items, n, false);
	hlg_page_data_close(w->d, '}');
	free(items);
	return true;
}

/* Of what was cut. */
static void tell(const struct writer *w)
{
	const struct layout *l = &w->layout;

	w->cut->is.longest = l->n_coarse <= l->fine->n_spans;
	if (w->cut->longer)
		w->cut->is.slice = hlg_slices_length(l->fine) << l->more;
}

bool hlg_page_time_put(struct hlg_page_data *data, const struct hlg_page_time *time)
{
	struct writer w = {.d = data,
			   .r = time->report,
			   .sampled = time->sampled,
			   .n_sampled = time->n,
			   .ends = time->ends,
			   .cut = time->cut,
			   .begins = time->begins};
	const char *why;
	bool ok;

	if (!hlg_page_time_has(w.r, &why))
		return true;
	ok = lay_out(&w.layout, w.r->profile, w.cut->longer) && collect_tids(&w) &&
	     put_time(&w);
	w.begins[HLG_PAGE_WHERE] = hlg_page_data_size(data);
	ok = ok && put_where(&w);
	w.begins[HLG_PAGE_STACKS] = hlg_page_data_size(data);
	ok = ok && put_stacks(&w);
	if (ok)
		tell(&w);
	free(w.layout.at);
	free(w.layout.coarse_at);
	free(w.tids);
	return ok;
}
