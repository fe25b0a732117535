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

/* Does an option say what is read, for which there are words of their own, or nothing of
 * the result? That has the same bytes with -j and without. With the ELFs that ran nobody
 * needs --force. */
static bool is_left_out(const struct hlg_verb_option *option)
{
	static const char *const names[] = {
		"input",  "input-list", "null",  "list-digest", "shard", "after",
		"before", "jobs",       "quiet", "no-pager",    "force"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(option->name, names[i]) == 0)
			return true;
	return false;
}

static bool is_file(const char *word)
{
	const enum hlg_file_kind kind = hlg_images_file_kind(word);

	return kind == HLG_FILE_KIND_IMAGE || kind == HLG_FILE_KIND_RECORDING;
}

int hlg_inputs_keep_option(void *arguments, const struct hlg_verb_option *option,
			   const char *value, struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;
	char letter[] = {'-', option->letter, '\0'}, *word;
	int rc;

	if (is_left_out(option))
		return 0;
	if (value && option->letter == 'g' && is_file(value))
		value = "caller"; /* -g alone, and a file behind it (shared-options.c) */
	/* Behind a letter no word is the value of an option that can do without. */
	if (option->letter && (value ? !option->optional : !option->value)) {
		rc = append(&in->options, in->n_options, letter, err);
		in->n_options += rc == 0;
		if (rc == 0 && value)
			rc = append(&in->options, in->n_options, value, err);
		in->n_options += rc == 0 && value;
		return rc;
	}
	if (asprintf(&word, "--%s%s%s", option->name, value ? "=" : "",
		     value ? value : "") < 0)
		return hlg_err_memory(err, "arguments");
	rc = append(&in->options, in->n_options, word, err);
	in->n_options += rc == 0;
	free(word);
	return rc;
}

int hlg_inputs_keep_own(struct hlg_inputs *in, const char *word, struct hlg_err *err)
{
	int rc = append(&in->own, in->n_own, word, err);

	in->n_own += rc == 0;
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

static void free_words(char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
}

void hlg_inputs_finish(struct hlg_inputs *in)
{
	free_words(in->words, (size_t)in->n_words);
	free_words(in->files, in->n_files);
	free(in->others);
	free_words(in->options, in->n_options);
	free_words(in->own, in->n_own);
	if (in->second)
		hlg_inputs_finish(in->second);
}
