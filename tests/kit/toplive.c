// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live view of top, of a recording that is there, at times that are told.
 *
 *     toplive SCRIPT STREAM WINDOW EVERY COST WORD...
 *
 * STREAM is in pipe mode; the next are in ns: COST is what a report takes of the CPU.
 * Of words, -g records callers and --exits exits; others are options of the filter and
 * images. A line of the script each:
 *
 *     bytes N           so many bytes of the stream, from its begin, have been read
 *     end               all has
 *     refresh NS        it is that time, and a slice ends
 *     key N             as keys.h has it; says which of save and quit is left to do
 *     table COLUMNS N   what is printed, on so many columns, with so many rows
 *     json              the same as JSON
 *     frame C L ASCII   the screen, of so many columns and lines: look, share, text each
 *
 * A form feed stands behind what each of the last four, and key, writes. Clocks, and what
 * is a terminal, stand here in place of the system's and of screen.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/inputs/sides.h"
#include "tools/top/screen.h"
#include "tools/top/view.h"

static uint64_t now, cpu, cost;
static struct hlg_screen screen_size = {.columns = 80, .lines = 24};

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __real_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns = now;

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		ns = cpu += cost; /* each look at it is that much later */
	else if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, t);
	t->tv_sec = (time_t)(ns / 1000000000);
	t->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

struct hlg_screen hlg_top_screen_size(void)
{
	return screen_size;
}

void hlg_top_screen_show(const struct hlg_top_frame *frame, bool again)
{
	(void)again;
	for (size_t i = 0; i < frame->n; i++)
		printf("%d %.9f %s\n", (int)frame->lines[i].look, frame->lines[i].share,
		       frame->lines[i].text);
}

bool hlg_top_screen_is_there(const char **why)
{
	*why = "this is a test";
	return false;
}

bool hlg_top_screen_begin(void)
{
	return false;
}

void hlg_top_screen_end(void)
{
}

int hlg_top_screen_key(void)
{
	return -1;
}

struct live {
	struct hlg_top_request request;
	struct hlg_top_guests guests;
	struct hlg_options options;
	struct hlg_profile profile;
	struct hlg_stacks stacks;
	struct hlg_batch_given given;
	struct hlg_top_view view;
	int stream;
	uint64_t had, wanted; /* bytes of it */
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "toplive: %s\n", what);
	exit(1);
}

static void must(int rc, const struct hlg_err *err)
{
	if (rc < 0)
		fail(err->msg);
}

static void frame(struct live *l)
{
	l->view.screen = true;
	hlg_top_view_draw(&l->view);
	l->view.screen = false;
}

static void table(struct live *l, int format, const char *columns)
{
	if (columns)
		setenv("COLUMNS", columns, 1);
	l->request.format = format;
	hlg_top_view_print(&l->view);
}

static void press(struct live *l, int key)
{
	enum hlg_top_action action;

	l->view.screen = true;
	action = hlg_top_view_press(&l->view, key);
	l->view.screen = false;
	if (action == HLG_TOP_SAVE || action == HLG_TOP_QUIT)
		puts(action == HLG_TOP_SAVE ? "save" : "quit");
}

/* A word of the script, and what follows it; false: reading is to go on. */
static bool obey(struct live *l, const char *word, char *rest)
{
	char *next;
	uint64_t n = strtoull(rest, &next, 10);

	if (strcmp(word, "bytes") == 0) {
		l->wanted = n;
		return false;
	}
	if (strcmp(word, "end") == 0) {
		l->view.ended = true;
		return false;
	}
	if (strcmp(word, "refresh") == 0) {
		now = n;
		hlg_top_view_refresh(&l->view, now);
		return true;
	}
	if (strcmp(word, "key") == 0) {
		press(l, (int)n);
	} else if (strcmp(word, "table") == 0) {
		l->request.rows = strtoull(next, NULL, 10);
		*next = '\0';
		table(l, 0, rest);
	} else if (strcmp(word, "json") == 0) {
		table(l, 1, NULL);
	} else if (strcmp(word, "frame") == 0) {
		screen_size.columns = (unsigned)n;
		screen_size.lines = (unsigned)strtoul(next, &next, 10);
		screen_size.ascii = strtoul(next, NULL, 10);
		frame(l);
	} else {
		fail(word);
	}
	puts("\f");
	return true;
}

/* Until something is to be read, or nothing more; false: the script ends. */
static bool obey_on(struct live *l)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line;
		const char *word = strsep(&rest, " \n");

		if (!obey(l, word, rest ? rest : line + strlen(line)))
			return true;
		if (l->view.failed)
			fail(l->view.err.msg);
	}
	return false;
}

static ssize_t read_on(void *ctx, void *to, size_t n,
		       const struct hlg_recording_sums *sums, uint64_t whole)
{
	struct live *l = ctx;
	ssize_t got;

	(void)whole;
	l->given.sums = *sums;
	while (l->had >= l->wanted)
		if (!obey_on(l) || l->view.ended)
			return 0;
	if (n > l->wanted - l->had)
		n = l->wanted - l->had;
	got = read(l->stream, to, n);
	if (got > 0)
		l->had += (uint64_t)got;
	return got;
}

/* As the session does. */
static void begin(struct live *l, int n_words, char **words)
{
	static char *images[16];
	struct hlg_err err;
	bool apart;

	l->request.images.text = images;
	for (int i = 0; i < n_words; i++) {
		if (strcmp(words[i], "-g") == 0) {
			l->given.stacks = &l->stacks;
			must(hlg_top_guests_option(&l->guests, HLG_SIDES_WHOLE, &err),
			     &err);
		} else if (strcmp(words[i], "--exits") == 0) {
			l->request.record.exits = true;
		} else if (words[i][0] == '-') {
			must(hlg_top_guests_option(&l->guests, words[i], &err), &err);
		} else if (l->request.images.n < 16) {
			images[l->request.images.n++] = words[i];
		}
	}
	must(hlg_top_guests_find(&l->guests, &l->request.images, &l->request.record,
				 &err),
	     &err);
	must(hlg_top_judge_apart((int)l->guests.n, l->guests.words, &apart, &err), &err);
	must(hlg_options_parse(&l->options, (int)l->guests.n, l->guests.words, &err),
	     &err);
	if (!hlg_profile_init(&l->profile, &l->options) ||
	    (l->given.stacks && !hlg_stacks_init(&l->stacks, &l->options)) ||
	    !hlg_top_view_begin(&l->view, 0))
		fail("no memory");
	if (apart)
		hlg_profile_keep_apart(&l->profile);
	l->given.profile = &l->profile;
}

int main(int argc, char **argv)
{
	static struct live l;
	const struct hlg_feed_live live = {read_on, &l};
	struct hlg_feed_how how = {.live = &live, .threads = 1};
	struct hlg_recording_sums sums;
	struct hlg_err err;

	if (argc < 7)
		fail("SCRIPT STREAM WINDOW EVERY COST WORD...");
	l.stream = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (l.stream < 0 || !freopen(argv[1], "r", stdin))
		fail("no such file");
	l.request.window = strtoull(argv[3], NULL, 10);
	l.request.every = strtoull(argv[4], NULL, 10);
	cost = strtoull(argv[5], NULL, 10);
	l.view = (struct hlg_top_view){
		.request = &l.request, .guests = &l.guests, .given = &l.given};
	begin(&l, argc - 6, argv + 6);
	how.stacks = l.given.stacks ? &l.stacks : NULL;
	must(hlg_feed_read(HLG_TOP_VIEW_NAME, &how, &l.profile, NULL, &sums, &err), &err);
	l.given.sums = sums;
	obey_on(&l);
	hlg_top_view_finish(&l.view);
	hlg_stacks_finish(&l.stacks);
	hlg_profile_finish(&l.profile);
	hlg_options_finish(&l.options);
	hlg_top_guests_finish(&l.guests);
	close(l.stream);
	return 0;
}
