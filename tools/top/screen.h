/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal, by ncurses. Only this file of hlguest uses it, and a build need not have
 * it: then there is no screen, and tables are printed (top --stdio).
 */
#ifndef HLG_TOOLS_TOP_SCREEN_H
#define HLG_TOOLS_TOP_SCREEN_H

#include "tools/top/frame.h"

/* Is there one: are standard input and output a terminal that TERM knows how to move the
 * cursor of? If not, why says it, in words that go behind "no screen: ". */
bool hlg_top_screen_is_there(const char **why);

/* Takes the terminal over; false if that fails, and all is as it was. */
bool hlg_top_screen_begin(void);

/* Gives it back as it was; may be called at any time, also if it was not taken. */
void hlg_top_screen_end(void);

/* How large it is; after a change of that, too. */
struct hlg_screen hlg_top_screen_size(void);

/* again: everything anew, whatever is there. */
void hlg_top_screen_show(const struct hlg_top_frame *frame, bool again);

/* A key that was pressed (keys.h), or -1: none is left. */
int hlg_top_screen_key(void);

#endif
