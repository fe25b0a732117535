/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of a page, for its scripts: JSON in an element of the page, <script
 * id="data">, packed by gzip and base64 where that pays and the build can (zlib).
 */
#ifndef HLG_TOOLS_PAGE_DATA_H
#define HLG_TOOLS_PAGE_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "filter/output/memstream.h"
#include "symtab/err.h"

struct hlg_page_data {
	struct hlg_memstream json; /* is written here */
	char *text;                /* when it has ended */
	bool first;                /* of the container at hand: no comma is due */
};

/* How many bytes have been written. */
size_t hlg_page_data_size(struct hlg_page_data *data);

/* How many the element would have if these were all, [from, to) of what was written;
 * of data that were ended. 0 without memory. */
size_t hlg_page_data_packed(const struct hlg_page_data *data, size_t from, size_t to);

/* Opens the data, an object. *data need not be set. Fails only without memory; the caller
 * finishes it in any case. */
int hlg_page_data_begin(struct hlg_page_data *data, struct hlg_err *err);

/* Containers, and values in them: with a key, or NULL in a list. */
void hlg_page_data_open(struct hlg_page_data *data, const char *key, char bracket);
void hlg_page_data_close(struct hlg_page_data *data, char bracket);
void hlg_page_data_number(struct hlg_page_data *data, const char *key, uint64_t value);
void hlg_page_data_signed(struct hlg_page_data *data, const char *key, int64_t value);
void hlg_page_data_hex(struct hlg_page_data *data, const char *key, uint64_t value);
/* A list of n values, each an expression with i. */
#define HLG_PAGE_DATA_LIST(d, key, n, type, value)                                       \
	do {                                                                             \
		hlg_page_data_open(d, key, '[');                                         \
		for (size_t i = 0; i < (n); i++)                                         \
			hlg_page_data_##type(d, NULL, value);                            \
		hlg_page_data_close(d, ']');                                             \
	} while (0)

/* Six digits, the same in every locale; not of what is no number. */
void hlg_page_data_real(struct hlg_page_data *data, const char *key, double value);
/* Text of files is escaped (symtab/escape.h), then for JSON and for HTML. */
void hlg_page_data_text(struct hlg_page_data *data, const char *key, const char *text);

/* Ends the object and writes the element of that id. Write errors stay on the stream;
 * fails only without memory. */
int hlg_page_data_end(struct hlg_page_data *data, FILE *f, const char *id,
		      struct hlg_err *err);
void hlg_page_data_finish(struct hlg_page_data *data);

#endif
