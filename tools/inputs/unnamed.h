/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELFs that record noted beside recordings (tools/beside), where the user has named some
 * and these are not among them: their samples do not fit what is named. And the command
 * that records anew, where others may have run that nobody noted.
 */
#ifndef HLG_TOOLS_INPUTS_UNNAMED_H
#define HLG_TOOLS_INPUTS_UNNAMED_H

#include "filter/options/options.h"
#include "tools/inputs/given.h"

/* Has a run, of either side, or what is judged with these options, ask for them where
 * samples do not fit. in outlives the options. */
void hlg_unnamed_ask(const struct hlg_inputs *in, struct hlg_options *options);

#endif
