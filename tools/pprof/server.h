/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile for a server that keeps profiles, by the rules of Pyroscope or Parca: nothing
 * is sent, it is a file for `profilecli upload` or `parca-push`.
 *
 * It has no message Extra, and no Stack: hlguest does not read it again. Value types are
 * samples/count and cpu/nanoseconds, or the event's name with '_' for what is no letter
 * or digit; labels are strings. The rules, read in the servers' sources of August and
 * July 2026 (tests/peers/pprof/server.py restates them):
 *
 *	Pyroscope, pkg/validation/validate.go, limits.go: no '-' in a sample type; UTF-8;
 *	at most 16,000 samples and 4 MiB, not compressed; label names of [a-zA-Z0-9_.],
 *	1,024 bytes, values of 2,048, 30 in all; numbers as labels are dropped.
 *	Parca, pkg/normalizer/validate.go, normalizer.go: ids go up by one from 1; names
 *	of labels as Prometheus' are; messages of 32 MiB; a period type (0.28 fails
 *	without).
 */
#ifndef HLG_TOOLS_PPROF_SERVER_H
#define HLG_TOOLS_PPROF_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "symtab/err.h"

/* The words of --for; the first is hlguest's own. */
#define HLG_PPROF_SERVERS "hlguest|pyroscope|parca"

enum hlg_pprof_reader {
	HLG_PPROF_HLGUEST,
	HLG_PPROF_PYROSCOPE,
	HLG_PPROF_PARCA
};

struct hlg_pprof_server {
	enum hlg_pprof_reader reader;
	char *const *labels; /* "key=value", of every sample; not owned */
	size_t n_labels;
	/* Out, of hlg_pprof_server_write: how many rows went for want of their addresses;
	 * and how many samples have lost their names. */
	uint64_t addresses, folded;
};

/* The word of --for. */
const char *hlg_pprof_server_name(enum hlg_pprof_reader reader);

/* Would a server take these labels? HLG_EINPUT if not. */
int hlg_pprof_server_check(const struct hlg_pprof_server *server, struct hlg_err *err);

struct hlg_saved;
struct hlg_saved_arena;

struct hlg_pprof_label {
	const char *key, *value;
};

/* Those of all samples, in the arena; NULL without memory. They are checked. */
const struct hlg_pprof_label *hlg_pprof_server_labels(const struct hlg_pprof_server *to,
						      struct hlg_saved_arena *arena);

/*
 * Writes saved, which is resolved, to path, or to stream if that is NULL. Where it has
 * more than the server takes, addresses become their function's first; then the rarest
 * samples become one, HLG_PPROF_SERVER_FOLDED, without labels. So sums stay.
 */
int hlg_pprof_server_write(struct hlg_saved *saved, struct hlg_pprof_server *server,
			   const char *path, FILE *stream, struct hlg_err *err);

#define HLG_PPROF_SERVER_FOLDED "[rare samples]"

/* The value type of an event, which is a clock or not, to be freed; NULL without memory.
 */
char *hlg_pprof_server_type(const char *event, bool clock);

#endif
