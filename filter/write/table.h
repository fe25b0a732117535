/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: what the columns are is said once, and text, JSON and formats of records, as
 * CSV is, are written from that.
 *
 * A table is a list of columns; a row is an array of cells in the same order, filled by
 * its owner. A cell holds a value of its column's type, or none. A column has a key, by
 * which CSV and JSON call it, and a heading, by which text does. A layout names some of
 * the columns in an order, where a format shows not all of them, or shows them otherwise.
 *
 * Text of files is escaped here (escape.h). Errors of writing stay on the stream.
 */
#ifndef HLG_FILTER_WRITE_TABLE_H
#define HLG_FILTER_WRITE_TABLE_H

#include <math.h>

#include "filter/output/colour.h"
#include "filter/output/screen.h"
#include "filter/stats/interval.h"

enum hlg_value_type {      /* of a cell's     text          CSV        JSON */
	HLG_VALUE_TEXT,    /* text            as it is      in quotes  "text" */
	HLG_VALUE_WORD,    /* text            as it is      in quotes where it must be */
	HLG_VALUE_COUNT,   /* n               12 */
	HLG_VALUE_SIGNED,  /* number          +12           +12        12 */
	HLG_VALUE_ADDR,    /* n               0x12          0x12       "0x12" */
	HLG_VALUE_PERCENT, /* number, a share 12.34 */
	HLG_VALUE_POINTS,  /* number, a share +12.34        +12.34     12.34 */
	HLG_VALUE_GROWTH,  /* number, a share +12.34 %, 150 x; CSV and JSON as POINTS */
	HLG_VALUE_REAL,    /* number          with the column's places */
	HLG_VALUE_PROBABILITY, /* number     0.0123        0.01234    0.01234 */
	HLG_VALUE_NS,          /* n, nanoseconds  12.3 us       12345      12345 */
	HLG_VALUE_SECONDS,     /* n, nanoseconds 1.000000002; JSON has key_ns, too */
	HLG_VALUE_BOOL,        /* n               the unit, " " 1, 0       true, false */
	HLG_VALUE_LIST,        /* list            a, b          "a;b"      ["a", "b"] */
	HLG_VALUE_SHARES,      /* share           12.34 - 13.56 (text only) */
	HLG_VALUE_CHANGES,     /* share          +1.00 to +2.00 (text only) */
	HLG_VALUE_BAR /* share           as long as share is of high (text only) */
};

enum {
	HLG_COLUMN_PAINTED = 1, /* text: in the colour of the row's share */
	HLG_COLUMN_OMIT = 2,    /* JSON: without a value no key; else null */
};

/* Calls for one after the other: *i is 0 at first; NULL behind the last. */
typedef const char *(*hlg_value_next)(const void *of, size_t *i);

struct hlg_value {
	bool is; /* there is a value */
	union {
		const char *text;
		uint64_t n;
		double number;
		struct hlg_share share;
		struct {
			hlg_value_next next;
			const void *of;
		} list;
	};
	/* Text only: writes what is behind the value, or instead of one; may be NULL. It
	 * is escaped, and never cut but at its end. */
	void (*tail)(FILE *f, const void *of);
	const void *of;
};

struct hlg_column {
	const char *key, *heading;
	enum hlg_value_type type;
	unsigned char gap;    /* text: blanks in front */
	signed char width;    /* text: least cells; below 0: to the left */
	unsigned char places; /* of REAL */
	unsigned char flags;  /* HLG_COLUMN_ */
	const char *unit;     /* text: behind a value, within the width; or NULL */
	const char *none;     /* text: for no value; NULL: blanks */
	const char *between;  /* CSV: of a LIST; NULL: ";" */
};

struct hlg_table {
	const struct hlg_column *columns;
	const unsigned char
		*layout; /* numbers of columns; NULL: all that the format calls */
	size_t n;        /* of layout, or of columns */
	struct hlg_colour colours;
	struct hlg_screen
		screen; /* text: the last column, of TEXT, is cut to its lines */
};

static inline struct hlg_value hlg_table_text_value(const char *text)
{
	return (struct hlg_value){.is = text != NULL, .text = text};
}

static inline struct hlg_value hlg_table_count_value(uint64_t n)
{
	return (struct hlg_value){.is = true, .n = n};
}

/* None if it is no number. */
static inline struct hlg_value hlg_table_number_value(double number)
{
	return (struct hlg_value){.is = !isnan(number), .number = number};
}

/* None below 0: of ids that were not recorded. */
static inline struct hlg_value hlg_table_id_value(int64_t id)
{
	return (struct hlg_value){.is = id >= 0, .n = (uint64_t)id};
}

static inline struct hlg_value hlg_table_share_value(struct hlg_share share)
{
	return (struct hlg_value){.is = true, .share = share};
}

/* Headings, and rows under them; share paints the painted columns. Each ends its line.
 * False if what is left of the last cell was not kept for want of memory, which only a
 * table with a screen needs. */
void hlg_table_text_head(FILE *f, const struct hlg_table *table);
bool hlg_table_text_row(FILE *f, const struct hlg_table *table,
			const struct hlg_value *cells, double share);

/* Where a table goes that is for people: text, or a page (tools/page/table.h), which has
 * the columns of text. */
struct hlg_table_sink {
	void (*head)(FILE *f, const struct hlg_table *table);
	bool (*row)(FILE *f, const struct hlg_table *table, const struct hlg_value *cells,
		    double share);
};

extern const struct hlg_table_sink hlg_table_text;

/* For formats of records (format.h): the i-th column, or NULL if it is one of text only.
 */
const struct hlg_column *hlg_table_key_column(const struct hlg_table *table, size_t i);

enum {
	HLG_TABLE_NUMBER = 400 /* bytes of a number: %f has up to 310 digits */
};

/* A value as programs read it, in buf or static; it is there, and no TEXT, WORD or LIST.
 */
const char *hlg_table_plain(char buf[static HLG_TABLE_NUMBER],
			    const struct hlg_column *column,
			    const struct hlg_value *cell);

/* The same as people read it, without the column's unit. */
const char *hlg_table_number(char buf[static HLG_TABLE_NUMBER],
			     const struct hlg_column *column,
			     const struct hlg_value *cell);

/* Puts one text of a LIST after the other, with between in between. */
void hlg_table_list(FILE *f, const struct hlg_value *cell, const char *between,
		    void (*put)(FILE *f, const char *text));

/* Sets the cells in an object of jansson's; in a build with jansson only. Adds nothing
 * without memory, which filter/write/json.h tells. */
struct json_t;
void hlg_json_row(struct json_t *object, const struct hlg_table *table,
		  const struct hlg_value *cells);

/* Cells of a line in front of the last column. */
size_t hlg_table_front(const struct hlg_table *table);

/* Takes a column out of the table's layout. False if it is not there. */
bool hlg_table_leave_out(struct hlg_table *table, unsigned char *layout,
			 unsigned char column);

/* Cells that text takes when it is escaped, if each character takes one. */
long hlg_table_cells(const char *text);

/* How much of both paths is a folder that they are in; the root, which says little, is
 * none. */
size_t hlg_table_folder(const char *a, const char *b);

/* Writes text, escaped, in so many cells at most: with an ellipsis in its middle, so that
 * both ends of a long name can be read. Returns how many it took. */
long hlg_table_cut(FILE *f, const char *text, long cells, bool ascii);

/* "12.3 us": three digits at least, in the largest unit that leaves them. */
const char *hlg_table_ns(char buf[static 24], uint64_t ns);

#endif
