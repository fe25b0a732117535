/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tree of frames: stacks that begin alike share their beginning. What flame graphs,
 * folded stacks and the formats of other viewers are written from.
 *
 * A stack is put in frame by frame from the bottom (the caller of all others), each with
 * hlg_tree_child, and its weight is added to the last. Then the tree is settled: nodes
 * stand in the order they are read in, parents before children, and know what is above
 * them. The sum of self over all nodes is total of the root.
 */
#ifndef HLG_FILTER_STACKS_TREE_H
#define HLG_FILTER_STACKS_TREE_H

#include <stdbool.h>

#include "filter/profile/index.h"
#include "filter/profile/profile.h"
#include "filter/profile/strings.h"

/* What a frame is; viewers tell them apart by colour. */
enum hlg_frame {
	HLG_FRAME_GROUP,       /* no code: a series, a process, a thread, an image */
	HLG_FRAME_HOST_USER,   /* a function of the VMM or another process */
	HLG_FRAME_HOST_KERNEL, /* of the host's kernel */
	HLG_FRAME_GUEST,       /* a function or a label of the guest */
	HLG_FRAME_GAP,         /* guest bytes that belong to no symbol, or to no image */
	HLG_FRAME_BORDER,      /* entering and leaving the guest */
	HLG_FRAME_NOTE         /* says what is known or missing: "[no KVM_RUN stack]" */
};

enum {
	HLG_N_FRAMES = HLG_FRAME_NOTE + 1
};

#define HLG_TREE_ROOT 0
#define HLG_NO_NODE   UINT32_MAX

struct hlg_node {
	uint32_t name; /* hlg_tree_name; the root has none */
	uint32_t parent;
	uint32_t end;   /* settled: the node behind the last that stands above this */
	uint32_t depth; /* 0 is the root */
	enum hlg_frame frame;
	struct hlg_count self;  /* of stacks that end here */
	struct hlg_count total; /* settled: self, and of all above */
};

struct hlg_tree {
	struct hlg_strings names;
	struct hlg_node *nodes; /* [0] is the root */
	uint32_t n;
	uint32_t *where;        /* settled: the number now of what was put in as a node */
	struct hlg_index index; /* of nodes but the root, until they are settled */
};

/* What kind of frame it is, in words: "host kernel", "guest". */
const char *hlg_tree_frame_word(enum hlg_frame kind);

/* *tree is all zero before; false without memory. The caller finishes it in any case. */
bool hlg_tree_init(struct hlg_tree *tree);
void hlg_tree_finish(struct hlg_tree *tree);

/*
 * The frame of this kind and name on top of parent, new or known; HLG_NO_NODE without
 * memory, or where parent is HLG_NO_NODE. name is copied; it is not escaped.
 */
uint32_t hlg_tree_child(struct hlg_tree *tree, uint32_t parent, enum hlg_frame frame,
			const char *name);

/* The same by the number that the name has in tree->names; HLG_NO_NODE also for
 * HLG_NO_STRING. */
uint32_t hlg_tree_child_called(struct hlg_tree *tree, uint32_t parent,
			       enum hlg_frame frame, uint32_t name);

static inline void hlg_tree_add(struct hlg_tree *tree, uint32_t node,
				struct hlg_count count)
{
	hlg_count_add(&tree->nodes[node].self, count);
}

/*
 * Sums up and sorts: of the children of a node the one with the largest weight first,
 * then by name, then by kind; what is put in first does not matter. Numbers of nodes
 * change, and nothing can be added afterwards. False without memory: then nothing has
 * changed.
 */
bool hlg_tree_settle(struct hlg_tree *tree, enum hlg_weight weight);

/* Not escaped, and the tree's own; "" for the root. */
const char *hlg_tree_name(const struct hlg_tree *tree, const struct hlg_node *node);

#endif
