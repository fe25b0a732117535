// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/escape.h"
#include "tools/beside/beside.h"
#include "tools/cli/output.h"
#include "tools/cli/signals.h"
#include "tools/inputs/sides.h"
#include "tools/record/command.h"
#include "tools/record/modifiers.h"
#include "tools/record/session.h"
#include "tools/top/callers.h"
#include "tools/top/follow.h"
#include "tools/top/guests.h"
#include "tools/top/save.h"
#include "tools/top/screen.h"
#include "tools/top/view.h"

#define MS       UINT64_C(1000000)
#define WAIT_NS  (5000 * MS) /* of --once, for a first sample: perf has to begin */
#define STUCK_NS (5000 * MS) /* until perf is given up that was told to end */
#define HASTE_NS (50 * MS)   /* until keys and signals are looked at */
#define DRAIN_NS (100 * MS)  /* after a ping, until perf has written what it had */

struct session {
	struct hlg_top_request *request;
	struct hlg_top_follow perf;
	struct hlg_top_guests guests;
	struct hlg_options options; /* that their words make */
	/* What was counted. */
	struct hlg_profile profile;
	struct hlg_stacks stacks; /* where callers are recorded */
	struct hlg_top_callers callers;
	struct hlg_batch_given given;
	uint64_t whole; /* bytes of the recording that it is of */
	struct hlg_top_spool spool;
	struct hlg_top_view view;
	int real_stderr; /* while the screen is on; -1 */
	/* When, in ns; 0: not yet. */
	uint64_t began, first, next, draw, looked, stopped;
	bool attached; /* or it was tried */
	bool stopping; /* it is being ended by us */
};

static volatile sig_atomic_t ended_by, resized;

static void on_end(int sig)
{
	ended_by = sig;
}

static void on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

/* What perf, or the command, says: all of it comes when the screen is gone. */
static void tell_said(struct session *s)
{
	char *line = hlg_top_follow_last(&s->perf);
	char shown[256];

	if (!line)
		return;
	hlg_escape_cut(shown, sizeof(shown), line);
	hlg_top_view_hear(&s->view, shown);
	free(line);
}

static void save(struct session *s)
{
	const char *paths[HLG_BESIDE_GUESTS];
	char message[512];
	const struct hlg_top_saving saving = {
		&s->spool,
		s->whole,
		(int)s->guests.n,
		s->guests.words,
		s->guests.n_images,
		paths,
		hlg_top_guests_paths(&s->guests, &s->options, paths),
		&s->request->record.guests};

	hlg_top_save(&saving, message, sizeof(message));
	hlg_top_view_tell(&s->view, "%s", message);
}

static void stop(struct session *s)
{
	if (s->stopping)
		return;
	hlg_top_follow_stop(&s->perf);
	s->stopping = true;
	s->stopped = hlg_top_view_now();
}

static void press_keys(struct session *s)
{
	int key;

	while ((key = hlg_top_screen_key()) >= 0) {
		enum hlg_top_action action = hlg_top_view_press(&s->view, key);

		if (action == HLG_TOP_SAVE)
			save(s);
		if (action == HLG_TOP_QUIT)
			stop(s);
	}
	hlg_top_view_draw(&s->view);
}

/* Reading */

/* Has a window passed since the first sample, or a while without any? */
static bool is_over(const struct session *s, uint64_t now)
{
	return s->first ? now - s->first >= s->request->window
			: now - s->began >= s->request->window + WAIT_NS;
}

static void refresh(struct session *s, uint64_t now)
{
	if (hlg_top_guests_look(&s->guests, &s->request->record, now, &s->view.err) < 0)
		s->view.failed = true;
	hlg_top_view_tell_full(&s->view);
	hlg_top_view_refresh(&s->view, now);
}

/* What is due now; returns how long it may be waited, in ns. */
static uint64_t turn(struct session *s)
{
	uint64_t now = hlg_top_view_now();

	if (s->request->once && is_over(s, now))
		stop(s); /* what it still has is in the table, too */
	if (s->draw && now >= s->draw) {
		s->draw = 0;
		refresh(s, now);
		if (s->view.screen)
			hlg_top_view_draw(&s->view);
		else if (!s->request->once && !s->stopping)
			hlg_top_view_print(&s->view);
	}
	if (now >= s->next) {
		if (!s->stopping) /* at its end it writes all by itself */
			hlg_top_follow_ping(&s->perf);
		s->draw = now + DRAIN_NS;
		s->next += s->request->every;
		if (s->next <= now) /* a slow machine, or one that slept */
			s->next = now + s->request->every;
	}
	if (s->draw && s->draw < s->next)
		return s->draw > now ? s->draw - now : 0;
	return s->next - now;
}

/* perf has answered: its events are there. */
static void attach(struct session *s)
{
	struct hlg_err err;

	if (s->perf.answers && !s->attached &&
	    hlg_top_callers_attach(&s->callers, s->perf.pid, &err) < 0)
		hlg_top_view_tell(&s->view, "no callers: %s", err.msg);
	s->attached |= s->perf.answers;
}

/* Waits until there is something to read, and does what comes first. */
static void wait_a_while(struct session *s, uint64_t ns)
{
	const struct timespec most = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	/* While it ends no key is of use, and a terminal that is gone stays ready. */
	const int keys = s->view.screen && !s->stopping ? STDIN_FILENO : -1;
	struct pollfd fds[] = {{.fd = s->perf.data, .events = POLLIN},
			       {.fd = s->perf.said, .events = POLLIN},
			       {.fd = s->perf.from[0], .events = POLLIN},
			       {.fd = keys, .events = POLLIN}};
	sigset_t none;
	int n;

	sigemptyset(&none);
	n = ppoll(fds, 4, &most, &none);
	s->looked = hlg_top_view_now();
	if (ended_by)
		stop(s);
	if (resized) {
		resized = 0;
		s->view.again = true;
		hlg_top_view_draw(&s->view);
	}
	if (n <= 0)
		return;
	if (fds[2].revents & (POLLHUP | POLLERR) && !(fds[2].revents & POLLIN)) {
		close(s->perf.from[0]);
		s->perf.from[0] = -1;
	}
	if (hlg_top_follow_hear(&s->perf))
		tell_said(s);
	attach(s);
	if (fds[3].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal is gone */
		stop(s);
	else if (fds[3].revents)
		press_keys(s);
}

/* Does perf not end, though it has been told to? */
static bool is_stuck(const struct session *s)
{
	return s->stopping && hlg_top_view_now() - s->stopped > STUCK_NS;
}

static ssize_t read_on(void *ctx, void *to, size_t n,
		       const struct hlg_recording_sums *sums, uint64_t whole)
{
	struct session *s = ctx;
	ssize_t got;

	s->given.sums = *sums;
	s->whole = whole;
	if (!s->first && sums->samples)
		s->first = hlg_top_view_now();
	while (!s->view.failed && !is_stuck(s)) {
		uint64_t ns = turn(s);

		if (hlg_top_view_now() - s->looked >
		    HASTE_NS) /* however much there is to read */
			wait_a_while(s, 0);
		got = read(s->perf.data, to, n);
		if (got > 0 &&
		    hlg_top_spool_write(&s->spool, to, (size_t)got, &s->view.err) < 0)
			s->view.failed = true;
		if (got >= 0)
			return got;
		if (errno != EAGAIN && errno != EINTR)
			return got;
		wait_a_while(s, ns);
	}
	stop(s);
	return 0;
}

/* From the beginning to the end */

static void catch_signals(void)
{
	const struct sigaction end = {.sa_handler = on_end};
	const struct sigaction resize = {.sa_handler = on_resize};
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	sigaddset(&blocked, SIGWINCH);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (!hlg_signals_ignored(SIGHUP))
		sigaction(SIGHUP, &end, NULL);
	sigaction(SIGWINCH, &resize, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static void let_signals(void)
{
	sigset_t none;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (!hlg_signals_ignored(SIGHUP))
		signal(SIGHUP, SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What libraries say on standard error meanwhile is said again by the report. */
static void begin_screen(struct session *s)
{
	int null;

	if (!s->view.screen)
		return;
	if (!hlg_top_screen_begin()) {
		s->view.screen = false;
		return;
	}
	s->real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0 && s->real_stderr >= 0)
		dup2(null, STDERR_FILENO);
	if (null >= 0)
		close(null);
}

static void end_screen(struct session *s)
{
	hlg_top_screen_end();
	if (s->real_stderr >= 0) {
		dup2(s->real_stderr, STDERR_FILENO);
		close(s->real_stderr);
	}
	s->real_stderr = -1;
	if (s->view.screen && s->perf.n_text) /* it was not seen in full */
		fwrite(s->perf.text, 1, s->perf.n_text, stderr);
	s->view.full &= !s->view.screen;
	s->view.screen = false;
	hlg_top_view_tell_full(&s->view);
}

static void choose_screen(struct session *s)
{
	const char *why;

	if (s->request->once || s->request->stdio || s->request->format)
		return;
	s->view.screen = hlg_top_screen_is_there(&why);
	if (!s->view.screen)
		fprintf(stderr,
			"hlguest: no screen: %s: tables are printed, as by --stdio\n",
			why);
}

/* The last table, of all that was read: of --once, and of JSON, which has no report. */
static int write_last(struct session *s)
{
	s->view.ended = true;
	refresh(s, hlg_top_view_now());
	if (!s->view.failed)
		hlg_top_view_print(&s->view);
	if (s->view.failed && s->view.err.msg[0])
		return hlg_output_error(&s->view.err);
	return hlg_output_end(s->view.judged ? hlg_run_status(&s->view.judged->run, 0)
					     : 1);
}

/* A guest that came later is left out if there is none with it. Where there is no guest
 * sample, or the system refused something, that is not for its sake. */
static int write_report(struct session *s)
{
	struct hlg_err err;
	char *left;
	int status;

	while ((status = hlg_top_judge_report((int)s->guests.n, s->guests.words,
					      HLG_TOP_VIEW_NAME, &s->given, &err)) < 0) {
		hlg_output_error(&err);
		if (status != HLG_EINPUT || s->given.sums.guest == 0)
			return 1;
		left = hlg_top_guests_leave(&s->guests);
		if (!left)
			return 1;
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, left);
		fputs(": is left out, and its samples are outside of all ELFs\n", stderr);
		free(left);
	}
	return status;
}

/* The report proposes options that are the verb report's, which needs the recording. */
static void tell_kept(const struct session *s)
{
	static const char whom[] =
		"hlguest annotate, flame, and report, whose options the report above "
		"may name";
	char *line;

	if ((s->request->out
		     ? asprintf(&line, "hlguest: %s: the recording, kept for %s",
				s->request->out, whom)
		     : asprintf(&line,
				"hlguest: the recording is not kept (hlguest top -o FILE "
				"keeps it, for %s)",
				whom)) < 0)
		return;
	hlg_output_fold(stderr, 0, 0, line);
	free(line);
}

static void tell_perf(const struct session *s, int status)
{
	char *const *command = s->request->record.command;

	if (s->given.sums.samples == 0 && status > 0 && status < 128 && command) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, command[0]);
		fprintf(stderr,
			": ended with status %d, and nothing was recorded (see what it "
			"said)\n",
			status);
	} else if (s->given.sums.samples == 0 && status) {
		fprintf(stderr,
			"hlguest: perf ended with status %d, and nothing was recorded "
			"(see what it said; hlguest doctor shows what this machine can "
			"record)\n",
			status);
	} else if (s->perf.killed) {
		fprintf(stderr,
			"hlguest: perf was ended by signal %d: what it had written by "
			"then is reported%s",
			status - 128, command ? " (and " : "\n");
		if (command) {
			hlg_escape_print(stderr, command[0]);
			fputs(" may still run)\n", stderr);
		}
	}
}

/* As record does; the recording is whole without. */
static void note_guests(const struct session *s)
{
	const char *paths[HLG_BESIDE_GUESTS];
	struct hlg_err err;

	if (s->request->out && s->given.sums.samples &&
	    hlg_beside_write(s->request->out, paths,
			     hlg_top_guests_paths(&s->guests, &s->options, paths),
			     (const char *const *)s->request->record.guests.others,
			     s->request->record.guests.n_others, &err) < 0)
		hlg_output_error(&err);
}

/* What comes behind the last sample. Returns the exit status. */
static int finish(struct session *s, int rc, const struct hlg_err *err)
{
	bool command = s->request->record.command != NULL, cut;
	int perf = hlg_top_follow_end(&s->perf), status;
	struct hlg_err why;
	size_t kept;

	end_screen(s);
	let_signals();
	if (s->view.failed && s->view.err.msg[0])
		hlg_output_error(&s->view.err);
	cut = hlg_top_callers_end(&s->callers, &why) < 0;
	if (cut) /* which ended perf, too */
		hlg_output_error(&why);
	else if (!s->stopping)
		tell_perf(s, perf);
	note_guests(s); /* a closed pipe may end it in the report */
	if (s->given.sums.samples == 0 && perf && !s->stopping)
		return cut ? 1 : perf;
	if (rc < 0 && s->given.sums.samples == 0 && !s->stopping)
		return hlg_output_error(err);
	if (rc < 0 && s->given.sums.samples)
		hlg_output_error(err);
	if (!s->guests.n_images) {
		fputs("hlguest: no guest was found: name its ELF (hlguest top guest.elf "
		      "-a)\n",
		      stderr);
		return 2;
	}
	kept = s->guests.n_images;
	if (s->request->once || s->request->format) {
		status = write_last(s);
	} else {
		status = write_report(s);
		if (s->given.sums.guest)
			tell_kept(s);
	}
	if (s->guests.n_images < kept) /* what was left out is one of the others */
		note_guests(s);
	if (s->view.failed || cut)
		return 1;
	if (ended_by && (command || ended_by != SIGINT))
		return 128 + ended_by;
	if (!s->stopping && perf)
		return perf;
	return status;
}

static void begin_callers(struct session *s)
{
	struct hlg_err err;
	int data = hlg_top_callers_begin(&s->callers, s->perf.data, &err);

	if (data < 0) {
		hlg_output_error(&err);
		return;
	}
	s->perf.data = data;
	hlg_top_follow_ping(&s->perf);
}

/* Counts what perf writes, and shows it meanwhile. Returns the exit status. */
static int follow(struct session *s, const char *event)
{
	const struct hlg_feed_live live = {read_on, s};
	const struct hlg_feed_how how = {.live = &live,
					 .threads = 1,
					 .stacks = (struct hlg_stacks *)s->given.stacks};
	struct hlg_recording_sums sums;
	struct hlg_err err;
	int rc;

	catch_signals();
	rc = hlg_top_follow_begin(&s->perf, &s->request->record, event, s->view.screen,
				  &err);
	if (rc < 0)
		return hlg_output_error(&err);
	if (s->given.stacks)
		begin_callers(s);
	begin_screen(s);
	s->began = hlg_top_view_now();
	s->next = s->began + s->request->every;
	if (!hlg_top_view_begin(&s->view, s->began))
		rc = hlg_err_memory(&err, "rows");
	hlg_top_view_draw(&s->view);
	if (rc == 0)
		rc = hlg_feed_read(HLG_TOP_VIEW_NAME, &how, &s->profile, NULL, &sums,
				   &err);
	if (rc == 0)
		s->given.sums = sums;
	return finish(s, rc, &err);
}

/* If it cannot be, samples have no callers, and a line says why. */
static int prepare_callers(struct session *s, struct hlg_err *err)
{
	struct hlg_record_request *r = &s->request->record;
	struct hlg_err why;

	if (!s->request->callers)
		return 0;
	if (hlg_top_callers_load(&s->callers, &why) < 0) {
		fprintf(stderr, "hlguest: no callers: %s\n", why.msg);
		return 0;
	}
	r->room = true;
	s->given.stacks = &s->stacks;
	return hlg_top_guests_option(&s->guests, HLG_SIDES_WHOLE, err);
}

static int prepare(struct session *s, struct hlg_err *err)
{
	bool apart = true; /* of guests that are not known yet it may have to be */
	int rc = prepare_callers(s, err);

	if (rc == 0 && s->request->force)
		rc = hlg_top_guests_option(&s->guests, "--force=yes", err);
	if (rc == 0)
		rc = hlg_top_guests_find(&s->guests, &s->request->images,
					 &s->request->record, err);
	if (rc == 0 && !s->guests.comes)
		rc = hlg_top_judge_apart((int)s->guests.n, s->guests.words, &apart, err);
	if (rc == 0)
		rc = hlg_options_parse(&s->options, (int)s->guests.n, s->guests.words,
				       err);
	if (rc == 0 && !hlg_profile_init(&s->profile, &s->options))
		rc = hlg_err_memory(err, "profile");
	if (rc == 0 && s->given.stacks && !hlg_stacks_init(&s->stacks, &s->options))
		rc = hlg_err_memory(err, "stacks");
	if (rc == 0 && apart)
		hlg_profile_keep_apart(&s->profile);
	if (rc == 0)
		choose_screen(s);
	if (rc == 0 && (s->request->out || s->view.screen))
		rc = hlg_top_spool_begin(&s->spool, s->request->out, err);
	s->given.profile = &s->profile;
	return rc;
}

/* What perf would find out later, as record does. Returns the exit status. */
static int refuse(const struct hlg_record_request *r, const char *event)
{
	struct hlg_err err;
	int status = r->command ? hlg_record_command_check(r->command[0], &err) : 0;

	if (status == 0 && hlg_record_session_check(r, event, &err) < 0)
		return hlg_output_error(&err);
	if (status != 0)
		hlg_output_error(&err);
	return status;
}

int hlg_top_session(struct hlg_top_request *request)
{
	struct hlg_record_request *r = &request->record;
	const char *event = hlg_record_session_event(r);
	char *counted = hlg_record_modifiers_add(event, r->host);
	struct session s = {.request = request,
			    .given.recorded = {r->everything, r->pid, r->command},
			    .spool.fd = -1,
			    .real_stderr = -1};
	struct hlg_err err;
	int status, rc;

	if (!r->frequency)
		r->frequency = HLG_RECORD_FREQUENCY;
	s.perf.said = s.perf.data = -1;
	s.view = (struct hlg_top_view){
		.request = request, .guests = &s.guests, .given = &s.given};
	if (!counted) {
		hlg_err_memory(&err, "top");
		return hlg_output_error(&err);
	}
	status = refuse(r, event);
	rc = status == 0 ? prepare(&s, &err) : 0;
	if (rc < 0) {
		status = hlg_output_error(&err);
	} else if (status == 0) {
		status = follow(&s, counted);
		hlg_top_follow_finish(&s.perf);
	}
	hlg_top_callers_finish(&s.callers);
	hlg_stacks_finish(&s.stacks);
	hlg_top_view_finish(&s.view);
	hlg_top_spool_finish(&s.spool);
	hlg_profile_finish(&s.profile);
	hlg_options_finish(&s.options);
	hlg_top_guests_finish(&s.guests);
	free(counted);
	return status;
}
