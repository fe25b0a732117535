// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/event.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "filter/options/nearest.h"
#include "tools/cli/child.h"
#include "tools/cli/perf-find.h"

#define MOST_MS 5000

/* Generic names of perf-list(1). */
#define NAMES                                                                            \
	"cycles,cpu-clock,task-clock,instructions,page-faults,cache-misses,"             \
	"cache-references,branches,branch-misses,branch-instructions,bus-cycles,"        \
	"ref-cycles,cpu-cycles,stalled-cycles-frontend,stalled-cycles-backend,"          \
	"idle-cycles-frontend,idle-cycles-backend,faults,minor-faults,major-faults,"     \
	"context-switches,cs,cpu-migrations,migrations,alignment-faults,"                \
	"emulation-faults,bpf-output,dummy"

static bool is_generic(const char *name, size_t n)
{
	for (const char *at = NAMES; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");

		if (len == n && strncmp(at, name, n) == 0)
			return true;
		at += len;
	}
	return false;
}

/* Have all of them generic names: "{cycles,cpu-clock:u}:S"? */
static bool are_generic(const char *events)
{
	while (*events) {
		size_t n = strcspn(events, "{},:");

		if (n && !is_generic(events, n))
			return false;
		events += n;
		events += *events == ':' ? strcspn(events, ",}") : *events != '\0';
	}
	return true;
}

/* The name that a word with a slip in it may mean; NULL: none. */
static const char *meant(const char *events, size_t *n)
{
	struct hlg_nearest nearest = {.word = events + strspn(events, "{")};

	nearest.n = strcspn(nearest.word, "{},:/");
	hlg_nearest_look_words(&nearest, NAMES);
	*n = nearest.best_n;
	return nearest.best;
}

int hlg_record_event_check(const char *events, char option, const char *asked,
			   struct hlg_err *err)
{
	char perf[PATH_MAX];
	/* Nothing is opened; a file that cannot be is for stand-ins that do not know it.
	 */
	char *words[] = {perf,
			 (char *)"record",
			 (char *)"--dry-run",
			 (char *)"-e",
			 (char *)events,
			 (char *)"-o",
			 (char *)"/proc/self/none",
			 (char *)"--",
			 (char *)"true",
			 NULL};
	struct hlg_child child;
	const char *name;
	size_t n;

	if (!asked[strspn(asked, "{},")])
		return hlg_err_set(err, HLG_EWORDS,
				   "-%c '%s': names no event (perf list shows those that "
				   "it knows)",
				   option, asked);
	if (are_generic(events) || !hlg_perf_find(perf))
		return 0;
	hlg_child_run(&child, words, MOST_MS);
	if (child.end != HLG_CHILD_EXITED || child.status == 0 ||
	    !strstr(child.text, "event syntax error"))
		return 0;
	name = meant(asked, &n);
	if (name)
		return hlg_err_set(
			err, HLG_EINPUT,
			"-%c %s: perf knows no such event (did you mean %.*s? perf "
			"list shows all)",
			option, asked, (int)n, name);
	return hlg_err_set(
		err, HLG_EINPUT,
		"-%c %s: perf knows no such event (perf list shows those that it "
		"knows)",
		option, asked);
}
