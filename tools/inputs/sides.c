// SPDX-License-Identifier: GPL-2.0-only
/* The words of a verb that compares: which of them are of which side. */
#include <stdlib.h>
#include <string.h>

#include "tools/inputs/input-words.h"
#include "tools/pprof/pprof.h"

/*
 * Without --after, two recordings are the sides. An image in between might be meant for
 * either.
 */
static void part_pair(struct hlg_inputs *in, struct argp_state *state)
{
	bool met = false;
	size_t left = in->n_files;

	for (size_t i = 0; i < in->n_others; i++) {
		bool image = in->others[i].kind == HLG_FILE_KIND_IMAGE;

		if (image && met && left)
			argp_error(state,
				   "%s: stands between recordings (say --after in front "
				   "of it if it is the build after)",
				   in->others[i].word);
		met = met || !image;
		left -= !image && left;
	}
	if (in->n_files > 2)
		argp_error(state,
			   "%s: is a third recording (say --after in front of "
			   "the first recording after)",
			   in->files[2]);
	if (in->n_files == 2) {
		hlg_inputs_add_file(in->after, in->files[1]);
		free(in->files[--in->n_files]);
	}
}

/* Saved profiles do without images; what is read only once is not looked into. */
static bool are_saved(const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind != HLG_FILE_KIND_RECORDING ||
		    strcmp(in->others[i].word, "-") == 0 ||
		    !hlg_pprof_is(in->others[i].word))
			return false;
	return true;
}

/* Both sides have images, and each its recordings. */
void hlg_inputs_part(struct hlg_inputs *in, struct argp_state *state)
{
	struct hlg_inputs *after = in->after;

	in->no_images =
		in->n_images == 0 && in->n_others && are_saved(in) && are_saved(after);
	if (in->n_images == 0 && !in->no_images) /* which is told later */
		return;
	if (!in->behind)
		part_pair(in, state);
	/* What is neither is no image if the other side has some. */
	after->n_images += in->n_images;
	hlg_inputs_sort(after);
	after->n_images -= in->n_images;
	for (int i = 0; i < in->n_words && after->n_images == 0; i++)
		if (strncmp(in->words[i], "--", 2) != 0)
			hlg_inputs_add_word(after, strdup(in->words[i]));
	if (after->n_images == 0)
		after->n_images = in->n_images;
	if (in->n_files == 0 || after->n_files == 0)
		argp_error(state,
			   "%s (say guest.elf before.data after.data, or guest.elf "
			   "BEFORE... --after AFTER...)",
			   in->n_files || after->n_files ? "one side has no recording"
							 : "no recording is given");
}
