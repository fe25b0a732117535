// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/proposed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/output/target.h"
#include "symtab/grow.h"
#include "symtab/shell.h"

enum {
	MANY = 8, /* recordings: of more the command is not told whole */
	PARTS = 4 /* and of parts with guests of their own that have a command each */
};

void hlg_proposed_add(struct hlg_proposed_names *names, const char *name)
{
	if (!HLG_GROW(names->at, names->n))
		names->lost = true;
	else
		names->at[names->n++] = name;
}

bool hlg_proposed_has_name(const struct hlg_proposed_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->at[i], name) == 0)
			return true;
	return false;
}

void hlg_proposed_add_once(struct hlg_proposed_names *names, const char *name)
{
	if (!hlg_proposed_has_name(names, name))
		hlg_proposed_add(names, name);
}

bool hlg_proposed_has_guest(const struct hlg_proposed_part *part, size_t guest)
{
	for (size_t i = 0; i < part->n_guests; i++)
		if (part->guests[i] == guest)
			return true;
	return false;
}

const char *hlg_proposed_option(const struct hlg_inputs *in)
{
	return hlg_inputs_is_pair(in) ? "--after" : "--before";
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

/* Images in whose stead others ran are not proposed. */
static void leave_out(struct hlg_proposed_side *side, const struct hlg_trust *trust)
{
	for (size_t i = 0; i < side->options.n_images; i++)
		side->wrong[i] = is_wrong(trust, &side->options.images[i]);
}

/* What is proposed has each image where samples fit, if that is not where it is named. */
static void move(struct hlg_proposed_side *side, const struct hlg_trust *trust)
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
static bool ran_others(const struct hlg_proposed_side *side,
		       const struct hlg_proposed_part *part, size_t image)
{
	bool elsewhere = false;

	for (size_t i = 0; i < side->n_guests; i++) {
		if (side->guests[i].is[image] && hlg_proposed_has_guest(part, i))
			return false;
		elsewhere |= side->guests[i].is[image];
	}
	return elsewhere || (side->wrong[image] && part->missing.n);
}

/* Where no ELF that is named was noted, these are others than those that ran. What ran
 * may be nowhere any more, as where it was built again. */
static void put_images(struct hlg_proposed_names *words,
		       const struct hlg_proposed_side *side,
		       const struct hlg_proposed_part *part)
{
	const bool gone = part->n_guests && !part->any && !part->missing.n;

	if (gone)
		hlg_proposed_add(words, "ELF-THAT-RAN");
	for (size_t i = 0, n = 0; i < (size_t)side->in->n_words; i++) {
		if (!hlg_inputs_is_image(side->in->words[i]))
			continue;
		if (side->options.images[n].map ||
		    (part->any ? !ran_others(side, part, n) : !part->missing.n && !gone))
			hlg_proposed_add(words, side->moved[n] ? side->moved[n]
							       : side->in->words[i]);
		n++;
	}
	for (size_t i = 0; i < part->missing.n; i++)
		hlg_proposed_add(words, part->missing.at[i]);
}

static void put_files(struct hlg_proposed_names *words,
		      const struct hlg_proposed_side *side,
		      const struct hlg_proposed_part *part)
{
	for (size_t i = 0; i < part->files.n && !side->in->by_default && i < MANY; i++)
		hlg_proposed_add(words, part->files.at[i]);
	if (part->files.n > MANY)
		hlg_proposed_add(words, "...");
}

/* The words of the second side of a pair; apart: it has its own images. */
static void put_second(struct hlg_proposed_names *words,
		       const struct hlg_proposed_side *second, bool apart)
{
	const struct hlg_inputs *in = second->in->first;
	struct hlg_proposed_names own = {0};

	if (apart)
		put_images(&own, second, second->parts);
	put_files(&own, second, second->parts);
	for (size_t i = 0; i < own.n; i++) {
		if (!hlg_inputs_is_pair(in) || (i == 0 && (in->behind || apart)))
			hlg_proposed_add(words, hlg_proposed_option(in));
		hlg_proposed_add(words, own.at[i]);
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

/* The options that were given. *own: a word that is to be freed with them. */
static void put_options(struct hlg_proposed_names *words, const struct hlg_inputs *in,
			size_t number, char **own)
{
	bool out = false; /* its file follows */

	for (size_t i = 0; i < in->n_options; i++) {
		const char *word = in->options[i];

		if (out && number > 1 && is_file(word) && !*own) {
			*own = number_file(word, number);
			words->lost |= !*own;
			word = *own;
		}
		hlg_proposed_add(words, word);
		out = !out && strcmp(in->options[i], "-o") == 0;
	}
}

/* "hlguest diff a.elf b.elf before.data after.data", to be freed; NULL without memory.
 * second: NULL, or the other side of a pair; apart: that has its own images. number: it
 * is one of several, from 1 on. */
static char *command(const struct hlg_proposed_side *side,
		     const struct hlg_proposed_part *part,
		     const struct hlg_proposed_side *second, bool apart, size_t number)
{
	const struct hlg_inputs *in = side->in;
	struct hlg_proposed_names words = {0};
	char *line = NULL, *own = NULL;

	hlg_proposed_add(&words, "hlguest");
	hlg_proposed_add(&words, in->verb->name);
	put_options(&words, in, number, &own);
	put_images(&words, side, part);
	put_files(&words, side, part);
	if (second)
		put_second(&words, second, apart);
	for (size_t i = 0; i < in->n_own; i++)
		hlg_proposed_add(&words, in->own[i]);
	hlg_proposed_add(&words, NULL);
	if (!words.lost)
		line = hlg_shell_words(words.at);
	free(words.at);
	free(own);
	return line;
}

/* One for each part of a side, as a shell takes them. To be freed; NULL: no memory. */
static char *commands(const struct hlg_proposed_side *side)
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

char *hlg_proposed_commands(struct hlg_proposed_side sides[static 2], bool pair,
			    bool apart, const struct hlg_trust *trust)
{
	leave_out(&sides[0], trust);
	leave_out(&sides[1], trust);
	/* Of two sides that differ nothing says which was judged. */
	if (!apart)
		move(&sides[0], trust);
	return pair ? command(&sides[0], sides[0].parts, &sides[1], apart, 1)
		    : commands(&sides[0]);
}
