// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page (tools/page): the conclusion as figures, and for each part a table whose rows
 * hold a drawing on one axis. Names and figures are text; a drawing is as wide as there
 * is room.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/calibrate/calibration.h"
#include "tools/calibrate/conclusion.h"
#include "tools/page/page.h"
#include "tools/page/plot.h"
#include "tools/page/words.h"
#include "tools/svg/xml.h"

enum {
	CELLS = HLG_LANDING_FAR + 1, /* distances */
	CELL = 10
};

/* Time, in ns; in ticks where their rate is not known. */
static double time_of(const struct hlg_calibration *c, uint64_t ticks)
{
	return c->crossings.hz > 0 ? hlg_calibration_ns(c, ticks) : (double)ticks;
}

/* Times on an axis. */
struct axis {
	const struct hlg_calibration *of;
	struct hlg_plot_axis of_times;
	uint64_t most; /* ticks: the longest median, whose unit the cells have */
};

static uint64_t ns_of(const struct axis *axis, uint64_t ticks)
{
	return (uint64_t)(time_of(axis->of, ticks) + 0.5);
}

static void put_time(FILE *f, const struct axis *axis, uint64_t ticks)
{
	char text[32];

	if (axis->of->crossings.hz > 0) {
		hlg_plot_ns(f, ns_of(axis, ticks), ns_of(axis, axis->most));
		return;
	}
	snprintf(text, sizeof(text), "%.0f ticks", time_of(axis->of, ticks));
	hlg_plot_cell(f, "number", text);
}

static struct axis begin_axis(const struct hlg_calibration *c)
{
	return (struct axis){c, {.plain = c->crossings.hz <= 0}, 0};
}

static void reach(struct axis *axis, uint64_t low, uint64_t high)
{
	hlg_plot_reach(&axis->of_times, time_of(axis->of, low), time_of(axis->of, high));
}

static void begin_drawing(FILE *f, const struct axis *axis)
{
	hlg_plot_drawing(f, HLG_PLOT_WIDE, HLG_PLOT_HIGH);
	hlg_plot_grid(f, &axis->of_times, HLG_PLOT_HIGH);
}

static void put_span(FILE *f, const struct axis *axis, const char *class, uint64_t low,
		     uint64_t high, int y, int height)
{
	hlg_plot_span(f, &axis->of_times, class, time_of(axis->of, low),
		      time_of(axis->of, high), y, height);
}

/* Exit cost */

static bool is_published(const struct hlg_crossing_reference *r, size_t row)
{
	return r->word && strcmp(r->word, hlg_crossing_names[row].word) == 0 &&
	       strcmp(r->unit, "cycles") == 0;
}

/* Published figures are dots. */
static void put_published(FILE *f, const struct axis *axis, size_t row)
{
	for (size_t i = 0; i < HLG_CROSSING_REFERENCES; i++) {
		const struct hlg_crossing_reference *r = &hlg_crossing_references[i];

		if (is_published(r, row))
			fprintf(f, "<path class=\"dot\" d=\"M%.0f %dh0\"/>",
				hlg_plot_place(&axis->of_times,
					       time_of(axis->of, r->low)),
				HLG_PLOT_HIGH / 2);
	}
}

static void put_crossing(FILE *f, const struct axis *axis, size_t i)
{
	const struct hlg_crossing *row = &axis->of->crossings.rows[i];
	const struct hlg_ticks *t = &row->ticks;

	hlg_plot_row(f, hlg_crossing_names[i].text,
		     row->state == HLG_CROSS_EMULATED ? "emulated" : "");
	if (row->state == HLG_CROSS_SKIPPED) {
		hlg_plot_missing(f, 3, row->reason);
		return;
	}
	begin_drawing(f, axis);
	put_span(f, axis, "range", t->min, t->max, 2, HLG_PLOT_HIGH - 4);
	put_span(f, axis, "most", t->p50, t->p99, 5, HLG_PLOT_HIGH - 10);
	put_published(f, axis, i);
	fputs("</svg></td>", f);
	put_time(f, axis, t->p50);
	put_time(f, axis, t->p99);
	fputs("</tr>\n", f);
}

static struct axis crossing_axis(const struct hlg_calibration *c)
{
	struct axis axis = begin_axis(c);

	for (size_t i = 0; i < HLG_CROSS_ROWS; i++) {
		const struct hlg_crossing *row = &c->crossings.rows[i];

		if (row->state == HLG_CROSS_SKIPPED)
			continue;
		reach(&axis, row->ticks.min, row->ticks.max);
		axis.most = row->ticks.p50 > axis.most ? row->ticks.p50 : axis.most;
		for (size_t k = 0; k < HLG_CROSSING_REFERENCES; k++) {
			const struct hlg_crossing_reference *r =
				&hlg_crossing_references[k];

			if (is_published(r, i))
				reach(&axis, r->low, r->low);
		}
	}
	return axis;
}

static void put_crossing_rows(FILE *f, const struct axis *axis)
{
	static const struct {
		size_t first;
		const char *name;
	} groups[] = {{HLG_CROSS_PAIR_USER, "Between the rings of a guest"},
		      {HLG_CROSS_CPUID, "From a guest to its host and back"},
		      {HLG_CROSS_RUN, "On the host"}};

	for (size_t i = 0, next = 0; i < HLG_CROSS_ROWS; i++) {
		if (next < sizeof(groups) / sizeof(groups[0]) && groups[next].first == i)
			hlg_plot_group(f, 4, groups[next++].name, "");
		put_crossing(f, axis, i);
	}
}

static void put_crossing_words(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_crossings *all = &c->crossings;
	const char *verdict = hlg_crossing_verdict(all);

	fputs("<p class=\"summary\">What it costs to leave a ring or the guest, u2k into "
	      "the kernel, k2u back.",
	      f);
	if (all->emulated)
		fputs(" Ring 0 is emulated here: rows that involve it are not comparable "
		      "with other machines.",
		      f);
	fprintf(f,
		" Medians of parts of a native row differ by up to %.0f %%, by "
		"%.0f %% of the quiet batches (%.0f %% of all)%s%s.</p>\n",
		100 * hlg_crossing_noise(all, true), 100 * hlg_crossing_noise(all, false),
		100 * hlg_crossing_quiet(all), verdict[0] ? ": the machine was " : "",
		verdict);
	fprintf(f,
		"<p class=\"legend\"><span class=\"key range\">minimum to "
		"maximum</span><span "
		"class=\"key most\">median to p99</span><span class=\"key "
		"dot\">published, of other machines%s</span></p>\n",
		all->hz > 0 ? " (their cycles, at this one's rate)" : " (cycles)");
}

static void plot_crossings(FILE *f, const struct hlg_calibration *c)
{
	struct axis axis = crossing_axis(c);

	put_crossing_words(f, c);
	hlg_plot_begin(f, "Exit cost", "way");
	hlg_plot_axis(f, &axis.of_times);
	hlg_plot_head(f, "median");
	hlg_plot_head(f, "p99");
	fputs("</tr></thead>\n<tbody>\n", f);
	put_crossing_rows(f, &axis);
	fputs("</tbody></table></div>\n", f);
}

/* Sample precision */

/* How far behind a part of a guest's samples is at most. */
static size_t within(const struct hlg_land *land, double part)
{
	uint64_t sum = land->distance[0];
	size_t n = 0;

	while (n < HLG_LANDING_FAR && (double)sum < part * (double)land->guest)
		sum += land->distance[++n];
	return n;
}

/* A bar for each distance, the higher the more samples; and where 95 % are passed. */
static void put_distances(FILE *f, const struct hlg_land *land)
{
	hlg_plot_drawing(f, CELLS * CELL, HLG_PLOT_DEEP);
	fprintf(f, "<path class=\"grid\" d=\"M0 %dh%d\"/>", HLG_PLOT_DEEP, CELLS * CELL);
	for (size_t k = 0; k < CELLS && land->guest; k++) {
		double high =
			HLG_PLOT_DEEP * (double)land->distance[k] / (double)land->guest;

		if (land->distance[k])
			fprintf(f,
				"<rect class=\"most\" x=\"%zu\" y=\"%.1f\" width=\"%d\" "
				"height=\"%.1f\"/>",
				k * CELL + 1, HLG_PLOT_DEEP - (high < 1 ? 1 : high),
				CELL - 2, high < 1 ? 1 : high);
	}
	fprintf(f, "<path class=\"limit\" d=\"M%zu 0v%d\"/></svg></td>",
		(within(land, HLG_LANDING_SHARE) + 1) * CELL, HLG_PLOT_DEEP);
}

static void put_distance(FILE *f, size_t distance)
{
	char text[16];

	snprintf(text, sizeof(text), "%zu%s", distance,
		 distance == HLG_LANDING_FAR ? "+" : "");
	hlg_plot_cell(f, "number", text);
}

static void put_land(FILE *f, const struct hlg_land *land, size_t guest)
{
	char text[16];

	hlg_plot_row(f, hlg_landing_name(guest), "");
	if (!hlg_landing_hot(guest)) {
		fputs("<td></td><td></td><td></td>", f);
	} else if (!land->guest) {
		hlg_plot_missing(f, 4, "no samples");
		return;
	} else {
		put_distances(f, land);
		put_distance(f, within(land, 0.5));
		put_distance(f, within(land, HLG_LANDING_SHARE));
	}
	snprintf(text, sizeof(text), "-");
	if (land->guest)
		hlg_interval_percent(text, (double)(land->wrong + land->gap) /
						   (double)land->guest);
	hlg_plot_cell(f, "number", text);
	fputs("</tr>\n", f);
}

/* Events in a row that share a reason are one row. */
static size_t put_missing_events(FILE *f, const struct hlg_landings *l, size_t i)
{
	const char *reason = l->events[i].reason;
	char names[256];
	size_t n = 0;

	do {
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
				      hlg_samplings[i].name);
	} while (++i < HLG_SAMPLINGS && strcmp(l->events[i].reason, reason) == 0);
	hlg_plot_group(f, 5, names, reason);
	return i;
}

static void put_event(FILE *f, const struct hlg_landed *landed, const char *name)
{
	char window[512];

	if (landed->window == HLG_WINDOW_UNKNOWN)
		snprintf(window, sizeof(window), "window not known: %s", landed->why);
	else
		snprintf(window, sizeof(window), "window of %" PRIu64 " instruction%s",
			 landed->window, landed->window == 1 ? "" : "s");
	hlg_plot_group(f, 5, name, window);
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++)
		put_land(f, &landed->guests[i], i);
}

static void plot_landings(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_landings *l = &c->landings;

	fputs("<p class=\"summary\">How many instructions late samples are, in guests "
	      "that spend their time at one that is known. The window has 95 % of "
	      "the samples of each such guest.</p>\n",
	      f);
	if (l->reason[0]) {
		fputs("<p>", f);
		hlg_xml_text(f, l->reason);
		fputs("</p>\n", f);
		return;
	}
	fputs("<p class=\"legend\"><span class=\"key most\">share of samples</span><span "
	      "class=\"key limit\">95 % are in front of it</span></p>\n",
	      f);
	hlg_plot_begin(f, "Sample precision", "guest");
	fputs("<th scope=\"col\"><span class=\"axis of-cells\">", f);
	for (size_t k = 0; k < CELLS; k++)
		fprintf(f, "<span>%zu%s</span>", k, k == HLG_LANDING_FAR ? "+" : "");
	fputs("</span></th>", f);
	hlg_plot_head(f, "median");
	hlg_plot_head(f, "95 %");
	hlg_plot_head(f, "astray %");
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t i = 0; i < HLG_SAMPLINGS;)
		if (l->events[i].reason[0]) {
			i = put_missing_events(f, l, i);
		} else {
			put_event(f, &l->events[i], hlg_samplings[i].name);
			i++;
		}
	fputs("</tbody></table></div>\n<p class=\"said\">Astray: in another function "
	      "than the true one, or in none.</p>\n",
	      f);
}

/* Counter accuracy */

static void put_runs(FILE *f, const struct axis *axis,
		     const struct hlg_pmu_counted *counted, const char *class, int y)
{
	struct hlg_variation v;

	if (counted->runs == 0)
		return;
	v = hlg_calibrate_variation(counted->ticks, counted->runs);
	put_span(f, axis, "range", v.min, v.max, y, HLG_PLOT_HIGH / 2 - 1);
	put_span(f, axis, class, v.median, v.median, y, HLG_PLOT_HIGH / 2 - 1);
}

/* How far the counter's median is off: "exact", "+2"; "-" where nothing counted. */
static void put_excess(FILE *f, const struct hlg_counts *counts, size_t side, size_t i)
{
	const struct hlg_pmu_counted *c = &counts->counted[side][i];
	char text[32] = "-";

	if (c->runs && !c->reason[HLG_PMU_INSTRUCTIONS][0]) {
		uint64_t median =
			hlg_calibrate_variation(c->values[HLG_PMU_INSTRUCTIONS], c->runs)
				.median;
		uint64_t law =
			hlg_calibrate_retired(&hlg_count_laws[i], counts->operations);

		snprintf(text, sizeof(text), median == law ? "exact" : "%+" PRId64,
			 (int64_t)(median - law));
	}
	hlg_plot_cell(f, "number", text);
}

static void put_program(FILE *f, const struct axis *axis, size_t i, bool counted)
{
	const struct hlg_counts *counts = &axis->of->counts;

	hlg_plot_row(f, hlg_count_laws[i].program, "");
	begin_drawing(f, axis);
	put_runs(f, axis, &counts->counted[HLG_COUNT_GUEST][i], "most", 0);
	put_runs(f, axis, &counts->counted[HLG_COUNT_NATIVE][i], "native",
		 HLG_PLOT_HIGH / 2);
	fputs("</svg></td>", f);
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++) {
		const struct hlg_steps *steps = &counts->steps[side][i];

		hlg_plot_cell(
			f, steps->exact || steps->reason[0] ? "number" : "number wrong",
			steps->reason[0] ? "skipped"
			: steps->exact   ? "exact"
					 : "WRONG");
	}
	for (size_t side = 0; side < HLG_COUNT_SIDES && counted; side++)
		put_excess(f, counts, side, i);
	fputs("</tr>\n", f);
}

static bool is_counted(const struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			const struct hlg_pmu_counted *c = &counts->counted[side][i];

			if (c->runs && !c->reason[HLG_PMU_INSTRUCTIONS][0])
				return true;
		}
	return false;
}

static struct axis count_axis(const struct hlg_calibration *c)
{
	struct axis axis = begin_axis(c);

	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			const struct hlg_pmu_counted *counted =
				&c->counts.counted[side][i];
			struct hlg_variation v;

			if (counted->runs == 0)
				continue;
			v = hlg_calibrate_variation(counted->ticks, counted->runs);
			reach(&axis, v.min, v.max);
		}
	return axis;
}

static void plot_counts(FILE *f, const struct hlg_calibration *c)
{
	static const char *const columns[] = {"steps, guest", "steps, native",
					      "counter, guest", "counter, native"};
	struct axis axis = count_axis(c);
	bool counted = is_counted(&c->counts);

	fprintf(f,
		"<p class=\"summary\">Programs whose instructions are known: "
		"single-stepped, and runs of %" PRIu64 " operations timed%s.</p>\n"
		"<p class=\"legend\"><span class=\"key range\">fastest to slowest "
		"run</span><span class=\"key most\">median in a guest</span><span "
		"class=\"key native\">median natively</span></p>\n",
		c->counts.operations,
		counted ? " and counted" : "; there is no counter for them here");
	hlg_plot_begin(f, "Counter accuracy", "program");
	hlg_plot_axis(f, &axis.of_times);
	for (size_t i = 0; i < (counted ? 4 : 2); i++)
		hlg_plot_head(f, columns[i]);
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		put_program(f, &axis, i, counted);
	fputs("</tbody></table></div>\n", f);
}

/* The page */

static void put_fact(FILE *f, const char *label, const char *text)
{
	fprintf(f, "<div><dt>%s</dt><dd>", label);
	hlg_xml_text(f, text);
	fputs("</dd></div>\n", f);
}

static void put_machine(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_machine *m = &c->machine;
	char text[128];

	fputs("<h1>hlguest calibrate</h1>\n<dl>\n", f);
	put_fact(f, "processor", m->cpu[0] ? m->cpu : "unknown");
	snprintf(text, sizeof(text), "%ld CPUs%s; load %.2f", m->cpus,
		 m->guest ? ", itself a virtual machine" : "", m->load);
	put_fact(f, "machine", text);
	put_fact(f, "kernel", m->kernel);
	put_fact(f, "KVM", hlg_calibrate_kvm(c));
	put_fact(f, "measured", m->date);
	fputs("</dl>\n", f);
}

static void put_conclusion(FILE *f, const struct hlg_calibration *c)
{
	struct hlg_conclusion conclusion;

	hlg_calibrate_conclude(&conclusion, c);
	fputs("<dl class=\"figures\">\n", f);
	for (size_t i = 0; i < conclusion.n; i++) {
		fprintf(f, "<div><dt>%s</dt><dd class=\"figure\">", conclusion.of[i]);
		hlg_xml_text(f, conclusion.figure[i]);
		fputs("</dd><dd>", f);
		hlg_xml_text(f, conclusion.sentence[i]);
		fputs("</dd></div>\n", f);
	}
	fputs("</dl>\n", f);
}

struct figures {
	const struct hlg_calibration *of;
	unsigned part; /* 0: what is wrong with the truth */
};

static int write_figures(void *data, FILE *f, struct hlg_err *err)
{
	const struct figures *figures = data;

	(void)err;
	if (figures->part)
		hlg_calibrate_tables(f, figures->of, figures->part);
	else
		hlg_calibrate_faults(f, figures->of);
	return 0;
}

static int put_faults(FILE *f, const struct hlg_calibration *c, struct hlg_err *err)
{
	char *text = hlg_page_words_of(write_figures, &(struct figures){c, 0});

	if (!text)
		return hlg_err_memory(err, "format=html");
	fputs("<p class=\"warning\">Known results were measured wrongly: do not trust "
	      "these figures.</p>\n",
	      f);
	hlg_page_words_folded(f, "What was wrong", text);
	free(text);
	return 0;
}

static int put_part(FILE *f, const struct hlg_calibration *c,
		    enum hlg_calibration_part part, struct hlg_err *err)
{
	const char *title = part == HLG_CALIBRATE_LANDING    ? "Sample precision"
			    : part == HLG_CALIBRATE_CROSSING ? "Exit cost"
							     : "Counter accuracy";
	char *text = hlg_page_words_of(write_figures, &(struct figures){c, part});

	if (!text)
		return hlg_err_memory(err, "format=html");
	fprintf(f, "<section>\n<h2>%s</h2>\n", title);
	if (part == HLG_CALIBRATE_LANDING)
		plot_landings(f, c);
	else if (part == HLG_CALIBRATE_CROSSING)
		plot_crossings(f, c);
	else
		plot_counts(f, c);
	hlg_page_words_folded(f, "All figures", text);
	fputs("</section>\n", f);
	free(text);
	return 0;
}

int hlg_calibrate_html(void *calibration, FILE *f, struct hlg_err *err)
{
	static const enum hlg_calibration_part parts[] = {
		HLG_CALIBRATE_LANDING, HLG_CALIBRATE_CROSSING, HLG_CALIBRATE_COUNTING};
	const struct hlg_calibration *c = calibration;
	int rc = 0;

	hlg_page_begin(f, &hlg_page_still, "hlguest calibrate");
	fputs("<header id=\"answer\">\n", f);
	put_machine(f, c);
	if (hlg_calibrate_faults(NULL, c))
		rc = put_faults(f, c, err);
	else
		put_conclusion(f, c);
	fputs("</header>\n<main>\n", f);
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (c->parts & parts[i])
			rc = put_part(f, c, parts[i], err);
	fputs("</main>\n", f);
	hlg_page_end(f, &hlg_page_still);
	return rc;
}
