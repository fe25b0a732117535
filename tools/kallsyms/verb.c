// SPDX-License-Identifier: GPL-2.0-only
/* hlguest kallsyms: for people who stay with perf kvm --guestkallsyms. */
#include "tools/kallsyms/kallsyms.h"

#include <argp.h>

#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"

struct arguments {
	char **words; /* the images */
	size_t n_words;
};

static const char doc[] =
	"Writes the guest's symbols as perf kvm --guestkallsyms reads them.\v"
	"BASE is where the guest runs: auto (default), 0x.., decimal. perf takes the end "
	"of a symbol from the next one, so wherever code that a symbol owns ends there "
	"is "
	"a symbol __gap__. Characters that perf stumbles over are written as \\xNN. perf "
	"uses the table for code in ring 0 only, and only if record was given it too.\n\n"
	"  hlguest kallsyms guest.elf >guest.kallsyms\n"
	"  perf kvm --guestkallsyms=guest.kallsyms record -e cpu-clock -- VMM\n"
	"  perf kvm --guestkallsyms=guest.kallsyms report";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	(void)value;
	switch (key) {
	case ARGP_KEY_ARGS: /* all that are left */
		args->words = state->argv + state->next;
		args->n_words = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no guest ELF is given (name it: guest.elf, "
				  "guest.elf@0x4000)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int write_symbols(const struct arguments *args, struct hlg_err *err)
{
	struct hlg_space space = {0};
	int rc = hlg_images_open(&space, args->words, args->n_words, err);

	if (rc == 0) {
		hlg_images_warn(&space);
		rc = hlg_kallsyms_write(stdout, &space, err);
	}
	hlg_space_finish(&space);
	return rc;
}

int hlg_verb_kallsyms(int argc, char **argv)
{
	static const struct argp argp = {NULL, parse, "guest.elf[@BASE]...", doc, NULL,
					 NULL, NULL};
	struct arguments args = {0};
	struct hlg_err err;
	int rc;

	hlg_words_parse(&argp, argc, argv, 0, &args);
	rc = write_symbols(&args, &err);
	return hlg_output_end(rc < 0 ? hlg_output_error(&err) : 0);
}
