// SPDX-License-Identifier: GPL-2.0-only
/* hlguest calibrate: how far samples, counts and crossings of this machine can be
 * trusted. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/options/number.h"
#include "filter/output/out.h"
#include "symtab/err.h"
#include "tools/calibrate/calibration.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/calibration-file.h"
#include "tools/vm/deadline.h"

enum {
	KEY_DEADLINE = 0x200,
	KEY_FORMAT,
	KEY_ONLY,
	KEY_OPERATIONS,
	KEY_OUT,
	KEY_RUNS,
	KEY_SAVE,
	KEY_TIME,
};

#define DEADLINE          60  /* seconds, for a part */
#define STEPPED_IN_SECOND 500 /* operations of all programs, on a slow machine */
#define QUIET_NS          UINT64_C(3000000000) /* to wait for a quiet machine */
#define SAMPLED           400 /* guests and events, each run up to eight times as long */

struct arguments {
	unsigned parts;
	uint64_t runs, operations;
	uint64_t deadline; /* seconds; 0: not stated */
	uint64_t time;     /* ms */
	const char *out, *save;
	void (*write)(FILE *f, const struct hlg_calibration *calibration);
	bool quiet;
};

static const struct argp_option options[] = {
	{"deadline", KEY_DEADLINE, "SECONDS", 0,
	 "guests of one part that take longer are killed (60, and more for a larger "
	 "--operations or --time)",
	 0},
	{"format", KEY_FORMAT, "text|json|csv|html", 0, "of the result (text)", 0},
	{"only", KEY_ONLY, "crossing,landing,counting", 0, "these parts (all)", 0},
	{"operations", KEY_OPERATIONS, "N", 0,
	 "string operations that are single-stepped, 10 to 1000000 (10000)", 0},
	{"out", KEY_OUT, "FILE", 0, "where the result goes (standard output)", 0},
	{"quiet", 'q', NULL, 0, "no word about what is being measured", 0},
	{"runs", KEY_RUNS, "N", 0, "how often each program is counted, 1 to 100 (5)", 0},
	{"save", KEY_SAVE, "FILE", 0,
	 "keep the result as JSON, for hlguest report and doctor", 0},
	{"time", KEY_TIME, "MS", 0,
	 "how long each guest is sampled with each event, 10 to 60000 (250)", 0},
	{0},
};

static const char doc[] =
	"Measures how far samples, counts and crossings of this machine can be trusted, "
	"in "
	"guests of its own whose truth is known.\v"
	"Takes less than a minute. Needs /dev/kvm for guests and perf_event_paranoid of "
	"1 "
	"or less for samples; what cannot be measured is left out, with the reason. The "
	"exit "
	"status is 1 if a truth does not hold: then the figures mean nothing.";

static void set_number(uint64_t *to, const char *option, const char *value, uint64_t low,
		       uint64_t high, struct argp_state *state)
{
	if (!hlg_number_u64(value, to) || *to < low || *to > high)
		argp_error(state, "--%s=%s: not a number from %ju to %ju", option, value,
			   (uintmax_t)low, (uintmax_t)high);
}

static void set_parts(struct arguments *args, const char *value, struct argp_state *state)
{
	static const struct {
		const char *word;
		enum hlg_calibration_part part;
	} words[] = {
		{"crossing", HLG_CALIBRATE_CROSSING},
		{"landing", HLG_CALIBRATE_LANDING},
		{"counting", HLG_CALIBRATE_COUNTING},
	};

	args->parts = 0;
	while (*value || args->parts == 0) {
		size_t n = strcspn(value, ","), i = 0;

		while (i < sizeof(words) / sizeof(words[0]) &&
		       (strlen(words[i].word) != n || strncmp(words[i].word, value, n)))
			i++;
		if (i == sizeof(words) / sizeof(words[0])) {
			argp_error(state, "--only: %.*s is no part (one of %s)", (int)n,
				   value, "crossing, landing, counting");
			return;
		}
		args->parts |= words[i].part;
		value += n + (value[n] == ',');
	}
}

static void set_format(struct arguments *args, const char *value,
		       struct argp_state *state)
{
	if (strcmp(value, "text") == 0)
		args->write = hlg_calibration_text;
	else if (strcmp(value, "json") == 0)
		args->write = hlg_calibration_json;
	else if (strcmp(value, "html") == 0)
		args->write = hlg_calibration_html;
	else if (strcmp(value, "csv") == 0)
		args->write = hlg_calibration_csv;
	else
		argp_error(state, "--format=%s: not here (one of text, json, csv, html)",
			   value);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case KEY_DEADLINE:
		set_number(&args->deadline, "deadline", value, 1, 3600, state);
		return 0;
	case KEY_FORMAT:
		set_format(args, value, state);
		return 0;
	case KEY_ONLY:
		set_parts(args, value, state);
		return 0;
	case KEY_OPERATIONS:
		set_number(&args->operations, "operations", value, 10,
			   GUESTS_OPERATES_MAX, state);
		return 0;
	case KEY_OUT:
		args->out = value;
		return 0;
	case KEY_RUNS:
		set_number(&args->runs, "runs", value, 1, HLG_COUNT_RUNS_MAX, state);
		return 0;
	case KEY_SAVE:
		args->save = value;
		return 0;
	case KEY_TIME:
		set_number(&args->time, "time", value, 10, 60000, state);
		return 0;
	case 'q':
		args->quiet = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (args->write == hlg_calibration_csv &&
		    !(args->parts & HLG_CALIBRATE_COUNTING))
			argp_error(state,
				   "--format=csv: is of counts (leave --only out, or "
				   "name counting)");
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: calibrate takes no file", value);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
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
		tell(args, "crossings");
		rc = hlg_crossing_measure(&c->crossings, guests, no_kvm, QUIET_NS, err);
	} else if (rc == 0 && part == HLG_CALIBRATE_LANDING) {
		tell(args, "landing");
		rc = hlg_landing_measure(&c->landings, guests, no_kvm,
					 args->time * 1000000, err);
	} else if (rc == 0) {
		tell(args, "counts");
		rc = hlg_count_measure(&c->counts, guests, no_kvm, args->runs, err);
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
	c->counts.sizes[0] = args->operations;
	c->counts.sizes[1] = args->operations / 10;
	hlg_machine_look(&c->machine);
	try_kvm(c);
	if (rc == 0)
		rc = measure_part(c, &guests, HLG_CALIBRATE_CROSSING, args, err);
	if (rc == 0)
		rc = measure_part(c, &guests, HLG_CALIBRATE_LANDING, args, err);
	if (rc == 0)
		rc = measure_part(c, &guests, HLG_CALIBRATE_COUNTING, args, err);
	hlg_guest_image_finish(&guests);
	return rc;
}

static int write_result(const struct hlg_calibration *c, const struct arguments *args,
			struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_out_open(&out, args->out, stdout, err);

	if (rc < 0)
		return rc;
	args->write(out.f, c);
	return hlg_out_commit(&out, err);
}

static int save(const struct hlg_calibration *c, const char *path, struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_out_open(&out, path, NULL, err);

	if (rc < 0)
		return rc;
	hlg_calibration_json(out.f, c);
	return hlg_out_commit(&out, err);
}

/* The doctor's copy: the folders above it are made where they are missing. */
static int save_last(const struct hlg_calibration *c, struct hlg_err *err)
{
	char path[PATH_MAX];

	hlg_calibration_file_place(path);
	for (char *at = path[0] ? strchr(path + 1, '/') : NULL; at;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	return path[0] ? save(c, path, err) : 0;
}

/* Can both files be written? Told before a minute is spent. */
static int check_outputs(const struct arguments *args, struct hlg_err *err)
{
	const char *const paths[] = {args->out, args->save};

	for (size_t i = 0; i < 2; i++) {
		int rc = hlg_out_check(paths[i], HLG_MAGIC_NONE, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int hlg_verb_calibrate(int argc, char **argv)
{
	static const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};
	static struct hlg_calibration calibration;
	struct arguments args = {.parts = HLG_CALIBRATE_ALL,
				 .runs = 5,
				 .operations = 10000,
				 .time = 250,
				 .write = hlg_calibration_text};
	struct hlg_err err;
	int rc;

	hlg_words_parse(&argp, argc, argv, 0, &args);
	rc = check_outputs(&args, &err);
	if (rc < 0) {
		hlg_output_error(&err);
		return rc == HLG_ESYSTEM ? 1 : 2;
	}
	rc = measure(&calibration, &args, &err);
	if (rc == 0)
		rc = write_result(&calibration, &args, &err);
	if (rc == 0 && args.save)
		rc = save(&calibration, args.save, &err);
	if (rc < 0)
		return hlg_output_error(&err);
	if (args.save && save_last(&calibration, &err) < 0)
		hlg_output_error(&err);
	return hlg_output_end(hlg_calibration_faults(NULL, &calibration) != 0);
}
