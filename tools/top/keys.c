// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/keys.h"

#include <string.h>

void hlg_top_keys_fit(struct hlg_top_keys *k, size_t n, size_t room)
{
	k->n = n;
	k->room = room;
	if (k->cursor >= n)
		k->cursor = n ? n - 1 : 0;
	if (k->first > k->cursor)
		k->first = k->cursor;
	if (room && k->cursor >= k->first + room)
		k->first = k->cursor - room + 1;
	/* No empty rows below while there are some above. */
	if (k->first + room > n)
		k->first = n > room ? n - room : 0;
}

void hlg_top_keys_fit_text(struct hlg_top_keys *k, size_t n, size_t room)
{
	k->n_lines = n;
	k->room_lines = room;
	if (k->line + room > n)
		k->line = n > room ? n - room : 0;
}

static size_t moved(size_t at, size_t by, bool down)
{
	if (down)
		return at + by;
	return at > by ? at - by : 0;
}

/* Where a key leads to in n things, of which room are seen; false: it is none of these.
 */
static bool move(size_t *at, int key, size_t n, size_t room)
{
	size_t page = room > 1 ? room - 1 : 1;

	switch (key) {
	case HLG_TOP_KEY_UP:
	case 'k':
		*at = moved(*at, 1, false);
		return true;
	case HLG_TOP_KEY_DOWN:
	case 'j':
		*at = moved(*at, 1, true);
		return true;
	case HLG_TOP_KEY_PAGE_UP:
	case 'b':
		*at = moved(*at, page, false);
		return true;
	case HLG_TOP_KEY_PAGE_DOWN:
	case 'f':
		*at = moved(*at, page, true);
		return true;
	case HLG_TOP_KEY_HOME:
	case 'g':
		*at = 0;
		return true;
	case HLG_TOP_KEY_END:
	case 'G':
		*at = n;
		return true;
	default:
		return false;
	}
}

static enum hlg_top_action in_text(struct hlg_top_keys *k, int key)
{
	if (key == 'q' || key == HLG_TOP_KEY_ESCAPE || key == HLG_TOP_KEY_ENTER ||
	    key == HLG_TOP_KEY_BACKSPACE) {
		k->mode = HLG_TOP_TABLE;
		k->line = 0;
		return HLG_TOP_DRAW;
	}
	if (!move(&k->line, key == ' ' ? HLG_TOP_KEY_PAGE_DOWN : key, k->n_lines,
		  k->room_lines))
		return HLG_TOP_NOTHING;
	hlg_top_keys_fit_text(k, k->n_lines, k->room_lines);
	return HLG_TOP_DRAW;
}

/* One character less: all bytes of it. */
static void shorten(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

static enum hlg_top_action in_filter(struct hlg_top_keys *k, int key)
{
	size_t n = strlen(k->filter);

	if (key == HLG_TOP_KEY_ENTER) {
		k->mode = HLG_TOP_TABLE;
	} else if (key == HLG_TOP_KEY_ESCAPE) {
		k->mode = HLG_TOP_TABLE;
		memcpy(k->filter, k->before, sizeof(k->filter));
	} else if (key == HLG_TOP_KEY_BACKSPACE) {
		shorten(k->filter);
	} else if (key >= ' ' && key < 0x100 && key != 0x7f &&
		   n + 1 < sizeof(k->filter)) {
		k->filter[n] = (char)key;
		k->filter[n + 1] = '\0';
	} else {
		return HLG_TOP_NOTHING;
	}
	k->cursor = k->first = 0;
	return HLG_TOP_DRAW;
}

static enum hlg_top_action in_table(struct hlg_top_keys *k, int key)
{
	if (move(&k->cursor, key, k->n, k->room)) {
		hlg_top_keys_fit(k, k->n, k->room);
		return HLG_TOP_DRAW;
	}
	switch (key) {
	case ' ':
		k->paused = !k->paused;
		return HLG_TOP_DRAW;
	case 's':
		k->sort = (enum hlg_top_sort)((k->sort + 1) % HLG_TOP_SORTS);
		return HLG_TOP_DRAW;
	case '/':
		k->mode = HLG_TOP_FILTER;
		memcpy(k->before, k->filter, sizeof(k->before));
		k->filter[0] = '\0';
		return HLG_TOP_DRAW;
	case HLG_TOP_KEY_ESCAPE:
		k->filter[0] = '\0';
		return HLG_TOP_DRAW;
	case 'z':
		return HLG_TOP_ZERO;
	case HLG_TOP_KEY_ENTER:
		return k->n ? HLG_TOP_ANNOTATE : HLG_TOP_NOTHING;
	case 'c':
		return k->n ? HLG_TOP_CALLERS : HLG_TOP_NOTHING;
	case 'w':
		return HLG_TOP_SAVE;
	case 'h':
	case '?':
		return HLG_TOP_HELP;
	case 'q':
		return HLG_TOP_QUIT;
	default:
		return HLG_TOP_NOTHING;
	}
}

enum hlg_top_action hlg_top_keys_press(struct hlg_top_keys *k, int key)
{
	switch (k->mode) {
	case HLG_TOP_TEXT:
		return in_text(k, key);
	case HLG_TOP_FILTER:
		return in_filter(k, key);
	default:
		return in_table(k, key);
	}
}
