// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/note-list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

void hlg_note_list_vadd(struct hlg_note_list *list, const char *fmt, va_list ap)
{
	char *line;

	if (HLG_GROW(list->line, list->n) && vasprintf(&line, fmt, ap) >= 0)
		list->line[list->n++] = line;
	else
		list->lost = true;
}

void hlg_note_list_add(struct hlg_note_list *list, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(list, fmt, ap);
	va_end(ap);
}

void hlg_note_list_append(struct hlg_note_list *to, const struct hlg_note_list *from)
{
	for (size_t i = 0; i < from->n; i++)
		hlg_note_list_add(to, "%s", from->line[i]);
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
	*list = (struct hlg_note_list){0};
}
