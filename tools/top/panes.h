/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts that are looked at instead of the table: help, and listings of annotate. */
#ifndef HLG_TOOLS_TOP_PANES_H
#define HLG_TOOLS_TOP_PANES_H

#include "tools/top/judge.h"
#include "tools/top/text.h"

/* All zero before the first. */
struct hlg_top_panes {
	char *text; /* that lines point into */
	char **lines;
	size_t n;
	char title[256]; /* escaped */
};

/* The keys, and what stands above the rows, whole; on a screen as wide as shown's. */
int hlg_top_panes_help(struct hlg_top_panes *pane, const struct hlg_top_shown *shown,
		       struct hlg_err *err);

/*
 * The instructions of what is at ip, an address of a judged space, by all samples so far;
 * the arguments are those of hlg_top_judge. screen: what it has to fit. On failure the
 * pane is what it was.
 */
int hlg_top_panes_annotate(struct hlg_top_panes *pane, int n_words, char *const *words,
			   const struct hlg_batch_given *given, uint64_t ip,
			   const struct hlg_screen *screen, struct hlg_err *err);

/* The same of who called what is at ip: the most frequent ways to it. */
int hlg_top_panes_callers(struct hlg_top_panes *pane, int n_words, char *const *words,
			  const struct hlg_batch_given *given, uint64_t ip,
			  const struct hlg_screen *screen, struct hlg_err *err);

void hlg_top_panes_finish(struct hlg_top_panes *pane);

#endif
