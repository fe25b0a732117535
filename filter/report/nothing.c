// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/nothing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RECORD "record again: hlguest record -- VMM"

static uint64_t count_kept(const struct hlg_profile *p)
{
	return p->seen.samples - p->deselected.samples;
}

/* "cpu-clock, kvm:kvm_exit", by their names; of those that event= selects, or of all. */
static const char *list_events(char *buf, size_t size, const struct hlg_profile *p,
			       bool selected)
{
	const char *last = "";
	size_t used = 0;

	buf[0] = '\0';
	for (;;) {
		const char *next = NULL;

		for (uint32_t i = 0; i < p->n_events; i++) {
			const char *name = p->events[i].name;

			if ((!selected || p->events[i].selected) &&
			    strcmp(name, last) > 0 && (!next || strcmp(name, next) < 0))
				next = name;
		}
		if (!next || used >= size)
			return buf;
		used += (size_t)snprintf(buf + used, size - used, "%s%s",
					 used ? ", " : "", next);
		last = next;
	}
}

static bool selects_event(const struct hlg_profile *p)
{
	for (uint32_t i = 0; i < p->n_events; i++)
		if (p->events[i].selected)
			return true;
	return p->n_events == 0;
}

/* "12.345678", in every locale. */
static const char *put_seconds(char buf[static 32], uint64_t ns)
{
	snprintf(buf, 32, "%" PRIu64 ".%06" PRIu64, ns / 1000000000,
		 ns % 1000000000 / 1000);
	return buf;
}

/* What there is instead of what was selected. */
static void tell_selection(const struct hlg_profile *p, const char *of,
			   struct hlg_err *err)
{
	const struct hlg_options *o = p->options;
	uint64_t n = p->seen.samples;
	char events[256], head[512], spans[32], from[32];

	snprintf(head, sizeof(head), "%s%s: selects none of %" PRIu64 " sample%s", of,
		 o->selection ? o->selection : "selection", n, n == 1 ? "" : "s");
	if (!selects_event(p))
		hlg_err_set(err, HLG_EINPUT, "%s (the recording has %s)", head,
			    list_events(events, sizeof(events), p, false));
	else if (p->untold && p->untold == p->deselected.samples)
		hlg_err_set(err, HLG_EINPUT,
			    "%s: the recording does not say which have it (record with "
			    "hlguest record, or perf's -T --sample-cpu)",
			    head);
	else if (hlg_sample_span_known(&p->span) && (o->start || o->stop != UINT64_MAX))
		hlg_err_set(err, HLG_EINPUT, "%s (the recording spans %s s from %s)",
			    head, put_seconds(spans, p->span.last - p->span.first),
			    put_seconds(from, p->span.first));
	else
		hlg_err_set(err, HLG_EINPUT, "%s (leave it out to see what there is)",
			    head);
}

/* Do only tracepoints have samples? They tell of events, not of time. */
static bool only_traces(const struct hlg_profile *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_events; i++) {
		if (p->events[i].kind != HLG_EVENT_TRACEPOINT)
			return false;
		any = true;
	}
	return any;
}

bool hlg_nothing_why(const struct hlg_profile *p, const char *of, struct hlg_err *err)
{
	uint64_t kept = count_kept(p);
	const char *selection = p->options->selection;
	char events[256];

	if (kept != p->host.samples || p->unrecorded)
		return false;
	if (p->seen.samples == 0) {
		hlg_err_set(err, HLG_EINPUT,
			    "%sno samples: the recording is empty (" RECORD ")", of);
		return true;
	}
	if (kept == 0) {
		tell_selection(p, of, err);
		return true;
	}
	list_events(events, sizeof(events), p, true);
	if (only_traces(p))
		hlg_err_set(err, HLG_EINPUT,
			    "%sno guest samples, only tracepoints: %s (use hlguest "
			    "exits, or " RECORD ")",
			    of, events);
	else
		hlg_err_set(err, HLG_EINPUT,
			    "%s%s%sno guest samples: all %" PRIu64 " of %s are of the "
			    "host (" RECORD "; mode=host shows them)",
			    of, selection ? selection : "", selection ? ": " : "", kept,
			    events);
	return true;
}

int hlg_nothing_check(const struct hlg_profile *p, const char *of, struct hlg_err *err)
{
	const struct hlg_options *o = p->options;
	struct hlg_err why;

	if (!hlg_nothing_why(p, of, &why))
		return 0;
	if (count_kept(p) &&
	    (o->stacks == HLG_STACKS_COUNTERS ||
	     (o->mode != HLG_SHOW_GUEST && hlg_options_given(o, "mode"))))
		return 0;
	*err = why;
	return HLG_EINPUT;
}
