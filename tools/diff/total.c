// SPDX-License-Identifier: GPL-2.0-only
/* What the guest took in all, which no share shows, and the line that opens the text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/report/rows.h"
#include "tools/diff/join.h"

/* Recordings that no command began and ended last as long as somebody wished. */
static bool has_length(const struct hlg_diff *diff)
{
	return !diff->side[0].attached && !diff->side[1].attached;
}

static bool is_clock(const struct hlg_diff *diff)
{
	bool clock = diff->event[0] || diff->event[1];

	for (int s = 0; s < 2; s++)
		clock = clock &&
			(!diff->event[s] || diff->event[s]->kind == HLG_EVENT_TIMER);
	return clock;
}

/* Means of amounts, as hlg_diff_total_amounts has them; and p by the samples' own error
 * (Poisson's) alone: how much one run differs from the next is not in that. */
static double sum_up(double mean[static 2], const struct hlg_diff *diff,
		     struct hlg_dispersion_run *const lists[2])
{
	double variance = 0, apart;

	for (int s = 0; s < 2; s++) {
		mean[s] = 0;
		for (size_t i = 0; i < diff->side[s].n_runs; i++) {
			double part_of_all =
				(double)diff->side[s].of[i] / (double)diff->recordings[s];
			double part = lists[s][i].weight * part_of_all;

			mean[s] += part;
			if (lists[s][i].n > 0)
				variance += part * part / lists[s][i].n;
		}
	}
	apart = fabs(mean[1] - mean[0]);
	return apart > 0 ? erfc(apart / sqrt(2 * variance)) : 1;
}

/* What a recording took: the mean of those that it sums. */
static struct hlg_dispersion_run weigh_run(const struct hlg_diff_side *side, size_t i,
					   enum hlg_weight weight, bool inside)
{
	const struct hlg_view *view = &side->each[i];
	struct hlg_count all = hlg_rows_sum(&side->report, view), sum = all;
	double n = hlg_rows_observations(&side->report, view);

	if (inside && all.samples) {
		hlg_count_sub(&sum, view->kinds[HLG_OUTSIDE]);
		n *= (double)sum.samples / (double)all.samples;
	}
	return (struct hlg_dispersion_run){
		.weight = (double)hlg_count_weigh(weight, sum) / (double)side->of[i],
		.n = n};
}

/* inside: but what lies outside. */
static void test(struct hlg_diff_total *total, const struct hlg_diff *diff,
		 struct hlg_dispersion_run *const lists[2], bool inside)
{
	enum hlg_weight weight;

	total->clock = is_clock(diff);
	weight = total->clock ? HLG_WEIGHT_PERIOD : diff->weight;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < diff->side[s].n_runs; i++)
			lists[s][i] = weigh_run(&diff->side[s], i, weight, inside);
	total->apart = sum_up(total->mean, diff, lists) <= HLG_COMPARE_LEVEL;
	total->p = NAN;
	if (has_length(diff))
		total->p = hlg_compare_totals(lists[0], diff->side[0].n_runs, lists[1],
					      diff->side[1].n_runs);
	total->significant = total->p <= HLG_COMPARE_LEVEL;
}

bool hlg_diff_total(struct hlg_diff *diff)
{
	struct hlg_dispersion_run *lists[2];

	for (int s = 0; s < 2; s++) {
		lists[s] = calloc(diff->side[s].n_runs + 1, sizeof(**lists));
		for (size_t i = 0; i < diff->side[s].n_runs; i++)
			diff->recordings[s] += diff->side[s].of[i];
	}
	if (lists[0] && lists[1]) {
		test(&diff->total, diff, lists, false);
		test(&diff->inside, diff, lists, true);
	}
	free(lists[0]);
	free(lists[1]);
	return lists[0] && lists[1];
}

static double per_recording(const struct hlg_diff *diff, int s, uint64_t weight)
{
	return (double)weight / (double)(diff->recordings[s] ? diff->recordings[s] : 1);
}

/* What a row took in the mean of each side's recordings. */
static void take(double mean[static 2], const struct hlg_diff *diff,
		 const struct hlg_diff_row *row)
{
	enum hlg_weight weight = diff->total.clock ? HLG_WEIGHT_PERIOD : diff->weight;

	for (int s = 0; s < 2; s++)
		mean[s] = per_recording(diff, s, hlg_count_weigh(weight, row->count[s]));
}

double hlg_diff_total_growth(const struct hlg_diff_total *total)
{
	const double *mean = total->mean;

	return mean[0] > 0 ? mean[1] / mean[0] - 1 : mean[1] > 0 ? INFINITY : 0;
}

double hlg_diff_total_amounts(const struct hlg_diff *diff,
			      struct hlg_dispersion_run *const lists[2])
{
	double mean[2];
	double p = hlg_compare_totals(lists[0], diff->side[0].n_runs, lists[1],
				      diff->side[1].n_runs);

	return isnan(p) ? sum_up(mean, diff, lists) : p;
}

bool hlg_diff_total_grew(const struct hlg_diff *diff, const struct hlg_diff_row *row,
			 double least)
{
	double mean[2];

	take(mean, diff, row);
	return !has_length(diff) ||
	       (mean[1] > mean[0] * (1 + least) && row->amount <= HLG_COMPARE_LEVEL);
}

/* The unit that ns are told in, in ns. */
static double unit_of(double ns, const char **name)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double one = 1;
	int unit = 0;

	for (; unit < 3 && ns >= 1000 * one; unit++)
		one *= 1000;
	*name = units[unit];
	return one;
}

/* Would one of both be hardly anything in the unit of the other, and is something? */
static bool are_far_apart(const double both[2])
{
	const double smaller = fmin(both[0], both[1]);

	return smaller > 0 && smaller < fmax(both[0], both[1]) / 100;
}

/* Both in the unit of the larger, unless they are far apart. */
static const char *amount(char buf[static 32], const struct hlg_diff *diff, int s)
{
	const double *mean = diff->total.mean;
	const char *unit;
	double one =
		unit_of(are_far_apart(mean) ? mean[s] : fmax(mean[0], mean[1]), &unit);

	if (diff->total.clock)
		snprintf(buf, 32, "%.2f %s", mean[s] / one, unit);
	else
		snprintf(buf, 32, "%.0f", mean[s]);
	return buf;
}

/* For three digits. */
static int places(double x)
{
	return x < 10 ? 2 : x < 100 ? 1 : 0;
}

/* "1.47 s -> 1.86 ms" */
static void put_apart(char buf[static 32], const double ns[2])
{
	const char *unit[2];
	double of[2];

	for (int s = 0; s < 2; s++)
		of[s] = ns[s] / unit_of(ns[s], &unit[s]);
	snprintf(buf, 32, "%.*f %s -> %.*f %s", places(of[0]), of[0], unit[0],
		 places(of[1]), of[1], unit[1]);
}

bool hlg_diff_total_times(char buf[static 32], const struct hlg_diff *diff,
			  const struct hlg_count count[2])
{
	double ns[2], one;
	const char *unit;
	int n;

	for (int s = 0; s < 2; s++)
		ns[s] = per_recording(diff, s, count[s].period);
	if (are_far_apart(ns)) {
		put_apart(buf, ns);
		return diff->total.clock;
	}
	one = unit_of(fmax(ns[0], ns[1]), &unit);
	n = places(fmax(ns[0], ns[1]) / one);
	snprintf(buf, 32, "%.*f -> %.*f %s", n, ns[0] / one, n, ns[1] / one, unit);
	return diff->total.clock;
}

static const char *unit(const struct hlg_diff *diff)
{
	return diff->total.clock                    ? "guest time"
	       : diff->weight == HLG_WEIGHT_SAMPLES ? "guest samples"
						    : "guest events";
}

void hlg_diff_total_tell(const struct hlg_diff *diff, FILE *f)
{
	bool many = diff->recordings[0] > 1 || diff->recordings[1] > 1;
	double growth = hlg_diff_total_growth(&diff->total);
	char before[32], after[32];

	fprintf(f, "%s%s %s -> %s", unit(diff), many ? " per run" : "",
		amount(before, diff, 0), amount(after, diff, 1));
	/* All of it is gone only if nothing is left. */
	if (growth > -1 && growth < -0.99)
		fprintf(f, " (%.1f %%)", fmax(100 * growth, -99.9));
	else if (isfinite(growth))
		fprintf(f, " (%+ld %%)", lround(100 * growth));
	if (diff->incomparable)
		fputs("; functions are not compared", f);
	else
		fprintf(f, "; %zu of %zu %s %s", diff->functions.n_significant,
			diff->functions.n,
			diff->withheld ? "guest addresses" : "functions",
			diff->by_runs ? "changed" : "differ");
}

/* What the figures of the total mean. */
const char *hlg_diff_total_meaning(const struct hlg_diff *diff)
{
	const struct hlg_diff_total *total = &diff->total;

	if (!has_length(diff))
		return "not tested: -a, -p and -t leave the length of a recording to the "
		       "user";
	if (!isnan(total->p))
		return total->significant
			       ? "changed, by more than the differences between runs"
			       : "no change beyond the differences between runs";
	if (total->mean[0] == total->mean[1])
		return "the same in these runs";
	return total->apart ? "differs between these runs; 3 runs of each side can rule "
			      "out noise"
			    : "does not differ beyond sampling error";
}
