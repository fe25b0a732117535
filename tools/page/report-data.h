/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as data of a page (data.h).
 *
 * The data is an object. Arrays of one member have one length; counts are of what the
 * report weighs. Addresses are offsets in their image (offsets.h), so that they are exact
 * in a script.
 *
 *   weight        "samples" or "period"
 *   unit          of counts: "samples", "ns", else the event's name
 *   each          how many of these all samples have, 0: that differs
 *   total         what shares are of: the sum of the rows, and of VM exits where that
 *                 is asked for
 *   guest         all of the guest's, those and dropped gaps among it
 *   observations  how many independent samples that is (filter/stats/interval.h)
 *   images        path, name (hlg_image_short_name), base in hex; parts {at, from}: the
 *                 address at an offset, in hex, up to the next part; sections {at, size,
 *                 name, code}; spans {at: differences, size, kind, name}: each byte of
 *                 code is in one
 *   rows          name, kind (0 function, 1 label, 2 gap, 3 data, 4 outside, 5 guest
 *                 address), image (-1: none), at, size, count, samples, low, high (of
 *                 the share), unsure (the next may have more): as the report has
 *                 them; with (inclusive, where there are stacks): as children=yes
 *                 with border=drop has it. Behind them callers without
 *                 samples of their own, whose count is 0.
 *   withTotal     what inclusive shares are of
 *   addresses     row, at, count: each address with samples, by row, then address
 *   time          slice (ns), n; recordings, one behind the other: at (slice), first (ns
 *                 since the recording's start: of that slice; 0: not known), path;
 *                 what ran by thread: when (differences of slices), what (0 guest, -1
 *                 host user, -2 host kernel, -3 others), thread, count
 *   where         the rows' samples by time: begins (differences: slice of time at which
 *                 each of these, which may be longer, begins, and the end), when
 *                 (differences), what (differences of the index in addresses), count
 *   stacks        the stacks' samples by time: when, what (differences of the index in
 *                 flame), count, as where has them; not there if there are too many
 *   marks         where there are any: kind (0: events were lost; 1: VM exits; 2: exits
 *                 to the VMM), when (differences of slices), count (of records)
 *   threads       tid (-1: not recorded)
 *   flame         where there are stacks, the tree: parent (index; of the root -1), name
 *                 (index in names), kind (enum hlg_frame), count (of stacks that end
 *                 there); names
 *
 * Without time: recordings that have none.
 *
 * Of what is left out (cut.h) there is: behind the rows that have samples one of kind 4
 * for all others, with one address; at the start of a row an address for others of it;
 * spans and frames for several.
 */
#ifndef HLG_TOOLS_PAGE_REPORT_DATA_H
#define HLG_TOOLS_PAGE_REPORT_DATA_H

#include "filter/report/report.h"
#include "tools/page/cut.h"

/* A report's data in a page: an element of that id. */
struct hlg_page_element {
	const char *id;
	const char *of; /* where there are several: "before" */
	const struct hlg_report *report;
	bool exits;              /* shares are of VM exits, too */
	char *text;              /* to be freed */
	size_t size;             /* of text */
	struct hlg_page_cut cut; /* what is left out of it */
};

/*
 * Writes the elements of a page, n of them, whose first members are given and
 * the others 0, so that with what is used they have HLG_PAGE_BYTES at most: a
 * small one leaves its part to the others. Fails without memory, or if that cannot be.
 */
int hlg_page_report_data(struct hlg_page_element *elements, size_t n, size_t used,
			 struct hlg_err *err);

#endif
