/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A saved profile while it is decoded. Somebody else may have written the file: what
 * protobuf-c has made of it is checked number by number, and added to `saved`.
 * What returns int returns 0 or an error, which is in err then.
 */
#ifndef HLG_TOOLS_PPROF_DECODE_H
#define HLG_TOOLS_PPROF_DECODE_H

#include "tools/pprof/saved.h"
#include "tools/pprof/unpack.h"

struct hlg_decoder {
	const Pprof__Profile *p;
	size_t names;       /* bytes of names that may still be used */
	const char **texts; /* of each string that is a name: escaped */
	struct hlg_saved *saved;
	uint32_t events, images, functions; /* that are in saved from before, */
	size_t cells, hosts, host_stacks;   /* and so these */
	uint32_t *first; /* of each sample, and of one more: the place of its cells */
	struct hlg_unpack sample; /* the one at hand, or stack of the host */
	const char *path;
	struct hlg_err *err;
};

/* The file is damaged; there is no memory; a message could not be unpacked. */
int hlg_decode_fail(struct hlg_decoder *d, const char *problem);
int hlg_decode_fail_memory(struct hlg_decoder *d);
int hlg_decode_fail_unpack(struct hlg_decoder *d, const struct hlg_unpack *why);

/* A string of the table, or NULL. */
const char *hlg_decode_text(const struct hlg_decoder *d, int64_t i);

/*
 * *to becomes a string of the table, escaped. Who sums profiles has a name for each who
 * has it: the budget keeps that in proportion to the file.
 */
int hlg_decode_name(struct hlg_decoder *d, int64_t i, const char **to,
		    const char *problem);

/* Keeps in `to` what a later hlguest has put into a message. False without memory. */
bool hlg_decode_keep_unknown(struct hlg_decoder *d, ProtobufCMessage *to,
			     const ProtobufCMessage *from);

/* Makes a row's unknown fields its own: until then they are those of the message read. */
bool hlg_decode_own_unknown(struct hlg_decoder *d, ProtobufCMessage *row);

/* Can it be that part of a key? A sandbox has a number of hlguest's; pid, tid and CPU are
 * whatever was recorded, also in a recording that was damaged. */
bool hlg_decode_is_part(size_t part, int64_t value);

/* Is it of an event of the file, and are there those numbers that by has? */
bool hlg_decode_is_key(const struct hlg_decoder *d, const struct hlg_saved_key *key);

#endif
