// SPDX-License-Identifier: GPL-2.0-only
/* hlguest kallsyms: for people who stay with perf kvm --guestkallsyms. */
#include "tools/kallsyms/kallsyms.h"

#include <argp.h>
#include <inttypes.h>
#include <string.h>

#include "filter/run.h"
#include "symtab/image/base.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"

/* Where cargo hyperlight perf thinks every guest is, unless it is told. */
#define COMPAT_BASE UINT64_C(0x1000)

enum {
	KEY_COMPAT = 0x100
};

struct arguments {
	bool compat;
	char **words; /* the images */
	size_t n_words;
};

static const struct argp_option options[] = {
	{"compat", KEY_COMPAT, NULL, 0,
	 "exactly what cargo hyperlight perf would write, for one ELF; the base is "
	 "0x1000 "
	 "unless it is given",
	 0},
	{0},
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
	case KEY_COMPAT:
		args->compat = true;
		return 0;
	case ARGP_KEY_ARGS: /* all that are left */
		args->words = state->argv + state->next;
		args->n_words = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no guest ELF is given (name it: guest.elf, "
				  "guest.elf@0x4000)");
		return 0;
	case ARGP_KEY_END:
		if (args->compat && args->n_words > 1)
			argp_error(state, "--compat writes the table of one ELF (run it "
					  "once for each)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int write_own(const struct arguments *args, struct hlg_err *err)
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

/* The base that is taken is the other program's; tells where the ELF says better. */
static void warn_of_base(const struct hlg_image_arg *arg)
{
	struct hlg_image *image;
	struct hlg_err err;

	if (hlg_image_open_elf(&image, arg->path, &err) < 0)
		return;
	if (hlg_base_decide(image, &err) == 0 && image->base != COMPAT_BASE) {
		hlg_err_set(&err, 0,
			    "%s: base 0x%" PRIx64 " is taken, as by cargo hyperlight "
			    "perf, but it is 0x%" PRIx64 " (give it: %s@0x%" PRIx64 ")",
			    arg->path, COMPAT_BASE, image->base, arg->path, image->base);
		hlg_output_error(&err);
	}
	hlg_image_destroy(image);
}

static int write_compat(const struct arguments *args, struct hlg_err *err)
{
	struct hlg_options parsed;
	int rc = hlg_images_parse(&parsed, args->words, 1, err);

	if (rc == 0 && parsed.images[0].map)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "map:%s: is no ELF (--compat takes one ELF)",
				 parsed.images[0].path);
	if (rc == 0)
		rc = hlg_run_check_base(&parsed.images[0], err);
	if (rc == 0) {
		const struct hlg_image_arg *arg = &parsed.images[0];

		if (!arg->stated)
			warn_of_base(arg);
		rc = hlg_kallsyms_compat(stdout, arg->path,
					 arg->stated ? arg->base : COMPAT_BASE, err);
	}
	hlg_options_finish(&parsed);
	return rc;
}

int hlg_verb_kallsyms(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "guest.elf[@BASE]...", doc, NULL,
					 NULL,    NULL};
	struct arguments args = {0};
	struct hlg_err err;
	int rc;

	hlg_words_parse(&argp, argc, argv, 0, &args);
	rc = args.compat ? write_compat(&args, &err) : write_own(&args, &err);
	return hlg_output_end(rc < 0 ? hlg_output_error(&err) : 0);
}
