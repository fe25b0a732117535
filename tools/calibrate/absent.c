// SPDX-License-Identifier: GPL-2.0-only
/* hlguest calibrate where its guests cannot run. */
#include "symtab/err.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"

int hlg_verb_calibrate(int argc, char **argv)
{
	struct hlg_err err;

	(void)argc;
	(void)argv;
	hlg_err_set(
		&err, HLG_EINPUT,
		"calibrate: its guests are for x86-64 only (run it on such a machine)");
	return hlg_output_error(&err);
}
