// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

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

void hlg_landing_text_write(FILE *f, const struct hlg_calibration *calibration)
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
