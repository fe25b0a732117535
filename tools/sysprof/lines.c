// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "tools/sysprof/write.h"

static int compare_text(const void *a, const void *b)
{
	const struct hlg_sysprof_line *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (int)x->state - (int)y->state;
}

static int compare_samples(const void *a, const void *b)
{
	const struct hlg_sysprof_line *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return compare_text(a, b);
}

/* Adds up lines of the same text, which stand together. Returns how many are left. */
static size_t join(struct hlg_sysprof_line *lines, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && compare_text(&lines[kept - 1], &lines[i]) == 0) {
			lines[kept - 1].samples += lines[i].samples;
			free(lines[i].text);
		} else {
			lines[kept++] = lines[i];
		}
	}
	return kept;
}

static char *text_of(bool (*put)(FILE *f, void *ctx, const struct hlg_sysprof_stack *),
		     void *ctx, const struct hlg_sysprof_stack *stack)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool ok = f && put(f, ctx, stack);

	if (f && fclose(f) == 0 && ok)
		return text;
	free(text);
	return NULL;
}

struct hlg_sysprof_line *hlg_sysprof_lines(
	const struct hlg_sysprof *s, bool parted,
	bool (*put)(FILE *f, void *ctx, const struct hlg_sysprof_stack *stack), void *ctx,
	size_t *n)
{
	struct hlg_sysprof_line *lines = calloc((size_t)s->n_stacks + 1, sizeof(*lines));
	uint64_t total = 0;

	*n = 0;
	for (uint32_t i = 0; lines && i < s->n_stacks; i++) {
		const struct hlg_sysprof_stack *stack = &s->stacks[i];
		struct hlg_sysprof_line *line = &lines[*n];

		line->text = text_of(put, ctx, stack);
		total += line->text ? strlen(line->text) : 0;
		if (!line->text || total > HLG_SYSPROF_MAX_TEXT) {
			free(line->text);
			hlg_sysprof_free_lines(lines, *n);
			return NULL;
		}
		line->samples = stack->samples;
		line->state = parted ? stack->state : HLG_SYSPROF_INTERP;
		++*n;
	}
	if (!lines)
		return NULL;
	qsort(lines, *n, sizeof(*lines), compare_text);
	*n = join(lines, *n);
	qsort(lines, *n, sizeof(*lines), compare_samples);
	return lines;
}

void hlg_sysprof_free_lines(struct hlg_sysprof_line *lines, size_t n)
{
	for (size_t i = 0; lines && i < n; i++)
		free(lines[i].text);
	free(lines);
}

uint32_t *hlg_sysprof_room(const struct hlg_sysprof *s)
{
	size_t most = 1;

	for (uint32_t i = 0; i < s->n_stacks; i++) {
		size_t n = (size_t)s->stacks[i].n_lua + s->stacks[i].n_host;

		most = n > most ? n : most;
	}
	return calloc(most, sizeof(uint32_t));
}
