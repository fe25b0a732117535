// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/tools/resample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/feed/feed.h"

#define UNIT 1000000

static void read_recording(struct resample *r, const char *elf, const char *data)
{
	const struct hlg_feed_how how = {.threads = 1};
	struct hlg_recording_sums sums = {0};
	char *words[] = {(char *)(uintptr_t)elf};
	struct hlg_err err;

	ck_assert_msg(hlg_run_start(&r->run, 1, words, &err) == 0, "%s", err.msg);
	ck_assert_msg(hlg_feed_read(data, &how, &r->run.profile, NULL, &sums, &err) == 0,
		      "%s", err.msg);
	ck_assert_msg(hlg_run_settle(&r->run, &err) == 0, "%s", err.msg);
}

static int compare_cells(const void *a, const void *b)
{
	const struct hlg_cell *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

void resample_init(struct resample *r, const char *elf, const char *data)
{
	const struct hlg_profile *p = &r->run.profile;

	memset(r, 0, sizeof(*r));
	read_recording(r, elf, data);
	r->cells = calloc(p->n_cells, sizeof(*r->cells));
	r->weight = calloc(p->n_cells, sizeof(*r->weight));
	r->drawn = calloc(p->n_cells, sizeof(*r->drawn));
	ck_assert(r->cells && r->weight && r->drawn);
	for (size_t i = 0; i < hlg_profile_room(p); i++)
		if (p->cells[i].count.samples)
			r->cells[r->n++] = p->cells[i];
	qsort(r->cells, r->n, sizeof(*r->cells), compare_cells);
	for (size_t i = 0; i < r->n; i++)
		r->weight[i] = (double)r->cells[i].count.samples;
	r->state = 1;
}

void resample_finish(struct resample *r)
{
	free(r->cells);
	free(r->weight);
	free(r->drawn);
	hlg_run_finish(&r->run);
}

/* SplitMix64 (G. L. Steele and others, OOPSLA 2014). */
static uint64_t next(struct resample *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

double resample_random(struct resample *r)
{
	return (double)(next(r) >> 11) * 0x1p-53;
}

/* Box and Muller, Annals of Mathematical Statistics 29, 1958. */
static double normal(struct resample *r)
{
	double radius = sqrt(-2 * log(1 - resample_random(r)));

	return radius * cos(2 * M_PI * resample_random(r));
}

/* G. Marsaglia and W. W. Tsang, ACM TOMS 26, 2000. */
static double gamma_of(struct resample *r, double shape)
{
	double more = shape < 1 ? 1 : 0, d = shape + more - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		double x = normal(r), v = 1 + c * x, u = 1 - resample_random(r);

		v = v * v * v;
		if (v > 0 && log(u) < x * x / 2 + d - d * v + d * log(v))
			return d * v *
			       (more ? pow(1 - resample_random(r), 1 / shape) : 1);
	}
}

static bool is_in(const struct resample *r, const struct hlg_cell *cell,
		  const char *function)
{
	struct hlg_place place;

	hlg_space_lookup(&r->run.space, cell->ip, &place);
	return place.symbol &&
	       strcmp(hlg_image_name(place.image, place.symbol), function) == 0;
}

/* What every address has in the next recording, summed up from the first on. */
static double weigh(struct resample *r, const struct resample_how *how)
{
	double sum = 0, all = 0, by = how->by;

	if (how->swing > 0)
		by *= resample_random(r) < 0.5 ? how->swing : 1 / how->swing;
	for (size_t i = 0; i < r->n; i++)
		all += r->weight[i];
	for (size_t i = 0; i < r->n; i++) {
		double weight = r->weight[i] / all;

		if (how->slow && is_in(r, &r->cells[i], how->slow))
			weight *= by;
		if (how->concentration > 0)
			weight = gamma_of(r, how->concentration * weight);
		sum += weight;
		r->drawn[i] = sum;
	}
	return sum;
}

static size_t find(const struct resample *r, double at)
{
	size_t low = 0, high = r->n - 1;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->drawn[mid] > at)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void resample_draw(struct resample *r, const struct resample_how *how,
		   struct hlg_profile *profile)
{
	static const uint64_t units[] = {1, 1, 2, 8};
	uint32_t event = hlg_profile_event(profile, "cpu-clock", 0);
	double sum = weigh(r, how);

	for (unsigned i = 0; i < how->samples; i++) {
		const struct hlg_cell *cell =
			&r->cells[find(r, sum * resample_random(r))];
		uint64_t unit = how->unequal ? units[next(r) >> 62] : 1;
		const struct hlg_sample sample = {.ip = cell->ip,
						  .period = unit * UNIT,
						  .time = HLG_NO_TIME,
						  .pid = -1,
						  .tid = -1,
						  .cpu = -1,
						  .event = event,
						  .cpumode = HLG_MODE_GUEST_USER};

		hlg_profile_add(profile, &sample);
	}
}
