/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a calibration comes to: a sentence for each part that was measured, and its
 * figure. Each has a wording for each outcome, and no number that was not measured.
 */
#ifndef HLG_TOOLS_CALIBRATE_CONCLUSION_H
#define HLG_TOOLS_CALIBRATE_CONCLUSION_H

#include "tools/calibrate/calibration.h"

enum {
	HLG_CONCLUSION = 512, /* bytes of a sentence */
	HLG_FIGURE = 64,      /* bytes of a figure */
	HLG_CONCLUSIONS = 3
};

struct hlg_conclusion {
	const char *of[HLG_CONCLUSIONS];                /* "An exit costs" ... */
	char figure[HLG_CONCLUSIONS][HLG_FIGURE];       /* ... "27 us", or "not known" */
	char sentence[HLG_CONCLUSIONS][HLG_CONCLUSION]; /* sample precision, exit cost,
							   counter accuracy */
	size_t n; /* those of parts that were not measured are left out */
};

void hlg_calibrate_conclude(struct hlg_conclusion *conclusion,
			    const struct hlg_calibration *calibration);

#endif
