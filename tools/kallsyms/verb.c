// SPDX-License-Identifier: GPL-2.0-only
/* hlguest kallsyms: for people who stay with perf kvm --guestkallsyms. */
#include "tools/kallsyms/kallsyms.h"

#include <stdlib.h>

#include "filter/output/out.h"
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

static int write_symbols(FILE *f, const struct arguments *args, struct hlg_err *err)
{
	struct hlg_space space = {0};
	int rc = hlg_images_open(&space, args->images.text, args->images.n, err);

	if (rc == 0) {
		hlg_images_warn(&space);
		rc = hlg_kallsyms_write(f, &space, err);
	}
	hlg_space_finish(&space);
	return rc;
}

static int write_table(const struct arguments *args, struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_images_check_out(args->images.text, args->images.n, args->out, err);

	if (rc == 0)
		rc = hlg_out_open(&out, args->out, stdout, err);
	if (rc < 0)
		return rc;
	rc = write_symbols(out.f, args, err);
	if (rc == 0)
		return hlg_out_commit(&out, err);
	hlg_out_abort(&out);
	return rc;
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
