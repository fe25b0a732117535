// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of two trees are compared with their like and no others, and a colour means a
 * change: frames of recordings that are alike have none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"
#include "tools/flame/flame.h"

static struct hlg_tree before, after;
static struct hlg_changes changes;

static void put(struct hlg_tree *tree, uint64_t samples, enum hlg_frame kind,
		const char *below, const char *name)
{
	uint32_t node =
		below ? hlg_tree_child(tree, HLG_TREE_ROOT, HLG_FRAME_GROUP, below)
		      : HLG_TREE_ROOT;

	node = hlg_tree_child(tree, node, kind, name);
	hlg_tree_add(tree, node, (struct hlg_count){samples, 10 * samples});
}

static void begin(void)
{
	before = after = (struct hlg_tree){0};
	ck_assert(hlg_tree_init(&before));
	ck_assert(hlg_tree_init(&after));
}

static void compare(void)
{
	ck_assert(hlg_tree_settle(&before, HLG_WEIGHT_SAMPLES));
	ck_assert(hlg_tree_settle(&after, HLG_WEIGHT_SAMPLES));
	struct hlg_flame_side a = {.tree = &before,
				   .observations = (double)before.nodes[0].total.samples};
	struct hlg_flame_side b = {.tree = &after,
				   .observations = (double)after.nodes[0].total.samples};

	ck_assert(hlg_changes_make(&changes, &a, &b, HLG_WEIGHT_SAMPLES));
}

static void end(void)
{
	hlg_changes_finish(&changes);
	hlg_tree_finish(&before);
	hlg_tree_finish(&after);
}

/* The change of the first frame of that name. */
static const struct hlg_change *of(const char *name)
{
	for (uint32_t i = 1; i < after.n; i++)
		if (strcmp(hlg_tree_name(&after, &after.nodes[i]), name) == 0)
			return &changes.nodes[i];
	ck_abort_msg("no %s", name);
}

static void near(double got, double expected)
{
	ck_assert_msg(fabs(got - expected) < 1e-9, "%g, not %g", got, expected);
}

START_TEST(alike)
{
	begin();
	for (int i = 0; i < 2; i++) {
		struct hlg_tree *tree = i ? &after : &before;
		uint64_t times = i ? 1 : 3; /* of another length */

		put(tree, 500 * times, HLG_FRAME_GUEST, "x", "f");
		put(tree, 300 * times, HLG_FRAME_GUEST, "x", "g");
		put(tree, 200 * times, HLG_FRAME_GUEST, "y", "f");
	}
	compare();
	ck_assert_uint_eq(changes.n_significant, 0);
	ck_assert_uint_eq(changes.n_gone, 0);
	near(of("x")->before, 0.8);
	near(of("x")->compared.diff, 0);
	end();
}
END_TEST

START_TEST(grew_and_shrank)
{
	begin();
	put(&before, 500, HLG_FRAME_GUEST, "x", "f");
	put(&before, 500, HLG_FRAME_GUEST, "x", "g");
	put(&before, 1000, HLG_FRAME_GUEST, "y", "same");
	put(&after, 700, HLG_FRAME_GUEST, "x", "f");
	put(&after, 300, HLG_FRAME_GUEST, "x", "g");
	put(&after, 1000, HLG_FRAME_GUEST, "y", "same");
	compare();
	near(of("f")->compared.diff, 0.1);
	near(of("g")->compared.diff, -0.1);
	ck_assert(of("f")->significant && of("g")->significant);
	ck_assert(!of("same")->significant && !of("x")->significant);
	ck_assert_uint_eq(changes.n_significant, 2);
	end();
}
END_TEST

START_TEST(new_and_gone)
{
	begin();
	put(&before, 900, HLG_FRAME_GUEST, NULL, "stays");
	put(&before, 60, HLG_FRAME_GUEST, "old", "a");
	put(&before, 40, HLG_FRAME_GUEST, "old", "b");
	put(&before, 1, HLG_FRAME_GUEST, NULL, "rare");
	put(&after, 900, HLG_FRAME_GUEST, NULL, "stays");
	put(&after, 100, HLG_FRAME_GUEST, "new", "a");
	compare();
	ck_assert(of("new")->significant);
	near(of("new")->before, 0);
	near(of("a")->before, 0); /* not old's */
	ck_assert_uint_eq(changes.n_gone, 2);
	ck_assert_str_eq(changes.gone[0].name, "old");
	near(changes.gone[0].change.before, 100 / 1001.0);
	ck_assert(changes.gone[0].change.significant);
	ck_assert_str_eq(changes.gone[1].name, "rare");
	ck_assert(!changes.gone[1].change.significant);
	end();
}
END_TEST

/* What one side alone recorded of the host is no change of the guest. */
START_TEST(host_of_one_side)
{
	for (int side = 0; side < 2; side++) {
		begin();
		put(&before, 500, HLG_FRAME_GUEST, NULL, "f");
		put(&before, 500, HLG_FRAME_GUEST, NULL, "g");
		put(&after, 600, HLG_FRAME_GUEST, NULL, "f");
		put(&after, 400, HLG_FRAME_GUEST, NULL, "g");
		put(side ? &after : &before, 9000, HLG_FRAME_NOTE, NULL, "[host]");
		compare();
		ck_assert_int_eq(changes.host_before, !side);
		ck_assert_int_eq(changes.host_after, side);
		near(of("f")->before, 0.5);
		near(of("f")->compared.diff, 0.1);
		ck_assert(of("f")->significant && of("g")->significant);
		ck_assert_uint_eq(changes.n_significant, 2);
		ck_assert_uint_eq(changes.n_gone, 0);
		if (side)
			ck_assert(of("[host]")->alone && !of("[host]")->significant);
		end();
	}
	begin();
	put(&before, 900, HLG_FRAME_NOTE, NULL, "[host]");
	put(&after, 100, HLG_FRAME_NOTE, NULL, "[host]");
	compare();
	ck_assert(!changes.host_before && !changes.host_after);
	ck_assert(!of("[host]")->alone);
	end();
}
END_TEST

/* Nor does it make the guest's samples more than they are. */
START_TEST(host_of_one_side_proves_nothing)
{
	for (int side = 0; side < 2; side++) {
		begin();
		put(&before, 500, HLG_FRAME_GUEST, NULL, "f");
		put(&before, 500, HLG_FRAME_GUEST, NULL, "g");
		put(&after, 540, HLG_FRAME_GUEST, NULL, "f");
		put(&after, 460, HLG_FRAME_GUEST, NULL, "g");
		put(side ? &after : &before, 90000, HLG_FRAME_NOTE, NULL, "[host]");
		compare();
		ck_assert_uint_eq(changes.n_significant, 0);
		end();
	}
}
END_TEST

START_TEST(kinds_are_told_apart)
{
	begin();
	put(&before, 100, HLG_FRAME_GUEST, NULL, "write");
	put(&after, 100, HLG_FRAME_HOST_KERNEL, NULL, "write");
	compare();
	near(of("write")->before, 0);
	ck_assert_uint_eq(changes.n_gone, 1);
	end();
}
END_TEST

START_TEST(nothing_on_a_side)
{
	begin();
	put(&after, 100, HLG_FRAME_GUEST, NULL, "f");
	compare();
	ck_assert_uint_eq(changes.n_significant, 0);
	end();
	begin();
	put(&before, 100, HLG_FRAME_GUEST, NULL, "f");
	compare();
	ck_assert_uint_eq(changes.n_significant, 0);
	ck_assert_uint_eq(changes.n_gone, 1);
	end();
}
END_TEST

/* Random samples of 30 functions; the first is so much slower. */
static void sample(struct hlg_tree *tree, int n, double slower)
{
	for (int i = 0; i < n; i++) {
		/* Of Zipf's distribution, so that rare ones are among them. */
		double at = (double)rand() / RAND_MAX * (3.99 + slower - 1);
		char name[16];
		int f = 1;

		for (at -= slower; at > 0 && f < 30; f++)
			at -= 1.0 / (f + 1);
		snprintf(name, sizeof(name), "f%d", f);
		put(tree, 1, HLG_FRAME_GUEST, f % 2 ? "odd" : "even", name);
	}
}

/* A picture of no change has no colour, but in one of twenty. */
START_TEST(noise_has_no_colour)
{
	int coloured = 0;

	srand(1);
	for (int i = 0; i < 200; i++) {
		begin();
		sample(&before, 2000, 1);
		sample(&after, 3000, 1);
		compare();
		coloured += changes.n_significant > 0;
		end();
	}
	ck_assert_int_le(coloured, 20); /* 10 are expected, and 20 almost never */
}
END_TEST

START_TEST(a_change_is_found)
{
	srand(2);
	for (int i = 0; i < 20; i++) {
		begin();
		sample(&before, 20000, 1);
		sample(&after, 20000, 1.2);
		compare();
		ck_assert(of("f1")->significant && of("f1")->compared.diff > 0);
		end();
	}
}
END_TEST

START_TEST(without_memory)
{
	bool struck = true, ok;

	begin();
	put(&before, 100, HLG_FRAME_GUEST, "x", "old");
	put(&after, 100, HLG_FRAME_GUEST, "x", "new");
	ck_assert(hlg_tree_settle(&before, HLG_WEIGHT_SAMPLES));
	ck_assert(hlg_tree_settle(&after, HLG_WEIGHT_SAMPLES));
	struct hlg_flame_side a = {.tree = &before, .observations = 100},
			      b = {.tree = &after, .observations = 100};

	for (unsigned n = 1; struck; n++) {
		oom_arm(n, false);
		ok = hlg_changes_make(&changes, &a, &b, HLG_WEIGHT_SAMPLES);
		struck = oom_disarm();
		ck_assert(ok == !struck);
		hlg_changes_finish(&changes);
	}
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("change");
	TCase *tc = tap_case(suite, "frames");

	tcase_add_test(tc, alike);
	tcase_add_test(tc, grew_and_shrank);
	tcase_add_test(tc, new_and_gone);
	tcase_add_test(tc, host_of_one_side);
	tcase_add_test(tc, host_of_one_side_proves_nothing);
	tcase_add_test(tc, kinds_are_told_apart);
	tcase_add_test(tc, nothing_on_a_side);
	tcase_add_test(tc, noise_has_no_colour);
	tcase_add_test(tc, a_change_is_found);
	tcase_add_test(tc, without_memory);
	return tap_main(suite);
}
