/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes: lines that a reader of a result must know, in the order they were met. Without
 * '\n' and not escaped: every writer escapes for its format. A note that had no memory is
 * lost, and a result without it must not be written.
 *
 * Formats for programs have all notes; text shows warnings in front of the result, notes
 * behind it, and details only where they were asked for (verbose=).
 */
#ifndef HLG_FILTER_OUTPUT_NOTE_LIST_H
#define HLG_FILTER_OUTPUT_NOTE_LIST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum hlg_note_level {
	HLG_NOTE_PLAIN,
	HLG_NOTE_WARNING, /* the result is wrong, incomplete, or not what was asked for */
	HLG_NOTE_DETAIL   /* true of any result of this kind */
};

/* Empty when all zero. */
struct hlg_note_list {
	char **line;
	unsigned char *level; /* of each line */
	size_t n;
	bool lost;
};

__attribute__((format(printf, 2, 3))) void hlg_note_list_add(struct hlg_note_list *list,
							     const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void hlg_note_list_warn(struct hlg_note_list *list,
							      const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void hlg_note_list_detail(
	struct hlg_note_list *list, const char *fmt, ...);
__attribute__((format(printf, 3, 0))) void hlg_note_list_vadd(struct hlg_note_list *list,
							      enum hlg_note_level level,
							      const char *fmt,
							      va_list ap);

/* How many there are besides details. */
size_t hlg_note_list_told(const struct hlg_note_list *list);

/*
 * Of a crowd each has a note: the first few warn, as many as a reader takes in, more are
 * details, and of very many the rest has none, which the last warning tells. So adder
 * says what to call for the i-th; NULL: nothing. rest adds that warning, if there are
 * more than warn; what is what they have.
 */
typedef void hlg_note_list_adder(struct hlg_note_list *list, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
hlg_note_list_adder *hlg_note_list_crowd_adder(size_t i);
void hlg_note_list_crowd_rest(struct hlg_note_list *list, size_t n, const char *what);

/* Adds copies of another's. */
void hlg_note_list_append(struct hlg_note_list *to, const struct hlg_note_list *from);
/* At most so many, from the first, as details; returns how many. */
size_t hlg_note_list_append_details(struct hlg_note_list *to,
				    const struct hlg_note_list *from, size_t most);

bool hlg_note_list_has(const struct hlg_note_list *list, const char *line);

void hlg_note_list_finish(struct hlg_note_list *list);

#endif
