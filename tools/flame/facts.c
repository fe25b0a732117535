// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/report/banner.h"
#include "filter/report/rows.h"
#include "filter/stats/interval.h"
#include "symtab/plural.h"

enum {
	NAMED = 5 /* of what is gone */
};

/* "branches:G, cycles:G": what the samples were taken by, in the report's order: the
 * profile's is of who read first. To be freed. */
static char *list_events(const struct hlg_report *r)
{
	const char *comma = "";
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	if (!f)
		return NULL;
	for (uint32_t i = 0; i < r->n_events; i++)
		if (hlg_rows_has_event(r, r->events[i].event)) {
			fprintf(f, "%s%s", comma,
				r->profile->events[r->events[i].event].name);
			comma = ", ";
		}
	return hlg_memstream_close(&m);
}

/* Has the report samples of an event that counts the same (event.h)? */
static bool has_alike(const struct hlg_report *r, const char *key, bool *lost)
{
	bool has = false;

	for (uint32_t i = 0; !has && i < r->profile->n_events; i++) {
		char *other;

		if (!hlg_rows_has_event(r, i))
			continue;
		other = hlg_event_key(r->profile->events[i].name);
		*lost |= !other;
		has = other && strcmp(other, key) == 0;
		free(other);
	}
	return has;
}

/* Has the other report samples of each of the events, in whatever order? */
static bool has_events(const struct hlg_report *r, const struct hlg_report *other,
		       bool *lost)
{
	bool all = true;

	for (uint32_t i = 0; all && i < r->profile->n_events; i++) {
		char *key;

		if (!hlg_rows_has_event(r, i))
			continue;
		key = hlg_event_key(r->profile->events[i].name);
		*lost |= !key;
		all = key && has_alike(other, key, lost);
		free(key);
	}
	return all;
}

/* The notes of one level of a side. */
static void add_lines(struct hlg_note_list *to, const struct hlg_note_list *from,
		      const char *which, enum hlg_note_level level)
{
	for (size_t i = 0; i < from->n; i++)
		if (from->level[i] == level)
			hlg_note_list_add(to, "%s%s", which, from->line[i]);
}

/* The samples of a side, and how far to believe it. */
static void tell_side(struct hlg_note_list *texts, const struct hlg_flame_side *side,
		      const char *which, const char *widths)
{
	const struct hlg_report *r = side->report;
	struct hlg_count all = side->tree->nodes[HLG_TREE_ROOT].total;
	uint64_t guest =
		r->options->mode == HLG_SHOW_HOST ? 0 : hlg_rows_sum(r, &r->all).samples;
	char *events = list_events(r);
	char recordings[48] = "", said[80], outside[80];

	if (!events) {
		texts[HLG_GRAPH_HEAD].lost = true;
		return;
	}
	if (side->n_recordings != 1)
		snprintf(recordings, sizeof(recordings), " in %zu recordings",
			 side->n_recordings);
	hlg_note_list_add(
		&texts[HLG_GRAPH_HEAD],
		"%s%" PRIu64 " sample%s%s%s%s: guest %" PRIu64 ", host %" PRIu64, which,
		all.samples, hlg_plural_s(all.samples), events[0] ? " of " : "", events,
		recordings, guest, all.samples - guest);
	hlg_note_list_add(&texts[HLG_GRAPH_HEAD], "%scheck %s%s%s", which,
			  hlg_banner_said(said, r), hlg_banner_outside(outside, r),
			  widths);
	free(events);
	add_lines(&texts[HLG_GRAPH_WARN], &r->notes, which, HLG_NOTE_WARNING);
	add_lines(&texts[HLG_GRAPH_WARN], &r->remarks, which, HLG_NOTE_WARNING);
	if (r->banner)
		hlg_note_list_add(&texts[HLG_GRAPH_WARN], "%s%s", which, r->banner);
}

static void tell_hidden(struct hlg_note_list *texts, const struct hlg_graph *g,
			double least)
{
	const struct hlg_layout *layout = g->layout;
	uint64_t all = g->tree->nodes[HLG_TREE_ROOT].total.samples;
	char part[16], narrow[16];

	if (layout->n_hidden == 0)
		return;
	hlg_interval_percent(part,
			     all ? (double)layout->hidden.samples / (double)all : 0);
	hlg_note_list_add(
		&texts[HLG_GRAPH_HEAD],
		"%" PRIu64
		" sample%s (%s %%) in %u frame%s narrower than %s %% %s not drawn",
		layout->hidden.samples, hlg_plural_s(layout->hidden.samples), part,
		layout->n_hidden, hlg_plural_s(layout->n_hidden),
		hlg_interval_percent(narrow, least),
		layout->n_hidden == 1 ? "is" : "are");
}

static void tell_sums(struct hlg_note_list *texts, const struct hlg_report *r,
		      const char *which)
{
	const struct hlg_profile *p = r->profile;
	const char *selection = r->options->selection;

	/* The head has the samples that are drawn. */
	if (p->deselected.samples)
		hlg_note_list_add(
			&texts[HLG_GRAPH_NOTE],
			"%s%" PRIu64 " of %" PRIu64 " sample%s %s filtered out%s%s",
			which, p->deselected.samples, p->seen.samples,
			hlg_plural_s(p->seen.samples),
			p->deselected.samples == 1 ? "is" : "are",
			selection ? "; selected: " : "", selection ? selection : "");
	if (r->all.dropped.samples)
		hlg_note_list_add(&texts[HLG_GRAPH_NOTE],
				  "%sgaps=drop: %" PRIu64 " gap sample%s left out", which,
				  r->all.dropped.samples,
				  r->all.dropped.samples == 1 ? " is" : "s are");
}

static void tell_notes(struct hlg_note_list *texts, const struct hlg_report *r,
		       const char *which)
{
	add_lines(&texts[HLG_GRAPH_NOTE], &r->notes, which, HLG_NOTE_PLAIN);
	add_lines(&texts[HLG_GRAPH_NOTE], &r->remarks, which, HLG_NOTE_PLAIN);
}

static void tell_changes(struct hlg_note_list *texts, const struct hlg_changes *c)
{
	char share[16];

	hlg_note_list_add(
		&texts[HLG_GRAPH_HEAD],
		"widths are after; coloured: %u frame%s whose share changed "
		"significantly (at most %.0f %% of such are chance), stronger from 1 "
		"and from 5 points on",
		c->n_significant, hlg_plural_s(c->n_significant),
		HLG_COMPARE_LEVEL * 100);
	if (c->host_before || c->host_after)
		hlg_note_list_add(&texts[HLG_GRAPH_HEAD],
				  "only the side %s has host samples: guest frames are "
				  "compared by their share of the guest's",
				  c->host_after ? "after" : "before");
	hlg_note_list_add(&texts[HLG_GRAPH_NOTE],
			  "samples are tested against samples: how much recordings of "
			  "one side differ "
			  "is not known here");
	if (c->n_gone)
		hlg_note_list_add(&texts[HLG_GRAPH_NOTE], "%u frame%s of before %s gone",
				  c->n_gone, hlg_plural_s(c->n_gone),
				  c->n_gone == 1 ? "is" : "are");
	for (uint32_t i = 0; i < c->n_gone && i < NAMED; i++)
		hlg_note_list_add(&texts[HLG_GRAPH_NOTE],
				  "gone: %s, %s %%, %ssignificant", c->gone[i].name,
				  hlg_interval_percent(share, c->gone[i].change.before),
				  c->gone[i].change.significant ? "" : "not ");
	if (c->n_gone > NAMED)
		hlg_note_list_add(&texts[HLG_GRAPH_NOTE], "gone: %u more",
				  c->n_gone - NAMED);
}

static void tell_events(struct hlg_note_list *texts, const struct hlg_report *before,
			const struct hlg_report *after)
{
	bool *lost = &texts[HLG_GRAPH_WARN].lost;

	if (!has_events(before, after, lost) || !has_events(after, before, lost))
		hlg_note_list_add(
			&texts[HLG_GRAPH_WARN],
			"the sides were sampled by different events: shares of different "
			"things are compared");
}

bool hlg_facts_add(struct hlg_graph *g, const struct hlg_flame_side *after,
		   const struct hlg_flame_side *before, double least)
{
	const char *widths = g->weight == HLG_WEIGHT_SAMPLES ? "; widths are samples"
			     : g->clock                      ? "; widths are time"
							     : "; widths are period";
	struct hlg_note_list *texts = g->texts;
	bool lost = false;

	if (before)
		tell_side(texts, before, "before: ", "");
	tell_side(texts, after, before ? "after: " : "", widths);
	if (!before)
		hlg_note_list_add(&texts[HLG_GRAPH_HEAD],
				  "a frame lies on its caller; a function has one hue");
	if (before)
		tell_events(texts, before->report, after->report);
	if (before)
		tell_changes(texts, g->changes);
	if (g->leaves)
		hlg_note_list_add(&texts[HLG_GRAPH_HEAD],
				  "only one side has call stacks: guest functions are "
				  "compared, without callers");
	if (g->guests)
		hlg_note_list_add(&texts[HLG_GRAPH_HEAD],
				  "only one side has the host's stacks: what ran in "
				  "guests is compared");
	tell_hidden(texts, g, least);
	if (before) {
		tell_sums(texts, before->report, "before: ");
		tell_notes(texts, before->report, "before: ");
	}
	tell_sums(texts, after->report, before ? "after: " : "");
	tell_notes(texts, after->report, before ? "after: " : "");
	for (int i = 0; i < HLG_N_GRAPH_TEXTS; i++)
		lost |= texts[i].lost;
	return !lost;
}
