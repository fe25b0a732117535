// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a calibration made up, of which no two figures are the same: what stands in a
 * place can be no other's.
 *
 *	mkcalibration FORMAT [faults|faultN|none|SEED]
 *
 * FORMAT is that of hlguest calibrate, or "tables", which is text with all measurements.
 * faults: truths do not hold, faultN: one of them, from 0 on; none: nothing could be
 * measured. From a seed figures are of any size, and rows are missing; their sums hold.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tools/calibrate/calibration.h"

enum {
	FAULTS = 4
};

static struct hlg_calibration c;

static uint64_t seed;      /* 0: none */
static uint64_t span = 24; /* of figures, in powers of two */

static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % below;
}

/* Another number each time. */
static uint64_t number(void)
{
	static uint64_t last = 1000;

	return seed ? draw(UINT64_C(10) << draw(span)) : (last += 7);
}

static void make_machine(void)
{
	c.machine = (struct hlg_machine){.cpu = "Processor <1> at 2 GHz",
					 .kernel = "6.1.0 #1 SMP",
					 .kvm = "kvm_intel",
					 .date = "2026-01-02T03:04:05Z",
					 .intel = true,
					 .load = 0.25,
					 .cpus = 12};
	c.kvm = true;
}

/* min to worst rise. */
static void make_ticks(struct hlg_ticks *t)
{
	uint64_t *const figures[] = {&t->min, &t->quiet, &t->p50,  &t->p90,
				     &t->p99, &t->max,   &t->worst};

	t->n = number();
	t->outliers = number() / 100;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		*figures[i] =
			seed ? (i ? *figures[i - 1] : 0) + number() : (i + 1) * number();
	for (size_t i = 0; i < HLG_TICKS_BINS; i++)
		t->bins[i] = number() % 97;
	t->drift = (double)number() / 1e5;
}

static void make_crossings(void)
{
	struct hlg_crossings *all = &c.crossings;

	for (size_t i = 0; i < HLG_CROSS_ROWS; i++) {
		all->rows[i].state = HLG_CROSS_MEASURED;
		make_ticks(&all->rows[i].ticks);
	}
	for (size_t i = 0; seed && i < HLG_CROSS_ROWS; i++)
		if (draw(4) == 0)
			all->rows[i] = (struct hlg_crossing){.reason = "left <out>"};
	all->rows[HLG_CROSS_UD_IN] = (struct hlg_crossing){.reason = "not asked <here>"};
	all->rows[HLG_CROSS_SYSCALL_IN].state = HLG_CROSS_EMULATED;
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		struct hlg_batches *b = &all->batches[i];

		for (size_t why = 0; why < HLG_NATIVE_WHYS; why++)
			b->n += b->whys[why] = number();
		b->least = number();
		b->most = number();
		b->quiet_least = number();
		b->quiet_most = number();
		b->raw = (double)number() / 1e5;
		b->undisturbed = i != HLG_NATIVE_PAIR;
	}
	all->clock = (struct hlg_clock){0.5, 0.4375, 0.625, 3.75};
	all->hz = seed ? (double)(draw(3) * 1300000000) : 2e9; /* 0: not known */
	all->served = GUESTS_CROSSINGS;
}

static void make_land(struct hlg_land *land)
{
	land->right = number();
	land->wrong = number() / 100;
	land->gap = number() / 200;
	land->guest = land->right + land->wrong + land->gap;
	land->host = number();
	land->lost = number();
	land->on = land->guest;
	for (size_t i = 0; i <= HLG_LANDING_FAR; i++)
		land->distance[i] = number() / (i * i + 1);
	if (seed) {
		land->guest = 0;
		for (size_t i = 0; i <= HLG_LANDING_FAR; i++)
			land->guest += land->distance[i] = draw(3) ? number() : 0;
		land->wrong = land->guest ? draw(land->guest + 1) / 3 : 0;
		land->gap = land->wrong / 2;
		land->right = land->guest - land->wrong - land->gap;
		land->on = land->guest;
	}
	land->string = number();
	land->loop = number();
}

static void make_landings(void)
{
	static const char *const reasons[HLG_SAMPLINGS] = {
		[3] = "no counter <of that kind>", [5] = "not precise"};

	for (size_t i = 0; i < HLG_SAMPLINGS; i++) {
		struct hlg_landed *event = &c.landings.events[i];

		event->why = i == 4 ? "it does not count time" : "";
		event->window = i == 4 ? HLG_WINDOW_UNKNOWN : i;
		for (size_t k = 0; k < HLG_LANDING_GUESTS; k++)
			make_land(&event->guests[k]);
		if (reasons[i])
			strcpy(event->reason, reasons[i]);
	}
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		make_land(&c.landings.programs[i]);
	c.landings.programs_by = hlg_samplings[0].name;
}

static void make_counted(struct hlg_pmu_counted *counted, uint64_t retired)
{
	counted->runs = seed ? draw(4) : 3;
	for (size_t run = 0; run < counted->runs; run++) {
		for (size_t i = 0; i < HLG_PMU_EVENTS; i++)
			counted->values[i][run] = number();
		counted->values[HLG_PMU_INSTRUCTIONS][run] = retired + run;
		counted->ticks[run] = number();
		counted->faults[run] = number();
		counted->interrupts[run] = number();
	}
	strcpy(counted->reason[HLG_PMU_STORES], "no counter <of stores>");
}

static void make_counts(void)
{
	c.counts.sizes[0] = 300;
	c.counts.sizes[1] = 30;
	c.counts.operations = 1000000;
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			const struct hlg_law *law = &hlg_count_laws[i];
			struct hlg_steps *steps = &c.counts.steps[side][i];

			for (size_t k = 0; k < HLG_COUNT_SIZES; k++)
				steps->steps[k] =
					hlg_calibrate_steps(law, c.counts.sizes[k]);
			steps->exact = true;
			make_counted(&c.counts.counted[side][i],
				     hlg_calibrate_retired(law, c.counts.operations));
		}
	strcpy(c.counts.steps[HLG_COUNT_NATIVE][4].reason, "the program was killed");
}

static void make_fault(unsigned which)
{
	struct hlg_steps *steps = &c.counts.steps[HLG_COUNT_GUEST][2];

	switch (which) {
	case 0:
		c.crossings.served--;
		break;
	case 1:
		c.crossings.rows[HLG_CROSS_HLT] =
			(struct hlg_crossing){.reason = "out of order", .unordered = 5};
		break;
	case 2:
		strcpy(c.landings.fault, "sample precision, cpu-clock, div: late");
		break;
	default:
		steps->steps[1]++;
		steps->exact = false;
	}
}

static void make_faults(void)
{
	for (unsigned i = 0; i < FAULTS; i++)
		make_fault(i);
	c.crossings.emulated = true;
	c.landings.events[0].guests[2].off = 3;
	strcpy(c.landings.programs_reason, "no event samples guests here");
	c.landings.programs_by = NULL;
}

static void make_none(void)
{
	const char *why = "/dev/kvm: no such device";

	memset(&c.crossings, 0, sizeof(c.crossings));
	memset(&c.counts.counted, 0, sizeof(c.counts.counted));
	c.kvm = false;
	strcpy(c.no_kvm, why);
	strcpy(c.landings.reason, why);
	c.landings.programs_by = NULL;
	for (size_t i = 0; i < HLG_CROSS_ROWS; i++)
		strcpy(c.crossings.rows[i].reason, why);
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			strcpy(c.counts.steps[side][i].reason, why);
			for (size_t k = 0; k < HLG_PMU_EVENTS; k++)
				strcpy(c.counts.counted[side][i].reason[k],
				       HLG_PMU_NO_COUNTER);
		}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "text";
	struct hlg_options options = {0};
	const struct hlg_format *format;
	struct hlg_err err;
	unsigned fault;

	setlocale(LC_ALL, "C"); /* as the command does */
	c.parts = HLG_CALIBRATE_ALL;
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	if (seed % 3 == 1)
		span = 4;
	make_machine();
	make_crossings();
	make_landings();
	make_counts();
	if (argc > 2 && strcmp(argv[2], "faults") == 0)
		make_faults();
	else if (argc > 2 && sscanf(argv[2], "fault%u", &fault) == 1)
		make_fault(fault);
	if (argc > 2 && strcmp(argv[2], "none") == 0)
		make_none();
	c.tables = strcmp(name, "tables") == 0;
	format = hlg_format_find(hlg_calibration_formats, c.tables ? "text" : name);
	if (!format || hlg_format_choose(format, &options, &err) < 0 ||
	    hlg_format_write(&(struct hlg_result){.format = format, .data = &c}, NULL,
			     stdout, &err) < 0)
		return 1;
	return 0;
}
