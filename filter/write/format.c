// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/format.h"

#include "config.h"

int hlg_format_check(const struct hlg_options *options, struct hlg_err *err)
{
	if (options->format == HLG_FORMAT_JSON && !HLG_HAVE_JANSSON)
		return hlg_err_set(
			err, HLG_EINPUT,
			"format=json: not in this build (install libjansson-dev and "
			"build again)");
	return 0;
}

int hlg_format_write(FILE *f, const struct hlg_report *report, struct hlg_err *err)
{
	switch (report->options->format) {
	case HLG_FORMAT_CSV:
		return hlg_write_csv(f, report, err);
#if HLG_HAVE_JANSSON
	case HLG_FORMAT_JSON:
		return hlg_write_json(f, report, err);
#endif
	case HLG_FORMAT_FOLDED:
		return hlg_write_folded(f, report, err);
	default:
		return hlg_write_text(f, report, err);
	}
}
