/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A verb of the command: what it is called, which words it takes, and what it does. Each
 * folder of a verb defines one, hlg_verb_NAME, and tools/meson.build lists them; main,
 * `hlguest help`, the shells' completions and the checks of the manual pages are made
 * from that.
 *
 * Results go to standard output; errors go to standard error, a line each, as `hlguest:
 * subject: problem (what to do)`.
 */
#ifndef HLG_TOOLS_CLI_VERB_H
#define HLG_TOOLS_CLI_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"

struct hlg_format; /* filter/write/format.h */

/* What an option's value is, and the type of the field that keeps it. */
enum hlg_verb_kind {
	HLG_VERB_FLAG = 1, /* there is none; bool */
	HLG_VERB_TEXT,     /* const char *, not copied */
	HLG_VERB_TEXTS,    /* struct hlg_verb_texts: the option may be given again */
	HLG_VERB_ONE_OF,   /* int: which of the words "a|b|c", from 0 on */
	HLG_VERB_SOME_OF,  /* unsigned: bits of the words "a,b,c" */
	HLG_VERB_NUMBER,   /* uint64_t, from low to high */
	HLG_VERB_FORMAT,   /* const struct hlg_format *: one of the verb's, at first the
			    * first; may be given once */
	HLG_VERB_REST,     /* char **: this word and all behind it; ends with NULL */
};

/* Words, not copied; the list is the verb's to free. */
struct hlg_verb_texts {
	char **text;
	size_t n;
};

/* An option, or without a name what the other words of the command line are. */
struct hlg_verb_option {
	const char *name;  /* "title", for --title */
	const char *alias; /* NULL, or what it was called before; help does not show it */
	char letter;       /* 't', for -t; or 0 */
	const char *value; /* as help has it: "FILE", "a|b|c"; NULL: HLG_VERB_FLAG */
	const char *help;
	const char
		*files; /* what shells propose, if not words of value: see FILES below */
	enum hlg_verb_kind kind;
	bool optional; /* the value may be left out: yes, and set() gets NULL */
	bool hidden;   /* only to say why it is none: in no help and no list */
	bool reads;    /* HLG_VERB_TEXT names a file that no output may replace */
	size_t field;  /* offset into the verb's arguments */
	uint64_t low, high;
	/* NULL, or takes the value instead of the field. Fails with HLG_EINPUT where it
	 * makes no sense, with HLG_ESYSTEM where it is not at fault. */
	int (*set)(void *arguments, const struct hlg_verb_option *option, char *value,
		   struct hlg_err *err);
	/* NULL, or what counts without it, as help shows it; () around it are left out.
	 */
	const char *fallback;
	/* Of SOME_OF: what its words were called, in the same order; they still work. */
	const char *old;
	/* Of help: "Input:". An option without one goes before those that have one. */
	const char *heading;
};

/*
 * FILES: of what kind the file is that a word names: "elf", "recording", "profile" (a
 * saved one), "stream" (LuaJIT's), "file" (any), several with a blank between them; or
 * "pid", "command"; or behind = the words themselves, "=cycles:G cpu-clock".
 */

#define HLG_VERB_TO "Output:" /* the heading of what says where to, and how much */

/* -o, for every verb that writes a result: what it is about is in the help. */
#define HLG_VERB_OUTPUT(type, member, text)                                              \
	HLG_VERB_OUTPUT_OR("standard output", type, member, text)
/* Where the result goes elsewhere, if it is not given. */
#define HLG_VERB_OUTPUT_OR(instead, type, member, text)                                  \
	{                                                                                \
		.name = "output", .alias = "out", .letter = 'o', .value = "FILE",        \
		.help = (text), .files = "file", .kind = HLG_VERB_TEXT,                  \
		.field = offsetof(type, member), .fallback = (instead),                  \
		.heading = HLG_VERB_TO                                                   \
	}

#define HLG_VERB_QUIET(type, member, text)                                               \
	{                                                                                \
		.name = "quiet", .letter = 'q', .help = (text), .kind = HLG_VERB_FLAG,   \
		.field = offsetof(type, member), .heading = HLG_VERB_TO                  \
	}

/* A shared option that without being given is not what it is elsewhere. */
struct hlg_verb_fallback {
	const char *option, *value;
};

/* When a user needs it. */
enum hlg_verb_group {
	HLG_VERB_PREPARES, /* to have something to profile */
	HLG_VERB_SHOWS,    /* what a recording holds */
	HLG_VERB_CONVERTS, /* for other programs */
};

struct hlg_verb {
	const char *name;
	const char *args; /* what follows it, in short */
	const char *help; /* what it does, in half a line */
	enum hlg_verb_group group;
	const char *usage; /* what follows its options; a line for each way to use it */
	const char *doc;   /* what it does; behind \v what else is to know of it */
	/* Three of help: a command line, a tab, what it does; a line each. */
	const char *examples;
	const char *record; /* NULL, or the options of record that its recordings need */
	const char *files;  /* what its other words name, as FILES above; NULL: nothing */
	/* NULL, or the options of inputs.h that it has, "input jobs output top"; its
	 * arguments begin with a struct hlg_inputs then. */
	const char *shared;
	const struct hlg_format *const
		*formats;    /* what --format names; NULL: no such option */
	bool chooses_format; /* NULL where --format is not given: by its output, say */
	const char *by;      /* words of --by, if not all */
	const struct hlg_verb_fallback *fallbacks; /* NULL, or the last is empty */
	bool in_order; /* what a word is depends on the words before */
	/* NULL, or what is said of an option that is not its own: whose it may be. */
	const char *others;
	/* Its own options; the last is empty. May be NULL. */
	const struct hlg_verb_option *options;
	size_t size; /* of its arguments, where others parse them, too; else 0 */
	/* NULL, or says which words do not go together: HLG_EINPUT. */
	int (*check)(void *arguments, struct hlg_err *err);
	/*
	 * verb is this one, argv[0] is "hlguest VERB". Returns the exit status: 0; 1 for
	 * a failure, also of writing; 2 for words that make no sense; and what its manual
	 * page says.
	 */
	int (*run)(const struct hlg_verb *verb, int argc, char **argv);
};

#endif
