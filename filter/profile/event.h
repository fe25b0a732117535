/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kind of thing an event is, and so what its samples can mean: by type and config
 * of its perf_event_attr (linux/perf_event.h, enum perf_type_id and perf_sw_ids).
 */
#ifndef HLG_FILTER_PROFILE_EVENT_H
#define HLG_FILTER_PROFILE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum hlg_event_kind {
	HLG_EVENT_UNKNOWN,
	HLG_EVENT_TIMER,    /* cpu-clock, task-clock: a timer of the host */
	HLG_EVENT_COUNTER,  /* a hardware counter's overflow */
	HLG_EVENT_SOFTWARE, /* the kernel counts something: page-faults ... */
	HLG_EVENT_TRACEPOINT,
	HLG_EVENT_BREAKPOINT
};

/* By type and config of the event's perf_event_attr. */
enum hlg_event_kind hlg_event_kind(uint32_t type, uint64_t config);

/* Is an event with this perf_event_attr of a group whose leader's samples hold the counts
 * of all (perf's `:S`)? */
bool hlg_event_member(uint64_t sample_type, uint64_t read_format);

/* The kind in one word: "timer", "counter", "software", "tracepoint", "breakpoint",
 * "unknown". */
const char *hlg_event_word(enum hlg_event_kind kind);

/* What samples of such an event mean: the end of a sentence that begins "EVENT is ".
 * precise_ip as recorded. */
const char *hlg_event_meaning(enum hlg_event_kind kind, unsigned precise_ip);

/*
 * What an event counts, by its name as perf has it: two events are one where their keys
 * are. The key is the name less what says only how often, how or how exactly it is
 * sampled: the terms /period=/, /freq=/ and those of perf-record(1) about stacks, time,
 * buffers and inheritance, and the modifiers p P S D W e b R. So are the modifiers G and
 * H, host and guest: what is compared are the samples of guests, which `cpu-clock` and
 * `cpu-clock:G` have alike (flame shows the host's as well, where they were recorded).
 * The modifiers u, k, h and I stay: with them other code is sampled. So do terms that
 * configure the event, as event= and umask=. To be freed; NULL without memory.
 */
char *hlg_event_key(const char *name);

/*
 * What an event is called: its name less the terms that the key lacks, so that
 * "cpu-clock/freq=997/HG", as it has to be recorded beside tracepoints, is
 * "cpu-clock:HG", as it is without. To be freed; NULL without memory.
 */
char *hlg_event_plain(const char *name);

/* Is what stands behind a name's last colon its modifiers, as "u" and "Hpp", not
 * "kvm_exit" of the tracepoint kvm:kvm_exit? */
bool hlg_event_are_modifiers(const char *text);

#endif
