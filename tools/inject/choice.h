/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which guest samples of a recording become those of processes: all, or those that pid=,
 * tid=, sandbox= and time= select, as in a report. The others stay as they are.
 */
#ifndef HLG_TOOLS_INJECT_CHOICE_H
#define HLG_TOOLS_INJECT_CHOICE_H

#include "filter/profile/select.h"
#include "tools/feed/sandbox-of.h"

struct hlg_choice {
	const struct hlg_options *options; /* not owned; NULL: all are wanted */
	struct hlg_select_window window;
	struct hlg_sandbox_of whose; /* all zero: that does not matter */
};

/* Of the recording at path, what options, which outlive it, select. Finish in any case.
 */
int hlg_choice_read(struct hlg_choice *choice, const char *path,
		    const struct hlg_options *options, struct hlg_err *err);
void hlg_choice_finish(struct hlg_choice *choice);

/* Is a record, of size bytes, a guest sample that is wanted? layout: as a sink has it. */
bool hlg_choice_has(const struct hlg_choice *choice, const uint8_t *record, uint16_t size,
		    const struct hlg_perfdata_layout *layout);

#endif
