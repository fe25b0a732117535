// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest top: record and report at once, and again every second, for as long as a guest
 * runs.
 */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/options/number.h"
#include "filter/output/target.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/inputs/images.h"
#include "tools/record/options.h"
#include "tools/top/session.h"

static int set_time(void *arguments, const struct hlg_verb_option *option, char *value,
		    struct hlg_err *err)
{
	uint64_t *field = (uint64_t *)((char *)arguments + option->field);

	if (hlg_number_time(value, field) && *field >= option->low &&
	    *field <= option->high)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--%s=%s: not a time (from 0.1s to an hour, as 2s, 500ms)",
			   option->name, value);
}

/* What is named in front of --. */
static int check_images(const struct hlg_verb_texts *images, struct hlg_err *err)
{
	for (size_t i = 0; i < images->n; i++)
		if (hlg_images_file_kind(images->text[i]) == HLG_FILE_KIND_RECORDING)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: is a recording, and top makes one (use "
					   "hlguest report for those there are)",
					   images->text[i]);
	return 0;
}

static int check(void *arguments, struct hlg_err *err)
{
	const struct hlg_top_request *args = arguments;
	const struct hlg_record_request *r = &args->record;

	if (check_images(&args->images, err) < 0)
		return HLG_EINPUT;
	if (r->command && !r->command[0])
		return hlg_err_set(err, HLG_EINPUT,
				   "--: no command follows (use -- ./vmm guest.elf)");
	if (!r->command && !r->pid && !r->everything)
		return hlg_err_set(err, HLG_EINPUT,
				   "nothing to look at (use -- COMMAND, -p PID or -a)");
	if (hlg_record_request_check_whom(r, err) < 0)
		return HLG_EINPUT;
	if (args->out && hlg_target_is_stream(args->out))
		return hlg_err_set(err, HLG_EINPUT,
				   "-o %s: standard output has the tables (name a new "
				   "file)",
				   args->out);
	if (args->window < args->every)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--window: is shorter than --every (which is how often "
			"it is looked at)");
	if (args->window / args->every > HLG_TOP_MOST_SLICES)
		return hlg_err_set(err, HLG_EINPUT,
				   "--window: is more than %d times --every (make one "
				   "shorter, or the other longer)",
				   HLG_TOP_MOST_SLICES);
	return 0;
}

static int start(struct hlg_top_request *args)
{
	struct hlg_err err;

	if (!args->format || HLG_HAVE_JANSSON)
		return hlg_top_session(args);
	hlg_err_set(&err, HLG_EINPUT,
		    "--format=json: not in this build (install libjansson-dev and build "
		    "again)");
	return hlg_output_error(&err);
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct hlg_top_request args = {.every = UINT64_C(1000000000),
				       .window = UINT64_C(10000000000),
				       .rows = HLG_TOP_ROWS};
	int dashes = hlg_argp_run_dashes(argc, argv), status;

	/* The command is its own, whatever its words look like. */
	if (dashes < argc)
		args.record.command = argv + dashes + 1;
	if (hlg_argp_run_verb(verb, dashes, argv, &args, &status))
		status = start(&args);
	hlg_record_guests_finish(&args.record.guests);
	free(args.images.text);
	return status;
}

#define SHOWN "What is shown:"
#define HOUR  UINT64_C(3600000000000)

static const struct hlg_verb_option options[] = {
	HLG_RECORD_PID(struct hlg_top_request, record.pid),
	HLG_RECORD_ALL_CPUS(struct hlg_top_request, record.everything),
	HLG_RECORD_HOST(struct hlg_top_request, record.host),
	{.name = "exits",
	 .heading = HLG_RECORD_WHAT,
	 .help = "also every exit of a guest, for how many there are in a second",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_top_request, record.exits)},
	{.name = "call-graph",
	 .heading = HLG_RECORD_WHAT,
	 .letter = 'g',
	 .help = "callers inside the guest, by its frame pointers, for the key c",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_top_request, callers)},
	HLG_RECORD_EVENT(struct hlg_top_request, record.event),
	HLG_RECORD_FREQ(struct hlg_top_request, record.frequency),
	{.name = "window",
	 .heading = SHOWN,
	 .value = "TIME",
	 .help = "how long the recent share reaches back",
	 .fallback = HLG_TOP_WINDOW,
	 .kind = HLG_VERB_NUMBER,
	 .low = UINT64_C(100000000),
	 .high = HOUR,
	 .set = set_time,
	 .field = offsetof(struct hlg_top_request, window)},
	{.name = "every",
	 .heading = SHOWN,
	 .letter = 'd',
	 .value = "TIME",
	 .help = "how often all is shown anew",
	 .fallback = HLG_TOP_EVERY,
	 .kind = HLG_VERB_NUMBER,
	 .low = UINT64_C(100000000),
	 .high = HOUR,
	 .set = set_time,
	 .field = offsetof(struct hlg_top_request, every)},
	{.name = "force",
	 .heading = SHOWN,
	 .value = "no|yes",
	 .optional = true,
	 .help = "name functions although the samples do not fit the ELF or its base",
	 .fallback = "no",
	 .kind = HLG_VERB_ONE_OF,
	 .field = offsetof(struct hlg_top_request, force)},
	{.name = "stdio",
	 .heading = SHOWN,
	 .help = "print tables, one after the other, also on a terminal",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_top_request, stdio)},
	{.name = "once",
	 .heading = SHOWN,
	 .help = "print one table when a window has passed, and end",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_top_request, once)},
	{.name = "format",
	 .heading = SHOWN,
	 .value = "text|json",
	 .help = "of printed tables; json is a line for each",
	 .fallback = "text",
	 .kind = HLG_VERB_ONE_OF,
	 .field = offsetof(struct hlg_top_request, format)},
	{.name = "top",
	 .heading = SHOWN,
	 .value = "N",
	 .help = "rows of a printed table; 0 is all",
	 .fallback = "20",
	 .kind = HLG_VERB_NUMBER,
	 .high = UINT64_MAX,
	 .field = offsetof(struct hlg_top_request, rows)},
	{.name = "output",
	 .alias = "out",
	 .letter = 'o',
	 .value = "FILE",
	 .heading = HLG_VERB_TO,
	 .help = "a new file for the recording, as it is made",
	 .fallback = "(none)",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct hlg_top_request, out)},
	{.kind = HLG_VERB_TEXTS, .field = offsetof(struct hlg_top_request, images)},
	{0},
};

const struct hlg_verb hlg_verb_top = {
	.name = "top",
	.args = "[-a | -p PID | -- COMMAND]",
	.help = "functions of guests that run now",
	.group = HLG_VERB_SHOWS,
	.usage = "[guest.elf[@BASE]...] -- COMMAND [ARGUMENT...]\n"
		 "[guest.elf[@BASE]...] -p PID\n[guest.elf[@BASE]...] -a",
	.doc = "Records guests with perf and shows where they spend their time while "
	       "they run. When they end, or with q or ^C, it writes the whole report.\v"
	       "The guest's ELF is found as record finds it, unless it is named in front "
	       "of --.",
	.examples = "hlguest top -- ./vmm guest.elf\ta VMM from its start to its end\n"
		    "hlguest top -p 17\tone that runs\n"
		    "hlguest top --once --window=5s -p 17\tone table of five seconds, "
		    "for scripts",
	.files = "elf",
	.options = options,
	.check = check,
	.run = run,
};
