// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/words.h"

#include <stdlib.h>
#include <string.h>

#include "tools/inputs/given.h"
#include "tools/inputs/images.h"

static bool is_one_of(const char *const *names, size_t n_names, const char *name,
		      size_t n)
{
	for (size_t i = 0; i < n_names; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return true;
	return false;
}

/* Is it --name=value, or --name of what is yes or no, of an option that may be given? A
 * name cut short could be any, and a value by itself looks as a file does. */
static bool is_option(const char *word)
{
	/* Of report alone, and of the filter's those that say where the result goes. */
	static const char *const more[] = {"calibration", "for", "inline", "label"};
	static const char *const less[] = {"emit", "format", "out"};
	const char *name = word + 2;
	size_t n = strcspn(name, "=");
	const struct hlg_option *option = hlg_options_find(name, n);

	if (word[1] != '-' || is_one_of(less, sizeof(less) / sizeof(less[0]), name, n))
		return false;
	if (!option)
		return name[n] &&
		       is_one_of(more, sizeof(more) / sizeof(more[0]), name, n);
	return name[n] || strcmp(option->value, "no|yes") == 0;
}

static bool is_file(const char *word)
{
	return word[0] != '-' || !word[1];
}

static int check_image(const char *word, struct hlg_err *err)
{
	if (hlg_images_file_kind(word) == HLG_FILE_KIND_IMAGE)
		return 0;
	if (hlg_inputs_check_there(word, err) < 0)
		return HLG_EINPUT;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is no guest ELF, or cannot be read (name it: guest.elf)",
			   word);
}

int hlg_fleet_words_check_images(char *const *words, size_t n, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		if (is_file(words[i]))
			rc = check_image(words[i], err);
	return rc;
}

int hlg_fleet_words_check(char *const *words, size_t n, struct hlg_err *err)
{
	size_t images = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (is_file(words[i])) {
			images++;
			if (hlg_images_file_kind(words[i]) == HLG_FILE_KIND_RECORDING)
				rc = hlg_err_set(err, HLG_EINPUT,
						 "%s: is a recording or saved profile, "
						 "and each task would read it (name it "
						 "in --list)",
						 words[i]);
		} else if (!is_option(words[i])) {
			rc = hlg_err_set(
				err, HLG_EINPUT,
				"%s: is no option that all tasks can have (use "
				"--NAME=VALUE, with the whole name; what is read "
				"and written is the fleet's)",
				words[i]);
		}
	}
	if (rc < 0 || images)
		return rc;
	return hlg_err_set(err, HLG_EINPUT, "no guest ELF is given (name it: guest.elf)");
}

bool hlg_fleet_words_select(const char *word)
{
	const struct hlg_option *option =
		strncmp(word, "--", 2) == 0
			? hlg_options_find(word + 2, strcspn(word + 2, "="))
			: NULL;

	return option && hlg_options_selects(option);
}

int hlg_fleet_words_images(struct hlg_options *options, char *const *words, size_t n,
			   struct hlg_err *err)
{
	char **files = calloc(n + 1, sizeof(*files));
	size_t n_files = 0;
	int rc;

	*options = (struct hlg_options){0};
	if (!files)
		return hlg_err_memory(err, "images");
	for (size_t i = 0; i < n; i++)
		if (words[i][0] != '-')
			files[n_files++] = words[i];
	rc = hlg_images_parse(options, files, n_files, err);
	free(files);
	return rc;
}
