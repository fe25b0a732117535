// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/output/out.h"
#include "filter/output/target.h"
#include "filter/run.h"
#include "symtab/image/base.h"
#include "tools/inputs/snapshot.h"
#include "tools/pprof/pprof.h"

int hlg_images_word(char **image, const char *word, struct hlg_err *err)
{
	const char *equals = strchr(word, '=');
	int rc = hlg_snapshot_word(image, word, err);

	if (rc < 0 || *image)
		return rc;
	if (strncmp(word, "--", 2) != 0 &&
	    (!equals || memchr(word, '/', (size_t)(equals - word)) ||
	     strncmp(word, "map:", 4) == 0))
		*image = strdup(word);
	else if (asprintf(image, "./%s", word) < 0)
		*image = NULL;
	return *image ? 0 : hlg_err_memory(err, "arguments");
}

static void free_words(char **words, size_t n)
{
	for (size_t i = 0; words && i < n; i++)
		free(words[i]);
	free(words);
}

/* The words as images, to be freed. */
static int as_images(char ***images, char *const *words, size_t n, struct hlg_err *err)
{
	int rc = 0;

	*images = calloc(n + 1, sizeof(**images));
	if (!*images)
		return hlg_err_memory(err, "arguments");
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = hlg_images_word(&(*images)[i], words[i], err);
	if (rc < 0) {
		free_words(*images, n);
		*images = NULL;
	}
	return rc;
}

int hlg_images_parse(struct hlg_options *options, char *const *words, size_t n,
		     struct hlg_err *err)
{
	char **images;
	int rc = as_images(&images, words, n, err);

	*options = (struct hlg_options){0};
	if (rc == 0)
		rc = hlg_options_parse(options, (int)n, images, err);
	if (images && rc == HLG_EINPUT)
		rc = err->code = HLG_EWORDS;
	free_words(images, n);
	return rc;
}

int hlg_images_start_apart(struct hlg_run *run, char *const *words, size_t n,
			   struct hlg_err *err)
{
	char **images;
	int rc = as_images(&images, words, n, err);

	if (rc == 0)
		rc = hlg_run_start_apart(run, (int)n, images, err);
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

static int add_images(struct hlg_space *space, char *const *words, size_t n,
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
	return rc;
}

int hlg_images_open(struct hlg_space *space, char *const *words, size_t n,
		    struct hlg_err *err)
{
	int rc = add_images(space, words, n, err);

	return rc < 0 ? rc : hlg_space_settle(space, err);
}

int hlg_images_open_apart(struct hlg_space *space, char *const *words, size_t n,
			  struct hlg_err *err)
{
	int rc = add_images(space, words, n, err);

	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		rc = hlg_base_decide(space->images[i], err);
	return rc < 0 ? rc : hlg_space_part(space, err);
}

/* perf record --threads makes folders, with a file data in them. */
static bool holds_recording(const char *folder)
{
	char data[4096];
	struct stat st;

	return snprintf(data, sizeof(data), "%s/data", folder) < (int)sizeof(data) &&
	       stat(data, &st) == 0 && S_ISREG(st.st_mode);
}

bool hlg_images_has_base(const char *word)
{
	return hlg_options_base(word) || strstr(word, "@snapshot:");
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
	if (magic == HLG_MAGIC_ELF || strncmp(path, "map:", 4) == 0 ||
	    hlg_images_has_base(path))
		return HLG_FILE_KIND_IMAGE;
	return HLG_FILE_KIND_OTHER;
}
