// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/join.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/write/text-scale.h"
#include "symtab/plural.h"
#include "tools/diff/columns.h"

enum {
	FEW_RUNS = 5 /* with as many, a t of eight degrees of freedom is not far from z */
};

/* Are there images without a file? Then there is no other. */
static bool is_made(const struct hlg_diff *diff)
{
	return hlg_space_is_made(diff->side[0].space) ||
	       hlg_space_is_made(diff->side[1].space);
}

/* Does a side say nothing of whether its samples fit? */
static bool is_unchecked(const struct hlg_diff *diff)
{
	return diff->side[0].report.trust.all.verdict == HLG_TRUST_UNTESTED ||
	       diff->side[1].report.trust.all.verdict == HLG_TRUST_UNTESTED;
}

static const char *matched(const struct hlg_diff *diff)
{
	size_t same = 0;

	for (size_t i = 0; i < diff->images.n; i++)
		same += diff->images.pairs[i].same;
	if (diff->incomparable)
		return "not at all: the samples of a side do not fit its images";
	if (diff->withheld)
		return "by guest address: the samples of a side do not fit its images";
	if (same == diff->images.n)
		return "by address: both sides are of the same build";
	if (is_made(diff))
		return "by the symbols that the profiles were saved with";
	if (same)
		return "by address in images of the same build, by symbol in others";
	return "by symbol: the builds differ";
}

static int tell_shares(struct hlg_diff *diff)
{
	double before = hlg_diff_join_weight(&diff->side[0], &diff->side[0].all);
	double after = hlg_diff_join_weight(&diff->side[1], &diff->side[1].all);
	const char *unit = diff->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period";
	const char *exits = hlg_diff_join_exits(diff);
	const char *of =
		diff->side[0].self ? ", each function with all that it calls" : "";
	char times[32];

	if (!(before > 0) || !(after > 0))
		return asprintf(&diff->shares, "of each side's guest %s%s%s", unit, exits,
				of);
	snprintf(times, sizeof(times), "%.3g times ", after / before);
	return asprintf(&diff->shares,
			"of each side's own guest %s%s%s (in all, after has %sas much as "
			"before)",
			unit, exits, of, strcmp(times, "1 times ") == 0 ? "" : times);
}

static const char *test(const struct hlg_diff *diff)
{
	if (!diff->by_runs)
		return "chi-square test of samples (Fisher's mid-P where fewer than 5 "
		       "are expected), Newcombe's interval";
	if (diff->n_runs[0] >= HLG_COMPARE_RUNS && diff->n_runs[1] >= HLG_COMPARE_RUNS)
		return "sampling error and how much recordings differ, estimated from "
		       "each row and all rows together";
	return "sampling error and how much recordings differ, estimated from each row "
	       "and all rows together; the side with fewer than three is assumed to "
	       "vary as much as the other";
}

__attribute__((format(printf, 3, 4))) static void add(struct hlg_diff *diff,
						      unsigned char level,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(&diff->notes, (enum hlg_note_level)level, fmt, ap);
	va_end(ap);
}

/* A sum of recordings counts as one, and hides how these differ. */
static void tell_chance(struct hlg_diff *diff)
{
	bool sums = diff->recordings[0] > diff->side[0].n_runs ||
		    diff->recordings[1] > diff->side[1].n_runs;

	add(diff, HLG_NOTE_PLAIN, "any %sruns of one guest may differ as much (%s)",
	    diff->side[0].n_runs + diff->side[1].n_runs == 2 ? "two " : "",
	    sums ? "a profile that sums several counts as one run: name those that were "
		   "summed, 3 or more a side"
		 : "record 3 or more a side");
}

static void tell_limits(struct hlg_diff *diff)
{
	if (diff->incomparable) {
		hlg_note_list_add(
			&diff->notes,
			"functions are not compared: the samples of a side do not fit "
			"its ELF, and addresses of two builds have nothing in common "
			"(name %s)",
			diff->side[0].report.unnamed || diff->side[1].report.unnamed
				? "all ELFs that ran"
				: "the right ELF or base; --force compares addresses");
		return;
	}
	if (!diff->by_runs && diff->functions.n_significant)
		tell_chance(diff);
	if (!diff->by_runs)
		hlg_note_list_detail(&diff->notes,
				     "the test knows sampling error and the phases "
				     "inside a recording, not what else makes one run "
				     "differ from the next (record three or more of "
				     "each side to include that)");
	else if (diff->n_runs[0] < FEW_RUNS || diff->n_runs[1] < FEW_RUNS)
		hlg_note_list_detail(&diff->notes,
				     "with few recordings (%zu before, %zu after), only "
				     "large changes stand out from the differences "
				     "between runs (five of each side find more)",
				     diff->n_runs[0], diff->n_runs[1]);
	if (is_made(diff) && is_unchecked(diff))
		hlg_note_list_warn(&diff->notes,
				   "not checked: no ELF is given, and a profile does not "
				   "tell whether its samples fitted (name the ELF)");
	if (is_made(diff))
		hlg_note_list_add(&diff->notes,
				  "no ELF is given: functions with the same name share a "
				  "row, and regions are not compared");
	else if (!diff->images.same)
		hlg_note_list_detail(&diff->notes,
				     "regions are not compared: the builds differ");
}

/* A recording that is half as long has half the time, whatever the guest did. What
 * several span has the time between them, too. */
static void tell_lengths(struct hlg_diff *diff)
{
	const struct hlg_report *before = &diff->side[0].report,
				*after = &diff->side[1].report;
	uint64_t x = hlg_text_scale_ns(before), y = hlg_text_scale_ns(after);
	char was[32], is[32];

	if (diff->recordings[0] != 1 || diff->recordings[1] != 1)
		return;
	if (!x || !y || (x / 3 <= y / 2 && y / 3 <= x / 2) ||
	    !hlg_text_scale_span(was, before) || !hlg_text_scale_span(is, after))
		return;
	hlg_note_list_add(&diff->notes,
			  "before was recorded for %s, after for %s: the guest's time "
			  "tells something only if both did the same work",
			  was, is);
}

/* A report of one side alone counts fewer. With children= none is told. */
static void tell_exits(struct hlg_diff *diff, int side)
{
	uint64_t both = diff->side[side].all.border.samples;
	uint64_t alone = diff->side[side].report.all.border.samples;

	if (both > alone && !diff->side[side].self)
		add(diff, HLG_NOTE_PLAIN,
		    "%s: %" PRIu64 " sample%s at VM exits, %" PRIu64
		    " in hlguest report of this side alone: the other side tells of more",
		    hlg_diff_columns_side[side], both,
		    hlg_plural_word(both, " is", "s are"), alone);
}

/* Does a row hold several functions of one name? */
static bool has_namesakes(const struct hlg_diff *diff)
{
	for (size_t i = 0; i < diff->functions.n; i++)
		if (diff->functions.row[i].n[0] > 1 || diff->functions.row[i].n[1] > 1)
			return true;
	return false;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a list in their order, for bsearch(3), to be freed; NULL without memory.
 */
static char **sort_lines(const struct hlg_note_list *list)
{
	char **sorted = calloc(list->n + 1, sizeof(*sorted));

	if (!sorted || !list->n)
		return sorted;
	memcpy(sorted, list->line, list->n * sizeof(*sorted));
	qsort(sorted, list->n, sizeof(*sorted), compare_lines);
	return sorted;
}

void hlg_diff_tell_notes(struct hlg_diff *diff, int side,
			 const struct hlg_note_list *lines,
			 const struct hlg_note_list *others)
{
	char **sorted = sort_lines(others);

	diff->notes.lost |= !sorted;
	for (size_t i = 0; sorted && i < lines->n; i++) {
		bool both = bsearch(&lines->line[i], sorted, others->n, sizeof(*sorted),
				    compare_lines) != NULL;

		if (!both || side == 0)
			add(diff, lines->level[i], "%s: %s",
			    both ? "both sides" : hlg_diff_columns_side[side],
			    lines->line[i]);
	}
	free(sorted);
}

bool hlg_diff_tell_words(struct hlg_diff *diff)
{
	diff->matched = matched(diff);
	diff->test = test(diff);
	if (tell_shares(diff) < 0)
		return false;
	tell_lengths(diff);
	tell_limits(diff);
	if (has_namesakes(diff))
		hlg_note_list_add(&diff->notes,
				  "functions with the same name (static ones) cannot be "
				  "told apart across builds: they share a row");
	for (int s = 0; s < 2; s++) {
		const struct hlg_report *r = &diff->side[s].report;
		const struct hlg_report *other = &diff->side[!s].report;

		tell_exits(diff, s);
		hlg_diff_tell_notes(diff, s, &r->notes, &other->notes);
		hlg_diff_tell_notes(diff, s, &r->remarks, &other->remarks);
	}
	return !diff->notes.lost;
}
