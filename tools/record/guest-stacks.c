// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/guest-stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symtab/code/frame.h"
#include "symtab/plural.h"
#include "tools/callers/program.h"
#include "tools/callers/rewrite.h"
#include "tools/callers/unwind.h"
#include "tools/cli/output.h"
#include "tools/record/gate.h"

/* Copies are many. */
#define TURN_MS        100
#define TURN_COPIES_MS 20

/* From now on the recording will be flat. */
static void give_up(struct hlg_guest_stacks *stacks)
{
	hlg_callers_program_close(stacks->program);
	stacks->program = NULL;
	stacks->failed = true;
}

/* One line, or nothing without memory. */
__attribute__((format(printf, 1, 2))) static void tell_line(const char *fmt, ...)
{
	va_list ap;
	char *line;
	int rc;

	va_start(ap, fmt);
	rc = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (rc < 0)
		return;
	hlg_output_fold(stderr, 0, 0, line);
	free(line);
}

static void tell_flat(const struct hlg_err *why)
{
	tell_line("hlguest: no guest stacks: %s", why->msg);
}

static bool on_stack(void *ctx, const struct hlg_callers_stack *stack)
{
	struct hlg_guest_stacks *stacks = ctx;

	return hlg_join_add(&stacks->join, stack);
}

static bool on_copy(void *ctx, const struct hlg_callers_copy *copy)
{
	struct hlg_guest_stacks *stacks = ctx;

	if (!hlg_record_copies_add(&stacks->copies, copy) && !stacks->failed) {
		stacks->why = stacks->copies.why;
		stacks->failed = true;
	}
	return true;
}

/* An ELF that has no frame pointers to follow: are there tables? */
static int look_for_tables(const struct hlg_image *image,
			   const struct hlg_frame_count *frames, bool asked,
			   struct hlg_err *err)
{
	struct hlg_callers_unwind *tables;
	struct hlg_callers_unwind_count count = {0};
	int rc = hlg_callers_unwind_open(&tables, image, err);

	if (rc == 0)
		hlg_callers_unwind_count(tables, &count);
	hlg_callers_unwind_close(tables);
	/* Who asks for them gets what there is. */
	if (asked && rc == 0 && count.covered == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: no function has unwind tables "
				   "(" HLG_CALLERS_UNWIND_ADVICE ")",
				   image->path);
	if (asked || hlg_callers_unwind_is_covered(&count))
		return rc;
	return hlg_err_set(err, HLG_EINPUT,
			   "of the guest's %zu function%s others, %zu keep%s a frame "
			   "pointer, and most functions have no unwind tables "
			   "(" HLG_FRAME_ADVICE "; or with unwind tables)",
			   frames->calling,
			   hlg_plural_word(frames->calling, " that calls", "s that call"),
			   frames->framed, hlg_plural_word(frames->framed, "s", ""));
}

/* AUTO becomes FP or CFI. Fails where the guest can have neither. What is unknown, or not
 * to be opened, has frame pointers. */
static int choose(struct hlg_guest_stacks *stacks, const struct hlg_guest_stacks_how *how,
		  struct hlg_err *err)
{
	bool asked = how->way == HLG_GUEST_STACKS_CFI;
	struct hlg_frame_count count = {0};
	struct hlg_image *image;
	int rc = 0;

	stacks->way = asked ? HLG_GUEST_STACKS_CFI : HLG_GUEST_STACKS_FP;
	if (how->way == HLG_GUEST_STACKS_FP || !how->guest ||
	    hlg_image_open_guest(&image, how->guest, 0, err) < 0)
		return 0;
	if (!asked && hlg_frame_count(image, &count, err) < 0)
		count = (struct hlg_frame_count){0};
	if (!image->next_guest && (asked || !hlg_frame_is_kept(&count))) {
		stacks->way = HLG_GUEST_STACKS_CFI;
		stacks->chosen = !asked;
		rc = look_for_tables(image, &count, asked, err);
	}
	hlg_image_destroy(image);
	return rc;
}

static int open_program(struct hlg_guest_stacks *stacks,
			const struct hlg_guest_stacks_how *how, struct hlg_err *err)
{
	int rc;

	if (stacks->way == HLG_GUEST_STACKS_FP)
		return hlg_callers_program_open(&stacks->program, on_stack, stacks, err);
	rc = hlg_record_copies_begin(&stacks->copies, how->recording, err);
	if (rc < 0)
		return rc;
	return hlg_callers_program_open_copies(&stacks->program, how->bytes, on_copy,
					       stacks, err);
}

/* Everything but what the guest has to have. */
static int begin(struct hlg_guest_stacks *stacks, const struct hlg_guest_stacks_how *how)
{
	int rc = open_program(stacks, how, &stacks->why);

	if (rc < 0)
		return rc;
	stacks->join.way = stacks->way == HLG_GUEST_STACKS_CFI ? HLG_CHAIN_WAY_CFI
							       : HLG_CHAIN_WAY_FRAMES;
	stacks->from[0] = stacks->from[1] = stacks->to[0] = stacks->to[1] = -1;
	if (pipe2(stacks->from, O_CLOEXEC) == 0 && pipe2(stacks->to, O_CLOEXEC) == 0)
		return 0;
	return hlg_err_set(&stacks->why, HLG_ESYSTEM, "no pipe: %s (raise ulimit -n)",
			   strerrordesc_np(errno));
}

int hlg_guest_stacks_begin(struct hlg_guest_stacks *stacks,
			   const struct hlg_guest_stacks_how *how, struct hlg_err *err)
{
	int rc;

	memset(stacks, 0, sizeof(*stacks));
	stacks->gate = how->command;
	rc = choose(stacks, how, &stacks->why);
	if (rc < 0 && how->way == HLG_GUEST_STACKS_CFI)
		return hlg_err_set(err, rc, "--guest-stacks=cfi: %s", stacks->why.msg);
	if (rc == 0)
		rc = begin(stacks, how);
	if (rc == 0)
		return 0;
	give_up(stacks);
	return 0;
}

void hlg_guest_stacks_warn(struct hlg_guest_stacks *stacks, bool quiet)
{
	if (stacks->failed && !quiet)
		tell_flat(&stacks->why);
	stacks->told = stacks->failed;
}

void hlg_guest_stacks_room(bool callchains, const char **words, size_t *n)
{
	words[(*n)++] = "-k";
	words[(*n)++] = "mono";
	words[(*n)++] = "-T";
	if (!callchains) { /* room for the guest's, and none of the host's */
		words[(*n)++] = "--call-graph=fp";
		words[(*n)++] = "--kernel-callchains";
		words[(*n)++] = "--user-callchains";
	}
}

void hlg_guest_stacks_options(struct hlg_guest_stacks *stacks, bool callchains,
			      const char **words, size_t *n)
{
	if (!stacks->program)
		return;
	hlg_guest_stacks_room(callchains, words, n);
	if (!stacks->gate) {
		snprintf(stacks->control, sizeof(stacks->control), "--control=fd:%d,%d",
			 stacks->to[0], stacks->from[1]);
		words[(*n)++] = stacks->control;
	}
}

void hlg_guest_stacks_command(struct hlg_guest_stacks *stacks, const char **words,
			      size_t *n)
{
	if (!stacks->program || !stacks->gate)
		return;
	if (hlg_gate_words(stacks->from[1], stacks->to[0], words + *n)) {
		*n += 2;
		return;
	}
	hlg_err_set(&stacks->why, HLG_ESYSTEM,
		    "/proc/self/exe: cannot be read (mount "
		    "/proc)");
	give_up(stacks);
}

static void close_pipes(struct hlg_guest_stacks *stacks)
{
	for (size_t i = 0; i < 2; i++) {
		if (stacks->from[i] > 0)
			close(stacks->from[i]);
		if (stacks->to[i] > 0)
			close(stacks->to[i]);
		stacks->from[i] = stacks->to[i] = -1;
	}
}

/* Nobody has gone who would read it: we have both ends of our pipes. */
static void send_word(const struct hlg_guest_stacks *stacks, const char *word, size_t n)
{
	while (write(stacks->to[1], word, n) < 0 && errno == EINTR)
		;
}

static void open_gate(const struct hlg_guest_stacks *stacks)
{
	if (stacks->gate)
		send_word(stacks, "", 1);
}

/* The command is at the gate, or perf has answered: its events are there. */
static void attach(struct hlg_guest_stacks *stacks, pid_t perf)
{
	char answer[16];

	if (read(stacks->from[0], answer, sizeof(answer)) <= 0)
		return;
	if (hlg_callers_program_attach(stacks->program, perf, &stacks->why) < 0)
		stacks->failed = true;
	stacks->attached = true;
	open_gate(stacks);
}

/* One turn; false when perf has ended. */
static bool follow_on(struct hlg_guest_stacks *stacks, pid_t perf, int pidfd)
{
	struct pollfd fds[2] = {
		{.fd = pidfd, .events = POLLIN},
		{.fd = stacks->attached ? -1 : stacks->from[0], .events = POLLIN}};
	int turn = stacks->way == HLG_GUEST_STACKS_CFI ? TURN_COPIES_MS : TURN_MS;
	struct hlg_err err;

	if (poll(fds, 2, turn) < 0)
		return errno == EINTR;
	if (fds[1].revents & POLLIN)
		attach(stacks, perf);
	if (stacks->attached && !stacks->failed &&
	    hlg_callers_program_empty(stacks->program, &err) < 0) {
		stacks->why = err;
		stacks->failed = true;
	}
	return !(fds[0].revents & POLLIN);
}

void hlg_guest_stacks_follow(struct hlg_guest_stacks *stacks, pid_t perf)
{
	static const char ping[] = "ping\n";
	int pidfd;

	if (!stacks->program)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, perf, 0);
	if (pidfd < 0) { /* as before Linux 5.3, which loads no such program */
		hlg_err_set(&stacks->why, HLG_ESYSTEM, "perf cannot be followed: %s",
			    strerrordesc_np(errno));
		stacks->failed = true;
		open_gate(stacks);
		return;
	}
	if (!stacks->gate)
		send_word(stacks, ping, strlen(ping));
	while (follow_on(stacks, perf, pidfd))
		;
	close(pidfd);
	close_pipes(stacks);
}

/* Why most of those that are not whole ended early. */
static const char *most_ends(const struct hlg_rewrite_counts *counts)
{
	static const char *const words[HLG_WALK_ENDS] = {
		[HLG_WALK_DEEP] = "more than 127 frames",
		[HLG_WALK_MODE] = "the guest is not in 64-bit mode",
		[HLG_WALK_ALIGNMENT] = "rbp was no frame pointer",
		[HLG_WALK_ORDER] = "rbp was no frame pointer",
		[HLG_WALK_ADDRESS] = "rbp was no frame pointer",
		[HLG_WALK_UNMAPPED] = "rbp was no frame pointer",
		[HLG_WALK_HOLE] = "the guest's page tables lead nowhere",
		[HLG_WALK_FAULT] = "the VMM's memory could not be read",
		[HLG_WALK_NO_RSP] = "KVM does not know the stack pointer",
		[HLG_WALK_NO_CFI] = "no unwind table has the address",
		[HLG_WALK_CUT] = "what was copied of the stack ends (--stack-size=128K)",
	};
	unsigned most = HLG_WALK_DEEP;

	for (unsigned i = HLG_WALK_DEEP; i < HLG_WALK_ENDS; i++)
		if (counts->ends[i] > counts->ends[most])
			most = i;
	return words[most];
}

static void tell_counts(const struct hlg_guest_stacks *stacks,
			const struct hlg_rewrite_counts *counts, uint64_t full)
{
	uint64_t early = counts->guest - counts->alone - counts->ends[HLG_WALK_WHOLE];

	if (!counts->guest)
		return;
	if (stacks->chosen)
		fputs("hlguest: guest stacks by unwind tables, as the guest keeps no "
		      "frame pointers\n",
		      stderr);
	fprintf(stderr,
		"hlguest: %" PRIu64 " of %" PRIu64 " guest sample%s %s callers, %" PRIu64
		" up to the outermost\n",
		counts->with_callers, counts->guest, hlg_plural_s(counts->guest),
		hlg_plural_word(counts->with_callers, "has", "have"),
		counts->ends[HLG_WALK_WHOLE]);
	if (early)
		fprintf(stderr, "hlguest: %" PRIu64 " end%s early, mostly as %s\n", early,
			hlg_plural_word(early, "s", ""), most_ends(counts));
	if (full)
		fprintf(stderr,
			"hlguest: callers of %" PRIu64 " sample%s were lost for want of "
			"room (sample less often: -F)\n",
			full, hlg_plural_s(full));
}

static int unwind(struct hlg_guest_stacks *stacks, const char *path, const char *guest,
		  struct hlg_err *err)
{
	if (stacks->way != HLG_GUEST_STACKS_CFI ||
	    (stacks->copies.f && stacks->copies.n == 0))
		return 0;
	if (!guest)
		return hlg_err_set(err, HLG_EINPUT,
				   "the VMM's command names no guest's ELF, or several, "
				   "and unwind tables are one's (name one, or use "
				   "--guest-stacks=fp)");
	return hlg_record_copies_unwind(&stacks->copies, path, guest, &stacks->join, err);
}

bool hlg_guest_stacks_end(struct hlg_guest_stacks *stacks, const char *path,
			  const char *guest, bool quiet)
{
	struct hlg_rewrite_counts counts;
	struct hlg_err err;
	uint64_t full;

	if (stacks->failed && !stacks->told)
		tell_flat(&stacks->why);
	if (stacks->failed || !stacks->program)
		return false;
	full = hlg_callers_program_full(stacks->program);
	if (unwind(stacks, path, guest, &err) < 0 ||
	    hlg_rewrite_file(path, &stacks->join, &counts, &err) < 0) {
		tell_flat(&err);
		stacks->failed = true;
		return false;
	}
	if (!quiet)
		tell_counts(stacks, &counts, full);
	return counts.with_callers != 0;
}

static bool keeps_frames(const struct hlg_image *image, struct hlg_frame_count *count)
{
	struct hlg_err err;

	return hlg_frame_count(image, count, &err) < 0 || hlg_frame_is_kept(count);
}

static bool has_tables(const struct hlg_image *image)
{
	struct hlg_callers_unwind_count count = {0};
	struct hlg_callers_unwind *tables;
	struct hlg_err err;

	if (hlg_callers_unwind_open(&tables, image, &err) < 0)
		return false;
	hlg_callers_unwind_count(tables, &count);
	hlg_callers_unwind_close(tables);
	return hlg_callers_unwind_is_covered(&count);
}

static bool check_frames(const struct hlg_image *image)
{
	struct hlg_frame_count count;

	if (keeps_frames(image, &count))
		return true;
	tell_line("hlguest: callers are missing or wrong: of the guest's %zu "
		  "function%s others, %zu keep%s a frame pointer (%s" HLG_FRAME_ADVICE
		  ")",
		  count.calling,
		  hlg_plural_word(count.calling, " that calls", "s that call"),
		  count.framed, hlg_plural_word(count.framed, "s", ""),
		  has_tables(image) ? "use --guest-stacks=cfi, or " : "");
	return false;
}

static void check_tables(const struct hlg_image *image)
{
	struct hlg_frame_count frames;
	struct hlg_callers_unwind_count count;
	struct hlg_callers_unwind *tables;
	struct hlg_err err;

	if (hlg_callers_unwind_open(&tables, image, &err) < 0)
		return; /* is told already */
	hlg_callers_unwind_count(tables, &count);
	hlg_callers_unwind_close(tables);
	if (!hlg_callers_unwind_is_covered(&count))
		tell_line("hlguest: callers are missing: of the guest's %zu function%s, "
			  "%zu %s unwind tables (%s" HLG_CALLERS_UNWIND_ADVICE ")",
			  count.functions, hlg_plural_s(count.functions), count.covered,
			  hlg_plural_word(count.covered, "has", "have"),
			  keeps_frames(image, &frames) ? "use --guest-stacks=fp, or "
						       : "");
}

bool hlg_guest_stacks_check(const struct hlg_guest_stacks *stacks, const char *guest)
{
	struct hlg_image *image;
	struct hlg_err err;
	bool shown = true;

	if (!stacks->program || stacks->failed ||
	    hlg_image_open_guest(&image, guest, 0, &err) < 0)
		return true;
	if (stacks->way == HLG_GUEST_STACKS_FP)
		shown = check_frames(image);
	else
		check_tables(image);
	hlg_image_destroy(image);
	return shown;
}

void hlg_guest_stacks_hint(const char *guest)
{
	struct hlg_frame_count frames = {0};
	struct hlg_image *image;
	struct hlg_err err;

	if (!hlg_callers_program_is_built() ||
	    hlg_image_open_guest(&image, guest, 0, &err) < 0)
		return;
	if (keeps_frames(image, &frames))
		tell_line("hlguest: with callers: hlguest record --guest-stacks=fp ...");
	else if (has_tables(image))
		tell_line("hlguest: with callers: hlguest record --guest-stacks=cfi ...");
	hlg_image_destroy(image);
}

void hlg_guest_stacks_finish(struct hlg_guest_stacks *stacks)
{
	hlg_callers_program_close(stacks->program);
	hlg_record_copies_finish(&stacks->copies);
	hlg_join_finish(&stacks->join);
	close_pipes(stacks);
	memset(stacks, 0, sizeof(*stacks));
}
