// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/note-list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "symtab/grow.h"

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

void hlg_note_list_append(struct hlg_note_list *to, const struct hlg_note_list *from)
{
	for (size_t i = 0; i < from->n; i++)
		add_copy(to, (enum hlg_note_level)from->level[i], "%s", from->line[i]);
	to->lost |= from->lost;
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
