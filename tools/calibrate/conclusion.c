// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/conclusion.h"

#include <inttypes.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "filter/write/table.h"
#include "tools/machine/calibration-file.h"

/*
 * The event to speak of: the first counter of the hardware that counts time, as hlguest
 * record takes one where there is one; else the first that samples at all, or NULL.
 */
static const struct hlg_landed *speak_of(const struct hlg_landings *landings,
					 size_t *which)
{
	const struct hlg_landed *found = NULL;

	for (size_t i = HLG_SAMPLINGS; i-- > 0;) {
		bool better =
			!hlg_samplings[i].timer || !found || hlg_samplings[*which].timer;

		if (landings->events[i].reason[0] || !hlg_samplings[i].time || !better)
			continue;
		found = &landings->events[i];
		*which = i;
	}
	return found;
}

/* How far behind half of a guest's samples are at most; of all hot guests the most. */
static uint64_t usual_distance(const struct hlg_landed *landed)
{
	uint64_t most = 0;

	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		const struct hlg_land *land = &landed->guests[i];
		uint64_t n = 0, within = land->distance[0];

		if (!hlg_landing_hot(i))
			continue;
		while (n < HLG_LANDING_FAR && 2 * within < land->guest)
			within += land->distance[++n];
		most = n > most ? n : most;
	}
	return most;
}

static void say_distance(char *to, size_t size, uint64_t usual, uint64_t window)
{
	char within[48];
	size_t n;

	if (usual == 0)
		n = (size_t)snprintf(to, size, "on the right instruction");
	else
		n = usual == 1 ? (size_t)snprintf(to, size, "one instruction late")
			       : (size_t)snprintf(to, size,
						  "%" PRIu64 " instructions late", usual);
	if (window && n < size)
		snprintf(to + n, size - n, " (%s)",
			 hlg_calibration_file_within(within, window));
}

static void say_landing(char to[static HLG_CONCLUSION], char figure[static HLG_FIGURE],
			const struct hlg_landings *landings)
{
	size_t which = 0;
	const struct hlg_landed *landed =
		landings->reason[0] ? NULL : speak_of(landings, &which);
	uint64_t wrong = 0, all = 0, usual;
	char where[128], percent[16];

	snprintf(figure, HLG_FIGURE, "not known");
	if (!landed) {
		snprintf(to, HLG_CONCLUSION, "Where samples land is not known: %s.",
			 landings->reason[0] ? landings->reason
					     : landings->events[0].reason);
		return;
	}
	if (landed->window == HLG_WINDOW_UNKNOWN) {
		snprintf(to, HLG_CONCLUSION, "Where samples of %s land is not known: %s.",
			 hlg_samplings[which].name, landed->why);
		return;
	}
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		wrong += landed->guests[i].wrong + landed->guests[i].gap;
		all += landed->guests[i].guest;
	}
	usual = usual_distance(landed);
	snprintf(figure, HLG_FIGURE, "%" PRIu64 " instruction%s", usual,
		 usual == 1 ? "" : "s");
	say_distance(where, sizeof(where), usual, landed->window);
	if (wrong == 0)
		snprintf(to, HLG_CONCLUSION,
			 "Samples of %s land %s, never in a wrong function.",
			 hlg_samplings[which].name, where);
	else
		snprintf(to, HLG_CONCLUSION,
			 "Samples of %s land %s, %s %% of them in a wrong function or "
			 "in none.",
			 hlg_samplings[which].name, where,
			 hlg_interval_percent(percent, (double)wrong / (double)all));
}

/* "28 us"; "74000 ticks" where their rate is not known. */
static const char *cost(char to[static 40], const struct hlg_calibration *c,
			uint64_t ticks)
{
	double ns = hlg_calibration_ns(c, ticks);

	if (ns <= 0)
		snprintf(to, 40, "%" PRIu64 " ticks", ticks);
	else if (ns < 1000)
		snprintf(to, 40, "%.0f ns", ns);
	else
		snprintf(to, 40, "%.0f us", ns / 1000);
	return to;
}

static void say_crossing(char to[static HLG_CONCLUSION], char figure[static HLG_FIGURE],
			 const struct hlg_calibration *c)
{
	const struct hlg_crossing *row = &c->crossings.rows[HLG_CROSS_OUT];
	bool noisy = hlg_crossing_is_noisy(&c->crossings);
	char usual[40], most[40];

	snprintf(figure, HLG_FIGURE, "%s",
		 row->state == HLG_CROSS_SKIPPED ? "not known"
						 : cost(usual, c, row->ticks.p50));
	if (row->state == HLG_CROSS_SKIPPED)
		snprintf(to, HLG_CONCLUSION,
			 "What an exit to the VMM costs is not known: %s.", row->reason);
	else
		snprintf(to, HLG_CONCLUSION, "An exit to the VMM costs %s (p99 %s)%s.",
			 cost(usual, c, row->ticks.p50), cost(most, c, row->ticks.p99),
			 noisy ? "; the machine was not idle: measure again" : "");
}

/* How far the instruction counter is off in guests, in the worst of the programs that
 * were counted. */
static uint64_t worst_excess(const struct hlg_counts *counts)
{
	uint64_t worst = 0;

	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		const struct hlg_pmu_counted *c = &counts->counted[HLG_COUNT_GUEST][i];
		uint64_t law =
			hlg_calibrate_retired(&hlg_count_laws[i], counts->operations);
		uint64_t median, off;

		if (c->runs == 0 || c->reason[HLG_PMU_INSTRUCTIONS][0])
			continue;
		median = hlg_calibrate_variation(c->values[HLG_PMU_INSTRUCTIONS], c->runs)
				 .median;
		off = median > law ? median - law : law - median;
		worst = off > worst ? off : worst;
	}
	return worst;
}

static bool has_no_counters(const struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i <= HLG_PMU_BRANCHES; i++)
			if (strcmp(counts->counted[side][0].reason[i],
				   HLG_PMU_NO_COUNTER) != 0)
				return false;
	return true;
}

static void say_counting(char to[static HLG_CONCLUSION], char figure[static HLG_FIGURE],
			 const struct hlg_counts *counts)
{
	const struct hlg_pmu_counted *guest = &counts->counted[HLG_COUNT_GUEST][0];
	const char *reason = guest->reason[HLG_PMU_INSTRUCTIONS];
	uint64_t off;

	if (has_no_counters(counts)) {
		snprintf(figure, HLG_FIGURE, "none");
		snprintf(to, HLG_CONCLUSION, "There are no hardware counters here.");
		return;
	}
	if (reason[0] || guest->runs == 0) {
		snprintf(figure, HLG_FIGURE, "not known");
		snprintf(to, HLG_CONCLUSION,
			 "Guest instructions cannot be counted here: %s.",
			 reason[0] ? reason : "no guest ran");
		return;
	}
	off = worst_excess(counts);
	if (off == 0)
		snprintf(figure, HLG_FIGURE, "exact");
	else
		snprintf(figure, HLG_FIGURE, "off by %" PRIu64, off);
	if (off == 0)
		snprintf(to, HLG_CONCLUSION,
			 "The instruction counter is exact in guests.");
	else
		snprintf(to, HLG_CONCLUSION,
			 "The instruction counter is off by up to %" PRIu64
			 " in guests of known length.",
			 off);
}

void hlg_calibrate_conclude(struct hlg_conclusion *conclusion,
			    const struct hlg_calibration *c)
{
	size_t n = 0;

	if (c->parts & HLG_CALIBRATE_LANDING) {
		conclusion->of[n] = "Samples land late by";
		say_landing(conclusion->sentence[n], conclusion->figure[n], &c->landings);
		n++;
	}
	if (c->parts & HLG_CALIBRATE_CROSSING) {
		conclusion->of[n] = "An exit to the VMM costs";
		say_crossing(conclusion->sentence[n], conclusion->figure[n], c);
		n++;
	}
	if (c->parts & HLG_CALIBRATE_COUNTING) {
		conclusion->of[n] = "Instruction counter in guests";
		say_counting(conclusion->sentence[n], conclusion->figure[n], &c->counts);
		n++;
	}
	conclusion->n = n;
}
