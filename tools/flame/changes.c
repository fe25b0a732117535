// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/flame.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/frames.h"
#include "filter/view/view.h"

struct maker {
	struct hlg_changes *changes;
	const struct hlg_flame_side *before, *after;
	enum hlg_weight weight;
	/* Of both sides, before first: the host's frame, if the other side has none. What
	 * is left of the side is what shares are of. */
	uint32_t alone[2];
	double total[2], observations[2];
	uint32_t *same; /* of each node after: the one before, or HLG_NO_NODE */
	/* Children of one node, sorted by name and kind. */
	uint32_t *old, *new;
};

static int compare_nodes(const struct hlg_tree *a, uint32_t x, const struct hlg_tree *b,
			 uint32_t y)
{
	int order =
		strcmp(hlg_tree_name(a, &a->nodes[x]), hlg_tree_name(b, &b->nodes[y]));

	return order ? order : (int)a->nodes[x].frame - (int)b->nodes[y].frame;
}

static int compare_in(const void *x, const void *y, void *tree)
{
	return compare_nodes(tree, *(const uint32_t *)x, tree, *(const uint32_t *)y);
}

static size_t sort_children(const struct hlg_tree *tree, uint32_t node, uint32_t *into)
{
	size_t n = 0;

	if (node == HLG_NO_NODE)
		return 0;
	for (uint32_t i = node + 1; i < tree->nodes[node].end; i = tree->nodes[i].end)
		into[n++] = i;
	qsort_r(into, n, sizeof(*into), compare_in, (void *)(uintptr_t)tree);
	return n;
}

/* The frame that all of the host's stand on. */
static uint32_t host_of(const struct hlg_tree *tree)
{
	for (uint32_t i = HLG_TREE_ROOT + 1; i < tree->n; i = tree->nodes[i].end)
		if (tree->nodes[i].frame == HLG_FRAME_NOTE &&
		    strcmp(hlg_tree_name(tree, &tree->nodes[i]), HLG_FRAMES_HOST) == 0)
			return i;
	return HLG_NO_NODE;
}

/* Where one side has samples of the host and the other has not, the guest's shares are
 * of the guest. */
static void set_apart(struct maker *m)
{
	const struct hlg_flame_side *sides[2] = {m->before, m->after};
	uint32_t host[2] = {host_of(m->before->tree), host_of(m->after->tree)};
	bool one = (host[0] == HLG_NO_NODE) != (host[1] == HLG_NO_NODE);

	for (int s = 0; s < 2; s++) {
		const struct hlg_node *nodes = sides[s]->tree->nodes;
		double all =
			(double)hlg_count_weigh(m->weight, nodes[HLG_TREE_ROOT].total);

		m->alone[s] = one ? host[s] : HLG_NO_NODE;
		m->total[s] = all;
		if (m->alone[s] != HLG_NO_NODE)
			m->total[s] -=
				(double)hlg_count_weigh(m->weight, nodes[host[s]].total);
		m->observations[s] =
			all > 0 ? sides[s]->observations * m->total[s] / all : 0;
	}
	m->changes->host_before = m->alone[0] != HLG_NO_NODE;
	m->changes->host_after = m->alone[1] != HLG_NO_NODE;
}

static bool is_alone(const struct maker *m, int s, uint32_t node)
{
	const struct hlg_tree *tree = s ? m->after->tree : m->before->tree;

	return m->alone[s] != HLG_NO_NODE && node >= m->alone[s] &&
	       node < tree->nodes[m->alone[s]].end;
}

static double share_of(const struct maker *m, int s, uint32_t node)
{
	const struct hlg_tree *tree = s ? m->after->tree : m->before->tree;

	/* All is all of what shares are of. */
	if (node == HLG_TREE_ROOT)
		return m->total[s] > 0;
	if (node == HLG_NO_NODE || m->total[s] <= 0)
		return 0;
	return (double)hlg_count_weigh(m->weight, tree->nodes[node].total) / m->total[s];
}

static void compare(const struct maker *m, struct hlg_change *change, uint32_t old,
		    uint32_t new)
{
	change->alone = is_alone(m, 1, new);
	if (change->alone)
		return;
	change->before = share_of(m, 0, old);
	change->after = share_of(m, 1, new);
	hlg_compare_samples(&change->compared,
			    (struct hlg_proportion){change->before, m->observations[0]},
			    (struct hlg_proportion){change->after, m->observations[1]});
}

static void add_gone(struct maker *m, uint32_t old)
{
	struct hlg_gone *gone;

	if (is_alone(m, 0, old))
		return;
	gone = &m->changes->gone[m->changes->n_gone++];
	gone->name = hlg_tree_name(m->before->tree, &m->before->tree->nodes[old]);
	compare(m, &gone->change, old, HLG_NO_NODE);
}

/* Finds for each child of a node after the one it was before. */
static void match_children(struct maker *m, uint32_t node)
{
	const struct hlg_tree *before = m->before->tree, *after = m->after->tree;
	size_t n_old = sort_children(before, m->same[node], m->old), i = 0;
	size_t n_new = sort_children(after, node, m->new), k = 0;

	while (i < n_old || k < n_new) {
		int order = i == n_old ? 1
			    : k == n_new
				    ? -1
				    : compare_nodes(before, m->old[i], after, m->new[k]);

		if (order == 0)
			m->same[m->new[k++]] = m->old[i++];
		else if (order > 0)
			m->same[m->new[k++]] = HLG_NO_NODE;
		else
			add_gone(m, m->old[i++]);
	}
}

static struct hlg_change *change_at(struct hlg_changes *c, size_t nodes, size_t i)
{
	return i < nodes ? &c->nodes[i + 1] : &c->gone[i - nodes].change;
}

/* Which tests are significant, together: those of nodes behind the root, then gone. */
static bool judge(struct hlg_changes *c, uint32_t n_nodes)
{
	size_t nodes = n_nodes - 1, n = nodes + c->n_gone, k = 0;
	double *p = calloc(n + 1, sizeof(*p)), *q = calloc(n + 1, sizeof(*q));
	bool ok = p && q;

	for (size_t i = 0; ok && i < n; i++)
		if (!change_at(c, nodes, i)->alone)
			p[k++] = change_at(c, nodes, i)->compared.p;
	ok = ok && hlg_compare_adjust(q, p, k);
	k = 0;
	for (size_t i = 0; ok && i < n; i++) {
		struct hlg_change *change = change_at(c, nodes, i);

		change->significant = !change->alone && q[k++] <= HLG_COMPARE_LEVEL;
		c->n_significant += change->significant;
	}
	free(p);
	free(q);
	return ok;
}

static int compare_gone(const void *a, const void *b)
{
	const struct hlg_gone *x = a, *y = b;

	if (x->change.before != y->change.before)
		return x->change.before > y->change.before ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool make(struct maker *m)
{
	struct hlg_changes *c = m->changes;
	const struct hlg_tree *after = m->after->tree;

	set_apart(m);
	m->same[HLG_TREE_ROOT] = HLG_TREE_ROOT;
	for (uint32_t i = 0; i < after->n; i++) {
		match_children(m, i);
		compare(m, &c->nodes[i], m->same[i], i);
	}
	if (!judge(c, after->n))
		return false;
	qsort(c->gone, c->n_gone, sizeof(*c->gone), compare_gone);
	return true;
}

bool hlg_changes_make(struct hlg_changes *changes, const struct hlg_flame_side *before,
		      const struct hlg_flame_side *after, enum hlg_weight weight)
{
	uint32_t n_old = before->tree->n, n_new = after->tree->n;
	struct maker m = {
		.changes = changes,
		.before = before,
		.after = after,
		.weight = weight,
		.same = calloc(n_new, sizeof(*m.same)),
		.old = calloc(n_old, sizeof(*m.old)),
		.new = calloc(n_new, sizeof(*m.new)),
	};
	bool ok;

	*changes = (struct hlg_changes){
		.nodes = calloc(n_new, sizeof(*changes->nodes)),
		.gone = calloc(n_old, sizeof(*changes->gone)),
	};
	ok = m.same && m.old && m.new && changes->nodes && changes->gone &&make(&m);
	free(m.same);
	free(m.old);
	free(m.new);
	return ok;
}

void hlg_changes_finish(struct hlg_changes *changes)
{
	free(changes->nodes);
	free(changes->gone);
	*changes = (struct hlg_changes){0};
}
