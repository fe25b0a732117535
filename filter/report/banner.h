/* SPDX-License-Identifier: GPL-2.0-only */
/* The line above a report whose samples do not fit, and words for how far they do. */
#ifndef HLG_FILTER_REPORT_BANNER_H
#define HLG_FILTER_REPORT_BANNER_H

#include "filter/report/report.h"

/* By how much they do not, and what would fit: another base, the build that ran, ELFs
 * that are not named (report->unnamed).
 * hlg_report.banner keeps it. To be freed; NULL if they fit, or without memory. */
char *hlg_banner_text(const struct hlg_report *report);

/* The same for a saved profile: without threads and sandboxes, which a sum of several
 * does not know, and ELFs that are not named. */
char *hlg_banner_saved(const struct hlg_report *report);

/* Is there a base, or a move, at which those fit that do not where images lie? */
bool hlg_banner_is_explained(const struct hlg_report *report);

/* Of an image alone, for who has no report: another build ran (hlg_identity_verdict), as
 * the recordings of this profile tell, and ELFs that are not named. To be freed; NULL
 * without memory. */
char *hlg_banner_build(const struct hlg_profile *profile, const struct hlg_image *image,
		       const struct hlg_ran *ran);

/* What a report is of: "samples" or "addresses"; one of them: "sample", "address". */
const char *hlg_banner_noun(const struct hlg_report *report, bool one);

#define HLG_BANNER_STATUS 3 /* of what is refused */

/* Does the banner say that samples do not fit, all or some of them, or that nothing says
 * they do, and force= does not answer that? Then the result is not to be trusted: verbs
 * end with HLG_BANNER_STATUS. Of a mismatch they do, whatever is forced. */
bool hlg_banner_is_refusal(const struct hlg_report *report);

/* Verified, and not much outside, of which no test can tell anything: all is well. */
bool hlg_banner_is_ok(const struct hlg_report *report);

/* The image that is not the build that ran, as the recordings tell, where that is the
 * verdict; NULL: none. */
const struct hlg_image_test *hlg_banner_other(const struct hlg_report *report);

/* The verdict in some words, for people: verdict.h's, but where a report that fits has
 * much outside "OK in the ELF", and of another build "WRONG ELF: another build ran", with
 * the ids that are known. In buf, or static. */
const char *hlg_banner_said(char buf[static 80], const struct hlg_report *report);

/* "; outside the ELF: 33 of 190", where that is much; else "". */
const char *hlg_banner_outside(char buf[static 80], const struct hlg_report *report);

/* "cannot tell: 3 distinct addresses, 12 are needed": what is lacking where the verdict
 * is that there are too few. */
const char *hlg_banner_few(char buf[static 80], const struct hlg_report *report);

/* And what follows where no function is named. */
const char *hlg_banner_suppressed(const struct hlg_report *report);

#endif
