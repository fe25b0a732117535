// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/choice.h"

#include "tools/feed/window.h"

int hlg_choice_read(struct hlg_choice *choice, const char *path,
		    const struct hlg_options *options, struct hlg_err *err)
{
	int rc;

	*choice = (struct hlg_choice){0};
	if (!hlg_select_restricts(options))
		return 0;
	choice->options = options;
	rc = hlg_feed_window(&choice->window, path, options, err);
	if (rc == 0 && options->sandbox.n)
		rc = hlg_sandbox_of_read(&choice->whose, path, true, err);
	return rc;
}

void hlg_choice_finish(struct hlg_choice *choice)
{
	hlg_sandbox_of_finish(&choice->whose);
}

bool hlg_choice_has(const struct hlg_choice *choice, const uint8_t *record, uint16_t size,
		    const struct hlg_perfdata_layout *layout)
{
	const uint32_t misc = hlg_perfdata_u32(record + 4) & UINT16_MAX;
	const struct hlg_perfdata_raw raw = {
		.record = record, .layout = layout, .size = size, .misc = misc};
	struct hlg_sample sample;

	if (!layout || !hlg_sample_is_guest(misc & PERF_RECORD_MISC_CPUMODE_MASK))
		return false;
	if (!choice->options)
		return true;
	sample = hlg_perfdata_sample(&raw);
	hlg_sandbox_of_tell(&choice->whose, &raw, &sample);
	return hlg_select_keeps(choice->options, &choice->window, &sample);
}
