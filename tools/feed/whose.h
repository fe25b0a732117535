/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is at an address, for verbs that read recordings in a way of their own, where
 * guests lie at the same addresses: the recordings are read beforehand, as report reads
 * them, and tell who runs which image (filter/trust/apart.h), or where bases are to be
 * found, who lies at which (filter/trust/guest-bases.h). Whoever has an address then asks
 * for the lane (symtab/image/lane.h) of who was there.
 */
#ifndef HLG_TOOLS_FEED_WHOSE_H
#define HLG_TOOLS_FEED_WHOSE_H

#include "tools/feed/batch.h"
#include "tools/feed/turns.h"

/* All zero before; finish in any case. */
struct hlg_whose {
	const struct hlg_builds *noted;    /* in: as of batch.h */
	struct hlg_batch batch;            /* of all recordings */
	bool parted;                       /* some lie at the same addresses: else all are
					    * where they are */
	bool by_tid;                       /* sandboxes do not count */
	const struct hlg_batch_file *file; /* the one that is read now, */
	struct hlg_turns *turns;           /* and its sandboxes; NULL: none are known */
	uint64_t unknown; /* addresses of whom no sample tells what he runs */
};

/* Can all of these be read twice? */
bool hlg_whose_may_learn(char *const *paths, size_t n);

/*
 * Reads n recordings, which stay the caller's, into run's profile; run is started apart.
 * Fails if one can be read only once, or without memory.
 */
int hlg_whose_learn(struct hlg_whose *whose, struct hlg_run *run, char *const *paths,
		    size_t n, unsigned threads, struct hlg_err *err);

/* What comes is of this recording. Fails if it could not be read, or tells of nobody. */
int hlg_whose_begin(struct hlg_whose *whose, size_t number, struct hlg_err *err);

/* What the addresses of a thread are moved by at a time. */
uint64_t hlg_whose_move(struct hlg_whose *whose, int32_t tid, uint64_t time);

/* Who has too few samples; and, of addresses that are called what, the unknown. */
void hlg_whose_note(const struct hlg_whose *whose, const char *what,
		    struct hlg_note_list *notes);

void hlg_whose_finish(struct hlg_whose *whose);

#endif
