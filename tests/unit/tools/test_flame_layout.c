// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flame graph lies about nothing: a box is as wide as its weight, inside its parent and
 * beside its siblings, and what is not drawn is counted. Held on trees of random shape,
 * on one that is very deep, one that is very wide, and weights that 64 bits just hold.
 */
#include <stdio.h>
#include <stdlib.h>

#include "filter/view/view.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"
#include "tools/flame/flame.h"

static struct hlg_tree tree;
static struct hlg_layout layout;

static void begin(void)
{
	tree = (struct hlg_tree){0};
	ck_assert(hlg_tree_init(&tree));
}

static uint32_t child(uint32_t parent, unsigned name)
{
	char text[16];

	snprintf(text, sizeof(text), "f%u", name);
	return hlg_tree_child(&tree, parent, HLG_FRAME_GUEST, text);
}

static void lay_out(double least)
{
	ck_assert(hlg_tree_settle(&tree, HLG_WEIGHT_PERIOD));
	ck_assert(hlg_graph_layout(&layout, &tree, HLG_WEIGHT_PERIOD, least));
}

static void end(void)
{
	hlg_graph_layout_finish(&layout);
	hlg_tree_finish(&tree);
}

static uint64_t weight(const struct hlg_box *box)
{
	return tree.nodes[box->node].total.period;
}

/* The box of a node's parent; boxes stand behind those of their parents. */
static const struct hlg_box *parent_of(const struct hlg_box *box)
{
	uint32_t parent = tree.nodes[box->node].parent;

	while (box->node != parent)
		ck_assert(box-- > layout.boxes);
	return box;
}

static void check_boxes(double least)
{
	uint64_t self = 0, samples = 0;

	for (uint32_t i = 0; i < layout.n; i++) {
		const struct hlg_box *box = &layout.boxes[i];
		const struct hlg_node *node = &tree.nodes[box->node];

		self += node->self.period;
		samples += node->self.samples;
		ck_assert_uint_le(node->depth, layout.depth);
		if (i == 0)
			continue;
		const struct hlg_box *below = parent_of(box);

		ck_assert_uint_ge(box->at, below->at);
		ck_assert(box->at - below->at <= weight(below) - weight(box));
		ck_assert_uint_ge(box->left, below->left);
		ck_assert_uint_le(box->left, box->right);
		ck_assert_uint_le(box->right, below->right);
		ck_assert(weight(box) > 0);
		ck_assert((double)weight(box) >= least * (double)layout.total);
	}
	ck_assert_uint_eq(self + layout.hidden.period, layout.total);
	ck_assert_uint_eq(samples + layout.hidden.samples, tree.nodes[0].total.samples);
	ck_assert_uint_eq(layout.boxes[0].left, 0);
	ck_assert_uint_eq(layout.boxes[0].right, layout.total ? HLG_LAYOUT_WIDTH : 0);
}

/* Boxes of one depth do not overlap. */
static void check_rows(void)
{
	for (uint32_t d = 0; d <= layout.depth; d++) {
		uint64_t at = 0;
		uint32_t left = 0;

		for (uint32_t i = 0; i < layout.n; i++) {
			const struct hlg_box *box = &layout.boxes[i];

			if (tree.nodes[box->node].depth != d)
				continue;
			ck_assert_uint_ge(box->at, at);
			ck_assert_uint_ge(box->left, left);
			at = box->at + weight(box);
			left = box->right;
		}
	}
}

START_TEST(random_trees)
{
	static const double leasts[] = {0, 0.0001, 0.01, 0.3, 1};
	unsigned hidden = 0;

	srand((unsigned)_i + 1);
	for (size_t k = 0; k < sizeof(leasts) / sizeof(leasts[0]); k++) {
		begin();
		for (int s = rand() % 400; s > 0; s--) {
			uint32_t node = HLG_TREE_ROOT;

			for (int d = rand() % 12; d > 0; d--)
				node = child(node, (unsigned)rand() % 4);
			hlg_tree_add(&tree, node,
				     (struct hlg_count){1, (uint64_t)rand() % 1000});
		}
		lay_out(leasts[k]);
		check_boxes(leasts[k]);
		check_rows();
		hidden += layout.n_hidden;
		ck_assert_uint_eq(layout.n + layout.n_hidden, tree.n);
		end();
	}
	ck_assert_uint_gt(hidden, 0);
}
END_TEST

START_TEST(what_is_hidden_is_counted_once)
{
	uint32_t a, b;

	begin();
	a = child(HLG_TREE_ROOT, 1);
	b = child(HLG_TREE_ROOT, 2);
	hlg_tree_add(&tree, a, (struct hlg_count){990, 990});
	hlg_tree_add(&tree, b, (struct hlg_count){4, 4});
	hlg_tree_add(&tree, child(b, 3), (struct hlg_count){3, 3});
	hlg_tree_add(&tree, child(b, 4), (struct hlg_count){3, 3});
	lay_out(0.02);
	ck_assert_uint_eq(layout.n, 2);
	ck_assert_uint_eq(layout.n_hidden, 3);
	ck_assert_uint_eq(layout.hidden.samples, 10);
	hlg_graph_layout_finish(&layout);
	lay_out(0.01); /* what has just as much is shown */
	ck_assert_uint_eq(layout.n, 3);
	ck_assert_uint_eq(layout.hidden.samples, 6);
	end();
}
END_TEST

START_TEST(no_weight)
{
	begin();
	lay_out(0.01);
	ck_assert_uint_eq(layout.n, 1);
	check_boxes(0);
	end();
	begin();
	hlg_tree_add(&tree, child(HLG_TREE_ROOT, 1), (struct hlg_count){5, 0});
	lay_out(0);
	ck_assert_uint_eq(layout.n, 1);
	ck_assert_uint_eq(layout.hidden.samples, 5);
	end();
}
END_TEST

START_TEST(deep)
{
	uint32_t node = HLG_TREE_ROOT;

	begin();
	for (unsigned i = 0; i < 10000; i++)
		node = child(node, i % 3);
	hlg_tree_add(&tree, node, (struct hlg_count){1, 7});
	lay_out(0.0001);
	ck_assert_uint_eq(layout.n, 10001);
	ck_assert_uint_eq(layout.depth, 10000);
	check_boxes(0.0001);
	end();
}
END_TEST

START_TEST(wide)
{
	begin();
	for (unsigned i = 0; i < 100000; i++)
		hlg_tree_add(&tree, child(HLG_TREE_ROOT, i),
			     (struct hlg_count){1, i < 100 ? 100000 : 1});
	lay_out(0.0001);
	ck_assert_uint_eq(layout.n, 101);
	ck_assert_uint_eq(layout.n_hidden, 99900);
	check_boxes(0.0001);
	end();
}
END_TEST

START_TEST(heavy)
{
	begin();
	for (unsigned i = 0; i < 3; i++)
		hlg_tree_add(&tree, child(child(HLG_TREE_ROOT, i), 0),
			     (struct hlg_count){1, UINT64_MAX / 3});
	lay_out(0.0001);
	ck_assert_uint_eq(layout.n, 7);
	ck_assert_uint_eq(layout.boxes[1].right, 333333);
	check_boxes(0);
	check_rows();
	end();
}
END_TEST

/* Of names that are all new, a box has neither the shade of the one before it beside it
 * nor of the one below it. */
START_TEST(shades_differ)
{
	uint8_t last[12] = {0};
	unsigned name = 0;

	srand((unsigned)_i + 1);
	begin();
	for (int s = 0; s < 40; s++) {
		uint32_t node = HLG_TREE_ROOT;

		for (int d = 1 + rand() % 10; d > 0; d--)
			node = child(node, name++);
		hlg_tree_add(&tree, node, (struct hlg_count){1, 1000});
	}
	lay_out(0);
	ck_assert(hlg_shades_assign(&layout, &tree));
	for (uint32_t i = 1; i < layout.n; i++) {
		const struct hlg_box *box = &layout.boxes[i];
		const uint32_t depth = tree.nodes[box->node].depth;

		ck_assert_uint_ne(box->shade, last[depth]);
		ck_assert_uint_ne(box->shade, last[depth - 1]);
		last[depth] = box->shade;
	}
	end();
}
END_TEST

START_TEST(without_memory)
{
	bool struck = true, ok;

	begin();
	hlg_tree_add(&tree, child(child(HLG_TREE_ROOT, 1), 2), (struct hlg_count){1, 1});
	ck_assert(hlg_tree_settle(&tree, HLG_WEIGHT_PERIOD));
	for (unsigned n = 1; struck; n++) {
		oom_arm(n, false);
		ok = hlg_graph_layout(&layout, &tree, HLG_WEIGHT_PERIOD, 0);
		struck = oom_disarm();
		ck_assert(ok == !struck);
		hlg_graph_layout_finish(&layout);
	}
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("layout");
	TCase *tc = tap_case(suite, "boxes");

	tcase_add_loop_test(tc, random_trees, 0, 40);
	tcase_add_test(tc, what_is_hidden_is_counted_once);
	tcase_add_test(tc, no_weight);
	tcase_add_test(tc, deep);
	tcase_add_test(tc, wide);
	tcase_add_test(tc, heavy);
	tcase_add_loop_test(tc, shades_differ, 0, 5);
	tcase_add_test(tc, without_memory);
	return tap_main(suite);
}
