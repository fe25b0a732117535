// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "filter/report/nothing.h"
#include "symtab/escape.h"
#include "tools/cli/output.h"
#include "tools/top/screen.h"

#define MESSAGE_NS UINT64_C(5000000000) /* as long as one is shown */

uint64_t hlg_top_view_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool hlg_top_view_begin(struct hlg_top_view *v, uint64_t now)
{
	const size_t n = (size_t)(v->request->window / v->request->every);

	/* Who wants one table ends in the middle of a slice, which is not to drive a
	 * whole one out. */
	return hlg_top_window_begin(&v->window, n + v->request->once, now);
}

void hlg_top_view_finish(struct hlg_top_view *v)
{
	hlg_top_panes_finish(&v->pane);
	hlg_top_rows_finish(&v->rows);
	hlg_top_judge_finish(v->judged);
	hlg_top_window_finish(&v->window);
	v->judged = NULL;
}

static const char *event_name(const struct hlg_top_view *v)
{
	for (uint32_t i = 0; i < v->given->profile->n_events; i++)
		if (v->given->profile->events[i].kind != HLG_EVENT_TRACEPOINT)
			return v->given->profile->events[i].name;
	return NULL;
}

static struct hlg_top_shown shown_of(const struct hlg_top_view *v)
{
	struct hlg_top_shown shown = {.judged = v->judged,
				      .rows = v->judged ? &v->rows : NULL,
				      .sums = v->sums,
				      .took = v->took,
				      .zeroed = v->window.zeroed > v->window.began,
				      .window = v->request->window,
				      .event = event_name(v),
				      .profile = v->given->profile,
				      .exits = v->request->record.exits,
				      .screen = v->screen ? hlg_top_screen_size()
							  : hlg_screen_of(stdout)};

	if (!v->guests->n_images)
		shown.waits = "no VMM runs whose guest is known (name its ELF: hlguest "
			      "top guest.elf -a)";
	else if (v->misjudged_at)
		shown.waits = v->misjudged.msg;
	else if (shown.event && hlg_nothing_is_user(shown.event))
		shown.waits = "no guest sample: the kernel is left out, and guests with "
			      "it (" HLG_NOTHING_USER ")";
	return shown;
}

static bool is_told(const struct hlg_top_view *v)
{
	return v->message[0] && hlg_top_view_now() < v->message_until;
}

void hlg_top_view_draw(struct hlg_top_view *v)
{
	const struct hlg_top_shown shown = shown_of(v);
	const struct hlg_top_pane pane = {v->pane.title, v->pane.lines, v->pane.n};
	struct hlg_top_frame frame;

	if (!v->screen)
		return;
	hlg_top_frame_build(&frame, &shown, &v->keys, &pane,
			    is_told(v) ? v->message : NULL);
	hlg_top_screen_show(&frame, v->again);
	v->again = false;
	hlg_top_frame_finish(&frame);
}

void hlg_top_view_tell(struct hlg_top_view *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->message, sizeof(v->message), fmt, ap);
	va_end(ap);
	v->message_until = hlg_top_view_now() + MESSAGE_NS;
	v->heard = false;
	if (!v->screen)
		fprintf(stderr, "hlguest: %s\n", v->message);
}

void hlg_top_view_tell_full(struct hlg_top_view *v)
{
	if (v->request->record.guests.full && !v->full)
		hlg_top_view_tell(v,
				  "more than %d guest ELFs run: samples of further ones "
				  "are outside of all ELFs (name those to look at)",
				  HLG_BESIDE_GUESTS);
	v->full = v->request->record.guests.full;
}

void hlg_top_view_hear(struct hlg_top_view *v, const char *line)
{
	if (is_told(v) && !v->heard)
		return;
	hlg_top_view_tell(v, "%s said: %s",
			  v->request->record.command ? "perf or the VMM" : "perf", line);
	v->heard = true;
}

void hlg_top_view_print(struct hlg_top_view *v)
{
	const struct hlg_top_shown shown = shown_of(v);
	struct hlg_err err;

	if (v->request->format == 0)
		hlg_top_text_table(stdout, &shown, v->request->rows);
	else if (hlg_top_text_json(stdout, &shown, &err) < 0) {
		v->err = err;
		v->failed = true;
	}
	if (!hlg_output_flush())
		v->failed = true;
}

/* Does a guest that came later not go with the others? Then it is left out; false if
 * there is none. */
static bool leave_guest(struct hlg_top_view *v, const struct hlg_err *err)
{
	char *file = hlg_top_guests_leave(v->guests);
	char shown[128];

	if (!file)
		return false;
	hlg_escape_cut(shown, sizeof(shown), file);
	hlg_top_view_tell(v, "%s is left out: %s", shown, err->msg);
	free(file);
	return true;
}

/* How many of the guests, in front, have a place in what was judged well: whatever fails
 * later, these are none that came later and do not go with the others. A file may have
 * several images. */
static size_t count_placed(const struct hlg_run *run)
{
	const struct hlg_image_arg *args = run->options.images;
	size_t files = 0, placed = 0;

	for (size_t i = 0; i < run->options.n_images; i++) {
		enum hlg_base_from from = run->space.images[i]->from;

		files += i == 0 || strcmp(args[i].path, args[i - 1].path) != 0;
		if (from != HLG_BASE_NONE && from != HLG_BASE_DEFAULT)
			placed = files;
	}
	return placed;
}

/* The last one stays, if there is one: an ELF may be built anew meanwhile. Else there may
 * be too few samples so far. The report at the end fails then, or says what it is. */
static void refuse_judged(struct hlg_top_view *v, int rc, const struct hlg_err *err,
			  uint64_t now)
{
	v->misjudged = *err;
	if (!v->judged && v->ended) {
		v->err = *err;
		v->failed = true;
	}
	if (!v->misjudged_at) {
		v->misjudged_at = now;
		if (v->judged)
			hlg_top_view_tell(v, "%s", err->msg);
	} else if (rc == HLG_EINPUT && now - v->misjudged_at > MESSAGE_NS &&
		   leave_guest(v, err)) {
		v->misjudged_at = now; /* the next one has as long */
	}
}

static bool is_due(const struct hlg_top_view *v, uint64_t now)
{
	if (v->judged_images != v->guests->n_images)
		return true;
	if (v->misjudged_at && now - v->judged_at < HLG_TOP_JUDGE_PART * v->misjudge_cost)
		return false;
	return hlg_top_judge_due(v->judged, v->given->sums.guest, v->judged_at, now);
}

/* At the end there is no later time to be judged at, with the others or without. */
static int judge_guests(struct hlg_top_view *v, struct hlg_top_judged **judged,
			struct hlg_err *err)
{
	int rc;

	do
		rc = hlg_top_judge(judged, (int)v->guests->n, v->guests->words,
				   HLG_TOP_VIEW_NAME, v->given, HLG_TOP_JUDGE_TABLE, err);
	while (rc == HLG_EINPUT && v->ended && !v->judged && leave_guest(v, err));
	return rc;
}

/* The report so far, if it is time for one. */
static void judge(struct hlg_top_view *v, uint64_t now)
{
	struct hlg_top_judged *judged;
	uint64_t began = hlg_top_judge_cpu_time();
	struct hlg_err err;
	int rc;

	if (!v->guests->n_images || v->given->sums.guest == 0)
		return;
	/* The last table is judged by all that is in it, and so is the only one. */
	if (!v->ended && (v->request->once || !is_due(v, now)))
		return;
	rc = judge_guests(v, &judged, &err);
	v->judged_at = now;
	v->judged_images = v->guests->n_images;
	if (rc < 0) {
		v->misjudge_cost = hlg_top_judge_cpu_time() - began;
		refuse_judged(v, rc, &err, now);
		return;
	}
	v->guests->placed = count_placed(&judged->run);
	hlg_top_rows_finish(&v->rows);
	hlg_top_judge_finish(v->judged);
	v->judged = judged;
	v->misjudged_at = 0;
}

/* Keys that come before the next drawing are of these rows already. */
static void choose_rows(struct hlg_top_view *v)
{
	hlg_top_rows_choose(&v->rows, v->keys.sort, v->keys.filter);
	hlg_top_keys_fit(&v->keys, v->rows.n, v->keys.room);
}

static void make_rows(struct hlg_top_view *v)
{
	hlg_top_rows_finish(&v->rows);
	if (v->judged && hlg_top_rows_build(&v->rows, v->judged, &v->window, &v->err) < 0)
		v->failed = true;
	choose_rows(v);
}

void hlg_top_view_refresh(struct hlg_top_view *v, uint64_t now)
{
	if (!hlg_top_window_close(&v->window, v->given->profile, v->given->sums.lost,
				  now)) {
		hlg_err_memory(&v->err, "rows");
		v->failed = true;
	}
	if (v->keys.paused)
		return;
	judge(v, now);
	v->sums = hlg_top_window_sums(&v->window, HLG_TOP_SINCE);
	v->took = hlg_top_window_took(&v->window, HLG_TOP_SINCE);
	if (!v->failed)
		make_rows(v);
}

/* Keys */

static void open_pane(struct hlg_top_view *v, int rc, const struct hlg_err *err)
{
	if (rc < 0) {
		hlg_top_view_tell(v, "%s", err->msg);
		return;
	}
	v->keys.mode = HLG_TOP_TEXT;
	v->keys.line = 0;
}

static void annotate(struct hlg_top_view *v)
{
	const struct hlg_top_row *row = &v->rows.rows[v->keys.cursor];
	struct hlg_screen screen = hlg_top_screen_size();
	struct hlg_err err;

	if (v->judged->report.suppressed) {
		hlg_top_view_tell(
			v,
			"instructions are withheld: the samples do not fit, or too few "
			"have come");
		return;
	}
	open_pane(v,
		  hlg_top_panes_annotate(
			  &v->pane, (int)v->guests->n, v->guests->words, v->given,
			  v->rows.since.hits[row->since->first_hit].ip, &screen, &err),
		  &err);
}

static void callers(struct hlg_top_view *v)
{
	const struct hlg_top_row *row = &v->rows.rows[v->keys.cursor];
	struct hlg_screen screen = hlg_top_screen_size();
	struct hlg_err err;

	if (!v->given->stacks) {
		hlg_top_view_tell(
			v, "callers are not recorded (start it with hlguest top -g)");
		return;
	}
	open_pane(v,
		  hlg_top_panes_callers(
			  &v->pane, (int)v->guests->n, v->guests->words, v->given,
			  v->rows.since.hits[row->since->first_hit].ip, &screen, &err),
		  &err);
}

static void zero(struct hlg_top_view *v)
{
	hlg_top_window_zero(&v->window);
	v->sums = hlg_top_window_sums(&v->window, HLG_TOP_SINCE);
	v->took = 0;
	make_rows(v);
}

static void show_help(struct hlg_top_view *v)
{
	struct hlg_top_shown shown = shown_of(v);
	struct hlg_err err;

	shown.screen = hlg_top_screen_size();
	open_pane(v, hlg_top_panes_help(&v->pane, &shown, &err), &err);
}

enum hlg_top_action hlg_top_view_press(struct hlg_top_view *v, int key)
{
	enum hlg_top_action action, left = HLG_TOP_NOTHING;

	v->message[0] = '\0';
	action = hlg_top_keys_press(&v->keys, key);
	switch (action) {
	case HLG_TOP_ZERO:
		zero(v);
		break;
	case HLG_TOP_ANNOTATE:
		annotate(v);
		break;
	case HLG_TOP_CALLERS:
		callers(v);
		break;
	case HLG_TOP_HELP:
		show_help(v);
		break;
	case HLG_TOP_SAVE:
	case HLG_TOP_QUIT:
		left = action;
		break;
	default:
		break;
	}
	choose_rows(v);
	return left;
}
