/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How values are put in JSON: counts are numbers, addresses strings of hex, percentages
 * have two decimals, text is escaped (escape.h), so that it is valid UTF-8 whatever the
 * file held.
 *
 * Inside jansson a failed allocation only loses what was to be added. So its allocator is
 * watched here, from hlg_json_begin on: a document that lacks anything must not be
 * written.
 */
#ifndef HLG_FILTER_WRITE_JSON_PARTS_H
#define HLG_FILTER_WRITE_JSON_PARTS_H

#include <jansson.h>

#include "filter/view/view.h"

void hlg_json_begin(void);
bool hlg_json_lost(void);

/* Tells the watch of memory that was asked for elsewhere: NULL is lost. */
void hlg_json_watch(const void *memory);

json_t *hlg_json_text(const char *s);
json_t *hlg_json_hex(uint64_t value);
json_t *hlg_json_number(uint64_t value);
json_t *hlg_json_percent(double share);

json_t *hlg_json_lines(char *const *lines, size_t n);

/* Sets samples and period in object; the same as an object of their own. */
void hlg_json_put_count(json_t *object, struct hlg_count count);
json_t *hlg_json_count(struct hlg_count count);

/* The other names of a place's symbol, a list; empty where it has no symbol. */
json_t *hlg_json_aliases(const struct hlg_place *place);

/* Sets percent, low and high in object. */
void hlg_json_put_share(json_t *object, const struct hlg_share *share);

#endif
