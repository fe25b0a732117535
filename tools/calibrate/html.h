/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of a page. */
#ifndef HLG_CALIBRATE_HTML_H
#define HLG_CALIBRATE_HTML_H

#include <stdio.h>

/* Text between tags or in a quoted attribute; control characters are left out. */
void hlg_html_text(FILE *f, const char *text);

#endif
