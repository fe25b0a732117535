/* SPDX-License-Identifier: GPL-2.0-only */
/* What a reader must know before believing the figures: the notes of a report, and the
 * remarks of its trust block. */
#ifndef HLG_FILTER_REPORT_NOTES_H
#define HLG_FILTER_REPORT_NOTES_H

#include "filter/report/report.h"

/* Adds every note and remark that follows from the report itself, complete but for them
 * and what is said of VM exits. */
void hlg_notes_add(struct hlg_report *report);

/* Adds what is said of VM exits, for who shows shares of what is not at them. */
void hlg_notes_add_border(struct hlg_report *report);

/* Adds a warning if most samples, or addresses, lie in no image. Where a banner says so,
 * none. */
void hlg_notes_tell_outside(const struct hlg_report *report, struct hlg_note_list *notes);

/* Adds warnings of samples, or addresses, that would fit at another base. */
void hlg_notes_tell_elsewhere(const struct hlg_report *report,
			      struct hlg_note_list *notes);

/* Adds a warning of ELFs that are not named, where samples, or addresses, that fit what
 * is named are not all. Where a banner says so, none. */
void hlg_notes_tell_unnamed(const struct hlg_report *report, struct hlg_note_list *notes);

/* Adds warnings of images whose files could not be read again. */
void hlg_notes_tell_unread(const struct hlg_report *report, struct hlg_note_list *notes);

/* For who shows border=keep, with shares of all the guest's samples: finds the border all
 * the same, and adds the note that a report of the others has. Fails only without memory.
 */
int hlg_notes_add_exits(struct hlg_report *report, struct hlg_err *err);

#endif
