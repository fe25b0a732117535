/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that is proposed where ELFs are not named that record noted
 * (tools/inputs/unnamed.h): what was typed, with these, without those in whose stead
 * others ran, and with each at the base that its samples fit.
 */
#ifndef HLG_TOOLS_INPUTS_PROPOSED_H
#define HLG_TOOLS_INPUTS_PROPOSED_H

#include <stdbool.h>
#include <stddef.h>

#include "filter/trust/trust.h"
#include "tools/beside/beside.h"
#include "tools/inputs/given.h"

/* Words of a command. The strings are not owned. */
struct hlg_proposed_names {
	const char **at;
	size_t n;
	bool lost; /* for want of memory */
};

/* A guest that record noted, of one recording or more; or what else may be one, which
 * lacks nothing if it is not named. */
struct hlg_proposed_guest {
	struct hlg_beside_guest noted; /* its file is owned */
	bool *is;                      /* of each image that is named: is it this one? */
	bool named;                    /* any is */
	char *name;                    /* else what to name; NULL: that cannot be told */
};

/* Recordings of a side of which the same guests are noted. */
struct hlg_proposed_part {
	struct hlg_proposed_names files;
	size_t *guests; /* numbers of the side's, each once */
	size_t n_guests;
	struct hlg_proposed_names missing; /* what to name of these */
	bool any;                          /* one of them is named */
};

/* A side of a command line: its words, and what they lack. */
struct hlg_proposed_side {
	const struct hlg_inputs *in;
	struct hlg_options options; /* of the images that it names */
	struct hlg_proposed_guest *guests;
	size_t n_guests;
	struct hlg_proposed_part *parts;
	size_t n_parts;
	char **moved; /* words of images where samples fit; NULL: as it is named */
	bool *wrong;  /* of each image: others ran, as all that tells says */
	bool lost;    /* for want of memory */
};

/* Adds a word; that is not there yet. Without memory names->lost is set. */
void hlg_proposed_add(struct hlg_proposed_names *names, const char *name);
void hlg_proposed_add_once(struct hlg_proposed_names *names, const char *name);
bool hlg_proposed_has_name(const struct hlg_proposed_names *names, const char *name);

/* Is a guest of the side, by its number, noted of this part? */
bool hlg_proposed_has_guest(const struct hlg_proposed_part *part, size_t guest);

/* How the second of two sides is told from the first: before all words of it, or each. */
const char *hlg_proposed_option(const struct hlg_inputs *in);

/*
 * What to type instead, as a shell takes it; to be freed. NULL without memory, or where
 * there is no part. Of a pair it is one command, of the first part of each side: apart,
 * each has images of its own; else both have those of the first, which lacks what the
 * second does, too. Of one side it is a command for each part of sides[0]. trust: what
 * is judged, or NULL; sets moved and wrong of the sides.
 */
char *hlg_proposed_commands(struct hlg_proposed_side sides[static 2], bool pair,
			    bool apart, const struct hlg_trust *trust);

#endif
