// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/panes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/report/paths.h"
#include "filter/view/place-name.h"
#include "filter/write/table.h"
#include "filter/write/text-line.h"
#include "symtab/code/frame.h"
#include "symtab/escape.h"
#include "symtab/grow.h"
#include "symtab/plural.h"
#include "tools/annotate/annotate.h"

enum {
	WAYS = 50,   /* to a function, that are shown */
	BEFORE = 17, /* columns in front of a name, */
	NAME = 8     /* which has so many at least */
};

/* What each key does; then words. */
static const char *const help[][2] = {
	{"space", "pause: the display stands still, samples go on being counted"},
	{"z", "zero: shares begin anew (the report at the end has everything)"},
	{"/", "choose functions by a part of their names; Escape: all again"},
	{"s", "sort by what is recent, by all since the start, by name"},
	{"Enter", "instructions of the function at the cursor, with samples"},
	{"c", "who called it, with hlguest top -g"},
	{"w", "save the recording and the profile, in new files here"},
	{"arrows", "move; so do Page Up, Page Down, Home, End, and k j b f g G"},
	{"h ?", "this help"},
	{"q", "end, with the whole report on standard output; so does ^C"}};

static const char help_words[] =
	"The first column is the share in the last seconds, with the larger side of its "
	"95 % interval, or its upper end behind <; then comes the share since the start, "
	"or since z. Shares are of "
	"the guest's samples without those at VM exits, which have rows of their own "
	"behind the others, with shares of all of them. \"check\" says whether the "
	"samples fit the ELF, as in hlguest report; where they do not, or are too few to "
	"tell where the ELF lies, no function is named: hlguest(7).";

/* Takes text over, and its lines. */
static int set(struct hlg_top_panes *pane, const char *title, char *text,
	       struct hlg_err *err)
{
	char **lines = NULL, *rest = text;
	size_t n = 0;

	for (char *line; (line = strsep(&rest, "\n"));) {
		if (!rest && !*line) /* behind the last */
			break;
		if (!HLG_GROW(lines, n)) {
			free(lines);
			free(text);
			return hlg_err_memory(err, "text");
		}
		lines[n++] = line;
	}
	free(pane->text);
	free(pane->lines);
	pane->text = text;
	pane->lines = lines;
	pane->n = n;
	hlg_escape_cut(pane->title, sizeof(pane->title), title);
	return 0;
}

static void write_help(FILE *f, const struct hlg_top_shown *shown)
{
	const unsigned columns = shown->screen.columns;

	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++) {
		fprintf(f, "%-*s", (int)strlen(HLG_TEXT_INDENT), help[i][0]);
		hlg_text_line_words(f, columns, strlen(HLG_TEXT_INDENT), HLG_TEXT_INDENT,
				    help[i][1]);
	}
	fputc('\n', f);
	hlg_text_line_words(f, columns, 0, "", help_words);
	fputs("\nWhat stands above the rows, whole:\n\n", f);
	hlg_top_text_head(f, shown);
}

int hlg_top_panes_help(struct hlg_top_panes *pane, const struct hlg_top_shown *shown,
		       struct hlg_err *err)
{
	struct hlg_memstream m;
	char *text;

	if (hlg_memstream_open(&m))
		write_help(m.f, shown);
	text = hlg_memstream_close(&m);
	return text ? set(pane, "hlguest top: keys", text, err)
		    : hlg_err_memory(err, "help");
}

/* What annotate writes of a place of a judged report, to be freed. */
static int write_listing(char **text, struct hlg_top_judged *judged,
			 const struct hlg_found_places *places, struct hlg_err *err)
{
	struct hlg_listings listings = {&judged->report, places, &judged->sources,
					HLG_SYNTAX_ATT};
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	int rc =
		f ? hlg_annotate_text(&listings, f, err) : hlg_err_memory(err, "listing");

	*text = hlg_memstream_close(&m);
	if (!*text && rc == 0)
		rc = hlg_err_memory(err, "listing");
	if (rc == 0)
		return 0;
	free(*text);
	*text = NULL;
	return rc;
}

int hlg_top_panes_annotate(struct hlg_top_panes *pane, int n_words, char *const *words,
			   const struct hlg_batch_given *given, uint64_t ip,
			   const struct hlg_screen *screen, struct hlg_err *err)
{
	struct hlg_top_judged *judged;
	struct hlg_found_places places = {0};
	char *text = NULL, *name = NULL;
	int rc = hlg_top_judge(&judged, n_words, words, "top", given,
			       HLG_TOP_JUDGE_LISTING, err);

	if (rc < 0)
		return rc;
	judged->report.screen = *screen;
	rc = hlg_places_find_ip(&places, &judged->run.space, ip, err);
	if (rc == 0)
		rc = write_listing(&text, judged, &places, err);
	if (rc == 0)
		name = hlg_place_name(&places.place[0], judged->run.options.demangle);
	if (rc == 0)
		rc = set(pane, name ? name : "", text, err);
	free(name);
	hlg_places_finish(&places);
	hlg_top_judge_finish(judged);
	return rc;
}

/* A way to a function: all paths through the same places. */
struct way {
	const struct hlg_path *path;
	struct hlg_count count;
};

static int compare_ways(const void *a, const void *b, void *of)
{
	const struct hlg_path *x = ((const struct way *)a)->path;
	const struct hlg_path *y = ((const struct way *)b)->path;
	const struct hlg_paths *paths = of;

	for (size_t i = 0; i < x->n && i < y->n; i++) {
		uint32_t p = paths->frames[x->first + i].place;
		uint32_t q = paths->frames[y->first + i].place;

		if (p != q)
			return p < q ? -1 : 1;
	}
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->cut - y->cut;
}

/* A sample of which no caller is known: most are on their way (callers.h). One at a VM
 * exit has its function's frame, too. */
static bool is_bare(const struct way *way)
{
	const struct hlg_path *path = way->path;

	return path->cut && path->n <= (path->row->border ? 2 : 1);
}

static int compare_counts(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (is_bare(x) != is_bare(y))
		return is_bare(x) - is_bare(y);
	if (x->count.samples != y->count.samples)
		return x->count.samples > y->count.samples ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

/* The ways to a place, each once, the most frequent first, and behind them the samples
 * without; to be freed. */
static struct way *collect_ways(const struct hlg_paths *paths, const void *owner,
				size_t *n)
{
	struct way *ways = calloc(paths->n + 1, sizeof(*ways));
	size_t once = 0;

	*n = 0;
	for (size_t i = 0; ways && i < paths->n; i++)
		if (paths->paths[i].row && paths->paths[i].row->place.owner == owner)
			ways[(*n)++] =
				(struct way){&paths->paths[i], paths->paths[i].count};
	if (!ways || *n == 0)
		return ways;
	qsort_r(ways, *n, sizeof(*ways), compare_ways, (void *)paths);
	for (size_t i = 1; i < *n; i++) {
		if (compare_ways(&ways[i], &ways[once], (void *)paths) == 0)
			hlg_count_add(&ways[once].count, ways[i].count);
		else
			ways[++once] = ways[i];
	}
	*n = once + 1;
	qsort(ways, *n, sizeof(*ways), compare_counts);
	return ways;
}

/* How often in a row a function is there that calls itself, from the frame at i on. */
static size_t repeats(const struct hlg_paths *paths, const struct hlg_path *path,
		      size_t i)
{
	const struct hlg_path_frame *frames = &paths->frames[path->first];
	size_t n = 1;

	while (i && i + n < path->n && frames[i + n].place == frames[i].place)
		n++;
	return n;
}

/* Columns of a name, with times behind it. */
static long room_of(const struct hlg_screen *screen, const char *times)
{
	size_t taken = BEFORE + strlen(times);

	return screen->columns > taken + NAME ? (long)(screen->columns - taken) : NAME;
}

static void write_way(FILE *f, const struct hlg_paths *paths, const struct way *way,
		      uint64_t all, const struct hlg_screen *screen)
{
	const struct hlg_path *path = way->path;
	char percent[16];

	fprintf(f, "%8s %% %9" PRIu64 "\n",
		hlg_interval_percent(percent, (double)way->count.samples / (double)all),
		way->count.samples);
	for (size_t i = 0, n; i < path->n; i += n) {
		const struct hlg_path_frame *frame = &paths->frames[path->first + i];
		char times[32] = "";

		n = repeats(paths, path, i);
		if (n > 1)
			snprintf(times, sizeof(times), "  (%zu times)", n);
		fputs(i ? "      called by  " : "                 ", f);
		hlg_table_cut(f, paths->places[frame->place].name, room_of(screen, times),
			      screen->ascii);
		fprintf(f, "%s\n", times);
	}
	fputs(path->cut ? "      (more callers, which are not known)\n\n" : "\n", f);
}

/* Are the callers that were recorded left out, as a report says of this image? */
static bool are_left_out(const struct hlg_report *report, const struct hlg_image *image)
{
	struct hlg_frame_count count;
	struct hlg_err err;

	return report->callers.refused && image &&
	       hlg_frame_count(image, &count, &err) == 0 && !hlg_frame_is_kept(&count);
}

/* Of samples without callers, why that is; more: there are others. */
static void write_bare(FILE *f, uint64_t bare, bool more, bool left_out,
		       const struct hlg_screen *screen)
{
	static const char later[] =
		"of which no caller is known: callers come up to two refreshes later, "
		"and those of the first moments never";
	static const char wrong[] =
		"whose callers are left out, because they would be wrong: the guest "
		"keeps no frame pointers (" HLG_FRAME_ADVICE ")";
	char text[320];

	if (!bare)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 "%s sample%s, %s", bare,
		 more ? " more" : "", bare == 1 ? "" : "s", left_out ? wrong : later);
	hlg_text_line_words(f, screen->columns, 0, "", text);
}

static int write_ways(FILE *f, const struct hlg_report *report,
		      const struct hlg_place *place, const struct hlg_screen *screen,
		      struct hlg_err *err)
{
	struct hlg_paths paths;
	struct way *ways = NULL;
	uint64_t all = 0, bare = 0;
	size_t n = 0;
	int rc = hlg_paths_build(&paths, report, &report->all, err);

	if (rc == 0) {
		ways = collect_ways(&paths, place->owner, &n);
		rc = ways ? 0 : hlg_err_memory(err, "callers");
	}
	for (; n && is_bare(&ways[n - 1]); n--)
		bare += ways[n - 1].count.samples;
	for (size_t i = 0; i < n; i++)
		all += ways[i].count.samples;
	if (n)
		fprintf(f, "%" PRIu64 " sample%s, %zu way%s to it\n\n", all,
			all == 1 ? "" : "s", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < n && i < WAYS; i++)
		write_way(f, &paths, &ways[i], all, screen);
	if (n > WAYS)
		fprintf(f, "(%zu more way%s)\n\n", n - WAYS, hlg_plural_s(n - WAYS));
	if (rc == 0)
		write_bare(f, bare, n > 0, are_left_out(report, place->image), screen);
	free(ways);
	hlg_paths_finish(&paths);
	return rc;
}

int hlg_top_panes_callers(struct hlg_top_panes *pane, int n_words, char *const *words,
			  const struct hlg_batch_given *given, uint64_t ip,
			  const struct hlg_screen *screen, struct hlg_err *err)
{
	struct hlg_top_judged *judged;
	struct hlg_place place;
	struct hlg_memstream m;
	char *text, *name = NULL;
	int rc = hlg_top_judge(&judged, n_words, words, "top", given, HLG_TOP_JUDGE_TABLE,
			       err);

	if (rc < 0)
		return rc;
	hlg_space_lookup(&judged->run.space, ip, &place);
	rc = hlg_memstream_open(&m)
		     ? write_ways(m.f, &judged->report, &place, screen, err)
		     : hlg_err_memory(err, "callers");
	text = hlg_memstream_close(&m);
	if (!text && rc == 0)
		rc = hlg_err_memory(err, "callers");
	if (rc == 0)
		name = hlg_place_name(&place, judged->run.options.demangle);
	if (rc == 0)
		rc = set(pane, name ? name : "", text, err);
	else
		free(text);
	free(name);
	hlg_top_judge_finish(judged);
	return rc;
}

void hlg_top_panes_finish(struct hlg_top_panes *pane)
{
	free(pane->text);
	free(pane->lines);
	*pane = (struct hlg_top_panes){0};
}
