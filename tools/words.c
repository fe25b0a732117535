// SPDX-License-Identifier: GPL-2.0-only
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

#include "output.h"

_Noreturn void hlg_words_no_memory(void)
{
	struct hlg_err err;

	hlg_err_memory(&err, "arguments");
	exit(hlg_output_error(&err));
}

void hlg_words_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
		     void *input)
{
	/* All else ends the program itself. */
	if (argp_parse(argp, argc, argv, flags, NULL, input) != 0)
		hlg_words_no_memory();
}
