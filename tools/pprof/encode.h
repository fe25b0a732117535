/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A saved profile while it is encoded. The message is built first, in the arena; a string
 * in it is a place in a table, which is sorted: so these places are noted, and filled in
 * once all strings are there. What returns bool, or a pointer, returns false, or NULL,
 * without memory.
 */
#ifndef HLG_TOOLS_PPROF_ENCODE_H
#define HLG_TOOLS_PPROF_ENCODE_H

#include "tools/pprof/saved.h"

/* A field that is to have the place of text. */
struct hlg_encode_reference {
	const char *text;
	int64_t *field;
};

struct hlg_encoder {
	const struct hlg_saved *saved;
	struct hlg_saved_arena arena;
	struct hlg_encode_reference *references;
	size_t n_references;
	bool failed; /* a reference has found no memory */
	Pprof__Profile profile;
	Pprof__Extra extra;
	struct hlg_saved_frame *locations; /* sorted */
	size_t n_locations, n_samples;
	const struct hlg_pprof_label *labels; /* for a server: of all samples */
	char **types;                         /* of each event */
	Pprof__Sample **sample;
	uint32_t *samples;     /* of each cell: the place of its sample */
	int64_t *values;       /* of the sample at hand */
	unsigned char *packed; /* it */
	size_t largest;        /* bytes of one, packed */
	int64_t empty, keys[HLG_SAVED_N_KEYS], *comments; /* places of strings */
	char sums[512];
};

/* Pointers to n messages of a type, and these, all in the arena. */
void *hlg_encode_messages(struct hlg_encoder *e, size_t n,
			  const ProtobufCMessageDescriptor *type);

/* *field becomes the place of text, once there is a table; both must stay until then. */
void hlg_encode_refer(struct hlg_encoder *e, int64_t *field, const char *text);

/* Makes the table of strings, of which "" is the first, of all that is referred to. */
bool hlg_encode_strings(struct hlg_encoder *e);

#endif
