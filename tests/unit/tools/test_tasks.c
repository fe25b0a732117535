// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings are what a byte-by-byte picture of the address space says, also after forks,
 * which take little. Threads and processes get the names and mappings that
 * perf gives them; each rule that tools/feed/tasks.h lists has a test here, on records
 * made up for it. Whether the rules are perf's is for tests/peers/perf_diff.py to say.
 */
#include "tools/feed/tasks.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/kit/tap.h"

enum {
	USER = PERF_RECORD_MISC_USER,
	KERNEL = PERF_RECORD_MISC_KERNEL
};

static struct hlg_tasks tasks;

static void enter(void)
{
	ck_assert(hlg_tasks_init(&tasks));
}

static void leave(void)
{
	hlg_tasks_finish(&tasks);
}

static void apply(struct hlg_perfdata_task task)
{
	if (!task.name)
		task.name = "";
	ck_assert(hlg_tasks_apply(&tasks, &task));
}

static void comm(int pid, int tid, const char *name)
{
	apply((struct hlg_perfdata_task){
		.type = PERF_RECORD_COMM, .pid = pid, .tid = tid, .name = name});
}

static void begin(int pid, int tid, int ppid, int ptid)
{
	apply((struct hlg_perfdata_task){.type = PERF_RECORD_FORK,
					 .pid = pid,
					 .tid = tid,
					 .ppid = ppid,
					 .ptid = ptid});
}

static void end(int pid, int tid)
{
	apply((struct hlg_perfdata_task){
		.type = PERF_RECORD_EXIT, .pid = pid, .tid = tid});
}

static void map(int pid, uint64_t start, uint64_t size, const char *name)
{
	apply((struct hlg_perfdata_task){.type = PERF_RECORD_MMAP2,
					 .pid = pid,
					 .tid = pid,
					 .start = start,
					 .size = size,
					 .prot = PROT_READ | PROT_EXEC,
					 .cpumode = pid == -1 ? KERNEL : USER,
					 .name = name});
}

static void check_at(int pid, int tid, unsigned mode, uint64_t ip, const char *name,
		     const char *mapping)
{
	const struct hlg_thread *thread = hlg_tasks_thread(&tasks, pid, tid);
	uint64_t offset;

	ck_assert_ptr_nonnull(thread);
	ck_assert_str_eq(hlg_tasks_comm(&tasks, thread), name);
	ck_assert_pstr_eq(hlg_tasks_mapping(&tasks, thread, mode, ip, &offset), mapping);
}

#define ROOM 256

static uint32_t at(int pid, uint64_t ip, uint64_t *offset)
{
	const struct hlg_thread *thread = hlg_tasks_thread(&tasks, pid, pid);
	const char *name = hlg_tasks_mapping(&tasks, thread, USER, ip, offset);

	return name ? (uint32_t)atoi(name) : 0;
}

/* Three address spaces of 256 bytes; one becomes a copy of another now and then. */
START_TEST(maps_as_a_picture)
{
	uint32_t picture[3][ROOM] = {{0}};
	int pid[3] = {1, 2, 3};
	uint64_t random = (uint64_t)_i * 2654435761u + 1, offset;

	for (uint32_t step = 1; step < 400; step++) {
		unsigned which, from, to;
		size_t wrong = 0;
		char name[16];

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		which = (unsigned)(random >> 33) % 3;
		from = (unsigned)(random >> 36) % ROOM;
		to = from + (unsigned)(random >> 44) % (step % 3 ? 20 : ROOM - from);
		to = to > ROOM ? ROOM : to;
		if (step % (_i % 2 ? 29 : 5) == 0) {
			int parent = pid[(which + 1) % 3];

			end(pid[which], pid[which]);
			pid[which] = (int)step + 3;
			begin(pid[which], pid[which], parent, parent);
			memcpy(picture[which], picture[(which + 1) % 3],
			       sizeof(picture[0]));
		}
		snprintf(name, sizeof(name), "%u", step);
		map(pid[which], from, to - from, name);
		for (unsigned i = from; i < to; i++)
			picture[which][i] = step;
		for (unsigned k = 0; k < 3; k++)
			for (unsigned i = 0; i < ROOM; i++)
				wrong += at(pid[k], i, &offset) != picture[k][i];
		ck_assert_uint_eq(wrong, 0);
	}
	for (unsigned k = 0; k < 3; k++)
		end(pid[k], pid[k]);
	ck_assert_uint_eq(tasks.mappings, 0);
}
END_TEST

/* What is left of a range stays where it was in its file. */
START_TEST(offsets)
{
	uint64_t offset = 0;

	apply((struct hlg_perfdata_task){.type = PERF_RECORD_MMAP2,
					 .pid = 7,
					 .tid = 7,
					 .start = 0x1000,
					 .size = 0x4000,
					 .file_offset = 0x10000,
					 .cpumode = USER,
					 .name = "1"});
	map(7, 0x2000, 0x1000, "2");
	ck_assert_uint_eq(at(7, 0x1800, &offset), 1);
	ck_assert_uint_eq(offset, 0x10800);
	ck_assert_uint_eq(at(7, 0x2008, &offset), 2);
	ck_assert_uint_eq(offset, 8);
	ck_assert_uint_eq(at(7, 0x4fff, &offset), 1);
	ck_assert_uint_eq(offset, 0x13fff);
}
END_TEST

START_TEST(maps_at_the_ends)
{
	const struct hlg_perfdata_task one = {.type = PERF_RECORD_MMAP2,
					      .pid = 7,
					      .tid = 7,
					      .start = 1,
					      .size = 1,
					      .cpumode = USER,
					      .name = "3"};
	uint64_t offset;

	ck_assert_uint_eq(at(7, 0, &offset), 0);
	map(7, 5, 0, "1");
	map(7, 5, UINT64_MAX, "1"); /* ends before it begins */
	ck_assert_uint_eq(tasks.mappings, 0);
	map(7, 0, UINT64_MAX, "2");
	ck_assert_uint_eq(at(7, 0, &offset), 2);
	ck_assert_uint_eq(at(7, UINT64_MAX - 1, &offset), 2);
	ck_assert_uint_eq(at(7, UINT64_MAX, &offset), 0);
	tasks.mappings = HLG_TASKS_MAPPINGS_MAX - 1;
	ck_assert(!hlg_tasks_apply(&tasks, &one));
	begin(8, 8, 7, 7);
	ck_assert_uint_eq(at(8, 0, &offset), 2);
	tasks.mappings = 1;
}
END_TEST

/* A thousand generations, each with something of its own, share what the first mapped. */
START_TEST(mappings_of_many_children)
{
	uint64_t offset;

	for (unsigned i = 0; i < 1000; i++)
		map(1, 0x1000 * (i + 1), 0x1000, "1");
	for (int i = 1; i < 1000; i++) {
		begin(i + 1, i + 1, i, i);
		ck_assert_uint_eq(at(i + 1, 0x1000 * 1000, &offset), 1);
		map(i + 1, 0x10, 0x10, "2");
		map(i, 0x20, 0x10, "3");
	}
	ck_assert_uint_eq(at(1000, 0x10, &offset), 2);
	ck_assert_uint_eq(at(1000, 0x20, &offset), 0);
	ck_assert_uint_lt(tasks.mappings, 1000 * 1000 / 10);
	for (int i = 1; i <= 1000; i++)
		end(i, i);
	ck_assert_uint_eq(tasks.mappings, 0);
}
END_TEST

START_TEST(names)
{
	check_at(7, 7, USER, 1, ":7", NULL);
	check_at(0, 0, KERNEL, 1, "swapper", NULL);
	check_at(-1, -1, KERNEL, 1, ":-1", NULL);
	comm(7, 7, "vmm");
	check_at(7, 7, USER, 1, "vmm", NULL);
	check_at(7, 8, USER, 1, ":8", NULL);
	begin(7, 8, 7, 7);
	check_at(7, 8, USER, 1, "vmm", NULL);
	comm(7, 8, "vcpu");
	comm(7, 7, "");
	check_at(7, 8, USER, 1, "vcpu", NULL);
	check_at(7, 7, USER, 1, "", NULL);
	end(7, 8);
	check_at(7, 8, KERNEL, 1, "vcpu", NULL);
	begin(9, 8, 7, 7); /* the number again, for another */
	check_at(9, 8, KERNEL, 1, "", NULL);
}
END_TEST

START_TEST(mappings_of_threads)
{
	map(7, 0x1000, 0x1000, "/bin/vmm");
	check_at(7, 8, USER, 0x1fff, ":8", "/bin/vmm");
	check_at(7, 8, USER, 0x2000, ":8", NULL);
	check_at(7, 8, KERNEL, 0x1000, ":8", NULL);
	check_at(7, 8, 3, 0x1000, ":8", NULL); /* a hypervisor's */
	check_at(9, 9, USER, 0x1000, ":9", NULL);
	check_at(-1, 10, USER, 0x1000, ":10", NULL);
	check_at(7, 10, USER, 0x1000, ":10", "/bin/vmm");
	check_at(9, 10, USER, 0x1000, ":10", NULL); /* whatever another sample said */
	comm(-1, 11, "whose");
	check_at(7, 11, USER, 0x1000, "whose", "/bin/vmm");
	check_at(-1, 11, USER, 0x1000, "whose", NULL);
	map(7, 0x1800, 0x100, "/lib/c.so");
	check_at(7, 8, USER, 0x17ff, ":8", "/bin/vmm");
	check_at(7, 7, USER, 0x1800, ":7", "/lib/c.so");
	check_at(7, 10, USER, 0x1900, ":10", "/bin/vmm");
	comm(7, 10, "known");
	check_at(9, 10, USER, 0x1000, "known", "/bin/vmm");
}
END_TEST

START_TEST(mappings_of_children)
{
	map(7, 0x1000, 0x1000, "/bin/vmm");
	begin(8, 8, 7, 7);
	map(7, 0x1000, 0x1000, "/bin/later");
	map(8, 0x1800, 0x10, "/bin/child");
	check_at(8, 8, USER, 0x1000, ":8", "/bin/vmm");
	check_at(8, 8, USER, 0x1800, ":8", "/bin/child");
	check_at(7, 7, USER, 0x1800, ":7", "/bin/later");
	apply((struct hlg_perfdata_task){.type = PERF_RECORD_FORK,
					 .pid = 9,
					 .tid = 9,
					 .ppid = 7,
					 .ptid = 7,
					 .exec = true}); /* perf's own: it maps itself */
	check_at(9, 9, USER, 0x1000, ":9", NULL);
	begin(8, 8, 1, 1); /* the number again */
	check_at(8, 8, USER, 0x1000, ":8", NULL);
	begin(5, 5, 5, 5);
	begin(6, 6, 44, 7); /* of a parent that is another's thread now */
	check_at(6, 6, USER, 0x1000, ":6", NULL);
}
END_TEST

START_TEST(mappings_end_with_the_last_thread)
{
	map(7, 0x1000, 0x1000, "/bin/vmm");
	begin(7, 8, 7, 7);
	end(7, 7);
	end(7, 7);
	check_at(7, 8, USER, 0x1000, ":8", "/bin/vmm");
	begin(7, 9, 7, 8);
	end(7, 8);
	apply((struct hlg_perfdata_task){
		.type = PERF_RECORD_EXIT, .pid = 7, .tid = 9, .time = UINT64_MAX});
	check_at(7, 9, USER, 0x1000, ":9", "/bin/vmm"); /* who knows when that was */
	end(7, 9);
	ck_assert_uint_eq(tasks.mappings, 0);
	check_at(7, 9, USER, 0x1000, ":9", NULL);
	map(7, 0x1000, 0x1000, "/bin/other"); /* execve(2) by a thread that is the last */
	check_at(7, 7, USER, 0x1000, ":7", "/bin/other");
	end(7, 7);
	ck_assert_uint_eq(tasks.mappings, 0);
	end(44, 44);
}
END_TEST

START_TEST(memory_without_a_file)
{
	static const char *const nameless[] = {"//anon",  "/dev/zero (deleted)",
					       "[heap]",  "/anon_hugepage (deleted)",
					       "[stack]", "/SYSV00000000 (deleted)"};
	struct hlg_perfdata_task data = {.type = PERF_RECORD_MMAP2,
					 .pid = 7,
					 .tid = 7,
					 .start = 0x5000,
					 .size = 1,
					 .prot = PROT_READ | PROT_WRITE,
					 .cpumode = USER};

	for (size_t i = 0; i < sizeof(nameless) / sizeof(*nameless); i++) {
		map(7, 0x1000, 1, nameless[i]);
		check_at(7, 7, USER, 0x1000, ":7", "/tmp/perf-7.map");
		data.name = nameless[i];
		apply(data);
		check_at(7, 7, USER, 0x5000, ":7", nameless[i]);
	}
	map(7, 0x1000, 1, "[vdso]");
	check_at(7, 7, USER, 0x1000, ":7", "[vdso]");
	data.name = "/dev/hugepages/x";
	data.prot = PROT_EXEC;
	data.flags = MAP_HUGETLB;
	apply(data);
	check_at(7, 7, USER, 0x5000, ":7", "/tmp/perf-7.map");
}
END_TEST

START_TEST(the_kernel)
{
	check_at(7, 7, KERNEL, 0xffffffff81000000, ":7", NULL);
	map(-1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text");
	map(-1, 0xffffffffc0000000, 0x1000, "/lib/modules/6.1/kernel/arch/kvm-amd-x2.ko.xz");
	map(-1, 0xffffffffc0001000, 0x1000, "[kvm]");
	map(-1, 0xffffffffc0002000, 0x1000, "/lib/modules/6.1/odd.name");
	map(-1, 0xffffffffc0003000, 0x1000, "nonsense");
	map(-1, 0xffffffffc0004000, 0x1000, "/boot/a.kolibri");
	check_at(7, 7, KERNEL, 0xffffffff81000000, ":7", "[kernel.kallsyms]");
	check_at(7, 7, KERNEL, 0xffffffff82000000, ":7", NULL);
	check_at(7, 7, KERNEL, 0xffffffffc0000fff, ":7", "[kvm_amd_x2]");
	check_at(7, 7, KERNEL, 0xffffffffc0001000, ":7", "[kvm]");
	check_at(7, 7, KERNEL, 0xffffffffc0002000, ":7", "odd.name");
	check_at(7, 7, KERNEL, 0xffffffffc0003000, ":7", NULL);
	check_at(7, 7, KERNEL, 0xffffffffc0004000, ":7", "a.kolibri");
	check_at(7, 7, USER, 0xffffffffc0001000, ":7", NULL);
	map(-1, 0, 0, "[kernel.kallsyms]_text");
	check_at(7, 7, KERNEL, 0x1000, ":7", "[kernel.kallsyms]");
	apply((struct hlg_perfdata_task){.type = PERF_RECORD_MMAP,
					 .pid = -1,
					 .tid = -1,
					 .size = 0x1000,
					 .cpumode = PERF_RECORD_MISC_GUEST_KERNEL,
					 .name = "[guest.kernel.kallsyms]_text"});
	check_at(-1, -1, USER, 0x10, ":-1", NULL);
}
END_TEST

/* More than fits in the first table, and all of them known afterwards. */
START_TEST(many_threads)
{
	char name[16];

	for (int tid = 1; tid < 20000; tid++) {
		snprintf(name, sizeof(name), "t%d", tid);
		comm(tid / 3, tid, name);
		map(tid, (uint64_t)tid << 12, 0x1000, name);
	}
	for (int tid = 1; tid < 20000; tid++) {
		snprintf(name, sizeof(name), "t%d", tid);
		check_at(tid / 3, tid, KERNEL, 0, name, NULL);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tasks");
	TCase *tc = tap_case(suite, "maps");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_loop_test(tc, maps_as_a_picture, 0, 20);
	tcase_add_test(tc, offsets);
	tcase_add_test(tc, maps_at_the_ends);
	tcase_add_test(tc, mappings_of_many_children);
	tc = tap_case(suite, "tasks");
	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, names);
	tcase_add_test(tc, mappings_of_threads);
	tcase_add_test(tc, mappings_of_children);
	tcase_add_test(tc, mappings_end_with_the_last_thread);
	tcase_add_test(tc, memory_without_a_file);
	tcase_add_test(tc, the_kernel);
	tcase_add_test(tc, many_threads);
	return tap_main(suite);
}
