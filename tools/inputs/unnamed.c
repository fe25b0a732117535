// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/unnamed.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/memstream.h"
#include "filter/output/target.h"
#include "filter/trust/trust.h"
#include "symtab/grow.h"
#include "symtab/shell.h"
#include "tools/beside/beside.h"
#include "tools/feed/again.h"

enum {
	MANY = 8, /* recordings: of more the command is not told whole */
	PARTS = 4 /* and of parts with guests of their own that have a command each */
};

/* Words of a command. The strings are not owned. */
struct names {
	const char **at;
	size_t n;
	bool lost; /* for want of memory */
};

/* A guest that record noted, of one recording or more; or what else may be one, which
 * lacks nothing if it is not named. */
struct guest {
	struct hlg_beside_guest noted; /* its file is owned */
	bool *is;                      /* of each image that is named: is it this one? */
	bool named;                    /* any is */
	char *name;                    /* else what to name; NULL: that cannot be told */
};

/* Recordings of a side of which the same guests are noted. */
struct part {
	struct names files;
	size_t *guests; /* numbers of the side's, each once */
	size_t n_guests;
	struct names missing; /* what to name of these */
	bool any;             /* one of them is named */
};

/* A side of a command line: its words, and what they lack. */
struct side {
	const struct hlg_inputs *in;
	struct hlg_options options; /* of the images that it names */
	struct guest *guests;
	size_t n_guests;
	struct part *parts;
	size_t n_parts;
	char **moved; /* words of images where samples fit; NULL: as it is named */
	bool *wrong;  /* of each image: others ran, as all that tells says */
	bool lost;    /* for want of memory */
};

static void add(struct names *names, const char *name)
{
	if (!HLG_GROW(names->at, names->n))
		names->lost = true;
	else
		names->at[names->n++] = name;
}

static bool has_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->at[i], name) == 0)
			return true;
	return false;
}

static void add_once(struct names *names, const char *name)
{
	if (!has_name(names, name))
		add(names, name);
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
	ok = !images.lost && hlg_images_parse(&side->options, (char *const *)images.at,
					      images.n, &err) == 0;
	free(images.at);
	side->moved = calloc(side->options.n_images + 1, sizeof(*side->moved));
	side->wrong = calloc(side->options.n_images + 1, sizeof(*side->wrong));
	return ok && side->moved && side->wrong;
}

static void finish(struct side *side)
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
static bool look_at(struct guest *guest, const struct hlg_options *options,
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
static size_t number_of(struct side *side, const struct hlg_beside_guest *noted,
			const char *recording)
{
	struct guest guest = {.noted = *noted};

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

static bool has(const struct part *part, size_t guest)
{
	for (size_t i = 0; i < part->n_guests; i++)
		if (part->guests[i] == guest)
			return true;
	return false;
}

static void add_guest(struct side *side, struct part *part, size_t number)
{
	const struct guest *guest = &side->guests[number];

	/* What else may have run tells no parts apart, unless it is named. */
	if (side->lost || has(part, number) || (guest->noted.other && !guest->named))
		return;
	if (!HLG_GROW(part->guests, part->n_guests)) {
		side->lost = true;
		return;
	}
	part->guests[part->n_guests++] = number;
	part->any |= guest->named;
	if (guest->name)
		add_once(&part->missing, guest->name);
}

/* What is noted of a recording, as a part of its own. */
static struct part read_part(struct side *side, const char *file)
{
	struct hlg_beside beside;
	struct part part = {0};
	struct hlg_err err;
	int rc = hlg_beside_read(&beside, file, &err);

	for (size_t i = 0; rc == 0 && i < beside.n_guests; i++)
		add_guest(side, &part, number_of(side, &beside.guests[i], file));
	hlg_beside_finish(&beside);
	return part;
}

static bool are_alike(const struct part *a, const struct part *b)
{
	for (size_t i = 0; i < a->n_guests; i++)
		if (!has(b, a->guests[i]))
			return false;
	return a->n_guests == b->n_guests;
}

/* The part that has just these guests; a new one; NULL without memory. */
static struct part *find_part(struct side *side, const struct part *like)
{
	for (size_t i = 0; i < side->n_parts; i++)
		if (are_alike(&side->parts[i], like))
			return &side->parts[i];
	if (!HLG_GROW(side->parts, side->n_parts)) {
		side->lost = true;
		return NULL;
	}
	side->parts[side->n_parts] = (struct part){0};
	return &side->parts[side->n_parts++];
}

/* That of a recording of which nothing is noted: it may have run what others did of which
 * one is named. */
static struct part *find_any(struct side *side)
{
	for (size_t i = 0; i < side->n_parts; i++)
		if (side->parts[i].any)
			return &side->parts[i];
	return find_part(side, &(struct part){0});
}

/* Looks for what the images of a side lack of what is noted of its recordings. whole: it
 * is one part, whatever ran. */
static void look(struct side *side, bool whole)
{
	const struct hlg_inputs *in = side->in;
	bool *noted = calloc(in->n_files + 1, sizeof(*noted));

	side->lost |= !noted;
	for (size_t i = 0; noted && i < in->n_files; i++) {
		struct part read = read_part(side, in->files[i]), *part = NULL;

		noted[i] = whole || read.n_guests;
		if (noted[i])
			part = whole && side->n_parts ? side->parts
						      : find_part(side, &read);
		for (size_t k = 0; part && k < read.n_guests; k++)
			add_guest(side, part, read.guests[k]);
		if (part)
			add(&part->files, in->files[i]);
		free(read.guests);
		free(read.missing.at);
	}
	for (size_t i = 0; noted && i < in->n_files; i++) {
		struct part *part = noted[i] ? NULL : find_any(side);

		if (part)
			add(&part->files, in->files[i]);
	}
	free(noted);
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

/* Two sides are compared. */
static bool is_pair(const struct hlg_inputs *in)
{
	return in->second && in->second->n_files;
}

/* How the second of these is told from the first: before all words of it, or each. */
static const char *option_of(const struct hlg_inputs *in)
{
	return hlg_inputs_is_pair(in) ? "--after" : "--before";
}

/*
 * Is one command line of images wrong for two sides that share theirs? It is if each side
 * is known to have run others. One that nothing is noted of may have run what the other
 * did, unless that is none of those that are named.
 */
static bool are_apart(const struct part *first, const struct part *second)
{
	bool differ = first->any != second->any || first->missing.n != second->missing.n;

	for (size_t i = 0; !differ && i < first->missing.n; i++)
		differ = !has_name(&second->missing, first->missing.at[i]);
	if (!first->any && !first->missing.n)
		return !second->any && second->missing.n;
	if (!second->any && !second->missing.n)
		return !first->any && first->missing.n;
	return differ;
}

/* The first side has what the second one lacks, too. */
static void join(struct part *first, struct part *second)
{
	first->any |= second->any;
	for (size_t i = 0; i < second->missing.n; i++)
		add_once(&first->missing, second->missing.at[i]);
	second->missing.n = 0;
}

/* Is a judged image what a word names? */
static bool is_of(const struct hlg_image *image, const struct hlg_image_arg *arg)
{
	return image->map == arg->map && strcmp(hlg_image_file(image), arg->path) == 0 &&
	       (!arg->guest || arg->guest == image->guest) &&
	       (!arg->stated || arg->base == image->base);
}

/* Where all samples of what a word names fit, instead of where it is; NULL: they do not,
 * at one base, or it names several. */
static const struct hlg_fit *find_fit(const struct hlg_trust *trust,
				      const struct hlg_image_arg *arg)
{
	const struct hlg_image_test *test = NULL;

	for (size_t i = 0; trust && i < trust->n_images; i++) {
		if (!is_of(trust->images[i].image, arg))
			continue;
		if (test)
			return NULL;
		test = &trust->images[i];
	}
	return test && test->found.n == 1 ? hlg_trust_elsewhere(test) : NULL;
}

/* Did others run than what a word names, and does nothing say that this did? Beside the
 * one that ran it would fit as well, or not at all. */
static bool is_wrong(const struct hlg_trust *trust, const struct hlg_image_arg *arg)
{
	for (size_t i = 0; trust && i < trust->n_images; i++) {
		const struct hlg_image_test *test = &trust->images[i];

		if (is_of(test->image, arg) && test->identity == HLG_IDENTITY_OTHER &&
		    !(test->ran->identities &
		      (1u << HLG_IDENTITY_SAME | 1u << HLG_IDENTITY_UNKNOWN)))
			return true;
	}
	return false;
}

/* And none in whose stead others ran. */
static void leave_out(struct side *side, const struct hlg_trust *trust)
{
	for (size_t i = 0; i < side->options.n_images; i++)
		side->wrong[i] = is_wrong(trust, &side->options.images[i]);
}

/* What is proposed has each image where samples fit, if that is not where it is named. */
static void move(struct side *side, const struct hlg_trust *trust)
{
	for (size_t i = 0; i < side->options.n_images; i++) {
		const struct hlg_image_arg *image = &side->options.images[i];
		const struct hlg_fit *fit = find_fit(trust, image);
		char guest[32] = "";

		if (!fit || hlg_options_states_who(image))
			continue;
		if (image->guest)
			snprintf(guest, sizeof(guest), "@guest=%zu", image->guest);
		if (asprintf(&side->moved[i], "%s%s@0x%" PRIx64, image->path, guest,
			     fit->base) < 0)
			side->moved[i] = NULL;
	}
}

/* Did others run in this part of a side than an image that is named, which ran in other
 * parts, or in none? */
static bool ran_others(const struct side *side, const struct part *part, size_t image)
{
	bool elsewhere = false;

	for (size_t i = 0; i < side->n_guests; i++) {
		if (side->guests[i].is[image] && has(part, i))
			return false;
		elsewhere |= side->guests[i].is[image];
	}
	return elsewhere || (side->wrong[image] && part->missing.n);
}

/* Where no ELF that is named was noted, these are others than those that ran. What ran
 * may be nowhere any more, as where it was built again. */
static void put_images(struct names *words, const struct side *side,
		       const struct part *part)
{
	const bool gone = part->n_guests && !part->any && !part->missing.n;

	if (gone)
		add(words, "ELF-THAT-RAN");
	for (size_t i = 0, n = 0; i < (size_t)side->in->n_words; i++) {
		if (!hlg_inputs_is_image(side->in->words[i]))
			continue;
		if (side->options.images[n].map ||
		    (part->any ? !ran_others(side, part, n) : !part->missing.n && !gone))
			add(words, side->moved[n] ? side->moved[n] : side->in->words[i]);
		n++;
	}
	for (size_t i = 0; i < part->missing.n; i++)
		add(words, part->missing.at[i]);
}

static void put_files(struct names *words, const struct side *side,
		      const struct part *part)
{
	for (size_t i = 0; i < part->files.n && !side->in->by_default && i < MANY; i++)
		add(words, part->files.at[i]);
	if (part->files.n > MANY)
		add(words, "...");
}

/* The words of the second side of a pair; apart: it has its own images. */
static void put_second(struct names *words, const struct side *second, bool apart)
{
	const struct hlg_inputs *in = second->in->first;
	struct names own = {0};

	if (apart)
		put_images(&own, second, second->parts);
	put_files(&own, second, second->parts);
	for (size_t i = 0; i < own.n; i++) {
		if (!hlg_inputs_is_pair(in) || (i == 0 && (in->behind || apart)))
			add(words, option_of(in));
		add(words, own.at[i]);
	}
	words->lost |= own.lost;
	free(own.at);
}

/* Is it a file that one command writes, and the next one would replace? */
static bool is_file(const char *word)
{
	return !hlg_target_is_stream(word) && hlg_target_look(word) == HLG_TARGET_FILE;
}

/* "x-2.svg": where the second command writes what the first one writes to x.svg. To be
 * freed; NULL without memory. */
static char *number_file(const char *path, size_t number)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strchr(name, '.');
	const size_t n = dot && dot > name ? (size_t)(dot - path) : strlen(path);
	char *text;

	return asprintf(&text, "%.*s-%zu%s", (int)n, path, number, path + n) < 0 ? NULL
										 : text;
}

/* --force, in each of its forms: with the right ELFs nobody needs it. */
static bool is_force(const char *word)
{
	return strcmp(word, "-f") == 0 || strcmp(word, "--force") == 0 ||
	       strncmp(word, "--force=", 8) == 0;
}

/* The options that were given. *own: a word that is to be freed with them. */
static void put_options(struct names *words, const struct hlg_inputs *in, size_t number,
			char **own)
{
	bool out = false; /* its file follows */

	for (size_t i = 0; i < in->n_options; i++) {
		const char *word = in->options[i];

		if (out && number > 1 && is_file(word) && !*own) {
			*own = number_file(word, number);
			words->lost |= !*own;
			word = *own;
		}
		if (out || !is_force(word))
			add(words, word);
		out = !out && strcmp(in->options[i], "-o") == 0;
	}
}

/* "hlguest diff a.elf b.elf before.data after.data", to be freed; NULL without memory.
 * second: NULL, or the other side of a pair; apart: that has its own images. number: it
 * is one of several, from 1 on. */
static char *command(const struct side *side, const struct part *part,
		     const struct side *second, bool apart, size_t number)
{
	const struct hlg_inputs *in = side->in;
	struct names words = {0};
	char *line = NULL, *own = NULL;

	add(&words, "hlguest");
	add(&words, in->verb->name);
	put_options(&words, in, number, &own);
	put_images(&words, side, part);
	put_files(&words, side, part);
	if (second)
		put_second(&words, second, apart);
	for (size_t i = 0; i < in->n_own; i++)
		add(&words, in->own[i]);
	add(&words, NULL);
	if (!words.lost)
		line = hlg_shell_words(words.at);
	free(words.at);
	free(own);
	return line;
}

/* One for each part of a side, as a shell takes them. To be freed; NULL: no memory. */
static char *commands(const struct side *side)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	bool ok = f;
	char *lines;

	for (size_t i = 0; ok && i < side->n_parts && i < PARTS; i++) {
		char *line = command(side, &side->parts[i], NULL, false, i + 1);

		ok = line;
		if (ok)
			fprintf(f, "%s%s", i ? ";" : "", line);
		free(line);
	}
	if (ok && side->n_parts > PARTS)
		fputs("; ...", f);
	lines = f ? hlg_memstream_close(&m) : NULL;
	if (ok && side->n_parts)
		return lines;
	free(lines);
	return NULL;
}

/* apart: one is told with its recording, as each side has the same words of both. */
static char *tell(const struct side sides[static 2], bool apart, const char *line)
{
	struct names missing = {0};
	const char *of = NULL;
	char *text = NULL;

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s].n_parts; i++) {
			const struct part *part = &sides[s].parts[i];

			for (size_t k = 0; k < part->missing.n; k++)
				add_once(&missing, part->missing.at[k]);
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

/* The command of a pair, or those of the parts of one side. *apart: each side of a pair
 * has its own images. */
static char *propose(struct side sides[static 2], bool pair, bool *apart,
		     const struct hlg_trust *trust)
{
	leave_out(&sides[0], trust);
	leave_out(&sides[1], trust);
	*apart = pair && (has_own(sides) || are_apart(sides[0].parts, sides[1].parts));
	if (!pair) {
		move(&sides[0], trust);
		return commands(&sides[0]);
	}
	if (!*apart) {
		join(sides[0].parts, sides[1].parts);
		/* Of two sides that differ nothing says which was judged. */
		move(&sides[0], trust);
	}
	return command(&sides[0], sides[0].parts, &sides[1], *apart, 1);
}

/* What hlg_options.unnamed is. */
static char *find(const void *inputs, const struct hlg_trust *trust)
{
	const struct hlg_inputs *in = inputs;
	const bool pair = is_pair(in);
	struct side sides[2] = {0};
	char *text = NULL, *line;
	bool apart;

	if (begin(&sides[0], in) && (!pair || begin(&sides[1], in->second))) {
		look(&sides[0], pair);
		if (pair)
			look(&sides[1], true);
		if (!sides[0].lost && !sides[1].lost) {
			line = propose(sides, pair, &apart, trust);
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
	options->no_tid = !hlg_inputs_has(in->verb, "tid");
	options->no_sandbox = !hlg_inputs_has(in->verb, "sandbox");
	options->unnamed_of = first;
	if (!first->noted && first->n_images) {
		options->unnamed = find;
		if (is_pair(first) && share(first))
			options->shared = option_of(first);
	}
}
