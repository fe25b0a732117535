/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which builds of the guest's ELF ran, as recordings tell: a VMM that maps its guest's
 * file (PERF_RECORD_MMAP2 with a build id), and what hlguest record noted beside.
 *
 * Nothing else tells builds apart whose functions have the same shape: every sample of
 * the one lies on an instruction of the other.
 */
#ifndef HLG_FILTER_PROFILE_BUILDS_H
#define HLG_FILTER_PROFILE_BUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/elf/note.h"

enum {
	HLG_BUILDS_MAX = 64 /* of one recording; of more nothing is told */
};

struct hlg_build {
	char *file;                 /* without its folders; not escaped */
	char id[HLG_NOTE_BUILD_ID]; /* lower-case hex; "": it has none */
	/* Of its bytes, as .gnu_debuglink has it, and how many, if noted. */
	uint32_t crc;
	uint64_t size;
	bool noted; /* by record: it is a guest's, whatever it is called */
};

/* Of one recording, while it is read. All zero before the first use. */
struct hlg_builds {
	struct hlg_build *at;
	size_t n;
	int64_t written; /* the recording, in seconds since 1970; 0: unknown */
	bool more;       /* than HLG_BUILDS_MAX */
	bool lost;       /* one, for want of memory: what is told may be wrong */
};

/* Adds one, once; file may have folders. False without memory, which is lost, too. */
bool hlg_builds_add(struct hlg_builds *builds, const struct hlg_build *build);
void hlg_builds_merge(struct hlg_builds *to, const struct hlg_builds *from);
void hlg_builds_finish(struct hlg_builds *builds);

/* Is an image the file that was recorded? */
enum hlg_identity {
	HLG_IDENTITY_UNKNOWN, /* nothing is told of it */
	HLG_IDENTITY_SAME,    /* a build that ran has its build id, or its bytes */
	HLG_IDENTITY_CHANGED, /* no id tells, but a file of its name had other bytes */
	HLG_IDENTITY_OTHER,   /* another build ran */
	HLG_N_IDENTITIES
};

/* What the recordings that may have samples of an image tell of it. */
struct hlg_ran {
	unsigned identities; /* bits 1 << enum hlg_identity: each recording has one */
	/* If OTHER is among them: the build that ran, of several the least; else NULL. */
	char *file; /* as of struct hlg_build */
	char id[HLG_NOTE_BUILD_ID];
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
/* A recording that does not tell was written at a time: the earliest counts. */
void hlg_rans_written(struct hlg_rans *rans, int64_t when);
void hlg_rans_merge(struct hlg_rans *to, const struct hlg_rans *from);
void hlg_rans_finish(struct hlg_rans *rans);
/* The worst of them: what a later one in the list says counts. */
enum hlg_identity hlg_ran_worst(const struct hlg_ran *ran);

#endif
