// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/build.h"

#include "tools/diff/join.h"
#include "tools/diff/words.h"

/* Regions of different builds hold different code, and have no name. */
static bool join(struct hlg_diff *diff)
{
	struct hlg_diff_rows *functions = &diff->functions, *regions = &diff->regions;

	return hlg_diff_join_rows(diff) && hlg_diff_tell_presence(diff, functions) &&
	       hlg_diff_judge_rows(diff, functions) &&
	       (!diff->images.same ||
		(hlg_diff_join_regions(diff) && hlg_diff_tell_presence(diff, regions) &&
		 hlg_diff_judge_rows(diff, regions)));
}

/*
 * Events that fire together are no independent observations, and periods of different
 * events do not add up.
 */
static int check_events(const struct hlg_diff *diff, struct hlg_err *err)
{
	for (int s = 0; s < 2; s++) {
		const struct hlg_report *r = &diff->side[s].report;
		const char *first = NULL;

		for (uint32_t i = 0; i < r->n_events; i++) {
			const char *name = r->profile->events[r->events[i].event].name;

			if (r->events[i].count.samples == 0)
				continue;
			if (first)
				return hlg_err_set(
					err, HLG_EINPUT,
					"%s: the samples are of several events, "
					"%s and %s (take one: --event=%s)",
					s ? "after" : "before", first, name, first);
			first = name;
		}
	}
	return 0;
}

static void count_runs(struct hlg_diff *diff, int side)
{
	const struct hlg_diff_side *s = &diff->side[side];

	for (size_t i = 0; s->each && i < s->n_runs; i++)
		diff->n_runs[side] += hlg_count_weigh(diff->weight, s->each[i].kept) > 0;
	diff->by_runs |= diff->n_runs[side] >= HLG_COMPARE_RUNS;
}

/* What was found unreadable while images were paired came too late for a note. */
static int check_read(const struct hlg_diff_side *side, struct hlg_err *err)
{
	for (size_t i = 0; i < side->space->n_images; i++)
		if (hlg_image_unread(side->space->images[i]) && !side->report.unread)
			return hlg_image_fail_unread(side->space->images[i], err);
	return 0;
}

int hlg_diff_build(struct hlg_diff *diff, struct hlg_err *err)
{
	int rc = 0;

	for (int s = 0; rc == 0 && s < 2; s++)
		rc = hlg_diff_side_judge(&diff->side[s], err);
	if (rc == 0)
		rc = check_events(diff, err);
	if (rc < 0)
		return rc;
	if (!hlg_diff_images_pair(&diff->images, diff->side[0].space,
				  diff->side[1].space))
		return hlg_err_memory(err, "diff");
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = check_read(&diff->side[i], err);
	if (rc < 0)
		return rc;
	diff->weight = (enum hlg_weight)diff->side[0].options->weight;
	diff->withheld =
		diff->side[0].report.suppressed || diff->side[1].report.suppressed;
	diff->incomparable = diff->withheld && !diff->images.same;
	for (int s = 0; rc == 0 && s < 2; s++) {
		rc = hlg_diff_side_view(&diff->side[s], diff->weight, diff->withheld,
					err);
		count_runs(diff, s);
	}
	if (rc == 0 &&
	    ((!diff->incomparable && !join(diff)) || !hlg_diff_tell_words(diff)))
		rc = hlg_err_memory(err, "diff");
	return rc;
}
