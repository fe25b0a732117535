// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/sorting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "symtab/file.h"
#include "tools/cli/argp-run.h"
#include "tools/inputs/noted.h"
#include "tools/perfdata/perfdata.h"
#include "tools/pprof/pprof.h"

const struct hlg_verb_option *hlg_inputs_own_word(const struct hlg_verb *verb)
{
	const struct hlg_verb_option *option = verb->options;

	while (option && option->name)
		option++;
	return option && option->kind ? option : NULL;
}

/* Is it for the verb itself? Neither is there a file of that name nor a / in it. */
static bool is_own(const struct hlg_inputs *in, const struct hlg_inputs_other *other)
{
	return hlg_inputs_own_word(in->verb) && other->kind == HLG_FILE_KIND_OTHER &&
	       !strchr(other->word, '/') && access(other->word, F_OK) != 0;
}

static bool ends_with(const char *word, const char *end)
{
	size_t n = strlen(word), n_end = strlen(end);

	return n >= n_end && strcmp(word + n - n_end, end) == 0;
}

/*
 * Is what is not there the name of a recording, rather than a mistyped ELF? Where an ELF
 * is named anything may be one but what is called as ELFs are; else by its own name.
 */
static bool seems_recording(const char *word, bool named)
{
	static const char *const images[] = {".elf", ".so",    ".o",     ".bin",
					     ".dbg", ".debug", ".cwasm", ".aot"};
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;

	if (strstr(name, ".data") || ends_with(name, ".gz"))
		return true;
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		if (ends_with(name, images[i]))
			return false;
	return named;
}

/* Nothing is reported of what was meant for something else. */
static int check_there(const char *word, bool named, struct hlg_err *err)
{
	return seems_recording(word, named) ? 0 : hlg_inputs_check_there(word, err);
}

static bool has_word(const struct hlg_inputs *in, const char *word)
{
	for (int i = 0; i < in->n_words; i++)
		if (strcmp(in->words[i], word) == 0)
			return true;
	return false;
}

/* Takes the ELFs that record noted beside n recordings of a side that names none. */
static int take_noted(struct hlg_inputs *in, char *const *files, size_t n,
		      struct hlg_err *err)
{
	struct hlg_noted noted;
	int rc = hlg_noted_find(&noted, files, n, err);

	for (size_t i = 0; rc == 0 && i < noted.n; i++)
		if (!has_word(in, noted.paths[i]))
			rc = hlg_inputs_add_image(in, noted.paths[i], err);
	in->noted = in->n_images > 0;
	hlg_noted_finish(&noted);
	return rc;
}

/* Is an image named? Of two sides by either. */
static bool names_image(const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind == HLG_FILE_KIND_IMAGE)
			return true;
	return in->second && names_image(in->second);
}

/* May a word that is a file not be read? Then what it is is not known. */
static bool is_denied(const struct hlg_inputs *in, struct hlg_err *err)
{
	for (size_t i = 0; i < in->n_others; i++) {
		const char *word = in->others[i].word;

		if (in->others[i].kind == HLG_FILE_KIND_OTHER &&
		    access(word, F_OK) == 0 && access(word, R_OK) != 0) {
			hlg_file_fail(word, errno, err);
			return true;
		}
	}
	return in->second && is_denied(in->second, err);
}

/*
 * Where no image is named: those that are noted of the recordings, of two sides of the
 * first one's. What cannot be used is an error only if an image is needed.
 */
static int find_noted(struct hlg_inputs *in, struct hlg_err *err)
{
	char standard[] = HLG_INPUTS_DEFAULT, *only = NULL;
	struct hlg_err why;
	size_t n = 0;
	int rc = 0;

	if (names_image(in))
		return 0;
	rc = take_noted(in, in->files, in->n_files, &why);
	for (size_t i = 0; rc == 0 && i < in->n_others; i++) {
		if (in->others[i].kind != HLG_FILE_KIND_RECORDING)
			continue;
		only = in->others[i].word;
		rc = take_noted(in, &only, 1, &why);
		n++;
		if (hlg_inputs_is_pair(in) && !in->behind)
			break;
	}
	if (rc == 0 && in->n_files + n == 0 && !is_denied(in, &in->missing)) {
		only = standard;
		rc = take_noted(in, &only, 1, &why);
	}
	if (rc == HLG_EINPUT)
		in->not_noted = why;
	else if (rc < 0)
		*err = why;
	return rc == HLG_EINPUT ? 0 : rc;
}

/*
 * Images and recordings in any order. What is neither: where an image is named on either
 * side, a recording that cannot be read; else the first is an image that cannot. One that
 * does not exist and is not named like a recording is a mistake.
 */
static int sort(struct hlg_inputs *in, bool images, bool named, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < in->n_others; i++)
		if (in->others[i].kind == HLG_FILE_KIND_IMAGE)
			rc = hlg_inputs_add_image(in, in->others[i].word, err);
	for (size_t i = 0; rc == 0 && i < in->n_others; i++) {
		const struct hlg_inputs_other *other = &in->others[i];

		if (other->kind == HLG_FILE_KIND_OTHER && !images && in->n_images == 0) {
			rc = hlg_inputs_add_image(in, other->word, err);
		} else if (is_own(in, other)) {
			rc = hlg_argp_run_set(in, hlg_inputs_own_word(in->verb),
					      other->word, err);
			if (rc == 0)
				rc = hlg_inputs_keep_own(in, other->word, err);
		} else if (other->kind != HLG_FILE_KIND_IMAGE) {
			if (check_there(other->word, named, &in->missing) == 0)
				rc = hlg_inputs_add_file(in, other->word, err);
		}
	}
	return rc;
}

/*
 * Without --after, two recordings are the sides. An image in between might be meant for
 * either.
 */
static int part_pair(struct hlg_inputs *in, struct hlg_err *err)
{
	bool met = false;
	size_t left = in->n_files;
	int rc = 0;

	for (size_t i = 0; i < in->n_others; i++) {
		bool image = in->others[i].kind == HLG_FILE_KIND_IMAGE;

		if (image && met && left)
			return hlg_err_set(
				err, HLG_EINPUT,
				"%s: an image between recordings (put --after in front "
				"of it if it is the build of the second side)",
				in->others[i].word);
		met = met || !image;
		left -= !image && left;
	}
	if (in->n_files > 2)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a third recording (put --after in front of "
				   "the first recording of the second side)",
				   in->files[2]);
	if (in->n_files == 2) {
		rc = hlg_inputs_add_file(in->second, in->files[1], err);
		free(in->files[--in->n_files]);
	}
	return rc;
}

/* Saved profiles do without images; what is read only once is not looked into. */
static bool are_saved(const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind != HLG_FILE_KIND_RECORDING ||
		    !hlg_perfdata_is_kept(in->others[i].word) ||
		    !hlg_pprof_is(in->others[i].word))
			return false;
	return true;
}

/* Has each side a recording? A word that is no file's may have been meant for one. */
static int check_sides(struct hlg_inputs *in, struct hlg_err *err)
{
	const struct hlg_inputs *second = in->second;
	int rc = 0;

	if (in->n_files && second->n_files)
		return 0;
	for (size_t i = 0; rc == 0 && i < in->n_others; i++)
		rc = hlg_inputs_check_there(in->others[i].word, &in->missing);
	for (size_t i = 0; rc == 0 && i < second->n_others; i++)
		rc = hlg_inputs_check_there(second->others[i].word, &in->missing);
	if (rc < 0)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s (use guest.elf before.data after.data, or "
			   "guest.elf BEFORE... --after AFTER...)",
			   in->n_files || second->n_files ? "one side has no recording"
							  : "no recording is given");
}

/* Gives the second side what it has no words for. */
static int part(struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_inputs *second = in->second;
	bool pair = hlg_inputs_is_pair(in);
	int rc = 0;

	if (in->missing.msg[0])
		return 0;
	in->no_images = pair && in->n_images == 0 && in->n_others && are_saved(in) &&
			are_saved(second);
	if (in->n_images == 0 && !in->no_images) /* which is told later */
		return 0;
	if (pair && !in->behind)
		rc = part_pair(in, err);
	if (rc == 0)
		rc = sort(second, in->n_images, names_image(in), err);
	if (second->missing.msg[0]) {
		in->missing = second->missing;
		return rc;
	}
	if (rc == 0 && in->noted && second->n_images == 0)
		rc = take_noted(second, second->files, second->n_files, err);
	for (int i = 0; rc == 0 && i < in->n_words && second->n_images == 0; i++)
		if (hlg_inputs_is_image(in->words[i]))
			rc = hlg_inputs_add_word(second, in->words[i], err);
	if (second->n_images == 0)
		second->n_images = in->n_images;
	return rc < 0 || !pair ? rc : check_sides(in, err);
}

/* Adds what the list names. One that cannot be read is no matter of words. */
static int take_list(struct hlg_inputs *in, struct hlg_err *err)
{
	char is[HLG_SHA256_TEXT], meant[HLG_SHA256_TEXT];
	struct hlg_list list;
	int rc = 0;

	if (!in->list && (in->nul || in->listed))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is of a list, and none is given (use "
				   "--input-list=FILE)",
				   in->nul ? "-0" : "--list-digest");
	if (!in->list)
		return 0;
	if (hlg_list_read(&list, in->list, in->nul, &in->missing) == 0 && in->listed &&
	    memcmp(list.digest, in->digest, sizeof(in->digest)) != 0) {
		hlg_sha256_print(is, list.digest);
		hlg_sha256_print(meant, in->digest);
		hlg_err_set(&in->missing, HLG_EINPUT,
			    "%s: is another list than was meant: its SHA-256 is %s, not "
			    "%s (has it changed?)",
			    in->list, is, meant);
	}
	for (size_t i = 0; rc == 0 && i < list.n && !in->missing.msg[0]; i++)
		rc = hlg_inputs_add_file(in, list.names[i], err);
	hlg_list_finish(&list);
	return rc;
}

int hlg_inputs_sort(void *arguments, struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;
	int rc = take_list(in, err);

	if (rc == 0 && !in->missing.msg[0])
		rc = find_noted(in, err);
	if (rc == 0)
		rc = sort(in, in->n_images || in->not_noted.msg[0], names_image(in), err);
	if (rc == 0 && in->second)
		rc = part(in, err);
	return rc == 0 && in->verb->check && !in->missing.msg[0]
		       ? in->verb->check(arguments, err)
		       : rc;
}
