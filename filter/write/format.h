/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats: what a verb can write its result in is a list of these, by name; the first is
 * written where no other is asked for. The words of --format and of the filter's format=,
 * help, completion, what rows are shown, what a terminal may get and what is said where a
 * build lacks a format follow from the list.
 *
 * A format of one verb's data has a function for it, write() or save(). A format of
 * records, as csv is, serves all verbs: it knows columns and values (table.h), and a verb
 * hands them out. To add one, write the file NAME.c here with a const struct hlg_format
 * hlg_NAME_format that has head() and record(), and add NAME to the list in meson.build.
 */
#ifndef HLG_FILTER_WRITE_FORMAT_H
#define HLG_FILTER_WRITE_FORMAT_H

#include <stdio.h>

#include "config.h"
#include "filter/report/report.h"

struct hlg_run;
struct hlg_table;
struct hlg_table_sink;
struct hlg_value;

struct hlg_format {
	const char *name;  /* of format= */
	const char *file;  /* nothing for a terminal: what to call its file; else NULL */
	const char *needs; /* what to install, as this build cannot write it; else NULL */
	uint64_t top;      /* rows, unless top= says; 0: all */
	uint64_t regions;  /* of regions, unless regions= says; 0: as of functions */
	bool stacks;       /* shows those of stacks=callgraph */
	bool whole;        /* and is for these: they are whole where there are any */
	bool notes;        /* has room for notes, */
	bool remarks;      /* and for those of a report's check */
	bool files;        /* shows what each recording has, and whether it fits */
	bool one_table;    /* rows are of all series together, and say what each has */
	bool reader;       /* is read by people: not written where there is nothing to
			      show */
	/* Changes options, or refuses them, before anything is read; may be NULL. */
	int (*prepare)(struct hlg_run *run, struct hlg_err *err);
	/* Writes a verb's data, of the type that its list says. Write errors stay on the
	 * stream (hlg_out_commit finds them). */
	int (*write)(void *data, FILE *f, struct hlg_err *err);
	/* Instead of write, of a format of records: begins with the columns' names; and
	 * writes a record. */
	void (*head)(FILE *f, const struct hlg_table *table);
	void (*record)(FILE *f, const struct hlg_table *table,
		       const struct hlg_value *cells);
	/* Instead of both: settles and writes a run that has read all. of is the verb's.
	 */
	int (*save)(struct hlg_run *run, const void *of, struct hlg_err *err);
};

/* JSON by a writer that there is in builds with jansson only. */
#if HLG_HAVE_JANSSON
#define HLG_FORMAT_JANSSON(writer) .write = (writer)
#else
#define HLG_FORMAT_JANSSON(writer) .needs = "libjansson-dev"
#endif

/* Where a verb's records go: it says what its columns are, then hands out each record. */
struct hlg_records {
	FILE *f;
	const struct hlg_format *format;
	const struct hlg_table *table;
};

void hlg_format_begin(struct hlg_records *to, const struct hlg_table *table);
void hlg_format_record(struct hlg_records *to, const struct hlg_value *cells);

/* A verb's result, and the format that was chosen for it. */
struct hlg_result {
	const struct hlg_format *format;
	void *data; /* of the type that the verb's formats say */
	/* Hands out the records of data; NULL if the verb has no format of records. */
	int (*records)(void *data, struct hlg_records *to, struct hlg_err *err);
	struct hlg_colour *colours; /* of data: set as color says; or NULL */
	int color;                  /* enum hlg_color: auto goes by the stream */
	struct hlg_screen *screen;  /* of data: set by where it goes; or NULL */
	/* NULL, or why there is nothing to show: writing fails with that, but what
	 * programs read is written first. */
	const struct hlg_err *nothing;
};

/* In a verb's list: all formats of records. */
extern const struct hlg_format hlg_format_of_records;

/* The filter's, and those of report that other viewers do not need: data is a struct
 * hlg_report. */
extern const struct hlg_format hlg_format_text, hlg_format_json, hlg_format_folded;
extern const struct hlg_format *const hlg_format_filter[];

/* The i-th of a list that ends with NULL; NULL: there are no more. */
const struct hlg_format *hlg_format_at(const struct hlg_format *const *formats, size_t i);

/* The one of this name, or NULL; the first for NULL. */
const struct hlg_format *hlg_format_find(const struct hlg_format *const *formats,
					 const char *name);

enum {
	HLG_FORMAT_WORDS = 256 /* bytes: room for the words of any list */
};

/* "text|csv|json". */
const char *hlg_format_words(char words[static HLG_FORMAT_WORDS],
			     const struct hlg_format *const *formats);

/* Can this build write it, may a terminal (or is out a file), has it what is asked for?
 * Then rows are shown as it does. */
int hlg_format_choose(const struct hlg_format *format, struct hlg_options *options,
		      struct hlg_err *err);

/*
 * Writes the result to the file out, else to stream; what is written is whole or absent.
 * (What is named is a file, even if it is a terminal.)
 */
int hlg_format_write(const struct hlg_result *result, const char *out, FILE *stream,
		     struct hlg_err *err);

/* The writers of a report. */
int hlg_text_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);
/* The table of recordings, of which there are several. Where paths have no room, the
 * folder that all are in is said once. */
int hlg_text_files(FILE *f, const struct hlg_report *report,
		   const struct hlg_table_sink *sink, struct hlg_err *err);
/* The same behind an empty line, of many the first; nothing of one alone. */
int hlg_text_files_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_report_records(void *report, struct hlg_records *to, struct hlg_err *err);
int hlg_report_json_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_folded_report(FILE *f, const struct hlg_report *report, struct hlg_err *err);

#endif
