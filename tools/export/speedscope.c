// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export.h"

#include <inttypes.h>
#include <stdlib.h>

#if HLG_HAVE_JANSSON
#include "filter/output/memstream.h"
#include "filter/report/frames.h"
#include "filter/report/rows.h"
#include "filter/write/json.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Frames of all stacks: some 40 bytes each while the document is made. */
#define MOST_FRAMES UINT64_C(32000000)

struct writer {
	const struct hlg_tree *tree;
	enum hlg_weight weight;
	uint32_t *numbers; /* of each name and kind, the frame's plus one */
	uint32_t n_frames;
	uint32_t *path; /* frames from the root to the node at hand */
	json_t *frames, *samples, *weights;
	uint64_t total;
};

static uint32_t number_frame(struct writer *w, const struct hlg_node *node)
{
	uint32_t *number = &w->numbers[(size_t)node->name * HLG_N_FRAMES + node->frame];

	if (*number == 0) {
		json_t *o = json_object();

		json_object_set_new(o, "name",
				    hlg_json_text(hlg_tree_name(w->tree, node)));
		json_object_set_new(o, "file",
				    json_string(hlg_tree_frame_word(node->frame)));
		json_array_append_new(w->frames, o);
		*number = ++w->n_frames;
	}
	return *number - 1;
}

static void add_stack(struct writer *w, uint32_t depth, uint64_t weight)
{
	json_t *stack = json_array();

	for (uint32_t d = 1; d <= depth; d++)
		json_array_append_new(stack, json_integer(w->path[d]));
	json_array_append_new(w->samples, stack);
	json_array_append_new(w->weights, hlg_json_number(weight));
	w->total += weight;
}

static bool add_stacks(struct writer *w)
{
	const struct hlg_tree *tree = w->tree;

	w->path = calloc(tree->n, sizeof(*w->path)); /* deeper than any node */
	w->numbers =
		calloc(((size_t)tree->names.n + 1) * HLG_N_FRAMES, sizeof(*w->numbers));
	if (!w->path || !w->numbers)
		return false;
	for (uint32_t i = 1; i < tree->n; i++) {
		const struct hlg_node *node = &tree->nodes[i];
		uint64_t self = hlg_count_weigh(w->weight, node->self);

		w->path[node->depth] = number_frame(w, node);
		if (self)
			add_stack(w, node->depth, self);
	}
	return true;
}

/* Each stack is written whole, however much of it others share. */
static int check_size(const struct hlg_tree *tree, enum hlg_weight weight,
		      struct hlg_err *err)
{
	uint64_t frames = 0;

	for (uint32_t i = 1; i < tree->n; i++)
		if (hlg_count_weigh(weight, tree->nodes[i].self))
			frames += tree->nodes[i].depth;
	if (frames <= MOST_FRAMES)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "format=speedscope: the stacks have %" PRIu64
			   " frames in all, which is too much (use --format=folded)",
			   frames);
}

/* Is period time, for all that was sampled? */
static bool is_time(const struct hlg_report *r)
{
	bool time = r->all.weight == HLG_WEIGHT_PERIOD, any = false;

	for (uint32_t i = 0; i < r->profile->n_events; i++) {
		if (!hlg_rows_has_event(r, i))
			continue;
		time &= r->profile->events[i].kind == HLG_EVENT_TIMER;
		any = true;
	}
	return time && any;
}

static json_t *profile(const struct writer *w, const struct hlg_report *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "type", json_string("sampled"));
	json_object_set_new(
		o, "name",
		json_string(w->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period"));
	json_object_set_new(o, "unit", json_string(is_time(r) ? "nanoseconds" : "none"));
	json_object_set_new(o, "startValue", json_integer(0));
	json_object_set_new(o, "endValue", hlg_json_number(w->total));
	json_object_set(o, "samples", w->samples);
	json_object_set(o, "weights", w->weights);
	return o;
}

/* The images, which the profile is of. */
static json_t *name(const struct hlg_report *r)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	json_t *json = NULL;
	char *text;

	for (size_t i = 0; f && i < r->space->n_images; i++)
		fprintf(f, "%s%s", i ? ", " : "", r->space->images[i]->path);
	text = hlg_memstream_close(&m);
	if (text)
		json = hlg_json_text(text);
	hlg_json_watch(json);
	free(text);
	return json;
}

static json_t *document(const struct writer *w, const struct hlg_report *r)
{
	json_t *root = json_object(), *shared = json_object(), *profiles = json_array();

	json_object_set(shared, "frames", w->frames);
	json_array_append_new(profiles, profile(w, r));
	json_object_set_new(root, "$schema", json_string(SCHEMA));
	json_object_set_new(root, "exporter", json_string("hlguest " HLG_VERSION));
	json_object_set_new(root, "name", name(r));
	json_object_set_new(root, "activeProfileIndex", json_integer(0));
	json_object_set_new(root, "shared", shared);
	json_object_set_new(root, "profiles", profiles);
	return root;
}

int hlg_speedscope_write(FILE *f, const struct hlg_report *r, const struct hlg_tree *tree,
			 struct hlg_err *err)
{
	struct writer w = {.tree = tree, .weight = r->all.weight};
	json_t *root;
	int rc = check_size(tree, w.weight, err);

	if (rc < 0)
		return rc;
	hlg_json_watch_begin();
	w.frames = json_array();
	w.samples = json_array();
	w.weights = json_array();
	hlg_json_watch(add_stacks(&w) ? &w : NULL);
	root = document(&w, r);
	rc = hlg_json_dump(f, root, "format=speedscope", err);
	json_decref(root);
	json_decref(w.frames);
	json_decref(w.samples);
	json_decref(w.weights);
	free(w.path);
	free(w.numbers);
	return rc;
}

static int write_report(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_report *report = data;
	struct hlg_tree tree = {0};
	int rc = hlg_report_check_whole(report, err);

	if (rc == 0)
		rc = hlg_frames_build(&tree, report, err);
	if (rc == 0)
		rc = hlg_speedscope_write(f, report, &tree, err);
	hlg_tree_finish(&tree);
	return rc;
}

#endif

const struct hlg_format hlg_speedscope_format = {.name = "speedscope",
						 .stacks = true,
						 .whole = true,
						 HLG_FORMAT_JANSSON(write_report)};
