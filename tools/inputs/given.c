// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "symtab/grow.h"

static int append(char ***list, size_t n, const char *word, struct hlg_err *err)
{
	char *copy = HLG_GROW(*list, n) ? strdup(word) : NULL;

	if (!copy)
		return hlg_err_memory(err, "arguments");
	(*list)[n] = copy;
	return 0;
}

int hlg_inputs_add_word(struct hlg_inputs *in, const char *word, struct hlg_err *err)
{
	int rc = append(&in->words, (size_t)in->n_words, word, err);

	in->n_words += rc == 0;
	return rc;
}

int hlg_inputs_add_file(struct hlg_inputs *in, const char *path, struct hlg_err *err)
{
	int rc = append(&in->files, in->n_files, path, err);

	in->n_files += rc == 0;
	return rc;
}

int hlg_inputs_add_other(struct hlg_inputs *in, char *word, enum hlg_file_kind kind,
			 struct hlg_err *err)
{
	if (!HLG_GROW(in->others, in->n_others))
		return hlg_err_memory(err, "arguments");
	in->others[in->n_others++] = (struct hlg_inputs_other){word, kind};
	return 0;
}

int hlg_inputs_add_image(struct hlg_inputs *in, const char *path, struct hlg_err *err)
{
	char *word;
	int rc = hlg_images_word(&word, path, err);

	in->n_images++;
	if (rc == 0)
		rc = hlg_inputs_add_word(in, word, err);
	free(word);
	return rc;
}

bool hlg_inputs_is_image(const char *word)
{
	return strncmp(word, "--", 2) != 0;
}

int hlg_inputs_check_there(const char *word, struct hlg_err *err)
{
	if (hlg_target_is_stream(word) || hlg_images_has_base(word) ||
	    access(word, F_OK) == 0 || errno != ENOENT)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "%s: no such file (check the path)", word);
}

bool hlg_inputs_has(const struct hlg_verb *verb, const char *option)
{
	const char *at = verb->shared; /* words with blanks in between */
	size_t n = strlen(option);

	while (at && *at) {
		size_t word = strcspn(at, " ");

		if (word == n && memcmp(at, option, n) == 0)
			return true;
		at += word + strspn(at + word, " ");
	}
	return false;
}

bool hlg_inputs_is_pair(const struct hlg_inputs *in)
{
	return in->second && hlg_inputs_has(in->verb, "after");
}

void hlg_inputs_finish(struct hlg_inputs *in)
{
	for (int i = 0; i < in->n_words; i++)
		free(in->words[i]);
	free(in->words);
	for (size_t i = 0; i < in->n_files; i++)
		free(in->files[i]);
	free(in->files);
	free(in->others);
	if (in->second)
		hlg_inputs_finish(in->second);
}
