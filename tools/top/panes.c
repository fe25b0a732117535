// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/panes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/view/place-name.h"
#include "symtab/escape.h"
#include "symtab/grow.h"
#include "tools/annotate/annotate.h"

static const char help[] =
	"space       pause: the display stands still, samples go on being counted\n"
	"z           zero: shares begin anew (the report at the end has everything)\n"
	"/           choose functions by a part of their names; Escape: all again\n"
	"s           sort by what is recent, by all since the start, by name\n"
	"Enter       instructions of the function at the cursor, with samples\n"
	"c           who called it, where callers are recorded\n"
	"w           save the recording and the profile, in new files here\n"
	"arrows, Page Up, Page Down, Home, End, or k j b f g G: move\n"
	"h ?         this help\n"
	"q           end, with the whole report on standard output; so does ^C\n"
	"\n"
	"The first column is the share in the last seconds, with the larger side of\n"
	"its 95 % interval; then comes the share since the start, or since z. Shares\n"
	"are of the guest's samples without those at VM exits, which have rows of\n"
	"their own behind the others, with shares of all of them. \"check\" says\n"
	"whether the samples fit the ELF, as in hlguest report; where they do not, or\n"
	"are too few to tell where the ELF lies, no function is named: hlguest(7).\n";

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

int hlg_top_panes_help(struct hlg_top_panes *pane, struct hlg_err *err)
{
	char *text = strdup(help);

	return text ? set(pane, "hlguest top: keys", text, err)
		    : hlg_err_memory(err, "help");
}

/* What annotate writes of a place of a judged report, to be freed. */
static int write_listing(char **text, struct hlg_top_judged *judged,
			 const struct hlg_found_places *places, struct hlg_err *err)
{
	struct hlg_listings listings = {&judged->report, places, &judged->sources,
					HLG_SYNTAX_ATT};
	size_t size;
	FILE *f = open_memstream(text, &size);
	int rc =
		f ? hlg_annotate_text(&listings, f, err) : hlg_err_memory(err, "listing");

	if (f && fclose(f) != 0 && rc == 0)
		rc = hlg_err_memory(err, "listing");
	if (rc == 0)
		return 0;
	free(f ? *text : NULL);
	*text = NULL;
	return rc;
}

int hlg_top_panes_annotate(struct hlg_top_panes *pane, int n_words, char *const *words,
			   const struct hlg_batch_given *given, uint64_t ip,
			   const struct hlg_screen *screen, struct hlg_err *err)
{
	struct hlg_top_judged *judged =
		hlg_top_judge(n_words, words, "top", given, HLG_TOP_JUDGE_LISTING, err);
	struct hlg_found_places places = {0};
	char *text = NULL, *name = NULL;
	int rc;

	if (!judged)
		return HLG_ESYSTEM;
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

void hlg_top_panes_finish(struct hlg_top_panes *pane)
{
	free(pane->text);
	free(pane->lines);
	*pane = (struct hlg_top_panes){0};
}
