/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes: lines that a reader of a result must know, in the order they were met. Without
 * '\n' and not escaped: every writer escapes for its format. A note that had no memory is
 * lost, and a result without it must not be written.
 */
#ifndef HLG_FILTER_OUTPUT_NOTE_LIST_H
#define HLG_FILTER_OUTPUT_NOTE_LIST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Empty when all zero. */
struct hlg_note_list {
	char **line;
	size_t n;
	bool lost;
};

__attribute__((format(printf, 2, 3))) void hlg_note_list_add(struct hlg_note_list *list,
							     const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void hlg_note_list_vadd(struct hlg_note_list *list,
							      const char *fmt,
							      va_list ap);

/* Adds copies of another's. */
void hlg_note_list_append(struct hlg_note_list *to, const struct hlg_note_list *from);

bool hlg_note_list_has(const struct hlg_note_list *list, const char *line);

void hlg_note_list_finish(struct hlg_note_list *list);

#endif
