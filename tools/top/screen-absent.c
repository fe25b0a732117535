// SPDX-License-Identifier: GPL-2.0-only
/* A build without ncurses. */
#include "tools/top/screen.h"

bool hlg_top_screen_is_there(const char **why)
{
	*why = "this build has none (install libncurses-dev and build again)";
	return false;
}

bool hlg_top_screen_begin(void)
{
	return false;
}

void hlg_top_screen_end(void)
{
}

struct hlg_screen hlg_top_screen_size(void)
{
	return (struct hlg_screen){.columns = 80, .lines = 24};
}

void hlg_top_screen_show(const struct hlg_top_frame *frame, bool again)
{
	(void)frame, (void)again;
}

int hlg_top_screen_key(void)
{
	return -1;
}
