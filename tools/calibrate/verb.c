// SPDX-License-Identifier: GPL-2.0-only
/* hlguest calibrate: how far samples and counts of this machine can be trusted, and what
 * an exit costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/output/out.h"
#include "symtab/err.h"
#include "symtab/escape.h"
#include "tools/calibrate/calibration.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/machine/calibration-file.h"

#define DEADLINE          60  /* seconds, for a part */
#define STEPPED_IN_SECOND 500 /* operations of all programs, on a slow machine */
#define QUIET_NS          UINT64_C(3000000000) /* to wait for a quiet machine */
#define SAMPLED           400 /* guests and events, each run up to eight times as long */

struct arguments {
	unsigned parts; /* bits of enum hlg_calibration_part */
	uint64_t runs, operations;
	uint64_t deadline; /* seconds; 0: not stated */
	uint64_t time;     /* ms */
	const char *out, *save;
	const struct hlg_format *format;
	bool quiet, verbose;
};

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (args->format->write != hlg_calibrate_csv ||
	    args->parts & HLG_CALIBRATE_COUNTING)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--format=csv: has counter accuracy only (leave --only out, "
			   "or name counters)");
}

/* Can a guest run here at all? If not, no_kvm says why. */
static void try_kvm(struct hlg_calibration *c)
{
	struct hlg_vm_machine machine;
	struct hlg_err err;

	c->kvm = hlg_vm_machine_init(&machine, HLG_VM_PAGE_SIZE, &err) == 0;
	if (c->kvm)
		hlg_vm_machine_finish(&machine);
	else
		snprintf(c->no_kvm, sizeof(c->no_kvm), "%.255s", err.msg);
}

static void tell(const struct arguments *args, const char *what)
{
	if (!args->quiet)
		fprintf(stderr, "hlguest: %s ...\n", what);
}

/* Long enough for what is asked for, unless it is stated. */
static unsigned deadline_of(const struct arguments *args, enum hlg_calibration_part part)
{
	uint64_t seconds = DEADLINE;

	if (args->deadline)
		return (unsigned)args->deadline;
	if (part == HLG_CALIBRATE_COUNTING)
		seconds += args->operations / STEPPED_IN_SECOND;
	if (part == HLG_CALIBRATE_LANDING)
		seconds += args->time * SAMPLED / 1000;
	return (unsigned)seconds;
}

/* Each part has a deadline of its own. */
static int measure_part(struct hlg_calibration *c, const struct hlg_guests *guests,
			enum hlg_calibration_part part, const struct arguments *args,
			struct hlg_err *err)
{
	const char *no_kvm = c->kvm ? NULL : c->no_kvm;
	int rc;

	if (!(args->parts & part))
		return 0;
	rc = hlg_vm_deadline_start(deadline_of(args, part), err);
	if (rc == 0 && part == HLG_CALIBRATE_CROSSING) {
		tell(args, "exit cost");
		rc = hlg_crossing_measure(&c->crossings, guests, no_kvm, QUIET_NS, err);
	} else if (rc == 0 && part == HLG_CALIBRATE_LANDING) {
		tell(args, "sample precision");
		hlg_landing_measure(&c->landings, guests, no_kvm, args->time * 1000000);
	} else if (rc == 0) {
		tell(args, "counter accuracy");
		rc = hlg_calibrate_count(&c->counts, guests, no_kvm, args->runs, err);
	}
	hlg_vm_deadline_stop();
	return rc;
}

static int measure(struct hlg_calibration *c, const struct arguments *args,
		   struct hlg_err *err)
{
	struct hlg_guests guests;
	int rc = hlg_guest_image_open(&guests, hlg_guests_elf, hlg_guest_image_elf_size(),
				      err);

	c->parts = args->parts;
	c->tables = args->verbose;
	c->counts.sizes[0] = args->operations;
	c->counts.sizes[1] = args->operations / 10;
	hlg_machine_look(&c->machine, "");
	try_kvm(c);
	for (unsigned part = 1; rc == 0 && part < HLG_CALIBRATE_ALL; part <<= 1)
		rc = measure_part(c, &guests, part, args, err);
	hlg_guest_image_finish(&guests);
	return rc;
}

/* What is kept. */
static const struct hlg_format *json(void)
{
	return hlg_format_find(hlg_calibration_formats, "json");
}

static int save(struct hlg_calibration *c, const char *path, struct hlg_err *err)
{
	return hlg_format_write(&(struct hlg_result){.format = json(), .data = c}, path,
				NULL, err);
}

/*
 * The doctor's copy: the folders above it are made where they are missing. One without
 * guests does not take the place of what is known.
 */
static int save_last(struct hlg_calibration *c, bool quiet, struct hlg_err *err)
{
	char path[PATH_MAX] = "";
	int rc;

	if (c->kvm)
		hlg_calibration_file_place(path);
	for (char *at = path[0] ? strchr(path + 1, '/') : NULL; at;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	rc = path[0] ? save(c, path, err) : 0;
	if (path[0] && rc == 0 && !quiet) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, path);
		fputs(": kept there as well, for hlguest doctor\n", stderr);
	}
	return rc;
}

/* Can this build write what is asked for? */
static int check_formats(const struct arguments *args, struct hlg_err *err)
{
	struct hlg_options any = {0};
	int rc = hlg_format_choose(args->format, &any, err);

	return rc < 0 || !args->save ? rc : hlg_format_choose(json(), &any, err);
}

/* Can both files be written? Told before a minute is spent. */
static int check_outputs(const struct arguments *args, struct hlg_err *err)
{
	int rc = hlg_out_check(args->out, HLG_MAGIC_NONE, err);

	if (rc == 0 && hlg_target_is_same(args->out, args->save))
		rc = hlg_err_set(err, HLG_EWORDS,
				 "--save=%s: is where the result goes, too (name another "
				 "file)",
				 args->save);
	return rc < 0 ? rc : hlg_out_check(args->save, HLG_MAGIC_NONE, err);
}

/* Without guests nothing is known of any part; what the host tells alone is written. */
static bool ran_guests(const struct hlg_calibration *c)
{
	struct hlg_err err;

	if (c->kvm)
		return true;
	hlg_err_set(&err, HLG_EINPUT, "calibrate: no guest was measured: %.255s",
		    c->no_kvm);
	hlg_output_error(&err);
	return false;
}

static int calibrate(const struct arguments *args)
{
	static struct hlg_calibration calibration;
	struct hlg_err err;
	int rc = check_outputs(args, &err);

	if (rc < 0)
		return hlg_output_error(&err);
	rc = check_formats(args, &err);
	if (rc == 0)
		rc = measure(&calibration, args, &err);
	if (rc == 0)
		rc = hlg_format_write(&(struct hlg_result){.format = args->format,
							   .data = &calibration},
				      args->out, stdout, &err);
	if (rc == 0 && args->save)
		rc = save(&calibration, args->save, &err);
	if (rc < 0)
		return hlg_output_error(&err);
	if (args->save && save_last(&calibration, args->quiet, &err) < 0)
		hlg_output_error(&err);
	return hlg_output_end(!ran_guests(&calibration) ||
			      hlg_calibrate_faults(NULL, &calibration) != 0);
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {
		.parts = HLG_CALIBRATE_ALL, .runs = 5, .operations = 10000, .time = 250};
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status))
		status = calibrate(&args);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "deadline",
	 .value = "SECONDS",
	 .help = "guests of one part that take longer are killed",
	 .fallback = "60, and more for a larger --operations or --time",
	 .kind = HLG_VERB_NUMBER,
	 .low = 1,
	 .high = 3600,
	 .field = offsetof(struct arguments, deadline)},
	{.name = "format",
	 .help = "format of the result",
	 .kind = HLG_VERB_FORMAT,
	 .field = offsetof(struct arguments, format)},
	{.name = "only",
	 .value = "exits,precision,counters", /* as enum hlg_calibration_part */
	 .old = "crossing,landing,counting",
	 .help = "only these parts",
	 .fallback = "all",
	 .kind = HLG_VERB_SOME_OF,
	 .field = offsetof(struct arguments, parts)},
	{.name = "operations",
	 .value = "N",
	 .help = "string operations that are single-stepped, 10 to 1000000",
	 .fallback = "10000",
	 .kind = HLG_VERB_NUMBER,
	 .low = 10,
	 .high = GUESTS_OPERATES_MAX,
	 .field = offsetof(struct arguments, operations)},
	HLG_VERB_OUTPUT(struct arguments, out,
			"where the result goes; written atomically"),
	HLG_VERB_QUIET(struct arguments, quiet, "no progress messages"),
	{.name = "runs",
	 .value = "N",
	 .help = "how often each program is counted, 1 to 100",
	 .fallback = "5",
	 .kind = HLG_VERB_NUMBER,
	 .low = 1,
	 .high = HLG_PMU_RUNS_MAX,
	 .field = offsetof(struct arguments, runs)},
	{.name = "save",
	 .value = "FILE",
	 .help = "keep the result as JSON, for hlguest report; and a copy in "
		 "~/.local/state/hlguest, for hlguest doctor",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct arguments, save)},
	{.name = "time",
	 .value = "MS",
	 .help = "how long each guest is sampled with each event, 10 to 60000",
	 .fallback = "250",
	 .kind = HLG_VERB_NUMBER,
	 .low = 10,
	 .high = 60000,
	 .field = offsetof(struct arguments, time)},
	{.name = "verbose",
	 .letter = 'v',
	 .help = "text with all measurements, below the conclusion",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, verbose)},
	{0},
};

const struct hlg_verb hlg_verb_calibrate = {
	.name = "calibrate",
	.args = "",
	.help = "how far to trust this machine",
	.group = HLG_VERB_PREPARES,
	.doc = "Measures how precise samples and how accurate counters are on this "
	       "machine, and what an exit costs. It runs guests of its own, whose true "
	       "figures are known.\vTakes less than a minute. Needs /dev/kvm for guests "
	       "and perf_event_paranoid of 1 or less for samples; what cannot be "
	       "measured is left out, with the reason. The exit status is 1 if no guest "
	       "can "
	       "run, or if a known result is measured wrongly: do not trust the figures "
	       "then.",
	.examples = "hlguest calibrate\teverything, as text\n"
		    "hlguest calibrate --only=precision\tonly how late samples are\n"
		    "hlguest calibrate --save=machine.json\tkept, for hlguest report "
		    "--calibration=machine.json",
	.formats = hlg_calibration_formats,
	.options = options,
	.check = check,
	.run = run,
};
