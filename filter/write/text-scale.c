// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-scale.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

uint32_t hlg_text_scale_event(const struct hlg_report *r, const struct hlg_view *v)
{
	uint32_t event = UINT32_MAX;

	if (v != &r->all) {
		const char *group = (const char *)v - offsetof(struct hlg_group, view);

		return r->profile->series[((const struct hlg_group *)group)->series]
			.event;
	}
	for (uint32_t i = 0; i < r->n_events; i++) {
		if (r->events[i].count.samples == 0)
			continue;
		if (event != UINT32_MAX)
			return UINT32_MAX;
		event = r->events[i].event;
	}
	return event;
}

struct hlg_text_scale hlg_text_scale_for(const struct hlg_report *r, uint32_t event,
					 uint64_t largest)
{
	static const struct hlg_text_scale scales[2][4] = {{{false, 1e9, " G"},
							    {false, 1e6, " M"},
							    {false, 1e3, " k"},
							    {false, 0, ""}},
							   {{true, 1e9, " s"},
							    {true, 1e6, " ms"},
							    {true, 1e3, " us"},
							    {true, 0, ""}}};
	bool time =
		event != UINT32_MAX && r->profile->events[event].kind == HLG_EVENT_TIMER;
	int i = 0;

	if (r->options->raw)
		return (struct hlg_text_scale){0};
	/* A tenth of a unit at least: three digits in front of the point are the most. */
	while (i < 3 && (double)largest < scales[time][i].unit / 10)
		i++;
	return scales[time][i];
}

const char *hlg_text_scale_period(char buf[static 32], const struct hlg_text_scale *scale,
				  uint64_t period)
{
	unsigned long long parts;

	if (scale->unit == 0) {
		snprintf(buf, 32, "%" PRIu64 "%s", period, scale->time ? " ns" : "");
		return buf;
	}
	/* printf would ask the locale for a point. */
	parts = (unsigned long long)llround((double)period / scale->unit * 1000);
	snprintf(buf, 32, "%llu.%03llu%s", parts / 1000, parts % 1000, scale->name);
	return buf;
}

uint64_t hlg_text_scale_ns(const struct hlg_report *r)
{
	const struct hlg_sample_span *span = &r->profile->span;
	struct hlg_select_window window;
	uint64_t first, last;

	if (r->n_files > 1 || r->recordings > 1)
		return 0;
	if (!hlg_sample_span_known(span))
		return r->took;
	/* Of time= what it selects: the samples beside it are of that. */
	window = hlg_select_window_of(r->options, span->first, span->last);
	first = span->first > window.start ? span->first : window.start;
	last = span->last < window.stop ? span->last : window.stop;
	return last > first ? last - first : 0;
}

bool hlg_text_scale_span(char buf[static 32], const struct hlg_report *r)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	uint64_t ns = hlg_text_scale_ns(r), tenths;
	int i = 0;

	if (ns == 0)
		return false;
	if (r->options->raw) {
		snprintf(buf, 32, "%" PRIu64 " ns", ns);
		return true;
	}
	/* In the unit of guest time, as hlg_text_scale_for has it. */
	while (i < 2 && ns < units[i].ns / 10)
		i++;
	if (ns < units[i].ns) {
		snprintf(buf, 32, "0.%03" PRIu64 " %s", ns / (units[i].ns / 1000),
			 units[i].name);
		return true;
	}
	tenths = (ns + units[i].ns / 20) / (units[i].ns / 10);
	snprintf(buf, 32, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
		 units[i].name);
	return true;
}
