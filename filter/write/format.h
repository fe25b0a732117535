/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats: what a verb can write its result in is a list of these, by name; the first is
 * written where no other is asked for. What rows are shown, what a terminal may get and
 * what is said where a build lacks a format follow from the list. The words stand once
 * more where help and completion take them from: in hlg_verb.formats, and for the filter
 * in its table of options. Asserts and tests hold them together.
 */
#ifndef HLG_FILTER_WRITE_FORMAT_H
#define HLG_FILTER_WRITE_FORMAT_H

#include <stdio.h>

#include "config.h"
#include "filter/report/report.h"

struct hlg_run;

struct hlg_format {
	const char *name;  /* of format= */
	const char *file;  /* nothing for a terminal: what to call its file; else NULL */
	const char *needs; /* what to install, as this build cannot write it; else NULL */
	uint64_t top;      /* rows, unless top= says; 0: all */
	bool stacks;       /* shows those of stacks=callgraph */
	bool notes;        /* has room for notes */
	bool files;        /* shows what each recording has, and whether it fits */
	/* Changes options, or refuses them, before anything is read; may be NULL. */
	int (*start)(struct hlg_run *run, struct hlg_err *err);
	/* Writes a verb's data, of the type that its list says. Write errors stay on the
	 * stream (hlg_out_commit finds them). */
	int (*write)(void *data, FILE *f, struct hlg_err *err);
	/* Instead of write: settles and writes a run that has read all. of is the verb's.
	 */
	int (*save)(struct hlg_run *run, const void *of, struct hlg_err *err);
};

/* JSON by a writer that there is in builds with jansson only. */
#if HLG_HAVE_JANSSON
#define HLG_FORMAT_JANSSON(writer) .write = (writer)
#else
#define HLG_FORMAT_JANSSON(writer) .needs = "libjansson-dev"
#endif

/* The filter's: data is a struct hlg_report. In the order of enum hlg_format_word. */
extern const struct hlg_format hlg_format_text, hlg_format_csv, hlg_format_json,
	hlg_format_folded;
extern const struct hlg_format *const hlg_format_filter[];

/* Of a list that ends with NULL: the one of this name, or NULL; the first for NULL. */
const struct hlg_format *hlg_format_find(const struct hlg_format *const *formats,
					 const char *name);

/* "text|csv|json", to be freed; NULL without memory. */
char *hlg_format_words(const struct hlg_format *const *formats);

/* Can this build write it, may a terminal (or is out a file), has it what is asked for?
 * Then rows are shown as it does. */
int hlg_format_choose(const struct hlg_format *format, struct hlg_options *options,
		      struct hlg_err *err);

/*
 * Writes data to the file out, else to stream; what is written is whole or absent.
 * colours may be NULL, or is data's: set as the stream is. (What is named is a file, even
 * if it is a terminal.)
 */
int hlg_format_write(const struct hlg_format *format, const char *out, FILE *stream,
		     void *data, struct hlg_colour *colours, struct hlg_err *err);

/* The writers of a report. */
int hlg_text_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_csv_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_report_json_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_folded_report(FILE *f, const struct hlg_report *report, struct hlg_err *err);

#endif
