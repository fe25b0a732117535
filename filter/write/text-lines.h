/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of the report in text around its tables: what was read and whether it fits,
 * in front of them; the sums and notes, behind; with verbose= how the check was made.
 */
#ifndef HLG_FILTER_WRITE_TEXT_LINES_H
#define HLG_FILTER_WRITE_TEXT_LINES_H

#include "filter/report/report.h"
#include "filter/view/calls.h"

/* Guests, what was recorded, the check; then warnings, and an empty line. */
void hlg_text_lines_head(FILE *f, const struct hlg_report *report);

/* Where all samples went, and notes. Fails only without memory. */
int hlg_text_lines_tail(FILE *f, const struct hlg_report *report, struct hlg_err *err);

/* With verbose=: what else is known of images, events and the check. */
void hlg_text_lines_details(FILE *f, const struct hlg_report *report);

/* A label and a line of words, escaped: on a terminal it is broken between words, and
 * goes on below those of a label of ten cells. */
void hlg_text_lines_wrapped(FILE *f, const struct hlg_screen *screen, const char *label,
			    const char *line);

/* The notes of one level, each behind its label: "warning:", "note:", or for details only
 * indented. */
void hlg_text_lines_notes(FILE *f, const struct hlg_screen *screen,
			  const struct hlg_note_list *list, enum hlg_note_level level);

/* What stands behind a verb's tables: an empty line, the notes, and with verbose the
 * details; nothing if there are none. */
void hlg_text_lines_notes_behind(FILE *f, const struct hlg_screen *screen,
				 const struct hlg_note_list *list, bool verbose);

/* The event of the samples of report->all, or of a group's view; UINT32_MAX: there are
 * several, or none. */
uint32_t hlg_text_lines_event(const struct hlg_report *report,
			      const struct hlg_view *view);

/*
 * How periods are shown: as time, where they are nanoseconds (of a timer), else by
 * thousands; alike in all rows of a table, by its largest.
 */
struct hlg_text_lines_scale {
	bool time;
	double unit; /* periods of one; 0: as they are */
	const char *name;
};

struct hlg_text_lines_scale hlg_text_lines_scale_for(const struct hlg_report *report,
						     uint32_t event, uint64_t largest);

/* How long was recorded, "4.0 s": from the first sample to the last, of host and guest,
 * whatever was selected. False if that is not known, or of several recordings. */
bool hlg_text_lines_span(char buf[static 32], const struct hlg_report *report);

/* "2 guest + 200 host calls": of a sandbox. */
void hlg_text_lines_calls(char buf[static 64], const struct hlg_calls *calls);

/* "3.280 s", "1.200 G", in every locale. */
const char *hlg_text_lines_period(char buf[static 32],
				  const struct hlg_text_lines_scale *scale,
				  uint64_t period);

#endif
