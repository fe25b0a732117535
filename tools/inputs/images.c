// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/output/out.h"
#include "filter/output/target.h"
#include "filter/run.h"
#include "tools/pprof/pprof.h"

/* A file called gaps=drop is no option here: `./` in front makes it a file for all. */
static char *as_image(const char *word)
{
	const char *equals = strchr(word, '=');
	char *image;

	if (!equals || memchr(word, '/', (size_t)(equals - word)) ||
	    strncmp(word, "map:", 4) == 0)
		return strdup(word);
	return asprintf(&image, "./%s", word) < 0 ? NULL : image;
}

static void free_words(char **words, size_t n)
{
	for (size_t i = 0; words && i < n; i++)
		free(words[i]);
	free(words);
}

/* The words as images, to be freed; NULL: no memory. */
static char **as_images(char *const *words, size_t n)
{
	char **images = calloc(n + 1, sizeof(*images));
	bool whole = images != NULL;

	for (size_t i = 0; whole && i < n; i++) {
		images[i] = as_image(words[i]);
		whole = images[i] != NULL;
	}
	if (whole)
		return images;
	free_words(images, n);
	return NULL;
}

int hlg_images_parse(struct hlg_options *options, char *const *words, size_t n,
		     struct hlg_err *err)
{
	char **images = as_images(words, n);
	int rc;

	*options = (struct hlg_options){0};
	rc = images ? hlg_options_parse(options, (int)n, images, err)
		    : hlg_err_memory(err, "arguments");
	free_words(images, n);
	return rc;
}

int hlg_images_start(struct hlg_run *run, char *const *words, size_t n,
		     struct hlg_err *err)
{
	char **images = as_images(words, n);
	int rc = images ? hlg_run_start(run, (int)n, images, err)
			: hlg_err_memory(err, "arguments");

	free_words(images, n);
	return rc;
}

int hlg_images_check_out(char *const *words, size_t n, const char *out,
			 struct hlg_err *err)
{
	struct hlg_options options;
	int rc = hlg_images_parse(&options, words, n, err);

	for (size_t i = 0; rc == 0 && i < options.n_images; i++)
		rc = hlg_target_check_input(out, options.images[i].path, err);
	hlg_options_finish(&options);
	return rc < 0 ? rc : hlg_out_check(out, HLG_MAGIC_NONE, err);
}

int hlg_images_open(struct hlg_space *space, char *const *words, size_t n,
		    struct hlg_err *err)
{
	struct hlg_options options;
	int rc = hlg_images_parse(&options, words, n, err);

	for (size_t i = 0; rc == 0 && i < options.n_images; i++) {
		struct hlg_image *image;

		rc = hlg_run_open_image(&image, &options.images[i], err);
		if (rc == 0)
			rc = hlg_space_add(space, image, err);
	}
	hlg_options_finish(&options);
	return rc < 0 ? rc : hlg_space_settle(space, err);
}

/* perf record --threads makes folders, with a file data in them. */
static bool holds_recording(const char *folder)
{
	char data[4096];
	struct stat st;

	return snprintf(data, sizeof(data), "%s/data", folder) < (int)sizeof(data) &&
	       stat(data, &st) == 0 && S_ISREG(st.st_mode);
}

enum hlg_file_kind hlg_images_file_kind(const char *path)
{
	struct stat st = {0};
	enum hlg_magic magic;

	if (strcmp(path, "-") == 0)
		return HLG_FILE_KIND_RECORDING;
	/* Of what is not there, or not to be asked, st stays empty. */
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return holds_recording(path) ? HLG_FILE_KIND_RECORDING
					     : HLG_FILE_KIND_FOLDER;
	if (S_ISFIFO(st.st_mode))
		return HLG_FILE_KIND_RECORDING;
	magic = hlg_target_magic(path);
	if (magic == HLG_MAGIC_RECORDING || hlg_pprof_is(path))
		return HLG_FILE_KIND_RECORDING;
	if (magic == HLG_MAGIC_ELF || strncmp(path, "map:", 4) == 0 || strchr(path, '@'))
		return HLG_FILE_KIND_IMAGE;
	return HLG_FILE_KIND_OTHER;
}
