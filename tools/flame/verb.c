// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest flame: stacks of guest and host as one picture, of one side or of two that are
 * compared; or as text for other programs that draw them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "filter/write/folded.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/export/speedscope.h"
#include "tools/flame/facts.h"
#include "tools/flame/side.h"
#include "tools/inputs/file-kind.h"

enum {
	KEY_BEFORE = 0x200,
	KEY_INVERTED,
	KEY_TITLE,
};

struct arguments {
	char **before; /* recordings to compare with */
	size_t n_before;
	char **images; /* of these, if others */
	size_t n_images;
	const char *title;
	bool inverted;
};

#define LEAST 0.0001 /* share of a frame that is a tenth of a pixel wide, or so */

struct flame {
	const struct arguments *args;
	double least;
	struct hlg_flame_side after, before;
};

static const struct argp_option own_options[] = {
	{"before", KEY_BEFORE, "FILE", 0,
	 "colour what changed since this recording; and its ELF, if it is "
	 "another",
	 2},
	{"inverted", KEY_INVERTED, NULL, 0, "callers above: icicles", 2},
	{"title", KEY_TITLE, "TEXT", 0, "of the picture", 2},
	{0},
};

static void append(char ***list, size_t *n, char *word)
{
	char **more = reallocarray(*list, *n + 1, sizeof(*more));

	if (!more)
		hlg_words_no_memory();
	*list = more;
	more[(*n)++] = word;
}

/* A recording, or another build of the guest. */
static void add_before(struct arguments *args, char *path)
{
	if (hlg_file_kind_guess(path) == HLG_FILE_KIND_IMAGE)
		append(&args->images, &args->n_images, path);
	else
		append(&args->before, &args->n_before, path);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case KEY_BEFORE:
		add_before(args, value);
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

/* Images of the side before are checked where they are opened. */
static const char *reads(const void *input, size_t i)
{
	const struct arguments *args = input;

	return i < args->n_before ? args->before[i] : NULL;
}

/* Of several events on a side the report weighs samples, whatever weight= says. */
static enum hlg_weight weight_of(const struct flame *flame)
{
	return flame->args->n_before &&
			       flame->before.report.all.weight == HLG_WEIGHT_SAMPLES
		       ? HLG_WEIGHT_SAMPLES
		       : flame->after.report.all.weight;
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
	struct hlg_change_side after = {
		&flame->after.tree, hlg_flame_side_observations(&flame->after, weight)};
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
		before.observations = hlg_flame_side_observations(&flame->before, weight);
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

/* Words that do not go together. */
static int check_words(const struct hlg_inputs *in, const struct arguments *args,
		       struct hlg_err *err)
{
	if (in->formats > 1)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format: is given twice (give it once)");
	if (find_writer(in) != write_svg && (args->n_before || args->n_images))
		return hlg_err_set(err, HLG_EINPUT,
				   "--before: is for pictures (leave --format out)");
	if (args->n_images && !args->n_before)
		return hlg_err_set(err, HLG_EINPUT,
				   "--before=%s: is no recording (name one of it, too)",
				   args->images[0]);
	return 0;
}

/* What cannot be written, before anything is read. */
static int check_output(const struct flame *flame, const struct hlg_inputs *in,
			struct hlg_err *err)
{
	if (find_writer(in) == write_svg &&
	    hlg_target_is_stream(flame->after.run.options.out) && isatty(STDOUT_FILENO))
		return hlg_err_set(err, HLG_EINPUT,
				   "standard output: is a terminal, and a picture is "
				   "nothing for one (say -o flame.svg)");
	return find_writer(in) == write_speedscope ? hlg_speedscope_check(err) : 0;
}

static int start(struct flame *flame, const struct hlg_inputs *in, struct hlg_err *err)
{
	const struct arguments *args = flame->args;
	struct hlg_options *options = &flame->after.run.options;
	int rc = hlg_flame_side_start(&flame->after, in, NULL, 0, err);

	if (rc == 0)
		rc = check_output(flame, in, err);
	if (rc == 0 && args->n_before)
		rc = hlg_flame_side_start(&flame->before, in, args->images,
					  args->n_images, err);
	if (rc < 0 || find_writer(in) != write_svg)
		return rc;
	/* Of a picture, min= is about frames. */
	flame->least = options->min == HLG_UNSET ? LEAST : (double)options->min / 1e11;
	options->min = flame->before.run.options.min = HLG_UNSET;
	return 0;
}

/* What cannot be read is told, and the rest is shown. */
static int read_sides(struct flame *flame, const struct hlg_inputs *in, int *status,
		      struct hlg_err *err)
{
	int rc = hlg_flame_side_read(&flame->after, in, in->files, in->n_files, status,
				     err);

	if (rc < 0 || !flame->args->n_before)
		return rc;
	return hlg_flame_side_read(&flame->before, in, flame->args->before,
				   flame->args->n_before, status, err);
}

static int build_and_write(struct flame *flame, const struct hlg_inputs *in,
			   struct hlg_err *err)
{
	int rc = hlg_flame_side_build(&flame->after, NULL, err);

	if (rc == 0 && flame->args->n_before)
		rc = hlg_flame_side_build(&flame->before, &flame->after, err);
	if (rc < 0)
		return rc;
	return hlg_run_write(&flame->after.run, stdout, find_writer(in), flame, err);
}

static int show(const struct hlg_inputs *in, const struct arguments *args)
{
	struct flame flame = {.args = args};
	struct hlg_err err;
	int rc = check_words(in, args, &err), status = 0;

	if (rc < 0) {
		hlg_output_error(&err);
		return rc == HLG_ESYSTEM ? 1 : 2;
	}
	rc = start(&flame, in, &err);
	if (rc == 0)
		rc = read_sides(&flame, in, &status, &err);
	if (rc == 0 && flame.after.batch.n_read &&
	    (!args->n_before || flame.before.batch.n_read))
		rc = build_and_write(&flame, in, &err);
	if (rc < 0)
		status = hlg_output_error(&err);
	if (status == 0 && (flame.after.run.mismatch || flame.before.run.mismatch))
		status = 3;
	hlg_flame_side_finish(&flame.after);
	hlg_flame_side_finish(&flame.before);
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
				.reads = reads,
				.format_words = "svg|folded|speedscope"};
	int status = hlg_inputs_parse(
		&in, argc, argv, "guest.elf[@BASE]... FILE...",
		"Draws stacks of guest and host as a flame graph: an SVG that zooms and "
		"searches in a browser, and shows the same without a script.\v"
		"Whole stacks are drawn where samples have callchains (hlguest record "
		"--stacks). "
		"With --before, widths are those of FILE, and frames are coloured whose "
		"share changed significantly. Without mode= host and guest are shown; "
		"min= is the share of the narrowest frame (0.01).");

	if (status == 0)
		status = show(&in, &args);
	free(args.before);
	free(args.images);
	hlg_inputs_finish(&in);
	return status;
}
