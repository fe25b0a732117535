/* SPDX-License-Identifier: GPL-2.0-only */
/* Judges edges of guests' stacks, by the rule in proof.h, each once. */
#ifndef HLG_FILTER_TRUST_JUDGE_H
#define HLG_FILTER_TRUST_JUDGE_H

#include "filter/trust/trust.h"

enum hlg_edge_kind {
	HLG_EDGE_UNPROVED, /* its code cannot be decoded */
	HLG_EDGE_CONFIRMED,
	HLG_EDGE_INDIRECT,
	HLG_EDGE_WRONG,
	HLG_EDGE_NO_CALL /* wrong, too: there is no return address */
};

struct hlg_edge {
	enum hlg_edge_kind kind;
	bool unknown;      /* a caller of the frame is not known */
	bool missing;      /* one is missing (above that, if there is one): this, */
	uint64_t inserted; /* own address of the first byte of its function */
};

struct hlg_judge;

/* Both outlive it; NULL without memory. */
struct hlg_judge *hlg_judge_open(const struct hlg_space *space,
				 const struct hlg_trust *trust);
void hlg_judge_close(struct hlg_judge *judge);

/*
 * The edge between what ran at the ip `below` (a sample's, or in a call) and a caller,
 * whose call ends behind the ip `call`. exact: no caller is missing between them. False
 * without memory.
 */
bool hlg_judge_edge(struct hlg_judge *judge, uint64_t below, uint64_t call, bool exact,
		    struct hlg_edge *edge);

/*
 * Is a caller missing above what ran at this ip, if there is no return address? So it is
 * in the first instructions of a function that keeps a frame pointer, unless the image is
 * entered there. False without memory.
 */
bool hlg_judge_alone(struct hlg_judge *judge, uint64_t ip, bool *missing);

/* Do most functions of the image that an ip lies in keep frame pointers? Yes where that
 * cannot be told. */
bool hlg_judge_has_frames(struct hlg_judge *judge, uint64_t ip);

#endif
