// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/event.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum hlg_event_kind hlg_event_kind(uint32_t type, uint64_t config)
{
	switch (type) {
	case PERF_TYPE_SOFTWARE:
		return config == PERF_COUNT_SW_CPU_CLOCK ||
				       config == PERF_COUNT_SW_TASK_CLOCK
			       ? HLG_EVENT_TIMER
			       : HLG_EVENT_SOFTWARE;
	case PERF_TYPE_TRACEPOINT:
		return HLG_EVENT_TRACEPOINT;
	case PERF_TYPE_BREAKPOINT:
		return HLG_EVENT_BREAKPOINT;
	default:
		/* HARDWARE, HW_CACHE, RAW, and the PMUs that the kernel numbers. */
		return HLG_EVENT_COUNTER;
	}
}

bool hlg_event_member(uint64_t sample_type, uint64_t read_format)
{
	return sample_type & PERF_SAMPLE_READ && read_format & PERF_FORMAT_GROUP;
}

const char *hlg_event_word(enum hlg_event_kind kind)
{
	static const char *const words[] = {
		[HLG_EVENT_UNKNOWN] = "unknown",
		[HLG_EVENT_TIMER] = "timer",
		[HLG_EVENT_COUNTER] = "counter",
		[HLG_EVENT_SOFTWARE] = "software",
		[HLG_EVENT_TRACEPOINT] = "tracepoint",
		[HLG_EVENT_BREAKPOINT] = "breakpoint",
	};

	return words[kind];
}

const char *hlg_event_meaning(enum hlg_event_kind kind, unsigned precise_ip)
{
	switch (kind) {
	case HLG_EVENT_TIMER:
		return "a timer of the host: samples show time; addresses are exactly "
		       "where the guest was interrupted, but a late interrupt finds it "
		       "further on";
	case HLG_EVENT_COUNTER:
		return precise_ip ? "a hardware counter; precise_ip asks for exact "
				    "addresses, which hardware gives for the host's own "
				    "code only: guest addresses skid all the same"
				  : "a hardware counter: its overflow is noticed some "
				    "instructions late, so guest addresses skid";
	case HLG_EVENT_SOFTWARE:
		return "counted by the host's kernel: samples show where it happened, "
		       "not time";
	case HLG_EVENT_TRACEPOINT:
		return "a tracepoint: samples show where it was passed, not time";
	case HLG_EVENT_BREAKPOINT:
		return "a breakpoint: samples show where it was hit, not time";
	default:
		return "of an unknown kind";
	}
}

static bool is_about_sampling(const char *term, size_t n)
{
	static const char *const words[] = {
		"period",    "freq",       "call-graph", "stack-size",  "max-stack",
		"time",      "inherit",    "no-inherit", "overwrite",   "no-overwrite",
		"nr",        "aux-output", "percore",    "branch_type", "aux-sample-size",
		"max-events"};
	size_t word = strcspn(term, "=,/");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (word <= n && strlen(words[i]) == word &&
		    strncmp(term, words[i], word) == 0)
			return true;
	return false;
}

/* Copies the terms between slashes that stay; without any there are no slashes. */
static char *copy_terms(char *to, const char *terms, const char *end)
{
	char *start = to;

	while (terms < end) {
		size_t n = strcspn(terms, ",/");

		if (n && !is_about_sampling(terms, n)) {
			*to = to == start ? '/' : ',';
			memcpy(to + 1, terms, n);
			to += n + 1;
		}
		terms += n + (terms + n < end);
	}
	if (to > start)
		*to++ = '/';
	return to;
}

/* Modifiers of what is counted stay, behind a colon. */
static char *copy_modifiers(char *to, const char *modifiers)
{
	char *start = to;

	for (; *modifiers; modifiers++) {
		if (!strchr("ukhI", *modifiers))
			continue;
		if (to == start)
			*to++ = ':';
		*to++ = *modifiers;
	}
	return to;
}

bool hlg_event_are_modifiers(const char *text)
{
	return text[strspn(text, "ukhIGHpPSDWebR")] == '\0';
}

/* comparing: also without the modifiers that do not say what is counted. */
static char *rewrite(const char *name, bool comparing)
{
	const char *slash = strchr(name, '/'), *last = strrchr(name, '/');
	const char *rest = strrchr(name, ':');
	/* A slash may become "/:", and nothing else is longer than it was. */
	char *key = malloc(strlen(name) + 2), *to = key;

	if (!key)
		return NULL;
	if (slash && last > slash)
		rest = last[1] == ':' ? last + 2 : last + 1;
	else
		slash = NULL, rest = rest ? rest + 1 : NULL;
	if (!rest || !hlg_event_are_modifiers(rest)) {
		strcpy(key, name);
		return key;
	}
	if (!slash) {
		to = mempcpy(to, name, (size_t)(rest - 1 - name));
	} else {
		to = mempcpy(to, name, (size_t)(slash - name));
		to = copy_terms(to, slash + 1, last);
	}
	if (comparing) {
		*copy_modifiers(to, rest) = '\0';
		return key;
	}
	if (*rest && (to == key || to[-1] != '/'))
		*to++ = ':';
	strcpy(to, rest);
	return key;
}

char *hlg_event_key(const char *name)
{
	return rewrite(name, true);
}

char *hlg_event_plain(const char *name)
{
	char *plain = rewrite(name, false);

	if (plain && !plain[0])
		strcpy(plain, name); /* nothing else is left */
	return plain;
}
