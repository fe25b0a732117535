/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options: one table for parsing, for help and for the check of the man page.
 *
 * The words are `key=value` or `--key=value`, an image `FILE[@BASE[:tid=LIST]]`, where
 * :sandbox=LIST is another way to say who runs it, or a map `map:FILE[@BASE]`. FILE may
 * be `HOST@guest=N`, one of the guests inside a host. An image
 * whose name contains '=' is written with a '/' in front of it (./a=b). A base begins
 * with a digit or is the word auto (found from the samples, whatever the file says); any
 * other '@' is part of the name.
 */
#ifndef HLG_FILTER_OPTIONS_OPTIONS_H
#define HLG_FILTER_OPTIONS_OPTIONS_H

#include "filter/options/number.h"
#include "symtab/err.h"

enum hlg_gaps {
	HLG_GAPS_RETAG,
	HLG_GAPS_DROP,
	HLG_GAPS_STRETCH
};
enum hlg_border_option {
	HLG_BORDER_SPLIT,
	HLG_BORDER_KEEP,
	HLG_BORDER_DROP
};
enum hlg_weight {
	HLG_WEIGHT_PERIOD,
	HLG_WEIGHT_SAMPLES
};
enum hlg_mode {
	HLG_SHOW_GUEST,
	HLG_SHOW_HOST,
	HLG_SHOW_ALL
};
enum hlg_color {
	HLG_COLOR_AUTO,
	HLG_COLOR_ALWAYS,
	HLG_COLOR_NEVER
};
enum hlg_sort {
	HLG_SORT_OVERHEAD,
	HLG_SORT_SIZE, /* largest first */
	HLG_SORT_NAME,
	HLG_SORT_ADDRESS,
	HLG_SORT_SELF /* of functions with all that they call; else as overhead */
};
/* What time= is in. */
enum hlg_time_unit {
	HLG_TIME_PERF,    /* ns of perf's clock */
	HLG_TIME_OFFSET,  /* ns from the recording's start */
	HLG_TIME_PERCENT, /* 10^-9 percent of the recording */
};
enum hlg_emit {
	HLG_EMIT_NONE,
	HLG_EMIT_PASS,
	HLG_EMIT_LINES
};
enum hlg_stacks_option {
	HLG_STACKS_LEAF,
	HLG_STACKS_COUNTERS,
	HLG_STACKS_CALLGRAPH
};
enum hlg_call_graph {
	HLG_CALL_GRAPH_NONE,
	HLG_CALL_GRAPH_CALLER, /* what a function calls */
	HLG_CALL_GRAPH_CALLEE  /* who calls it */
};
enum {
	HLG_ROOT_COMM = 1,
	HLG_ROOT_TID = 2,
	HLG_ROOT_IMAGE = 4,
	HLG_ROOT_SECTION = 8
};
enum {
	HLG_BY_EVENT = 1,
	HLG_BY_PID = 2,
	HLG_BY_TID = 4,
	HLG_BY_CPU = 8,
	HLG_BY_SANDBOX = 16
};

#define HLG_UNSET UINT64_MAX /* of top, regions and min: the format decides */

struct hlg_image_arg {
	char *path;
	size_t guest; /* which of those inside path, from 1 on; 0: not stated */
	bool each;    /* nor is one wanted: each of them */
	uint64_t base;
	bool stated; /* base is the user's */
	bool find;   /* the user wants it found from the samples (@auto) */
	bool map;
	struct hlg_number_list tid, sandbox; /* who runs it; both empty: not stated */
};

struct hlg_trust;

struct hlg_options {
	struct hlg_image_arg *images;
	size_t n_images;
	int gaps, weight, mode, emit, color; /* the enums above */
	int stacks;                          /* enum hlg_stacks_option */
	int border;                          /* enum hlg_border_option */
	int children, call_graph;            /* 0 no, 1 yes; enum hlg_call_graph */
	unsigned roots;                      /* HLG_ROOT_ bits; of callgraph */
	int demangle, aliases;               /* 0 no, 1 yes */
	int sort;                            /* enum hlg_sort */
	int wide, raw, verbose;              /* of text: 0 no, 1 yes */
	int strict, force, strict_base, assume_shift; /* 0 no, 1 yes */
	unsigned by;                                  /* HLG_BY_ bits */
	uint64_t region;       /* bytes, a power of two; 0: no regions */
	uint64_t skid;         /* instructions; 0: no edges */
	uint64_t top;          /* rows; 0: all; HLG_UNSET */
	uint64_t most;         /* the format's: rows if top is unset; 0: all */
	uint64_t most_regions; /* the format's if regions is unset; 0: as top */
	uint64_t regions;      /* rows of regions; 0: all; HLG_UNSET */
	uint64_t min;          /* 10^-9 percent; HLG_UNSET */
	uint64_t start, stop;  /* of time=, [start, stop): see time_unit */
	int time_unit;         /* enum hlg_time_unit */
	struct hlg_number_list pid, tid, cpu, sandbox; /* empty: any */
	bool slices;                                   /* the format shows time */
	bool one_table;    /* it shows rows of all series together */
	char *event;       /* glob; NULL: any */
	char *format;      /* a word of its list (format.h) */
	char *out;         /* NULL: standard output */
	char *selection;   /* "pid=17 time=,10": what selects samples; NULL: nothing */
	char *selected_by; /* the same for messages, as it was given: "--pid=17" */
	uint64_t given;    /* bit i: table entry i was set by the user */
	/* Set by who knows what else ran, else NULL: says of which ELFs that is that are
	 * not named, and what to use, "b.elf, which record noted, is not named (use
	 * hlguest report a.elf b.elf)", to be freed; NULL: there are none. Asked only
	 * where samples do not fit. trust: how the images were judged, for bases where
	 * their samples fit; NULL: they stay where they are named. */
	char *(*unnamed)(const void *unnamed_of, const struct hlg_trust *trust);
	/* Set by who knows the recording, else NULL: the command that records it anew
	 * with its sandboxes, to be freed; NULL without memory. */
	char *(*again)(const void *unnamed_of);
	const void *unnamed_of;
	bool no_tid, no_sandbox; /* who asks has no such options to be proposed */
	/* Images are of both sides of a comparison: the option that gives one its own; or
	 * NULL. */
	const char *shared;
};

enum hlg_option_kind {
	HLG_OPT_CHOICE, /* one of values, stored as its number (int) */
	HLG_OPT_SET,    /* some of values, stored as bits (unsigned) */
	HLG_OPT_SIZE,
	HLG_OPT_COUNT,
	HLG_OPT_PERCENT,
	HLG_OPT_LIST,
	HLG_OPT_WINDOW, /* stores start and stop */
	HLG_OPT_TEXT,
};

struct hlg_option {
	const char *name;
	/* Syntax, and the words of a choice, "a|b|c", or of a set, "a,b,c": in the order
	 * of their enum above, as the place of a word is its value, or its bit. */
	const char *value;
	/* As shown in help, without the (); parsed too unless it is "" or in (). */
	const char *fallback;
	const char *help;
	enum hlg_option_kind kind;
	size_t field; /* offset into struct hlg_options */
};

extern const struct hlg_option hlg_option_table[];
extern const size_t hlg_n_options;

/* The @ of word that a base may be behind, the last one of the file's own name: folders
 * have such names, too (name@2.0/guest.elf). NULL: there is none. */
char *hlg_options_base(const char *word);

/*
 * Parses argc words into *options; the caller finishes them in any case. An empty list
 * of images is accepted here.
 */
int hlg_options_parse(struct hlg_options *options, int argc, char *const *argv,
		      struct hlg_err *err);
void hlg_options_finish(struct hlg_options *options);

/* Fails: value is none of words ("a|b|c"); of a set ("a,b,c") what is in front of the
 * first comma is none. arg is what the user wrote. Names the word that may be meant. */
int hlg_options_unknown_value(const char *arg, const char *value, bool set,
			      const char *words, struct hlg_err *err);

/* Adds to the selection, which the table's options do: what others select by. dashes:
 * "--", or "" where options are given without. */
int hlg_options_add_selection(struct hlg_options *options, const char *dashes,
			      const char *name, const char *value, struct hlg_err *err);

/* Is it stated who runs an image? */
static inline bool hlg_options_states_who(const struct hlg_image_arg *image)
{
	return image->tid.n || image->sandbox.n;
}

/* Is it stated for any by its thread? */
bool hlg_options_states_tid(const struct hlg_options *options);

/* The option of this name, n bytes; NULL if there is none. */
const struct hlg_option *hlg_options_find(const char *name, size_t n);

/* Is it one that selects samples? */
bool hlg_options_selects(const struct hlg_option *option);

/* Did the user set the option of this name? */
bool hlg_options_given(const struct hlg_options *options, const char *name);

/* The place, from 0 on, of a word (len bytes) in "a|b|c" or "a,b,c"; or -1. */
int hlg_options_place(const char *words, const char *word, size_t len);

#endif
