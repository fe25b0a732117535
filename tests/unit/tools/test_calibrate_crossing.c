// SPDX-License-Identifier: GPL-2.0-only
/*
 * Crossings of machines that this one is not: in the place of guest.c stand guests of
 * memory. On hardware everything is measured, and vmmcall not even tried; where vmcall is
 * refused it is; syscall may stay in ring 3; readings out of order, a guest that fails
 * and faults that are not served are told, and are a truth that does not hold.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/calibrate/calibration.h"

static struct {
	const char *refused;  /* functions, with a blank behind each */
	const char *fails;    /* a function: killed at its deadline; "all" are */
	const char *backward; /* a function: its handler is never entered */
	uint64_t kernel;      /* ticks of rdtsc twice in ring 0 */
	uint64_t call_ring, served;
} machine;

static uint64_t shared[GUESTS_SHARED / 8];
static uint64_t samples[GUESTS_CROSSINGS * GUESTS_TIMES];
static const char *running;
static unsigned steps, tried_amd;

int hlg_guest_image_open(struct hlg_guests *guests, const void *bytes, size_t size,
			 struct hlg_err *err)
{
	(void)guests;
	(void)bytes;
	(void)size;
	(void)err;
	return 0;
}

void hlg_guest_image_finish(struct hlg_guests *guests)
{
	(void)guests;
}

void hlg_guest_image_load(const struct hlg_guests *guests, uint8_t *memory)
{
	(void)guests;
	(void)memory;
}

uint64_t hlg_guest_image_symbol(const struct hlg_guests *guests, const char *name)
{
	(void)guests;
	(void)name;
	return 0;
}

int hlg_guest_init(struct hlg_guest *guest, const struct hlg_guests *guests,
		   struct hlg_err *err)
{
	(void)guest;
	(void)guests;
	(void)err;
	memset(shared, 0, sizeof(shared));
	return 0;
}

void hlg_guest_finish(struct hlg_guest *guest)
{
	(void)guest;
}

int hlg_guest_start(struct hlg_guest *guest, const char *function, unsigned ring,
		    bool trap, struct hlg_err *err)
{
	(void)guest;
	(void)err;
	ck_assert(!trap);
	ck_assert_int_eq(ring == 0, strcmp(function, "cross_hlt") == 0 ||
					    strcmp(function, "take_field") == 0 ||
					    (strcmp(function, "cross_nothing") == 0 &&
					     running && !strcmp(running, function)));
	tried_amd += strcmp(function, "cross_vmmcall") == 0;
	running = function;
	steps = 0;
	return 0;
}

uint64_t *hlg_guest_word(const struct hlg_guest *guest, unsigned offset)
{
	(void)guest;
	return &shared[offset / 8];
}

void *hlg_guest_bytes(const struct hlg_guest *guest, const char *symbol)
{
	(void)guest;
	ck_assert_str_eq(symbol, "samples");
	return samples;
}

/* 600 ticks in, 50 there, 370 out; 1,020 in all. */
static void fill(uint64_t turns, bool backward)
{
	static unsigned pairs;
	bool nothing = strcmp(running, "cross_nothing") == 0;

	for (uint64_t i = 0; i < turns; i++) {
		uint64_t *t = samples + i * GUESTS_TIMES;

		t[0] = 1000000 + i * 10000;
		t[1] = backward ? 0 : t[0] + 600;
		t[2] = t[1] + 50;
		t[3] = nothing ? t[0] + (pairs ? machine.kernel : 26) : t[0] + 1020;
	}
	pairs ^= nothing;
}

int hlg_guest_step(struct hlg_guest *guest, struct hlg_err *err)
{
	uint64_t turns = shared[GUESTS_ITERATIONS / 8];

	(void)guest;
	if (machine.fails &&
	    (strcmp(machine.fails, "all") == 0 || strcmp(running, machine.fails) == 0))
		return hlg_err_set(err, HLG_ESYSTEM, "guest: killed at its deadline");
	if (strcmp(running, "cross_out") == 0 && steps++ < turns)
		return 0;
	fill(turns, machine.backward && strcmp(running, machine.backward) == 0);
	shared[GUESTS_CALL_RING / 8] = machine.call_ring;
	shared[GUESTS_SERVED / 8] = machine.served;
	shared[GUESTS_REFUSED / 8] =
		strstr(machine.refused, running) || !strcmp(running, "cross_ud") ? turns
										 : 0;
	return 1;
}

static struct hlg_calibration *measure(void)
{
	static struct hlg_calibration c;
	static struct hlg_guests guests;
	struct hlg_err err;

	memset(&c, 0, sizeof(c));
	c.kvm = true;
	c.parts = HLG_CALIBRATE_CROSSING;
	running = NULL;
	tried_amd = 0;
	ck_assert_int_eq(hlg_crossing_measure(&c.crossings, &guests, NULL, 0, &err), 0);
	for (size_t i = 0; i < HLG_CROSS_ROWS; i++)
		ck_assert_int_eq(c.crossings.rows[i].state == HLG_CROSS_SKIPPED,
				 c.crossings.rows[i].reason[0] != '\0');
	return &c;
}

static void enter(void)
{
	memset(&machine, 0, sizeof(machine));
	machine.refused = "";
	machine.kernel = 30;
	machine.served = GUESTS_CROSSINGS;
}

static void expect(const struct hlg_calibration *c, enum hlg_crossing_row row,
		   const char *reason)
{
	ck_assert_int_eq(c->crossings.rows[row].state, HLG_CROSS_SKIPPED);
	ck_assert_ptr_nonnull(strstr(c->crossings.rows[row].reason, reason));
}

START_TEST(hardware)
{
	const struct hlg_calibration *c = measure();
	const struct hlg_crossing *rows = c->crossings.rows;

	for (size_t i = 0; i < HLG_CROSS_ROWS; i++)
		ck_assert_int_eq(rows[i].state, HLG_CROSS_MEASURED);
	ck_assert(!c->crossings.emulated);
	ck_assert_uint_eq(tried_amd, 0);
	for (size_t i = HLG_CROSS_FAULT_IN; i <= HLG_CROSS_SYSCALL_OUT; i += 2) {
		ck_assert_uint_eq(rows[i].ticks.p50, 600);
		ck_assert_uint_eq(rows[i + 1].ticks.p50, 370);
	}
	ck_assert_uint_eq(rows[HLG_CROSS_HYPERCALL].ticks.p50, 1020);
	ck_assert_uint_eq(rows[HLG_CROSS_RUN].ticks.n, rows[HLG_CROSS_OUT].ticks.n);
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, c), 0);
}
END_TEST

START_TEST(hypercalls)
{
	const struct hlg_calibration *c;

	machine.refused = "cross_vmcall ";
	c = measure();
	ck_assert_uint_eq(tried_amd, 1);
	ck_assert_uint_eq(c->crossings.rows[HLG_CROSS_HYPERCALL].ticks.p50, 1020);
	machine.refused = "cross_vmcall cross_vmmcall ";
	expect(measure(), HLG_CROSS_HYPERCALL, "refuses");
}
END_TEST

/* A handler for a refusal is another than the row's: no figure is made of it. */
START_TEST(software)
{
	const struct hlg_calibration *c;

	machine.call_ring = 3;
	machine.kernel = 7100;
	machine.refused = "cross_int ";
	c = measure();
	expect(c, HLG_CROSS_SYSCALL_IN, "without leaving ring 3");
	expect(c, HLG_CROSS_SYSCALL_OUT, "without leaving ring 3");
	expect(c, HLG_CROSS_INT_OUT, "refuses");
	ck_assert(c->crossings.emulated);
	ck_assert_int_eq(c->crossings.rows[HLG_CROSS_FAULT_IN].state, HLG_CROSS_EMULATED);
	ck_assert_int_eq(c->crossings.rows[HLG_CROSS_CPUID].state, HLG_CROSS_MEASURED);
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, c), 0);
}
END_TEST

START_TEST(handlers_never_entered)
{
	const struct hlg_calibration *c;

	machine.backward = "cross_trap";
	c = measure();
	expect(c, HLG_CROSS_TRAP_IN, "2000 of 2000 time stamps were out of order");
	expect(c, HLG_CROSS_TRAP_OUT, "order");
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, c), 1);
	machine.backward = NULL;
	machine.served = 17;
	ck_assert_uint_eq(hlg_calibrate_faults(NULL, measure()), 1);
}
END_TEST

START_TEST(guests_that_fail)
{
	machine.fails = "cross_out";
	expect(measure(), HLG_CROSS_OUT, "killed at its deadline");
	expect(measure(), HLG_CROSS_RUN, "killed at its deadline");
	machine.fails = "touch_field";
	expect(measure(), HLG_CROSS_FAULT_OUT, "killed at its deadline");
	machine.fails = "cross_cpuid";
	expect(measure(), HLG_CROSS_CPUID, "killed at its deadline");
}
END_TEST

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

/* Rows that share a reason: it is told once, at the first. */
START_TEST(reasons_are_told_once)
{
	struct hlg_calibration *c;
	struct hlg_err err;
	char *text, *table;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	machine.fails = "all";
	machine.served = 0;
	c = measure();
	c->tables = true;
	ck_assert_int_eq(hlg_calibrate_text(c, f, &err), 0);
	fclose(f);
	table = strstr(text, "Exit cost");
	ck_assert_ptr_nonnull(table);
	ck_assert_uint_eq(count(table, "killed at its deadline"), 1);
	ck_assert_uint_eq(count(table, "skipped: as above"), HLG_CROSS_PAIR_HOST - 1);
	/* With the truth that does not hold stands why. */
	ck_assert_ptr_nonnull(
		strstr(text, "0 of 4096 were served: guest: killed at its deadline\n"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibrate crossing");
	TCase *tc = tap_case(suite, "machines");

	tcase_add_checked_fixture(tc, enter, NULL);
	tcase_add_test(tc, hardware);
	tcase_add_test(tc, hypercalls);
	tcase_add_test(tc, software);
	tcase_add_test(tc, handlers_never_entered);
	tcase_add_test(tc, guests_that_fail);
	tcase_add_test(tc, reasons_are_told_once);
	return tap_main(suite);
}
