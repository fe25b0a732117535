/* SPDX-License-Identifier: GPL-2.0-only */
/* What a calibration says about the samples of a report. */
#ifndef HLG_TOOLS_REPORT_CALIBRATION_H
#define HLG_TOOLS_REPORT_CALIBRATION_H

#include "filter/run.h"
#include "tools/machine/calibration-file.h"

/*
 * Sets skid= of the run to the largest window of its selected events, unless the user set
 * it, and says in the trust block what that rests on. The run has read the n recordings
 * at paths. A calibration whose truths did not hold is refused.
 */
int hlg_report_calibration_apply(struct hlg_run *run,
				 const struct hlg_calibration_file *calibrated,
				 const char *file, char *const *paths, size_t n,
				 struct hlg_err *err);

#endif
