// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/note-list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "symtab/grow.h"
#include "symtab/plural.h"

enum {
	CROWD_NAMED = 5,
	CROWD_LISTED = 256
};

void hlg_note_list_vadd(struct hlg_note_list *list, enum hlg_note_level level,
			const char *fmt, va_list ap)
{
	char *line;

	if (!HLG_GROW(list->line, list->n) || !HLG_GROW(list->level, list->n) ||
	    vasprintf(&line, fmt, ap) < 0) {
		list->lost = true;
		return;
	}
	list->level[list->n] = (unsigned char)level;
	list->line[list->n++] = line;
}

void hlg_note_list_add(struct hlg_note_list *list, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(list, HLG_NOTE_PLAIN, fmt, ap);
	va_end(ap);
}

void hlg_note_list_warn(struct hlg_note_list *list, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(list, HLG_NOTE_WARNING, fmt, ap);
	va_end(ap);
}

void hlg_note_list_detail(struct hlg_note_list *list, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(list, HLG_NOTE_DETAIL, fmt, ap);
	va_end(ap);
}

static void add_copy(struct hlg_note_list *to, enum hlg_note_level level, const char *fmt,
		     ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(to, level, fmt, ap);
	va_end(ap);
}

size_t hlg_note_list_told(const struct hlg_note_list *list)
{
	size_t told = 0;

	for (size_t i = 0; i < list->n; i++)
		told += list->level[i] != HLG_NOTE_DETAIL;
	return told;
}

hlg_note_list_adder *hlg_note_list_crowd_adder(size_t i)
{
	if (i >= CROWD_LISTED)
		return NULL;
	return i < CROWD_NAMED ? hlg_note_list_warn : hlg_note_list_detail;
}

void hlg_note_list_crowd_rest(struct hlg_note_list *list, size_t n, const char *what)
{
	if (n > CROWD_LISTED)
		hlg_note_list_warn(
			list, "%zu more have %s (hlguest report -v lists %d of them)",
			n - CROWD_NAMED, what, CROWD_LISTED - CROWD_NAMED);
	else if (n > CROWD_NAMED)
		hlg_note_list_warn(list, "%zu more %s %s (hlguest report -v lists %s)",
				   n - CROWD_NAMED,
				   hlg_plural_word(n - CROWD_NAMED, "has", "have"), what,
				   hlg_plural_word(n - CROWD_NAMED, "it", "them"));
}

void hlg_note_list_append(struct hlg_note_list *to, const struct hlg_note_list *from)
{
	for (size_t i = 0; i < from->n; i++)
		add_copy(to, (enum hlg_note_level)from->level[i], "%s", from->line[i]);
	to->lost |= from->lost;
}

size_t hlg_note_list_append_details(struct hlg_note_list *to,
				    const struct hlg_note_list *from, size_t most)
{
	size_t i;

	for (i = 0; i < from->n && i < most; i++)
		add_copy(to, HLG_NOTE_DETAIL, "%s", from->line[i]);
	to->lost |= from->lost;
	return i;
}

bool hlg_note_list_has(const struct hlg_note_list *list, const char *line)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->line[i], line) == 0)
			return true;
	return false;
}

void hlg_note_list_finish(struct hlg_note_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->line[i]);
	free(list->line);
	free(list->level);
	*list = (struct hlg_note_list){0};
}
