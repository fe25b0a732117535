/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What do recordings lack? Whoever reads one takes it from what the reader met, adds it
 * up, and notes it: all verbs in the same words.
 */
#ifndef HLG_TOOLS_FEED_LACKS_H
#define HLG_TOOLS_FEED_LACKS_H

#include "filter/output/note-list.h"
#include "filter/profile/count.h"
#include "tools/perfdata/perfdata.h"

/*
 * Adds what a part of a recording held, read by another reader of it, to what the other
 * parts did; lost events, which are the recording's, are known once all parts are added.
 */
void hlg_lacks_join(struct hlg_perfdata_counts *to,
		    const struct hlg_perfdata_counts *part);

/* Sets what one recording lacks, and nothing else; but for unjoined, late and undecoded,
 * which the feed counts. */
void hlg_lacks_set(struct hlg_recording_sums *sums,
		   const struct hlg_perfdata_counts *counts);

/* Adds other recordings: how many they are, what they lack, and nothing else. */
void hlg_lacks_add(struct hlg_recording_sums *to, const struct hlg_recording_sums *from);

/* How long a recording is: "1.1 s", "93.250 ms". */
const char *hlg_lacks_span(char buf[static 24], uint64_t ns);

/*
 * Warns of all that sums lack, each note behind of ("before: "). Behind that events were
 * lost stands what a reader should know of it, or do about it; NULL: as of samples.
 * sums->recordings says whether that is one or several.
 */
void hlg_lacks_note(const struct hlg_recording_sums *sums, const char *of,
		    const char *loss, struct hlg_note_list *notes);

#endif
