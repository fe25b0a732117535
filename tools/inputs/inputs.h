/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a verb that reads recordings is given: images, recordings, options of the filter's
 * table as --key=value, and -i, -j, -q; and options of its own. argp's options are made
 * from the table, and the words they are turned back into go through the filter's own
 * parser.
 */
#ifndef HLG_TOOLS_INPUTS_INPUTS_H
#define HLG_TOOLS_INPUTS_INPUTS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/feed/batch.h"

struct hlg_inputs {
	/* In: which of the table's options the verb has. */
	bool (*takes)(const char *option);
	/* In, each may be NULL: the verb's own options, whose parser gets own_input; the
	 * words of format=, "text|csv|svg", if not report's. */
	const struct argp *own;
	void *own_input;
	const char *format_words;
	const char *by_words; /* of by=, if not all: for help */
	bool one_thread;      /* there is no -j */
	/* Takes arguments that can be no file, if there is an image: neither is there one
	 * of that name nor a / in it. NULL: such a file is missing. */
	void (*take_word)(void *own_input, const char *word);
	/* NULL, or where the words of a second side go: images and recordings behind
	 * --after, else the second of two recordings. Options are of both; images of the
	 * first side are the second's too, unless that has its own. Its words, files and
	 * others are set, and finished with the first's. */
	struct hlg_inputs *after;
	bool short_out; /* -o is --out */
	/* NULL, or the files that own options name to be read: the one of place i; NULL
	 * behind the last. */
	const char *(*reads)(const void *own_input, size_t i);
	/* Out. */
	char **words; /* for hlg_run_start: --key=value and images */
	int n_words;
	unsigned n_images;
	char **files; /* recordings */
	size_t n_files;
	struct hlg_other *others; /* arguments, until all of them are known */
	size_t n_others;
	unsigned threads; /* in: of the help and without -j; 0: 1 */
	bool quiet;
	unsigned formats; /* how often format= is given */
	bool behind;      /* --after was met */
	bool no_images; /* with after: none is named, and all files are saved profiles */
	/* One of format_words that the filter's table does not know; NULL: none is given
	 */
	const char *format;
};

/*
 * Parses argv; what makes no sense at all ends the program, as argp does. Returns 0, or 2
 * after telling what does not make sense. Finish inputs in any case.
 */
int hlg_inputs_parse(struct hlg_inputs *inputs, int argc, char **argv, const char *args,
		     const char *doc);

/* Fails if out, which may be NULL, is a file that is read: of either side, or of reads.
 */
int hlg_inputs_check_out(const struct hlg_inputs *inputs, const char *out,
			 struct hlg_err *err);

/*
 * Reads all recordings into run, which is started; of *batch, judge is the caller's to
 * set, and the rest zero. Tells which could not be read: then *status is 1. Fails as
 * hlg_batch_read does; the caller finishes the batch in any case.
 */
int hlg_inputs_read(const struct hlg_inputs *inputs, struct hlg_run *run,
		    struct hlg_batch *batch, int *status, struct hlg_err *err);

void hlg_inputs_finish(struct hlg_inputs *inputs);

#endif
