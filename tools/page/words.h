/* SPDX-License-Identifier: GPL-2.0-only */
/* What results say as text, and numbers, as HTML. Write errors stay on the stream. */
#ifndef HLG_TOOLS_PAGE_WORDS_H
#define HLG_TOOLS_PAGE_WORDS_H

#include <stdio.h>

#include "filter/report/report.h"
#include "filter/stats/interval.h"
#include "symtab/err.h"
#include "symtab/image/space.h"

/*
 * The lines in front of a result, which are spoilt: warnings ("!! ", "warning:"), then a
 * list of those that have a label of ten cells ("check     OK: ..."). The one labelled
 * marked (or NULL) is of the class mark: good, bad, unsure.
 */
void hlg_page_words_facts(FILE *f, char *lines, const char *marked, const char *mark);

/* Such a class for the line on a report's check; its words say it, too. */
const char *hlg_page_words_verdict(const struct hlg_report *report);

/* The images' names without their folders, "a.elf, b.elf". */
void hlg_page_words_names(FILE *f, const struct hlg_space *space);

/* Behind a row's name in small letters: a word about it, if it is not empty, and the
 * image that it is of, if it is not NULL; the word is HTML. */
void hlg_page_words_aside(FILE *f, const char *word, const struct hlg_image *image);

/* What a writer writes of data: text to be freed, NULL where it fails: as it does, or
 * without memory. */
int hlg_page_words_write(char **text,
			 int (*write)(void *data, FILE *f, struct hlg_err *err),
			 void *data, struct hlg_err *err);

/* The same, for who needs not know why. */
char *hlg_page_words_of(int (*write)(void *data, FILE *f, struct hlg_err *err),
			void *data);

/* Lines that a reader unfolds, which are spoilt, too; summary is HTML. */
void hlg_page_words_folded(FILE *f, const char *summary, char *lines);

/* A bar of the share, and a whisker of its interval; most is where it would end. */
void hlg_page_words_bar(FILE *f, const struct hlg_share *share, double most);

#endif
