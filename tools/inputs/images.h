/* SPDX-License-Identifier: GPL-2.0-only */
/* What a file on a command line is; images, for verbs that have no other key=value. */
#ifndef HLG_TOOLS_INPUTS_IMAGES_H
#define HLG_TOOLS_INPUTS_IMAGES_H

#include "filter/options/options.h"
#include "filter/run.h"
#include "symtab/image/space.h"

/*
 * *image becomes word as hlg_options_parse() takes an image, to be freed: snapshots are
 * resolved (snapshot.h), and a file called gaps=drop is no option: it has `./` in front.
 */
int hlg_images_word(char **image, const char *word, struct hlg_err *err);

/* May word be FILE@BASE or FILE@snapshot:DIR? */
bool hlg_images_has_base(const char *word);

/*
 * Takes the n words FILE[@BASE] or map:FILE[@BASE] apart into options->images; other
 * options keep their defaults. Words that make no sense are HLG_EWORDS. The caller
 * finishes *options in any case.
 */
int hlg_images_parse(struct hlg_options *options, char *const *words, size_t n,
		     struct hlg_err *err);

/* Starts a run (hlg_run_start_apart) with such words. */
int hlg_images_start_apart(struct hlg_run *run, char *const *words, size_t n,
			   struct hlg_err *err);

/*
 * Opens the images that the words name into *space (empty before) and settles it. The
 * caller finishes it in any case.
 */
int hlg_images_open(struct hlg_space *space, char *const *words, size_t n,
		    struct hlg_err *err);

/* The same, where images may lie at the same addresses: in lanes (hlg_space_part). */
int hlg_images_open_apart(struct hlg_space *space, char *const *words, size_t n,
			  struct hlg_err *err);

/*
 * Fails if out cannot be written, or is one of the n images (filter/output/target.h).
 * NULL and "-" are standard output.
 */
int hlg_images_check_out(char *const *words, size_t n, const char *out,
			 struct hlg_err *err);

/* What an argument seems to be, by its shape and the first bytes of the file. */
enum hlg_file_kind {
	HLG_FILE_KIND_RECORDING, /* or a saved profile, standard input, a FIFO */
	HLG_FILE_KIND_IMAGE,     /* an ELF; map:FILE and FILE@BASE whatever they are */
	HLG_FILE_KIND_FOLDER,    /* but not of a recording */
	HLG_FILE_KIND_OTHER,     /* among them what does not exist, or may not be read */
};

/* Takes nothing from what can be read only once. */
enum hlg_file_kind hlg_images_file_kind(const char *path);

#endif
