// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/cli/output.h"
#include "tools/feed/feed.h"
#include "tools/perfdata/perfdata.h"

static void tell_nothing(const char *event)
{
	fprintf(stderr, "hlguest: no guest sample was recorded with -e ");
	hlg_escape_print(stderr, event);
	fputs(strncmp(event + (event[0] == '{'), "cpu-clock", 9) == 0
		      ? ": did a guest run, and long enough? (hlguest doctor tells what "
			"this machine can record)\n"
		      : ": did a guest run at all? Does the event reach guests "
			"(cycles:G, "
			"not cycles:P)? Does a mediated PMU keep them to itself? (try -e "
			"cpu-clock; hlguest doctor tells more)\n",
	      stderr);
}

/* A word as a shell takes it; one with a ' in it is the reader's to quote. */
static void print_word(const char *word)
{
	bool plain =
		word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789_./+,:@%-")] == '\0';
	const char *quote = plain || strchr(word, '\'') ? "" : "'";

	fputs(quote, stderr);
	hlg_escape_print(stderr, word);
	fputs(quote, stderr);
}

/*
 * perf up to 6.12 turns inherit off where samples hold counter values
 * (evsel__config, tools/perf/util/evsel.c): of a command, threads made later have none.
 * Nothing we could say changes that, so it is told when it has happened.
 */
static void tell_threads(const struct hlg_recorded *r)
{
	const struct hlg_perfdata_event *event;
	struct hlg_perfdata *pd;
	struct hlg_err err;

	if (!r->of_command || hlg_perfdata_open(&pd, r->path, &err) < 0)
		return;
	event = hlg_perfdata_n_events(pd) ? hlg_perfdata_event(pd, 0) : NULL;
	if (event && !event->attr.inherit)
		fputs("hlguest: this perf (before 6.13) counts the command's first "
		      "thread only: if the VMM runs its vCPUs in others, start it first "
		      "and record with -p PID, or with -a\n",
		      stderr);
	hlg_perfdata_close(pd);
}

int hlg_record_tell(const struct hlg_recorded *r)
{
	struct hlg_recording_sums sums;
	struct hlg_err err;
	int rc = hlg_feed_count(r->path, &sums, &err);

	if (rc < 0)
		return hlg_output_error(&err);
	fprintf(stderr, "hlguest: ");
	hlg_escape_print(stderr, r->path);
	fprintf(stderr,
		": %" PRIu64 " guest samples, %" PRIu64 " of the host, %" PRIu64
		" lost\n",
		sums.guest, sums.host, sums.lost);
	if (strcmp(r->verb, "windows") == 0)
		tell_threads(r);
	if (sums.guest == 0 && strcmp(r->verb, "exits") != 0) {
		tell_nothing(r->event);
		return 0;
	}
	fprintf(stderr, "hlguest: now: hlguest %s guest.elf ", r->verb);
	print_word(r->path);
	fputc('\n', stderr);
	return 0;
}
