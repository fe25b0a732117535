/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of verbs that record: what the members of a struct hlg_record_request are told.
 */
#ifndef HLG_TOOLS_RECORD_OPTIONS_H
#define HLG_TOOLS_RECORD_OPTIONS_H

#include "tools/cli/verb.h"
#include "tools/record/request.h"

/* Headings of help. */
#define HLG_RECORD_WHOM "Which guests:"
#define HLG_RECORD_WHAT "What is recorded:"
#define HLG_RECORD_HOW  "How often:"

/* type is the verb's arguments, member what the name says of the request in them. */
#define HLG_RECORD_PID(type, member)                                                     \
	{                                                                                \
		.name = "pid", .heading = HLG_RECORD_WHOM, .letter = 'p',                \
		.value = "PID", .help = "a running VMM", .files = "pid",                 \
		.kind = HLG_VERB_TEXT, .field = offsetof(type, member)                   \
	}

#define HLG_RECORD_ALL_CPUS(type, member)                                                \
	{                                                                                \
		.name = "all-cpus", .heading = HLG_RECORD_WHOM, .letter = 'a',           \
		.help = "all VMMs", .kind = HLG_VERB_FLAG,                               \
		.field = offsetof(type, member)                                          \
	}

#define HLG_RECORD_HOST(type, member)                                                    \
	{                                                                                \
		.name = "host", .heading = HLG_RECORD_WHAT, .letter = 'H',               \
		.help = "sample the host as well", .kind = HLG_VERB_FLAG,                \
		.field = offsetof(type, member)                                          \
	}

#define HLG_RECORD_EVENT(type, member)                                                   \
	{                                                                                \
		.name = "event", .heading = HLG_RECORD_HOW, .letter = 'e',               \
		.value = "EVENT", .help = "what to sample by",                           \
		.fallback = "cycles:G where guests have it, else cpu-clock",             \
		.files = "=cycles:G cpu-clock", .kind = HLG_VERB_TEXT,                   \
		.field = offsetof(type, member)                                          \
	}

#define HLG_RECORD_FREQ(type, member)                                                    \
	{                                                                                \
		.name = "freq", .heading = HLG_RECORD_HOW, .letter = 'F', .value = "HZ", \
		.help = "samples a second", .fallback = HLG_RECORD_FREQUENCY,            \
		.kind = HLG_VERB_NUMBER, .set = hlg_record_options_set_frequency,        \
		.field = offsetof(type, member)                                          \
	}

/* Keeps the word in the option's field. Fails for what is neither a number nor max. */
int hlg_record_options_set_frequency(void *arguments,
				     const struct hlg_verb_option *option, char *value,
				     struct hlg_err *err);

#endif
