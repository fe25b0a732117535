/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that verbs share which read recordings: each is written once. */
#ifndef HLG_TOOLS_INPUTS_SHARED_OPTIONS_H
#define HLG_TOOLS_INPUTS_SHARED_OPTIONS_H

#include "tools/inputs/given.h"

/* All options of a verb, the shared ones and its own, to be freed; NULL: no memory. */
struct hlg_verb_option *hlg_inputs_options(const struct hlg_verb *verb);

#endif
