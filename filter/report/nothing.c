// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/nothing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/event.h"
#include "symtab/escape.h"

#define RECORD "record again: hlguest record -- VMM"

static uint64_t count_kept(const struct hlg_profile *p)
{
	return p->seen.samples - p->deselected.samples;
}

enum {
	LIST = 256,     /* bytes of a list of events; what has no room is "..." */
	SELECTION = 256 /* of what selects, and of what stands in front */
};

/* "before: --pid=7: ", or of alone where nothing selects. Of a note (NULL) "pid=7: ", as
 * reports have it elsewhere. */
static const char *put_subject(char buf[static SELECTION], const struct hlg_profile *p,
			       const char *of)
{
	const struct hlg_options *o = p->options;
	size_t n = (size_t)snprintf(buf, SELECTION, "%s", of ? of : "");

	if (o->selection) {
		hlg_escape_cut(buf + n, SELECTION - n - 2,
			       of ? o->selected_by : o->selection);
		strcat(buf, ": ");
	}
	return buf;
}

/* The name that follows last in order, of the events that event= selects or of all. */
static const char *next_event(const struct hlg_profile *p, bool selected,
			      const char *last)
{
	const char *next = NULL;

	for (uint32_t i = 0; i < p->n_events; i++) {
		const char *name = p->events[i].name;

		if ((!selected || p->events[i].selected) && strcmp(name, last) > 0 &&
		    (!next || strcmp(name, next) < 0))
			next = name;
	}
	return next;
}

/* "cpu-clock, kvm:kvm_exit", by their names; of those that event= selects, or of all. */
static const char *list_events(char buf[static LIST], const struct hlg_profile *p,
			       bool selected)
{
	static const char more[] = ", ...";
	const char *name = "";
	size_t used = 0;

	buf[0] = '\0';
	while ((name = next_event(p, selected, name))) {
		const char *comma = used ? ", " : "";

		if (used && used + strlen(", ") + strlen(name) + sizeof(more) > LIST) {
			strcpy(buf + used, more);
			break;
		}
		strcpy(buf + used, comma);
		used += strlen(comma);
		hlg_escape_cut(buf + used, LIST - strlen(more) - used, name);
		used += strlen(buf + used);
	}
	return buf;
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

/* "guest samples are of pid 4711, 4712; tid 4713": those that pid=, tid=, cpu=
 * and sandbox= left out; "" if there are none. */
static const char *list_passed(char buf[static LIST], const struct hlg_profile *p)
{
	static const char *const words[HLG_N_IDS] = {"pid", "tid", "cpu", "sandbox"};
	char ids[HLG_FEW * 16];
	size_t used = 0;

	buf[0] = '\0';
	for (int i = 0; i < HLG_N_IDS; i++)
		if (p->passed[i].n)
			used += (size_t)snprintf(
				buf + used, LIST - used, "%s%s %s",
				used ? "; " : "guest samples are of ", words[i],
				hlg_few_text(ids, sizeof(ids), &p->passed[i]));
	return buf;
}

/* What there is instead of what was selected. */
static void tell_selection(const struct hlg_profile *p, const char *subject,
			   struct hlg_err *err)
{
	const struct hlg_options *o = p->options;
	uint64_t n = p->seen.samples;
	bool timed =
		hlg_sample_span_known(&p->span) && (o->start || o->stop != UINT64_MAX);
	char list[LIST], head[512], spans[32], from[32], span[128];

	snprintf(head, sizeof(head), "%sselects none of %" PRIu64 " sample%s", subject, n,
		 n == 1 ? "" : "s");
	snprintf(span, sizeof(span), "the recording spans %s s from %s",
		 put_seconds(spans, p->span.last - p->span.first),
		 put_seconds(from, p->span.first));
	if (!selects_event(p))
		hlg_err_set(err, HLG_EINPUT, "%s (the recording has %s)", head,
			    list_events(list, p, false));
	else if (p->untold && p->untold == p->deselected.samples)
		hlg_err_set(err, HLG_EINPUT,
			    "%s: the recording does not say which have it (record with "
			    "hlguest record, or perf's -T --sample-cpu)",
			    head);
	else if (list_passed(list, p)[0] || timed)
		hlg_err_set(err, HLG_EINPUT, "%s (%s%s%s)", head, list,
			    list[0] && timed ? "; " : "", timed ? span : "");
	else
		hlg_err_set(err, HLG_EINPUT, "%s (leave it out to see what there is)",
			    head);
}

/* Are all selected events tracepoints? They tell of events, not of time. */
static bool only_traces(const struct hlg_profile *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_events; i++) {
		if (!p->events[i].selected)
			continue;
		if (p->events[i].kind != HLG_EVENT_TRACEPOINT)
			return false;
		any = true;
	}
	return any;
}

static bool selects_all_events(const struct hlg_profile *p)
{
	for (uint32_t i = 0; i < p->n_events; i++)
		if (!p->events[i].selected)
			return false;
	return true;
}

bool hlg_nothing_is_user(const char *event)
{
	char *key = hlg_event_key(event);
	const char *modifiers = key ? strrchr(key, ':') : NULL;
	bool user = modifiers && strchr(modifiers, 'u') && !strchr(modifiers, 'k') &&
		    (strncmp(key, "cpu-clock", 9) == 0 ||
		     strncmp(key, "task-clock", 10) == 0);

	free(key);
	return user;
}

/* Are all selected events clocks of user space? */
static bool only_user(const struct hlg_profile *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_events; i++) {
		if (!p->events[i].selected)
			continue;
		if (!hlg_nothing_is_user(p->events[i].name))
			return false;
		any = true;
	}
	return any;
}

/* There are samples, and all are of the host. */
static void tell_host(const struct hlg_profile *p, const char *subject,
		      struct hlg_err *err)
{
	char events[LIST], passed[LIST];

	list_events(events, p, true);
	list_passed(passed, p);
	if (only_traces(p))
		hlg_err_set(err, HLG_EINPUT,
			    "%sno guest samples, only tracepoints: %s (use hlguest "
			    "exits, or %s)",
			    subject, events,
			    selects_all_events(p) ? RECORD : "select another event");
	else if (p->injected)
		hlg_err_set(err, HLG_EINPUT,
			    "%sno guest samples: hlguest inject wrote them as samples "
			    "of processes, for perf report (give the recording that it "
			    "was made from)",
			    subject);
	else if (only_user(p))
		hlg_err_set(err, HLG_EINPUT,
			    "%sno guest samples: %s leaves the kernel out, and guests "
			    "with it (" HLG_NOTHING_USER ")",
			    subject, events);
	else
		hlg_err_set(err, HLG_EINPUT,
			    "%sno guest samples: all %" PRIu64 " of %s are of the "
			    "host (%s%s)",
			    subject, count_kept(p), events,
			    passed[0]               ? passed
			    : p->options->selection ? "leave it out to see what there is"
						    : RECORD,
			    p->options->mode == HLG_SHOW_GUEST
				    ? "; --mode=host shows them"
				    : "");
}

bool hlg_nothing_why(const struct hlg_profile *p, const char *of, struct hlg_err *err)
{
	uint64_t kept = count_kept(p);
	char subject[SELECTION];

	if (kept != p->host.samples || p->unrecorded)
		return false;
	if (p->seen.samples == 0 && p->origins.unread + p->origins.unread_profiles)
		hlg_err_set(err, HLG_EINPUT,
			    "%sno samples: of what was summed %" PRIu64
			    " were left out (who summed it said why: hlguest merge, or "
			    "the logs of a fleet)",
			    of ? of : "", p->origins.unread + p->origins.unread_profiles);
	else if (p->seen.samples == 0)
		hlg_err_set(err, HLG_EINPUT,
			    "%sno samples: the recording is empty (" RECORD ")",
			    of ? of : "");
	else if (kept == 0)
		tell_selection(p, put_subject(subject, p, of), err);
	else
		tell_host(p, put_subject(subject, p, of), err);
	return true;
}

/* With mode=host: are all samples of guests? */
static int check_host(const struct hlg_profile *p, const char *of, struct hlg_err *err)
{
	char events[LIST], subject[SELECTION];

	if (p->host.samples || p->unrecorded)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%sno host samples: all %" PRIu64
			   " of %s are of guests (--mode=guest shows them)",
			   put_subject(subject, p, of), count_kept(p),
			   list_events(events, p, true));
}

int hlg_nothing_check(const struct hlg_profile *p, const char *of, struct hlg_err *err)
{
	const struct hlg_options *o = p->options;
	bool given = hlg_options_given(o, "mode");
	struct hlg_err why;

	if (count_kept(p) && o->stacks == HLG_STACKS_COUNTERS)
		return 0;
	if (count_kept(p) && o->mode == HLG_SHOW_HOST && given)
		return check_host(p, of, err);
	if (!hlg_nothing_why(p, of, &why) ||
	    (count_kept(p) && o->mode == HLG_SHOW_ALL && given))
		return 0;
	*err = why;
	return HLG_EINPUT;
}
