// SPDX-License-Identifier: GPL-2.0-only
/*
 * What belongs together is paired, whatever order buffers come in; what could be two
 * halves of different pairs is not.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>

#include "tools/exits/pair.h"
#include "tools/exits/reasons.h"

#include "tests/kit/tap.h"

static struct hlg_exits_sums sums;
static struct hlg_exits_pairing pairing;

static void begin(void)
{
	memset(&sums, 0, sizeof(sums));
	sums.exact = true;
	hlg_exits_begin(&pairing, &sums);
	pairing.has_runs = true;
}

static void end(void)
{
	hlg_exits_finish(&pairing);
	hlg_exits_sums_finish(&sums);
}

static void push_on(int32_t tid, uint16_t cpu, uint8_t kind, uint64_t time, uint64_t b,
		    uint32_t vcpu, uint8_t c)
{
	const struct hlg_exits_item item = {.time = time,
					    .thread = (uint64_t)(uint32_t)tid << 32 | 1,
					    .b = (uint32_t)b,
					    .vcpu = vcpu,
					    .cpu = cpu,
					    .kind = kind,
					    .c = c};

	struct hlg_exits_item *next = hlg_exits_next(&pairing);

	ck_assert_ptr_nonnull(next);
	*next = item;
	hlg_exits_pushed(&pairing, next);
}

static void push(uint8_t kind, uint64_t time)
{
	push_on(2, 0, kind, time, kind == HLG_EXITS_USER ? 2 : 12, 0,
		kind == HLG_EXITS_USER ? HLG_ISA_USER : HLG_ISA_VMX);
}

static void expect(uint64_t pairs, uint64_t total, uint64_t exits, uint64_t entries)
{
	hlg_exits_end(&pairing);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_GUEST], pairs);
	ck_assert_uint_eq(sums.total[HLG_EXITS_GUEST], total);
	ck_assert_uint_eq(sums.lone.exits, exits);
	ck_assert_uint_eq(sums.lone.entries, entries);
	ck_assert(!sums.no_memory);
}

START_TEST(halves_are_counted)
{
	push(HLG_EXITS_ENTRY, 5);
	push(HLG_EXITS_EXIT, 10);
	push(HLG_EXITS_ENTRY, 13);
	push(HLG_EXITS_EXIT, 20); /* its entry is missing */
	push(HLG_EXITS_EXIT, 30);
	push(HLG_EXITS_ENTRY, 37);
	push(HLG_EXITS_ENTRY, 50); /* its exit is */
	push(HLG_EXITS_EXIT, 60);
	expect(2, 10, 2, 2);
	ck_assert_uint_eq(sums.vcpus[0].guest, 5 + 7 + 10);
}
END_TEST

/* Of a time in the VMM that began before the exit, what lies behind it is the exit's. */
START_TEST(vmm_is_inside_the_exit)
{
	push(HLG_EXITS_USER, 2);
	push(HLG_EXITS_EXIT, 100);
	push_on(2, 0, HLG_EXITS_RUN, 101, 0xae80, 0, 0);
	push(HLG_EXITS_ENTRY, 103);
	expect(1, 3, 0, 0);
	ck_assert_uint_eq(sums.total[HLG_EXITS_VMM], 99);
	ck_assert_uint_eq(sums.vcpus[1].outside, 3);
	ck_assert_uint_eq(sums.vcpus[1].inner, 1);
}
END_TEST

/* Each exit has its own time in the VMM. */
START_TEST(vmm_of_each_exit)
{
	for (uint64_t at = 10; at < 40; at += 10) {
		push(HLG_EXITS_EXIT, at);
		push(HLG_EXITS_USER, at + 2);
		push_on(2, 0, HLG_EXITS_RUN, at + 5, 0xae80, 0, 0);
		push(HLG_EXITS_ENTRY, at + 6);
	}
	expect(3, 18, 0, 0);
	ck_assert_uint_eq(sums.total[HLG_EXITS_VMM], 9);
	ck_assert_uint_eq(sums.vcpus[0].inner, 9);
	ck_assert_uint_eq(sums.vcpus[0].run, 7 + 7);
}
END_TEST

/* A record of thread 2, CPU 0, which has an address. */
static void push_at(uint8_t kind, uint64_t time, uint64_t rip)
{
	const struct hlg_exits_item item = {.time = time,
					    .thread = UINT64_C(2) << 32 | 1,
					    .a = rip,
					    .b = kind == HLG_EXITS_PIO ? 108 : 30,
					    .kind = kind,
					    .c = kind == HLG_EXITS_EXIT ? HLG_ISA_VMX
									: 0};
	struct hlg_exits_item *next = hlg_exits_next(&pairing);

	ck_assert_ptr_nonnull(next);
	*next = item;
	hlg_exits_pushed(&pairing, next);
}

static void expect_calls(uint64_t calls, uint64_t in_calls, uint64_t between,
			 uint64_t in_between)
{
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_CALL], calls);
	ck_assert_uint_eq(sums.total[HLG_EXITS_CALL], in_calls);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_BETWEEN], between);
	ck_assert_uint_eq(sums.total[HLG_EXITS_BETWEEN], in_between);
}

/* Hyperlight: the start ends with a Halt as a call does, and is none. */
START_TEST(guest_calls)
{
	sums.halt = 108;
	push_at(HLG_EXITS_ENTRY, 10, 0x100); /* it starts */
	push_at(HLG_EXITS_EXIT, 20, 0x108);
	push_at(HLG_EXITS_PIO, 21, 0);
	push_at(HLG_EXITS_USER, 22, 0);
	push_at(HLG_EXITS_RUN, 90, 0);
	push_at(HLG_EXITS_ENTRY, 100, 0x200); /* a call */
	push_at(HLG_EXITS_EXIT, 110, 0x200);  /* a page fault at once */
	push_at(HLG_EXITS_ENTRY, 115, 0x200);
	push_at(HLG_EXITS_EXIT, 150, 0x208);
	push_at(HLG_EXITS_PIO, 151, 0);
	push_at(HLG_EXITS_ENTRY, 1000, 0x200); /* another, */
	push_at(HLG_EXITS_EXIT, 1010, 0x300);
	push_at(HLG_EXITS_ENTRY, 1020, 0x200); /* which was given up for a third */
	push_at(HLG_EXITS_EXIT, 1090, 0x208);
	push_at(HLG_EXITS_PIO, 1091, 0);
	expect(2, 5 + 10, 1, 1);
	expect_calls(2, 50 + 70, 2, 80 + 850);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_VMM], 0);
	ck_assert_uint_eq(sums.vcpus[0].outside, 15);
}
END_TEST

/* KVM_RUN fails with EINTR: that call is not whole, the next one is. */
START_TEST(cancelled_calls)
{
	const struct {
		uint64_t time, rip;
	} records[] = {
		{10, 0x108}, {100, 0x200}, {130, 0x300}, {200, 0x200}, {240, 0x208}};

	sums.halt = 108;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		bool entry = records[i].rip == 0x200;

		push_at(entry ? HLG_EXITS_ENTRY : HLG_EXITS_EXIT, records[i].time,
			records[i].rip);
		if ((records[i].rip & 0xf) == 8)
			push_at(HLG_EXITS_PIO, records[i].time + 1, 0);
		if (records[i].rip == 0x300)
			push_on(2, 0, HLG_EXITS_USER, 131, 4, 0, HLG_ISA_ERRNO);
	}
	expect(1, 70, 1, 0);
	expect_calls(1, 40, 1, 90);
}
END_TEST

/* A call that goes on after KVM_RUN failed is not whole: its host's time would be in it.
 */
START_TEST(interrupted_calls)
{
	sums.halt = 108;
	push_at(HLG_EXITS_EXIT, 20, 0x108);
	push_at(HLG_EXITS_PIO, 21, 0);
	push_at(HLG_EXITS_ENTRY, 100, 0x200);
	push_at(HLG_EXITS_EXIT, 110, 0x300);
	push_on(2, 0, HLG_EXITS_USER, 111, 4, 0, HLG_ISA_ERRNO);
	push_at(HLG_EXITS_ENTRY, 500, 0x300);
	push_at(HLG_EXITS_EXIT, 510, 0x208);
	push_at(HLG_EXITS_PIO, 511, 0);
	expect(1, 390, 1, 0);
	expect_calls(0, 0, 1, 80);
}
END_TEST

/* Of thread 2 on AArch64. */
static void push_arm(uint8_t kind, uint64_t time, uint64_t a, uint32_t b, uint8_t c)
{
	const struct hlg_exits_item item = {.time = time,
					    .thread = UINT64_C(2) << 32 | 1,
					    .a = a,
					    .b = b,
					    .vcpu = HLG_NO_VCPU,
					    .kind = kind,
					    .c = c};
	struct hlg_exits_item *next = hlg_exits_next(&pairing);

	ck_assert_ptr_nonnull(next);
	*next = item;
	hlg_exits_pushed(&pairing, next);
}

/* Hyperlight on AArch64: the store to Halt's word is finished by a KVM_RUN that fails at
 * once, which cancels nothing. The next one that fails does. */
START_TEST(calls_of_aarch64)
{
	const uint64_t halt = HLG_PORT_IO_PAGE + 8 * HLG_PORT_HALT;

	sums.halt = HLG_PORT_HALT;
	sums.io_page = true;
	push_arm(HLG_EXITS_ENTRY, 10, 0x100, 0, 0);
	for (uint64_t at = 20; at <= 1020; at += 1000) {
		push_arm(HLG_EXITS_EXIT, at, 0x108, 0x24, HLG_ISA_ARM_TRAP);
		push_arm(HLG_EXITS_MMIO, at + 1, halt, 2, 0);
		push_arm(HLG_EXITS_USER, at + 2, 0, KVM_EXIT_MMIO, HLG_ISA_USER);
		push_arm(HLG_EXITS_RUN, at + 3, 6, KVM_RUN, 0);
		push_arm(HLG_EXITS_USER, at + 4, 0, 4, HLG_ISA_ERRNO);
		push_arm(HLG_EXITS_RUN, at + 500, 6, KVM_RUN, 0);
		if (at == 1020) { /* cancelled before it began */
			push_arm(HLG_EXITS_USER, 1530, 0, 4, HLG_ISA_ERRNO);
			push_arm(HLG_EXITS_RUN, 1540, 6, KVM_RUN, 0);
		}
		push_arm(HLG_EXITS_ENTRY, at + 530, 0x200, 0, 0);
	}
	/* Another page's word is no port. */
	push_arm(HLG_EXITS_EXIT, 1600, 0x300, 0x24, HLG_ISA_ARM_TRAP);
	push_arm(HLG_EXITS_MMIO, 1601, halt + 0x1000, 2, 0);
	push_arm(HLG_EXITS_ENTRY, 1602, 0x304, 0, 0);
	expect(1, 2, 0, 1);
	expect_calls(1, 470, 2, 2 * 530);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_VMM], 1);
	ck_assert_uint_eq(sums.total[HLG_EXITS_VMM], 10);
}
END_TEST

/* A KVM_RUN that fails by another error than EINTR finishes no store. */
START_TEST(calls_that_fail)
{
	static const uint32_t errors[] = {EINTR, EFAULT};

	sums.halt = HLG_PORT_HALT;
	sums.io_page = true;
	push_arm(HLG_EXITS_ENTRY, 10, 0x100, 0, 0);
	push_arm(HLG_EXITS_EXIT, 20, 0x108, 0x24, HLG_ISA_ARM_TRAP);
	push_arm(HLG_EXITS_MMIO, 21, HLG_PORT_IO_PAGE + 8 * HLG_PORT_HALT, 2, 0);
	push_arm(HLG_EXITS_USER, 22, 0, KVM_EXIT_MMIO, HLG_ISA_USER);
	push_arm(HLG_EXITS_RUN, 23, 6, KVM_RUN, 0);
	push_arm(HLG_EXITS_USER, 24, 0, errors[_i], HLG_ISA_ERRNO);
	push_arm(HLG_EXITS_RUN, 500, 6, KVM_RUN, 0);
	push_arm(HLG_EXITS_ENTRY, 530, 0x200, 0, 0);
	expect(0, 0, 0, 1);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_VMM], (size_t)_i);
}
END_TEST

/* A guest that aborts: its host's time behind that is no exit's, and the call is not
 * whole. */
START_TEST(aborted_calls)
{
	sums.halt = 108;
	push_at(HLG_EXITS_ENTRY, 10, 0x100);
	push_at(HLG_EXITS_EXIT, 20, 0x108);
	push_at(HLG_EXITS_PIO, 21, 0);
	push_on(2, 0, HLG_EXITS_USER, 22, 2, 0, HLG_ISA_USER);
	push_on(2, 0, HLG_EXITS_RUN, 90, 0xae80, 0, 0);
	push_at(HLG_EXITS_ENTRY, 100, 0x200); /* a call */
	for (int i = 0; i < 2; i++) {
		push_at(HLG_EXITS_EXIT, 110 + 10 * i, 0x300);
		push_on(2, 0, HLG_EXITS_PIO, 111 + 10 * i, HLG_PORT_ABORT, 0, 0);
		push_on(2, 0, HLG_EXITS_USER, 112 + 10 * i, 2, 0, HLG_ISA_USER);
		push_on(2, 0, HLG_EXITS_RUN, i ? 895 : 114, 0xae80, 0, 0);
		/* It goes on, and then another guest starts. */
		push_at(HLG_EXITS_ENTRY, i ? 900 : 115, i ? 0x100 : 0x301);
	}
	push_at(HLG_EXITS_EXIT, 910, 0x108);
	push_at(HLG_EXITS_PIO, 911, 0);
	push_at(HLG_EXITS_ENTRY, 1000, 0x200);
	push_at(HLG_EXITS_EXIT, 1050, 0x208);
	push_at(HLG_EXITS_PIO, 1051, 0);
	expect(1, 5, 1, 1);
	expect_calls(2, 10 + 50, 3, 80 + 780 + 90);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_VMM], 1);
	ck_assert_uint_eq(sums.total[HLG_EXITS_VMM], 2);
}
END_TEST

/* Without a version that is known to do so, no write to a port ends a call. */
START_TEST(no_calls)
{
	push_at(HLG_EXITS_EXIT, 20, 0x108);
	push_at(HLG_EXITS_PIO, 21, 0);
	push_at(HLG_EXITS_ENTRY, 100, 0x200);
	expect(1, 80, 0, 0);
	expect_calls(0, 0, 0, 0);
}
END_TEST

/* One thread runs two vCPUs, so that their records interleave. */
START_TEST(vcpus_are_apart)
{
	push_on(2, 0, HLG_EXITS_EXIT, 10, 1, 0, 1);
	push_on(2, 0, HLG_EXITS_EXIT, 11, 1, 1, 1);
	push_on(2, 0, HLG_EXITS_ENTRY, 20, 0, 0, 0);
	push_on(2, 0, HLG_EXITS_ENTRY, 31, 0, 1, 0);
	/* The same number in another thread is another machine's. */
	push_on(3, 0, HLG_EXITS_ENTRY, 40, 0, 0, 0);
	expect(2, 10 + 20, 0, 1);
	ck_assert_uint_eq(sums.n_vcpus, 3);
}
END_TEST

/* The buffer of CPU 1 comes behind that of CPU 0. */
START_TEST(threads_move)
{
	push_on(2, 0, HLG_EXITS_EXIT, 10, 1, 0, 1);
	push_on(2, 0, HLG_EXITS_EXIT, 40, 1, 0, 1);
	push_on(2, 0, HLG_EXITS_ENTRY, 41, 0, 0, 0);
	hlg_exits_round(&pairing);
	push_on(2, 1, HLG_EXITS_ENTRY, 12, 0, 0, 0);
	push_on(2, 1, HLG_EXITS_EXIT, 20, 1, 0, 1);
	push_on(2, 1, HLG_EXITS_ENTRY, 23, 0, 0, 0);
	hlg_exits_round(&pairing);
	hlg_exits_round(&pairing);
	expect(3, 2 + 3 + 1, 0, 0);
}
END_TEST

START_TEST(late_records_make_no_pair)
{
	push(HLG_EXITS_EXIT, 10);
	push(HLG_EXITS_ENTRY, 40);
	push_on(3, 0, HLG_EXITS_EXIT, 42, 12, 0, HLG_ISA_VMX);
	push_on(4, 0, HLG_EXITS_EXIT, 43, 12, 0, HLG_ISA_VMX);
	push_on(4, 1, HLG_EXITS_ENTRY, 45, 12, 0, 0);
	push(HLG_EXITS_EXIT, 50);
	hlg_exits_round(&pairing);
	hlg_exits_round(&pairing);
	push(HLG_EXITS_ENTRY, 45);
	push(HLG_EXITS_ENTRY, 60);
	/* Whose it is nobody knows: not of 4, which is paired by then. */
	push_on(3, 0, HLG_EXITS_ENTRY, 70, 12, 0, 0);
	expect(3, 30 + 2 + 10, 0, 0);
	ck_assert_uint_eq(sums.lone.late, 1);
	ck_assert_uint_eq(sums.lone.lost, 1);
}
END_TEST

/* What of a thread makes no sense at a time may be what ends a pair just then. */
START_TEST(bad_records_tear_pairs)
{
	hlg_exits_lose_at(&pairing, 45);
	for (int32_t tid = 2; tid < 5; tid++) {
		push_on(tid, 0, HLG_EXITS_EXIT, 42 + (uint64_t)tid, 12, 0, HLG_ISA_VMX);
		push_on(tid, 0, HLG_EXITS_ENTRY, 43 + (uint64_t)tid, 12, 0, 0);
	}
	expect(2, 2, 0, 0);
	ck_assert_uint_eq(sums.lone.lost, 1);
}
END_TEST

/* Of memory the page counts. */
START_TEST(ports_in_memory)
{
	for (uint64_t at = 10; at < 40; at += 10) {
		push(HLG_EXITS_EXIT, at);
		push_at(HLG_EXITS_MMIO, at + 1, 0xfed01000 + at / 20 * 0xfff);
		push(HLG_EXITS_ENTRY, at + 2);
	}
	expect(3, 6, 0, 0);
	ck_assert_uint_eq(sums.n_cells, 1);
	ck_assert_uint_eq(sums.cells[0].key.port, HLG_PORT_MMIO | 0xfed01000);
}
END_TEST

/* Only where Hyperlight has a page of ports its words are some. */
START_TEST(no_page_of_ports)
{
	const uint64_t word = HLG_PORT_IO_PAGE + 8 * HLG_PORT_HALT;

	sums.io_page = _i;
	push(HLG_EXITS_EXIT, 10);
	push_at(HLG_EXITS_MMIO, 11, word);
	push(HLG_EXITS_ENTRY, 12);
	expect(1, 2, 0, 0);
	ck_assert_uint_eq(sums.cells[0].key.port,
			  _i ? HLG_PORT_HALT : HLG_PORT_MMIO | (word & ~0xfff));
}
END_TEST

START_TEST(memory_is_bounded)
{
	pairing.queue.limit = 1000;
	for (uint64_t i = 1; i <= 100000; i++) {
		push(HLG_EXITS_EXIT, 10 * i);
		push(HLG_EXITS_ENTRY, 10 * i + 3);
		ck_assert_uint_le(pairing.queue.n, 1000);
	}
	ck_assert_uint_le(pairing.queue.room, 4096);
	expect(100000, 300000, 0, 0);
}
END_TEST

/* Records were lost on a CPU, from its latest record on: who was there makes no pair. */
START_TEST(lost_records_tear_pairs)
{
	push_on(2, 0, HLG_EXITS_EXIT, 10, 1, 0, 1);
	push_on(3, 1, HLG_EXITS_EXIT, 11, 1, 0, 1);
	push_on(4, 2, HLG_EXITS_EXIT, 12, 1, 0, 1);
	hlg_exits_lose(&pairing, 20, 0);
	push_on(2, 0, HLG_EXITS_ENTRY, 30, 0, 0, 0); /* torn */
	push_on(3, 1, HLG_EXITS_ENTRY, 31, 0, 0, 0); /* elsewhere all the time */
	push_on(4, 3, HLG_EXITS_ENTRY, 32, 0, 0, 0); /* moved: who knows */
	push_on(2, 0, HLG_EXITS_EXIT, 40, 1, 0, 1);
	push_on(2, 0, HLG_EXITS_ENTRY, 45, 0, 0, 0);
	expect(2, 20 + 5, 0, 0);
	ck_assert_uint_eq(sums.lone.lost, 2);
}
END_TEST

/* Each pair of an exit knows the other's reason; the exit that of its first time in the
 * VMM, and the next exit, of which the VMM hears nothing, none. */
START_TEST(pairs_of_an_exit_know_each_other)
{
	push(HLG_EXITS_EXIT, 10);
	push_on(2, 0, HLG_EXITS_USER, 12, KVM_EXIT_MMIO, 0, HLG_ISA_USER);
	push_on(2, 0, HLG_EXITS_RUN, 13, 0xae80, 0, 0);
	push_on(2, 0, HLG_EXITS_USER, 14, EINTR, 0, HLG_ISA_ERRNO);
	push_on(2, 0, HLG_EXITS_RUN, 15, 0xae80, 0, 0);
	push(HLG_EXITS_ENTRY, 16);
	push(HLG_EXITS_EXIT, 20);
	push(HLG_EXITS_ENTRY, 26);
	expect(2, 12, 0, 0);
	ck_assert_uint_eq(sums.n_cells, 4);
	for (size_t i = 0; i < 2; i++) {
		const struct hlg_exits_key *key = &sums.cells[i].key;

		ck_assert_int_eq(key->kind, HLG_EXITS_VMM);
		ck_assert(key->has_other);
		ck_assert_uint_eq(key->other_reason, 12);
		ck_assert_int_eq(key->other_isa, HLG_ISA_VMX);
	}
	ck_assert(sums.cells[2].key.has_other);
	ck_assert_uint_eq(sums.cells[2].key.other_reason, KVM_EXIT_MMIO);
	ck_assert_int_eq(sums.cells[2].key.other_isa, HLG_ISA_USER);
	ck_assert(!sums.cells[3].key.has_other);
}
END_TEST

START_TEST(lost_records_tear_times_in_the_vmm)
{
	push(HLG_EXITS_USER, 10);
	hlg_exits_lose(&pairing, 20, 0);
	push_on(2, 0, HLG_EXITS_RUN, 30, 0xae80, 0, 0);
	push(HLG_EXITS_USER, 40);
	push_on(2, 0, HLG_EXITS_RUN, 45, 0xae80, 0, 0);
	expect(0, 0, 0, 0);
	ck_assert_uint_eq(sums.total[HLG_EXITS_VMM], 5);
	ck_assert_uint_eq(sums.lone.lost, 1);
}
END_TEST

/* Software KVM: only the VMM's pairs; a read tells its port when the answer is there. */
START_TEST(vmm_alone)
{
	push(HLG_EXITS_RUN, 10);
	push_on(2, 0, HLG_EXITS_PIO, 11, 101, 0, 0); /* out */
	push(HLG_EXITS_USER, 12);
	push(HLG_EXITS_RUN, 20);
	push(HLG_EXITS_USER, 25); /* in */
	push(HLG_EXITS_RUN, 35);
	push_on(2, 0, HLG_EXITS_PIO, 36, 0x60, 0, 1);
	push(HLG_EXITS_USER, 40);
	expect(0, 0, 0, 0);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_VMM], 2);
	ck_assert_uint_eq(sums.n_cells, 2);
	ck_assert_uint_eq(sums.cells[0].key.port, 101);
	ck_assert_uint_eq(sums.cells[0].total, 8);
	ck_assert_uint_eq(sums.cells[1].key.port, 0x60);
	ck_assert_uint_eq(sums.cells[1].total, 10);
	ck_assert_uint_eq(sums.vcpus[0].run, 2 + 5 + 5);
	ck_assert_uint_eq(sums.vcpus[0].vmm, 18);
	ck_assert_uint_eq(sums.lone.user, 1);
}
END_TEST

/* The same of memory; and where an instruction was emulated, the VMM's time is its. */
START_TEST(memory_alone)
{
	struct hlg_exits_item *next;

	push(HLG_EXITS_RUN, 10);
	push_at(HLG_EXITS_INSN, 11, 0x4321);
	push_on(2, 0, HLG_EXITS_USER, 12, KVM_EXIT_MMIO, 0, HLG_ISA_USER);
	push(HLG_EXITS_RUN, 20);
	next = hlg_exits_next(&pairing);
	ck_assert_ptr_nonnull(next);
	*next = (struct hlg_exits_item){.time = 21,
					.thread = UINT64_C(2) << 32 | 1,
					.a = 0xfed01234,
					.kind = HLG_EXITS_MMIO,
					.c = 1}; /* a read */
	hlg_exits_pushed(&pairing, next);
	push_on(2, 0, HLG_EXITS_USER, 25, KVM_EXIT_MMIO, 0, HLG_ISA_USER);
	push(HLG_EXITS_RUN, 35);
	expect(0, 0, 0, 0);
	ck_assert_uint_eq(sums.n_cells, 2);
	ck_assert_uint_eq(sums.cells[0].key.port, HLG_PORT_MMIO | 0xfed01000);
	ck_assert(sums.cells[0].key.has_rip && sums.cells[0].key.rip == 0x4321);
	ck_assert_uint_eq(sums.cells[0].total, 8);
	ck_assert_uint_eq(sums.cells[1].key.port, HLG_NO_PORT);
	ck_assert(!sums.cells[1].key.has_rip);
}
END_TEST

/* What KVM reads of memory is no port of an exit for another reason. */
START_TEST(read_for_another_reason)
{
	static const uint32_t reasons[] = {KVM_EXIT_IO, KVM_EXIT_MMIO};
	struct hlg_exits_item *next;

	push(HLG_EXITS_RUN, 10);
	push_on(2, 0, HLG_EXITS_USER, 12, reasons[_i], 0, HLG_ISA_USER);
	push(HLG_EXITS_RUN, 20);
	next = hlg_exits_next(&pairing);
	ck_assert_ptr_nonnull(next);
	*next = (struct hlg_exits_item){.time = 21,
					.thread = UINT64_C(2) << 32 | 1,
					.a = 0xfed01234,
					.kind = HLG_EXITS_MMIO,
					.c = 1};
	hlg_exits_pushed(&pairing, next);
	expect(0, 0, 0, 0);
	ck_assert_uint_eq(sums.n_cells, 1);
	ck_assert_uint_eq(sums.cells[0].key.port,
			  _i ? HLG_PORT_MMIO | 0xfed01000 : HLG_NO_PORT);
}
END_TEST

/* An instruction that KVM could do alone is none of the next KVM_RUN's; what has ended a
 * KVM_RUN ends none again. */
START_TEST(each_run_for_itself)
{
	push(HLG_EXITS_RUN, 10);
	push_at(HLG_EXITS_INSN, 11, 0x4321);
	push(HLG_EXITS_RUN, 20);
	push(HLG_EXITS_USER, 22);
	push(HLG_EXITS_RUN, 30);
	push(HLG_EXITS_USER, 32);
	push(HLG_EXITS_USER, 37);
	push(HLG_EXITS_RUN, 40);
	expect(0, 0, 0, 0);
	ck_assert_uint_eq(sums.n_cells, 1);
	ck_assert(!sums.cells[0].key.has_rip);
	ck_assert_uint_eq(sums.vcpus[0].run, 2 + 2);
	ck_assert_uint_eq(sums.lone.user, 1);
	ck_assert_uint_eq(sums.lone.runs, 1);
}
END_TEST

/* What was emulated before an entry is not why the guest left, if its exit is missing. */
START_TEST(emulated_before_an_entry)
{
	push(HLG_EXITS_RUN, 10);
	push_at(HLG_EXITS_INSN, 11, 0x4321);
	push(HLG_EXITS_ENTRY, 12);
	push(HLG_EXITS_USER, 20);
	push(HLG_EXITS_RUN, 30);
	expect(0, 0, 0, 1);
	ck_assert_uint_eq(sums.n_cells, 1);
	ck_assert(!sums.cells[0].key.has_rip);
}
END_TEST

/* Where KVM_RUNs are recorded, they end a time in the VMM, whatever comes before. */
START_TEST(runs_end_the_vmm)
{
	push(HLG_EXITS_USER, 10);
	push(HLG_EXITS_ENTRY, 15);
	push(HLG_EXITS_RUN, 30);
	expect(0, 0, 0, 1);
	ck_assert_uint_eq(sums.total[HLG_EXITS_VMM], 20);
}
END_TEST

/* A KVM_RUN of a descriptor, or with KVM_CREATE_VCPU what may give it again. */
static void push_run(uint64_t time, uint64_t fd, uint32_t what)
{
	struct hlg_exits_item *next = hlg_exits_next(&pairing);

	ck_assert_ptr_nonnull(next);
	*next = (struct hlg_exits_item){.time = time,
					.thread = UINT64_C(2) << 32 | 1,
					.a = fd,
					.b = what,
					.kind = HLG_EXITS_RUN};
	hlg_exits_pushed(&pairing, next);
}

/* A guest dies in a call, which nobody enters again; the next one, by another descriptor
 * or the same, starts, maybe where that was called, and its call is the only one. */
START_TEST(a_vcpu_that_is_left)
{
	sums.halt = 108;
	push_run(5, 6, 0);
	push_at(HLG_EXITS_ENTRY, 10, 0x100);
	push_at(HLG_EXITS_EXIT, 20, 0x108);
	push_at(HLG_EXITS_PIO, 21, 0);
	push_at(HLG_EXITS_USER, 22, 0);
	push_run(90, 6, 0);
	push_at(HLG_EXITS_ENTRY, 100, 0x200); /* a call */
	push_on(2, 0, HLG_EXITS_EXIT, 150, 30, 0, HLG_ISA_VMX);
	push_on(2, 0, HLG_EXITS_PIO, 151, 102, 0, 0);
	push_on(2, 0, HLG_EXITS_USER, 152, 2, 0, HLG_ISA_USER);
	if (_i == 1)
		push_run(1000, 5, KVM_CREATE_VCPU);
	push_run(1100, _i == 1 ? 6 : 9, 0);
	push_at(HLG_EXITS_ENTRY, 1110, _i == 2 ? 0x200 : 0x100);
	push_at(HLG_EXITS_EXIT, 1120, 0x108);
	push_at(HLG_EXITS_PIO, 1121, 0);
	push_at(HLG_EXITS_USER, 1122, 0);
	push_run(1190, 12, 0); /* the host's own time goes on */
	push_at(HLG_EXITS_ENTRY, 1200, 0x200);
	push_at(HLG_EXITS_EXIT, 1230, 0x208);
	push_at(HLG_EXITS_PIO, 1231, 0);
	expect(0, 0, 2, 2);
	expect_calls(1, 30, 2, 80 + 80);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_VMM], 0);
	ck_assert_uint_eq(sums.lone.user, 1);
	ck_assert_uint_eq(sums.vcpus[0].outside, 0);
}
END_TEST

/* What was cancelled goes on until the thread runs anything. */
START_TEST(a_vcpu_that_was_cancelled)
{
	push_run(5, 6, 0);
	push_on(2, 0, HLG_EXITS_USER, 10, EINTR, 0, HLG_ISA_ERRNO);
	push_run(30, 9, 0);
	expect(0, 0, 0, 0);
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_VMM], 1);
	ck_assert_uint_eq(sums.total[HLG_EXITS_VMM], 20);
	ck_assert_uint_eq(sums.lone.user, 0);
}
END_TEST

START_TEST(window_selects_pairs)
{
	pairing.start = 20;
	pairing.stop = 40;
	for (uint64_t i = 1; i < 6; i++) {
		push(HLG_EXITS_EXIT, 10 * i);
		push(HLG_EXITS_ENTRY, 10 * i + 4);
	}
	expect(2, 8, 0, 0);
	ck_assert_uint_eq(sums.vcpus[0].guest, 12);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exits pair");
	TCase *tc = tap_case(suite, "pairs");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, halves_are_counted);
	tcase_add_test(tc, vcpus_are_apart);
	tcase_add_test(tc, vmm_is_inside_the_exit);
	tcase_add_test(tc, vmm_of_each_exit);
	tcase_add_test(tc, guest_calls);
	tcase_add_test(tc, cancelled_calls);
	tcase_add_test(tc, interrupted_calls);
	tcase_add_test(tc, calls_of_aarch64);
	tcase_add_test(tc, aborted_calls);
	tcase_add_test(tc, no_calls);
	tcase_add_test(tc, threads_move);
	tcase_add_test(tc, late_records_make_no_pair);
	tcase_add_test(tc, bad_records_tear_pairs);
	tcase_add_test(tc, ports_in_memory);
	tcase_add_loop_test(tc, no_page_of_ports, 0, 2);
	tcase_add_loop_test(tc, read_for_another_reason, 0, 2);
	tcase_add_loop_test(tc, calls_that_fail, 0, 2);
	tcase_add_test(tc, memory_is_bounded);
	tcase_add_test(tc, lost_records_tear_pairs);
	tcase_add_test(tc, pairs_of_an_exit_know_each_other);
	tcase_add_test(tc, lost_records_tear_times_in_the_vmm);
	tcase_add_test(tc, vmm_alone);
	tcase_add_test(tc, memory_alone);
	tcase_add_test(tc, each_run_for_itself);
	tcase_add_test(tc, emulated_before_an_entry);
	tcase_add_test(tc, runs_end_the_vmm);
	tcase_add_test(tc, a_vcpu_that_was_cancelled);
	tcase_add_loop_test(tc, a_vcpu_that_is_left, 0, 3);
	tcase_add_test(tc, window_selects_pairs);
	return tap_main(suite);
}
