/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a verb that reads recordings is given: images, recordings, and those options that
 * such verbs share. Each is declared once, in inputs.c or in the filter's table; a verb
 * names the ones it has (hlg_verb.shared). What is of the table is turned back into words
 * --key=value, which go through the filter's own parser.
 */
#ifndef HLG_TOOLS_INPUTS_INPUTS_H
#define HLG_TOOLS_INPUTS_INPUTS_H

#include "tools/cli/verb.h"
#include "tools/feed/batch.h"
#include "tools/inputs/images.h"
#include "tools/inputs/list.h"
#include "tools/inputs/shard.h"

/* A word that is no option, and what it seems to be. */
struct hlg_inputs_other {
	char *word; /* not owned */
	enum hlg_file_kind kind;
};

/* The first member of the arguments of a verb with shared options; zero but for In. */
struct hlg_inputs {
	/* In: NULL, or where the words of a second side go: images and recordings behind
	 * --after, else the second of two recordings; or what the verb adds. Options are
	 * of both sides; images of the first are the second's too, unless that has its
	 * own. It is finished with the first. */
	struct hlg_inputs *second;
	/* Out. */
	const struct hlg_verb *verb;
	char **words; /* for hlg_run_start: --key=value and images */
	int n_words;
	unsigned n_images;
	bool noted;               /* images are those that record noted (noted.h) */
	bool by_default;          /* the recording is the one that record writes */
	struct hlg_err missing;   /* an argument that is not there, if msg says so */
	struct hlg_err not_noted; /* why what is noted cannot be used; or empty */
	char **files;             /* recordings */
	size_t n_files;
	struct hlg_inputs_other *others; /* until all of them are known */
	size_t n_others;
	const char *list; /* --input-list, whose files are recordings, too */
	bool nul;         /* its names end with NUL */
	bool listed;      /* --list-digest was given, and it is this: */
	unsigned char digest[HLG_SHA256_SIZE];
	struct hlg_shard shard;
	unsigned threads;
	bool quiet;
	bool no_pager;
	int inlines;    /* --inline: 0 no, 1 yes; -1: not stated */
	bool behind;    /* --after was met */
	bool no_images; /* with a second: none is named, and all files are saved profiles
			 */
	const struct hlg_format *format; /* NULL: the verb has none */
};

/*
 * Parses argv; words of the verb's own options go into its arguments. False when the
 * command ends with that, and all is told: with *status. Finish inputs in any case.
 */
bool hlg_inputs_parse(struct hlg_inputs *inputs, const struct hlg_verb *verb, int argc,
		      char **argv, int *status);

/* All options of a verb, the shared ones and its own, to be freed; NULL: no memory. */
struct hlg_verb_option *hlg_inputs_options(const struct hlg_verb *verb);

/* Adds --key=value or an image, which is copied. */
int hlg_inputs_add_word(struct hlg_inputs *inputs, const char *word, struct hlg_err *err);

/* Adds an argument, which is not. */
int hlg_inputs_add_other(struct hlg_inputs *inputs, char *word, enum hlg_file_kind kind,
			 struct hlg_err *err);

/* Fails if out, which may be NULL, is a file that is read: of either side, or by an
 * option.
 */
int hlg_inputs_check_out(const struct hlg_inputs *inputs, const char *out,
			 struct hlg_err *err);

/*
 * Reads all recordings into run, which is started; of *batch, judge and profiles are the
 * caller's to set, and the rest zero. Tells which could not be read: then *status is 1.
 * Fails as hlg_batch_read does; the caller finishes the batch in any case.
 */
int hlg_inputs_read(const struct hlg_inputs *inputs, struct hlg_run *run,
		    struct hlg_batch *batch, int *status, struct hlg_err *err);

void hlg_inputs_finish(struct hlg_inputs *inputs);

#endif
