// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/status.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symtab/escape.h"
#include "symtab/file.h"
#include "symtab/grow.h"
#include "symtab/plural.h"
#include "tools/cli/output.h"
#include "tools/fleet/engine.h"
#include "tools/fleet/work.h"

enum {
	SHOWN = 8 /* tasks that have no whole part, by their numbers */
};

bool hlg_fleet_status_add(struct hlg_fleet_status_to_do *to_do, size_t task)
{
	if (!HLG_GROW(to_do->tasks, to_do->n))
		return false;
	to_do->tasks[to_do->n++] = task;
	return true;
}

static bool is_there(const struct hlg_fleet_plan *plan, size_t task)
{
	char path[PATH_MAX];
	struct hlg_err err;

	return hlg_fleet_plan_part(path, plan, task, &err) == 0 &&
	       access(path, F_OK) == 0;
}

int hlg_fleet_status_find(struct hlg_fleet_status_to_do *to_do,
			  const struct hlg_fleet_plan *plan, struct hlg_pprof_of *sums,
			  struct hlg_err *err)
{
	struct hlg_err why;

	*sums = (struct hlg_pprof_of){0};
	for (size_t i = 0; i < plan->n_tasks; i++) {
		struct hlg_pprof_of of;

		if (hlg_fleet_work_is_whole(plan, i, &of, &why)) {
			sums->recordings += of.recordings;
			sums->unread += of.unread;
			continue;
		}
		if (!hlg_fleet_status_add(to_do, i))
			return hlg_err_memory(err, "tasks");
		if (!to_do->why.msg[0] && is_there(plan, i))
			to_do->why = why;
	}
	return 0;
}

/* Why the file at plan->out is not the sum of these parts; NULL if it is. */
static const char *find_fault(const struct hlg_fleet_plan *plan,
			      const struct hlg_pprof_of *parts)
{
	struct hlg_pprof_of sum;
	struct stat planned, summed;
	char path[PATH_MAX];
	struct hlg_err err;

	if (access(plan->out, F_OK) != 0)
		return "is not there";
	if (hlg_pprof_look(plan->out, &sum, &err) < 0)
		return "cannot be read";
	if (sum.recordings != parts->recordings || sum.unread != parts->unread)
		return "is of other recordings than the parts";
	if (hlg_fleet_plan_path(path, plan, "plan", &err) < 0 ||
	    stat(path, &planned) != 0 || stat(plan->out, &summed) != 0)
		return "cannot be read";
	if (summed.st_mtim.tv_sec < planned.st_mtim.tv_sec ||
	    (summed.st_mtim.tv_sec == planned.st_mtim.tv_sec &&
	     summed.st_mtim.tv_nsec < planned.st_mtim.tv_nsec))
		return "is older than the plan";
	return NULL;
}

/* "; not 3, 6, 7 and 12 more (...)" */
static void print_to_do(const struct hlg_fleet_plan *plan,
			const struct hlg_fleet_status_to_do *to_do)
{
	for (size_t i = 0; i < to_do->n && i < SHOWN; i++)
		printf("%s%zu", i ? ", " : "; not ", to_do->tasks[i]);
	if (to_do->n > SHOWN)
		printf(" and %zu more", to_do->n - SHOWN);
	if (to_do->n) {
		fputs(" (", stdout);
		hlg_escape_print(stdout, plan->dir);
		fputs("/log has what tasks said; submit --resume runs these)", stdout);
	}
	putchar('\n');
	if (to_do->why.msg[0]) {
		fputs("          ", stdout);
		hlg_escape_print(stdout, to_do->why.msg);
		putchar('\n');
	}
}

int hlg_fleet_status_show(const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	struct hlg_fleet_status_to_do to_do = {0};
	struct hlg_pprof_of sums;
	uint64_t recordings = 0;
	const char *fault;
	int rc = hlg_fleet_status_find(&to_do, plan, &sums, err);

	if (rc < 0 || chdir(plan->cwd) != 0) {
		free(to_do.tasks);
		return rc < 0 ? rc : hlg_file_fail(plan->cwd, errno, err);
	}
	for (size_t i = 0; i < plan->n_tasks; i++)
		recordings += plan->tasks[i].n;
	printf("parts     %zu of %zu %s whole", plan->n_tasks - to_do.n, plan->n_tasks,
	       hlg_plural_word(plan->n_tasks - to_do.n, "is", "are"));
	print_to_do(plan, &to_do);
	fault = find_fault(plan, &sums);
	printf("recorded  %" PRIu64 " of %" PRIu64 " recording%s %s in them, %" PRIu64
	       " left out%s\n",
	       sums.recordings, recordings, hlg_plural_s(recordings),
	       hlg_plural_word(sums.recordings, "is", "are"), sums.unread,
	       !sums.unread ? ""
	       : fault      ? " (their tasks' logs say why)"
			    : " (a report of the sum says why)");
	fputs("sum       ", stdout);
	hlg_escape_print(stdout, plan->out);
	printf("%s%s\n", fault ? ": " : "", fault ? fault : "");
	hlg_fleet_engine_status(plan);
	free(to_do.tasks);
	return hlg_output_end(to_do.n || fault);
}
