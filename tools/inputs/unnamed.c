// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/unnamed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/grow.h"
#include "tools/beside/beside.h"
#include "tools/feed/again.h"
#include "tools/inputs/proposed.h"

/* Reads which images the words of a side name. False where they cannot be. */
static bool begin(struct hlg_proposed_side *side, const struct hlg_inputs *in)
{
	struct hlg_proposed_names images = {0};
	struct hlg_err err;
	bool ok;

	side->in = in;
	for (int i = 0; i < in->n_words; i++)
		if (hlg_inputs_is_image(in->words[i]))
			hlg_proposed_add(&images, in->words[i]);
	ok = !images.lost && hlg_images_parse(&side->options, (char *const *)images.at,
					      images.n, &err) == 0;
	free(images.at);
	side->moved = calloc(side->options.n_images + 1, sizeof(*side->moved));
	side->wrong = calloc(side->options.n_images + 1, sizeof(*side->wrong));
	return ok && side->moved && side->wrong;
}

static void finish(struct hlg_proposed_side *side)
{
	for (size_t i = 0; i < side->n_guests; i++) {
		free(side->guests[i].noted.file);
		free(side->guests[i].is);
		free(side->guests[i].name);
	}
	free(side->guests);
	for (size_t i = 0; i < side->n_parts; i++) {
		free(side->parts[i].files.at);
		free(side->parts[i].guests);
		free(side->parts[i].missing.at);
	}
	free(side->parts);
	for (size_t i = 0; side->moved && i < side->options.n_images; i++)
		free(side->moved[i]);
	free(side->moved);
	free(side->wrong);
	hlg_options_finish(&side->options);
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

/* Looks which of the images that are named a guest is, else what to name. False without
 * memory. */
static bool look_at(struct hlg_proposed_guest *guest, const struct hlg_options *options,
		    const char *recording)
{
	guest->is = calloc(options->n_images + 1, sizeof(*guest->is));
	for (size_t i = 0; guest->is && i < options->n_images; i++) {
		const struct hlg_image_arg *image = &options->images[i];

		guest->is[i] = !image->map &&
			       hlg_beside_is(&guest->noted, image->path, image->guest);
		guest->named |= guest->is[i];
	}
	if (!guest->named)
		guest->name = hlg_beside_name(&guest->noted, recording);
	if (guest->name)
		shorten(guest->name);
	return guest->is;
}

/* The number of a guest of the side. Its ELF is read once, and not for each recording. */
static size_t number_of(struct hlg_proposed_side *side,
			const struct hlg_beside_guest *noted, const char *recording)
{
	struct hlg_proposed_guest guest = {.noted = *noted};

	for (size_t i = 0; i < side->n_guests; i++)
		if (side->guests[i].noted.other == noted->other &&
		    side->guests[i].noted.print.code == noted->print.code &&
		    strcmp(side->guests[i].noted.file, noted->file) == 0 &&
		    hlg_beside_is_same(&side->guests[i].noted, noted))
			return i;
	guest.noted.file = strdup(noted->file);
	side->lost |= !guest.noted.file || !HLG_GROW(side->guests, side->n_guests);
	if (side->lost) {
		free(guest.noted.file);
		return 0;
	}
	side->lost = !look_at(&guest, &side->options, recording);
	side->guests[side->n_guests] = guest;
	return side->n_guests++;
}

static void add_guest(struct hlg_proposed_side *side, struct hlg_proposed_part *part,
		      size_t number)
{
	const struct hlg_proposed_guest *guest = &side->guests[number];

	/* What else may have run tells no parts apart, unless it is named. */
	if (side->lost || hlg_proposed_has_guest(part, number) ||
	    (guest->noted.other && !guest->named))
		return;
	if (!HLG_GROW(part->guests, part->n_guests)) {
		side->lost = true;
		return;
	}
	part->guests[part->n_guests++] = number;
	part->any |= guest->named;
	if (guest->name)
		hlg_proposed_add_once(&part->missing, guest->name);
}

/* What is noted of a recording, as a part of its own. */
static struct hlg_proposed_part read_part(struct hlg_proposed_side *side,
					  const char *file)
{
	struct hlg_beside beside;
	struct hlg_proposed_part part = {0};
	struct hlg_err err;
	int rc = hlg_beside_read(&beside, file, &err);

	for (size_t i = 0; rc == 0 && i < beside.n_guests; i++)
		add_guest(side, &part, number_of(side, &beside.guests[i], file));
	hlg_beside_finish(&beside);
	return part;
}

static bool are_alike(const struct hlg_proposed_part *a,
		      const struct hlg_proposed_part *b)
{
	for (size_t i = 0; i < a->n_guests; i++)
		if (!hlg_proposed_has_guest(b, a->guests[i]))
			return false;
	return a->n_guests == b->n_guests;
}

/* The part that has just these guests; a new one; NULL without memory. */
static struct hlg_proposed_part *find_part(struct hlg_proposed_side *side,
					   const struct hlg_proposed_part *like)
{
	for (size_t i = 0; i < side->n_parts; i++)
		if (are_alike(&side->parts[i], like))
			return &side->parts[i];
	if (!HLG_GROW(side->parts, side->n_parts)) {
		side->lost = true;
		return NULL;
	}
	side->parts[side->n_parts] = (struct hlg_proposed_part){0};
	return &side->parts[side->n_parts++];
}

/* That of a recording of which nothing is noted: it may have run what others did of which
 * one is named. */
static struct hlg_proposed_part *find_any(struct hlg_proposed_side *side)
{
	for (size_t i = 0; i < side->n_parts; i++)
		if (side->parts[i].any)
			return &side->parts[i];
	return find_part(side, &(struct hlg_proposed_part){0});
}

/* Looks for what the images of a side lack of what is noted of its recordings. whole: it
 * is one part, whatever ran. */
static void look(struct hlg_proposed_side *side, bool whole)
{
	const struct hlg_inputs *in = side->in;
	bool *noted = calloc(in->n_files + 1, sizeof(*noted));

	side->lost |= !noted;
	for (size_t i = 0; noted && i < in->n_files; i++) {
		struct hlg_proposed_part read = read_part(side, in->files[i]);
		struct hlg_proposed_part *part = NULL;

		noted[i] = whole || read.n_guests;
		if (noted[i])
			part = whole && side->n_parts ? side->parts
						      : find_part(side, &read);
		for (size_t k = 0; part && k < read.n_guests; k++)
			add_guest(side, part, read.guests[k]);
		if (part)
			hlg_proposed_add(&part->files, in->files[i]);
		free(read.guests);
		free(read.missing.at);
	}
	for (size_t i = 0; noted && i < in->n_files; i++) {
		struct hlg_proposed_part *part = noted[i] ? NULL : find_any(side);

		if (part)
			hlg_proposed_add(&part->files, in->files[i]);
	}
	free(noted);
}

/* Has the second side images of its own, or the same elsewhere? */
static bool has_own(const struct hlg_proposed_side sides[static 2])
{
	const struct hlg_options *first = &sides[0].options, *second = &sides[1].options;
	bool same = first->n_images == second->n_images;

	for (size_t i = 0; same && i < first->n_images; i++)
		same = strcmp(first->images[i].path, second->images[i].path) == 0 &&
		       first->images[i].base == second->images[i].base;
	return !same;
}

/* Two sides are compared. */
static bool is_pair(const struct hlg_inputs *in)
{
	return in->second && in->second->n_files;
}

/*
 * Is one command line of images wrong for two sides that share theirs? It is if each side
 * is known to have run others. One that nothing is noted of may have run what the other
 * did, unless that is none of those that are named.
 */
static bool are_apart(const struct hlg_proposed_part *first,
		      const struct hlg_proposed_part *second)
{
	bool differ = first->any != second->any || first->missing.n != second->missing.n;

	for (size_t i = 0; !differ && i < first->missing.n; i++)
		differ = !hlg_proposed_has_name(&second->missing, first->missing.at[i]);
	if (!first->any && !first->missing.n)
		return !second->any && second->missing.n;
	if (!second->any && !second->missing.n)
		return !first->any && first->missing.n;
	return differ;
}

/* The first side has what the second one lacks, too. */
static void join(struct hlg_proposed_part *first, struct hlg_proposed_part *second)
{
	first->any |= second->any;
	for (size_t i = 0; i < second->missing.n; i++)
		hlg_proposed_add_once(&first->missing, second->missing.at[i]);
	second->missing.n = 0;
}

/* apart: one is told with its recording, as each side has the same words of both. */
static char *tell(const struct hlg_proposed_side sides[static 2], bool apart,
		  const char *line)
{
	struct hlg_proposed_names missing = {0};
	const char *of = NULL;
	char *text = NULL;

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s].n_parts; i++) {
			const struct hlg_proposed_part *part = &sides[s].parts[i];

			for (size_t k = 0; k < part->missing.n; k++)
				hlg_proposed_add_once(&missing, part->missing.at[k]);
			if (apart && part->missing.n && part->files.n)
				of = of ? "" : part->files.at[0];
		}
	if (missing.n == 1 &&
	    asprintf(&text, "%s, which record noted%s%s, is not named (use%s)",
		     missing.at[0], of && *of ? " of " : "", of ? of : "", line) < 0)
		text = NULL;
	if (missing.n > 1 &&
	    asprintf(&text, "ELFs that record noted are not named (use%s)", line) < 0)
		text = NULL;
	free(missing.at);
	return text;
}

/* What hlg_options.unnamed is. */
static char *find(const void *inputs, const struct hlg_trust *trust)
{
	const struct hlg_inputs *in = inputs;
	const bool pair = is_pair(in);
	struct hlg_proposed_side sides[2] = {0};
	char *text = NULL, *line;
	bool apart;

	if (begin(&sides[0], in) && (!pair || begin(&sides[1], in->second))) {
		look(&sides[0], pair);
		if (pair)
			look(&sides[1], true);
		if (!sides[0].lost && !sides[1].lost) {
			apart = pair && (has_own(sides) ||
					 are_apart(sides[0].parts, sides[1].parts));
			if (pair && !apart)
				join(sides[0].parts, sides[1].parts);
			line = hlg_proposed_commands(sides, pair, apart, trust);
			text = line ? tell(sides, apart, line) : NULL;
			free(line);
		}
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
	struct hlg_proposed_side sides[2] = {0};
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
	options->no_tid = !hlg_inputs_has(in->verb, "tid");
	options->no_sandbox = !hlg_inputs_has(in->verb, "sandbox");
	options->unnamed_of = first;
	if (!first->noted && first->n_images) {
		options->unnamed = find;
		if (is_pair(first) && share(first))
			options->shared = hlg_proposed_option(first);
	}
}
