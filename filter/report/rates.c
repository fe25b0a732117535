// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/rates.h"

#include <inttypes.h>
#include <stdio.h>

#include "filter/stats/rate.h"

#define A_SECOND 1e9

/* Of the i-th event of the report, if it is a clock that samples; else NULL. */
static const struct hlg_event *clock_at(const struct hlg_report *r, uint32_t i)
{
	const struct hlg_event *event = &r->profile->events[r->events[i].event];

	return r->events[i].count.samples && r->events[i].count.period &&
			       event->kind == HLG_EVENT_TIMER && !event->member
		       ? event
		       : NULL;
}

/* Samples a second of the clock's own time. */
static uint64_t rate_of(struct hlg_count count)
{
	return (uint64_t)(A_SECOND * (double)count.samples / (double)count.period + .5);
}

uint64_t hlg_rates_clock(const struct hlg_report *r)
{
	const struct hlg_event_sum *only = NULL;

	for (uint32_t i = 0; i < r->n_events; i++) {
		if (r->events[i].count.samples == 0)
			continue;
		if (only || !clock_at(r, i))
			return 0;
		only = &r->events[i];
	}
	return only && hlg_rate_is_round(rate_of(only->count))
		       ? only->count.period / only->count.samples
		       : 0;
}

void hlg_rates_put_step(char *text, size_t size, const struct hlg_report *r)
{
	const uint64_t clock = hlg_rates_clock(r);
	const uint64_t rate = clock ? rate_of((struct hlg_count){1, clock}) : 0;

	text[0] = '\0';
	if (rate && rate < HLG_RATE_DENSE && !r->all.in_step)
		snprintf(text, size,
			 "; or it keeps step with %" PRIu64
			 " samples a second: record -F %" PRIu64,
			 rate, hlg_rate_beside(rate));
}

static void note_dense(struct hlg_report *r, const struct hlg_event *event, uint64_t rate)
{
	hlg_note_list_warn(&r->notes,
			   "%s: sampled %" PRIu64
			   " times a second: so often, taking samples is much of what "
			   "runs, and shares may be wrong (record -F 4999 or less, for "
			   "longer)",
			   event->name, rate);
}

static void note_in_step(struct hlg_report *r, const struct hlg_event *event,
			 uint64_t rate)
{
	hlg_note_list_warn(&r->notes,
			   "%s: samples are in step with the guest, those %u apart are "
			   "alike: at %" PRIu64
			   " a second, a round rate, they meet the same few points of "
			   "what it does, and shares may be wrong (record -F %" PRIu64
			   ")",
			   event->name, r->all.in_step, rate, hlg_rate_beside(rate));
}

void hlg_rates_note(struct hlg_report *r)
{
	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = clock_at(r, i);
		uint64_t rate;

		if (!event)
			continue;
		rate = rate_of(r->events[i].count);
		if (rate >= HLG_RATE_DENSE && rate < HLG_RATE_NONE)
			note_dense(r, event, rate);
		if (r->all.in_step)
			note_in_step(r, event, rate);
	}
}
