// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/profile.h"
#include "filter/profile/select.h"
#include "symtab/grow.h"

static uint32_t add(struct hlg_profile *p, uint32_t name, unsigned precise_ip)
{
	const char *text = hlg_strings_get(&p->event_names, name);
	struct hlg_event *e = &p->events[p->n_events];
	const struct hlg_options *options = p->options;

	*e = (struct hlg_event){
		.name = text,
		.precise_ip = (uint8_t)precise_ip,
		.selected = hlg_select_event(options, text),
		.next = HLG_NO_SERIES,
		.series = HLG_NO_SERIES,
	};
	e->plain = e->selected && !p->restricts &&
		   !(options->by & (HLG_BY_PID | HLG_BY_TID | HLG_BY_CPU)) &&
		   options->stacks != HLG_STACKS_COUNTERS;
	e->plain_host = e->plain && options->mode == HLG_SHOW_GUEST;
	return p->n_events++;
}

uint32_t hlg_profile_event(struct hlg_profile *profile, const char *name,
			   unsigned precise_ip)
{
	uint32_t known = hlg_strings_find(&profile->event_names, name), number, event,
		 first;

	first = known ? profile->named[known - 1] : HLG_NO_SERIES;
	for (uint32_t i = first; i != HLG_NO_SERIES; i = profile->events[i].next)
		if (profile->events[i].precise_ip == (uint8_t)precise_ip)
			return i;
	/* There are not more names than events. */
	if (!HLG_GROW(profile->events, profile->n_events) ||
	    !HLG_GROW(profile->named, profile->n_events))
		return HLG_NO_SERIES;
	number = hlg_strings_add(&profile->event_names, name);
	if (number == HLG_NO_STRING)
		return HLG_NO_SERIES;
	event = add(profile, number, precise_ip);
	profile->named[number - 1] = event;
	if (known) {
		profile->events[event].next = first;
		profile->events[event].shared = profile->events[first].shared = true;
	}
	return event;
}

void hlg_profile_describe(struct hlg_profile *profile, uint32_t event,
			  enum hlg_event_kind kind, bool member)
{
	struct hlg_event *e = &profile->events[event];

	/* The larger of both pairs, so that it does not matter which was first. */
	if (kind > e->kind || (kind == e->kind && member)) {
		e->kind = kind;
		e->member = member;
	}
}
