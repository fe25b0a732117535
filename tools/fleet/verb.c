// SPDX-License-Identifier: GPL-2.0-only
/* hlguest fleet: many recordings, by tasks on many machines, into one saved profile. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "filter/output/out.h"
#include "symtab/file.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/fleet/engine.h"
#include "tools/fleet/split.h"
#include "tools/fleet/status.h"
#include "tools/fleet/words.h"
#include "tools/fleet/work.h"

struct arguments {
	int engine; /* enum hlg_fleet_engine; -1: not given */
	const char *list, *out, *dir, *resume, *logins;
	bool nul, print, sends;
	uint64_t tasks, cpus, limit; /* 0: not given */
	struct hlg_verb_texts words; /* what to do, and with what */
};

enum {
	TASKS = 200 /* if there are as many recordings */
};

static int hand_over(const struct arguments *args, const struct hlg_fleet_plan *plan,
		     const struct hlg_fleet_status_to_do *to_do)
{
	struct hlg_err err;

	if (!args->print)
		return hlg_fleet_engine_submit(plan, to_do->tasks, to_do->n);
	if (hlg_fleet_engine_print(plan, to_do->tasks, to_do->n, &err) < 0)
		return hlg_output_error(&err);
	return hlg_output_end(0);
}

/* A new fleet */

static bool set(char **to, const char *text)
{
	*to = strdup(text);
	return *to;
}

/* What the words say, and where this is. */
static int fill(struct hlg_fleet_plan *plan, const struct arguments *args,
		struct hlg_err *err)
{
	bool ok = set(&plan->out, args->out) && set(&plan->list, args->list) &&
		  (!args->logins || set(&plan->logins, args->logins));

	plan->nul = args->nul;
	plan->sends = args->sends;
	plan->engine =
		args->engine < 0 ? HLG_FLEET_LOCAL : (enum hlg_fleet_engine)args->engine;
	plan->cpus = args->cpus ? args->cpus : 1;
	plan->limit = args->limit;
	for (size_t i = 1; ok && i < args->words.n; i++)
		ok = hlg_fleet_plan_add_word(plan, args->words.text[i]);
	if (!ok)
		return hlg_err_memory(err, "fleet");
	if (!getcwd(plan->cwd, sizeof(plan->cwd)))
		return hlg_file_fail(".", errno, err);
	return 0;
}

/* The folder's name, by default that of the sum with .d behind it; absolute. */
static int name_folder(struct hlg_fleet_plan *plan, const struct arguments *args,
		       struct hlg_err *err)
{
	const char *dir = args->dir ? args->dir : args->out;
	int n = snprintf(plan->dir, sizeof(plan->dir), "%s%s%s%s",
			 dir[0] == '/' ? "" : plan->cwd, dir[0] == '/' ? "" : "/", dir,
			 args->dir ? "" : ".d");

	if (n > 0 && (size_t)n < sizeof(plan->dir))
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "%s: is too long a name", dir);
}

static int make_folder(const char *path, struct hlg_err *err)
{
	char plan[PATH_MAX + 8];

	if (mkdir(path, 0777) == 0)
		return 0;
	snprintf(plan, sizeof(plan), "%s/plan", path);
	if (errno == EEXIST && access(plan, F_OK) != 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is there already, without a plan (remove it, if "
				   "submit has left it, or use another --dir)",
				   path);
	if (errno == EEXIST)
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: is there already (if its fleet is done, remove it; "
			"if not, hlguest fleet submit --resume DIR; or use "
			"another --dir)",
			path);
	return hlg_out_fail(path, "made", errno, err);
}

static int make_folders(struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	static const char *const names[] = {"list", "part", "log"};
	char path[PATH_MAX];
	int rc = make_folder(plan->dir, err);

	if (rc == 0 && !realpath(plan->dir, path))
		rc = hlg_file_fail(plan->dir, errno, err);
	if (rc == 0)
		strcpy(plan->dir, path);
	for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		rc = hlg_fleet_plan_path(path, plan, names[i], err);
		if (rc == 0)
			rc = make_folder(path, err);
	}
	return rc;
}

static int check_below(const char *path, struct hlg_err *err)
{
	bool outside = path[0] == '/';

	for (const char *name = path; !outside && *name;) {
		size_t n = strcspn(name, "/");

		outside = n == 2 && memcmp(name, "..", 2) == 0;
		name += n;
		name += strspn(name, "/");
	}
	if (!outside)
		return 0;
	return hlg_err_set(
		err, HLG_EINPUT,
		"%s: cannot be sent, as it lies outside of this folder (run this "
		"in a folder that has all in it)",
		path);
}

/* What is sent goes to a folder of its own there, where its name is the same only if it
 * is of this folder here. */
static int check_sent(const struct hlg_fleet_split *split,
		      const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	struct hlg_options options;
	int rc = hlg_fleet_words_images(&options, plan->words, plan->n_words, err);

	for (size_t i = 0; rc == 0 && i < split->n; i++)
		rc = check_below(split->names[i], err);
	for (size_t i = 0; rc == 0 && i < options.n_images; i++)
		rc = check_below(options.images[i].path, err);
	hlg_options_finish(&options);
	if (rc < 0 || split->n <= plan->n_tasks)
		return rc;
	return hlg_err_set(err, HLG_EINPUT,
			   "--transfer: there are more than %d recordings (use a "
			   "shared file system)",
			   HLG_FLEET_FILES);
}

/* What is read is not to be overwritten. */
static int check_inputs(const struct hlg_list *list, const struct hlg_fleet_plan *plan,
			const struct arguments *args, struct hlg_err *err)
{
	struct hlg_options options;
	int rc = hlg_fleet_words_images(&options, plan->words, plan->n_words, err);

	for (size_t i = 0; rc == 0 && i < options.n_images; i++)
		rc = hlg_target_check_input(args->out, options.images[i].path, err);
	for (size_t i = 0; rc == 0 && i < list->n; i++)
		rc = hlg_target_check_input(args->out, list->names[i], err);
	hlg_options_finish(&options);
	return rc;
}

/* Reads the list, and divides it. */
static int divide(struct hlg_fleet_split *split, struct hlg_list *list,
		  struct hlg_fleet_plan *plan, const struct arguments *args,
		  struct hlg_err *err)
{
	int rc = hlg_list_read(list, args->list, args->nul, err);

	if (rc == 0)
		rc = check_inputs(list, plan, args, err);
	if (rc < 0)
		return rc;
	memcpy(plan->digest, list->digest, sizeof(plan->digest));
	rc = hlg_fleet_split(split, list,
			     args->sends   ? HLG_FLEET_FILES
			     : args->tasks ? args->tasks
					   : TASKS,
			     plan, err);
	if (rc == 0 && args->sends)
		rc = check_sent(split, plan, err);
	if (rc == 0 && !args->print)
		rc = make_folders(plan, err);
	if (rc == 0)
		rc = hlg_fleet_split_write(split, plan, !args->print, err);
	return rc;
}

static int submit(const struct arguments *args)
{
	struct hlg_fleet_split split = {0};
	struct hlg_fleet_plan plan = {0};
	struct hlg_list list = {0};
	struct hlg_fleet_status_to_do to_do = {0};
	struct hlg_err err;
	int rc = hlg_pprof_check(&err), status = 1;

	if (rc == 0)
		rc = hlg_fleet_words_check_images(args->words.text + 1, args->words.n - 1,
						  &err);
	if (rc == 0)
		rc = hlg_target_check_input(args->out, args->list, &err);
	if (rc == 0)
		rc = hlg_out_check(args->out, HLG_MAGIC_NONE, &err);
	if (rc == 0)
		rc = fill(&plan, args, &err);
	if (rc == 0)
		rc = name_folder(&plan, args, &err);
	if (rc == 0)
		rc = hlg_fleet_engine_check(&plan, &err);
	if (rc == 0)
		rc = divide(&split, &list, &plan, args, &err);
	for (size_t i = 0; rc == 0 && i < plan.n_tasks; i++)
		if (!hlg_fleet_status_add(&to_do, i))
			rc = hlg_err_memory(&err, "tasks");
	if (rc == 0 && !args->print)
		rc = hlg_fleet_plan_write(&plan, &err);
	status = rc < 0 ? hlg_output_error(&err) : hand_over(args, &plan, &to_do);
	free(to_do.tasks);
	hlg_fleet_split_finish(&split);
	hlg_list_finish(&list);
	hlg_fleet_plan_finish(&plan);
	return status;
}

/* One that is there */

/* A list that is another one now was not submitted, and who resumes may think it was. */
static int check_list(const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	struct hlg_list list = {0};
	int rc;

	if (chdir(plan->cwd) != 0)
		return hlg_file_fail(plan->cwd, errno, err);
	if (strcmp(plan->list, "-") == 0 || access(plan->list, R_OK) != 0)
		return 0;
	rc = hlg_list_read(&list, plan->list, plan->nul, err);
	if (rc == 0 && memcmp(list.digest, plan->digest, sizeof(plan->digest)) != 0)
		rc = hlg_err_set(
			err, HLG_EINPUT,
			"%s: has changed since the fleet was submitted (submit it "
			"anew, or restore the list)",
			plan->list);
	hlg_list_finish(&list);
	return rc;
}

static int resume(const struct arguments *args)
{
	struct hlg_fleet_plan plan;
	struct hlg_fleet_status_to_do to_do = {0};
	struct hlg_pprof_of sums;
	struct hlg_err err;
	int rc = hlg_fleet_plan_read(&plan, args->resume, &err), status;

	if (rc == 0)
		rc = check_list(&plan, &err);
	if (rc == 0)
		rc = hlg_fleet_status_find(&to_do, &plan, &sums, &err);
	if (rc == 0) {
		bool another = args->engine >= 0 && (int)plan.engine != args->engine;

		if (another)
			plan.engine = (enum hlg_fleet_engine)args->engine;
		rc = hlg_fleet_engine_check(&plan, &err);
		if (rc == 0 && another && !args->print)
			rc = hlg_fleet_plan_write(&plan, &err);
	}
	if (args->limit)
		plan.limit = args->limit;
	status = rc < 0 ? hlg_output_error(&err) : hand_over(args, &plan, &to_do);
	free(to_do.tasks);
	hlg_fleet_plan_finish(&plan);
	return status;
}

static int tell_status(const struct hlg_fleet_plan *plan, const char *task,
		       struct hlg_err *err)
{
	(void)task;
	return hlg_fleet_status_show(plan, err);
}

static int map(const struct hlg_fleet_plan *plan, const char *task, struct hlg_err *err)
{
	uint64_t n;

	if (hlg_number_u64(task, &n) && n < plan->n_tasks)
		return hlg_fleet_work_map(plan, n);
	return hlg_err_set(err, HLG_EINPUT, "%s: is no task of this fleet (0 to %zu)",
			   task, plan->n_tasks - 1);
}

static int reduce(const struct hlg_fleet_plan *plan, const char *task,
		  struct hlg_err *err)
{
	(void)task;
	(void)err;
	return hlg_fleet_work_reduce(plan);
}

/* What is done with a fleet that is there; returns the exit status, or fails. */
static const struct action {
	const char *name;
	size_t n; /* words, its own among them */
	int (*f)(const struct hlg_fleet_plan *plan, const char *task,
		 struct hlg_err *err);
} actions[] = {{"status", 2, tell_status}, {"map", 3, map}, {"reduce", 2, reduce}};

static const struct action *find_action(const struct arguments *args)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (args->words.n && strcmp(args->words.text[0], actions[i].name) == 0)
			return &actions[i];
	return NULL;
}

static int act(const struct arguments *args, const struct action *action)
{
	char *const *words = args->words.text;
	struct hlg_fleet_plan plan;
	struct hlg_err err;
	int rc = hlg_fleet_plan_read(&plan, words[1], &err);

	if (rc == 0)
		rc = action->f(&plan, action->n > 2 ? words[2] : NULL, &err);
	hlg_fleet_plan_finish(&plan);
	return rc < 0 ? hlg_output_error(&err) : rc;
}

/* Words */

/* Is something said that only a new fleet can have? */
static bool is_new(const struct arguments *args)
{
	return args->list || args->out || args->words.n > 1 || args->nul || args->sends ||
	       args->tasks || args->cpus || args->dir || args->logins;
}

static int check_submit(const struct arguments *args, struct hlg_err *err)
{
	if (args->resume && is_new(args))
		return hlg_err_set(err, HLG_EINPUT,
				   "--resume: the plan in %s says what is read and where "
				   "it goes (give no more than --engine and --limit)",
				   args->resume);
	if (args->resume)
		return 0;
	if (!args->list)
		return hlg_err_set(err, HLG_EINPUT,
				   "no recordings are given (use --list=FILE, a line for "
				   "each)");
	if (hlg_target_is_stream(args->out))
		return hlg_err_set(err, HLG_EINPUT,
				   "nothing says where the sum goes (use -o FILE)");
	if (args->logins && args->engine != HLG_FLEET_PARALLEL)
		return hlg_err_set(err, HLG_EINPUT,
				   "--slf: is parallel's (use --engine=parallel, too)");
	if (args->sends && args->tasks)
		return hlg_err_set(err, HLG_EINPUT,
				   "--transfer: each task is one recording (leave out "
				   "--tasks)");
	if (args->sends && (args->engine != HLG_FLEET_PARALLEL || !args->logins))
		return hlg_err_set(err, HLG_EINPUT,
				   "--transfer: is parallel's (use --engine=parallel and "
				   "--slf=FILE, too)");
	return hlg_fleet_words_check(args->words.text + 1, args->words.n - 1, err);
}

/* The first word is none of those that say what to do. */
static int refuse_word(const struct arguments *args, struct hlg_err *err)
{
	const char *word = args->words.text[0];

	if (strcmp(word, "resume") == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "resume: is an option (use submit --resume=DIR)");
	for (size_t i = 1; i < args->words.n; i++) {
		const char *later = args->words.text[i];

		if (strcmp(later, "submit") == 0 || strcmp(later, "status") == 0)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: stands before %s (put %s first: hlguest "
					   "fleet %s ...)",
					   word, later, later, later);
	}
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is nothing that a fleet does (use submit or status)",
			   word);
}

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;
	const struct action *action = find_action(args);
	const char *word = args->words.n ? args->words.text[0] : NULL;

	if (word && strcmp(word, "submit") == 0)
		return check_submit(args, err);
	if (!word)
		return hlg_err_set(err, HLG_EINPUT,
				   "nothing to do is given (use submit or status)");
	if (!action)
		return refuse_word(args, err);
	if (args->words.n == action->n)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "%s: takes the folder of a fleet%s",
			   action->name, action->n > 2 ? ", and a task" : "");
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {.engine = -1};
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status)) {
		const struct action *action = find_action(&args);

		status = action        ? act(&args, action)
			 : args.resume ? resume(&args)
				       : submit(&args);
	}
	free(args.words.text);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "engine",
	 .value = "local|slurm|parallel",
	 .help = "who runs the tasks: processes here, sbatch, or GNU parallel",
	 .kind = HLG_VERB_ONE_OF,
	 .fallback = "local",
	 .field = offsetof(struct arguments, engine)},
	{.name = "list",
	 .value = "FILE",
	 .help = "a file that names the recordings, a line each; - is standard input",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .reads = true,
	 .field = offsetof(struct arguments, list)},
	HLG_LIST_NULL(struct arguments, nul),
	{.name = "tasks",
	 .value = "N",
	 .help = "how many tasks at most; each reads about as many bytes",
	 .kind = HLG_VERB_NUMBER,
	 .fallback = "200",
	 .low = 1,
	 .high = HLG_FLEET_TASKS,
	 .field = offsetof(struct arguments, tasks)},
	{.name = "limit",
	 .value = "N",
	 .help = "how many tasks at a time; without it that is the engine's, here CPUs "
		 "divided by -j",
	 .kind = HLG_VERB_NUMBER,
	 .low = 1,
	 .high = UINT32_MAX,
	 .field = offsetof(struct arguments, limit)},
	{.name = "jobs",
	 .letter = 'j',
	 .value = "N",
	 .help = "threads, and CPUs, of a task",
	 .kind = HLG_VERB_NUMBER,
	 .fallback = "1",
	 .low = 1,
	 .high = 256,
	 .field = offsetof(struct arguments, cpus)},
	{.name = "slf",
	 .value = "FILE",
	 .help = "parallel: the machines, as its --sshloginfile has them",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .reads = true,
	 .field = offsetof(struct arguments, logins)},
	{.name = "transfer",
	 .help = "parallel: machines share no files; send each recording and the ELF "
		 "there, "
		 "and fetch the part",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, sends)},
	{.name = "resume",
	 .value = "DIR",
	 .help = "run what has no whole part yet, of the fleet in this folder",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct arguments, resume)},
	{.name = "print",
	 .help = "show what would be run, and do nothing",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, print)},
	{.name = "dir",
	 .value = "DIR",
	 .help = "a new folder, for lists and parts",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .fallback = "FILE.d, of -o FILE",
	 .heading = HLG_VERB_TO,
	 .field = offsetof(struct arguments, dir)},
	HLG_VERB_OUTPUT_OR(NULL, struct arguments, out,
			   "where the saved profile of all goes; written atomically"),
	{.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, words)},
	{0},
};

const struct hlg_verb hlg_verb_fleet = {
	.name = "fleet",
	.args = "submit --list=FILE -o FILE",
	.help = "many recordings on many machines",
	.group = HLG_VERB_CONVERTS,
	.usage = "submit --list=FILE -o FILE guest.elf...\n"
		 "submit --resume=DIR\n"
		 "status DIR",
	.doc = "Reports many recordings as tasks, which Slurm, GNU parallel or this "
	       "machine "
	       "runs, into one saved profile: that of one report of all (of guests at "
	       "several "
	       "bases state these: FILE@BASE).\v"
	       "Machines share a file system. The engine places tasks and tries again; "
	       "--resume runs what has no whole part. Behind -- stand options of report.",
	.examples = "hlguest fleet submit --engine=slurm --print --list=list -o x.pb.gz "
		    "guest.elf\tthe two sbatch lines\n"
		    "hlguest fleet submit --list=list -o x.pb.gz guest.elf\there, a "
		    "task for each CPU at a time\n"
		    "hlguest fleet status x.pb.gz.d\twhich parts are whole",
	.files = "elf",
	.others = "options of hlguest report go behind guest.elf and --",
	.options = options,
	.size = sizeof(struct arguments),
	.check = check,
	.run = run,
};
