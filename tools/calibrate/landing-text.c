// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

#include "filter/write/write.h"
#include "tools/calibrate/calibration.h"

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static uint64_t between(const struct hlg_land *land, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += land->distance[i];
	return sum;
}

static void put_land(FILE *f, const struct hlg_landed *landed, size_t i)
{
	const struct hlg_land *land = &landed->guests[i];

	fprintf(f, "    %-14s %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %7.2f %7.2f %7.2f",
		hlg_landing_name(i), land->guest, land->host, land->lost,
		percent(land->on, land->guest), percent(land->wrong, land->guest),
		percent(land->gap, land->guest));
	if (hlg_landing_hot(i))
		fprintf(f, "  %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f",
			percent(land->distance[0], land->guest),
			percent(land->distance[1], land->guest),
			percent(land->distance[2], land->guest),
			percent(between(land, 3, 8), land->guest),
			percent(between(land, 8, HLG_LANDING_FAR), land->guest),
			percent(land->distance[HLG_LANDING_FAR], land->guest));
	fputc('\n', f);
}

static void put_event(FILE *f, const struct hlg_landed *landed, const char *name)
{
	if (landed->reason[0]) {
		fprintf(f, "  %-16s skipped: %s\n", name, landed->reason);
		return;
	}
	if (landed->window == HLG_WINDOW_UNKNOWN)
		fprintf(f, "  %-16s skid window: not known (%s)\n", name, landed->why);
	else
		fprintf(f, "  %-16s skid window: %" PRIu64 " instruction%s\n", name,
			landed->window, landed->window == 1 ? "" : "s");
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++)
		put_land(f, landed, i);
}

static void put_programs(FILE *f, const struct hlg_landings *landings)
{
	if (!landings->programs_by) {
		fprintf(f, "\nLanding in the string programs\n  skipped: %s\n",
			landings->programs_reason);
		return;
	}
	fprintf(f,
		"\nLanding in the string programs, by %s (%% of guest samples)\n"
		"  %-11s %7s %8s %8s %8s %8s\n",
		landings->programs_by, "program", "samples", "boundary", "string", "loop",
		"wrong");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		const struct hlg_land *land = &landings->programs[i];

		fprintf(f, "  %-11s %7" PRIu64 " %8.2f %8.2f ", hlg_count_laws[i].program,
			land->guest, percent(land->on, land->guest),
			percent(land->string, land->guest));
		if (hlg_count_laws[i].retired)
			fprintf(f, "%8s", "-");
		else
			fprintf(f, "%8.2f", percent(land->loop, land->guest));
		fprintf(f, " %8.2f\n", percent(land->wrong + land->gap, land->guest));
	}
}

void hlg_landing_write_text(FILE *f, const struct hlg_calibration *calibration)
{
	const struct hlg_landings *landings = &calibration->landings;

	fputs("\nLanding: samples of guests whose time is known to be in one place\n", f);
	if (landings->reason[0]) {
		fprintf(f, "  skipped: %s\n", landings->reason);
		return;
	}
	fprintf(f, "    %-14s %6s %6s %6s %7s %7s %7s  %6s %6s %6s %6s %6s %6s\n", "",
		"guest", "host", "lost", "bound%", "wrong%", "gap%", "at 0 %", "1", "2",
		"3-7", "8-15", "more");
	for (size_t i = 0; i < HLG_SAMPLINGS; i++)
		put_event(f, &landings->events[i], hlg_samplings[i].name);
	fputs("  bound: on an instruction's boundary; wrong: in another function than "
	      "the "
	      "true one;\n  at 0, 1 ...: instructions behind the one that has the time. "
	      "The "
	      "window has 95 %\n  of each of these guests' samples.\n",
	      f);
	put_programs(f, landings);
}

static void put_counts(FILE *f, const struct hlg_land *land)
{
	fprintf(f,
		"\"guest\": %" PRIu64 ", \"host\": %" PRIu64 ", \"lost\": %" PRIu64
		", \"on_boundary\": %" PRIu64 ", \"off_boundary\": %" PRIu64
		", \"right\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"gap\": %" PRIu64,
		land->guest, land->host, land->lost, land->on, land->off, land->right,
		land->wrong, land->gap);
}

static void put_event_json(FILE *f, const struct hlg_landed *landed, const char *name)
{
	fprintf(f, "      {\"event\": \"%s\", \"window\": ", name);
	if (landed->reason[0]) {
		fputs("null, \"skipped\": ", f);
		hlg_write_string(f, landed->reason);
		fputc('}', f);
		return;
	}
	if (landed->window == HLG_WINDOW_UNKNOWN)
		fputs("null", f);
	else
		fprintf(f, "%" PRIu64, landed->window);
	if (landed->why[0]) {
		fputs(", \"window_why\": ", f);
		hlg_write_string(f, landed->why);
	}
	fputs(", \"guests\": [", f);
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		const struct hlg_land *land = &landed->guests[i];

		fprintf(f, "%s\n        {\"guest_code\": \"%s\", ", i ? "," : "",
			hlg_landing_name(i));
		put_counts(f, land);
		for (size_t k = 0; hlg_landing_hot(i) && k <= HLG_LANDING_FAR; k++)
			fprintf(f, "%s%" PRIu64, k ? ", " : ", \"distance\": [",
				land->distance[k]);
		fputs(hlg_landing_hot(i) ? "]}" : "}", f);
	}
	fputs("]}", f);
}

void hlg_landing_write_json(FILE *f, const struct hlg_calibration *calibration)
{
	const struct hlg_landings *landings = &calibration->landings;

	fputs(",\n  \"landing\": {\n", f);
	if (landings->reason[0]) {
		fputs("    \"skipped\": ", f);
		hlg_write_string(f, landings->reason);
		fputs(",\n", f);
	}
	fputs("    \"events\": [\n", f);
	for (size_t i = 0; !landings->reason[0] && i < HLG_SAMPLINGS; i++) {
		put_event_json(f, &landings->events[i], hlg_samplings[i].name);
		fputs(i + 1 < HLG_SAMPLINGS ? ",\n" : "\n", f);
	}
	fputs("    ],\n", f);
	if (landings->programs_by)
		fprintf(f, "    \"programs_by\": \"%s\",\n", landings->programs_by);
	else if (landings->programs_reason[0]) {
		fputs("    \"programs_skipped\": ", f);
		hlg_write_string(f, landings->programs_reason);
		fputs(",\n", f);
	}
	fputs("    \"programs\": [", f);
	for (size_t i = 0; landings->programs_by && i < HLG_COUNT_PROGRAMS; i++) {
		const struct hlg_land *land = &landings->programs[i];

		fprintf(f, "%s\n      {\"program\": \"%s\", ", i ? "," : "",
			hlg_count_laws[i].program);
		put_counts(f, land);
		fprintf(f, ", \"string\": %" PRIu64 ", \"loop\": %" PRIu64 "}",
			land->string, land->loop);
	}
	fputs("]\n  }", f);
}
