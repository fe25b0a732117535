/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A calibration that hlguest calibrate --save wrote, as far as other verbs use it. The
 * file may be anybody's: texts are cut to the room there is and not escaped, numbers are
 * checked, and what is not known of is passed over.
 */
#ifndef HLG_TOOLS_MACHINE_CALIBRATION_FILE_H
#define HLG_TOOLS_MACHINE_CALIBRATION_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"

#define HLG_CALIBRATION_FILE_EVENTS 32
#define HLG_CALIBRATION_FILE_WINDOW 1000 /* instructions, at most */

struct hlg_calibration_file_event {
	char name[64];   /* "cpu-clock", "cycles:Gp": G guests only, p precise */
	bool known;      /* else there is no window: it could not be measured */
	uint64_t window; /* instructions that samples may be late by */
};

struct hlg_calibration_file {
	char cpu[128], kernel[192], date[32];
	bool holds;   /* its truths did */
	int emulated; /* ring 0: 1, 0, or -1 if that is not known */
	struct hlg_calibration_file_event events[HLG_CALIBRATION_FILE_EVENTS];
	size_t n_events;
};

/* HLG_EINPUT if it is no calibration, or hlguest was built without jansson. */
int hlg_calibration_file_read(struct hlg_calibration_file *calibrated, const char *path,
			      struct hlg_err *err);

/*
 * The event that a recording calls name and was sampled with precise_ip; modifiers but p
 * do not matter. NULL if it was not calibrated.
 */
const struct hlg_calibration_file_event *hlg_calibration_file_find(
	const struct hlg_calibration_file *calibrated, const char *name,
	unsigned precise_ip);

/* How late samples are, as calibrate, doctor and report say it: "95 % within 14
 * instructions", of a window of none "95 % on the right instruction". */
const char *hlg_calibration_file_within(char to[static 48], uint64_t window);

/*
 * Where the last calibration is kept: $XDG_STATE_HOME/hlguest/calibration.json, or below
 * ~/.local/state (XDG Base Directory Specification 0.8). Empty if neither is known, or
 * there is no such home: users of services have none, and it is not made.
 */
void hlg_calibration_file_place(char path[static PATH_MAX]);

#endif
