// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings in file mode: what was not recorded reads as perf has it; samples find their
 * event by IDENTIFIER, by ID, or need neither; counter values come as one sample for each
 * member that moved, by what it moved; attributes may be of any size; other records are
 * counted and told; payloads behind records are passed over; a file read in two parts
 * gives what it gives in one, and a wrong cut is noticed; the times of the first and last
 * sample are those that perf noted, if it did.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/perfdata/format.h"

static const struct kit_event plain = {
	{.type = PERF_TYPE_SOFTWARE, .sample_type = KIT_PLAIN, .sample_period = 9},
	.name = "my clock",
};

static void read_kit(struct kit_seen *seen, const struct kit_event *events, size_t n,
		     const struct kit *records)
{
	struct kit k = {0};

	kit_file(&k, events, n, records, 0);
	kit_read_bytes(seen, k.at, k.n);
	kit_free(&k);
	ck_assert_msg(seen->rc == 0, "%s", seen->err.msg);
	ck_assert_uint_eq(seen->counts.left, 0);
}

START_TEST(plain_samples)
{
	struct kit records = {0};
	struct kit_seen seen;

	for (uint64_t i = 0; i < 50000; i++)
		kit_plain(&records, i, 100 + i % 7);
	read_kit(&seen, &plain, 1, &records);
	ck_assert_uint_eq(seen.n, 50000);
	ck_assert_str_eq(seen.names, "my clock;");
	for (uint64_t i = 0; i < seen.n; i++) {
		const struct hlg_sample *s = &seen.samples[i];

		ck_assert(s->ip == i && s->period == 100 + i % 7 && s->pid == 11 &&
			  s->tid == 12 && s->time == 1000 + i && s->cpu == -1 &&
			  s->event == 0 && s->cpumode == HLG_MODE_GUEST_USER);
	}
	ck_assert_uint_eq(seen.counts.types[PERF_RECORD_SAMPLE], 50000);
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

START_TEST(nothing_recorded)
{
	struct kit_event event = {
		.attr = {.type = PERF_TYPE_HARDWARE, .sample_period = 4711}};
	struct kit records = {0};
	struct kit_seen seen;

	kit_end(&records, kit_begin(&records, PERF_RECORD_SAMPLE, 1));
	read_kit(&seen, &event, 1, &records);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.samples[0].ip, 0);
	ck_assert_uint_eq(seen.samples[0].period, 4711);
	ck_assert_uint_eq(seen.samples[0].time, HLG_NO_TIME);
	ck_assert_int_eq(seen.samples[0].pid, -1);
	ck_assert_int_eq(seen.samples[0].tid, -1);
	ck_assert_int_eq(seen.samples[0].cpu, -1);
	ck_assert_str_eq(seen.names, "cycles:HG;");
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

START_TEST(event_by_identifier)
{
	const uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	struct kit_event events[] = {
		{{.sample_type = type}, {5, 6, 105}, "a"},
		{{.sample_type = type}, {7, 105}, "b"}, /* an id's last event has it */
		{{.sample_type = type}, {8}, "never"},
	};
	const uint64_t ids[] = {7, 5, 0, 105, 99, 6};
	const uint32_t want[] = {1, 0, 0, 1, 0};
	struct kit records = {0};
	struct kit_seen seen;
	size_t start;

	for (size_t i = 0; i < 6; i++)
		kit_with_id(&records, ids[i], i);
	/* Too short for an id, and for what follows it. */
	kit_end(&records, kit_begin(&records, PERF_RECORD_SAMPLE, 1));
	start = kit_begin(&records, PERF_RECORD_SAMPLE, 1);
	kit_u64(&records, 5);
	kit_end(&records, start);
	read_kit(&seen, events, 3, &records);
	ck_assert_uint_eq(seen.n, 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(seen.samples[i].event, want[i]);
	ck_assert_uint_eq(seen.samples[4].ip, 5);
	ck_assert_uint_eq(seen.counts.unknown_id, 1);
	ck_assert_uint_eq(seen.counts.bad_sample, 2);
	ck_assert_str_eq(seen.names, "b;a;");
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

START_TEST(event_by_id)
{
	const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_ID;
	struct kit_event events[] = {
		{{.sample_type = type}, {5}, "a"},
		{{.sample_type = type | PERF_SAMPLE_CPU}, {6}, "b"},
	};
	struct kit records = {0}, k = {0};
	struct kit_seen seen;

	kit_with_id(&records, 0xabc, 5); /* ip, then id */
	read_kit(&seen, events, 2, &records);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.samples[0].ip, 0xabc);
	kit_finish(&seen);
	/* Not at the same place: nobody can tell. */
	events[1].attr.sample_type |= PERF_SAMPLE_TID;
	kit_file(&k, events, 2, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	kit_free(&k);
	events[0].attr.sample_type = events[1].attr.sample_type = PERF_SAMPLE_IP;
	kit_file(&k, events, 2, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	kit_free(&k);
	kit_free(&records);
}
END_TEST

/* A sample of IDENTIFIER, TID and a group of two values with their ids. */
static void put_group(struct kit *k, uint32_t tid, uint64_t id0, uint64_t value0,
		      uint64_t id1, uint64_t value1)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, 2);

	kit_u64(k, id0);
	kit_u32(k, 1);
	kit_u32(k, tid);
	kit_u64(k, 2);
	kit_u64(k, value0);
	kit_u64(k, id0);
	kit_u64(k, value1);
	kit_u64(k, id1);
	kit_end(k, start);
}

static void check_group(bool inherit, const char *want)
{
	const struct perf_event_attr attr = {
		.sample_type =
			PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.inherit = inherit,
	};
	struct kit_event events[] = {{attr, {5}, "lead"}, {attr, {6}, "member"}};
	struct kit records = {0};
	struct kit_seen seen;
	char got[256] = "";

	put_group(&records, 1, 5, 100, 6, 10);
	put_group(&records, 1, 5, 150, 6, 10); /* the member has not moved */
	put_group(&records, 2, 5, 170, 6, 11); /* another thread */
	put_group(&records, 1, 5, 200, 7, 99); /* a member of no event */
	read_kit(&seen, events, 2, &records);
	for (size_t i = 0; i < seen.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u:%ju ",
			 seen.samples[i].event, (uintmax_t)seen.samples[i].period);
	ck_assert_str_eq(got, want);
	ck_assert_str_eq(seen.names, "lead;member;");
	ck_assert_uint_eq(seen.counts.zero_delta, 1);
	ck_assert_uint_eq(seen.counts.unknown_id, 1);
	ck_assert_uint_eq(seen.counts.types[PERF_RECORD_SAMPLE], 4);
	kit_free(&records);
	kit_finish(&seen);
}

START_TEST(group_of_counters)
{
	check_group(false, "0:100 1:10 0:50 0:20 1:1 0:30 ");
	check_group(true, "0:100 1:10 0:50 0:170 1:11 0:50 ");
}
END_TEST

START_TEST(one_counter)
{
	struct kit_event event = {
		{.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ,
		 .sample_period = 3,
		 .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID},
		{42},
		"one"};
	struct kit records = {0};
	struct kit_seen seen;

	for (uint64_t i = 1; i < 4; i++) {
		size_t start = kit_begin(&records, PERF_RECORD_SAMPLE, 2);

		kit_u64(&records, 0x1000);
		kit_u64(&records, i * i * 100);
		kit_u64(&records, 999);
		kit_u64(&records, 42);
		kit_end(&records, start);
	}
	read_kit(&seen, &event, 1, &records);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_uint_eq(seen.samples[0].period, 100);
	ck_assert_uint_eq(seen.samples[1].period, 300);
	ck_assert_uint_eq(seen.samples[2].period, 500);
	kit_finish(&seen);
	/* Without an id nobody knows whose value it is: the sample as it is. */
	event.attr.read_format = 0;
	read_kit(&seen, &event, 1, &records);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_uint_eq(seen.samples[2].period, 3);
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

START_TEST(attribute_sizes)
{
	static const size_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 400};
	struct kit records = {0};

	kit_plain(&records, 1, 2);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct kit k = {0};
		struct kit_seen seen;

		kit_file(&k, &plain, 1, &records, sizes[i]);
		kit_read_bytes(&seen, k.at, k.n);
		ck_assert_int_eq(seen.rc, 0);
		ck_assert_uint_eq(seen.n, 1);
		ck_assert_uint_eq(seen.samples[0].period, 2);
		kit_finish(&seen);
		kit_free(&k);
	}
	kit_free(&records);
}
END_TEST

static void put_others(struct kit *k)
{
	size_t start = kit_begin(k, PERF_RECORD_COMM, 0);

	kit_u64(k, 1);
	kit_text(k, "vmm");
	kit_end(k, start);
	start = kit_begin(k, PERF_RECORD_MMAP, 1);
	for (int i = 0; i < 4; i++)
		kit_u64(k, 1);
	kit_text(k, "[kernel]");
	kit_end(k, start);
	start = kit_begin(k, PERF_RECORD_MMAP2, 2);
	for (int i = 0; i < 8; i++)
		kit_u64(k, 1);
	kit_text(k, "/bin/vmm");
	kit_end(k, start);
	start = kit_begin(k, PERF_RECORD_FORK, 0);
	for (int i = 0; i < 3; i++)
		kit_u64(k, 1);
	kit_end(k, start);
	start = kit_begin(k, PERF_RECORD_LOST, 0);
	kit_u64(k, 1);
	kit_u64(k, 1000);
	kit_end(k, start);
	start = kit_begin(k, PERF_RECORD_LOST_SAMPLES, 0);
	kit_u64(k, 77);
	kit_end(k, start);
	/* PERF_RECORD_MISC_LOST_SAMPLES_BPF: the user's own filter did not want them */
	start = kit_begin(k, PERF_RECORD_LOST_SAMPLES, 1 << 15);
	kit_u64(k, 681);
	kit_end(k, start);
	kit_end(k, kit_begin(k, PERF_RECORD_THROTTLE, 0));
	kit_end(k, kit_begin(k, 40, 0));               /* nobody's */
	kit_end(k, kit_begin(k, 5000, 0));             /* nobody's */
	kit_end(k, kit_begin(k, PERF_RECORD_COMM, 0)); /* too short */
	start = kit_begin(k, PERF_RECORD_COMM, 0);     /* its name does not end */
	kit_u64(k, 1);
	kit_bytes(k, "12345678", 8);
	kit_end(k, start);
	start = kit_begin(k, HLG_RECORD_CALLCHAIN_DEFERRED, 2); /* lacks addresses */
	kit_u64(k, UINT64_C(3) << 32 | 1);
	kit_u64(k, UINT64_MAX);
	kit_u64(k, 1);
	kit_end(k, start);
	kit_end(k, kit_begin(k, HLG_RECORD_CALLCHAIN_DEFERRED, 2)); /* too short, */
	kit_end(k, kit_begin(k, HLG_RECORD_COMPRESSED2, 0));        /* and these */
	kit_end(k, kit_begin(k, PERF_RECORD_LOST_SAMPLES, 0));
}

/* What passes 2^64 is told as the most there is, not as little. */
START_TEST(very_many_lost)
{
	struct kit records = {0};
	struct kit_seen seen;

	for (unsigned i = 0; i < 3; i++) {
		size_t start = kit_begin(&records, PERF_RECORD_LOST, 0);

		kit_u64(&records, 1);
		kit_u64(&records, UINT64_MAX / 2);
		kit_end(&records, start);
	}
	kit_plain(&records, 1, 2);
	read_kit(&seen, &plain, 1, &records);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.counts.lost, UINT64_MAX);
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

START_TEST(other_records)
{
	struct kit records = {0};
	struct kit_seen seen;

	put_others(&records);
	kit_plain(&records, 1, 2);
	read_kit(&seen, &plain, 1, &records);
	ck_assert_str_eq(seen.names,
			 "task:vmm;task:[kernel];task:/bin/vmm;task:;my clock;");
	ck_assert_uint_eq(seen.counts.lost, 1000);
	ck_assert_uint_eq(seen.counts.lost_samples, 77);
	ck_assert_uint_eq(seen.counts.types[PERF_RECORD_THROTTLE], 1);
	ck_assert_uint_eq(seen.counts.types[40], 1);
	ck_assert_uint_eq(seen.counts.unknown_types, 1);
	ck_assert_uint_eq(seen.counts.bad_record, 6);
	ck_assert_uint_eq(seen.n, 1);
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

START_TEST(payloads)
{
	static uint8_t payload[600001];
	struct kit records = {0};
	struct kit_seen seen;

	/* What looks like samples must not be taken for such. */
	memset(payload, PERF_RECORD_SAMPLE, sizeof(payload));
	for (size_t n = 0; n <= sizeof(payload); n += 40000) {
		size_t start = kit_begin(&records, 71, 0); /* PERF_RECORD_AUXTRACE */

		kit_u64(&records, n);
		for (int i = 0; i < 4; i++)
			kit_u64(&records, 0);
		kit_end(&records, start);
		kit_bytes(&records, payload, n);
		kit_plain(&records, n, 1);
	}
	read_kit(&seen, &plain, 1, &records);
	ck_assert_uint_eq(seen.n, 16);
	ck_assert_uint_eq(seen.samples[15].ip, 600000);
	ck_assert_uint_eq(seen.counts.types[71], 16);
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

static void check_split(const struct kit *k, const struct kit_seen *whole, uint64_t at)
{
	struct kit_seen seen;

	kit_read_split(&seen, k->at, k->n, at);
	ck_assert_msg(seen.rc == 0, "%s", seen.err.msg);
	ck_assert_uint_eq(seen.n, whole->n);
	for (size_t i = 0; i < seen.n; i++)
		ck_assert_uint_eq(seen.samples[i].ip, whole->samples[i].ip);
	if (at == 0 && whole->n > 100)
		ck_assert(seen.split);
	kit_finish(&seen);
}

START_TEST(two_parts)
{
	static const size_t sizes[] = {1, 2, 3, 64, 65, 129, 20000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct kit records = {0}, k = {0};
		struct kit_seen whole;

		for (uint64_t n = 0; n < sizes[i]; n++) {
			kit_plain(&records, n, 1);
			if (n % 50 == 0)
				kit_end(&records, kit_begin(&records, 68, 0));
		}
		kit_file(&k, &plain, 1, &records, 0);
		kit_read_bytes(&whole, k.at, k.n);
		check_split(&k, &whole, 0);
		/* Wherever it is cut, the outcome is the same. */
		for (uint64_t at = 264; at < k.n && at < 1000; at += sizes[i] / 500 + 1)
			check_split(&k, &whole, at);
		kit_finish(&whole);
		kit_free(&records);
		kit_free(&k);
	}
}
END_TEST

/* A record that nothing can be read behind, in the first half: one of AUXTRACE without
 * the size of what it has, or none at all. */
START_TEST(two_parts_that_stop)
{
	static const unsigned types[] = {71, 0};

	for (size_t i = 0; i < 2; i++) {
		struct kit records = {0}, k = {0};
		struct kit_seen whole, seen;

		for (uint64_t n = 0; n < 1000; n++) {
			kit_plain(&records, n, 1);
			if (n == 300 && types[i])
				kit_end(&records, kit_begin(&records, types[i], 0));
			else if (n == 300)
				kit_u64(&records, 0);
		}
		kit_file(&k, &plain, 1, &records, 0);
		kit_read_bytes(&whole, k.at, k.n);
		ck_assert_uint_eq(whole.n, 301);
		kit_read_split(&seen, k.at, k.n, 0);
		ck_assert_uint_eq(seen.n, 301);
		ck_assert_uint_eq(seen.counts.left, whole.counts.left);
		kit_finish(&seen);
		kit_finish(&whole);
		kit_free(&records);
		kit_free(&k);
	}
}
END_TEST

/* What is read of a recording whose "HEADER_SAMPLE_TIME" has n bytes of times; 0: none.
 */
static void check_times(const uint64_t *times, size_t n, uint64_t first, uint64_t last)
{
	const struct kit_event event = {.attr = {.sample_type = KIT_PLAIN}};
	struct kit records = {0}, k = {0};
	uint64_t flags = 1 << 21, got[2] = {4711, 4711};
	struct hlg_perfdata *pd;
	struct hlg_err err;
	const char *path;

	kit_plain(&records, 1, 1);
	kit_file(&k, &event, 1, &records, 0);
	if (n) {
		memcpy(k.at + 72, &flags, 8); /* the flags of perf_header */
		kit_u64(&k, k.n + 16);
		kit_u64(&k, n);
		kit_bytes(&k, times, n);
	}
	path = kit_name(k.at, k.n);
	ck_assert_msg(hlg_perfdata_open(&pd, path, &err) == 0, "%s", err.msg);
	ck_assert_msg(hlg_perfdata_sample_time(pd, &got[0], &got[1], &err) == 0, "%s",
		      err.msg);
	ck_assert_uint_eq(got[0], first);
	ck_assert_uint_eq(got[1], last);
	hlg_perfdata_close(pd);
	kit_unname(path);
	kit_free(&records);
	kit_free(&k);
}

START_TEST(sample_time)
{
	const uint64_t times[] = {1100000000123, 5100000000456, 7};
	const uint64_t same[] = {9, 9}, back[] = {2, 1};

	check_times(times, 16, times[0], times[1]);
	check_times(times, 24, times[0], times[1]); /* what a newer perf may add */
	check_times(same, 16, 9, 9);
	check_times(NULL, 0, 0, 0);
	check_times(times, 15, 0, 0);
	check_times(back, 16, 0, 0);
}
END_TEST

/* uname's words, perf's own from 7.0 on, and the number that goes before both. */
START_TEST(machines)
{
	static const struct {
		const char *word;
		uint32_t number, machine;
	} told[] = {
		{"x86_64", 0, EM_X86_64},
		{"x86", 0, EM_X86_64},
		{"aarch64", 0, EM_AARCH64},
		{"arm64", 0, EM_AARCH64},
		{"riscv64", 0, 0},
		{"x86", EM_AARCH64, EM_AARCH64},
		{"arm64", EM_RISCV, EM_RISCV},
		{"arm64", 0x10000, EM_AARCH64},
	};
	struct kit records = {0}, k = {0};
	struct kit_seen seen;
	size_t start;

	if (told[_i].number) {
		start = kit_begin(&records, 80, 0); /* HEADER_FEATURE */
		kit_u64(&records, 33);              /* HEADER_E_MACHINE */
		kit_u32(&records, told[_i].number);
		kit_u32(&records, 0);
		kit_end(&records, start);
	}
	start = kit_begin(&records, 80, 0);
	kit_u64(&records, 6); /* HEADER_ARCH */
	kit_u32(&records, 8);
	kit_text(&records, told[_i].word);
	kit_end(&records, start);
	kit_plain(&records, 1, 2);
	kit_pipe(&k, &plain, 1, &records);
	kit_read_piped(&seen, k.at, k.n, 4096);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.machine, told[_i].machine);
	kit_finish(&seen);
	kit_free(&k);
	kit_free(&records);
}
END_TEST

/* Did perf run a command, and which; or attach to what ran? Its own words say. */
START_TEST(attaching)
{
	static const struct {
		const char *words[5];
		bool exec; /* an event began when it ran one */
		bool attached;
		const char *command;
		uint32_t missing; /* words, that are announced */
	} told[] = {
		{{"perf", "record", "-e", "cycles", "./vmm"}, false, false, NULL, 0},
		{{"perf", "kvm", "record", "-a"}, false, true, NULL, 0},
		{{"perf", "record", "--all-cpus", "sleep", "1"}, false, true, NULL, 0},
		{{"perf", "record", "--pid=7"}, false, true, NULL, 0},
		{{"perf", "record", "--tid", "7"}, false, true, NULL, 0},
		{{"perf", "record", "-gp7"}, false, true, NULL, 0},
		{{"perf", "record", "-vt", "7"}, false, true, NULL, 0},
		{{"perf", "record", "-F99", "-ofat.data", "vmm"}, false, false, NULL, 0},
		{{"perf", "record", "-ea/p/", "vmm"}, false, false, NULL, 0},
		{{"perf", "record", "--phys-data", "vmm"}, false, false, NULL, 0},
		{{"perf", "record", "--", "vmm", "-a"}, false, false, "vmm|-a|", 0},
		{{"perf", "record", "--", "--", ""}, false, false, "--||", 0},
		{{"perf", "record", "--", "vmm"}, false, false, "", 2},
		{{"perf", "record", "--", "vmm"}, false, false, "", UINT32_MAX - 4},
		{{"perf", "record", "vmm", "-p", "7"}, true, false, NULL, 0},
	};
	const struct kit_event of_command = {
		.attr = {.sample_type = KIT_PLAIN, .enable_on_exec = told[_i].exec}};
	struct kit records = {0}, k = {0};
	struct kit_seen seen;
	uint32_t n = 0;
	size_t start = kit_begin(&records, 80, 0); /* HEADER_FEATURE */

	while (n < 5 && told[_i].words[n])
		n++;
	kit_u64(&records, 11); /* HEADER_CMDLINE */
	kit_u32(&records, n + told[_i].missing);
	for (uint32_t i = 0; i < n; i++) {
		kit_u32(&records, (uint32_t)(strlen(told[_i].words[i]) / 8 + 1) * 8);
		kit_text(&records, told[_i].words[i]);
	}
	kit_u32(&records, 0);
	kit_end(&records, start);
	kit_plain(&records, 1, 2);
	kit_pipe(&k, &of_command, 1, &records);
	kit_read_piped(&seen, k.at, k.n, 4096);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_msg(seen.attached == told[_i].attached, "%d: %s %s", _i,
		      told[_i].words[2], told[_i].words[3]);
	ck_assert_str_eq(seen.command, told[_i].command ? told[_i].command : "");
	kit_finish(&seen);
	kit_free(&k);
	kit_free(&records);
}
END_TEST

/* 0: whole; 1: without the callchain; 2: too short to say whose time it was */
START_TEST(off_cpu)
{
	const struct kit_event event = {{.type = PERF_TYPE_SOFTWARE,
					 .config = PERF_COUNT_SW_BPF_OUTPUT,
					 .sample_type = KIT_PLAIN | PERF_SAMPLE_RAW},
					.name = "offcpu-time"};
	const unsigned sizes[] = {16 + 8 + 2 * 8 + 4, 16 + 4, 8 + 4};
	struct kit records = {0};
	struct kit_seen seen;

	for (unsigned i = 0; i < 2; i++) { /* the first of an event is another's case */
		size_t start = kit_begin(&records, PERF_RECORD_SAMPLE, 2);

		kit_u64(&records, 0); /* ip */
		kit_u32(&records, 0); /* pid, tid: of swapper */
		kit_u32(&records, 0);
		kit_u64(&records, 1000);
		kit_u64(&records, 1); /* period */
		kit_u32(&records, sizes[_i]);
		kit_u32(&records, 11);
		kit_u32(&records, 12 + i);
		if (_i < 2)
			kit_u64(&records, 994500000);
		if (_i < 1) {
			kit_u64(&records, 2);
			kit_u64(&records, (uint64_t)-512); /* PERF_CONTEXT_USER */
			kit_u64(&records, 0x401000);
		}
		kit_u32(&records, 0); /* perf's padding */
		kit_end(&records, start);
	}
	read_kit(&seen, &event, 1, &records);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.counts.bad_sample, _i == 2 ? 2 : 0);
	ck_assert_uint_eq(seen.n, _i == 2 ? 0 : 2);
	for (unsigned i = 0; i < seen.n; i++) {
		ck_assert_int_eq(seen.samples[i].pid, 11);
		ck_assert_int_eq(seen.samples[i].tid, (int)(12 + i));
		ck_assert_uint_eq(seen.samples[i].period, 994500000);
		ck_assert_uint_eq(seen.samples[i].ip, _i ? 0 : 0x401000);
	}
	kit_free(&records);
	kit_finish(&seen);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata reader");
	TCase *tc = tap_case(suite, "file mode");

	tcase_add_test(tc, plain_samples);
	tcase_add_test(tc, nothing_recorded);
	tcase_add_test(tc, event_by_identifier);
	tcase_add_test(tc, event_by_id);
	tcase_add_test(tc, group_of_counters);
	tcase_add_test(tc, one_counter);
	tcase_add_test(tc, attribute_sizes);
	tcase_add_test(tc, other_records);
	tcase_add_loop_test(tc, machines, 0, 8);
	tcase_add_loop_test(tc, attaching, 0, 15);
	tcase_add_loop_test(tc, off_cpu, 0, 3);
	tcase_add_test(tc, very_many_lost);
	tcase_add_test(tc, payloads);
	tcase_add_test(tc, two_parts);
	tcase_add_test(tc, two_parts_that_stop);
	tcase_add_test(tc, sample_time);
	return tap_main(suite);
}
