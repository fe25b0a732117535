/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which builds of each image ran, added up over recordings: what their builds (builds.h)
 * tell, compared with the ELFs that are given. Saved profiles keep it.
 */
#ifndef HLG_FILTER_PROFILE_RANS_H
#define HLG_FILTER_PROFILE_RANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/elf/note.h"

/* Is an image the file that was recorded? */
enum hlg_identity {
	HLG_IDENTITY_UNKNOWN, /* nothing is told of it */
	HLG_IDENTITY_SAME,    /* it is a build that ran (symtab/image/fingerprint.h) */
	/* Another build ran. Numbers are those of saved profiles, of which 2 was: its
	 * bytes are others, which tells nothing; those of before have no 0. */
	HLG_IDENTITY_OTHER = 3,
	/* Beside SAME: the build that ran has another build id, but the same code. */
	HLG_IDENTITY_CODE,
	/* It has no sample of a recording of which much lies outside, and record noted
	 * others: one that is an image, and one that is none. It counts as OTHER where
	 * nothing else is told: what is named may be of another recording. */
	HLG_IDENTITY_ABSENT,
	HLG_N_IDENTITIES
};

/* What the recordings that may have samples of an image tell of it. */
struct hlg_ran {
	unsigned identities; /* bits 1 << enum hlg_identity of each recording */
	/* If OTHER or ABSENT is: the build that ran, of several the least; else NULL. */
	char *file; /* as of struct hlg_build */
	char id[HLG_NOTE_BUILD_ID];
	char *in;     /* the recording in which that ran, of several the first by name;
		       * NULL: not known, as of saved profiles */
	bool more_in; /* it ran in others, too */
};

/* Of all images, by their numbers in the space; of those behind nothing is told. In
 * whatever order recordings are added up, it is the same. */
struct hlg_rans {
	struct hlg_ran *at;
	size_t n;
	/* The first of the recordings that do not tell of all images; as in builds. */
	int64_t written;
	bool more, lost; /* as in builds, of any recording */
};

/* Adds what a recording tells of an image; file and id: of the build that ran, or NULL.
 * Without memory it is lost. */
void hlg_rans_add(struct hlg_rans *rans, size_t image, enum hlg_identity identity,
		  const char *file, const char *id);
/* The name of the recording that tells it, where it is of one alone. */
void hlg_rans_name(struct hlg_rans *rans, size_t image, const char *recording);
/* A recording that does not tell was written at a time: the earliest counts. */
void hlg_rans_written(struct hlg_rans *rans, int64_t when);
void hlg_rans_merge(struct hlg_rans *to, const struct hlg_rans *from);
void hlg_rans_finish(struct hlg_rans *rans);
/* The worst of them: what a later one in the list says counts, up to OTHER. */
enum hlg_identity hlg_rans_worst(const struct hlg_ran *ran);
/* Is ABSENT all that is told? */
bool hlg_rans_is_absent(const struct hlg_ran *ran);
/* Has what tells this the file and the id of a build that ran? */
bool hlg_rans_has_file(enum hlg_identity identity);

#endif
