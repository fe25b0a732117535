// SPDX-License-Identifier: GPL-2.0-only
/* From a saved profile to what was counted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/image/lane.h"
#include "tools/pprof/pprof.h"
#include "tools/pprof/saved.h"
#include "tools/pprof/shifts.h"

/* From here on: the image that ends last of those that begin here or before. */
struct reach {
	uint64_t start;
	uint32_t image;
};

struct loader {
	struct hlg_saved saved;
	const char *path; /* as messages have it */
	const struct hlg_space *space;
	struct hlg_profile *profile;
	struct hlg_stacks *stacks;       /* or NULL */
	struct hlg_shifts_image *shifts; /* of each image */
	struct reach *reach;             /* by start; none if no image moves */
	size_t n_reach;
	uint32_t *events;  /* of each event: its number in the profile */
	uint64_t *callers; /* room for those of any stack */
	uint32_t *series;  /* of each cell: its number in the profile, if any */
	struct hlg_saved_cell **by_key; /* room for all */
	uint32_t *first;                /* of each cell: the one that has its moments */
	struct hlg_err *err;
};

/* by= and the selection need labels; times are of some samples only. */
static int check_keys(struct loader *l)
{
	const struct hlg_options *o = l->profile->options;
	const bool selects[] = {o->pid.n != 0, o->tid.n != 0, o->cpu.n != 0,
				o->sandbox.n != 0};

	if (o->start != 0 || o->stop != UINT64_MAX)
		return hlg_err_set(l->err, HLG_EINPUT,
				   "%s: --time cannot select from a saved profile, which "
				   "has no times (use --time when you save it)",
				   l->path);
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++) {
		const char *key = hlg_saved_key_names[i];

		if ((selects[i] || HLG_SAVED_BY(o->by) >> i & 1) &&
		    !(l->saved.extra.by >> i & 1))
			return hlg_err_set(
				l->err, HLG_EINPUT,
				"%s: --%s%s needs the %s of each sample, which was not "
				"saved (save it again with --by=%s)",
				l->path, selects[i] ? "" : "by=", key, key, key);
	}
	return 0;
}

/* What recordings told of the image's build. */
static void load_ran(struct loader *l, const struct hlg_image *here,
		     const struct hlg_saved_image *saved)
{
	for (int i = 0; i < HLG_N_IDENTITIES; i++)
		if (saved->identities >> i & 1)
			hlg_rans_add(&l->profile->ran, here->number, (enum hlg_identity)i,
				     saved->ran_file, saved->ran_id);
}

static void load_rans(struct loader *l)
{
	for (size_t i = 0; i < l->saved.images.n; i++)
		if (l->shifts[i].here)
			load_ran(l, l->shifts[i].here, &l->saved.images.at[i]);
}

static int find_events(struct loader *l)
{
	for (size_t i = 0; i < l->saved.events.n; i++) {
		const Pprof__Extra__Event *event = &l->saved.events.at[i];

		l->events[i] =
			hlg_profile_event(l->profile, event->name, event->precise_ip);
		if (l->events[i] == HLG_NO_SERIES)
			return hlg_err_memory(l->err, l->path);
		hlg_profile_describe(l->profile, l->events[i],
				     (enum hlg_event_kind)event->kind, event->member);
	}
	return 0;
}

static struct hlg_sample sample_of(const struct loader *l,
				   const struct hlg_saved_key *key)
{
	return (struct hlg_sample){.time = HLG_NO_TIME,
				   .pid = key->part[0],
				   .tid = key->part[1],
				   .cpu = key->part[2],
				   .sandbox =
					   key->part[3] > 0 ? (uint32_t)key->part[3] : 0,
				   .event = l->events[key->event]};
}

/* The host's half. What stands below all of it is as it was saved, if it is wanted. */
static uint32_t host_of(struct loader *l, const struct hlg_saved_stack *stack)
{
	uint32_t node = HLG_TREE_ROOT;

	for (size_t i = 0; i < stack->n_host; i++) {
		enum hlg_frame kind = (enum hlg_frame)stack->host[i].kind;

		if (kind != HLG_FRAME_GROUP ||
		    l->stacks->roots & (HLG_ROOT_COMM | HLG_ROOT_TID))
			node = hlg_tree_child(
				&l->stacks->tree, node, kind,
				l->saved.functions.at[stack->host[i].function].name);
	}
	return node;
}

static int compare_by_key(const void *a, const void *b)
{
	const struct hlg_saved_cell *const *x = a, *const *y = b;

	return hlg_saved_compare_keys(&(*x)->key, &(*y)->key);
}

/* Where a cell lies now. */
static uint64_t ip_of(const struct loader *l, const struct hlg_saved_cell *cell)
{
	return cell->at.ip + (cell->at.image ? l->shifts[cell->at.image - 1].by : 0);
}

static int compare_series(const void *a, const void *b)
{
	struct hlg_saved_key key = hlg_saved_series_key(b);

	return hlg_saved_compare_keys(a, &key);
}

static hlg_u128 squares_of(const struct hlg_saved *saved, const struct hlg_saved_key *key)
{
	const Pprof__Extra__Series *found =
		saved->series.n ? bsearch(key, saved->series.at, saved->series.n,
					  sizeof(*found), compare_series)
				: NULL;

	return found ? (hlg_u128)found->squares_high << 64 | found->squares_low : 0;
}

static int compare_reach(const void *a, const void *b)
{
	const struct reach *x = a, *y = b;
	int order = hlg_bsearch_order(x->start, y->start);

	return order ? order : hlg_bsearch_order(x->image, y->image);
}

/* Where return addresses find their image. */
static int find_reach(struct loader *l)
{
	const struct hlg_saved_image *images = l->saved.images.at;
	size_t n = l->saved.images.n;
	bool moves = false;

	for (size_t i = 0; i < n; i++)
		moves |= l->shifts[i].by != 0;
	if (!moves || !l->stacks)
		return 0;
	l->reach = calloc(n, sizeof(*l->reach));
	if (!l->reach)
		return hlg_err_memory(l->err, l->path);
	for (size_t i = 0; i < n; i++)
		l->reach[i] = (struct reach){images[i].start, (uint32_t)i};
	qsort(l->reach, n, sizeof(*l->reach), compare_reach);
	for (size_t i = 1; i < n; i++)
		if (images[l->reach[i - 1].image].limit >=
		    images[l->reach[i].image].limit)
			l->reach[i].image = l->reach[i - 1].image;
	l->n_reach = n;
	return 0;
}

/* A return address as it is with the images where they lie now. move: of its lane. Where
 * images overlap it is of the one that the sample is of, or that ends last. */
static uint64_t shifted(const struct loader *l, const struct hlg_saved_cell *cell,
			uint64_t caller, uint64_t move)
{
	const struct hlg_saved_image *images = l->saved.images.at;
	uint64_t call = caller - 1 + move;
	size_t own = cell->at.image ? cell->at.image - 1 : l->saved.images.n;
	size_t n;

	if (cell->at.image && call >= images[own].start && call < images[own].limit)
		return caller + l->shifts[own].by;
	n = HLG_BSEARCH_UPTO(l->reach, l->n_reach, start, call);
	if (n && call < images[l->reach[n - 1].image].limit)
		return caller + l->shifts[l->reach[n - 1].image].by;
	return caller;
}

/* Of a cell that has one, and was counted in a series; ip is where it lies now. */
static void add_stack(struct loader *l, const struct hlg_saved_cell *cell,
		      uint32_t series, uint64_t ip)
{
	const struct hlg_saved_stack *from = &l->saved.stacks.at[cell->stack - 1];
	uint64_t move = cell->at.ip - hlg_lane_ip(cell->at.ip);

	for (size_t i = 0; i < from->n_callers; i++)
		l->callers[i] = shifted(l, cell, from->callers[i], move);
	hlg_stacks_add(
		l->stacks,
		&(struct hlg_stack){.series = series,
				    .node = host_of(l, from),
				    .chain = hlg_chains_add(&l->stacks->chains,
							    l->callers, from->n_callers),
				    .guest = true,
				    .end = (uint8_t)from->end,
				    .way = (uint8_t)from->way,
				    .ip = ip,
				    .count = cell->count});
}

/* Series by series: its squares come with its first cell. */
static void add_cells(struct loader *l)
{
	struct hlg_saved_cell **cells = l->by_key;

	for (size_t i = 0; i < l->saved.cells.n; i++)
		cells[i] = &l->saved.cells.at[i];
	qsort(cells, l->saved.cells.n, sizeof(struct hlg_saved_cell *), compare_by_key);
	for (size_t i = 0; i < l->saved.cells.n; i++) {
		bool first = i == 0 || compare_by_key(&cells[i - 1], &cells[i]) != 0;
		uint32_t *series = &l->series[cells[i] - l->saved.cells.at];
		struct hlg_sample s = sample_of(l, &cells[i]->key);

		s.cpumode = HLG_MODE_GUEST_KERNEL;
		s.ip = ip_of(l, cells[i]);
		*series = HLG_NO_SERIES;
		if (hlg_profile_add_many(l->profile, &s, cells[i]->count,
					 first ? squares_of(&l->saved, &cells[i]->key)
					       : 0) != HLG_GUEST)
			continue;
		*series = hlg_profile_series(l->profile, &s);
		if (l->stacks && cells[i]->stack)
			add_stack(l, cells[i], *series, s.ip);
	}
}

/* Of samples of which not all have moments: how many parts they are counted in, one for
 * each moment; how many have been. */
struct parts {
	struct hlg_count all;
	uint64_t n, given;
};

static uint64_t part_of(uint64_t all, const struct parts *p)
{
	hlg_u128 before = (hlg_u128)all * p->given / p->n;

	return (uint64_t)((hlg_u128)all * (p->given + 1) / p->n - before);
}

/* Which samples a moment stands for, with others: all have one, those of its cell and of
 * others that differ in the stack alone; else those of its event, since a cell that has
 * few samples may have none. */
static size_t parts_at(const struct loader *l, uint32_t cell)
{
	return l->saved.moments.halved ? l->saved.cells.at[cell].key.event
				       : l->first[cell];
}

/* Of each of these, to be freed; NULL without memory. Where samples were merged with
 * others that have no moments, moments do not stand for those. */
static struct parts *make_parts(const struct loader *l)
{
	const struct hlg_saved *s = &l->saved;
	struct parts *parts = calloc(s->cells.n + s->events.n + 1, sizeof(*parts));

	for (uint32_t i = 0; parts && i < s->cells.n; i++)
		if (l->series[i] != HLG_NO_SERIES)
			hlg_count_add(&parts[parts_at(l, i)].all, s->cells.at[i].count);
	for (size_t i = 0; parts && i < s->moments.n; i++)
		if (l->series[s->moments.at[i].series] != HLG_NO_SERIES)
			parts[parts_at(l, s->moments.at[i].series)].n++;
	for (size_t i = 0; parts && i < s->cells.n + s->events.n; i++) {
		struct parts *p = &parts[i];

		if (!hlg_moments_of_all(p->n, s->moments.halved, p->all.samples))
			p->n = p->all.samples >> s->moments.halved;
	}
	return parts;
}

/* Counts a moment by thread and by address. */
static void add_slice(struct loader *l, const struct hlg_moment *m, struct parts *p)
{
	const struct hlg_saved_cell *cell = &l->saved.cells.at[m->series];
	bool has_tid = l->saved.extra.by & HLG_SAVED_BY(HLG_BY_TID);
	struct hlg_count count;

	if (p->given >= p->n) /* a made-up file has more moments than samples */
		return;
	count = (struct hlg_count){part_of(p->all.samples, p), part_of(p->all.period, p)};
	p->given++;
	hlg_slices_add(&l->profile->by_address, m->time, ip_of(l, cell),
		       l->series[m->series], 0, count);
	hlg_slices_add(&l->profile->by_thread, m->time, 0,
		       HLG_SLICES_STATE + HLG_GUEST_KERNEL,
		       has_tid ? cell->key.part[1] : -1, count);
	l->profile->by_address.untimed -= count.samples;
	l->profile->by_thread.untimed -= count.samples;
}

/* Times as moments have them, in few slices: these have few samples. */
static void add_slices(struct loader *l)
{
	const struct hlg_moments *m = &l->saved.moments;
	struct hlg_slices *both[] = {&l->profile->by_thread, &l->profile->by_address};
	struct parts *parts =
		hlg_saved_moments_first(&l->saved, &l->first) ? make_parts(l) : NULL;

	for (size_t i = 0; parts && i < m->n; i++)
		if (l->series[m->at[i].series] != HLG_NO_SERIES)
			add_slice(l, &m->at[i], &parts[parts_at(l, m->at[i].series)]);
	for (size_t i = 0; i < 2; i++) {
		while (both[i]->total > HLG_SLICES_FEW && !both[i]->lost)
			hlg_slices_lengthen(both[i], both[i]->doubled + 1);
		both[i]->lost |= !parts;
		both[i]->halved = m->halved;
	}
	free(parts);
}

/* When samples were taken, of those that are selected. */
static void add_moments(struct loader *l)
{
	struct hlg_moments *m = &l->saved.moments;
	size_t n = 0;

	if (l->profile->options->slices && m->n)
		add_slices(l);
	for (size_t i = 0; i < m->n; i++) {
		uint32_t cell = m->at[i].series;

		if (l->series[cell] == HLG_NO_SERIES)
			continue;
		m->at[n] = m->at[i];
		m->at[n++].ip = ip_of(l, &l->saved.cells.at[cell]);
	}
	m->n = n;
	hlg_moments_merge(&l->profile->moments, m, l->series, NULL);
}

/* Are host samples of a series entries into guests, which no stack has? */
static bool is_mark(const struct loader *l, uint32_t series)
{
	const struct hlg_profile *p = l->profile;

	const struct hlg_event *event = &p->events[p->series[series].event];

	return hlg_stacks_event(event->name, event->kind) != HLG_MARK_NONE;
}

/* Counts a host sample's stack, if it is selected, and takes it from those without one.
 */
static void add_host_stack(struct loader *l, const struct hlg_saved_cell *from)
{
	const struct hlg_profile *p = l->profile;
	struct hlg_sample s = sample_of(l, &from->key);
	struct hlg_count *lost = &l->stacks->lost;

	if (!p->events[s.event].selected ||
	    (p->restricts && !hlg_select_keeps(p->options, &p->window, &s)) ||
	    lost->samples < from->count.samples || lost->period < from->count.period)
		return;
	hlg_count_sub(lost, from->count);
	hlg_stacks_add(l->stacks,
		       &(struct hlg_stack){
			       .series = hlg_profile_series(l->profile, &s),
			       .node = host_of(l, &l->saved.stacks.at[from->stack - 1]),
			       .count = from->count});
}

/* The rows that are selected go to host, if it wants them. */
static int add_hosts(struct loader *l, struct hlg_host *host)
{
	const Pprof__Extra *extra = &l->saved.extra;
	struct hlg_host kept = {
		.unnamed = {extra->unnamed_samples, extra->unnamed_period}};

	kept.rows = calloc(l->saved.hosts.n + 1, sizeof(*kept.rows));
	if (!kept.rows)
		return hlg_err_memory(l->err, l->path);
	for (size_t i = 0; i < l->saved.hosts.n; i++) {
		const Pprof__Extra__HostRow *from = &l->saved.hosts.at[i];
		struct hlg_saved_key key = hlg_saved_host_key(from);
		struct hlg_sample s = sample_of(l, &key);
		struct hlg_host_row row = {.dso = from->dso,
					   .comm = from->process,
					   .count = {from->samples, from->period}};

		if (hlg_profile_add_many(l->profile, &s, row.count, 0) != HLG_HOST)
			continue;
		row.series = hlg_profile_series(l->profile, &s);
		if (row.series != HLG_NO_SERIES)
			kept.rows[kept.n_rows++] = row;
		else
			hlg_count_add(&kept.unnamed, row.count);
	}
	if (host)
		hlg_host_merge(host, l->profile, &kept, l->profile);
	for (size_t i = 0; l->stacks && i < kept.n_rows; i++) {
		if (is_mark(l, kept.rows[i].series))
			hlg_count_add(&l->stacks->aside, kept.rows[i].count);
		else if (host)
			hlg_count_add(&l->stacks->lost, kept.rows[i].count);
	}
	for (size_t i = 0; host && l->stacks && i < l->saved.host_stacks.n; i++)
		add_host_stack(l, &l->saved.host_stacks.at[i]);
	free(kept.rows);
	return 0;
}

static void add_totals(struct loader *l, struct hlg_recording_sums *sums)
{
	const Pprof__Extra *t = &l->saved.extra;
	struct hlg_count deselected = {t->deselected_samples, t->deselected_period};
	struct hlg_count unnamed = {t->unnamed_samples, t->unnamed_period};
	struct hlg_count more = deselected;
	struct hlg_profile *p = l->profile;

	hlg_count_add(&more, unnamed); /* their rows are lost, they are not */
	p->overflow |= t->overflow || more.period > UINT64_MAX - p->seen.period;
	hlg_count_add(&p->seen, more);
	hlg_count_add(&p->deselected, deselected);
	hlg_count_add(&p->host, unnamed);
	p->untold += t->untold;
	p->unrecorded += t->unrecorded;
	if (l->stacks)
		l->stacks->marks += t->marks;
	sums->recordings = l->saved.recordings;
	sums->samples = t->recorded;
	sums->lost = t->lost;
	sums->throttled = t->throttled;
	sums->skipped = t->skipped;
	sums->left = t->left;
	sums->packed = t->packed < t->skipped ? t->packed : t->skipped;
	sums->unjoined = t->unjoined;
	sums->no_end = t->no_end;
	sums->unknown = t->unknown;
	sums->damaged = t->damaged;
	sums->undecoded = t->undecoded;
	sums->began = l->saved.began;
	sums->took = l->saved.took;
}

static bool add_checks(struct loader *l)
{
	bool ok = true;

	for (size_t i = 0; i < l->saved.checks.n; i++) {
		const Pprof__Extra__Check *check = &l->saved.checks.at[i];

		ok &= hlg_checked_add(
			&l->profile->checked, (enum hlg_checked_word)check->word,
			check->suppressed, check->said[0] ? check->said : NULL);
	}
	return ok;
}

static int load(struct loader *l, const struct hlg_pprof_how *how, struct hlg_host *host,
		struct hlg_recording_sums *sums)
{
	int rc = check_keys(l);

	if (rc < 0)
		return rc;
	l->shifts = calloc(l->saved.images.n + 1, sizeof(*l->shifts));
	l->events = calloc(l->saved.events.n + 1, sizeof(*l->events));
	l->callers = calloc(HLG_CHAIN_MAX, sizeof(*l->callers));
	l->series = calloc(l->saved.cells.n + 1, sizeof(*l->series));
	l->by_key = calloc(l->saved.cells.n + 1, sizeof(struct hlg_saved_cell *));
	if (!l->shifts || !l->events || !l->callers || !l->series || !l->by_key)
		return hlg_err_memory(l->err, l->path);
	rc = hlg_shifts_find(&l->saved, l->space, l->path, how, l->shifts, l->err);
	if (rc < 0)
		return rc;
	load_rans(l);
	rc = find_reach(l);
	if (rc == 0)
		rc = find_events(l);
	if (rc == 0)
		rc = add_hosts(l, host);
	if (rc < 0)
		return rc;
	add_cells(l);
	add_moments(l);
	add_totals(l, sums);
	hlg_origins_merge(&l->profile->origins, &l->saved.origins);
	return add_checks(l) ? 0 : hlg_err_memory(l->err, l->path);
}

int hlg_pprof_read(const char *path, const struct hlg_space *space,
		   const struct hlg_pprof_how *how, struct hlg_profile *profile,
		   struct hlg_host *host, struct hlg_stacks *stacks,
		   struct hlg_recording_sums *sums, struct hlg_err *err)
{
	struct loader l = {.saved = HLG_SAVED_INIT,
			   .path = hlg_pprof_name(path),
			   .space = space,
			   .profile = profile,
			   .stacks = stacks,
			   .err = err};
	uint64_t seen = profile->seen.samples, deselected = profile->deselected.samples;
	uint64_t of_host = profile->host.samples;
	int rc;

	memset(sums, 0, sizeof(*sums));
	rc = hlg_pprof_load(&l.saved, path, how->progress, err);
	if (rc == 0 && !hlg_pprof_resolve(&l.saved))
		rc = hlg_err_memory(err, l.path);
	if (rc == 0)
		rc = load(&l, how, host, sums);
	/* It matters where the host's processes are shown. */
	if (rc == 0 && (host || stacks))
		sums->late = l.saved.extra.late;
	sums->deselected = profile->deselected.samples - deselected;
	sums->host = profile->host.samples - of_host;
	sums->guest = profile->seen.samples - seen - sums->deselected - sums->host;
	free(l.shifts);
	free(l.reach);
	free(l.events);
	free(l.callers);
	free(l.series);
	free(l.by_key);
	free(l.first);
	hlg_saved_finish(&l.saved);
	return rc;
}

int hlg_pprof_look(const char *path, struct hlg_pprof_of *of, struct hlg_err *err)
{
	struct hlg_saved saved = HLG_SAVED_INIT;
	int rc = hlg_pprof_load(&saved, path, NULL, err);

	*of = (struct hlg_pprof_of){.listed = saved.listed,
				    .recordings = saved.recordings,
				    .unread = saved.origins.unread};
	if (saved.listed)
		memcpy(of->list, saved.list, sizeof(of->list));
	hlg_saved_finish(&saved);
	return rc;
}

int hlg_pprof_has_stacks(const char *path, bool *found, struct hlg_err *err)
{
	struct hlg_saved saved = HLG_SAVED_INIT;
	int rc = hlg_pprof_load(&saved, path, NULL, err);

	*found = rc == 0 && saved.stacks.n;
	hlg_saved_finish(&saved);
	return rc;
}
