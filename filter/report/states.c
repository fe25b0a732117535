// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/states.h"

#include <inttypes.h>
#include <stdlib.h>

#include "filter/profile/cpumode.h"
#include "filter/report/notes.h"

const char *hlg_counters_word(enum hlg_state state)
{
	static const char *const words[] = {"guest kernel", "guest user", "host kernel",
					    "host user",    "hypervisor", "other"};

	return words[state];
}

/* PERF_RECORD_MISC_CPUMODE_MASK has room for eight. */
static enum hlg_state state_of(unsigned cpumode)
{
	static const enum hlg_state states[] = {
		HLG_OTHER,        HLG_HOST_KERNEL, HLG_HOST_USER, HLG_HYPERVISOR,
		HLG_GUEST_KERNEL, HLG_GUEST_USER,  HLG_OTHER,     HLG_OTHER};

	return states[cpumode];
}

static void add_series(struct hlg_counters *c, const struct hlg_modes *modes)
{
	for (unsigned i = 0; i < HLG_N_MODES; i++) {
		hlg_count_add(&c->of[state_of(i)], modes->of[i]);
		hlg_count_add(&c->sum, modes->of[i]);
	}
}

struct hlg_counters hlg_counters_sum(const struct hlg_profile *p, uint32_t series)
{
	struct hlg_counters c = {0};

	if (series != HLG_NO_SERIES)
		add_series(&c, &p->modes[series]);
	for (uint32_t i = 0; series == HLG_NO_SERIES && i < p->n_series; i++)
		add_series(&c, &p->modes[i]);
	return c;
}

static bool several_events(const struct hlg_profile *p)
{
	for (uint32_t i = 1; i < p->n_series; i++)
		if (p->series[i].event != p->series[0].event)
			return true;
	return false;
}

static void add_notes(struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	struct hlg_count sum = hlg_counters_sum(p, HLG_NO_SERIES).sum;

	hlg_count_add(&sum, p->deselected);
	if (p->seen.samples == 0)
		hlg_report_note(r, HLG_NOTES_NO_SAMPLE);
	if (sum.samples != p->seen.samples || sum.period != p->seen.period)
		hlg_report_note(r,
				"THE SUMS DO NOT AGREE: %" PRIu64
				" samples seen, %" PRIu64
				" accounted for; this is a bug, please report it",
				p->seen.samples, sum.samples);
	if (p->overflow)
		hlg_report_note(r, "the sum of the periods passed 2^64 and is wrong; "
				   "believe weight=samples only");
	if (p->unrecorded)
		hlg_report_note(r,
				"%" PRIu64 " samples could not be counted: out of memory",
				p->unrecorded);
	if (p->untold)
		hlg_report_note(
			r,
			"%" PRIu64 " samples are deselected because the recording "
			"does not tell what was asked for (pid, tid, cpu or time)",
			p->untold);
}

static int compare_series(const void *a, const void *b, void *profile)
{
	return hlg_profile_compare_series(profile, *(const uint32_t *)a,
					  *(const uint32_t *)b);
}

int hlg_counters_report(struct hlg_report *r, const struct hlg_options *options,
			const struct hlg_space *space, const struct hlg_profile *profile,
			const struct hlg_host *host, struct hlg_err *err)
{
	uint32_t n = profile->n_series;

	*r = (struct hlg_report){.options = options,
				 .space = space,
				 .profile = profile,
				 .host = host,
				 .by = options->by};
	if (several_events(profile))
		r->by |= HLG_BY_EVENT;
	/* In the order of series, not their ranks. */
	r->rank = calloc((size_t)n + 1, sizeof(*r->rank));
	if (!r->rank)
		return hlg_err_memory(err, "report");
	for (uint32_t i = 0; i < n; i++)
		r->rank[i] = i;
	qsort_r(r->rank, n, sizeof(*r->rank), compare_series, (void *)profile);
	add_notes(r);
	return r->lost ? hlg_err_memory(err, "report") : 0;
}

int hlg_counters_tables(void *to, const struct hlg_report *r,
			void (*table)(void *to, const struct hlg_report *r,
				      const struct hlg_counters *counters,
				      const char *series),
			struct hlg_err *err)
{
	const struct hlg_counters all = hlg_counters_sum(r->profile, HLG_NO_SERIES);

	if (!r->by)
		table(to, r, &all, NULL);
	for (uint32_t i = 0; r->by && i < r->profile->n_series; i++) {
		struct hlg_counters c = hlg_counters_sum(r->profile, r->rank[i]);
		char *name = hlg_report_series_name(r, r->rank[i]);

		if (!name)
			return hlg_err_memory(err, "report");
		table(to, r, &c, name);
		free(name);
	}
	return 0;
}

double hlg_counters_share(const struct hlg_report *r, const struct hlg_counters *c,
			  struct hlg_count count)
{
	enum hlg_weight weight = (enum hlg_weight)r->options->weight;
	double total = (double)hlg_weigh(weight, c->sum);

	return total > 0 ? (double)hlg_weigh(weight, count) / total : 0;
}

struct growing {
	struct hlg_tree *tree;
	bool ok;
};

static void grow_table(void *to, const struct hlg_report *r, const struct hlg_counters *c,
		       const char *series)
{
	static const enum hlg_frame frames[] = {
		HLG_FRAME_GUEST,     HLG_FRAME_GUEST, HLG_FRAME_HOST_KERNEL,
		HLG_FRAME_HOST_USER, HLG_FRAME_NOTE,  HLG_FRAME_NOTE};
	struct growing *g = to;
	uint32_t bottom = HLG_TREE_ROOT, node;

	(void)r;
	if (series)
		bottom = hlg_tree_child(g->tree, bottom, HLG_FRAME_GROUP, series);
	for (unsigned i = 0; i < HLG_N_STATES; i++) {
		if (!c->of[i].samples)
			continue;
		node = hlg_tree_child(g->tree, bottom, frames[i],
				      hlg_counters_word((enum hlg_state)i));
		if (node == HLG_NO_NODE)
			g->ok = false;
		else
			hlg_tree_add(g->tree, node, c->of[i]);
	}
}

int hlg_counters_grow(struct hlg_tree *tree, const struct hlg_report *r,
		      struct hlg_err *err)
{
	struct growing g = {tree, true};
	int rc = hlg_counters_tables(&g, r, grow_table, err);

	return rc == 0 && !g.ok ? hlg_err_memory(err, "report") : rc;
}
