// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/tell.h"

#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/nothing.h"
#include "symtab/escape.h"
#include "symtab/plural.h"
#include "tools/beside/beside.h"
#include "tools/cli/output.h"
#include "tools/feed/feed.h"
#include "tools/feed/lacks.h"
#include "tools/perfdata/count.h"
#include "tools/perfdata/perfdata.h"
#include "tools/record/perf.h"
#include "tools/record/runs.h"

/* Did perf leave the kernel out, whatever was asked? Then name is what it recorded. */
static bool samples_user(const struct hlg_record_request *args, char name[static 64])
{
	struct hlg_perfdata *pd;
	struct hlg_err err;
	bool user = false;

	if (hlg_perfdata_open(&pd, args->out, &err) < 0)
		return false;
	if (hlg_perfdata_n_events(pd)) {
		user = hlg_nothing_is_user(hlg_perfdata_event(pd, 0)->name);
		hlg_escape_cut(name, 64, hlg_perfdata_event(pd, 0)->name);
	}
	hlg_perfdata_close(pd);
	return user;
}

/* What ended a command of this status, for which perf ends itself by the same signal;
 * NULL: nothing did, or somebody wanted it to end. */
static const char *crash_of(int status)
{
	int sig = status - 128;

	return sig <= 0 || sig == SIGHUP || sig == SIGINT || sig == SIGTERM
		       ? NULL
		       : sigdescr_np(sig);
}

/* Of a clock, what is short has no sample; a command that failed says why itself. */
static void tell_nothing(const struct hlg_record_request *args, const char *event,
			 int status)
{
	char recorded[64];
	const char *why =
		": did a guest run at all? Does the event reach guests (cycles:G, not "
		"cycles:P)? Does a mediated PMU keep them to itself? (try -e cpu-clock; "
		"hlguest doctor shows more)";
	const char *crash = args->command ? crash_of(status) : NULL;
	char *line;
	int rc;

	if (args->command && status > 0 && status < 128)
		rc = asprintf(&line,
			      "hlguest: %s: ended with status %d, and no guest sample "
			      "was recorded (see what it said)",
			      args->command[0], status);
	else if (crash)
		rc = asprintf(&line,
			      "hlguest: %s: was ended: %s, and no guest sample was "
			      "recorded (does it run without hlguest?)",
			      args->command[0], crash);
	else if (samples_user(args, recorded))
		rc = asprintf(&line,
			      "hlguest: no guest sample was recorded: perf recorded %s, "
			      "which leaves the kernel out, and guests with it "
			      "(" HLG_NOTHING_USER ")",
			      recorded);
	else if (strncmp(event + (event[0] == '{'), "cpu-clock", 9) != 0)
		rc = asprintf(&line, "hlguest: no guest sample was recorded with -e %s%s",
			      event, why);
	else if (args->windows)
		rc = asprintf(&line,
			      "hlguest: no guest sample was recorded with -e %s: did a "
			      "guest run, and long enough? (hlguest doctor shows what "
			      "this machine can record)",
			      event);
	else
		rc = asprintf(&line,
			      "hlguest: no guest sample was recorded with -e %s, %s a "
			      "second: did a guest run, and for more than a few "
			      "milliseconds? (let it run longer, or hlguest record -F "
			      "4999; hlguest doctor shows what this machine can record)",
			      event, args->frequency);
	if (rc < 0)
		return;
	hlg_output_fold(stderr, 0, 0, line);
	free(line);
}

/*
 * What perf did otherwise than asked, as the recording shows. perf up to 6.12 turns
 * inherit off where samples hold counter values (evsel__config, tools/perf/util/evsel.c):
 * of a command, threads made later have none. Nothing we could say changes that, so it is
 * told when it has happened. Where there is no counter of cycles, perf takes a clock
 * (evsel__fallback there) and does not say so.
 */
static void tell_otherwise(const struct hlg_record_request *args, const char *asked)
{
	const struct hlg_perfdata_event *event;
	struct hlg_perfdata *pd;
	struct hlg_err err;

	if (hlg_perfdata_open(&pd, args->out, &err) < 0)
		return;
	event = hlg_perfdata_n_events(pd) ? hlg_perfdata_event(pd, 0) : NULL;
	if (event && event->attr.type == PERF_TYPE_SOFTWARE && strstr(asked, "cycles")) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, asked);
		fputs(": no such counter here: perf sampled by ", stderr);
		hlg_escape_print(stderr, event->name);
		fputs(" instead\n", stderr);
	}
	if (event && !event->attr.inherit && args->windows && args->command &&
	    !args->pid && !args->everything)
		fputs("hlguest: this perf (before 6.13) counts the command's first "
		      "thread only: if the VMM runs its vCPUs in others, start it first "
		      "and record with -p PID, or with -a\n",
		      stderr);
	hlg_perfdata_close(pd);
}

/* What has been recorded is there, and can be read. */
static void tell_cut(const struct hlg_record_request *args)
{
	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, args->out);
	fputs(": is cut off, as the disk is full (make room, or record on another: "
	      "hlguest record -o FILE)\n",
	      stderr);
}

static void tell_sums(const struct hlg_record_request *args,
		      const struct hlg_recording_sums *sums, uint64_t traced)
{
	const bool several = args->windows && strchr(args->windows, ',');
	char entries[64] = "", lost[80], span[24], *line;

	if (hlg_record_request_traces(args))
		snprintf(entries, sizeof(entries), "%" PRIu64 " %s%s of KVM, ", traced,
			 args->exits ? "event" : "call", hlg_plural_s(traced));
	snprintf(lost, sizeof(lost), "%" PRIu64 " lost", sums->lost);
	/* Nobody counted what could not be written. */
	if (args->cut)
		snprintf(lost, sizeof(lost), "cut off%s%s; what came later is lost",
			 sums->took ? " after " : "",
			 sums->took ? hlg_lacks_span(span, sums->took) : "");
	if (asprintf(&line,
		     "hlguest: %s: %" PRIu64 " guest sample%s%s, %" PRIu64
		     " of the host, %s%s",
		     args->out, sums->guest, hlg_plural_s(sums->guest),
		     several ? " of all counters" : "", sums->host - traced, entries,
		     lost) < 0)
		return;
	hlg_output_fold(stderr, 0, 0, line);
	free(line);
}

/* What is beside the recording does not name all guests. */
static void tell_full(const struct hlg_record_request *args)
{
	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, args->out);
	fprintf(stderr,
		": has more than %d guests: ELFs of further ones are not noted (name "
		"them to report)\n",
		HLG_BESIDE_GUESTS);
}

/* "hlguest: now: hlguest report guest.elf": begins what to type next; now may be NULL. */
static void begin_verb(const struct hlg_record_request *args, const char *now,
		       const char *verb)
{
	const struct hlg_record_guests *guests = &args->guests;

	if (now)
		fprintf(stderr, "hlguest: %s: ", now);
	fprintf(stderr, "hlguest %s", verb);
	for (size_t i = 0; i < guests->n; i++) {
		fputc(' ', stderr);
		hlg_record_runs_word(guests->paths[i]);
	}
	if (guests->n == 0)
		fputs(guests->n_others > 1    ? " UNSTRIPPED.elf..."
		      : guests->n_others == 1 ? " UNSTRIPPED.elf"
					      : " guest.elf",
		      stderr);
}

/* more: behind the recording. */
static void tell_verb(const struct hlg_record_request *args, const char *now,
		      const char *verb, const char *more)
{
	begin_verb(args, now, verb);
	fputc(' ', stderr);
	hlg_record_runs_word(args->out);
	fprintf(stderr, "%s\n", more);
}

/* Which have no symbols, where there is none with: what to name instead. */
static void tell_stripped(const struct hlg_record_guests *guests)
{
	for (size_t i = 0; guests->n == 0 && i < guests->n_others; i++) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, guests->others[i]);
		fputs(": has no symbols (name the file that it was stripped from, to "
		      "report)\n",
		      stderr);
	}
}

static void tell_next(const struct hlg_record_request *args)
{
	const struct hlg_record_guests *guests = &args->guests;

	if (guests->n == 0 && guests->untrusted) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, guests->untrusted);
		fputs(": may be written by others than root, and was not looked into for "
		      "its guest (name it, or its guest, to report)\n",
		      stderr);
	}
	tell_stripped(guests);
	tell_verb(args, "now",
		  args->windows                        ? "windows"
		  : args->exits                        ? "exits"
		  : args->stacks || args->guest_stacks ? "flame -o flame.svg"
						       : "report",
		  "");
	if (!args->guest_stacks && !args->stacks && !args->windows && !args->exits &&
	    hlg_record_guests_only(guests))
		hlg_guest_stacks_hint(hlg_record_guests_only(guests));
	if (!args->guest_stacks || args->windows || args->exits)
		return;
	tell_verb(args, " or", "report --children", "");
	tell_verb(args, " or", "annotate", " FUNCTION (its callers, too)");
}

/* Callers that a report leaves out are not spoken of as if there were any. */
static void check_stacks(struct hlg_record_request *args,
			 const struct hlg_guest_stacks *stacks)
{
	bool any = args->guests.n == 0;

	for (size_t i = 0; !args->run && i < args->guests.n; i++)
		any |= hlg_guest_stacks_check(stacks, args->guests.paths[i]);
	if (!args->run)
		args->guest_stacks &= any;
}

int hlg_record_tell(struct hlg_record_request *args, const char *event, int status,
		    const struct hlg_guest_stacks *stacks)
{
	struct hlg_record_guests *guests = &args->guests;
	struct hlg_recording_sums sums;
	uint64_t traced = 0;
	struct hlg_err err;

	if (hlg_feed_count(args->out, &sums, &err) < 0 ||
	    hlg_perfdata_count_traced(args->out, &traced, &err) < 0)
		return hlg_output_error(&err);
	check_stacks(args, stacks);
	if (!args->quiet) {
		tell_sums(args, &sums, traced);
		if (!args->run)
			tell_otherwise(args, event);
		if (guests->full)
			tell_full(args);
	}
	if (args->cut)
		tell_cut(args);
	else if (sums.guest == 0 && (!args->exits || traced == 0))
		tell_nothing(args, event, status);
	else if (!args->quiet && !args->runs)
		tell_next(args);
	/* The recording is whole without. */
	if (hlg_beside_write(
		    args->out,
		    (const char *const *)(guests->n ? guests->paths : guests->others),
		    guests->n ? guests->n : guests->n_others,
		    (const char *const *)guests->others, guests->n_others, &err) < 0)
		hlg_output_error(&err);
	return 0;
}

void hlg_record_tell_old(const struct hlg_record_keep *keep)
{
	char old[PATH_MAX];

	if (hlg_perfdata_count_is_good(keep->path) ||
	    !hlg_record_keep_old(keep, old, sizeof(old)))
		return;
	fputs("hlguest: the last recording with guest samples is ", stderr);
	hlg_escape_print(stderr, old);
	fputc('\n', stderr);
}

void hlg_record_tell_runs(const struct hlg_record_request *args, const char *out,
			  uint64_t good)
{
	if (good < args->runs)
		fprintf(stderr,
			"hlguest: run %" PRIu64 " of %" PRIu64 " %s: no more are made\n",
			good + 1, args->runs,
			hlg_record_perf_interrupted() ? "was interrupted" : "failed");
	if (args->quiet || good == 0)
		return;
	tell_stripped(&args->guests);
	begin_verb(args, "now", "report");
	hlg_record_runs_print(out, good);
	fputs("\nhlguest:  or, with as many of another state: ", stderr);
	begin_verb(args, NULL, "diff");
	hlg_record_runs_print(out, good);
	fputs(" --after AFTER...\n", stderr);
}
