// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest flame: stacks of guest and host as one picture, of one side or of two that are
 * compared; or as text for other programs that draw them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../filter/folded.h"
#include "../filter/frames.h"
#include "../filter/run.h"
#include "flame/facts.h"
#include "flame/speedscope.h"
#include "inputs.h"
#include "output.h"
#include "verb.h"

enum {
	KEY_BEFORE = 0x200,
	KEY_INVERTED,
	KEY_TITLE,
};

struct arguments {
	char **before; /* recordings to compare with */
	size_t n_before;
	const char *title;
	bool inverted;
};

/* Recordings of one side, up to their tree. */
struct side {
	struct hlg_run run;
	struct hlg_batch batch;
	struct hlg_report report;
	struct hlg_tree tree;
};

#define LEAST 0.0001 /* share of a frame that is a tenth of a pixel wide, or so */

struct flame {
	const struct arguments *args;
	double least;
	struct side after, before;
};

static const struct argp_option own_options[] = {
	{"before", KEY_BEFORE, "FILE", 0,
	 "colour what changed since this recording; repeatable", 2},
	{"inverted", KEY_INVERTED, NULL, 0, "callers above: icicles", 2},
	{"title", KEY_TITLE, "TEXT", 0, "of the picture", 2},
	{0},
};

static void add_before(struct arguments *args, char *path, struct argp_state *state)
{
	char **more = reallocarray(args->before, args->n_before + 1, sizeof(*more));

	if (!more)
		argp_failure(state, 1, 0, "arguments: out of memory");
	args->before = more;
	more[args->n_before++] = path;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case KEY_BEFORE:
		add_before(args, value, state);
		return 0;
	case KEY_INVERTED:
		args->inverted = true;
		return 0;
	case KEY_TITLE:
		args->title = value;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_given(const struct hlg_options *options, const char *name)
{
	for (size_t i = 0; i < hlg_n_options; i++)
		if (strcmp(hlg_option_table[i].name, name) == 0)
			return options->given >> i & 1;
	return false;
}

/* Host and guest unless the words say otherwise, and all rows: a picture drops frames. */
static int start_side(struct side *side, const struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_options *options = &side->run.options;
	int rc = hlg_run_start(&side->run, in->n_words, in->words, err);

	if (rc < 0)
		return rc;
	if (!is_given(options, "mode"))
		options->mode = HLG_SHOW_ALL;
	if (options->format == HLG_FORMAT_TEXT)
		options->format = HLG_FORMAT_FOLDED; /* has all rows, as pictures have */
	if (options->out && strcmp(options->out, "-") == 0) {
		free(options->out);
		options->out = NULL;
	}
	return 0;
}

static int read_side(struct side *side, const struct hlg_inputs *in, int *status,
		     struct hlg_err *err)
{
	int rc = hlg_inputs_read(in, &side->run, &side->batch, status, err);

	if (rc < 0 || side->batch.n_read == 0)
		return rc;
	hlg_batch_note(&side->batch, &side->run);
	return 0;
}

static int build_side(struct side *side, struct hlg_err *err)
{
	int rc = hlg_run_build(&side->run, &side->report, err);

	if (rc == 0)
		rc = hlg_frames_build(&side->tree, &side->report, err);
	return rc;
}

/* Of several events on a side the report weighs samples, whatever weight= says. */
static enum hlg_weight weight_of(const struct flame *flame)
{
	return flame->args->n_before &&
			       flame->before.report.all.weight == HLG_WEIGHT_SAMPLES
		       ? HLG_WEIGHT_SAMPLES
		       : flame->after.report.all.weight;
}

/* What a tree's weight is worth: the host's periods are taken to vary as the guest's. */
static double observations_of(const struct side *side, enum hlg_weight weight)
{
	const struct hlg_view *v = &side->report.all;
	double samples = (double)side->tree.nodes[HLG_TREE_ROOT].total.samples;

	if (weight == HLG_WEIGHT_SAMPLES || v->kept.samples == 0)
		return samples;
	return samples * v->observations / (double)v->kept.samples;
}

static void finish_side(struct side *side)
{
	hlg_tree_finish(&side->tree);
	hlg_report_finish(&side->report);
	hlg_batch_finish(&side->batch);
	hlg_run_finish(&side->run);
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
	fputs(flame->args->n_before ? "What changed in " : "Flame graph of ", f);
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
	struct hlg_facts_side after = {&flame->after.report, graph->tree,
				       flame->after.batch.n_read};
	struct hlg_facts_side before = {&flame->before.report, &flame->before.tree,
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
	struct hlg_change_side after = {&flame->after.tree,
					observations_of(&flame->after, weight)};
	struct hlg_change_side before = {&flame->before.tree, 0};
	struct hlg_layout layout = {0};
	struct hlg_changes changes = {0};
	char *title = make_title(flame);
	struct hlg_graph graph = {
		.tree = &flame->after.tree,
		.layout = &layout,
		.weight = weight,
		.observations = after.observations,
		.inverted = flame->args->inverted,
		.title = title,
		.changes = flame->args->n_before ? &changes : NULL,
	};
	bool ok = title && hlg_layout_make(&layout, graph.tree, weight, flame->least);
	int rc;

	if (ok && graph.changes) {
		before.observations = observations_of(&flame->before, weight);
		ok = hlg_changes_make(&changes, &before, &after, weight);
	}
	rc = ok ? write_graph(f, flame, &graph, err) : hlg_err_memory(err, "flame graph");
	hlg_changes_finish(&changes);
	hlg_layout_finish(&layout);
	free(title);
	return rc;
}

static int write_folded(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;

	return hlg_folded_write(f, &flame->after.tree,
				(enum hlg_weight)flame->after.run.options.weight, err);
}

static int write_speedscope(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;

	return hlg_speedscope_write(f, &flame->after.report, &flame->after.tree, err);
}

/* What to write; of the formats, folded stacks are the filter's own. */
static int (*find_writer(const struct hlg_inputs *in))(void *to, FILE *f,
						       struct hlg_err *err)
{
	if (in->format)
		return strcmp(in->format, "svg") == 0 ? write_svg : write_speedscope;
	return in->formats ? write_folded : write_svg;
}

/* What cannot be done, before anything is read. */
static int check(const struct flame *flame, const struct hlg_inputs *in,
		 struct hlg_err *err)
{
	bool picture = find_writer(in) == write_svg;

	if (in->formats > 1)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format: is given twice (give it once)");
	if (!picture && flame->args->n_before)
		return hlg_err_set(err, HLG_EINPUT,
				   "--before: is for pictures (leave --format out)");
	if (picture && !flame->after.run.options.out && isatty(STDOUT_FILENO))
		return hlg_err_set(err, HLG_EINPUT,
				   "standard output: is a terminal, and a picture is "
				   "nothing for one (say -o flame.svg)");
	return find_writer(in) == write_speedscope ? hlg_speedscope_check(err) : 0;
}

static int start(struct flame *flame, const struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_options *options = &flame->after.run.options;
	int rc = start_side(&flame->after, in, err);

	if (rc == 0)
		rc = check(flame, in, err);
	if (rc == 0 && flame->args->n_before)
		rc = start_side(&flame->before, in, err);
	if (rc < 0 || find_writer(in) != write_svg)
		return rc;
	flame->least = options->min == HLG_UNSET ? LEAST : (double)options->min / 1e11;
	options->min = flame->before.run.options.min = HLG_UNSET;
	return 0;
}

/* Reads both sides. What cannot be read is told, and the rest is shown. */
static int read_sides(struct flame *flame, const struct hlg_inputs *in, int *status,
		      struct hlg_err *err)
{
	struct hlg_inputs old = *in;
	int rc = read_side(&flame->after, in, status, err);

	if (rc < 0 || !flame->args->n_before)
		return rc;
	old.files = flame->args->before;
	old.n_files = flame->args->n_before;
	return read_side(&flame->before, &old, status, err);
}

static int build_and_write(struct flame *flame, const struct hlg_inputs *in,
			   struct hlg_err *err)
{
	int rc = build_side(&flame->after, err);

	if (rc == 0 && flame->args->n_before)
		rc = build_side(&flame->before, err);
	if (rc < 0)
		return rc;
	return hlg_run_write(&flame->after.run, stdout, find_writer(in), flame, err);
}

static int show(const struct hlg_inputs *in, const struct arguments *args)
{
	struct flame flame = {.args = args};
	struct hlg_err err;
	int rc = start(&flame, in, &err), status = 0;

	if (rc == 0)
		rc = read_sides(&flame, in, &status, &err);
	if (rc == 0 && flame.after.batch.n_read &&
	    (!args->n_before || flame.before.batch.n_read))
		rc = build_and_write(&flame, in, &err);
	if (rc < 0)
		status = hlg_output_error(&err);
	if (status == 0 && (flame.after.run.mismatch || flame.before.run.mismatch))
		status = 3;
	finish_side(&flame.after);
	finish_side(&flame.before);
	return status;
}

/* Of the report's options those that decide what stacks there are. */
static bool takes(const char *option)
{
	static const char *const others[] = {"aliases", "emit",   "region",
					     "skid",    "strict", "top"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(option, others[i]) == 0)
			return false;
	return true;
}

int hlg_verb_flame(int argc, char **argv)
{
	static const struct argp own = {own_options, parse, NULL, NULL, NULL, NULL, NULL};
	struct arguments args = {0};
	struct hlg_inputs in = {.takes = takes,
				.own = &own,
				.own_input = &args,
				.short_out = true,
				.format_words = "svg|folded|speedscope"};
	int status = hlg_inputs_parse(
		&in, argc, argv, "guest.elf[@BASE]... FILE...",
		"Draws stacks of guest and host as a flame graph: an SVG that zooms and "
		"searches in a browser, and shows the same without a script.\v"
		"With --before, widths are those of FILE, and frames are coloured whose "
		"share changed significantly. Without mode= host and guest are shown; "
		"min= is the share of the narrowest frame (0.01).");

	if (status == 0)
		status = show(&in, &args);
	free(args.before);
	hlg_inputs_finish(&in);
	return status;
}
