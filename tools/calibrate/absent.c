// SPDX-License-Identifier: GPL-2.0-only
/* hlguest calibrate where its guests cannot run. */
#include "symtab/err.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct hlg_err err;

	(void)argc;
	(void)argv;
	hlg_err_set(&err, HLG_EINPUT,
		    "%s: its guests are for x86-64 only (run it on such a machine)",
		    verb->name);
	return hlg_output_error(&err);
}

const struct hlg_verb hlg_verb_calibrate = {
	.name = "calibrate",
	.args = "",
	.help = "how far to trust this machine",
	.group = HLG_VERB_PREPARES,
	.examples = "hlguest calibrate\teverything, on x86-64",
	.run = run,
};
