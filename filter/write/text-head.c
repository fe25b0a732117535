// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-head.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "filter/report/banner.h"
#include "filter/view/calls.h"
#include "filter/write/report-table.h"
#include "filter/write/text-callers.h"
#include "filter/write/text-line.h"
#include "filter/write/text-scale.h"
#include "symtab/code/insn.h"
#include "symtab/image/base.h"

enum {
	MOST_SANDBOXES = 4 /* lines of them */
};

static const char *machine_name(const struct hlg_image *image)
{
	if (image->map)
		return "perf map";
	return image->elf.machine == EM_AARCH64 ? "AArch64" : "x86-64";
}

static void write_guest(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image, const char *label)
{
	struct hlg_text_line p = {0};
	char from[96], base[32];

	hlg_text_line_add_escaped(&p, 0, NULL, hlg_image_short_name(image));
	if (image->inside_size && !image->file) /* else its name says so */
		hlg_text_line_add(&p, 1, "the guest inside it");
	if (image->noted)
		hlg_text_line_add(&p, 0, "noted by record");
	hlg_text_line_add(&p, 2, "%s", machine_name(image));
	hlg_text_line_add(&p, 3, "%zu symbol%s%s", image->tab.n_syms,
			  image->tab.n_syms == 1 ? "" : "s",
			  image->elf.dynsym && !image->map ? " of .dynsym" : "");
	if (image->elf.build_id[0])
		hlg_text_line_add(&p, 4, "build %.8s", image->elf.build_id);
	if (image->from == HLG_BASE_NOTE)
		snprintf(from, sizeof(from), "Hyperlight note %s%s",
			 image->elf.hyperlight,
			 image->n_also_found ? HLG_BASE_OTHERS : "");
	else
		hlg_base_describe(image, from, sizeof(from));
	hlg_base_where(image, base, sizeof(base));
	hlg_text_line_add_escaped(&p, 0, base, from);
	hlg_text_line_write(f, &r->screen, label, &p);
}

static uint32_t count_selected(const struct hlg_profile *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_events; i++)
		n += p->events[i].selected;
	return n;
}

/* How much of a timer's name is not about whose samples it takes, host's or guest's: of
 * "cpu-clock:HG" the first nine. */
static int plain_name(const char *name)
{
	size_t n = strcspn(name, ":");

	return name[n] && name[n + 1 + strspn(name + n + 1, "GH")] ? INT_MAX : (int)n;
}

static void add_event_name(struct hlg_text_line *line, const struct hlg_report *r,
			   const struct hlg_event *event)
{
	bool is_only = hlg_text_scale_event(r, &r->all) != UINT32_MAX;
	bool is_timer = event->kind == HLG_EVENT_TIMER;
	char name[HLG_TEXT_PIECE];

	snprintf(name, sizeof(name), "%.*s",
		 is_only && is_timer ? plain_name(event->name) : INT_MAX, event->name);
	hlg_text_line_add_escaped(line, 0, NULL, name);
}

static void add_event(struct hlg_text_line *line, const struct hlg_report *r,
		      const struct hlg_event_sum *sum)
{
	const struct hlg_event *event = &r->profile->events[sum->event];
	const uint64_t time = hlg_text_scale_ns(r), counted = sum->count.period;
	/* In the unit of the span, unless that would leave nothing. */
	struct hlg_text_scale scale = hlg_text_scale_for(
		r, sum->event,
		event->kind == HLG_EVENT_TIMER && time > counted && time / 100 < counted
			? time
			: counted);
	const double host =
		hlg_interval_part_share(event->host.samples, sum->count.samples);
	char period[32];

	add_event_name(line, r, event);
	hlg_text_line_add(line, 0, "%" PRIu64 " guest sample%s", sum->count.samples,
			  sum->count.samples == 1 ? "" : "s");
	if (sum->count.samples) {
		hlg_text_line_add(
			line, 1, "(%s%s)",
			hlg_text_scale_period(period, &scale, sum->count.period),
			scale.time ? "" : " counted");
		line->behind[line->n - 1] = true;
	}
	/* These are in no row; of several events nobody knows whose they are. */
	if (r->all.border.samples && sum->count.samples == r->all.guest.samples)
		hlg_text_line_add(line, 3, "%" PRIu64 " at VM exits",
				  r->all.border.samples);
	/* By no tracepoint, which marks entries and exits. Most of it is worth knowing.
	 */
	if (event->host.samples && event->kind != HLG_EVENT_TRACEPOINT)
		hlg_text_line_add(line, host > 0.5 ? 0 : 4, "host %ld %% of samples",
				  lround(100 * host));
}

/* One event stands on the line of what is of all; of several each has one below it. */
static void write_recorded(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_event_sum *only = NULL;
	struct hlg_text_line line = {0};
	char span[32];
	uint32_t n = 0, selected = count_selected(p);

	for (uint32_t i = 0; i < r->n_events; i++) {
		n += r->events[i].count.samples > 0;
		if (r->events[i].count.samples ||
		    (selected == 1 && p->events[r->events[i].event].selected))
			only = &r->events[i];
	}
	if (selected == 0)
		return;
	if (r->recording && r->recording[0])
		fprintf(f, "file      %s\n", r->recording);
	if (hlg_text_scale_span(span, r))
		hlg_text_line_add(&line, 2, "%s", span);
	if (n > 1)
		hlg_text_line_add(&line, 0, "%" PRIu32 " events", n);
	else if (only)
		add_event(&line, r, only);
	else
		hlg_text_line_add(&line, 0, "no guest sample of %" PRIu32 " events",
				  selected);
	if (p->origins.unread)
		hlg_text_line_add(&line, 0, "%" PRIu64 " of %" PRIu64 " recordings",
				  r->recordings, r->recordings + p->origins.unread);
	else if (r->recordings > 1)
		hlg_text_line_add(&line, 0, "%" PRIu64 " recordings", r->recordings);
	hlg_text_line_write(f, &r->screen, "recorded", &line);
	for (uint32_t i = 0; n > 1 && i < r->n_events; i++) {
		line.n = 0;
		add_event(&line, r, &r->events[i]);
		if (r->events[i].count.samples)
			hlg_text_line_write(f, &r->screen, "", &line);
	}
}

/* The file of an image; where others of another build are called so, with what tells it
 * from these: its build id, or else its folders. */
static void add_file(struct hlg_text_line *line, const struct hlg_report *r,
		     const struct hlg_image *image)
{
	bool alike = false;

	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *other = r->space->images[i];

		alike |= strcmp(other->path, image->path) != 0 &&
			 hlg_image_are_of_one_name(other, image);
	}
	if (alike && !image->elf.build_id[0]) {
		hlg_text_line_add_escaped(line, 0, NULL, image->path);
		return;
	}
	hlg_text_line_add_escaped(line, 0, NULL, hlg_image_file_name(image));
	if (alike)
		hlg_text_line_add(line, 0, "build %.8s", image->elf.build_id);
}

/* What a sandbox runs, and where it lies, of several bases: as its samples tell, or else
 * its lane, if one image is there. */
static void add_image(struct hlg_text_line *line, const struct hlg_report *r,
		      uint32_t number, unsigned lane)
{
	const struct hlg_image *image;
	uint64_t base;
	size_t n = hlg_report_table_runs(r, number, lane, &image, &base);

	if (n == 0)
		hlg_text_line_add(line, 0,
				  lane == HLG_LANE_SEVERAL ? "several ELFs"
							   : "unknown ELF");
	if (n != 1)
		return;
	add_file(line, r, image);
	if (base != HLG_SPACE_NOWHERE)
		hlg_text_line_add(line, 1, "base 0x%" PRIx64, base);
}

void hlg_text_head_calls(char buf[static 64], const struct hlg_calls *calls)
{
	snprintf(buf, 64, "%" PRIu64 " guest + %" PRIu64 " host calls", calls->guest,
		 calls->host);
}

/* Of several processes? Each is told then. */
static bool are_of_several(const struct hlg_sandboxes *all)
{
	int32_t pid = -1; /* not known */

	for (uint32_t i = 0; i < all->n; i++) {
		if (pid >= 0 && all->at[i].pid >= 0 && all->at[i].pid != pid)
			return true;
		pid = all->at[i].pid >= 0 ? all->at[i].pid : pid;
	}
	return false;
}

/* "sandbox 2 (fd 14)", of several vCPUs "(2 vCPUs)", and of several processes which
 * one's. */
static void add_sandbox(struct hlg_text_line *line, const struct hlg_report *r,
			uint32_t number, struct hlg_count count, bool with_fd)
{
	const struct hlg_sandboxes *all = &r->profile->sandboxes;
	const struct hlg_sandbox *of = number ? &all->at[number - 1] : NULL;
	uint32_t event = hlg_text_scale_event(r, &r->all);
	struct hlg_text_scale scale = hlg_text_scale_for(r, event, r->all.guest.period);
	char fd[32] = "", period[32], text[64];
	struct hlg_calls calls;

	line->n = 0;
	if (of && of->vcpus > 1)
		snprintf(fd, sizeof(fd), " (%" PRIu32 " vCPUs)", of->vcpus);
	else if (of && of->fd >= 0 && with_fd)
		snprintf(fd, sizeof(fd), " (fd %" PRId32 ")", of->fd);
	if (of)
		hlg_text_line_add(line, 0, "sandbox %" PRIu32 "%s", number, fd);
	else
		hlg_text_line_add(line, 0, "of no known sandbox");
	if (of)
		add_image(line, r, number, of->lane);
	if (of && of->pid >= 0 && are_of_several(all))
		hlg_text_line_add(line, 1, "pid %" PRId32, of->pid);
	hlg_text_line_add(line, 0, "%" PRIu64 " sample%s", count.samples,
			  count.samples == 1 ? "" : "s");
	if (event != UINT32_MAX && scale.time)
		hlg_text_line_add(line, 1, "%s",
				  hlg_text_scale_period(period, &scale, count.period));
	if (of && hlg_calls_of_sandbox(&calls, r->space, r->profile, number)) {
		hlg_text_head_calls(text, &calls);
		hlg_text_line_add(line, 0, "%s", text);
	}
}

/* Its descriptor goes first where all has no room. */
static void write_sandbox(FILE *f, const struct hlg_report *r, const char *label,
			  uint32_t number, struct hlg_count count)
{
	struct hlg_text_line line;

	add_sandbox(&line, r, number, count, true);
	if (!hlg_text_line_fits(&line, &r->screen))
		add_sandbox(&line, r, number, count, false);
	hlg_text_line_write(f, &r->screen, label, &line);
}

/* Is the sandbox of number a in front of that of b, by samples? */
static bool is_larger(const struct hlg_sandboxes *all, uint32_t a, uint32_t b)
{
	uint64_t x = all->at[a - 1].count.samples, y = all->at[b - 1].count.samples;

	return x != y ? x > y : a < b;
}

/* The number of the sandbox that follows last, by samples; 0: in front of all, none. */
static uint32_t next_largest(const struct hlg_sandboxes *all, uint32_t last)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i <= all->n; i++)
		if (all->at[i - 1].count.samples && (!last || is_larger(all, last, i)) &&
		    i != last && (!found || is_larger(all, i, found)))
			found = i;
	return found;
}

/* A line for each of a few by its number; of more those with most samples. */
static void write_sandboxes(FILE *f, const struct hlg_report *r)
{
	const struct hlg_sandboxes *all = &r->profile->sandboxes;
	struct hlg_count rest = r->all.guest; /* of none: other recordings' too */
	uint32_t n = 0, number = 0, shown;
	const char *label = "sandboxes";

	/* One alone is the whole. */
	if (all->n < 2)
		return;
	for (uint32_t i = 0; i < all->n; i++) {
		n += all->at[i].count.samples > 0;
		rest.samples -= all->at[i].count.samples;
		rest.period -= all->at[i].count.period;
	}
	shown = n > MOST_SANDBOXES && !r->options->wide ? MOST_SANDBOXES - 1 : n;
	for (uint32_t i = 0; i < all->n && shown == n; i++)
		if (all->at[i].count.samples) {
			write_sandbox(f, r, label, i + 1, all->at[i].count);
			label = "";
		}
	for (uint32_t i = 0; i < shown && shown < n; i++, label = "") {
		number = next_largest(all, number);
		write_sandbox(f, r, label, number, all->at[number - 1].count);
	}
	if (shown < n)
		fprintf(f,
			HLG_TEXT_INDENT "and %" PRIu32
					" more (--wide lists them, --by=sandbox "
					"reports each)\n",
			n - shown);
	if (n && rest.samples)
		write_sandbox(f, r, "", 0, rest);
}

static const char *why_untested(const struct hlg_report *r)
{
	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *image = r->space->images[i];

		if (!image->map && !hlg_insn_available(image->elf.machine))
			return HLG_HAVE_ZYDIS
				       ? hlg_insn_problem()
				       : "this build cannot decode instructions (install "
					 "libzydis-dev and build again)";
	}
	return r->space->n_images ? "there is no code to check the samples with"
				  : "no guest ELF is given";
}

void hlg_text_head_check(FILE *f, const struct hlg_report *r,
			 const struct hlg_screen *screen)
{
	const struct hlg_tested *t = &r->trust.all;
	char room[80];
	const char *said = hlg_banner_said(room, r);
	uint64_t n = t->samples.on + t->samples.off;
	char text[HLG_TEXT_PIECE];
	const bool other = hlg_banner_other(r);
	const char *noun = hlg_banner_noun(r, false);
	bool few = t->verdict != HLG_TRUST_MISMATCH; /* the banner says of what */
	char percent[16], outside[80];

	if (other) {
		snprintf(text, HLG_TEXT_PIECE, "%s", said);
	} else if (t->verdict == HLG_TRUST_UNTESTED) {
		snprintf(text, HLG_TEXT_PIECE, "%s: %s", said, why_untested(r));
	} else if (t->verdict == HLG_TRUST_TOO_FEW) {
		char few_of[80];

		snprintf(text, HLG_TEXT_PIECE, "%s", hlg_banner_few(few_of, r));
	} else if (n == 0) {
		snprintf(text, HLG_TEXT_PIECE, "%s: no %s lies in a function", said,
			 hlg_banner_noun(r, true));
	} else if (t->samples.off == 0) {
		snprintf(text, HLG_TEXT_PIECE,
			 "%s: all %" PRIu64 " %s%s lie on instruction starts", said, n,
			 n < r->all.guest.samples ? "tested " : "", noun);
	} else {
		snprintf(text, HLG_TEXT_PIECE,
			 "%s: %s %% %s%s%slie on instruction starts", said,
			 hlg_interval_part(percent, t->samples.on, t->samples.off),
			 few ? "of " : "", few ? noun : "", few ? " " : "");
	}
	if (!other && n && t->bytes > 0 && t->verdict >= HLG_TRUST_VERIFIED)
		snprintf(text + strlen(text), HLG_TEXT_PIECE - strlen(text),
			 " (%ld %% by chance)", lround(100 * t->chance));
	snprintf(text + strlen(text), HLG_TEXT_PIECE - strlen(text), "%s",
		 hlg_banner_outside(outside, r));
	hlg_text_line_wrap(f, screen, "check     ", text);
}

void hlg_text_head_selected(FILE *f, const char *selection,
			    const struct hlg_screen *screen)
{
	if (selection)
		hlg_text_line_wrap(f, screen, "selected  ", selection);
}

void hlg_text_head_write(FILE *f, const struct hlg_report *r)
{
	char callers[HLG_TEXT_CALLERS];

	if (r->banner)
		hlg_text_line_wrap(f, &r->screen, "!! ", r->banner);
	for (size_t i = 0; i < r->space->n_images; i++)
		write_guest(f, r, r->space->images[i], i ? "" : "guest");
	write_recorded(f, r);
	hlg_text_head_selected(f, r->options->selection, &r->screen);
	if (r->space->n_images)
		hlg_text_head_check(f, r, &r->screen);
	if (hlg_text_callers_check(callers, r))
		hlg_text_line_wrap(f, &r->screen, "callers   ", callers);
	hlg_text_line_notes(f, &r->screen, &r->notes, HLG_NOTE_WARNING);
	hlg_text_line_notes(f, &r->screen, &r->remarks, HLG_NOTE_WARNING);
	write_sandboxes(f, r); /* of which there may be hundreds */
	fputc('\n', f);
}
