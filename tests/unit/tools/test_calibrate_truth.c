// SPDX-License-Identifier: GPL-2.0-only
/*
 * The truths hold, and a fault in each is noticed: the guests' ELF is copied, one byte or
 * two of it changed, and measured again. Guests run where /dev/kvm opens.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/kit/tap.h"
#include "tools/calibrate/calibration.h"

static struct hlg_guests guests;
static char *bytes;
static size_t size;
static struct hlg_err err;
static const char *no_kvm;

static void enter(void)
{
	struct hlg_vm_machine machine;

	no_kvm = NULL;
	if (hlg_vm_machine_init(&machine, HLG_VM_PAGE_SIZE, &err) < 0)
		no_kvm = "/dev/kvm does not open here";
	else
		hlg_vm_machine_finish(&machine);
	size = hlg_guest_image_elf_size();
	bytes = malloc(size);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, hlg_guests_elf, size);
	ck_assert_int_eq(hlg_guest_image_open(&guests, bytes, size, &err), 0);
	ck_assert_int_eq(hlg_vm_deadline_start(60, &err), 0);
}

static void leave(void)
{
	hlg_vm_deadline_stop();
	hlg_guest_image_finish(&guests);
	free(bytes);
}

/* Where the file has what a symbol names: the text is loaded from the file's begin. */
static char *at_symbol(const char *name)
{
	uint64_t address = hlg_guest_image_symbol(&guests, name);

	ck_assert_uint_ge(address, GUESTS_BASE);
	return bytes + (address - GUESTS_BASE);
}

static void reopen(void)
{
	hlg_guest_image_finish(&guests);
	ck_assert_int_eq(hlg_guest_image_open(&guests, bytes, size, &err), 0);
}

static struct hlg_calibration *count(void)
{
	static struct hlg_calibration c;

	memset(&c, 0, sizeof(c));
	c.parts = HLG_CALIBRATE_COUNTING;
	c.kvm = !no_kvm;
	c.counts.sizes[0] = 50;
	c.counts.sizes[1] = 10;
	ck_assert_int_eq(hlg_calibrate_count(&c.counts, &guests, no_kvm, 1, &err), 0);
	return &c;
}

/* Are all programs of a side that could be stepped through exact? None: false. */
static bool are_exact(const struct hlg_counts *counts, enum hlg_count_side side)
{
	size_t exact = 0;

	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		const struct hlg_steps *steps = &counts->steps[side][i];

		if (!steps->reason[0] && !steps->exact)
			return false;
		exact += steps->exact;
	}
	return exact > 0;
}

START_TEST(counts_hold)
{
	struct hlg_calibration *c = count();

	ck_assert_uint_eq(hlg_calibrate_faults(NULL, c), 0);
	ck_assert(are_exact(&c->counts, HLG_COUNT_NATIVE));
	ck_assert_int_eq(are_exact(&c->counts, HLG_COUNT_GUEST), !no_kvm);
}
END_TEST

/* `xor %eax, %eax` becomes two instructions of a byte each: one more, in one program. */
START_TEST(one_more_is_noticed)
{
	static const char xor [] = {0x31, (char)0xc0};
	char *at = at_symbol("loop_lodsw");
	struct hlg_calibration *c;

	while (memcmp(at, xor, 2) != 0)
		at++;
	memset(at, 0x90, 2);
	reopen();
	c = count();
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, c), no_kvm ? 1 : 2);
	ck_assert(!are_exact(&c->counts, HLG_COUNT_NATIVE));
	ck_assert(!are_exact(&c->counts, HLG_COUNT_GUEST));
}
END_TEST

/* A program that a signal ends has no figures, nor those of the one before. */
START_TEST(a_killed_program_has_no_figures)
{
	struct hlg_calibration *c;

	*at_symbol(hlg_count_laws[2].program) = (char)0xcc; /* int3 */
	reopen();
	no_kvm = "not asked here";
	c = count();
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		ck_assert_int_eq(c->counts.steps[HLG_COUNT_NATIVE][i].reason[0] != 0,
				 i == 2);
		ck_assert_uint_eq(c->counts.counted[HLG_COUNT_NATIVE][i].runs, i != 2);
	}
}
END_TEST

/* Who may not open it is told how one may. */
START_TEST(no_right_is_told)
{
	struct hlg_vm_machine machine;
	uid_t me = geteuid();
	int rc;

	if (access("/dev/kvm", F_OK) != 0)
		return;
	if (me == 0) /* who may open all */
		ck_assert_int_eq(seteuid(65534), 0);
	rc = hlg_vm_machine_init(&machine, HLG_VM_PAGE_SIZE, &err);
	ck_assert_int_eq(seteuid(me), 0);
	if (rc == 0)
		hlg_vm_machine_finish(&machine);
	else
		ck_assert_str_eq(err.msg,
				 "/dev/kvm: Permission denied (join the group that "
				 "owns it, often kvm)");
}
END_TEST

/* Room for everything but the guests, and why nothing was counted. */
START_TEST(no_room_is_told)
{
	FILE *f = fopen("/proc/self/statm", "r");
	uint64_t pages = 0;
	struct rlimit before, room;
	struct hlg_calibration *c;

	ck_assert(f && fscanf(f, "%" SCNu64, &pages) == 1);
	fclose(f);
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	room = before;
	room.rlim_cur =
		pages * (uint64_t)sysconf(_SC_PAGESIZE) + HLG_GUEST_IMAGE_ROOM / 2;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &room), 0);
	no_kvm = "not asked here";
	c = count();
	setrlimit(RLIMIT_AS, &before);
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		ck_assert_str_eq(c->counts.steps[HLG_COUNT_NATIVE][i].reason,
				 "memory to run code in: Cannot allocate memory");
}
END_TEST

static struct hlg_calibration *cross(void)
{
	static struct hlg_calibration c;

	memset(&c, 0, sizeof(c));
	c.parts = HLG_CALIBRATE_CROSSING;
	c.kvm = !no_kvm;
	ck_assert_int_eq(hlg_crossing_measure(&c.crossings, &guests, no_kvm, 0, &err), 0);
	return &c;
}

/* Every row is a figure or a reason; all page faults are served. */
START_TEST(crossings_hold)
{
	struct hlg_calibration *c = cross();

	for (size_t i = 0; i < HLG_CROSS_ROWS; i++) {
		const struct hlg_crossing *row = &c->crossings.rows[i];

		ck_assert_int_eq(row->state == HLG_CROSS_SKIPPED, row->reason[0] != '\0');
		ck_assert_int_eq(row->state == HLG_CROSS_SKIPPED, row->ticks.n == 0);
	}
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, c), 0);
	ck_assert_uint_eq(c->crossings.served, no_kvm ? 0 : GUESTS_CROSSINGS);
}
END_TEST

/* The handler counts none: then nothing proves that they were served. */
START_TEST(faults_unserved_are_noticed)
{
	static const char inc[] = {0x48, (char)0xff, 0x05};
	char *at = at_symbol("handle_fault");

	if (no_kvm) {
		printf("# no guest: %s\n", no_kvm);
		return;
	}
	while (memcmp(at, inc, sizeof(inc)) != 0)
		at++;
	memset(at, 0x90, 7);
	reopen();
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, cross()), 1);
}
END_TEST

/* `int 3` becomes nothing: no handler reads the TSC. */
START_TEST(handlers_unentered_are_noticed)
{
	static const char trap[] = {(char)0xcd, 3};
	char *at = at_symbol("cross_trap");

	if (no_kvm) {
		printf("# no guest: %s\n", no_kvm);
		return;
	}
	while (memcmp(at, trap, sizeof(trap)) != 0)
		at++;
	memset(at, 0x90, 2);
	reopen();
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, cross()), 1);
}
END_TEST

static void expect_reason(const struct hlg_calibration *c, enum hlg_count_side side,
			  size_t program, const char *reason)
{
	const char *told = c->counts.steps[side][program].reason;

	ck_assert_msg(strncmp(told, reason, strlen(reason)) == 0, "%s", told);
	ck_assert_uint_eq(c->counts.counted[side][program].runs, 0);
}

/* A program that never ends is killed, as a guest and as a process; one that comes behind
 * the deadline is not run, and not called hung. */
START_TEST(hung_programs_are_killed)
{
	struct hlg_calibration *c;

	memcpy(at_symbol("rep_lodsb"), "\xeb\xfe", 2);
	reopen();
	hlg_vm_deadline_stop();
	ck_assert_int_eq(hlg_vm_deadline_start(1, &err), 0);
	c = count();
	if (!no_kvm) {
		expect_reason(c, HLG_COUNT_GUEST, 0, "guest: killed at its deadline");
		expect_reason(c, HLG_COUNT_NATIVE, 0, "not run: the deadline was over");
	}
	no_kvm = "not asked for";
	hlg_vm_deadline_stop();
	ck_assert_int_eq(hlg_vm_deadline_start(1, &err), 0);
	c = count();
	expect_reason(c, HLG_COUNT_NATIVE, 0, "killed at its deadline");
	expect_reason(c, HLG_COUNT_NATIVE, 1, "not run: the deadline was over");
}
END_TEST

/* A guest that never ends is killed, and one that is started behind it is not called
 * hung. */
START_TEST(hung_guests_are_killed)
{
	char *at = at_symbol("cross_nothing");
	struct hlg_guest guest;
	int rc;

	if (no_kvm) {
		printf("# no guest: %s\n", no_kvm);
		return;
	}
	memcpy(at, "\xeb\xfe", 2); /* jmp to itself */
	reopen();
	hlg_vm_deadline_stop();
	ck_assert_int_eq(hlg_vm_deadline_start(1, &err), 0);
	ck_assert_int_eq(hlg_guest_init(&guest, &guests, &err), 0);
	rc = hlg_guest_start(&guest, "cross_nothing", 3, false, &err);
	while (rc == 0)
		rc = hlg_guest_step(&guest, &err);
	ck_assert_int_lt(rc, 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "killed at its deadline"));
	/* It did not hang: it was never entered. */
	ck_assert_int_eq(hlg_guest_start(&guest, "cross_out", 3, false, &err), 0);
	ck_assert_int_lt(hlg_guest_step(&guest, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "guest: not run: the deadline was over"));
	hlg_guest_finish(&guest);
}
END_TEST

START_TEST(landing_holds)
{
	static struct hlg_landings landings;

	memset(&landings, 0, sizeof(landings));
	hlg_landing_measure(&landings, &guests, no_kvm, 20000000);
	ck_assert_str_eq(landings.fault, "");
	if (no_kvm || landings.events[0].reason[0]) {
		printf("# nothing is sampled: %s\n",
		       no_kvm ? no_kvm : landings.events[0].reason);
		return;
	}
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		const struct hlg_land *land = &landings.events[0].guests[i];

		ck_assert_uint_eq(land->off, 0);
		ck_assert_uint_eq(land->on, land->guest);
		ck_assert_uint_eq(land->right + land->wrong + land->gap, land->guest);
	}
	/* A sample is on one instruction. */
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		ck_assert_uint_le(landings.programs[i].string + landings.programs[i].loop,
				  landings.programs[i].guest);
}
END_TEST

/* Of the guests whose time is in one instruction: it is where its symbol is, and nothing
 * but instructions of one byte around it. */
START_TEST(fields_are_single_bytes)
{
	static const struct {
		const char *name, insn[4];
		size_t length;
	} fields[] = {{"landing_rep", "\xf3\xa4", 2},
		      {"landing_div", "\x48\xf7\xf1", 3},
		      {"landing_load", "\x48\x8b\x00", 3}};
	char name[64];
	char *begin, *hot, *last;

	snprintf(name, sizeof(name), "%s_field", fields[_i].name);
	begin = at_symbol(name);
	snprintf(name, sizeof(name), "%s_hot", fields[_i].name);
	hot = at_symbol(name);
	snprintf(name, sizeof(name), "%s_end", fields[_i].name);
	last = at_symbol(name);
	ck_assert(begin < hot && hot + fields[_i].length < last);
	ck_assert_mem_eq(hot, fields[_i].insn, fields[_i].length);
	for (const char *at = begin; at < last; at++)
		if (at < hot || at >= hot + fields[_i].length)
			ck_assert_int_eq((unsigned char)*at, 0x90);
}
END_TEST

/* The field's code begins a byte later than its symbols say: seen in the samples. */
START_TEST(shifted_samples_are_noticed)
{
	char *field = at_symbol("landing_rep_field");
	char *last = at_symbol("landing_rep_end");
	static struct hlg_landings landings;
	char fault[256];

	memset(&landings, 0, sizeof(landings));
	memmove(field + 1, field, (size_t)(last - field) - 1);
	*field = (char)0x90;
	reopen();
	hlg_landing_measure(&landings, &guests, no_kvm, 120000000);
	if (landings.events[0].guests[0].guest < HLG_LANDING_ENOUGH) {
		printf("# too few samples\n");
		return;
	}
	ck_assert_ptr_nonnull(strstr(landings.fault, "rep movsb"));
	ck_assert(hlg_landing_refutes(&landings.events[0], &hlg_samplings[0], fault));
	ck_assert_ptr_nonnull(strstr(fault, "1 instruction late"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibrate truth");
	TCase *tc = tap_case(suite, "counts");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, counts_hold);
	tcase_add_test(tc, one_more_is_noticed);
	tcase_add_test(tc, a_killed_program_has_no_figures);
	tcase_add_test(tc, no_right_is_told);
	tcase_add_test(tc, no_room_is_told);
	tcase_add_test(tc, hung_programs_are_killed);
	tc = tap_case(suite, "crossings");
	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, crossings_hold);
	tcase_add_test(tc, faults_unserved_are_noticed);
	tcase_add_test(tc, handlers_unentered_are_noticed);
	tcase_add_test(tc, hung_guests_are_killed);
	tc = tap_case(suite, "landing");
	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, landing_holds);
	tcase_add_loop_test(tc, fields_are_single_bytes, 0, 3);
	tcase_add_test(tc, shifted_samples_are_noticed);
	return tap_main(suite);
}
