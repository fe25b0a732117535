// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/input-words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/argp-run.h"

static char **append(char **list, size_t n, char *word)
{
	char **more = word ? reallocarray(list, n + 2, sizeof(*list)) : NULL;

	if (!more)
		hlg_words_no_memory();
	more[n] = word;
	more[n + 1] = NULL;
	return more;
}

void hlg_inputs_add_word(struct hlg_inputs *in, char *word)
{
	in->words = append(in->words, (size_t)in->n_words, word);
	in->n_words++;
}

void hlg_inputs_add_file(struct hlg_inputs *in, const char *path)
{
	in->files = append(in->files, in->n_files++, strdup(path));
}

void hlg_inputs_add_other(struct hlg_inputs *in, const char *word,
			  enum hlg_file_kind kind)
{
	struct hlg_other *more =
		reallocarray(in->others, in->n_others + 1, sizeof(*more));

	if (!more)
		hlg_words_no_memory();
	in->others = more;
	more[in->n_others++] = (struct hlg_other){word, kind};
}

static void add_image(struct hlg_inputs *in, const char *path)
{
	hlg_inputs_add_word(in, strdup(path));
	in->n_images++;
}

/* Is it for the verb itself? */
static bool is_word(const struct hlg_inputs *in, const struct hlg_other *other)
{
	return in->take_word && other->kind == HLG_FILE_KIND_OTHER &&
	       !strchr(other->word, '/') && access(other->word, F_OK) != 0;
}

/*
 * Images and recordings in any order. What is neither is a recording that cannot be read
 * if there is an image, else the first of these is an image that cannot.
 */
void hlg_inputs_sort(struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind == HLG_FILE_KIND_IMAGE)
			add_image(in, in->others[i].word);
	for (size_t i = 0; i < in->n_others; i++) {
		const struct hlg_other *other = &in->others[i];

		if (other->kind == HLG_FILE_KIND_OTHER && in->n_images == 0)
			add_image(in, other->word);
		else if (is_word(in, other))
			in->take_word(in->own_input, other->word);
		else if (other->kind != HLG_FILE_KIND_IMAGE)
			hlg_inputs_add_file(in, other->word);
	}
}
