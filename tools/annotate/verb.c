// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest annotate: the instructions of functions, with the samples at each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/notes.h"
#include "filter/run.h"
#include "filter/view/place-name.h"
#include "tools/annotate/annotate.h"
#include "tools/cli/output.h"
#include "tools/cli/pager.h"
#include "tools/cli/verb.h"
#include "tools/inputs/inputs.h"
#include "tools/inputs/sides.h"

#define TOP 5 /* functions, unless top= says how many */

struct arguments {
	struct hlg_inputs inputs;
	struct hlg_verb_texts functions;
	int syntax; /* enum hlg_syntax */
};

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	for (size_t i = 0; i < args->functions.n; i++)
		if (!args->functions.text[i][0])
			return hlg_err_set(err, HLG_EINPUT,
					   "--function: no name is given");
	return 0;
}

/* A word that names several places shows all of them, and says so. */
static void note_several(struct hlg_run *run, const char *word,
			 const struct hlg_found_places *places, size_t first)
{
	char list[256] = "";
	size_t used = 0, n = places->n - first;

	for (size_t i = first; i < places->n && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s0x%" PRIx64,
					 i > first ? ", " : "", places->place[i].start);
	if (n > 1)
		hlg_run_note(run, "%zu places are called %s: at %s%s; all are shown", n,
			     word, list, used < sizeof(list) ? "" : "...");
}

/* Names are found before anything is read, addresses once the bases are known. */
static int find_places(struct hlg_run *run, const struct arguments *args, bool addresses,
		       struct hlg_found_places *places, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < args->functions.n; i++) {
		const char *word = args->functions.text[i];
		size_t first = places->n;
		uint64_t ip;

		if (hlg_places_is_address(word, &ip) != addresses)
			continue;
		rc = addresses ? hlg_places_find_ip(places, &run->space, ip, err)
			       : hlg_places_find(places, &run->space, word, err);
		if (rc == 0 && !addresses)
			note_several(run, word, places, first);
	}
	return rc;
}

static int show(struct hlg_run *run, const struct arguments *args,
		struct hlg_found_places *places, struct hlg_err *err)
{
	struct hlg_sources sources = {0};
	struct hlg_report report;
	struct hlg_listings annotate = {&report, places, &sources,
					(enum hlg_syntax)args->syntax};
	int rc = hlg_run_build(run, &report, err);

	if (rc == 0)
		rc = hlg_notes_add_exits(&report, err);
	if (rc == 0)
		rc = find_places(run, args, true, places, err);
	if (rc == 0 && !hlg_source_open_all(&sources, &run->space))
		rc = hlg_err_memory(err, "lines");
	if (rc == 0)
		rc = hlg_format_write(
			&(struct hlg_result){run->format, &annotate, NULL,
					     &report.colours, run->options.color,
					     &report.screen, hlg_run_nothing(run)},
			run->options.out,
			hlg_pager_stream(args->inputs.no_pager, run->format,
					 run->options.out),
			err);
	if (rc == 0)
		hlg_run_warn(&report, run->format, "");
	if (sources.space)
		hlg_source_close_all(&sources);
	hlg_report_finish(&report);
	return rc;
}

/* Data is a struct hlg_listings. */
static const struct hlg_format text = {.name = "text",
				       .stacks = true,
				       .notes = true,
				       .reader = true,
				       .write = hlg_annotate_text};

/* Reads the files and writes the listings. Returns the exit status. */
static int annotate_files(struct arguments *args)
{
	struct hlg_inputs *in = &args->inputs;
	struct hlg_found_places places = {0};
	struct hlg_batch batch = {0};
	struct hlg_run run;
	struct hlg_err err;
	bool whole = false;
	int rc = 0, status = 0;

	memset(&run, 0, sizeof(run));
	if (in->format == &text) /* with who called */
		rc = hlg_sides_want_whole(in, &whole, &err);
	if (rc == 0 && whole)
		rc = hlg_inputs_add_word(in, HLG_SIDES_WHOLE, &err);
	if (rc == 0)
		rc = hlg_run_start_apart(&run, in->n_words, in->words, &err);
	if (rc == 0)
		rc = hlg_run_set_format(&run, in->format, &err);
	run.options.region = 0;
	run.options.border = HLG_BORDER_KEEP; /* each instruction has what is its */
	if (rc == 0 && run.options.top == HLG_UNSET)
		run.options.top = TOP;
	if (rc == 0)
		rc = find_places(&run, args, false, &places, &err);
	if (rc == 0)
		rc = hlg_inputs_read(in, &run, &batch, &status, &err);
	if (rc == 0 && batch.n_read) {
		run.recordings = batch.sums.recordings;
		run.took = batch.sums.took;
		hlg_batch_note(&batch, &run);
		rc = show(&run, args, &places, &err);
	}
	if (rc < 0)
		status = hlg_output_error(&err);
	status = hlg_run_status(&run, status);
	hlg_batch_finish(&batch);
	hlg_places_finish(&places);
	hlg_run_finish(&run);
	return status;
}

static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(hlg_annotate_json)};
static const struct hlg_format *const formats[] = {&text, &json, NULL};

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = annotate_files(&args);
	free(args.functions.text);
	hlg_inputs_finish(&args.inputs);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "function",
	 .value = "NAME|ADDR",
	 .help = "what to show, also without --function if it is no file: a name, "
		 "readable or as in the ELF, or a guest address (0x...)",
	 .kind = HLG_VERB_TEXTS,
	 .field = offsetof(struct arguments, functions)},
	{.name = "syntax",
	 .value = "att|intel", /* as enum hlg_syntax */
	 .help = "of x86-64 instructions",
	 .fallback = "att",
	 .kind = HLG_VERB_ONE_OF,
	 .field = offsetof(struct arguments, syntax)},
	{.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, functions)},
	{0},
};

const struct hlg_verb hlg_verb_annotate = {
	.name = "annotate",
	.args = "guest.elf [FUNC] [FILE...]",
	.help = "instructions with samples",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE]... [FUNCTION...] [FILE...]",
	.doc = "Shows the instructions of functions, gaps and labels with the samples "
	       "at each, and source lines where the ELF has debug info. Without a "
	       "function, those with most samples are shown (--top).\v"
	       "An argument that is a recording (or -, or a folder) is read, an ELF is "
	       "the guest, and what is no file is a function.",
	.examples = "hlguest annotate guest.elf\tthe five hottest functions of "
		    "perf.data.guest\n"
		    "hlguest annotate guest.elf hash_block\tone function; a part of "
		    "its name will do\n"
		    "hlguest annotate --syntax=intel --top=1 guest.elf "
		    "perf.data.guest\tthe hottest function, in Intel syntax",
	.files = "elf recording profile",
	.shared = "input jobs quiet by color cpu demangle event force format min "
		  "no-pager output pid sandbox skid strict-base tid time top verbose "
		  "weight wide",
	.fallbacks = (const struct hlg_verb_fallback[]){{"top", "5"}, {0}},
	.formats = formats,
	.options = options,
	.check = check,
	.run = run,
};
