/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Documents of JSON: each is an object that begins with the keys `hlguest`, the version,
 * and `format`, the number of its shape, and is written as it is made. Containers that
 * grow are opened and closed; what is in them is built by jansson, written, and
 * forgotten: the bytes are those that jansson writes for the whole with JSON_INDENT(1),
 * for the memory of one row.
 *
 * Counts are numbers, addresses strings of hex, percentages have two decimals, text is
 * escaped (escape.h), so that it is valid UTF-8 whatever the file held.
 *
 * Inside jansson a failed allocation only loses what was to be added. So its allocator is
 * watched here, from the begin on: the end of a document that lacks anything fails, and
 * the caller aborts the output.
 */
#ifndef HLG_FILTER_WRITE_JSON_H
#define HLG_FILTER_WRITE_JSON_H

#include <jansson.h>

#include "filter/report/report.h"
#include "filter/view/view.h"

enum {
	HLG_JSON_DEPTH = 16 /* containers that are open, at most */
};

struct hlg_json {
	FILE *f;
	unsigned depth;            /* open containers */
	bool any;                  /* the innermost has something */
	char ends[HLG_JSON_DEPTH]; /* of the open ones: '}' or ']' */
};

/* A document, up to its first two members; *json need not be set. */
void hlg_json_begin(struct hlg_json *json, FILE *f, unsigned format);

/* Closes what is open and ends the document, which fails if something was lost. Errors of
 * writing stay on the stream. */
int hlg_json_end(struct hlg_json *json, struct hlg_err *err);

/* A member, or with key NULL an element of the list that is open; value is released. The
 * second writes it on one line: for rows of which there are many. */
void hlg_json_put(struct hlg_json *json, const char *key, json_t *value);
void hlg_json_put_line(struct hlg_json *json, const char *key, json_t *value);

/* An object, or a list, to be filled; key as above. */
void hlg_json_open(struct hlg_json *json, const char *key);
void hlg_json_open_list(struct hlg_json *json, const char *key);
void hlg_json_close(struct hlg_json *json);

/* Was anything lost? Then whoever writes much may stop. */
bool hlg_json_lost(void);

/* For what is no document of hlguest's own: begins the watch alone; and writes a value on
 * one line without blanks, to be released by the caller. */
void hlg_json_watch_begin(void);
int hlg_json_dump(FILE *f, const json_t *root, const char *what, struct hlg_err *err);

/* Tells the watch of memory that was asked for elsewhere: NULL is lost. */
void hlg_json_watch(const void *memory);

/* Values; of text NULL is null, and so is of reals what is not finite. */
json_t *hlg_json_text(const char *s);
json_t *hlg_json_hex(uint64_t value);
json_t *hlg_json_number(uint64_t value);
json_t *hlg_json_percent(double share);
json_t *hlg_json_real(double value, int places);

json_t *hlg_json_lines(char *const *lines, size_t n);
json_t *hlg_json_numbers(const uint64_t *values, size_t n);

/* Sets samples and period in object; the same as an object of their own. */
void hlg_json_put_count(json_t *object, struct hlg_count count);
json_t *hlg_json_count(struct hlg_count count);

/* The other names of a place's symbol, a list; empty where it has no symbol. */
json_t *hlg_json_aliases(const struct hlg_place *place);

/* Sets percent, low and high in object. */
void hlg_json_put_share(json_t *object, const struct hlg_share *share);

/* The member `selected`: what chose what is told (struct hlg_options); none of NULL,
 * which is all. */
void hlg_json_put_selected(struct hlg_json *json, const char *selection);

/* How far a report's samples, or addresses, say that the ELF is the right one, and
 * whether functions are named: what verbs besides report have as "check". */
json_t *hlg_json_check(const struct hlg_report *check);

#endif
