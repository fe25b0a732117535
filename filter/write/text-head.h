/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of the report in text: guests, what was recorded, whether it fits. */
#ifndef HLG_FILTER_WRITE_TEXT_HEAD_H
#define HLG_FILTER_WRITE_TEXT_HEAD_H

#include "filter/report/report.h"
#include "filter/view/calls.h"

/* With its warnings, and an empty line behind. */
void hlg_text_head_write(FILE *f, const struct hlg_report *report);

/* The line that says which samples were chosen (struct hlg_options); NULL: all. */
void hlg_text_head_selected(FILE *f, const char *selection,
			    const struct hlg_screen *screen);

/* The line that says how far its check bears it out. */
void hlg_text_head_check(FILE *f, const struct hlg_report *report,
			 const struct hlg_screen *screen);

/* "2 guest + 200 host calls": of a sandbox. */
void hlg_text_head_calls(char buf[static 64], const struct hlg_calls *calls);

#endif
