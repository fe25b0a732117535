/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a key does, and what the screen shows by it: a state, and a function that changes
 * nothing else, so that it can be tested without a terminal.
 */
#ifndef HLG_TOOLS_TOP_KEYS_H
#define HLG_TOOLS_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Keys that are no character; others are themselves. */
enum {
	HLG_TOP_KEY_UP = 0x200,
	HLG_TOP_KEY_DOWN,
	HLG_TOP_KEY_PAGE_UP,
	HLG_TOP_KEY_PAGE_DOWN,
	HLG_TOP_KEY_HOME,
	HLG_TOP_KEY_END,
	HLG_TOP_KEY_ENTER,
	HLG_TOP_KEY_ESCAPE,
	HLG_TOP_KEY_BACKSPACE
};

enum hlg_top_mode {
	HLG_TOP_TABLE,
	HLG_TOP_FILTER, /* the table, and words are typed that choose its rows */
	HLG_TOP_TEXT    /* a text: help, a listing */
};

enum hlg_top_sort {
	HLG_TOP_BY_RECENT,
	HLG_TOP_BY_SINCE,
	HLG_TOP_BY_NAME,
	HLG_TOP_SORTS
};

enum hlg_top_action {
	HLG_TOP_NOTHING,
	HLG_TOP_DRAW, /* what is shown has changed */
	HLG_TOP_ZERO,
	HLG_TOP_ANNOTATE, /* the row at the cursor */
	HLG_TOP_CALLERS,  /* likewise */
	HLG_TOP_HELP,
	HLG_TOP_SAVE,
	HLG_TOP_QUIT
};

enum {
	HLG_TOP_FILTER_MAX = 64
};

/* All zero at first. */
struct hlg_top_keys {
	enum hlg_top_mode mode;
	enum hlg_top_sort sort;
	bool paused; /* the display; samples go on being counted */
	char filter[HLG_TOP_FILTER_MAX];
	char before[HLG_TOP_FILTER_MAX]; /* the filter, until the new one is entered */
	/* The cursor, and the first that is shown, of as many rows as there are, and how
	 * many the screen has room for; the same of a text's lines, without a cursor. */
	size_t cursor, first, n, room;
	size_t line, n_lines, room_lines;
};

/* What is to be done. */
enum hlg_top_action hlg_top_keys_press(struct hlg_top_keys *keys, int key);

/* Brings cursor and lines into what there is. */
void hlg_top_keys_fit(struct hlg_top_keys *keys, size_t n, size_t room);
void hlg_top_keys_fit_text(struct hlg_top_keys *keys, size_t n, size_t room);

#endif
