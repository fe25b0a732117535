// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/unnamed.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/grow.h"
#include "symtab/shell.h"
#include "tools/beside/beside.h"
#include "tools/feed/again.h"

enum {
	MANY = 8 /* recordings: of more the command is not told whole */
};

/* Files to be named. The strings are not all owned: words is but the list. */
struct names {
	char **at;
	size_t n;
	bool lost; /* for want of memory */
};

/* A side of a command line: its words, and what they lack. */
struct side {
	const struct hlg_inputs *in;
	struct hlg_options options; /* of the images that it names */
	struct names missing;       /* owned */
	struct names moved;         /* owned: words of images where samples fit */
	bool any;                   /* one that is named was noted */
};

static void add(struct names *names, const char *name)
{
	if (!HLG_GROW(names->at, names->n))
		names->lost = true;
	else
		names->at[names->n++] = (char *)name;
}

/* Reads which images the words of a side name. False where they cannot be. */
static bool begin(struct side *side, const struct hlg_inputs *in)
{
	struct names images = {0};
	struct hlg_err err;
	bool ok;

	side->in = in;
	for (int i = 0; i < in->n_words; i++)
		if (hlg_inputs_is_image(in->words[i]))
			add(&images, in->words[i]);
	ok = !images.lost &&
	     hlg_images_parse(&side->options, images.at, images.n, &err) == 0;
	free(images.at);
	return ok;
}

static void forget(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	free(names->at);
}

static void finish(struct side *side)
{
	forget(&side->missing);
	forget(&side->moved);
	hlg_options_finish(&side->options);
}

static bool is_named(const struct side *side, const struct hlg_beside_guest *guest)
{
	for (size_t i = 0; i < side->options.n_images; i++) {
		const struct hlg_image_arg *image = &side->options.images[i];

		if (!image->map && hlg_beside_is(guest, image->path, image->guest))
			return true;
	}
	return false;
}

/* Makes a path what the user would write: from this folder on, if the file is in it, and
 * not what would be read as an option. */
static void shorten(char *path)
{
	static char here[PATH_MAX];
	size_t n = getcwd(here, sizeof(here)) ? strlen(here) : 0;

	if (n <= 1 || strncmp(path, here, n) != 0 || path[n] != '/')
		return;
	if (path[n + 1] == '-')
		path[--n] = '.';
	else
		n++;
	memmove(path, path + n, strlen(path + n) + 1);
}

/* Takes name over, unless it is there. */
static void add_missing(struct names *missing, char *name)
{
	for (size_t i = 0; i < missing->n; i++)
		if (strcmp(missing->at[i], name) == 0) {
			free(name);
			return;
		}
	add(missing, name);
	if (missing->lost)
		free(name);
}

/* Guests that were looked at, whose files are owned. */
struct seen {
	struct hlg_beside_guest *at;
	size_t n;
};

/* Was it looked at before? Its ELF is read once, and not for each recording. */
static bool is_seen(struct seen *seen, const struct hlg_beside_guest *guest)
{
	struct hlg_beside_guest copy = *guest;

	for (size_t i = 0; i < seen->n; i++)
		if (seen->at[i].print.code == guest->print.code &&
		    strcmp(seen->at[i].file, guest->file) == 0 &&
		    hlg_beside_is_same(&seen->at[i], guest))
			return true;
	copy.file = strdup(guest->file);
	if (copy.file && HLG_GROW(seen->at, seen->n))
		seen->at[seen->n++] = copy;
	else
		free(copy.file);
	return false;
}

static void forget_seen(struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++)
		free(seen->at[i].file);
	free(seen->at);
}

/* Looks for what the images of a side lack of what is noted of its recordings. */
static void look(struct side *side)
{
	const struct hlg_inputs *in = side->in;
	struct seen seen = {0};

	for (size_t i = 0; i < in->n_files; i++) {
		struct hlg_beside beside;
		struct hlg_err err;
		int rc = hlg_beside_read(&beside, in->files[i], &err);

		for (size_t k = 0; rc == 0 && k < beside.n_guests; k++) {
			const struct hlg_beside_guest *guest = &beside.guests[k];
			bool named;
			char *name;

			if (is_seen(&seen, guest))
				continue;
			named = is_named(side, guest);
			name = named ? NULL : hlg_beside_name(guest, in->files[i]);
			side->any |= named;
			if (!name)
				continue;
			shorten(name);
			add_missing(&side->missing, name);
		}
		hlg_beside_finish(&beside);
	}
	forget_seen(&seen);
}

/* Has the second side images of its own, or the same elsewhere? */
static bool has_own(const struct side sides[static 2])
{
	const struct hlg_options *first = &sides[0].options, *second = &sides[1].options;
	bool same = first->n_images == second->n_images;

	for (size_t i = 0; same && i < first->n_images; i++)
		same = strcmp(first->images[i].path, second->images[i].path) == 0 &&
		       first->images[i].base == second->images[i].base;
	return !same;
}

static bool is_pair(const struct hlg_inputs *in)
{
	return hlg_inputs_is_pair(in) && in->second->n_files;
}

static bool has_missing(const struct side *side, const char *name)
{
	for (size_t i = 0; i < side->missing.n; i++)
		if (strcmp(side->missing.at[i], name) == 0)
			return true;
	return false;
}

/*
 * Is one command line of images wrong for two sides that share theirs? It is if each side
 * is known to have run others. One that nothing is noted of may have run what the other
 * did, unless that is none of those that are named.
 */
static bool are_apart(const struct side sides[static 2])
{
	const struct side *first = &sides[0], *second = &sides[1];
	bool differ = first->any != second->any || first->missing.n != second->missing.n;

	for (size_t i = 0; !differ && i < first->missing.n; i++)
		differ = !has_missing(second, first->missing.at[i]);
	for (int s = 0; s < 2; s++)
		if (!sides[s].any && !sides[s].missing.n)
			return !sides[!s].any && sides[!s].missing.n;
	return differ;
}

/* Both sides have what one of them lacks. */
static void join(struct side sides[static 2])
{
	struct names *from = &sides[1].missing;

	sides[0].any |= sides[1].any;
	for (size_t i = 0; i < from->n; i++)
		add_missing(&sides[0].missing, from->at[i]);
	from->n = 0;
}

/* The word of an image where samples fit, to be freed; NULL: as it is named. */
static char *word_at(const struct hlg_image_arg *image, uint64_t base)
{
	char guest[32] = "", *word;

	if (base == UINT64_MAX || hlg_options_states_who(image))
		return NULL;
	if (image->guest)
		snprintf(guest, sizeof(guest), "@guest=%zu", image->guest);
	return asprintf(&word, "%s%s@0x%" PRIx64, image->path, guest, base) < 0 ? NULL
										: word;
}

/* What is proposed has each image where samples fit, if that is not where it is named. */
static void move(struct side *side, const uint64_t *bases, size_t n)
{
	for (size_t i = 0; n == side->options.n_images && i < n; i++) {
		char *word = word_at(&side->options.images[i], bases[i]);

		add(&side->moved, word);
		if (side->moved.lost)
			free(word);
	}
}

/* Where no ELF that is named was noted, these are others than those that ran. */
static void put_images(struct names *words, const struct side *side)
{
	for (size_t i = 0, n = 0; i < (size_t)side->in->n_words; i++) {
		const struct hlg_image_arg *image = &side->options.images[n];
		const char *moved = NULL;

		if (!hlg_inputs_is_image(side->in->words[i]))
			continue;
		if (n < side->moved.n)
			moved = side->moved.at[n];
		n++;
		if (image->map || side->any || !side->missing.n)
			add(words, moved ? moved : side->in->words[i]);
	}
	for (size_t i = 0; i < side->missing.n; i++)
		add(words, side->missing.at[i]);
}

static void put_files(struct names *words, const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_files && !in->by_default && i < MANY; i++)
		add(words, in->files[i]);
	if (in->n_files > MANY)
		add(words, "...");
}

/* "hlguest diff a.elf b.elf before.data after.data", to be freed; NULL without memory.
 * apart: each of a pair has its own images. */
static char *command(const struct side *sides, bool pair, bool apart)
{
	const struct hlg_inputs *in = sides[0].in;
	struct names words = {0};
	char *line = NULL;

	add(&words, "hlguest");
	add(&words, in->verb->name);
	put_images(&words, &sides[0]);
	put_files(&words, in);
	if (pair && (in->behind || apart))
		add(&words, "--after");
	if (apart)
		put_images(&words, &sides[1]);
	if (pair)
		put_files(&words, sides[1].in);
	add(&words, NULL);
	if (!words.lost)
		line = hlg_shell_words((const char *const *)words.at);
	free(words.at);
	return line;
}

static char *tell(const struct side *sides, bool pair, bool apart)
{
	const size_t n = sides[0].missing.n + sides[1].missing.n;
	const char *first = sides[!sides[0].missing.n].missing.at[0];
	char *line = command(sides, pair, apart), *text = NULL;

	if (line && n == 1 &&
	    asprintf(&text, "%s, which record noted, is not named (use%s)", first, line) <
		    0)
		text = NULL;
	if (line && n > 1 &&
	    asprintf(&text, "ELFs that record noted are not named (use%s)", line) < 0)
		text = NULL;
	free(line);
	return text;
}

/* What hlg_options.unnamed is. */
static char *find(const void *inputs, const uint64_t *bases, size_t n)
{
	const struct hlg_inputs *in = inputs;
	const bool pair = is_pair(in);
	struct side sides[2] = {0};
	char *text = NULL;
	bool ok = begin(&sides[0], in) && (!pair || begin(&sides[1], in->second)), apart;

	if (ok) {
		look(&sides[0]);
		if (pair)
			look(&sides[1]);
		apart = pair && (has_own(sides) || are_apart(sides));
		if (pair && !apart)
			join(sides);
		/* Of two sides nothing says which is asked for. */
		if (!apart)
			move(&sides[0], bases, n);
		if (sides[0].missing.n + sides[1].missing.n)
			text = tell(sides, pair, apart);
	}
	finish(&sides[0]);
	finish(&sides[1]);
	return text;
}

/* What hlg_options.again is. */
static char *again(const void *inputs)
{
	const struct hlg_inputs *in = inputs;
	const bool one = in->n_files == 1 && !(in->second && in->second->n_files);

	return hlg_feed_again(one ? in->files[0] : "-");
}

/* Have both sides of a pair one command line of images? */
static bool share(const struct hlg_inputs *in)
{
	struct side sides[2] = {0};
	const bool ok = begin(&sides[0], in) && begin(&sides[1], in->second),
		   own = ok && has_own(sides);

	finish(&sides[0]);
	finish(&sides[1]);
	return ok && !own;
}

void hlg_unnamed_ask(const struct hlg_inputs *in, struct hlg_options *options)
{
	const struct hlg_inputs *first = in->first ? in->first : in;

	options->again = again;
	options->unnamed_of = first;
	if (!first->noted && first->n_images) {
		options->unnamed = find;
		options->shared = is_pair(first) && share(first);
	}
}
