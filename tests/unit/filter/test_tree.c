// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks that begin alike share nodes, and only those: kind and name both count. A
 * settled tree is the same in whatever order its stacks came, keeps every weight, and
 * stands in the order it is read in. Without memory nothing is half done.
 */
#include "filter/stacks/tree.h"

#include <stdlib.h>
#include <string.h>

#include "filter/write/folded.h"
#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

/* Puts "a;b;c" in, all frames of one kind. */
static bool put(struct hlg_tree *tree, const char *stack, enum hlg_frame frame,
		uint64_t samples, uint64_t period)
{
	char *text = strdup(stack), *rest = text;
	uint32_t node = HLG_TREE_ROOT;

	ck_assert_ptr_nonnull(text);
	for (char *name; (name = strsep(&rest, ";"));)
		node = hlg_tree_child(tree, node, frame, name);
	free(text);
	if (node != HLG_NO_NODE)
		hlg_tree_add(tree, node, (struct hlg_count){samples, period});
	return node != HLG_NO_NODE;
}

static char *fold(const struct hlg_tree *tree, enum hlg_weight weight)
{
	struct hlg_err err;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(hlg_folded_write(f, tree, weight, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

static void check_shape(const struct hlg_tree *tree)
{
	struct hlg_count sum = {0, 0};

	ck_assert_uint_eq(tree->nodes[0].end, tree->n);
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct hlg_node *node = &tree->nodes[i];
		struct hlg_count above = node->self;

		hlg_count_add(&sum, node->self);
		ck_assert_uint_gt(node->end, i);
		for (uint32_t c = i + 1; c < node->end; c = tree->nodes[c].end) {
			ck_assert_uint_eq(tree->nodes[c].parent, i);
			ck_assert_uint_eq(tree->nodes[c].depth, node->depth + 1);
			hlg_count_add(&above, tree->nodes[c].total);
		}
		ck_assert_uint_eq(above.samples, node->total.samples);
		ck_assert_uint_eq(above.period, node->total.period);
	}
	ck_assert_uint_eq(sum.samples, tree->nodes[0].total.samples);
	ck_assert_uint_eq(sum.period, tree->nodes[0].total.period);
}

static const struct {
	const char *stack;
	uint64_t samples, period;
} stacks[] = {
	{"main;run;kick", 1, 50}, {"main;run;spin", 2, 30}, {"main", 3, 1},
	{"idle", 9, 20},          {"main;run;kick", 1, 5},  {"main;walk", 4, 86},
	{"main;run", 1, 0},
};

enum {
	N_STACKS = sizeof(stacks) / sizeof(stacks[0])
};

START_TEST(folded)
{
	struct hlg_tree tree = {0};
	char *text;

	ck_assert(hlg_tree_init(&tree));
	for (int i = 0; i < N_STACKS; i++)
		ck_assert(put(&tree, stacks[i].stack, HLG_FRAME_GUEST, stacks[i].samples,
			      stacks[i].period));
	ck_assert_uint_eq(tree.n, 7);
	ck_assert(hlg_tree_settle(&tree, HLG_WEIGHT_PERIOD));
	check_shape(&tree);
	text = fold(&tree, HLG_WEIGHT_PERIOD);
	/* walk before run, which has 85; what has no weight has no line. */
	ck_assert_str_eq(text, "main 1\nmain;walk 86\nmain;run;kick 55\nmain;run;spin "
			       "30\nidle 20\n");
	free(text);
	hlg_tree_finish(&tree);
}
END_TEST

START_TEST(any_order)
{
	char *expected = NULL;

	for (int turn = 0; turn < N_STACKS; turn++) {
		struct hlg_tree tree = {0};
		char *text;

		ck_assert(hlg_tree_init(&tree));
		for (int i = 0; i < N_STACKS; i++) {
			int j = (turn % 2 ? N_STACKS - i + turn : i + turn) % N_STACKS;

			ck_assert(put(&tree, stacks[j].stack, HLG_FRAME_GUEST,
				      stacks[j].samples, stacks[j].period));
		}
		ck_assert(hlg_tree_settle(&tree, HLG_WEIGHT_SAMPLES));
		check_shape(&tree);
		text = fold(&tree, HLG_WEIGHT_SAMPLES);
		if (expected) {
			ck_assert_str_eq(text, expected);
			free(text);
		} else {
			expected = text;
		}
		hlg_tree_finish(&tree);
	}
	free(expected);
}
END_TEST

START_TEST(kinds)
{
	struct hlg_tree tree = {0};
	char *text;

	ck_assert(hlg_tree_init(&tree));
	ck_assert(put(&tree, "ioctl", HLG_FRAME_HOST_KERNEL, 1, 1));
	ck_assert(put(&tree, "ioctl", HLG_FRAME_HOST_USER, 1, 1));
	ck_assert(put(&tree, "a;b\x1b[2J", HLG_FRAME_NOTE, 1, 1));
	ck_assert(hlg_tree_settle(&tree, HLG_WEIGHT_SAMPLES));
	ck_assert_uint_eq(tree.n, 5);
	ck_assert_int_eq(tree.nodes[3].frame, HLG_FRAME_HOST_USER);
	ck_assert_int_eq(tree.nodes[4].frame, HLG_FRAME_HOST_KERNEL);
	text = fold(&tree, HLG_WEIGHT_SAMPLES);
	ck_assert_str_eq(text, "a;b\\x1b[2J 1\nioctl 1\nioctl 1\n");
	free(text);
	hlg_tree_finish(&tree);
}
END_TEST

START_TEST(empty)
{
	struct hlg_tree tree = {0};
	char *text;

	ck_assert(hlg_tree_init(&tree));
	ck_assert(hlg_tree_settle(&tree, HLG_WEIGHT_SAMPLES));
	check_shape(&tree);
	text = fold(&tree, HLG_WEIGHT_SAMPLES);
	ck_assert_str_eq(text, "");
	free(text);
	hlg_tree_finish(&tree);
}
END_TEST

/* Deep and wide, past several growths of every table. */
START_TEST(many)
{
	struct hlg_tree tree = {0};
	uint32_t node = HLG_TREE_ROOT;

	ck_assert(hlg_tree_init(&tree));
	for (unsigned i = 0; i < 20000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i * 7919 % 1000);
		node = hlg_tree_child(&tree, i % 100 ? node : HLG_TREE_ROOT,
				      HLG_FRAME_GUEST, name);
		ck_assert_uint_ne(node, HLG_NO_NODE);
		hlg_tree_add(&tree, node, (struct hlg_count){1, i});
	}
	ck_assert(hlg_tree_settle(&tree, HLG_WEIGHT_PERIOD));
	check_shape(&tree);
	ck_assert_uint_eq(tree.nodes[0].total.samples, 20000);
	ck_assert_uint_eq(tree.nodes[0].total.period, 20000 * UINT64_C(19999) / 2);
	hlg_tree_finish(&tree);
}
END_TEST

/* An allocation that fails leaves a tree that can be finished, or that is whole. */
START_TEST(without_memory)
{
	bool struck = true;

	for (unsigned n = 1; struck; n++) {
		struct hlg_tree tree = {0};
		uint32_t node;
		bool ok;

		oom_arm(n, false);
		ok = hlg_tree_init(&tree);
		node = ok ? hlg_tree_child(&tree, HLG_TREE_ROOT, HLG_FRAME_GUEST, "a")
			  : HLG_NO_NODE;
		node = ok ? hlg_tree_child(&tree, node, HLG_FRAME_GUEST, "b") : node;
		ok = node != HLG_NO_NODE && hlg_tree_settle(&tree, HLG_WEIGHT_PERIOD);
		struck = oom_disarm();
		ck_assert_int_eq(ok, !struck);
		if (ok)
			check_shape(&tree);
		hlg_tree_finish(&tree);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree");
	TCase *tc = tap_case(suite, "tree");

	tcase_add_test(tc, folded);
	tcase_add_test(tc, any_order);
	tcase_add_test(tc, kinds);
	tcase_add_test(tc, empty);
	tcase_add_test(tc, many);
	tcase_add_test(tc, without_memory);
	return tap_main(suite);
}
