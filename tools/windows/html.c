// SPDX-License-Identifier: GPL-2.0-only
/* A page (tools/page) without scripts: the plot, and below it the sums that text has. */
#include <stdlib.h>

#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "symtab/plural.h"
#include "tools/page/page.h"
#include "tools/page/table.h"
#include "tools/page/words.h"
#include "tools/svg/xml.h"
#include "tools/windows/notes.h"
#include "tools/windows/pairs.h"

/* What text would say, of a struct hlg_windows_shown. */
static int write_all(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_windows_shown *s = data;
	struct hlg_windows_style style = *s->style;

	style.screen = (struct hlg_screen){0};
	style.verbose = true;
	return s->pairs ? hlg_pairs_write_text(f, s->pairs, s->w, &style, err)
			: hlg_windows_text(f, s->w, &style, err);
}

/* What text would say behind its sums. */
static int write_notes(void *data, FILE *f, struct hlg_err *err)
{
	struct hlg_note_list notes = {0};
	bool lost;

	hlg_windows_shown_notes(&notes, data);
	hlg_text_line_notes_behind(f, &(struct hlg_screen){0}, &notes, true);
	lost = notes.lost;
	hlg_note_list_finish(&notes);
	return lost ? hlg_err_memory(err, "windows") : 0;
}

/* What was recorded, and warnings, behind their labels. */
static int write_head(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_windows_shown *s = data;
	char sampled[HLG_WINDOWS_SAMPLED];
	struct hlg_note_list notes = {0};
	bool lost;

	if (s->w->check && s->w->check->banner)
		hlg_text_line_wrap(f, &(struct hlg_screen){0}, "!! ",
				   s->w->check->banner);
	if (s->pairs)
		fprintf(f, "recorded  %zu pair%s\n", s->pairs->table.n_rows,
			hlg_plural_s(s->pairs->table.n_rows));
	else
		fprintf(f, "recorded  %zu %s%s, %s\n", s->w->n_rows,
			s->w->every ? "interval" : "window", hlg_plural_s(s->w->n_rows),
			hlg_windows_notes_sampled(sampled, s->w));
	if (s->w->check)
		hlg_text_head_check(f, s->w->check, &(struct hlg_screen){0});
	hlg_text_head_selected(f, s->style->selection, &(struct hlg_screen){0});
	hlg_windows_shown_notes(&notes, s);
	hlg_text_line_notes(f, &(struct hlg_screen){0}, &notes, HLG_NOTE_WARNING);
	lost = notes.lost;
	hlg_note_list_finish(&notes);
	return lost ? hlg_err_memory(err, "windows") : 0;
}

static bool put_table(FILE *f, const struct hlg_windows_shown *s)
{
	const struct hlg_screen all = {0};
	const char *title = s->pairs ? "Between the markers" : "By function";
	bool ok;

	fprintf(f, "<section>\n<h2>%s</h2>\n<p class=\"summary\">%s</p>\n", title,
		s->pairs ? "The median of each column, and its interval at 95 %."
			 : "By the function that windows end in; shares are of the "
			   "first column.");
	hlg_page_table_begin(f, title);
	ok = s->pairs ? hlg_pairs_write_spreads(f, s->pairs, &all, &hlg_page_table)
		      : hlg_windows_sums(f, s->w, &all, SIZE_MAX, &hlg_page_table);
	hlg_page_table_end(f);
	fputs("</section>\n", f);
	return ok;
}

int hlg_windows_html(void *data, FILE *f, struct hlg_err *err)
{
	struct hlg_windows_shown *s = data;
	const struct hlg_windows *drawn = s->pairs ? &s->pairs->table : s->w;
	/* Intervals hold windows of several functions: there are no sums by these. */
	bool sums = s->pairs || !s->w->every;
	char *head = hlg_page_words_of(write_head, s);
	char *all = hlg_page_words_of(sums ? write_all : write_notes, s);
	struct hlg_windows_style style = *s->style;
	bool ok = head && all;

	style.in_page = true;
	hlg_page_begin(f, &hlg_page_still, "hlguest windows");
	fputs("<header id=\"answer\">\n<h1>", f);
	hlg_windows_svg_what(f, drawn, s->style);
	fputs("</h1>\n", f);
	if (head)
		hlg_page_words_facts(f, head, "check",
				     s->w->check ? hlg_page_words_verdict(s->w->check)
						 : NULL);
	fputs("</header>\n<main>\n<section>\n<h2>Over time</h2>\n"
	      "<p class=\"summary goes-on\">The picture goes on to the right.</p>\n"
	      "<div class=\"scroll\" tabindex=\"0\">\n",
	      f);
	ok = ok && hlg_windows_svg(f, drawn, &style, err) == 0;
	fputs("</div>\n</section>\n", f);
	ok = ok && (!sums || put_table(f, s));
	if (ok)
		hlg_page_words_folded(
			f, sums ? "All of this as text, and notes" : "Notes", all);
	fputs("</main>\n", f);
	hlg_page_end(f, &hlg_page_still);
	free(head);
	free(all);
	return ok ? 0 : hlg_err_memory(err, "format=html");
}
