// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/profile/strings.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"
#include "tools/source/source.h"

#define UNKNOWN "???" /* what valgrind calls a file or object that it does not know */

struct writer {
	FILE *f;
	const struct hlg_report *r;
	struct hlg_sources sources;
	uint32_t *columns; /* of each series */
	uint32_t *events;  /* of each column */
	uint32_t n_columns;
	struct hlg_count *sums;  /* of each column: what was written */
	struct hlg_count *costs; /* of each column, at one address */
	struct hlg_call_costs calls;
	const char **files; /* of each function */
	bool *shared;       /* of each function: others have its name; */
	bool *named;        /* it was named: its number will do */
	size_t next_edge;   /* of calls */
};

/* The rows of the report, and behind them those of the border. */
static size_t n_rows(const struct hlg_report *r)
{
	return r->all.n_rows +
	       (r->options->border == HLG_BORDER_DROP ? 0 : r->all.n_borders);
}

/* Has the event anything that is written? */
static bool is_shown(const struct hlg_report *r, const struct hlg_event_sum *sum)
{
	bool shown = r->options->mode != HLG_SHOW_HOST && sum->count.samples;

	for (size_t i = 0; i < r->n_host && r->options->mode != HLG_SHOW_GUEST; i++)
		shown |= r->profile->series[r->host->rows[i].series].event == sum->event;
	return shown;
}

static bool number_columns(struct writer *w)
{
	const struct hlg_report *r = w->r;
	uint32_t n = r->n_events;

	w->columns = calloc(r->profile->n_series + 1, sizeof(*w->columns));
	w->events = calloc(n + 1, sizeof(*w->events));
	w->sums = calloc(n + 1, sizeof(*w->sums));
	w->costs = calloc(n + 1, sizeof(*w->costs));
	if (!w->columns || !w->events || !w->sums || !w->costs)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!is_shown(r, &r->events[i]))
			continue;
		for (uint32_t k = 0; k < r->profile->n_series; k++)
			if (r->profile->series[k].event == r->events[i].event)
				w->columns[k] = w->n_columns;
		w->events[w->n_columns++] = r->events[i].event;
	}
	return true;
}

static bool find_shared(struct writer *w)
{
	size_t n = w->calls.n_functions;
	size_t *first = calloc(n + 1, sizeof(*first)); /* function of each name */
	struct hlg_strings names = {0};
	bool ok;

	w->shared = calloc(n + 1, sizeof(*w->shared));
	ok = first && w->shared;
	for (size_t i = 0; ok && i < n; i++) {
		uint32_t known = names.n;
		uint32_t name = hlg_strings_add(&names, w->calls.functions[i].name);

		ok = name != HLG_NO_STRING;
		if (name > known)
			first[name] = i;
		else if (ok)
			w->shared[first[name]] = w->shared[i] = true;
	}
	hlg_strings_finish(&names);
	free(first);
	return ok;
}

/* An event in a word: "Samples", or of several "Samples_cpu_clock". */
static void put_column(const struct writer *w, const char *what, uint32_t column)
{
	const struct hlg_event *event = &w->r->profile->events[w->events[column]];

	fprintf(w->f, " %s", what);
	if (w->n_columns < 2)
		return;
	fputc('_', w->f);
	for (const char *c = event->name; *c; c++)
		fputc(isalnum((unsigned char)*c) ? *c : '_', w->f);
	/* These may have become the same, or have been. */
	fprintf(w->f, "_%" PRIu32, column + 1);
}

static void put_columns(const struct writer *w)
{
	bool samples = w->r->all.weight == HLG_WEIGHT_SAMPLES;
	uint32_t n = w->n_columns ? w->n_columns : 1;

	fputs("events:", w->f);
	for (uint32_t i = 0; i < n; i++) {
		put_column(w, samples ? "Samples" : "Period", i);
		put_column(w, samples ? "Period" : "Samples", i);
	}
	fputc('\n', w->f);
}

static void put_costs(const struct writer *w, const struct hlg_count *costs)
{
	bool samples = w->r->all.weight == HLG_WEIGHT_SAMPLES;
	uint32_t n = w->n_columns ? w->n_columns : 1;

	for (uint32_t i = 0; i < n; i++)
		fprintf(w->f, " %" PRIu64 " %" PRIu64,
			samples ? costs[i].samples : costs[i].period,
			samples ? costs[i].period : costs[i].samples);
	fputc('\n', w->f);
}

static void put_line(const struct writer *w, const char *what, const char *text)
{
	fprintf(w->f, "%s ", what);
	hlg_escape_print(w->f, text);
	fputc('\n', w->f);
}

static void put_header(const struct writer *w)
{
	const struct hlg_report *r = w->r;

	fputs("# callgrind format\nversion: 1\ncreator: hlguest " HLG_VERSION "\n", w->f);
	if (r->space->n_images)
		put_line(w, "cmd:", r->space->images[0]->path);
	if (r->banner)
		put_line(w, "desc: !!", r->banner);
	put_line(w, "desc: trust:", hlg_verdict_word(r->trust.all.verdict));
	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *image = r->space->images[i];
		char base[32], from[128];

		hlg_base_where(image, base, sizeof(base));
		hlg_base_describe(image, from, sizeof(from));
		fprintf(w->f, "desc: image: %s (", base);
		hlg_escape_print(w->f, from);
		put_line(w, "),", image->path);
	}
	for (size_t i = 0; i < r->notes.n; i++)
		put_line(w, "desc: note:", r->notes.line[i]);
	fputs("positions: instr line\n", w->f);
	put_columns(w);
}

/* A name by itself; a number in brackets in front would be taken for its short form. */
static void put_name(const struct writer *w, const char *what, const char *name)
{
	fprintf(w->f, "%s=%s", what, name[0] == '(' ? "./" : "");
	hlg_escape_print(w->f, name);
	fputc('\n', w->f);
}

/* The line in the function itself that code at addr is of. */
static bool find_line(struct hlg_source *source, uint64_t addr,
		      struct hlg_source_line *line)
{
	enum {
		DEPTH = 64
	};
	struct hlg_source_inline inlines[DEPTH];
	size_t n;

	*line = (struct hlg_source_line){0};
	if (!source || !hlg_source_find(source, addr, line))
		return false;
	n = hlg_source_inlines(source, addr, inlines, DEPTH);
	if (n)
		*line = inlines[n - 1].call;
	return true;
}

/* The spots of a function; none of one that was not sampled. */
static bool collect_spots(const struct writer *w, size_t i,
			  struct hlg_address_counts *spots)
{
	const struct hlg_row *row = w->calls.functions[i].row;

	*spots = (struct hlg_address_counts){0};
	return !row || hlg_address_counts_collect(spots, &w->r->all, row, w->columns);
}

/* Debug info of a function's image, or NULL. */
static struct hlg_source *source_of(struct writer *w, size_t i)
{
	const struct hlg_image *image = w->calls.functions[i].image;

	return image ? hlg_source_of(&w->sources, image) : NULL;
}

/* The file of a function's code: that of its beginning, else of the first spot with one.
 * NULL without memory. */
static const char *find_file(struct writer *w, size_t i)
{
	struct hlg_source *source = source_of(w, i);
	struct hlg_address_counts spots;
	struct hlg_source_line line;
	const char *file = NULL;
	bool ok;

	if (find_line(source, w->calls.functions[i].start, &line))
		return line.file;
	ok = collect_spots(w, i, &spots);
	for (size_t k = 0; ok && !file && k < spots.n; k++)
		if (find_line(source, spots.spot[k].addr, &line))
			file = line.file;
	hlg_address_counts_finish(&spots);
	return ok && !file ? UNKNOWN : file;
}

/* All files first: a call names that of what it calls. */
static bool find_files(struct writer *w)
{
	size_t n = w->calls.n_functions;

	w->files = calloc(n + 1, sizeof(*w->files));
	w->named = calloc(n + 1, sizeof(*w->named));
	for (size_t i = 0; w->files && w->named && i < n; i++) {
		w->files[i] = find_file(w, i);
		if (!w->files[i])
			return false;
	}
	return w->files && w->named;
}

/* The line of an address, if it is of a file. */
static int line_in(struct hlg_source *source, uint64_t addr, const char *file)
{
	struct hlg_source_line line;

	return find_line(source, addr, &line) && strcmp(line.file, file) == 0 ? line.line
									      : 0;
}

/* The costs of each column, which are none again then. */
static void put_and_clear(struct writer *w)
{
	put_costs(w, w->costs);
	memset(w->costs, 0, w->n_columns * sizeof(*w->costs));
}

static void put_spots(struct writer *w, const struct hlg_address_counts *spots,
		      struct hlg_source *source, const char *file)
{
	for (size_t i = 0; i < spots->n; i++) {
		const struct hlg_address_count *spot = &spots->spot[i];

		w->costs[spot->column] = spot->count;
		hlg_count_add(&w->sums[spot->column], spot->count);
		if (i + 1 < spots->n && spot[1].addr == spot->addr)
			continue;
		fprintf(w->f, "0x%" PRIx64 " %d", spot->addr,
			line_in(source, spot->addr, file));
		put_and_clear(w);
	}
}

/* "fn=(7) name": what it is called is said once. */
static void put_function(const struct writer *w, const char *what, size_t i)
{
	const struct hlg_call_costs_function *function = &w->calls.functions[i];

	fprintf(w->f, "%s=(%zu)", what, i + 1);
	if (!w->named[i]) {
		fputc(' ', w->f);
		hlg_escape_print(w->f, function->name);
	}
	if (!w->named[i] && w->shared[i]) {
		fputs(" [", w->f);
		if (function->image && w->r->space->n_images > 1) {
			hlg_escape_print(w->f, hlg_image_word(function->image));
			fputc(' ', w->f);
		}
		fprintf(w->f, "0x%" PRIx64 "]", function->start);
	}
	fputc('\n', w->f);
	w->named[i] = true;
}

/* Of one function: its edges come next. */
static void put_calls(struct writer *w, size_t i)
{
	uint64_t samples = 0;

	for (; w->next_edge < w->calls.n_edges; w->next_edge++) {
		const struct hlg_call_costs_edge *edge = &w->calls.edges[w->next_edge];
		const struct hlg_call_costs_function *to =
			&w->calls.functions[edge->callee];
		const bool last = w->next_edge + 1 == w->calls.n_edges;

		if (edge->caller != i)
			break;
		w->costs[edge->column] = edge->count;
		samples += edge->count.samples;
		if (!last && edge[1].caller == i && edge[1].addr == edge->addr &&
		    edge[1].callee == edge->callee)
			continue;
		put_name(w, "cob", to->image ? hlg_image_word(to->image) : UNKNOWN);
		put_name(w, "cfl", w->files[edge->callee]);
		put_function(w, "cfn", edge->callee);
		fprintf(w->f, "calls=%" PRIu64 " 0x%" PRIx64 " %d\n", samples, to->start,
			line_in(source_of(w, edge->callee), to->start,
				w->files[edge->callee]));
		fprintf(w->f, "0x%" PRIx64 " %d", edge->addr,
			line_in(source_of(w, i), edge->addr, w->files[i]));
		put_and_clear(w);
		samples = 0;
	}
}

static bool put_row(struct writer *w, size_t i)
{
	const struct hlg_image *image = w->calls.functions[i].image;
	struct hlg_address_counts spots;
	bool ok = collect_spots(w, i, &spots);

	if (ok) {
		fputc('\n', w->f);
		put_name(w, "ob", image ? hlg_image_word(image) : UNKNOWN);
		put_name(w, "fl", w->files[i]);
		put_function(w, "fn", i);
		put_spots(w, &spots, source_of(w, i), w->files[i]);
		put_calls(w, i);
	}
	hlg_address_counts_finish(&spots);
	return ok;
}

/* Is there anything to say of a function? Not where no stack that is shown meets it. */
static bool is_met(const struct writer *w, size_t i)
{
	return w->calls.functions[i].row || w->named[i] ||
	       (w->next_edge < w->calls.n_edges &&
		w->calls.edges[w->next_edge].caller == i);
}

/* Rows of one process and mapping come once for each series. */
static void put_host_row(struct writer *w, const struct hlg_host_row *row, size_t id)
{
	uint32_t column = w->columns[row->series];

	fputc('\n', w->f);
	put_name(w, "ob", row->dso);
	fprintf(w->f, "fl=" UNKNOWN "\nfn=(%zu) ", id);
	hlg_escape_print(w->f, row->comm);
	fputs(" (", w->f);
	hlg_escape_print(w->f, row->dso);
	fputs(")\n0x0 0", w->f);
	w->costs[column] = row->count;
	put_costs(w, w->costs);
	w->costs[column] = (struct hlg_count){0};
	hlg_count_add(&w->sums[column], row->count);
}

static bool put_all(struct writer *w)
{
	const struct hlg_report *r = w->r;
	size_t n = w->calls.n_functions;

	put_header(w);
	for (size_t i = 0; i < n && r->options->mode != HLG_SHOW_HOST; i++)
		if (is_met(w, i) && !put_row(w, i))
			return false;
	for (size_t i = 0; i < r->n_host && r->options->mode != HLG_SHOW_GUEST; i++)
		put_host_row(w, &r->host->rows[i], n + 1 + i);
	fputs("\ntotals:", w->f);
	put_costs(w, w->sums);
	return true;
}

static int write_profile(void *report, FILE *f, struct hlg_err *err)
{
	const struct hlg_report *r = report;
	struct writer w = {.f = f, .r = r};
	bool ok = hlg_source_open_all(&w.sources, r->space) && number_columns(&w) &&
		  hlg_call_costs_collect(&w.calls, r, n_rows(r), w.columns) &&
		  find_shared(&w) && find_files(&w) && put_all(&w);

	hlg_source_close_all(&w.sources);
	hlg_call_costs_finish(&w.calls);
	free(w.files);
	free(w.named);
	free(w.columns);
	free(w.events);
	free(w.sums);
	free(w.costs);
	free(w.shared);
	return ok ? 0 : hlg_err_memory(err, "format=callgrind");
}

const struct hlg_format hlg_callgrind_format = {.name = "callgrind",
						.stacks = true,
						.whole = true,
						.notes = true,
						.write = write_profile};
