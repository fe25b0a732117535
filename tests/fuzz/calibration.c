// SPDX-License-Identifier: GPL-2.0-only
/* A saved calibration: read, asked for events, and what a report makes of it. */
#include <stdlib.h>

#include "tests/fuzz/door.h"
#include "tools/report/calibration.h"

static void use(const struct hlg_calibration_file *calibrated)
{
	static const char *const names[] = {"cpu-clock", "cycles:G", "cycles:Gpp", ":p"};
	struct hlg_run run;
	struct hlg_err err;

	if (hlg_run_begin(&run, 0, NULL, &err) < 0)
		door_fail(err.msg);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		hlg_profile_event(&run.profile, names[i], i);
	if (hlg_report_calibration_apply(&run, calibrated, "calibration", NULL, 0,
					 &err) == 0 &&
	    run.options.skid > HLG_CALIBRATION_FILE_WINDOW)
		door_fail("a window is larger than any");
	hlg_run_finish(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hlg_calibration_file calibrated;
	struct hlg_err err;

	if (hlg_calibration_file_read(&calibrated, door_path(data, size), &err) == 0)
		use(&calibrated);
	return 0;
}
