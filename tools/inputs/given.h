/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command line has given to a verb that reads recordings: its words, sorted. */
#ifndef HLG_TOOLS_INPUTS_GIVEN_H
#define HLG_TOOLS_INPUTS_GIVEN_H

#include "tools/cli/verb.h"
#include "tools/inputs/images.h"
#include "tools/inputs/list.h"
#include "tools/inputs/shard.h"

#define HLG_INPUTS_DEFAULT "perf.data.guest"         /* what record writes, */
#define HLG_INPUTS_BEFORE  HLG_INPUTS_DEFAULT ".old" /* what it was before that, */
#define HLG_INPUTS_HOST    "perf.data.kvm"           /* and with --host */

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
	const struct hlg_inputs *first; /* of a second: whose it is; else NULL */
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
	unsigned threads; /* 1 where the verb has no -j */
	bool quiet;
	bool no_pager;
	int inlines;    /* --inline: 0 no, 1 yes; -1: not stated */
	bool behind;    /* --after was met */
	bool no_images; /* with a second: none is named, and all files are saved profiles
			 */
	/* As they were given, but for inputs, -j, -q, --no-pager and --force; and */
	char **options;
	size_t n_options;
	char **own; /* words of the verb's own: commands that are proposed have them */
	size_t n_own;
	const struct hlg_format *format; /* NULL: the verb has none */
};

/* Adds --key=value or an image, which is copied. */
int hlg_inputs_add_word(struct hlg_inputs *inputs, const char *word, struct hlg_err *err);

/* The same: a recording; an image, which may be within a snapshot. */
int hlg_inputs_add_file(struct hlg_inputs *inputs, const char *path, struct hlg_err *err);
int hlg_inputs_add_image(struct hlg_inputs *inputs, const char *path,
			 struct hlg_err *err);

/* Adds an argument; word is not copied. */
int hlg_inputs_add_other(struct hlg_inputs *inputs, char *word, enum hlg_file_kind kind,
			 struct hlg_err *err);

/* Keeps an option of the verb, as hlg_argp_run.taken does: arguments begin with a struct
 * hlg_inputs. Keeps a word of its own, which is no file. */
int hlg_inputs_keep_option(void *arguments, const struct hlg_verb_option *option,
			   const char *value, struct hlg_err *err);
int hlg_inputs_keep_own(struct hlg_inputs *inputs, const char *word, struct hlg_err *err);

/* Is one of inputs->words an image, and no option of the filter's? */
bool hlg_inputs_is_image(const char *word);

/* Fails if a word can only be a file's name, and there is no such file. */
int hlg_inputs_check_there(const char *word, struct hlg_err *err);

/* Has the verb this one of the shared options? */
bool hlg_inputs_has(const struct hlg_verb *verb, const char *option);

/* Two recordings are two sides. */
bool hlg_inputs_is_pair(const struct hlg_inputs *inputs);

void hlg_inputs_finish(struct hlg_inputs *inputs);

#endif
