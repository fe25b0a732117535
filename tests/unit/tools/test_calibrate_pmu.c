// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters that this machine may not have: in the place of perf-event.c stand events of
 * memory, whose counts and samples the test makes up. Counts are taken between begin and
 * end, what calling costs is taken off, counters that fail or take turns give a reason
 * and no figure; samples are read around the ring's end, lost ones counted, and a broken
 * ring ends it.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/tap.h"
#include "tools/calibrate/calibration.h"
#include "tools/calibrate/perf-event.h"
#include "tools/calibrate/pmu.h"
#include "tools/calibrate/sampler.h"

#define FDS        64
#define RING_PAGES 64 /* as sample.c has it */

static struct fake {
	struct perf_event_attr attr;
	struct hlg_perf_event_count count;
	unsigned enabled; /* how often */
} fakes[FDS];

static struct {
	int refuse_kernel;          /* errno for events that want the kernel too */
	int refuse;                 /* errno for all */
	uint64_t first, then, each; /* counts of the runs of an event: see on_enable */
	uint64_t idle;              /* ns of 1000 that a counter does not run */
	uint64_t before;            /* ns that it did not, before all runs */
	bool unreadable;
} machine;

int hlg_perf_event_open(const struct perf_event_attr *attr)
{
	size_t size = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	int fd;

	errno = machine.refuse ? machine.refuse : machine.refuse_kernel;
	if (machine.refuse || (machine.refuse_kernel && !attr->exclude_kernel))
		return -1;
	fd = memfd_create("event", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_lt(fd, FDS);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	fakes[fd] = (struct fake){.attr = *attr, .count.enabled = machine.before};
	return fd;
}

/* The first run counts `first`, the next two `then`, all others `each`. */
void hlg_perf_event_enable(int fd)
{
	struct fake *fake = &fakes[fd];

	fake->count.value += fake->enabled == 0  ? machine.first
			     : fake->enabled < 3 ? machine.then
						 : machine.each;
	fake->count.enabled += 1000;
	fake->count.running += 1000 - machine.idle;
	fake->enabled++;
}

void hlg_perf_event_disable(int fd)
{
	(void)fd;
}

bool hlg_perf_event_read(int fd, struct hlg_perf_event_count *count)
{
	*count = fakes[fd].count;
	return !machine.unreadable;
}

static struct hlg_guests guests;
static struct hlg_err err;

static void enter(void)
{
	memset(&machine, 0, sizeof(machine));
	machine.each = 19; /* 8 of the program, 11 of calling it, without its return */
	machine.first = 15;
	machine.then = 12;
	ck_assert_int_eq(hlg_guest_image_open(&guests, hlg_guests_elf,
					      hlg_guest_image_elf_size(), &err),
			 0);
}

static void leave(void)
{
	hlg_guest_image_finish(&guests);
}

static struct hlg_calibration *count(void)
{
	static struct hlg_calibration c;

	memset(&c, 0, sizeof(c));
	c.parts = HLG_CALIBRATE_COUNTING;
	c.counts.sizes[0] = 20;
	c.counts.sizes[1] = 10;
	snprintf(c.no_kvm, sizeof(c.no_kvm), "none");
	ck_assert_int_eq(hlg_calibrate_count(&c.counts, &guests, c.no_kvm, 2, &err), 0);
	return &c;
}

static char *write_as(int (*write)(void *c, FILE *f, struct hlg_err *err),
		      struct hlg_calibration *c)
{
	static char *text;
	size_t size;
	FILE *f;

	free(text);
	text = NULL;
	f = open_memstream(&text, &size);
	ck_assert_int_eq(write(c, f, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

/* 19 less 12 of an empty program, whose return is the program's own: 8, as its law says.
 */
START_TEST(counts)
{
	struct hlg_calibration *c = count();
	const struct hlg_pmu_counted *rep = &c->counts.counted[HLG_COUNT_NATIVE][0];

	ck_assert_uint_eq(rep->runs, 2);
	for (size_t run = 0; run < 2; run++) {
		ck_assert_uint_eq(rep->values[HLG_PMU_INSTRUCTIONS][run], 8);
		ck_assert_uint_eq(rep->values[HLG_PMU_BRANCHES][run], 7);
	}
	ck_assert_str_eq(rep->reason[HLG_PMU_INSTRUCTIONS], "");
	ck_assert_ptr_nonnull(
		strstr(write_as(hlg_calibrate_csv, c), ",rep_lodsb,native,2,counter\n"));
	ck_assert_ptr_nonnull(strstr(write_as(hlg_calibrate_csv, c), "\n8,7,"));
	c->tables = true;
#if HLG_HAVE_JANSSON
	ck_assert_ptr_nonnull(
		strstr(write_as(hlg_calibrate_json, c),
		       "\"instructions\": {\"min\": 8, \"median\": 8, \"max\": 8"));
#endif
	ck_assert_ptr_nonnull(
		strstr(write_as(hlg_calibrate_text, c), "0.000        +0 "));
	ck_assert_ptr_nonnull(strstr(write_as(hlg_calibrate_html, c), "</html>"));
}
END_TEST

static const char *reason_of(struct hlg_calibration *c)
{
#if HLG_HAVE_JANSSON
	ck_assert_ptr_null(strstr(write_as(hlg_calibrate_json, c), "\"skipped\": \"\""));
#endif
	ck_assert_ptr_null(strstr(write_as(hlg_calibrate_csv, c), "counter"));
	return c->counts.counted[HLG_COUNT_NATIVE][0].reason[HLG_PMU_INSTRUCTIONS];
}

START_TEST(counters_that_take_turns)
{
	machine.before = 7;
	ck_assert_str_eq(
		count()->counts.counted[HLG_COUNT_NATIVE][0].reason[HLG_PMU_INSTRUCTIONS],
		"");
	machine.idle = 1;
	ck_assert_ptr_nonnull(strstr(reason_of(count()), "was shared"));
}
END_TEST

/* Where nothing counts them, instructions are the law's, if stepping bore it out. */
START_TEST(instructions_by_stepping)
{
	struct hlg_calibration *c;

	machine.idle = 1;
	c = count();
	c->counts.steps[HLG_COUNT_NATIVE][0].exact = true;
	ck_assert_ptr_nonnull(strstr(write_as(hlg_calibrate_csv, c), ",ins_from\n8,,"));
	ck_assert_ptr_nonnull(
		strstr(write_as(hlg_calibrate_csv, c), ",rep_lodsb,native,2,steps\n"));
	c->counts.steps[HLG_COUNT_NATIVE][0].exact = false;
	ck_assert_ptr_nonnull(strstr(write_as(hlg_calibrate_csv, c), ",ins_from\n,,"));
	ck_assert_ptr_nonnull(
		strstr(write_as(hlg_calibrate_csv, c), ",rep_lodsb,native,2,\n"));
}
END_TEST

START_TEST(counters_that_fail)
{
	machine.unreadable = true;
	ck_assert_ptr_nonnull(strstr(reason_of(count()), "cannot be read"));
	machine.unreadable = false;
	machine.refuse = EBUSY;
	ck_assert_ptr_nonnull(strstr(reason_of(count()), "another program"));
	machine.refuse = ENOENT;
	ck_assert_ptr_nonnull(strstr(reason_of(count()), "no such counter"));
}
END_TEST

/* What else happened is told of the run, not of all time before it. */
START_TEST(beside_a_run)
{
	static struct hlg_pmu_counted counted;
	char reasons[HLG_PMU_EVENTS][96];
	struct hlg_pmu pmu;

	hlg_pmu_open(&pmu, false, reasons);
	hlg_pmu_begin(&pmu);
	hlg_pmu_end(&pmu, &counted, 1);
	ck_assert_uint_lt(counted.ticks[1], pmu.before_ticks);
	ck_assert_uint_lt(counted.faults[1], pmu.before_faults);
	if (pmu.before_interrupts) /* they can be read here */
		ck_assert_uint_lt(counted.interrupts[1], pmu.before_interrupts);
	hlg_pmu_finish(&pmu);
}
END_TEST

/* Of ring 3 only, and of the side that is asked for only. */
START_TEST(attributes)
{
	char reasons[HLG_PMU_EVENTS][96];
	struct hlg_pmu pmu;

	for (int guest = 0; guest < 2; guest++) {
		const struct perf_event_attr *attr;

		hlg_pmu_open(&pmu, guest, reasons);
		attr = &fakes[pmu.fds[HLG_PMU_INSTRUCTIONS]].attr;
		ck_assert_uint_eq(attr->config, PERF_COUNT_HW_INSTRUCTIONS);
		ck_assert_int_eq(attr->exclude_host, guest);
		ck_assert_int_eq(attr->exclude_guest, !guest);
		ck_assert(attr->exclude_kernel && attr->disabled);
		ck_assert_int_lt(pmu.fds[HLG_PMU_LOADS], 0);
		hlg_pmu_finish(&pmu);
	}
}
END_TEST

static uint64_t seen_guest, seen_host, last;

static void see(void *ctx, uint64_t ip, bool guest)
{
	(void)ctx;
	seen_guest += guest;
	seen_host += !guest;
	last = ip;
}

/* Puts a record where the kernel would, around the ring's end. */
static void put(struct hlg_sampler *sampler, uint32_t type, uint16_t misc, uint16_t size,
		const uint64_t values[2])
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *about = sampler->ring;
	struct perf_event_header header = {type, misc, size};
	char bytes[24];

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), values, 16);
	for (size_t i = 0; i < size && i < sizeof(bytes); i++)
		((char *)sampler
			 ->ring)[page + (about->data_head + i) % (RING_PAGES * page)] =
			bytes[i];
	about->data_head += size;
}

START_TEST(samples)
{
	static const uint64_t at[2] = {0x401000, 7};
	struct hlg_sampler s;
	struct perf_event_mmap_page *about;
	char reason[256];

	ck_assert(hlg_sampler_open(&s, &hlg_samplings[2], reason));
	about = s.ring;
	about->data_head = about->data_tail =
		RING_PAGES * (uint64_t)sysconf(_SC_PAGESIZE) - 12;
	put(&s, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_USER, 16, at);
	put(&s, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_KERNEL, 16, at);
	put(&s, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, 16, at);
	put(&s, PERF_RECORD_LOST, 0, 24, at);
	put(&s, PERF_RECORD_THROTTLE, 0, 24, at);
	hlg_sampler_drain(&s, see, NULL);
	ck_assert_uint_eq(seen_guest, 2);
	ck_assert_uint_eq(seen_host, 1);
	ck_assert_uint_eq(last, 0x401000);
	ck_assert_uint_eq(s.lost, 7);
	ck_assert_uint_eq(about->data_tail, about->data_head);
	put(&s, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_USER, 4, at); /* no size */
	about->data_head += 100;
	hlg_sampler_drain(&s, see, NULL);
	ck_assert_uint_eq(seen_guest, 2);
	ck_assert_uint_eq(about->data_tail, about->data_head);
	hlg_sampler_finish(&s);
}
END_TEST

/* Without privileges: a counter of ring 3 alone, and no timer, which would miss guests.
 */
START_TEST(unprivileged)
{
	struct hlg_sampler s;
	char reason[256];

	machine.refuse_kernel = EACCES;
	ck_assert(hlg_sampler_open(&s, &hlg_samplings[2], reason));
	ck_assert(fakes[s.fd].attr.exclude_kernel && fakes[s.fd].attr.exclude_host);
	hlg_sampler_finish(&s);
	ck_assert(!hlg_sampler_open(&s, &hlg_samplings[0], reason));
	ck_assert_ptr_nonnull(strstr(reason, "paranoid"));
	hlg_sampler_finish(&s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibrate pmu");
	TCase *tc = tap_case(suite, "events");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, counts);
	tcase_add_test(tc, counters_that_take_turns);
	tcase_add_test(tc, instructions_by_stepping);
	tcase_add_test(tc, counters_that_fail);
	tcase_add_test(tc, beside_a_run);
	tcase_add_test(tc, attributes);
	tcase_add_test(tc, samples);
	tcase_add_test(tc, unprivileged);
	return tap_main(suite);
}
