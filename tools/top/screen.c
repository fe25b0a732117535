// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/screen.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef columns /* term.h's macros */
#undef lines

#include "filter/output/colour.h"

enum {
	RED = 1,
	GREEN = 2,
	HIGH = 50, /* thousandths: from these shares on, as colour.h has it */
	LOW = 5
};

static SCREEN *terminal;
static bool coloured;

/* Of the environment's; the program's own locale is C (main.c). */
static void set_locale(bool on)
{
	setlocale(LC_CTYPE, on ? "" : "C");
}

bool hlg_top_screen_is_there(const char **why)
{
	const char *term = getenv("TERM");
	bool moves;
	int error;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		*why = "this is no terminal";
		return false;
	}
	if (!term || !term[0] || setupterm(term, STDOUT_FILENO, &error) != OK) {
		*why = "TERM names no terminal that is known";
		return false;
	}
	moves = tigetstr("cup") && tigetstr("cup") != (char *)-1 && tigetstr("clear");
	del_curterm(cur_term);
	if (!moves)
		*why = "this terminal cannot move its cursor (TERM)";
	return moves;
}

bool hlg_top_screen_begin(void)
{
	set_locale(true);
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		set_locale(false);
		return false;
	}
	set_term(terminal);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	coloured = hlg_colour_of(stdout).on && has_colors() && start_color() == OK;
	if (coloured) {
		bool own = use_default_colors() == OK;

		init_pair(RED, COLOR_RED, own ? -1 : COLOR_BLACK);
		init_pair(GREEN, COLOR_GREEN, own ? -1 : COLOR_BLACK);
	}
	return true;
}

void hlg_top_screen_end(void)
{
	if (!terminal)
		return;
	/* Where the screen stays when it is left, what comes next stands in its last
	 * line. */
	move(LINES - 1, 0);
	clrtoeol();
	refresh();
	endwin();
	delscreen(terminal);
	terminal = NULL;
	set_locale(false);
}

struct hlg_screen hlg_top_screen_size(void)
{
	struct hlg_screen screen = {.columns = 80, .lines = 24};
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		screen.columns = size.ws_col;
		screen.lines = size.ws_row;
	}
	if (terminal && (LINES != (int)screen.lines || COLS != (int)screen.columns))
		resizeterm((int)screen.lines, (int)screen.columns);
	screen.ascii = !hlg_screen_is_utf8();
	return screen;
}

static attr_t look(const struct hlg_top_line *line)
{
	switch (line->look) {
	case HLG_TOP_TITLE:
	case HLG_TOP_CURSOR:
		return A_REVERSE;
	case HLG_TOP_WARNING:
		return A_BOLD;
	default:
		return A_NORMAL;
	}
}

static short colour_of(double share)
{
	return share * 1000 >= HIGH ? RED : share * 1000 >= LOW ? GREEN : 0;
}

static void put_line(int y, const struct hlg_top_line *line)
{
	short colour = coloured ? colour_of(line->share) : 0;

	move(y, 0);
	attrset((int)look(line));
	if (line->look == HLG_TOP_WARNING && coloured)
		color_set(RED, NULL);
	addstr(line->text);
	if (line->look == HLG_TOP_CURSOR)
		for (int x = getcurx(stdscr); x < COLS && getcury(stdscr) == y; x++)
			addch(' ');
	attrset(A_NORMAL);
	if (getcury(stdscr) == y)
		clrtoeol();
	if (line->look == HLG_TOP_SHARE && colour)
		mvchgat(y, 0, HLG_TOP_TEXT_SHARE - 1, A_NORMAL, colour, NULL);
}

void hlg_top_screen_show(const struct hlg_top_frame *frame, bool again)
{
	if (again)
		clearok(stdscr, TRUE);
	for (size_t i = 0; i < frame->n && (int)i < LINES; i++)
		put_line((int)i, &frame->lines[i]);
	refresh();
}

int hlg_top_screen_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return -1;
	case KEY_UP:
		return HLG_TOP_KEY_UP;
	case KEY_DOWN:
		return HLG_TOP_KEY_DOWN;
	case KEY_PPAGE:
		return HLG_TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return HLG_TOP_KEY_PAGE_DOWN;
	case KEY_HOME:
		return HLG_TOP_KEY_HOME;
	case KEY_END:
		return HLG_TOP_KEY_END;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return HLG_TOP_KEY_ENTER;
	case 27:
		return HLG_TOP_KEY_ESCAPE;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		return HLG_TOP_KEY_BACKSPACE;
	default:
		return key >= 0 && key < 0x100 ? key : 0; /* one that does nothing */
	}
}
