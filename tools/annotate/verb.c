// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest annotate: the instructions of functions, with the samples at each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/out.h"
#include "filter/run.h"
#include "filter/view/place-name.h"
#include "tools/annotate/annotate.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/inputs.h"

#define TOP 5 /* functions, unless top= says how many */

enum {
	KEY_FUNCTION = 0x200,
	KEY_SYNTAX
};

struct arguments {
	const char **functions;
	size_t n_functions;
	enum hlg_syntax syntax;
	bool lost; /* no memory */
};

static const struct argp_option own_options[] = {
	{"function", KEY_FUNCTION, "NAME|ADDR", 0,
	 "what to show, also without --function if it is no file: a name, readable or as "
	 "in the ELF, or a guest address (0x...)",
	 2},
	{"syntax", KEY_SYNTAX, "att|intel", 0, "of x86-64 instructions (att)", 2},
	{0},
};

static void add_function(void *input, const char *word)
{
	struct arguments *args = input;
	const char **more = reallocarray(args->functions, args->n_functions + 1,
					 sizeof(*args->functions));

	if (!more) {
		args->lost = true;
		return;
	}
	args->functions = more;
	more[args->n_functions++] = word;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case KEY_FUNCTION:
		if (!value[0])
			argp_error(state, "--function: no name is given");
		add_function(args, value);
		return 0;
	case KEY_SYNTAX:
		if (strcmp(value, "att") != 0 && strcmp(value, "intel") != 0)
			argp_error(state, "--syntax=%s: unknown value (one of att|intel)",
				   value);
		args->syntax =
			strcmp(value, "att") == 0 ? HLG_SYNTAX_ATT : HLG_SYNTAX_INTEL;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
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
	int rc = args->lost ? hlg_err_memory(err, "arguments") : 0;

	for (size_t i = 0; rc == 0 && i < args->n_functions; i++) {
		const char *word = args->functions[i];
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

static int write_all(const struct hlg_run *run, struct hlg_report *report,
		     const struct hlg_annotate *annotate, struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_out_open(&out, run->options.out, stdout, err);

	if (rc < 0)
		return rc;
	if (hlg_target_is_stream(run->options.out))
		report->colours = hlg_colour_of(out.f);
	rc = run->options.format == HLG_FORMAT_JSON
		     ? hlg_annotate_json(out.f, annotate, err)
		     : hlg_annotate_text(out.f, annotate, err);
	if (rc == 0)
		return hlg_out_commit(&out, err);
	hlg_out_abort(&out);
	return rc;
}

static int show(struct hlg_run *run, const struct arguments *args,
		struct hlg_found_places *places, struct hlg_err *err)
{
	struct hlg_sources sources = {0};
	struct hlg_report report;
	const struct hlg_annotate annotate = {&report, places, &sources, args->syntax};
	int rc = hlg_run_build(run, &report, err);

	if (rc == 0)
		rc = find_places(run, args, true, places, err);
	if (rc == 0 && !hlg_sources_open(&sources, &run->space))
		rc = hlg_err_memory(err, "lines");
	if (rc == 0)
		rc = write_all(run, &report, &annotate, err);
	if (sources.space)
		hlg_sources_close(&sources);
	hlg_report_finish(&report);
	return rc;
}

/* Reads the files and writes the listings. Returns the exit status. */
static int annotate_files(const struct hlg_inputs *in, const struct arguments *args)
{
	struct hlg_found_places places = {0};
	struct hlg_batch batch = {0};
	struct hlg_run run;
	struct hlg_err err;
	int rc = hlg_run_start(&run, in->n_words, in->words, &err), status = 0;

	run.options.region = 0;
	if (rc == 0 && run.options.top == HLG_UNSET)
		run.options.top = TOP;
	if (rc == 0)
		rc = find_places(&run, args, false, &places, &err);
	if (rc == 0)
		rc = hlg_inputs_read(in, &run, &batch, &status, &err);
	if (rc == 0 && batch.n_read) {
		hlg_batch_note(&batch, &run);
		rc = show(&run, args, &places, &err);
	}
	if (rc < 0)
		status = hlg_output_error(&err);
	if (status == 0 && run.mismatch)
		status = 3;
	hlg_batch_finish(&batch);
	hlg_places_finish(&places);
	hlg_run_finish(&run);
	return status;
}

static bool takes(const char *option)
{
	static const char *const options[] = {
		"by",  "cpu", "demangle", "event", "force", "format", "min",
		"out", "pid", "skid",     "tid",   "time",  "top",    "weight"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(option, options[i]) == 0)
			return true;
	return false;
}

int hlg_verb_annotate(int argc, char **argv)
{
	static const struct argp own = {own_options, parse, NULL, NULL, NULL, NULL, NULL};
	struct arguments args = {0};
	struct hlg_inputs in = {.takes = takes,
				.own = &own,
				.own_input = &args,
				.take_word = add_function,
				.format_words = "text|json"};
	int status = hlg_inputs_parse(
		&in, argc, argv, "guest.elf[@BASE]... [FUNCTION...] FILE...",
		"Shows the instructions of functions, gaps and labels with the samples "
		"at each, and source lines where the ELF has debug info. Without a "
		"function, those with most samples are shown (--top, 5).\v"
		"An argument that is a recording (or -, or a folder) is read, an ELF is "
		"the guest, and what is no file is a function.");

	if (status == 0)
		status = annotate_files(&in, &args);
	free(args.functions);
	hlg_inputs_finish(&in);
	return status;
}
