/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of perf record, read without perf: one pass, in the order of the file,
 * nothing allocated per sample. The loop over the samples, the only part that is hot, is
 * in walk.h; what a record holds is in record.h.
 *
 * Read: file mode, pipe mode ("-", or a file written by `perf record -o -`), directories
 * (perf record --threads), zstd (-z). The file is read through a small window, so one
 * that shrinks meanwhile ends early instead of raising SIGBUS; a window also costs less
 * than the page faults of a mapping. Memory: the window, the events and their ids, and
 * for counters sampled as a group one value per id (and thread, if inherited).
 *
 * A recording that was cut off is read to its last whole record and says so in the
 * counts; it is no error. Everything in it was written by somebody else: strings come as
 * they are, not escaped.
 *
 *	struct hlg_perfdata *pd;
 *
 *	if (hlg_perfdata_open(&pd, "perf.data", &err) < 0)
 *		...
 *	rc = hlg_perfdata_read(pd, count_sample, &sink, ctx, &err);
 *	counts = hlg_perfdata_counts(pd);
 *	hlg_perfdata_close(pd);
 *
 * Formats: linux/perf_event.h (records), tools/perf/Documentation/
 * perf.data-file-format.txt of the kernel (the file).
 */
#ifndef HLG_TOOLS_PERFDATA_PERFDATA_H
#define HLG_TOOLS_PERFDATA_PERFDATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symtab/err.h"
#include "tools/perfdata/sum.h"
#include "tools/perfdata/walk.h"

/* One event of the recording. Lives as long as the reader and does not move. */
struct hlg_perfdata_event {
	char *name; /* what perf calls it; never NULL, not escaped */
	uint32_t index;
	struct perf_event_attr attr; /* as recorded; 0 where the file's is older */
};

struct hlg_perfdata_host {
	char *name;       /* the host's; NULL: not told; not escaped */
	char *cpu;        /* the processor's model; the same */
	uint16_t machine; /* of the processor, as an ELF's e_machine; 0: not told, or not
			   * known here */
	bool pipe, directory, compressed;
	bool attached;  /* recorded by -a, -p or -t: it began and ended with no command */
	char **command; /* that perf ran: its words behind --, then NULL; not escaped;
			 * NULL: not told */
};

/*
 * Opens a recording: a file, a directory, or "-" for standard input. *pd is for the
 * caller to close; NULL after an error. Refused, each with its reason: what is no
 * perf.data, big-endian files, files of before 2012, a file in file mode through a pipe,
 * headers that point past the file.
 */
int hlg_perfdata_open(struct hlg_perfdata **pd, const char *path, struct hlg_err *err);

/* Can path be opened again, with the same in it, as a file or a folder can? Standard
 * input cannot, also where a file is called "-". */
bool hlg_perfdata_is_kept(const char *path);

/* Where the bytes of a recording in pipe mode come from, one after the other. */
struct hlg_perfdata_stream {
	/* Up to n bytes into to; 0 at the end; -1 with errno. Called between two records:
	 * all samples in front of it have been handed over. */
	ssize_t (*read)(void *ctx, void *to, size_t n);
	void *ctx;
};

/* The same of such a stream, which outlives the reader; name is its subject in errors. */
int hlg_perfdata_open_stream(struct hlg_perfdata **pd, const char *name,
			     const struct hlg_perfdata_stream *stream,
			     struct hlg_err *err);

/*
 * A second reader of the same open file, for another thread: position, limits and counts
 * of its own, events and host shared. Close it before the one it came from. Only where
 * hlg_perfdata_split has succeeded.
 */
int hlg_perfdata_clone(struct hlg_perfdata **copy, const struct hlg_perfdata *pd,
		       struct hlg_err *err);

void hlg_perfdata_close(struct hlg_perfdata *pd);

/*
 * What the recording says about itself: after open, or in pipe mode what has been met so
 * far. Owned by the reader.
 */
uint32_t hlg_perfdata_n_events(const struct hlg_perfdata *pd);
const struct hlg_perfdata_event *hlg_perfdata_event(const struct hlg_perfdata *pd,
						    uint32_t index);
const struct hlg_perfdata_host *hlg_perfdata_host(const struct hlg_perfdata *pd);

/* Has any event callchains whose user's part is deferred? A file in pipe mode may. */
bool hlg_perfdata_defers(const struct hlg_perfdata *pd);

/*
 * The tracing data (formats of the tracepoints) in memory of its own, for the caller to
 * free; *data NULL and *size 0 if there is none. In pipe mode: once its record was met,
 * which is before the first sample.
 */
int hlg_perfdata_tracing(const struct hlg_perfdata *pd, void **data, size_t *size,
			 struct hlg_err *err);

/* What a file that the recording knows was built as. Valid during the call only. */
struct hlg_perfdata_build_id {
	const char *path; /* "[kernel.kallsyms]", "[vdso]" too; not escaped */
	uint8_t cpumode;  /* PERF_RECORD_MISC_CPUMODE_MASK: whose */
	uint8_t size;     /* of the id, 1 to 20 */
	const uint8_t *id;
};

/*
 * Calls found for each ("HEADER_BUILD_ID"); not in pipe mode, where they come last. What
 * is malformed ends it. found returns false without memory.
 */
int hlg_perfdata_build_ids(const struct hlg_perfdata *pd,
			   bool (*found)(void *ctx,
					 const struct hlg_perfdata_build_id *build_id),
			   void *ctx, struct hlg_err *err);

/*
 * When the first and the last sample were taken, as perf record noted it
 * ("HEADER_SAMPLE_TIME"); both 0 if it did not, or in pipe mode.
 */
int hlg_perfdata_sample_time(const struct hlg_perfdata *pd, uint64_t *first,
			     uint64_t *last, struct hlg_err *err);

/*
 * Two readings of one moment, for perf record -k CLOCK ("HEADER_CLOCK_DATA"): ns since
 * 1970, UTC, and ns of the samples' clock; both 0 without, or in pipe mode.
 */
int hlg_perfdata_clock(const struct hlg_perfdata *pd, uint64_t *wall, uint64_t *clock,
		       struct hlg_err *err);

#define HLG_PERFDATA_TYPES 128 /* record types counted one by one */

/* What was met besides samples. Complete when hlg_perfdata_read has returned. */
struct hlg_perfdata_counts {
	uint64_t samples;    /* delivered */
	uint64_t zero_delta; /* members of a group that had not moved: not delivered */
	uint64_t unknown_id; /* samples, or their members, whose id belongs to no event */
	uint64_t bad_sample; /* shorter than their event says: not delivered */
	uint64_t lost;       /* records lost for want of buffer (LOST), sum */
	uint64_t lost_samples; /* samples lost, as the kernel counted (LOST_SAMPLES), sum
				*/
	uint64_t bad_record;   /* other records too short for what they are: skipped */
	uint64_t no_zstd;      /* compressed records skipped: built without libzstd */
	uint64_t types[HLG_PERFDATA_TYPES]; /* records met, by type; samples too */
	uint64_t unknown_types;             /* records of a type past these */
	/*
	 * A recording that was cut: the bytes after the last whole record that could be
	 * read, and the bytes the header promised but the file does not have.
	 */
	uint64_t left, missing;
	bool unfinished; /* data size 0: perf record was killed */
	bool facts_cut;  /* the end of the file lacks features */
	bool corrupt;    /* what is left does not begin with a record at all */
};

const struct hlg_perfdata_counts *hlg_perfdata_counts(const struct hlg_perfdata *pd);

/* LOST counts what LOST_SAMPLES counts again at the end of newer recordings. */
static inline uint64_t hlg_perfdata_n_lost(const struct hlg_perfdata_counts *counts)
{
	return counts->lost > counts->lost_samples ? counts->lost : counts->lost_samples;
}

/* Bytes that could not be read, as the recording was cut off. */
static inline uint64_t hlg_perfdata_n_left(const struct hlg_perfdata_counts *counts)
{
	return hlg_sum(counts->left, counts->missing);
}

/*
 * Reading one file with two threads.
 *
 * Records have no marks between them: hlg_perfdata_split guesses where one begins near
 * the middle, by a long chain of plausible headers from there. True and *at if there is
 * a guess; never in pipes, directories, compressed files and with counter values (their
 * deltas need the order). A guess holds only if the reader of the first part ends exactly
 * there, has not met what nothing can be read behind, and neither part is compressed
 * after all: that is one stream.
 *
 *	hlg_perfdata_range(first, 0, at);
 *	hlg_perfdata_range(copy, at, UINT64_MAX);
 *	hlg_perfdata_read(first, ...); and in the other thread
 *	hlg_perfdata_read(copy, ...);
 *	if (!hlg_perfdata_split_holds(first, copy, at)) {
 *		forget what copy read, an error of it included;
 *		hlg_perfdata_range(first, hlg_perfdata_tell(first), UINT64_MAX);
 *		hlg_perfdata_read(first, ...);
 *	}
 *
 * Offsets are from the start of the file. A range reads the records that begin in
 * [from, to); 0 and UINT64_MAX mean the start and the end of the records. A reader that
 * has met the end of what can be read stays there. The counts go on.
 */
bool hlg_perfdata_split(const struct hlg_perfdata *pd, uint64_t *at);
bool hlg_perfdata_split_holds(const struct hlg_perfdata *first,
			      const struct hlg_perfdata *copy, uint64_t at);
void hlg_perfdata_range(struct hlg_perfdata *pd, uint64_t from, uint64_t to);
uint64_t hlg_perfdata_tell(const struct hlg_perfdata *pd);

#endif
