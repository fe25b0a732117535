/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison as a page (tools/page/page.h). */
#ifndef HLG_TOOLS_DIFF_HTML_H
#define HLG_TOOLS_DIFF_HTML_H

#include "filter/write/format.h"

/* Data is a struct hlg_diff. */
extern const struct hlg_format hlg_diff_html_format;

#endif
