// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest flame: stacks of guest and host as one picture, of one side or of two that are
 * compared; or as text for other programs that draw them.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/write/folded.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/export/speedscope.h"
#include "tools/flame/facts.h"
#include "tools/flame/stacks.h"

struct arguments {
	struct hlg_inputs inputs, before; /* what to compare with */
	const char *title;
	bool inverted;
};

#define LEAST 0.0001 /* share of a frame that is a tenth of a pixel wide, or so */

struct flame {
	const struct arguments *args;
	bool compares;
	double least;
	struct hlg_side after, before;
	struct hlg_flame_stacks stacks, stacks_before;
};

/* A recording, or another build of the guest. */
static int add_before(void *arguments, const struct hlg_verb_option *option, char *path,
		      struct hlg_err *err)
{
	struct arguments *args = arguments;

	(void)option;
	return hlg_inputs_add_other(&args->before, path, hlg_images_file_kind(path), err);
}

/* Of several events on a side the report weighs samples, whatever weight= says. */
static enum hlg_weight weight_of(const struct flame *flame)
{
	return flame->compares && flame->stacks_before.report.all.weight ==
					  HLG_WEIGHT_SAMPLES
		       ? HLG_WEIGHT_SAMPLES
		       : flame->stacks.report.all.weight;
}

/* "Flame graph of guest.elf, jit.map"; to be freed. */
static char *make_title(const struct flame *flame)
{
	const struct hlg_space *space = &flame->after.run.space;
	char *title = NULL;
	size_t size;
	FILE *f;

	if (flame->args->title)
		return strdup(flame->args->title);
	f = open_memstream(&title, &size);
	if (!f)
		return NULL;
	fputs(flame->compares ? "What changed in " : "Flame graph of ", f);
	for (size_t i = 0; i < space->n_images; i++)
		fprintf(f, "%s%s", i ? ", " : "", space->images[i]->path);
	if (fclose(f) != 0) {
		free(title);
		return NULL;
	}
	return title;
}

static int write_graph(FILE *f, const struct flame *flame, struct hlg_graph *graph,
		       struct hlg_err *err)
{
	struct hlg_facts_side after = {&flame->stacks.report, graph->tree,
				       flame->after.batch.n_read};
	struct hlg_facts_side before = {&flame->stacks_before.report,
					&flame->stacks_before.tree,
					flame->before.batch.n_read};
	struct hlg_facts facts = {0};
	int rc = 0;

	if (!hlg_facts_make(&facts, graph, &after, graph->changes ? &before : NULL,
			    flame->least))
		rc = hlg_err_memory(err, "flame graph");
	graph->texts = facts.texts;
	graph->n_texts = facts.n;
	if (rc == 0)
		rc = hlg_graph_write(f, graph, err);
	hlg_facts_finish(&facts);
	return rc;
}

static int write_svg(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;
	enum hlg_weight weight = weight_of(flame);
	struct hlg_change_side after = {
		&flame->stacks.tree,
		hlg_flame_stacks_observations(&flame->stacks, weight)};
	struct hlg_change_side before = {&flame->stacks_before.tree, 0};
	struct hlg_layout layout = {0};
	struct hlg_changes changes = {0};
	char *title = make_title(flame);
	struct hlg_graph graph = {
		.tree = &flame->stacks.tree,
		.layout = &layout,
		.weight = weight,
		.observations = after.observations,
		.inverted = flame->args->inverted,
		.title = title,
		.changes = flame->compares ? &changes : NULL,
	};
	bool ok = title && hlg_graph_layout(&layout, graph.tree, weight, flame->least);
	int rc;

	if (ok && graph.changes) {
		before.observations =
			hlg_flame_stacks_observations(&flame->stacks_before, weight);
		ok = hlg_changes_make(&changes, &before, &after, weight);
	}
	rc = ok ? write_graph(f, flame, &graph, err) : hlg_err_memory(err, "flame graph");
	hlg_changes_finish(&changes);
	hlg_graph_layout_finish(&layout);
	free(title);
	return rc;
}

static int write_folded(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;

	return hlg_folded_write(f, &flame->stacks.tree,
				(enum hlg_weight)flame->after.run.options.weight, err);
}

#if HLG_HAVE_JANSSON
static int write_speedscope(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;

	return hlg_speedscope_write(f, &flame->stacks.report, &flame->stacks.tree, err);
}

#endif

/* Data is a struct flame. */
static const struct hlg_format svg = {
	.name = "svg", .file = "flame.svg", .stacks = true, .write = write_svg};
static const struct hlg_format folded = {
	.name = "folded", .stacks = true, .write = write_folded};
static const struct hlg_format speedscope = {
	.name = "speedscope", .stacks = true, HLG_FORMAT_JANSSON(write_speedscope)};
static const struct hlg_format *const formats[] = {&svg, &folded, &speedscope, NULL};

/* Words that do not go together. */
static int check_words(const struct hlg_inputs *in, const struct arguments *args,
		       struct hlg_err *err)
{
	if (in->format != &svg && args->before.n_others)
		return hlg_err_set(err, HLG_EINPUT,
				   "--before: is for pictures (leave --format out)");
	if (args->before.n_others && !args->before.n_files)
		return hlg_err_set(err, HLG_EINPUT,
				   "--before=%s: is no recording (name one of it, too)",
				   args->before.others[0].word);
	return 0;
}

/* Host and guest are shown unless the words say otherwise. */
static int start_side(struct hlg_side *side, struct hlg_err *err)
{
	struct hlg_options *options = &side->run.options;
	int rc = hlg_sides_start(side, err);

	if (rc < 0)
		return rc;
	if (!hlg_options_given(options, "mode"))
		options->mode = HLG_SHOW_ALL;
	return 0;
}

static int start(struct flame *flame, const struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_options *options = &flame->after.run.options;
	int rc = start_side(&flame->after, err);

	if (rc == 0 && flame->compares)
		rc = start_side(&flame->before, err);
	if (rc < 0 || in->format != &svg)
		return rc;
	/* Of a picture, min= is about frames. */
	flame->least = options->min == HLG_UNSET ? LEAST : (double)options->min / 1e11;
	options->min = flame->before.run.options.min = HLG_UNSET;
	return 0;
}

static int read_side(struct hlg_side *side, int *status, struct hlg_err *err)
{
	int rc = hlg_sides_read(side, status, err);

	if (rc == 0 && side->batch.n_read)
		hlg_batch_note(&side->batch, &side->run);
	return rc;
}

/* What cannot be read is told, and the rest is shown. */
static int read_sides(struct flame *flame, int *status, struct hlg_err *err)
{
	int rc = read_side(&flame->after, status, err);

	return rc < 0 || !flame->compares ? rc : read_side(&flame->before, status, err);
}

static int build_and_write(struct flame *flame, const struct hlg_inputs *in,
			   struct hlg_err *err)
{
	int rc = hlg_flame_stacks_build(&flame->stacks, &flame->after, NULL, err);

	if (rc == 0 && flame->compares)
		rc = hlg_flame_stacks_build(&flame->stacks_before, &flame->before,
					    &flame->after, err);
	if (rc < 0)
		return rc;
	return hlg_format_write(&(struct hlg_result){in->format, flame, NULL, NULL},
				flame->after.run.options.out, stdout, err);
}

static void finish(struct flame *flame)
{
	hlg_flame_stacks_finish(&flame->stacks);
	hlg_flame_stacks_finish(&flame->stacks_before);
	hlg_sides_finish(&flame->after);
	hlg_sides_finish(&flame->before);
}

/* The sides' stacks are of one kind: that of the recordings that are shown. */
static int choose_stacks(struct arguments *args, struct hlg_err *err)
{
	static const char callgraph[] = "--stacks=callgraph";
	int rc = 0;

	if (!hlg_flame_stacks_are_whole(&args->inputs))
		return 0;
	rc = hlg_inputs_add_word(&args->inputs, callgraph, err);
	return rc < 0 ? rc : hlg_inputs_add_word(&args->before, callgraph, err);
}

static int show(struct arguments *args)
{
	const struct hlg_inputs *in = &args->inputs;
	struct flame flame = {.args = args,
			      .compares = args->before.n_files,
			      .after.in = in,
			      .before.in = &args->before};
	struct hlg_err err;
	int rc = check_words(in, args, &err), status = 0;

	if (rc < 0) {
		hlg_output_error(&err);
		return rc == HLG_ESYSTEM ? 1 : 2;
	}
	rc = choose_stacks(args, &err);
	if (rc == 0)
		rc = start(&flame, in, &err);
	if (rc == 0)
		rc = read_sides(&flame, &status, &err);
	if (rc == 0 && flame.after.batch.n_read &&
	    (!flame.compares || flame.before.batch.n_read))
		rc = build_and_write(&flame, in, &err);
	if (rc < 0)
		status = hlg_output_error(&err);
	if (status == 0 && (flame.after.run.mismatch || flame.before.run.mismatch))
		status = 3;
	finish(&flame);
	return status;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {.inputs.second = &args.before};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = show(&args);
	hlg_inputs_finish(&args.inputs);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "before",
	 .value = "FILE",
	 .help = "colour what changed since this recording; and its ELF, if it is "
		 "another",
	 .files = "elf recording profile",
	 .kind = HLG_VERB_TEXTS,
	 .set = add_before},
	{.name = "inverted",
	 .help = "callers above: icicles",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, inverted)},
	{.name = "title",
	 .value = "TEXT",
	 .help = "of the picture",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct arguments, title)},
	{0},
};

const struct hlg_verb hlg_verb_flame = {
	.name = "flame",
	.args = "guest.elf[@BASE] [-i] FILE...",
	.help = "flame graph of recordings",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE]... FILE...",
	.doc = "Draws stacks of guest and host as a flame graph: an SVG that zooms and "
	       "searches in a browser, and shows the same without a script.\v"
	       "Whole stacks are drawn where samples have callchains (hlguest record "
	       "--stacks). With --before, widths are those of FILE, and frames are "
	       "coloured whose share changed significantly. Without mode= host and "
	       "guest are shown; min= is the share of the narrowest frame (0.01).",
	.files = "elf recording profile",
	/* Of the report's those that decide what stacks there are. */
	.shared = "input jobs quiet by cpu demangle event force format gaps min mode "
		  "output pid roots stacks tid time weight",
	.formats = formats,
	.options = options,
	.run = run,
};
