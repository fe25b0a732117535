/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A saved profile while it is decoded. Somebody else may have written the file: each step
 * checks what protobuf-c has made of it number by number, and adds it to `saved`. Steps
 * return 0 or an error; those behind one are not taken.
 */
#ifndef HLG_TOOLS_PPROF_DECODE_H
#define HLG_TOOLS_PPROF_DECODE_H

#include "tools/pprof/saved.h"

struct hlg_decoder {
	const Pprof__Profile *p;
	size_t names; /* bytes of names that may still be copied */
	struct hlg_saved *saved;
	uint32_t events, images, functions; /* that are in saved from before, */
	size_t cells, hosts, host_stacks;   /* and so these */
	uint32_t *first; /* of each sample, and of one more: the place of its cells */
	const char *path;
	struct hlg_err *err;
};

/* The file is damaged; or there is no memory. */
int hlg_decode_fail(struct hlg_decoder *d, const char *problem);
int hlg_decode_fail_memory(struct hlg_decoder *d);

/* A string of the table, or NULL. */
const char *hlg_decode_text(const struct hlg_decoder *d, int64_t i);

/*
 * *to becomes a copy of a string of the table. Who gets a name has it for himself,
 * whoever else has it: the budget keeps that in proportion to the file.
 */
int hlg_decode_name(struct hlg_decoder *d, int64_t i, const char **to,
		    const char *problem);

/* Makes a row's unknown fields its own: until then they are those of the message read. */
bool hlg_decode_own_unknown(struct hlg_decoder *d, ProtobufCMessage *row);

/* Is it of an event of the file, and are there those numbers that by has? */
bool hlg_decode_is_key(const struct hlg_decoder *d, const struct hlg_saved_key *key);

/* decode-things.c: what samples are of, in this order. */
int hlg_decode_images(struct hlg_decoder *d);
int hlg_decode_functions(struct hlg_decoder *d);
int hlg_decode_events(struct hlg_decoder *d);
int hlg_decode_series(struct hlg_decoder *d);
int hlg_decode_hosts(struct hlg_decoder *d);
int hlg_decode_locations(struct hlg_decoder *d);

/* decode-samples.c: then these. */
int hlg_decode_samples(struct hlg_decoder *d);
int hlg_decode_host_stacks(struct hlg_decoder *d);
int hlg_decode_moments(struct hlg_decoder *d);

#endif
