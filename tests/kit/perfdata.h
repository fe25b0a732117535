/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings built by hand, and what the reader makes of them. Written from the format's
 * description, with no code of the reader's. All of it fails the test on an error.
 */
#ifndef HLG_TESTS_PERFDATA_KIT_H
#define HLG_TESTS_PERFDATA_KIT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perfdata/perfdata.h"

/* Bytes that grow; free with kit_free. */
struct kit {
	uint8_t *at;
	size_t n, room;
};

void kit_free(struct kit *k);
void kit_bytes(struct kit *k, const void *bytes, size_t n);
void kit_u32(struct kit *k, uint32_t v);
void kit_u64(struct kit *k, uint64_t v);
void kit_text(struct kit *k, const char *text); /* its NUL, and NULs up to 8 bytes */

/* A record: begin, its contents, end with what begin returned. */
size_t kit_begin(struct kit *k, uint32_t type, uint16_t misc);
void kit_end(struct kit *k, size_t start);

/* A sample of IP, TID, TIME, PERIOD. */
#define KIT_PLAIN                                                                        \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)
void kit_plain(struct kit *k, uint64_t ip, uint64_t period);

/* A sample of IDENTIFIER, IP. */
void kit_with_id(struct kit *k, uint64_t id, uint64_t ip);

struct kit_event {
	struct perf_event_attr attr;
	uint64_t ids[4];  /* 0: none */
	const char *name; /* NULL: no EVENT_DESC for any */
};

/* Bytes of an attribute, whatever this machine's headers have: PERF_ATTR_SIZE_VER7. */
#define KIT_ATTR 128

/* attr_size: bytes of each attribute in the file; 0: KIT_ATTR. */
void kit_file(struct kit *k, const struct kit_event *events, size_t n,
	      const struct kit *records, size_t attr_size);
void kit_pipe(struct kit *k, const struct kit_event *events, size_t n,
	      const struct kit *records);

/* What a read delivered; finish frees it. */
struct kit_seen {
	int rc; /* of open, or of read */
	struct hlg_err err;
	struct hlg_sample *samples;
	size_t n, room;
	size_t n_events; /* announced */
	size_t rounds;   /* FINISHED_ROUND */
	char names[256]; /* of events and tasks: "event;" "task:name;" */
	struct hlg_perfdata_counts counts;
	uint64_t tell;
	uint16_t machine; /* of the host */
	bool attached;    /* as it tells */
	char command[64]; /* the same, its words with a | behind each */
	bool split;
};

/* Reads a path; bytes as a regular file; bytes through a pipe, step at a time. */
void kit_read(struct kit_seen *seen, const char *path);
void kit_read_bytes(struct kit_seen *seen, const void *bytes, size_t n);
void kit_read_piped(struct kit_seen *seen, const void *bytes, size_t n, size_t step);
/* In two parts, cut where at says, or if it is 0 where the reader guesses. */
void kit_read_split(struct kit_seen *seen, const void *bytes, size_t n, uint64_t at);
void kit_finish(struct kit_seen *seen);

/* A path that names these bytes until kit_unname. */
const char *kit_name(const void *bytes, size_t n);
void kit_unname(const char *path);

#endif
