// SPDX-License-Identifier: GPL-2.0-only
/* hlguest extract: the guest ELF that a host program carries with it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "filter/output/target.h"
#include "filter/write/table.h"
#include "symtab/elf/embedded.h"
#include "symtab/escape.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"

struct arguments {
	const char *out;
	bool quiet;
	uint64_t number; /* 0: not given */
	struct hlg_verb_texts paths;
};

static const char *machine_name(const struct hlg_embedded *e)
{
	return e->elf.machine == EM_AARCH64 ? "AArch64" : "x86-64";
}

static void print_list(FILE *f, const struct hlg_embedded_list *list)
{
	static const struct hlg_column columns[] = {
		{NULL, "guest", .type = HLG_VALUE_COUNT, .width = 5},
		{NULL, "offset", .type = HLG_VALUE_ADDR, 2, 10},
		{NULL, "bytes", .type = HLG_VALUE_COUNT, 1, 10},
		{NULL, "machine", .type = HLG_VALUE_WORD, 2, -7},
		{NULL, "symbols", .type = HLG_VALUE_COUNT, 2, 7},
		{NULL, "Hyperlight", .type = HLG_VALUE_WORD, 2, -10, .none = "-"},
		{NULL, "build id", .type = HLG_VALUE_TEXT, 2, .none = "-"},
	};
	static const struct hlg_table table = {columns,
					       .n = sizeof(columns) / sizeof(columns[0])};

	hlg_table_text_head(f, &table);
	for (size_t i = 0; i < list->n; i++) {
		const struct hlg_embedded *e = &list->at[i];
		const char *build_id = e->elf.build_id, *note = e->elf.hyperlight;
		const struct hlg_value values[] = {
			hlg_table_count_value(i + 1),
			hlg_table_count_value(e->offset),
			hlg_table_count_value(e->size),
			hlg_table_text_value(machine_name(e)),
			hlg_table_count_value(e->elf.n_syms),
			hlg_table_text_value(note[0] ? note : NULL),
			hlg_table_text_value(build_id[0] ? build_id : NULL),
		};

		hlg_table_text_row(f, &table, values, 0);
	}
}

/* The one that was asked for; else the only one, or the only guest. */
static const struct hlg_embedded *choose(const struct hlg_embedded_list *list,
					 const struct arguments *args)
{
	size_t first = hlg_embedded_guest(list, 0);

	if (args->number)
		return args->number <= list->n ? &list->at[args->number - 1] : NULL;
	if (list->n == 1)
		return &list->at[0];
	return first < list->n && hlg_embedded_guest(list, first + 1) == list->n
		       ? &list->at[first]
		       : NULL;
}

static void say_written(const char *out, const char *host, const struct hlg_embedded *e)
{
	hlg_escape_print(stderr, out);
	fprintf(stderr, ": %" PRIu64 " bytes of ", e->size);
	hlg_escape_print(stderr, host);
	fprintf(stderr, ", from 0x%" PRIx64 " on", e->offset);
	if (e->elf.hyperlight[0]) {
		fputs(", Hyperlight ", stderr);
		hlg_escape_print(stderr, e->elf.hyperlight);
	}
	fputc('\n', stderr);
}

static int save(const struct arguments *args, const struct hlg_embedded *e,
		struct hlg_err *err)
{
	const char *host = args->paths.text[0];
	struct hlg_out out;
	int rc = hlg_out_open(&out, args->out, stdout, err);

	if (rc < 0)
		return rc;
	rc = hlg_embedded_copy(e, host, out.f, err);
	if (rc < 0) {
		hlg_out_abort(&out);
		return rc;
	}
	if (ferror(out.f))
		out.error = errno;
	rc = hlg_out_commit(&out, err);
	if (rc == 0 && !args->quiet && !hlg_target_is_stream(args->out))
		say_written(args->out, host, e);
	return rc;
}

static int extract(const struct arguments *args, struct hlg_embedded_list *list,
		   struct hlg_err *err)
{
	const char *host = args->paths.text[0];
	const struct hlg_embedded *e;
	int rc = hlg_target_check_input(args->out, host, err);

	if (rc == 0)
		rc = hlg_out_check(args->out, HLG_MAGIC_ELF, err);
	if (rc == 0)
		rc = hlg_embedded_find(list, host, err);
	if (rc < 0)
		return rc;
	if (list->n == 0 && list->refused.msg[0])
		return hlg_err_set(err, HLG_EINPUT, "%s", list->refused.msg);
	if (list->n == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no guest ELF inside (a host that loads its "
				   "guest from a file needs none: name that file)",
				   host);
	if (!args->out) {
		print_list(stdout, list);
		return 0;
	}
	e = choose(list, args);
	if (!e)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has %zu guest%s inside (--number=N chooses one; "
				   "without -o they are listed)",
				   host, list->n, list->n == 1 ? "" : "s");
	return save(args, e, err);
}

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (args->paths.n != 1)
		return hlg_err_set(err, HLG_EINPUT,
				   args->paths.n ? "%s: one host at a time (leave the "
						   "others out)"
						 : "no host program is given (name it: "
						   "./my-host)",
				   args->paths.n ? args->paths.text[1] : "");
	if (args->number && !args->out)
		return hlg_err_set(err, HLG_EINPUT,
				   "--number chooses what is written (add -o FILE)");
	if (args->out && hlg_target_is_stream(args->out) && isatty(STDOUT_FILENO))
		return hlg_err_set(err, HLG_EINPUT,
				   "an ELF is binary, not for a terminal (use -o FILE)");
	return 0;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct hlg_embedded_list list = {0};
	struct arguments args = {0};
	struct hlg_err err;
	int status, rc;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status)) {
		rc = extract(&args, &list, &err);
		status = rc < 0 ? hlg_output_error(&err) : hlg_output_end(0);
	}
	hlg_embedded_finish(&list);
	free(args.paths.text);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "output",
	 .alias = "out",
	 .letter = 'o',
	 .value = "FILE",
	 .help = "write the guest's ELF there, atomically, instead of listing",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct arguments, out),
	 .heading = HLG_VERB_TO},
	HLG_VERB_QUIET(struct arguments, quiet, "do not say what was written"),
	{.name = "number",
	 .letter = 'n',
	 .value = "N",
	 .help = "which guest, of several; as listed",
	 .kind = HLG_VERB_NUMBER,
	 .field = offsetof(struct arguments, number),
	 .low = 1,
	 .high = 1000000},
	{.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, paths)},
	{0},
};

const struct hlg_verb hlg_verb_extract = {
	.name = "extract",
	.args = "HOST [-o guest.elf]",
	.help = "the guest ELF inside a host",
	.group = HLG_VERB_PREPARES,
	.usage = "HOST",
	.doc = "Finds the guest ELFs that a host program carries with it, as Rust's "
	       "include_bytes! puts them there, and writes one to a file.\v"
	       "Without -o the guests are listed. With it, the only one is written, or "
	       "the only one with Hyperlight's note.",
	.examples = "hlguest extract ./my-host\twhich guests are inside\n"
		    "hlguest extract ./my-host -o guest.elf\tthe guest, for report\n"
		    "hlguest extract ./my-host -n 1 -o first.elf\tone of several",
	.files = "file",
	.options = options,
	.check = check,
	.run = run,
};
