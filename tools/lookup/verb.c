// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest lookup: addresses to functions and lines, in order, one after the other, so
 * that it can stand at the end of a pipe.
 */
#include "tools/lookup/lookup.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/view/place-name.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"
#include "tools/source/sources.h"

enum {
	KEY_OWN = 0x100,
	KEY_INLINES,
	KEY_DEMANGLE,
	KEY_FORMAT
};

struct arguments {
	bool own, inlines, demangle, json;
	char **images, **addresses; /* each as long as argv */
	size_t n_images, n_addresses;
};

/* What is open while questions are answered. */
struct lookup {
	const struct arguments *args;
	struct hlg_space space;
	struct hlg_sources sources;
	int status;
};

static const struct argp_option options[] = {
	{"own", KEY_OWN, NULL, 0, "ADDR is the image's own address, not the guest's", 0},
	{"inlines", KEY_INLINES, NULL, 0, "the functions that were inlined there, too",
	 0},
	{"demangle", KEY_DEMANGLE, "no|yes", OPTION_ARG_OPTIONAL,
	 "C++ and Rust names readable (yes)", 0},
	{"format", KEY_FORMAT, "text|json", 0, "json: an object a line (text)", 0},
	{0},
};

static const char doc[] =
	"Says what is at addresses: function+offset (kind, image) file:line.\v"
	"ADDR is hexadecimal, with or without 0x, as for addr2line; without any, they "
	"are "
	"read from standard input, one a line. They are guest addresses: BASE is where "
	"the guest runs (auto (default), 0x.., decimal). A word is an address if it "
	"begins with a digit or has nothing but hexadecimal digits, unless it is the "
	"first and a file; any other image of such a name can be written ./cafe.";

/* Which of two words value is. */
static bool choose(struct argp_state *state, const char *option, const char *value,
		   const char *yes, const char *no)
{
	if (strcmp(value, yes) != 0 && strcmp(value, no) != 0)
		argp_error(state, "--%s: unknown value (one of %s|%s)", option, yes, no);
	return strcmp(value, yes) == 0;
}

static bool looks_like_address(const char *word)
{
	return isdigit((unsigned char)word[0]) ||
	       word[strspn(word, "0123456789abcdefABCDEF")] == '\0';
}

static void take_word(struct arguments *args, char *word)
{
	bool first = args->n_images + args->n_addresses == 0;

	/* The image comes first, whatever it is called; but who errs is understood. */
	if (looks_like_address(word) && !(first && access(word, F_OK) == 0))
		args->addresses[args->n_addresses++] = word;
	else
		args->images[args->n_images++] = word;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case KEY_OWN:
		args->own = true;
		return 0;
	case KEY_INLINES:
		args->inlines = true;
		return 0;
	case KEY_DEMANGLE:
		args->demangle = !value || choose(state, "demangle", value, "yes", "no");
		return 0;
	case KEY_FORMAT:
		args->json = choose(state, "format", value, "json", "text");
		return 0;
	case ARGP_KEY_ARG:
		take_word(args, value);
		return 0;
	case ARGP_KEY_END:
		if (args->n_images == 0)
			argp_error(state, "no guest ELF is given (name it: guest.elf, "
					  "guest.elf@0x4000)");
		if (args->own && args->n_images > 1)
			argp_error(state, "--own is of one image (several have the same "
					  "addresses)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Hexadecimal digits, all of them, with or without 0x in front. */
static bool read_address(const char *s, uint64_t *addr)
{
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	*addr = 0;
	if (*s == '\0')
		return false;
	for (; *s; s++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, tolower((unsigned char)*s));

		if (!digit || *addr >> 60)
			return false;
		*addr = *addr << 4 | (uint64_t)(digit - digits);
	}
	return true;
}

static void find_line(struct lookup *l, struct hlg_answer *a)
{
	struct hlg_source *source = hlg_sources_of(&l->sources, a->place.image);

	if (!source)
		return;
	a->known = hlg_source_find(source, a->place.addr, &a->line);
	if (a->known && l->args->inlines)
		a->n_inlines = hlg_source_inlines(source, a->place.addr, a->inlines,
						  HLG_MAX_INLINES);
}

static bool answer(struct lookup *l, uint64_t addr)
{
	const struct arguments *args = l->args;
	struct hlg_answer a = {.asked = addr};
	char *name;
	bool ok;

	if (args->own)
		hlg_image_lookup(l->space.images[0], addr, &a.place);
	else
		hlg_space_lookup(&l->space, addr, &a.place);
	if (a.place.image)
		find_line(l, &a);
	name = hlg_place_name(&a.place, args->demangle);
	a.name = name;
	ok = name && (args->json ? hlg_lookup_json(stdout, &a, args->demangle)
				 : hlg_lookup_text(stdout, &a, args->demangle));
	free(name);
	return ok;
}

/* Answers one word; where says where it came from. What is no address is told. */
static void take_question(struct lookup *l, const char *where, const char *word)
{
	struct hlg_err err;
	uint64_t addr;

	if (read_address(word, &addr)) {
		if (answer(l, addr))
			return;
		hlg_err_memory(&err, word);
	} else {
		hlg_err_set(&err, 0,
			    "%s%s: not an address (hexadecimal, as in 0x4010 or 4010)",
			    where, word[0] ? word : "''");
	}
	l->status = hlg_output_error(&err);
}

/* Cuts blanks off both ends of a line, in place; a NUL in it becomes visible. */
static char *trim(char *line, size_t len)
{
	for (char *nul; (nul = memchr(line, '\0', len));)
		*nul = '?';
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	line[len] = '\0';
	return line + strspn(line, " \t");
}

static void read_questions(struct lookup *l)
{
	unsigned long number = 0;
	struct hlg_err err;
	struct stat st;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	/* Who asks by and by waits for each answer. */
	if (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode))
		setvbuf(stdout, NULL, _IOLBF, 0);
	while (!hlg_output_failed() && (len = getline(&line, &room, stdin)) >= 0) {
		char where[32], *word = trim(line, (size_t)len);

		snprintf(where, sizeof(where), "line %lu: ", ++number);
		if (word[0])
			take_question(l, where, word);
	}
	if (!feof(stdin) && !hlg_output_failed()) {
		hlg_err_set(&err, 0,
			    "standard input: cannot be read: %s (give it one "
			    "address a line)",
			    strerrordesc_np(errno));
		l->status = hlg_output_error(&err);
	}
	free(line);
}

static int open_lookup(struct lookup *l, struct hlg_err *err)
{
	int rc = hlg_images_open(&l->space, l->args->images, l->args->n_images, err);

	if (rc < 0)
		return rc;
	if (!l->args->own)
		hlg_images_warn(&l->space);
	if (!hlg_sources_open(&l->sources, &l->space))
		return hlg_err_memory(err, "lines");
	return 0;
}

static void close_lookup(struct lookup *l)
{
	if (l->sources.space)
		hlg_sources_close(&l->sources);
	hlg_space_finish(&l->space);
}

static int run(const struct arguments *args)
{
	struct lookup l = {.args = args};
	struct hlg_err err;

	if (open_lookup(&l, &err) < 0)
		l.status = hlg_output_error(&err);
	else if (args->n_addresses == 0)
		read_questions(&l);
	else
		for (size_t i = 0; i < args->n_addresses; i++)
			take_question(&l, "", args->addresses[i]);
	close_lookup(&l);
	return l.status;
}

int hlg_verb_lookup(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "guest.elf[@BASE]... [ADDR...]", doc, NULL, NULL, NULL};
	struct arguments args = {.demangle = true};
	struct hlg_err err;
	int status;

	args.images = calloc((size_t)argc, sizeof(*args.images));
	args.addresses = calloc((size_t)argc, sizeof(*args.addresses));
	if (args.images && args.addresses) {
		hlg_words_parse(&argp, argc, argv, 0, &args);
		status = run(&args);
	} else {
		hlg_err_memory(&err, "arguments");
		status = hlg_output_error(&err);
	}
	free(args.images);
	free(args.addresses);
	return hlg_output_end(status);
}
