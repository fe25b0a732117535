// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/json-stacks.h"

#include <stdlib.h>

#include "filter/report/callgraph.h"
#include "filter/report/frames.h"
#include "filter/write/json-parts.h"

static json_t *frames_of(const struct hlg_tree *tree, uint32_t node)
{
	json_t *list = json_array();

	for (; node != HLG_TREE_ROOT; node = tree->nodes[node].parent)
		json_array_insert_new(
			list, 0, hlg_json_text(hlg_tree_name(tree, &tree->nodes[node])));
	return list;
}

static int add_list(json_t *stacks, const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_tree tree = {0};
	json_t *list = json_array();
	int rc = hlg_frames_build(&tree, r, err);

	for (uint32_t i = 1; rc == 0 && i < tree.n; i++) {
		json_t *o;

		if (!tree.nodes[i].self.samples)
			continue;
		o = hlg_json_count(tree.nodes[i].self);
		json_object_set_new(o, "frames", frames_of(&tree, i));
		json_array_append_new(list, o);
	}
	hlg_tree_finish(&tree);
	json_object_set_new(stacks, "list", list);
	return rc;
}

int hlg_json_stacks(json_t *root, const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_callgraph_sums s;
	int rc = r->stacks ? hlg_callgraph_sum(&s, r, err) : 0;
	json_t *o;

	if (rc < 0 || !r->stacks)
		return rc;
	o = json_object();
	json_object_set_new(o, "host_half", hlg_json_count(s.known));
	json_object_set_new(o, "no_kvm_run_stack", hlg_json_count(s.orphan));
	json_object_set_new(o, "no_callchain", hlg_json_count(s.bare));
	json_object_set_new(o, "not_kept", hlg_json_count(s.lost));
	json_object_set_new(o, "guest_callers", hlg_json_count(s.called));
	json_object_set_new(o, "aside", hlg_json_count(s.aside));
	json_object_set_new(o, "kvm_runs", hlg_json_number(s.marks));
	json_object_set_new(o, "host_halves", hlg_json_number(s.halves));
	json_object_set_new(o, "host_frames", hlg_json_number(s.frames));
	json_object_set_new(o, "unresolved", hlg_json_number(s.unresolved));
	rc = add_list(o, r, err);
	json_object_set_new(root, "stacks", o);
	return rc;
}
