// SPDX-License-Identifier: GPL-2.0-only
/* hlguest kallsyms: for people who stay with perf kvm --guestkallsyms. */
#include "tools/kallsyms/kallsyms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/base-search.h"
#include "filter/write/format.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"

/* KSYM_NAME_LEN without the NUL in perfs of all ages (tools/lib/symbol/kallsyms.h). */
#define MAX_NAME 255

/* From ip on, symbol owns the bytes; nobody does if it is NULL. */
struct line {
	uint64_t ip;
	const struct hlg_image *image;
	const struct hlg_symbol *symbol;
};

/*
 * Names that perf's reader gives a meaning of its own: what it drops (mapping symbols and
 * local labels; the trampoline's copies) and what it takes for the end of the guest's
 * code (tools/perf/util/symbol.[ch], machine.c).
 */
static bool means_something(const char *name)
{
	static const char *const whole[] = {"_etext", "_edata",
					    "__entry_SYSCALL_64_trampoline"};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	return name[0] == '$' || strncmp(name, ".L", 2) == 0 ||
	       strncmp(name, "L0", 2) == 0;
}

/*
 * A '[' makes it a module's symbol (symbols__fixup_end), a tab begins the module's name;
 * a byte above 0x7f is a negative char and ends the file for perf; blanks end the name
 * for everybody else.
 */
static bool plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != '[';
}

/* Of a module of WebAssembly all names have brackets, as wasmtime makes them:
 * wasm[0]::function[7]::NAME. */
static unsigned char without_bracket(unsigned char c)
{
	return c == '[' ? '(' : c == ']' ? ')' : c;
}

static void print_name(FILE *f, const char *name, bool wasm)
{
	bool first = means_something(name);
	size_t len = 0;

	for (; *name; name++, first = false) {
		unsigned char c = wasm ? without_bracket((unsigned char)*name)
				       : (unsigned char)*name;
		bool as_is = plain(c) && !first;

		len += as_is ? 1 : 4;
		if (len > MAX_NAME)
			return;
		if (as_is)
			fputc(c, f);
		else
			fprintf(f, "\\x%02x", c);
	}
}

static void print_line(FILE *f, const struct line *line)
{
	fprintf(f, "%016" PRIx64 " T ", line->ip);
	if (line->symbol)
		print_name(f, hlg_image_name(line->image, line->symbol),
			   line->image->elf.wasm);
	else
		fputs("__gap__", f);
	fputc('\n', f);
}

/* By address; where one image ends and the next begins, the owner goes first. */
static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return (x->symbol == NULL) - (y->symbol == NULL);
}

/* A line for every span from the image's first code on; returns how many. */
static size_t add_image(struct line *lines, const struct hlg_image *image)
{
	const struct hlg_spans *spans = &image->spans;
	size_t n = 0;

	for (size_t i = 0; i < spans->n; i++) {
		const struct hlg_span *span = &spans->span[i];
		bool owned = span->kind == HLG_FUNCTION || span->kind == HLG_LABEL;
		uint64_t ip = span->start + image->bias;

		if (n == 0 && !owned && span->kind != HLG_GAP)
			continue;
		if (n && ip < lines[0].ip)
			continue; /* the image ends with the address space */
		lines[n++] = (struct line){ip, image,
					   owned ? &image->tab.syms[span->index] : NULL};
	}
	return n;
}

static void print_lines(FILE *f, const struct line *lines, size_t n)
{
	const struct line *last = NULL;

	fprintf(f, "%016" PRIx64 " T _text\n%016" PRIx64 " T _stext\n", lines[0].ip,
		lines[0].ip);
	for (size_t i = 0; i < n; i++) {
		/* Of what nobody owns the first line is enough. */
		if (last && !lines[i].symbol &&
		    (!last->symbol || last->ip == lines[i].ip))
			continue;
		last = &lines[i];
		print_line(f, last);
	}
}

static int fail_empty(const struct hlg_image *image, struct hlg_err *err)
{
	if (hlg_image_n_bases(image) == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: nothing says where it lies (give its base: "
				   "%s@ADDRESS)",
				   image->path, image->typed);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: has no code in memory (give the program that the guest "
			   "runs)",
			   image->path);
}

int hlg_kallsyms_write(FILE *f, const struct hlg_space *space, struct hlg_err *err)
{
	struct line *lines;
	size_t n = 0, max = 1;

	for (size_t i = 0; i < space->n_images; i++)
		max += space->images[i]->spans.n;
	lines = malloc(max * sizeof(*lines));
	if (!lines)
		return hlg_err_memory(err, "symbols");
	for (size_t i = 0; i < space->n_images; i++)
		if (hlg_image_n_bases(space->images[i]))
			n += add_image(lines + n, space->images[i]);
	if (n) {
		qsort(lines, n, sizeof(*lines), compare);
		print_lines(f, lines, n);
	}
	free(lines);
	return n ? 0 : fail_empty(space->images[0], err);
}

struct arguments {
	const char *out;
	struct hlg_verb_texts images;
};

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (args->images.n == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "no guest ELF is given (name it: guest.elf, "
				   "guest.elf@0x4000)");
	return 0;
}

static int write_symbols(void *images, FILE *f, struct hlg_err *err)
{
	const struct hlg_verb_texts *of = images;
	struct hlg_space space = {0};
	int rc = hlg_images_open(&space, of->text, of->n, err);

	if (rc == 0) {
		hlg_base_search_warn(&space);
		rc = hlg_kallsyms_write(f, &space, err);
	}
	hlg_space_finish(&space);
	return rc;
}

static int write_table(struct arguments *args, struct hlg_err *err)
{
	static const struct hlg_format table = {.write = write_symbols};
	int rc = hlg_images_check_out(args->images.text, args->images.n, args->out, err);

	return rc < 0 ? rc
		      : hlg_format_write(&(struct hlg_result){.format = &table,
							      .data = &args->images},
					 args->out, stdout, err);
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	struct hlg_err err;
	int status, rc;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status)) {
		rc = write_table(&args, &err);
		status = rc < 0 ? hlg_output_error(&err) : 0;
	}
	free(args.images.text);
	return status;
}

static const struct hlg_verb_option options[] = {
	HLG_VERB_OUTPUT(struct arguments, out,
			"where the table goes; written atomically"),
	{.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, images)},
	{0},
};

const struct hlg_verb hlg_verb_kallsyms = {
	.name = "kallsyms",
	.args = "guest.elf[@BASE]",
	.help = "symbols for perf kvm --guestkallsyms",
	.group = HLG_VERB_CONVERTS,
	.usage = "guest.elf[@BASE]...",
	.doc = "Writes the guest's symbols as perf kvm --guestkallsyms reads them.\vBASE "
	       "is where the guest runs: auto (default), 0x.., decimal. For perf a "
	       "symbol ends where the next one begins, so a symbol __gap__ stands where "
	       "a function's code ends. Characters that perf misreads are written as "
	       "\\xNN. perf uses the table for code in ring 0 only, and only if record "
	       "was given it too.\n\n  hlguest kallsyms guest.elf >guest.kallsyms\n  "
	       "perf kvm --guestkallsyms=guest.kallsyms record -e cpu-clock -- VMM\n  "
	       "perf kvm --guestkallsyms=guest.kallsyms report",
	.examples = "hlguest kallsyms -o guest.kallsyms guest.elf\tfor perf kvm "
		    "--guestkallsyms=guest.kallsyms\n"
		    "hlguest kallsyms guest.elf@0x4000\tat a base that is known\n"
		    "hlguest kallsyms guest.elf@0x4000 map:jit.map\twith code made at "
		    "run time, of a perf map",
	.files = "elf",
	.options = options,
	.check = check,
	.run = run,
};
