// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest lookup: addresses to functions and lines, in order, one after the other, so
 * that it can stand at the end of a pipe.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/memstream.h"
#include "filter/output/out.h"
#include "filter/output/target.h"
#include "filter/report/banner.h"
#include "filter/report/misfits.h"
#include "filter/report/nothing.h"
#include "filter/trust/base-search.h"
#include "filter/view/place-name.h"
#include "filter/write/text-line.h"
#include "symtab/code/code.h"
#include "symtab/escape.h"
#include "symtab/image/lane.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/feed/batch.h"
#include "tools/inputs/images.h"
#include "tools/inputs/places.h"
#include "tools/inputs/unnamed.h"
#include "tools/lookup/answer.h"
#include "tools/source/source.h"

struct arguments {
	struct hlg_inputs given; /* its options */
	const struct hlg_verb *verb;
	const char *out;
	bool own, inlines;
	int demangle, force; /* 0 no, 1 yes */
	const struct hlg_format *format;
	struct hlg_verb_texts images, recordings, addresses;
};

/* What is open while questions are answered. */
struct lookup {
	const struct arguments *args;
	struct hlg_inputs given; /* all of them, for who proposes to name more */
	struct hlg_run run; /* of recordings, if there are any; its images in any case */
	struct hlg_report report; /* of these: which functions may be named */
	struct hlg_sources sources;
	struct hlg_code **codes; /* of each image; NULL: cannot be decoded */
	FILE *f;                 /* where the answers go */
	bool broken;             /* there is no memory: no further question is answered */
	int status;
};

static const struct hlg_format *const formats[] = {&hlg_answer_text, &hlg_answer_json,
						   NULL};

/*
 * The address in what Hyperlight says of a guest that died, whole or a line of it; it
 * ends where no more digits are. NULL: there is none.
 */
static const char *find_fault(const char *said)
{
	static const char key[] = "Faulting Instruction: ", bytes[] = "Bytes At ";

	for (const char *at = said; (at = strstr(at, key)); at += sizeof(key) - 1) {
		size_t before = (size_t)(at - said), n = sizeof(bytes) - 1;

		if (before < n || strncmp(at - n, bytes, n) != 0)
			return at + sizeof(key) - 1;
	}
	return NULL;
}

/* Is it another line of that? */
static bool is_beside_fault(const char *line)
{
	static const char *const keys[] = {
		"Exception vector: ", "Bytes At Faulting Instruction: ",
		"Page Fault Address: ", "Error code: ", "Stack Pointer: "};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strstr(line, keys[i]))
			return true;
	return false;
}

/* Behind an image, what is no file is the name of a function. */
static bool may_be_name(const char *word)
{
	return !strpbrk(word, "/@") && strcmp(word, "-") != 0 &&
	       strncmp(word, "map:", 4) != 0 && access(word, F_OK) != 0;
}

/* What begins with a digit and is none, as 0.data, may be a file. */
static bool looks_like_address(const char *word)
{
	const size_t digits = strspn(word, "0123456789abcdefABCDEF");

	return find_fault(word) || word[digits] == '\0' ||
	       strncasecmp(word, "0x", 2) == 0 ||
	       (isdigit((unsigned char)word[0]) && may_be_name(word));
}

static int take_word(void *arguments, const struct hlg_verb_option *option, char *word,
		     struct hlg_err *err)
{
	static const struct hlg_verb_option image = {
		.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, images)};
	static const struct hlg_verb_option recording = {
		.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, recordings)};
	static const struct hlg_verb_option address = {
		.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, addresses)};
	struct arguments *args = arguments;
	bool first = args->images.n + args->recordings.n + args->addresses.n == 0;

	(void)option;
	/* The image comes first, whatever it is called; but who errs is understood. */
	if (looks_like_address(word) ? !(first && access(word, F_OK) == 0)
				     : args->images.n && may_be_name(word))
		return hlg_argp_run_set(args, &address, word, err);
	if (strcmp(word, "-") != 0 &&
	    hlg_images_file_kind(word) == HLG_FILE_KIND_RECORDING)
		return hlg_argp_run_set(args, &recording, word, err);
	return hlg_argp_run_set(args, &image, word, err);
}

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (args->images.n == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "no guest ELF is given (name it: guest.elf, "
				   "guest.elf@0x4000)");
	if (args->own && args->images.n > 1)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--own takes one image (several have the same addresses)");
	if (args->own && args->recordings.n)
		return hlg_err_set(err, HLG_EINPUT,
				   "--own needs no base (leave the recording out)");
	for (size_t i = 0; i < args->recordings.n; i++)
		if (args->addresses.n == 0 && strcmp(args->recordings.text[i], "-") == 0)
			return hlg_err_set(err, HLG_EINPUT,
					   "standard input cannot be both recording and "
					   "addresses (give the addresses as words)");
	return 0;
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
	struct hlg_source *source = hlg_source_of(&l->sources, a->place.image);

	if (!source)
		return;
	a->known = hlg_source_find(source, a->place.addr, &a->line);
	if (a->known && l->args->inlines)
		a->n_inlines = hlg_source_inlines(source, a->place.addr, a->inlines,
						  HLG_ANSWER_INLINES);
}

/* Is it in the middle of an instruction? No processor tells such an address. */
static bool is_inside(struct lookup *l, const struct hlg_place *place)
{
	struct hlg_code *code = place->symbol ? l->codes[place->image->number] : NULL;

	return code && hlg_code_at(code, place) == HLG_BOUNDARY_OFF;
}

/* Of a function whose samples are of other code no name, as in the report. To be freed;
 * NULL without memory. */
static char *name_at(const struct lookup *l, const struct hlg_place *place)
{
	return hlg_misfits_has(&l->report, place)
		       ? hlg_misfits_name(place)
		       : hlg_place_name(place, l->args->demangle);
}

/* Whoever takes an address out of a report has the ELF's own: where another function is
 * at that, it is told. */
static bool tell_own(struct lookup *l, uint64_t addr)
{
	const struct hlg_space *space = &l->run.space;
	struct hlg_place here, own;
	char *name;

	if (l->args->own || l->args->format != &hlg_answer_text || space->n_images != 1)
		return true;
	hlg_space_lookup(space, addr, &here);
	hlg_image_lookup(space->images[0], addr, &own);
	if (!own.symbol || (here.image && here.owner == own.owner))
		return true;
	name = name_at(l, &own);
	if (!name)
		return false;
	fputs("  as the ELF's own address: ", l->f);
	hlg_escape_print(l->f, name);
	fprintf(l->f, "+0x%" PRIx64 " (lookup --own)\n", addr - own.start);
	free(name);
	return true;
}

/* Of an address in its lane, where guests have some; asked is what answers call it.
 * named: the place that was asked for by its name, if one was; or NULL. Fails without
 * memory, and when the image cannot be read any more. */
static int answer(struct lookup *l, uint64_t asked, uint64_t addr,
		  const struct hlg_place *named, struct hlg_err *err)
{
	const struct arguments *args = l->args;
	struct hlg_answer a = {
		.asked = asked, .own = args->own, .demangle = args->demangle};
	char *name;
	int rc = 0;

	if (args->own)
		hlg_image_lookup(l->run.space.images[0], addr, &a.place);
	else
		hlg_space_lookup(&l->run.space, addr, &a.place);
	a.named = named && named->owner == a.place.owner;
	if (a.named)
		a.place.symbol = named->symbol;
	if (a.place.image) {
		/* Where samples are of other code so are the lines. */
		if (!hlg_misfits_has(&l->report, &a.place))
			find_line(l, &a);
		a.inside = is_inside(l, &a.place);
		if (hlg_image_unread(a.place.image))
			return hlg_image_fail_unread(a.place.image, err);
	}
	name = name_at(l, &a.place);
	a.name = name;
	rc = name ? args->format->write(&a, l->f, err) : hlg_err_memory(err, "lookup");
	free(name);
	return rc;
}

/* Of several images that lie there, each is an answer; where no guest can have anything,
 * there is none, and it is no lane's either. */
static int answer_address(struct lookup *l, uint64_t addr, struct hlg_err *err)
{
	const struct hlg_space *space = &l->run.space;
	bool any = false;
	int rc = 0;

	if (space->n_lanes && hlg_lane_of(addr) != 0)
		return answer(l, addr, hlg_lane_move(HLG_LANE_NOBODY), NULL, err);
	for (unsigned lane = 0; rc == 0 && lane < space->n_lanes; lane++) {
		const uint64_t in_lane = addr + hlg_lane_move(lane);
		struct hlg_place place;

		hlg_space_lookup(space, in_lane, &place);
		if (!place.image)
			continue;
		any = true;
		rc = answer(l, addr, in_lane, NULL, err);
	}
	return any ? rc : answer(l, addr, addr, NULL, err);
}

/* Answers where a place begins, at each base of its image. */
static int answer_place(struct lookup *l, const struct hlg_place *place,
			struct hlg_err *err)
{
	const struct hlg_image *image = place->image;
	int rc = 0;

	if (l->args->own)
		return answer(l, place->start, place->start, place, err);
	for (size_t i = 0; rc == 0 && i < hlg_image_n_bases(image); i++) {
		const uint64_t addr = place->start + hlg_image_base(image, i).bias;

		rc = answer(l, hlg_space_ip(&l->run.space, addr), addr, place, err);
	}
	return rc;
}

/* Answers the name of a function. Fails where there is none, and without memory. */
static int answer_name(struct lookup *l, const char *word, struct hlg_err *err)
{
	struct hlg_found_places places = {0};
	int rc = hlg_places_find(&places, &l->run.space, word, err);

	for (size_t i = 0; rc == 0 && i < places.n; i++)
		rc = answer_place(l, &places.place[i], err);
	hlg_places_finish(&places);
	return rc;
}

/* An address, or what Hyperlight says. */
static bool read_question(const char *word, uint64_t *addr)
{
	const char *fault = find_fault(word);
	char digits[20];

	if (!fault)
		return read_address(word, addr);
	snprintf(digits, sizeof(digits), "%.*s",
		 (int)strspn(fault, "0123456789abcdefABCDEFxX"), fault);
	return read_address(digits, addr);
}

/* Answers one word; where says which line of standard input it came from, which has
 * addresses alone, else "". What is neither address nor name is told. */
static void put_answers(struct lookup *l, const char *where, const char *word)
{
	struct hlg_err err;
	uint64_t addr;
	int rc = 0;

	if (read_question(word, &addr)) {
		rc = answer_address(l, addr, &err);
		if (rc == 0 && !where[0] && !find_fault(word) && !tell_own(l, addr))
			rc = hlg_err_memory(&err, word);
	} else if (!where[0] && !looks_like_address(word)) {
		rc = answer_name(l, word, &err);
	} else {
		rc = hlg_err_set(
			&err, HLG_EINPUT,
			"%s%s: not an address (hexadecimal, as in 0x4010 or 4010)", where,
			word[0] ? word : "''");
	}
	if (rc < 0)
		l->status = hlg_output_error(&err);
	l->broken = rc == HLG_ESYSTEM;
}

/* The same; on a terminal lines go on below. */
static void take_question(struct lookup *l, const char *where, const char *word)
{
	const struct hlg_screen screen = hlg_screen_of(l->f);
	FILE *f = l->f;
	struct hlg_memstream m;
	char *text, *rest, *line;

	if (!screen.lines || !hlg_memstream_open(&m)) {
		put_answers(l, where, word);
		return;
	}
	l->f = m.f;
	put_answers(l, where, word);
	l->f = f;
	rest = text = hlg_memstream_close(&m);
	while ((line = strsep(&rest, "\n")) && (*line || rest))
		hlg_text_line_fold(f, &screen, 0, "    ", line);
	l->broken |= !text;
	free(text);
}

/* Cuts blanks off both ends of a line, in place; a NUL in it becomes visible. */
static char *trim(char *line, size_t len)
{
	for (char *nul = line; (nul = memchr(nul, '\0', (size_t)(line + len - nul)));)
		*nul++ = '?';
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	line[len] = '\0';
	return line + strspn(line, " \t");
}

/* Or has a write failed? Nobody needs to be asked then. */
static bool failed(const struct lookup *l)
{
	return l->broken || (l->f == stdout ? hlg_output_failed() : ferror(l->f));
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
		setvbuf(l->f, NULL, _IOLBF, 0);
	if (isatty(STDIN_FILENO))
		fputs("hlguest: addresses are read from the terminal, one a line (^D "
		      "ends; or name them)\n",
		      stderr);
	while (!failed(l) && (len = getline(&line, &room, stdin)) >= 0) {
		char where[32], *word = trim(line, (size_t)len);

		snprintf(where, sizeof(where), "line %lu: ", ++number);
		if (word[0] && (find_fault(word) || !is_beside_fault(word)))
			take_question(l, where, word);
	}
	if (!feof(stdin) && !failed(l)) {
		hlg_err_set(&err, 0,
			    "standard input: cannot be read: %s (give it one "
			    "address a line)",
			    strerrordesc_np(errno));
		l->status = hlg_output_error(&err);
	}
	free(line);
}

/* Reads the recordings, all of them or none. */
static int read_recordings(struct lookup *l, struct hlg_err *err)
{
	struct hlg_batch batch = {.paths = l->args->recordings.text,
				  .n_paths = l->args->recordings.n,
				  .threads = 1};
	int rc = hlg_batch_read(&batch, &l->run, err);

	for (size_t i = 0; rc == 0 && i < batch.n_paths; i++)
		if (batch.files[i].rc < 0) {
			*err = batch.files[i].err;
			rc = batch.files[i].rc;
		}
	if (rc == 0 && l->run.profile.unrecorded)
		rc = hlg_err_memory(err, "lookup");
	if (rc == 0)
		rc = hlg_nothing_check(&l->run.profile, "", err);
	hlg_batch_finish(&batch);
	return rc;
}

/* The images where the samples have them, as in a report; addresses that would be named
 * wrongly are not. */
static int open_by_samples(struct lookup *l, struct hlg_err *err)
{
	const struct arguments *args = l->args;
	int rc = hlg_images_start_apart(&l->run, args->images.text, args->images.n, err);

	l->given = (struct hlg_inputs){.verb = args->verb,
				       .words = args->images.text,
				       .n_words = (int)args->images.n,
				       .n_images = (unsigned)args->images.n,
				       .files = args->recordings.text,
				       .n_files = args->recordings.n,
				       .options = args->given.options,
				       .n_options = args->given.n_options,
				       .own = args->addresses.text,
				       .n_own = args->addresses.n};
	hlg_unnamed_ask(&l->given, &l->run.options);
	l->run.options.force = args->force;
	if (rc == 0)
		rc = read_recordings(l, err);
	if (rc == 0)
		rc = hlg_run_build(&l->run, &l->report, err);
	if (rc == 0)
		l->status = hlg_run_status(&l->run, 0);
	if (rc == 0 && l->report.suppressed)
		return hlg_err_set(err, HLG_EINPUT, "%s",
				   l->report.banner ? l->report.banner
						    : "samples do not fit");
	if (rc == 0)
		hlg_run_warn(&l->report, args->format, "");
	if (rc == 0)
		hlg_run_warn_remarks(&l->report, "");
	return rc;
}

/* Of what cannot be decoded there is none, and nothing is said of its instructions. */
static int open_codes(struct lookup *l, struct hlg_err *err)
{
	const struct hlg_space *space = &l->run.space;

	l->codes = calloc(space->n_images + 1, sizeof(*l->codes));
	if (!l->codes)
		return hlg_err_memory(err, "lookup");
	for (size_t i = 0; i < space->n_images; i++) {
		int rc = hlg_code_open(&l->codes[i], space->images[i], err);

		if (rc == HLG_ESYSTEM)
			return rc;
		if (hlg_image_unread(space->images[i]))
			return hlg_image_fail_unread(space->images[i], err);
	}
	return 0;
}

static int open_lookup(struct lookup *l, struct hlg_err *err)
{
	struct hlg_options any = {0};
	int rc = hlg_format_choose(l->args->format, &any, err);

	if (rc == 0 && l->args->recordings.n)
		rc = open_by_samples(l, err);
	else if (rc == 0)
		rc = hlg_images_open_apart(&l->run.space, l->args->images.text,
					   l->args->images.n, err);
	if (rc < 0)
		return rc;
	if (!l->args->own)
		hlg_base_search_warn(&l->run.space);
	if (!hlg_source_open_all(&l->sources, &l->run.space))
		return hlg_err_memory(err, "lines");
	return open_codes(l, err);
}

static void close_lookup(struct lookup *l)
{
	for (size_t i = 0; l->codes && i < l->run.space.n_images; i++)
		hlg_code_close(l->codes[i]);
	free(l->codes);
	if (l->sources.space)
		hlg_source_close_all(&l->sources);
	hlg_report_finish(&l->report);
	hlg_run_finish(&l->run);
}

static int fail(int status, const struct hlg_err *err)
{
	int error = hlg_output_error(err);

	return status ? status : error;
}

static int check_out(const struct arguments *args, struct hlg_err *err)
{
	int rc = hlg_images_check_out(args->images.text, args->images.n, args->out, err);

	for (size_t i = 0; rc == 0 && i < args->recordings.n; i++)
		rc = hlg_target_check_input(args->out, args->recordings.text[i], err);
	return rc;
}

static int lookup(const struct arguments *args)
{
	struct lookup l = {.args = args};
	struct hlg_out out;
	struct hlg_err err;
	bool opened;
	int rc = check_out(args, &err);

	if (rc == 0)
		rc = hlg_out_open(&out, args->out, stdout, &err);
	if (rc != 0)
		return hlg_output_error(&err);
	l.f = out.f;
	opened = open_lookup(&l, &err) == 0;
	if (!opened)
		l.status = fail(l.status, &err);
	else if (args->addresses.n == 0)
		read_questions(&l);
	else
		for (size_t i = 0; i < args->addresses.n && !l.broken; i++)
			take_question(&l, "", args->addresses.text[i]);
	if (!opened)
		hlg_out_abort(&out);
	else if (hlg_out_commit(&out, &err) < 0)
		l.status = hlg_output_error(&err);
	close_lookup(&l);
	return l.status;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	const struct hlg_argp_run run = {verb, verb->options, verb->check,
					 hlg_inputs_keep_option};
	struct arguments args = {.verb = verb, .demangle = 1};
	int status;

	if (hlg_argp_run_words(&run, argc, argv, &args, &status))
		status = lookup(&args);
	hlg_inputs_finish(&args.given);
	free(args.images.text);
	free(args.recordings.text);
	free(args.addresses.text);
	return status;
}

static const struct hlg_verb_option options[] = {
	HLG_VERB_OUTPUT(struct arguments, out,
			"where the answers go; written atomically"),
	{.name = "own",
	 .help = "ADDR is the image's own address, not the guest's",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, own)},
	{.name = "inlines",
	 .help = "the functions that were inlined there, too",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, inlines)},
	{.name = "demangle",
	 .value = "no|yes",
	 .help = "C++ and Rust names readable",
	 .fallback = "yes",
	 .kind = HLG_VERB_ONE_OF,
	 .optional = true,
	 .field = offsetof(struct arguments, demangle)},
	{.name = "force",
	 .value = "no|yes",
	 .help = "name functions even where samples do not fit",
	 .fallback = "no",
	 .kind = HLG_VERB_ONE_OF,
	 .optional = true,
	 .field = offsetof(struct arguments, force)},
	{.name = "format",
	 .help = "json: an object a line",
	 .kind = HLG_VERB_FORMAT,
	 .field = offsetof(struct arguments, format)},
	{.name = "input",
	 .letter = 'i',
	 .value = "FILE",
	 .help = "a recording, to find the base; - is standard input",
	 .files = "recording",
	 .kind = HLG_VERB_TEXTS,
	 .field = offsetof(struct arguments, recordings)},
	{.kind = HLG_VERB_TEXTS, .set = take_word},
	{0},
};

const struct hlg_verb hlg_verb_lookup = {
	.name = "lookup",
	.args = "guest.elf[@BASE] [ADDR...]",
	.help = "what is at these addresses",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE]... [FILE...] [ADDR|NAME...]",
	.doc = "Shows what is at addresses: function+offset (kind, image) file:line.\v"
	       "ADDR is hexadecimal, with or without 0x, as for addr2line; without any, "
	       "they are read from standard input, one a line. They are guest "
	       "addresses: BASE is where the guest runs (auto (default), 0x.., "
	       "decimal); with a recording FILE it is where the samples fit. The name of "
	       "a function, or a part that only one has, stands for its address. What "
	       "Hyperlight says of a fault stands for its address, in quotes or from "
	       "standard input. A word is "
	       "an address if it begins with 0x or has nothing but hexadecimal digits, "
	       "unless it is the first and a file; any other file of such a name can be "
	       "written ./cafe.",
	.examples =
		"hlguest lookup guest.elf@0x4000 0x53a0 0x5280\twhat is at two "
		"addresses\n"
		"hlguest lookup guest.elf perf.data.guest 0x53a0\tat the base that the "
		"samples have\n"
		"hlguest lookup --own guest.elf 0x13a0\tan address as objdump shows it",
	.files = "elf recording profile",
	.formats = formats,
	.options = options,
	.check = check,
	.run = run,
};
