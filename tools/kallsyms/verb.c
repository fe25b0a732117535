// SPDX-License-Identifier: GPL-2.0-only
/* hlguest kallsyms: for people who stay with perf kvm --guestkallsyms. */
#include "tools/kallsyms/kallsyms.h"

#include <stdlib.h>

#include "filter/write/format.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"

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
		hlg_images_warn(&space);
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
		      : hlg_format_write(
				&(struct hlg_result){&table, &args->images, NULL, NULL},
				args->out, stdout, err);
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	struct hlg_err err;
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status))
		status = write_table(&args, &err) < 0 ? hlg_output_error(&err) : 0;
	free(args.images.text);
	return status;
}

static const struct hlg_verb_option options[] = {
	HLG_VERB_OUTPUT(struct arguments, out,
			"where the table goes (standard output); whole or not at all"),
	{.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, images)},
	{0},
};

const struct hlg_verb hlg_verb_kallsyms = {
	.name = "kallsyms",
	.args = "guest.elf[@BASE]",
	.help = "symbols for perf kvm --guestkallsyms",
	.group = HLG_VERB_CONVERTS,
	.usage = "guest.elf[@BASE]...",
	.doc = "Writes the guest's symbols as perf kvm --guestkallsyms reads them.\v"
	       "BASE is where the guest runs: auto (default), 0x.., decimal. perf takes "
	       "the end of a symbol from the next one, so wherever code that a symbol "
	       "owns ends there is a symbol __gap__. Characters that perf stumbles over "
	       "are written as \\xNN. perf uses the table for code in ring 0 only, and "
	       "only if record was given it too.\n\n"
	       "  hlguest kallsyms guest.elf >guest.kallsyms\n"
	       "  perf kvm --guestkallsyms=guest.kallsyms record -e cpu-clock -- VMM\n"
	       "  perf kvm --guestkallsyms=guest.kallsyms report",
	.files = "elf",
	.options = options,
	.check = check,
	.run = run,
};
