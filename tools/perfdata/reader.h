/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader's own state, shared by its files. Internal.
 *
 * Records come from one of two windows: the source's (the file's own bytes), or the
 * decompressor's while a compressed record is being used up. walk.at .. hard_end is the
 * one in use; walk.end is before hard_end only where a range ends.
 */
#ifndef HLG_TOOLS_PERFDATA_READER_H
#define HLG_TOOLS_PERFDATA_READER_H

#include <dirent.h>

#include "tools/perfdata/format.h"
#include "tools/perfdata/perfdata.h"

#define HLG_MAX_EVENTS     65536       /* of a recording; guards memory */
#define HLG_EVENT_NAME_MAX 4096        /* bytes */
#define HLG_MAX_FEATURE    (64u << 20) /* bytes of one feature that are read */
#define HLG_MAX_THREADED   (1u << 22)  /* values kept by (id, thread) */

/*
 * Small enough to stay in a second-level cache between the copy and the walk: from 128
 * KiB to 4 MiB the cost is the same within 3 %, and nearly half that of a mapping.
 */
#ifndef HLG_WINDOW
#define HLG_WINDOW (256 * 1024)
#endif

struct hlg_perfdata_source {
	int fd;
	bool stream;                               /* cannot seek */
	const struct hlg_perfdata_stream *through; /* reads instead of fd; NULL: nobody */
	uint8_t *room;  /* HLG_RECORD_MAX + 1 for what was left, then HLG_WINDOW */
	uint64_t next;  /* offset in the file of what is read next */
	uint64_t limit; /* offset where the records end; UINT64_MAX: not known */
};

/* What has been read and not used up; at is moved by the user. */
struct hlg_window {
	const uint8_t *at, *end;
};

struct hlg_unzip; /* window.c's own */

/* The last value of a counter; with inherit, each thread has its own. */
struct hlg_last {
	uint64_t value, time; /* ns; 0: not recorded */
	uint32_t slot;        /* of the id */
	int32_t tid;
	bool used;
};

struct hlg_lasts {
	struct hlg_last *entries; /* open addressing, at most half used */
	uint64_t room, n;
};

struct hlg_perfdata {
	struct hlg_perfdata_walk walk; /* must stay first: the loop works on it */
	const uint8_t *hard_end;
	struct hlg_perfdata_source source;
	struct hlg_window raw;      /* the source's, while records are decompressed */
	struct hlg_window unzipped; /* the decompressor's tail, while they are not */
	struct hlg_unzip *unzip;    /* NULL: nothing was compressed so far */
	bool unzipping;

	char *path;
	const struct hlg_perfdata_stream *through; /* instead of fd; NULL: nobody */
	int fd;                                    /* of the file with the header */
	int data_fd; /* of the data.N that is being read; -1 */
	bool close_fd;
	uint64_t from, limit;        /* of the records in the (first) file */
	uint64_t range_to;           /* UINT64_MAX: none */
	uint64_t done;               /* bytes, of earlier files */
	uint64_t told, told_samples; /* to the sink's progress() */
	uint64_t part_from;          /* where the records of the present file begin */
	bool stopped;                /* nothing more can be read */
	const struct hlg_perfdata *parent; /* of a clone: lends events and host */

	struct hlg_perfdata_event **events;
	struct hlg_perfdata_layout *layouts;
	uint32_t n_events;
	struct hlg_ids ids;
	uint32_t n_checked; /* events that hlg_attrs_check has seen */
	uint16_t id_back;   /* of the id, from the end of other records; 0: none */
	bool on_exec;       /* an event began to count when perf ran a command */
	struct hlg_perfdata_host host;
	struct hlg_lasts lasts;
	struct hlg_perfdata_member *members; /* of the group at hand, for the sink */
	uint64_t room_members;

	struct hlg_file_header header;                  /* in file mode */
	struct hlg_file_section features[HLG_FEATURES]; /* offset 0: not in the file */
	void *tracing_copy; /* of the feature TRACING_DATA, from a pipe */
	size_t tracing_size;

	uint8_t offcpu[HLG_RECORD_MAX +
		       1]; /* a sample of perf's own program, rewritten */

	struct dirent **data_files; /* of a directory: data.N */
	size_t n_data_files, next_data_file;

	struct hlg_perfdata_counts counts;
	hlg_perfdata_sample_fn *sample;
	const struct hlg_perfdata_sink *sink;
	void *ctx;
};

/* attrs.c: an empty table of ids; false without memory. */
bool hlg_attrs_init(struct hlg_perfdata *pd);
/* Adds the event of an attribute of size bytes; settles where ids stand. */
int hlg_attrs_add(struct hlg_perfdata *pd, const uint8_t *attr, size_t size,
		  struct hlg_err *err);
int hlg_attrs_add_ids(struct hlg_perfdata *pd, uint32_t event, const uint8_t *ids,
		      uint64_t n, struct hlg_err *err);
/* To be called after these: tells the walk; says if events cannot be told apart. */
int hlg_attrs_check(struct hlg_perfdata *pd, struct hlg_err *err);
/* Takes over name (NULL: out of memory), and cuts it where no perf writes so long a one:
 * rows repeat it. */
int hlg_attrs_name(struct hlg_perfdata *pd, uint32_t event, char *name,
		   struct hlg_err *err);
void hlg_attrs_finish(struct hlg_perfdata *pd);

/* header.c: from the start of the file to where the records begin. */
int hlg_header_read(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err);

/* A record that stands for a part of the file's header (pipe mode), or is none of ours.
 */
int hlg_header_record(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		      size_t size, struct hlg_err *err);

/* What it told of the command that perf ran. */
void hlg_header_forget_command(struct hlg_perfdata *pd);

/* sample.c: a sample the short way refused. */
int hlg_perfdata_sample_step(struct hlg_perfdata *pd, const uint8_t *record,
			     uint16_t size, struct hlg_err *err);
/* How a sample is laid out; NULL, and counted, if that cannot be told. */
const struct hlg_perfdata_layout *hlg_perfdata_sample_layout(struct hlg_perfdata *pd,
							     const uint8_t *record,
							     uint16_t size);

/*
 * window.c: begins with the records of the file; those in [from, limit) of it; those of a
 * directory's next file, of size bytes.
 */
int hlg_window_start(struct hlg_perfdata *pd, bool stream, struct hlg_err *err);
void hlg_window_seek(struct hlg_perfdata *pd, uint64_t from, uint64_t limit);
void hlg_window_open(struct hlg_perfdata *pd, int fd, uint64_t size);
void hlg_window_finish(struct hlg_perfdata *pd);
/*
 * Goes on with what n compressed bytes hold; they must stay until that is used up. Built
 * without libzstd it only counts them.
 */
int hlg_window_unzip(struct hlg_perfdata *pd, const uint8_t *data, size_t n,
		     struct hlg_err *err);
/* Where walk.at is in the file; of what is decompressed: where its record ends. */
uint64_t hlg_window_offset(const struct hlg_perfdata *pd);
bool hlg_window_past_range(const struct hlg_perfdata *pd);
/* Reads more behind what is left: 1, 0 at the end of the file, or an error. */
int hlg_window_fill(struct hlg_perfdata *pd, struct hlg_err *err);
/*
 * Moves n bytes on: to dst, or if it is NULL to the sink's payload. Returns how many
 * there were, fewer only at the end of the file, or an error.
 */
int64_t hlg_window_take(struct hlg_perfdata *pd, uint8_t *dst, uint64_t n,
			struct hlg_err *err);

/* Passes over all that is left of a stream; *bytes is how many there were. */
int hlg_window_drain(struct hlg_perfdata *pd, uint64_t *bytes, struct hlg_err *err);

/*
 * The error of a read that failed with errno, path its subject; 0 there means that the
 * file is shorter than it was.
 */
int hlg_window_errno(const char *path, struct hlg_err *err);

#endif
