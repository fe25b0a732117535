/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a verb that reads recordings is given: images, recordings, and those options that
 * such verbs share. Each is declared once, in shared-options.c or in the filter's table;
 * a verb names the ones it has (hlg_verb.shared). What is of the table is turned back
 * into words --key=value, which go through the filter's own parser.
 */
#ifndef HLG_TOOLS_INPUTS_INPUTS_H
#define HLG_TOOLS_INPUTS_INPUTS_H

#include "tools/feed/batch.h"
#include "tools/inputs/given.h"
#include "tools/inputs/shared-options.h"

/*
 * Parses argv; words of the verb's own options go into its arguments. False when the
 * command ends with that, and all is told: with *status. Finish inputs in any case.
 */
bool hlg_inputs_parse(struct hlg_inputs *inputs, const struct hlg_verb *verb, int argc,
		      char **argv, int *status);

/* Fails if out, which may be NULL, is a file that is read: of either side, or by an
 * option.
 */
int hlg_inputs_check_out(const struct hlg_inputs *inputs, const char *out,
			 struct hlg_err *err);

/*
 * Reads all recordings into run, which is started; of *batch, judge and profiles are the
 * caller's to set, and the rest zero. Tells which could not be read: then *status is 1.
 * Fails as hlg_batch_read does; the caller finishes the batch in any case.
 */
int hlg_inputs_read(const struct hlg_inputs *inputs, struct hlg_run *run,
		    struct hlg_batch *batch, int *status, struct hlg_err *err);

#endif
