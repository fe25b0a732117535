// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest flame: stacks of guest and host as one picture, of one side or of two that are
 * compared; or as text for other programs that draw them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/report/banner.h"
#include "filter/report/frames.h"
#include "filter/report/nothing.h"
#include "filter/report/rows.h"
#include "filter/trust/base-search.h"
#include "filter/write/folded.h"
#include "symtab/escape.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/export/export.h"
#include "tools/flame/flame.h"
#include "tools/inputs/paired.h"
#include "tools/inputs/sides.h"
#include "tools/source/source.h"

struct arguments {
	struct hlg_inputs inputs, before; /* what to compare with */
	const char *title;
	bool inverted;
};

#define LEAST 0.0001 /* share of a frame that is a tenth of a pixel wide, or so */

/* What a graph is drawn of: one side. */
struct stacks {
	struct hlg_side side;
	struct hlg_sources sources;
	struct hlg_report report;
	struct hlg_tree tree;
};

struct flame {
	const struct arguments *args;
	bool compares;
	bool leaves; /* of both sides, as one alone has callchains */
	bool guests; /* so, as one alone has the host's */
	double least;
	struct stacks after, before;
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
	return flame->compares && flame->before.report.all.weight == HLG_WEIGHT_SAMPLES
		       ? HLG_WEIGHT_SAMPLES
		       : flame->after.report.all.weight;
}

/* "Flame graph of guest.elf, jit.map"; to be freed. */
static char *make_title(const struct flame *flame)
{
	const struct hlg_space *space = &flame->after.side.run.space;
	struct hlg_memstream m;
	FILE *f;

	if (flame->args->title)
		return strdup(flame->args->title);
	f = hlg_memstream_open(&m);
	if (!f)
		return NULL;
	fputs(flame->compares ? "What changed in " : "Flame graph of ", f);
	for (size_t i = 0; i < space->n_images; i++)
		fprintf(f, "%s%s", i ? ", " : "", hlg_image_short_name(space->images[i]));
	return hlg_memstream_close(&m);
}

/*
 * How many observations the tree's weight is worth (filter/stats/interval.h). Of the
 * host's periods only the sum is known: they are taken to vary as the guest's do.
 */
static double observations_of(const struct stacks *stacks, enum hlg_weight weight)
{
	const struct hlg_view *v = &stacks->report.all;
	double samples = (double)stacks->tree.nodes[HLG_TREE_ROOT].total.samples;

	if (weight == HLG_WEIGHT_SAMPLES || v->kept.samples == 0)
		return samples / v->design;
	return samples * hlg_view_worth(v) / (double)v->kept.samples;
}

static struct hlg_flame_side side_of(const struct stacks *stacks, enum hlg_weight weight)
{
	return (struct hlg_flame_side){&stacks->tree, observations_of(stacks, weight),
				       &stacks->report, stacks->side.batch.n_read};
}

/* Frames lie where layout says, in the colours of changes. False without memory. */
static bool lay_out(const struct flame *flame, struct hlg_graph *graph,
		    struct hlg_layout *layout, struct hlg_changes *changes)
{
	const struct hlg_flame_side after = side_of(&flame->after, graph->weight);
	struct hlg_flame_side before;

	if (!graph->title ||
	    !hlg_graph_layout(layout, graph->tree, graph->weight, flame->least))
		return false;
	if (!flame->compares)
		return hlg_facts_add(graph, &after, NULL, flame->least);
	before = side_of(&flame->before, graph->weight);
	return hlg_changes_make(changes, &before, &after, graph->weight) &&
	       hlg_facts_add(graph, &after, &before, flame->least);
}

/* Are all periods nanoseconds? */
static bool is_clock(const struct hlg_report *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->profile->n_events; i++) {
		if (!hlg_rows_has_event(r, i))
			continue;
		if (r->profile->events[i].kind != HLG_EVENT_TIMER)
			return false;
		any = true;
	}
	return any;
}

static int write_svg(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;
	enum hlg_weight weight = weight_of(flame);
	struct hlg_layout layout = {0};
	struct hlg_changes changes = {0};
	char *title = make_title(flame);
	struct hlg_graph graph = {
		.tree = &flame->after.tree,
		.layout = &layout,
		.weight = weight,
		.observations = observations_of(&flame->after, weight),
		.inverted = flame->args->inverted,
		.clock = is_clock(&flame->after.report),
		.leaves = flame->leaves,
		.guests = flame->guests,
		.title = title,
		.changes = flame->compares ? &changes : NULL,
	};
	int rc = lay_out(flame, &graph, &layout, &changes)
			 ? hlg_graph_write(f, &graph, err)
			 : hlg_err_memory(err, "flame graph");

	for (int i = 0; i < HLG_N_GRAPH_TEXTS; i++)
		hlg_note_list_finish(&graph.texts[i]);
	hlg_changes_finish(&changes);
	hlg_graph_layout_finish(&layout);
	free(title);
	return rc;
}

static int write_folded(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;

	return hlg_folded_write(f, &flame->after.tree,
				(enum hlg_weight)flame->after.side.run.options.weight,
				err);
}

#if HLG_HAVE_JANSSON
static int write_speedscope(void *to, FILE *f, struct hlg_err *err)
{
	struct flame *flame = to;

	return hlg_speedscope_write(f, &flame->after.report, &flame->after.tree, err);
}

#endif

/* Data is a struct flame. */
static const struct hlg_format svg = {.name = "svg",
				      .file = "flame.svg",
				      .stacks = true,
				      .reader = true,
				      .write = write_svg};
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
		return hlg_err_set(err, HLG_EWORDS,
				   "--before: is for pictures (leave --format out)");
	if (args->before.n_others && !args->before.n_files)
		return hlg_err_set(err, HLG_EWORDS,
				   "--before=%s: is no recording (name one of it, too)",
				   args->before.others[0].word);
	return 0;
}

/* Host and guest are shown unless the words say otherwise; but where one side alone was
 * recorded with callchains, it has marks of the host that the other lacks. */
static int start_side(struct hlg_side *side, bool leaves, struct hlg_err *err)
{
	struct hlg_options *options = &side->run.options;
	int rc = hlg_sides_start(side, err);

	if (rc < 0)
		return rc;
	if (!hlg_options_given(options, "mode"))
		options->mode = leaves ? HLG_SHOW_GUEST : HLG_SHOW_ALL;
	return 0;
}

static int start(struct flame *flame, const struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_options *options = &flame->after.side.run.options;
	int rc = start_side(&flame->after.side, flame->leaves, err);

	if (rc == 0 && flame->compares)
		rc = start_side(&flame->before.side, flame->leaves, err);
	if (rc < 0 || in->format != &svg)
		return rc;
	/* Of a picture, min= is about frames. */
	flame->least = options->min == HLG_UNSET ? LEAST : (double)options->min / 1e11;
	options->min = flame->before.side.run.options.min = HLG_UNSET;
	return 0;
}

/* What cannot be read is told, and the rest is shown. */
static int read_side(struct hlg_side *side, int *status, struct hlg_err *err)
{
	int rc = hlg_sides_read(side, status, err);

	if (rc == 0 && side->batch.n_read)
		hlg_batch_note(&side->batch, &side->run);
	return rc;
}

/* Where one side alone has stacks of the host that led into guests, guests are compared.
 */
static void choose_halves(struct flame *flame)
{
	struct hlg_run *sides[] = {&flame->after.side.run, &flame->before.side.run};

	flame->guests =
		flame->compares && hlg_stacks_have_halves(&sides[0]->stacks) !=
					   hlg_stacks_have_halves(&sides[1]->stacks);
	for (size_t i = 0; flame->guests && i < 2; i++) {
		sides[i]->stacks.guests = true;
		if (!hlg_options_given(&sides[i]->options, "mode"))
			sides[i]->options.mode = HLG_SHOW_GUEST;
	}
}

/* So that frames of two builds can be compared, images are called as like's are, in
 * their order; after the report, whose notes name files as they are. */
static bool rename_images(struct hlg_space *space, const struct hlg_space *like)
{
	for (size_t i = 0; i < space->n_images && i < like->n_images; i++) {
		char *path = strdup(like->images[i]->path);

		if (!path)
			return false;
		/* What it was called is its file still. */
		if (space->images[i]->file)
			free(space->images[i]->path);
		else
			space->images[i]->file = space->images[i]->path;
		space->images[i]->path = path;
	}
	return true;
}

static int build(struct stacks *stacks, bool inlines, struct hlg_err *err)
{
	struct hlg_run *run = &stacks->side.run;

	if (!hlg_source_open_all(&stacks->sources, &run->space))
		return hlg_err_memory(err, "lines");
	if (inlines)
		run->inlines = (struct hlg_inlined_source){.at = hlg_source_inlined_at,
							   .ctx = &stacks->sources};
	return hlg_run_build(run, &stacks->report, err);
}

/* The report once more, of the border that it has now. */
static int build_again(struct stacks *stacks, struct hlg_err *err)
{
	struct hlg_border exits = stacks->report.border;
	int rc;

	stacks->report.border = (struct hlg_border){0};
	hlg_report_finish(&stacks->report);
	stacks->side.run.exits = &exits;
	rc = hlg_run_build(&stacks->side.run, &stacks->report, err);
	stacks->side.run.exits = NULL;
	hlg_border_finish(&exits); /* if it came not so far */
	return rc;
}

/* What is at a VM exit is so on both sides, as in diff: else the samples of one
 * instruction would be a function's before, and the exit's after. */
static int share_exits(struct flame *flame, struct hlg_err *err)
{
	struct stacks *sides[2] = {&flame->before, &flame->after};
	struct hlg_border *border[2];
	struct hlg_paired images;
	size_t n[2];
	bool ok;
	int rc;

	for (int s = 0; s < 2; s++) {
		border[s] = &sides[s]->report.border;
		n[s] = border[s]->n;
	}
	ok = hlg_paired_make(&images, &flame->before.side.run.space,
			     &flame->after.side.run.space) &&
	     hlg_paired_share_border(&images, border);
	rc = ok ? 0 : hlg_err_memory(err, "images");
	for (int s = 0; rc == 0 && s < 2; s++)
		if (border[s]->n > n[s])
			rc = build_again(sides[s], err);
	for (int s = 0; s < 2; s++)
		sides[s]->report.exits_alone =
			hlg_space_is_made(&flame->before.side.run.space) ||
			hlg_space_is_made(&flame->after.side.run.space);
	hlg_paired_finish(&images);
	return rc;
}

/* Both sides, so that their frames can be compared. */
static int build_sides(struct flame *flame, bool inlines, struct hlg_err *err)
{
	int rc = build(&flame->after, inlines, err);

	if (rc < 0 || !flame->compares)
		return rc;
	rc = build(&flame->before, inlines, err);
	if (rc == 0)
		rc = share_exits(flame, err);
	if (rc == 0 &&
	    !rename_images(&flame->before.side.run.space, &flame->after.side.run.space))
		rc = hlg_err_memory(err, "images");
	return rc;
}

/* Why a side has nothing to draw, in *nothing; NULL if both have. */
static const struct hlg_err *nothing_of(const struct flame *flame,
					struct hlg_err *nothing)
{
	const char *of = flame->compares ? "after: " : "";

	if (hlg_nothing_check(&flame->after.side.run.profile, of, nothing) < 0)
		return nothing;
	if (flame->compares &&
	    hlg_nothing_check(&flame->before.side.run.profile, "before: ", nothing) < 0)
		return nothing;
	return NULL;
}

/* "3432 samples, check OK" */
static void tell_side(const struct stacks *stacks)
{
	uint64_t n = stacks->tree.nodes[HLG_TREE_ROOT].total.samples;
	char said[80], outside[80];

	fprintf(stderr, "%" PRIu64 " sample%s, check %s%s", n, n == 1 ? "" : "s",
		hlg_banner_said(said, &stacks->report),
		hlg_banner_outside(outside, &stacks->report));
}

/* What was written to a file, as nothing of it is seen. */
static void tell(const struct flame *flame, const struct hlg_inputs *in)
{
	const char *out = flame->after.side.run.options.out;

	if (!out || strcmp(out, "-") == 0 || in->quiet)
		return;
	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, out);
	fputs(flame->compares ? ": after " : ": ", stderr);
	tell_side(&flame->after);
	if (flame->compares) {
		fputs("; before ", stderr);
		tell_side(&flame->before);
	}
	fputc('\n', stderr);
}

static int build_and_write(struct flame *flame, const struct hlg_inputs *in,
			   struct hlg_err *err)
{
	/* What is inlined is another thing in each build. */
	bool inlines = in->inlines < 0 ? !flame->compares : in->inlines;
	struct hlg_err nothing;
	int rc;

	choose_halves(flame);
	rc = build_sides(flame, inlines, err);
	if (rc == 0)
		rc = hlg_frames_build(&flame->after.tree, &flame->after.report, err);
	if (rc == 0 && flame->compares)
		rc = hlg_frames_build(&flame->before.tree, &flame->before.report, err);
	if (rc < 0)
		return rc;
	rc = hlg_format_write(
		&(struct hlg_result){.format = in->format,
				     .data = flame,
				     .nothing = nothing_of(flame, &nothing)},
		flame->after.side.run.options.out, stdout, err);
	/* A picture says it itself. */
	if (rc == 0 && in->format != &svg) {
		hlg_base_search_warn(&flame->after.side.run.space);
		hlg_output_notes(NULL, &flame->after.side.run.notes, HLG_OUTPUT_WARNINGS);
	}
	if (rc == 0)
		tell(flame, in);
	if (rc == 0)
		hlg_run_warn(&flame->after.report, in->format,
			     flame->compares ? "after: " : "");
	if (rc == 0)
		hlg_run_warn_remarks(&flame->after.report,
				     flame->compares ? "after: " : "");
	if (rc == 0 && flame->compares) {
		hlg_run_warn(&flame->before.report, in->format, "before: ");
		hlg_run_warn_remarks(&flame->before.report, "before: ");
	}
	return rc;
}

static void finish(struct stacks *stacks)
{
	hlg_tree_finish(&stacks->tree);
	hlg_report_finish(&stacks->report);
	hlg_source_close_all(&stacks->sources);
	hlg_sides_finish(&stacks->side);
}

/* Whole stacks are what a flame graph is for, where there are any. The sides' are of one
 * kind: whole if both have callchains. */
static int choose_stacks(struct flame *flame, struct arguments *args, struct hlg_err *err)
{
	bool whole, before = false;
	int rc = hlg_sides_want_whole(&args->inputs, &whole, err);

	if (rc == 0 && flame->compares)
		rc = hlg_sides_want_whole(&args->before, &before, err);
	if (rc < 0)
		return rc;
	if (flame->compares) {
		flame->leaves = whole != before;
		whole = whole && before;
	}
	if (!whole)
		return 0;
	rc = hlg_inputs_add_word(&args->inputs, HLG_SIDES_WHOLE, err);
	return rc < 0 ? rc : hlg_inputs_add_word(&args->before, HLG_SIDES_WHOLE, err);
}

static int show(struct arguments *args)
{
	const struct hlg_inputs *in = &args->inputs;
	static struct flame flame; /* once in a run; it is too large for some stacks */
	struct hlg_err err;
	int rc = check_words(in, args, &err), status = 0;

	flame.args = args;
	flame.compares = args->before.n_files;
	flame.after.side.in = in;
	flame.before.side.in = &args->before;
	if (rc < 0)
		return hlg_output_error(&err);
	rc = choose_stacks(&flame, args, &err);
	if (rc == 0)
		rc = start(&flame, in, &err);
	if (rc == 0)
		rc = read_side(&flame.after.side, &status, &err);
	if (rc == 0 && flame.compares)
		rc = read_side(&flame.before.side, &status, &err);
	if (rc == 0 && flame.after.side.batch.n_read &&
	    (!flame.compares || flame.before.side.batch.n_read))
		rc = build_and_write(&flame, in, &err);
	if (rc < 0)
		status = hlg_output_error(&err);
	status = hlg_run_status(&flame.after.side.run, status);
	status = hlg_run_status(&flame.before.side.run, status);
	finish(&flame.after);
	finish(&flame.before);
	flame.args = NULL;
	flame.after.side.in = flame.before.side.in = NULL;
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
	 .help = "above the picture",
	 .fallback = "the names of the guest and the recording",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct arguments, title)},
	{0},
};

const struct hlg_verb hlg_verb_flame = {
	.name = "flame",
	.args = "guest.elf[@BASE] [FILE...]",
	.help = "flame graph of recordings",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE]... [FILE...]",
	.doc = "Draws stacks of guest and host as a flame graph: an SVG that zooms and "
	       "searches in a browser, and shows the same without a script.\v"
	       "Whole stacks are drawn where samples have callchains (hlguest record "
	       "--stacks). With --before, widths are those of FILE, and frames are "
	       "coloured whose share changed significantly. Without --mode= host and "
	       "guest are shown; --min= is the share of the narrowest frame (0.01).",
	.examples = "hlguest flame -o flame.svg guest.elf\tperf.data.guest as a picture "
		    "for a browser\n"
		    "hlguest flame -o changes.svg guest.elf after.data "
		    "--before=before.data\tcoloured by what changed since before.data\n"
		    "hlguest flame --mode=guest --min=1 -o flame.svg guest.elf\tguest "
		    "only, no frame below 1 %",
	.files = "elf recording profile",
	/* Of the report's those that decide what stacks there are. */
	.shared = "input jobs quiet border by cpu demangle event force format gaps "
		  "inline min "
		  "mode "
		  "output pid roots sandbox stacks strict-base tid time weight",
	.fallbacks =
		(const struct hlg_verb_fallback[]){
			{"mode", "all"}, {"min", "0.01"}, {"stacks", "callgraph"}, {0}},
	.formats = formats,
	.options = options,
	.run = run,
};
