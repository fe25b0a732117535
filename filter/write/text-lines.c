// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-lines.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/report/rows.h"
#include "filter/view/calls.h"
#include "filter/write/report-table.h"
#include "filter/write/text-callers.h"
#include "symtab/code/insn.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"

#define INDENT "          " /* as wide as the words in front of lines */

/* Periods */

uint32_t hlg_text_lines_event(const struct hlg_report *r, const struct hlg_view *v)
{
	uint32_t event = UINT32_MAX;

	if (v != &r->all) {
		const char *group = (const char *)v - offsetof(struct hlg_group, view);

		return r->profile->series[((const struct hlg_group *)group)->series]
			.event;
	}
	for (uint32_t i = 0; i < r->n_events; i++) {
		if (r->events[i].count.samples == 0)
			continue;
		if (event != UINT32_MAX)
			return UINT32_MAX;
		event = r->events[i].event;
	}
	return event;
}

struct hlg_text_lines_scale hlg_text_lines_scale_for(const struct hlg_report *r,
						     uint32_t event, uint64_t largest)
{
	static const struct hlg_text_lines_scale scales[2][4] = {{{false, 1e9, " G"},
								  {false, 1e6, " M"},
								  {false, 1e3, " k"},
								  {false, 0, ""}},
								 {{true, 1e9, " s"},
								  {true, 1e6, " ms"},
								  {true, 1e3, " us"},
								  {true, 0, ""}}};
	bool time =
		event != UINT32_MAX && r->profile->events[event].kind == HLG_EVENT_TIMER;
	int i = 0;

	if (r->options->raw)
		return (struct hlg_text_lines_scale){0};
	/* A tenth of a unit at least: three digits in front of the point are the most. */
	while (i < 3 && (double)largest < scales[time][i].unit / 10)
		i++;
	return scales[time][i];
}

const char *hlg_text_lines_period(char buf[static 32],
				  const struct hlg_text_lines_scale *scale,
				  uint64_t period)
{
	unsigned long long parts;

	if (scale->unit == 0) {
		snprintf(buf, 32, "%" PRIu64 "%s", period, scale->time ? " ns" : "");
		return buf;
	}
	/* printf would ask the locale for a point. */
	parts = (unsigned long long)llround((double)period / scale->unit * 1000);
	snprintf(buf, 32, "%llu.%03llu%s", parts / 1000, parts % 1000, scale->name);
	return buf;
}

/* Lines that fit */

enum {
	PIECES = 8,
	PIECE = 256,
	MOST_SANDBOXES = 4 /* lines of them on a screen */
};

/* A line of pieces with commas in between; those of the highest rank are left out until
 * it fits. */
struct pieces {
	char text[PIECES][PIECE]; /* escaped */
	int rank[PIECES];         /* 0: stays */
	bool behind[PIECES];      /* of the one before, without a comma */
	int n;
};

__attribute__((format(printf, 3, 4))) static void add_piece(struct pieces *p, int rank,
							    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->text[p->n], PIECE, fmt, ap);
	va_end(ap);
	p->behind[p->n] = false;
	p->rank[p->n++] = rank;
}

/* "before (text)", or text alone; it says so where it is cut. */
static void add_escaped(struct pieces *p, int rank, const char *before, const char *text)
{
	char *to = p->text[p->n];
	size_t n = before ? (size_t)snprintf(to, PIECE, "%s (", before) : 0;

	hlg_escape_cut(to + n, PIECE - n - 1, text);
	if (before)
		strcat(to, ")");
	p->behind[p->n] = false;
	p->rank[p->n++] = rank;
}

static size_t length(const struct pieces *p, int below)
{
	size_t n = strlen(INDENT) - strlen(", ");

	for (int i = 0; i < p->n; i++)
		if (p->rank[i] < below)
			n += (size_t)hlg_table_cells(p->text[i]) +
			     strlen(p->behind[i] ? " " : ", ");
	return n;
}

static void write_pieces(FILE *f, const struct hlg_report *r, const char *label,
			 const struct pieces *p)
{
	const char *comma = "";
	int below = PIECES;

	while (below > 1 && r->screen.columns && length(p, below) > r->screen.columns)
		below--;
	fprintf(f, "%-*s", (int)strlen(INDENT), label);
	for (int i = 0; i < p->n; i++) {
		if (p->rank[i] >= below)
			continue;
		fprintf(f, "%s%s", p->behind[i] ? " " : comma, p->text[i]);
		comma = ", ";
	}
	fputc('\n', f);
}

void hlg_text_lines_wrapped(FILE *f, const struct hlg_screen *screen, const char *label,
			    const char *line)
{
	char *escaped = hlg_escape_dup(line);
	const char *at = escaped ? escaped : "";
	size_t column = strlen(label), gap = 0; /* blanks in front of the next word */

	fputs(label, f);
	if (!escaped) /* without memory */
		hlg_escape_print(f, line);
	while (*at) {
		size_t n = strcspn(at, " "), blanks = strspn(at + n, " "), cells;
		char word[1024];

		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		cells = (size_t)hlg_table_cells(word);
		if (screen->lines && screen->columns && column > strlen(INDENT) &&
		    column + gap + cells > screen->columns) {
			fputs("\n" INDENT, f);
			column = strlen(INDENT);
			gap = 0;
		}
		fprintf(f, "%*s%.*s", (int)gap, "", (int)n, at);
		column += gap + cells;
		gap = blanks;
		at += n + blanks;
	}
	fprintf(f, "%*s\n", (int)gap, "");
	free(escaped);
}

/* The head */

static const char *machine_name(const struct hlg_image *image)
{
	if (image->map)
		return "perf map";
	return image->elf.machine == EM_AARCH64 ? "AArch64" : "x86-64";
}

static void write_guest(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image, const char *label)
{
	struct pieces p = {0};
	char from[96], base[32];

	add_escaped(&p, 0, NULL, hlg_image_short_name(image));
	if (image->inside_size && !image->file) /* else its name says so */
		add_piece(&p, 1, "the guest inside it");
	if (image->noted)
		add_piece(&p, 0, "noted by record");
	add_piece(&p, 2, "%s", machine_name(image));
	add_piece(&p, 3, "%zu symbol%s%s", image->tab.n_syms,
		  image->tab.n_syms == 1 ? "" : "s",
		  image->elf.dynsym && !image->map ? " of .dynsym" : "");
	if (image->elf.build_id[0])
		add_piece(&p, 4, "build %.8s", image->elf.build_id);
	if (image->from == HLG_BASE_NOTE)
		snprintf(from, sizeof(from), "Hyperlight note %s", image->elf.hyperlight);
	else
		hlg_base_describe(image, from, sizeof(from));
	if (image->n_also)
		snprintf(base, sizeof(base), "%zu bases", hlg_image_n_bases(image));
	else if (image->from == HLG_BASE_NONE)
		strcpy(base, "no base");
	else
		snprintf(base, sizeof(base), "base 0x%" PRIx64, image->base);
	add_escaped(&p, 0, base, from);
	write_pieces(f, r, label, &p);
}

/* In nanoseconds; 0: not known, or of several recordings. */
static uint64_t span_of(const struct hlg_report *r)
{
	const struct hlg_sample_span *span = &r->profile->span;

	return r->n_files > 1 || !hlg_sample_span_known(span) ? 0
							      : span->last - span->first;
}

bool hlg_text_lines_span(char buf[static 32], const struct hlg_report *r)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	uint64_t ns = span_of(r), tenths;
	int i = 0;

	if (ns == 0)
		return false;
	if (r->options->raw) {
		snprintf(buf, 32, "%" PRIu64 " ns", ns);
		return true;
	}
	/* In the unit of guest time, as hlg_text_lines_scale_for has it. */
	while (i < 2 && ns < units[i].ns / 10)
		i++;
	if (ns < units[i].ns) {
		snprintf(buf, 32, "0.%03" PRIu64 " %s", ns / (units[i].ns / 1000),
			 units[i].name);
		return true;
	}
	tenths = (ns + units[i].ns / 20) / (units[i].ns / 10);
	snprintf(buf, 32, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
		 units[i].name);
	return true;
}

static uint32_t count_selected(const struct hlg_profile *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_events; i++)
		n += p->events[i].selected;
	return n;
}

/* How much of a timer's name is not about whose samples it takes, host's or guest's, or
 * how often: of "cpu-clock:HG", "cpu-clock/freq=997/HG" the first nine. */
static int plain_name(const char *name)
{
	size_t n = strcspn(name, ":/");
	const char *rest = name + n;

	if (*rest == '/') {
		if (strncmp(rest, "/freq=", 6) != 0 && strncmp(rest, "/period=", 8) != 0)
			return INT_MAX;
		rest += 1 + strcspn(rest + 1, ",/");
		if (*rest++ != '/')
			return INT_MAX;
	}
	rest += *rest == ':';
	return rest[strspn(rest, "GH")] ? INT_MAX : (int)n;
}

static void add_event_name(struct pieces *line, const struct hlg_report *r,
			   const struct hlg_event *event)
{
	bool is_only = hlg_text_lines_event(r, &r->all) != UINT32_MAX;
	bool is_timer = event->kind == HLG_EVENT_TIMER;
	char name[PIECE];

	snprintf(name, sizeof(name), "%.*s",
		 is_only && is_timer ? plain_name(event->name) : INT_MAX, event->name);
	add_escaped(line, 0, NULL, name);
}

static void add_event(struct pieces *line, const struct hlg_report *r,
		      const struct hlg_event_sum *sum)
{
	const struct hlg_event *event = &r->profile->events[sum->event];
	const uint64_t time = span_of(r), counted = sum->count.period;
	/* In the unit of the span, unless that would leave nothing. */
	struct hlg_text_lines_scale scale = hlg_text_lines_scale_for(
		r, sum->event,
		event->kind == HLG_EVENT_TIMER && time > counted && time / 100 < counted
			? time
			: counted);
	uint64_t sampled = event->host.samples + sum->count.samples;
	char period[32];

	add_event_name(line, r, event);
	add_piece(line, 0, "%" PRIu64 " guest sample%s", sum->count.samples,
		  sum->count.samples == 1 ? "" : "s");
	if (sum->count.samples) {
		add_piece(line, 1, "(%s%s)",
			  hlg_text_lines_period(period, &scale, sum->count.period),
			  scale.time ? "" : " counted");
		line->behind[line->n - 1] = true;
	}
	if (event->host.samples) /* by no tracepoint, which marks entries and exits */
		add_piece(line, 3, "host %ld %% of samples",
			  lround(100 * (double)event->host.samples / (double)sampled));
}

/* One event stands on the line of what is of all; of several each has one below it. */
static void write_recorded(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_event_sum *only = NULL;
	struct pieces line = {0};
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
		add_piece(&line, 0, "%s", r->recording);
	if (hlg_text_lines_span(span, r))
		add_piece(&line, 2, "%s", span);
	if (n > 1)
		add_piece(&line, 0, "%" PRIu32 " events", n);
	else if (only)
		add_event(&line, r, only);
	else
		add_piece(&line, 0, "no guest sample of %" PRIu32 " events", selected);
	if (p->origins.unread)
		add_piece(&line, 0, "%" PRIu64 " of %" PRIu64 " recordings",
			  r->recordings, r->recordings + p->origins.unread);
	else if (r->recordings > 1)
		add_piece(&line, 1, "%" PRIu64 " recordings", r->recordings);
	write_pieces(f, r, "recorded", &line);
	for (uint32_t i = 0; n > 1 && i < r->n_events; i++) {
		line.n = 0;
		add_event(&line, r, &r->events[i]);
		if (r->events[i].count.samples)
			write_pieces(f, r, "", &line);
	}
}

/* Of the image that a lane begins with. */
static const char *lane_name(const struct hlg_report *r, unsigned lane)
{
	for (size_t i = 0; i < r->space->n_images; i++)
		if (r->space->images[i]->lane == lane)
			return hlg_image_short_name(r->space->images[i]);
	return lane == HLG_LANE_SEVERAL ? "several ELFs" : "unknown ELF";
}

void hlg_text_lines_calls(char buf[static 64], const struct hlg_calls *calls)
{
	snprintf(buf, 64, "%" PRIu64 " guest + %" PRIu64 " host calls", calls->guest,
		 calls->host);
}

/* "sandbox 2 (fd 14)", of several vCPUs "(2 vCPUs)", and of several processes which
 * one's. */
static void add_sandbox(struct pieces *line, const struct hlg_report *r, uint32_t number,
			struct hlg_count count, bool with_fd)
{
	const struct hlg_sandboxes *all = &r->profile->sandboxes;
	const struct hlg_sandbox *of = number ? &all->at[number - 1] : NULL;
	uint32_t event = hlg_text_lines_event(r, &r->all);
	struct hlg_text_lines_scale scale =
		hlg_text_lines_scale_for(r, event, r->all.guest.period);
	char fd[32] = "", period[32], text[64];
	struct hlg_calls calls;

	line->n = 0;
	if (of && of->vcpus > 1)
		snprintf(fd, sizeof(fd), " (%" PRIu32 " vCPUs)", of->vcpus);
	else if (of && of->fd >= 0 && with_fd)
		snprintf(fd, sizeof(fd), " (fd %" PRId32 ")", of->fd);
	if (of)
		add_piece(line, 0, "sandbox %" PRIu32 "%s", number, fd);
	else
		add_piece(line, 0, "of no known sandbox");
	if (of && r->space->n_lanes)
		add_escaped(line, 0, NULL, lane_name(r, of->lane));
	if (of && of->pid >= 0 && of->pid != all->at[0].pid)
		add_piece(line, 1, "pid %" PRId32, of->pid);
	add_piece(line, 0, "%" PRIu64 " sample%s", count.samples,
		  count.samples == 1 ? "" : "s");
	if (event != UINT32_MAX && scale.time)
		add_piece(line, 1, "%s",
			  hlg_text_lines_period(period, &scale, count.period));
	if (of && hlg_calls_of_sandbox(&calls, r->space, r->profile, number)) {
		hlg_text_lines_calls(text, &calls);
		add_piece(line, 0, "%s", text);
	}
}

/* Its descriptor goes first where all has no room. */
static void write_sandbox(FILE *f, const struct hlg_report *r, const char *label,
			  uint32_t number, struct hlg_count count)
{
	struct pieces line;

	add_sandbox(&line, r, number, count, true);
	if (r->screen.columns && length(&line, PIECES) > r->screen.columns)
		add_sandbox(&line, r, number, count, false);
	write_pieces(f, r, label, &line);
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

/* A line for each by its number; on a screen for a few, those with most samples. */
static void write_sandboxes(FILE *f, const struct hlg_report *r)
{
	const struct hlg_sandboxes *all = &r->profile->sandboxes;
	uint32_t n = 0, number = 0, shown;
	const char *label = "sandboxes";

	for (uint32_t i = 0; i < all->n; i++)
		n += all->at[i].count.samples > 0;
	shown = n > MOST_SANDBOXES && r->screen.lines && !r->options->wide
			? MOST_SANDBOXES - 1
			: n;
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
			INDENT "and %" PRIu32 " more (--wide lists them, --by=sandbox "
			       "reports each)\n",
			n - shown);
	if (n && all->nobody.samples)
		write_sandbox(f, r, "", 0, all->nobody);
}

/* Not "100.00", as some are not. */
static const char *most_of(char buf[static 16], double share)
{
	return hlg_interval_percent(buf, share > 0.9999 ? 0.9999 : share);
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

static bool is_tested(const struct hlg_report *r)
{
	return r->trust.all.samples.on + r->trust.all.samples.off > 0;
}

/* The image that is not the build that ran, as the recordings tell; NULL: none. */
static const struct hlg_image_test *other_build(const struct hlg_report *r)
{
	for (size_t i = 0; i < r->trust.n_images; i++)
		if (r->trust.images[i].identity == HLG_IDENTITY_OTHER)
			return &r->trust.images[i];
	return NULL;
}

static void write_check(FILE *f, const struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;
	const char *said = hlg_verdict_said(t->verdict);
	uint64_t n = t->samples.on + t->samples.off;
	uint64_t addrs = t->addrs.on + t->addrs.off;
	char text[PIECE];
	const struct hlg_image_test *other =
		t->verdict == HLG_TRUST_MISMATCH ? other_build(r) : NULL;
	char percent[16];

	if (other) {
		snprintf(text, PIECE, "WRONG ELF: build id %.8s ran, this is %.8s",
			 other->ran->id, other->image->elf.build_id);
	} else if (t->verdict == HLG_TRUST_UNTESTED) {
		snprintf(text, PIECE, "%s: %s", said, why_untested(r));
	} else if (t->verdict == HLG_TRUST_TOO_FEW) {
		if (addrs < HLG_VERDICT_LEAST_ADDRS)
			snprintf(text, PIECE,
				 "%s: too few distinct addresses (%" PRIu64 " of %d)",
				 said, addrs, HLG_VERDICT_LEAST_ADDRS);
		else
			snprintf(text, PIECE, "%s: the samples may fit by chance", said);
	} else if (n == 0) {
		snprintf(text, PIECE, "%s: no sample lies in a function", said);
	} else if (t->samples.off == 0) {
		snprintf(text, PIECE,
			 "%s: all %" PRIu64 " %ssamples lie on instruction starts", said,
			 n, n < r->all.guest.samples ? "tested " : "");
	} else {
		snprintf(text, PIECE, "%s: %s %% %slie on instruction starts", said,
			 most_of(percent, t->by_samples.share),
			 t->verdict == HLG_TRUST_MISMATCH ? "" : "of samples ");
	}
	if (!other && n && t->bytes > 0 && t->verdict >= HLG_TRUST_VERIFIED)
		snprintf(text + strlen(text), PIECE - strlen(text), " (%ld %% by chance)",
			 lround(100 * t->chance));
	hlg_text_lines_wrapped(f, &r->screen, "check     ", text);
}

void hlg_text_lines_notes(FILE *f, const struct hlg_screen *screen,
			  const struct hlg_note_list *list, enum hlg_note_level level)
{
	static const char *const labels[] = {[HLG_NOTE_PLAIN] = "note:     ",
					     [HLG_NOTE_WARNING] = "warning:  ",
					     [HLG_NOTE_DETAIL] = INDENT};

	for (size_t i = 0; i < list->n; i++)
		if (list->level[i] == level)
			hlg_text_lines_wrapped(f, screen, labels[level], list->line[i]);
}

void hlg_text_lines_notes_behind(FILE *f, const struct hlg_screen *screen,
				 const struct hlg_note_list *list, bool verbose)
{
	bool any = false;

	for (size_t i = 0; i < list->n; i++)
		any |= list->level[i] == HLG_NOTE_PLAIN ||
		       (verbose && list->level[i] == HLG_NOTE_DETAIL);
	if (any)
		fputc('\n', f);
	hlg_text_lines_notes(f, screen, list, HLG_NOTE_PLAIN);
	if (verbose)
		hlg_text_lines_notes(f, screen, list, HLG_NOTE_DETAIL);
}

void hlg_text_lines_head(FILE *f, const struct hlg_report *r)
{
	char callers[HLG_TEXT_CALLERS];

	if (r->banner)
		hlg_text_lines_wrapped(f, &r->screen, "!! ", r->banner);
	for (size_t i = 0; i < r->space->n_images; i++)
		write_guest(f, r, r->space->images[i], i ? "" : "guest");
	write_recorded(f, r);
	write_sandboxes(f, r);
	if (r->space->n_images)
		write_check(f, r);
	if (hlg_text_callers_check(callers, r))
		hlg_text_lines_wrapped(f, &r->screen, "callers   ", callers);
	hlg_text_lines_notes(f, &r->screen, &r->notes, HLG_NOTE_WARNING);
	hlg_text_lines_notes(f, &r->screen, &r->remarks, HLG_NOTE_WARNING);
	fputc('\n', f);
}

/* The sums */

/* "3997 samples = 3432 guest + 565 host": terms, and how long the line is by now. */
struct sum {
	FILE *f;
	const struct hlg_screen *screen;
	size_t column, indent;
	bool any;
};

static void begin_sum(struct sum *s, const char *label, uint64_t n, int width,
		      const char *what)
{
	int used = fprintf(s->f, "%-*s%*" PRIu64 " %-7s =", (int)strlen(INDENT), label,
			   width, n, what);

	s->indent = (size_t)(used > 0 ? used - 1 : 0);
	s->column = s->indent + 1;
	s->any = false;
}

static void add_term(struct sum *s, uint64_t n, const char *what)
{
	char term[96];
	int used;

	if (n == 0)
		return;
	used = snprintf(term, sizeof(term), "%s%" PRIu64 " %s", s->any ? "+ " : "", n,
			what);
	if (s->screen->columns && s->column + 1 + (size_t)used > s->screen->columns) {
		fprintf(s->f, "\n%*s", (int)s->indent, "");
		s->column = s->indent;
	}
	s->column += (size_t)fprintf(s->f, " %s", term);
	s->any = true;
}

static void end_sum(struct sum *s)
{
	fputs(s->any ? "\n" : " 0\n", s->f);
}

/* What becomes of gap samples, if not the usual: they are not tested, as the check has
 * it. */
static void add_gaps(struct sum *s, const struct hlg_report *r)
{
	const char *const gaps[] = {
		is_tested(r) ? "gaps (untested)" : "gaps",
		"gaps (left out: gaps=drop)",
		"gaps (credited to the symbol before: gaps=stretch)",
	};

	add_term(s, r->all.kinds[HLG_GAP].samples, gaps[r->options->gaps]);
}

/* "12 %", or that it is less than one. */
static const char *whole_percent(char buf[static 16], double share)
{
	long percent = lround(100 * share);

	snprintf(buf, 16, percent ? "%ld %%" : "under 1 %%", percent);
	return buf;
}

/* What crossed between a Hyperlight guest and its host, where that was recorded. */
static void write_calls(FILE *f, const struct hlg_report *r)
{
	struct hlg_calls calls;
	char share[16];

	if (!hlg_calls_count(&calls, r->space, r->profile))
		return;
	fprintf(f, "calls     %" PRIu64 " guest call%s, %" PRIu64 " host call%s",
		calls.guest, calls.guest == 1 ? "" : "s", calls.host,
		calls.host == 1 ? "" : "s");
	if (calls.host_ns && calls.time_ns)
		fprintf(f, ", which took %s of the time\n",
			whole_percent(share,
				      (double)calls.host_ns / (double)calls.time_ns));
	else
		fputs(" (what they took: hlguest exits)\n", f);
}

static void write_sums(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_view *v = &r->all;
	uint64_t traced = hlg_profile_traced(p).samples;
	struct sum s = {.f = f, .screen = &r->screen};
	char number[24];
	int width = snprintf(number, sizeof(number), "%" PRIu64, p->seen.samples);

	begin_sum(&s, "accounted", p->seen.samples, width,
		  p->seen.samples == 1 ? "sample" : "samples");
	add_term(&s, v->guest.samples, "guest");
	add_term(&s, p->host.samples - traced, "host");
	add_term(&s, traced, traced == 1 ? "tracepoint hit" : "tracepoint hits");
	add_term(&s, p->deselected.samples, "filtered out");
	end_sum(&s);
	if (v->guest.samples == 0)
		return;
	begin_sum(&s, "", v->guest.samples, width, "guest");
	add_term(&s, v->kinds[HLG_FUNCTION].samples, "in functions");
	add_term(&s, v->kinds[HLG_LABEL].samples, "labels");
	add_gaps(&s, r);
	add_term(&s, v->border.samples,
		 r->options->border == HLG_BORDER_DROP
			 ? "at VM exits (left out: border=drop)"
			 : "at VM exits");
	add_term(&s, v->kinds[HLG_DATA].samples, "data");
	add_term(&s, v->kinds[HLG_OUTSIDE].samples,
		 is_tested(r) ? "outside the ELF (untested)" : "outside the ELF");
	end_sum(&s);
	write_calls(f, r);
}

static int write_stacks(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	static const char *const words[HLG_REPORT_ASIDE] = {
		"with a host part", "without (no vCPU entry was seen)",
		"without (the vCPU entry has no callchain)", "not kept (no memory)",
		NULL /* among those above */
	};
	struct hlg_report_table_stack_sum s[HLG_REPORT_STACK_SUMS];
	struct sum sum = {.f = f, .screen = &r->screen};
	int rc = r->stacks ? hlg_report_table_stack_sums(s, r, err) : 0;

	if (rc < 0 || !r->stacks || r->all.guest.samples == 0)
		return rc;
	/* Who asked for callers in the guest did not ask for the host's part. */
	if (r->callers.stacks && !s[HLG_REPORT_KVM_RUNS].count.samples)
		return 0;
	begin_sum(&sum, "stacks", r->all.guest.samples, 1, "guest");
	for (size_t i = 0; i < HLG_REPORT_ASIDE; i++)
		if (words[i])
			add_term(&sum, s[i].count.samples, words[i]);
	end_sum(&sum);
	if (s[HLG_REPORT_KVM_RUNS].count.samples)
		fprintf(f,
			INDENT "%" PRIu64 " vCPU entries, from %" PRIu64
			       " place%s; %" PRIu64 " of %" PRIu64
			       " host frames have no name\n",
			s[HLG_REPORT_KVM_RUNS].count.samples,
			s[HLG_REPORT_HALVES].count.samples,
			s[HLG_REPORT_HALVES].count.samples == 1 ? "" : "s",
			s[HLG_REPORT_UNRESOLVED].count.samples,
			s[HLG_REPORT_HOST_FRAMES].count.samples);
	if (s[HLG_REPORT_ASIDE].count.samples)
		fprintf(f,
			INDENT "%" PRIu64 " tracepoint hits are in no stack and no row\n",
			s[HLG_REPORT_ASIDE].count.samples);
	return 0;
}

static struct hlg_table sums_table(struct hlg_column columns[static 4], const char *what,
				   int width)
{
	const struct hlg_column all[4] = {
		{NULL, what, .type = HLG_VALUE_WORD, .width = (signed char)-width},
		{NULL, "samples", .type = HLG_VALUE_COUNT, 1, (signed char)(28 - width)},
		{NULL, "period", .type = HLG_VALUE_COUNT, 1, 20},
		{NULL, "share", .type = HLG_VALUE_PERCENT, 1, 10, .unit = " %"},
	};

	memcpy(columns, all, sizeof(all));
	return (struct hlg_table){.columns = columns, .n = 4};
}

static void write_sum(FILE *f, const struct hlg_table *table, const char *what,
		      struct hlg_count count, struct hlg_count of)
{
	const struct hlg_value c[] = {
		hlg_table_text_value(what), hlg_table_count_value(count.samples),
		hlg_table_count_value(count.period),
		hlg_table_number_value(
			of.samples ? (double)count.samples / (double)of.samples : 0)};

	hlg_table_text_row(f, table, c, 0);
}

/* With stacks=counters: the states from one up to, not including, another. */
static void write_states(FILE *f, const struct hlg_table *table,
			 const struct hlg_report *r, enum hlg_state from, int to,
			 struct hlg_count of)
{
	char what[32];

	for (int i = from; r->options->stacks == HLG_STACKS_COUNTERS && i < to; i++) {
		snprintf(what, sizeof(what), "    %s",
			 hlg_report_table_state((enum hlg_state)i));
		write_sum(f, table, what, r->profile->states[i], of);
	}
}

static void write_all_sums(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_view *v = &r->all;
	struct hlg_count traced = hlg_profile_traced(p);
	struct hlg_count unlabelled = v->kinds[HLG_GAP];
	struct hlg_column columns[4];
	const struct hlg_table t = sums_table(columns, "", 16);

	hlg_count_sub(&unlabelled, v->padding);
	hlg_table_text_head(f, &t);
	write_sum(f, &t, "all", p->seen, p->seen);
	write_sum(f, &t, "  filtered out", p->deselected, p->seen);
	write_sum(f, &t, "  host", p->host, p->seen);
	if (traced.samples)
		write_sum(f, &t, "    tracepoint hits", traced, p->host);
	write_states(f, &t, r, HLG_HOST_KERNEL, HLG_N_STATES, p->host);
	write_sum(f, &t, "  guest", v->guest, p->seen);
	write_states(f, &t, r, HLG_GUEST_KERNEL, HLG_HOST_KERNEL, v->guest);
	write_sum(f, &t, "    function", v->kinds[HLG_FUNCTION], v->guest);
	write_sum(f, &t, "    label", v->kinds[HLG_LABEL], v->guest);
	write_sum(f, &t, "    gap", v->kinds[HLG_GAP], v->guest);
	write_sum(f, &t, "      padding", v->padding, v->guest);
	write_sum(f, &t, "      unlabelled", unlabelled, v->guest);
	write_sum(f, &t, "    VM exits", v->border, v->guest);
	write_sum(f, &t, "    data", v->kinds[HLG_DATA], v->guest);
	write_sum(f, &t, "    outside", v->kinds[HLG_OUTSIDE], v->guest);
	if (v->dropped.samples)
		write_sum(f, &t, "  dropped gaps", v->dropped, v->guest);
}

int hlg_text_lines_tail(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	int rc;

	if (r->options->stacks == HLG_STACKS_COUNTERS)
		write_all_sums(f, r);
	else
		write_sums(f, r);
	rc = write_stacks(f, r, err);
	hlg_text_lines_notes(f, &r->screen, &r->notes, HLG_NOTE_PLAIN);
	hlg_text_lines_notes(f, &r->screen, &r->remarks, HLG_NOTE_PLAIN);
	return rc;
}

/* The details */

static void write_bases(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image)
{
	enum {
		SHOWN = 40
	};
	const struct hlg_image_test *ti = hlg_trust_of(&r->trust, image);

	if (!ti || ti->n_bases < 2)
		return;
	for (size_t i = 0; i < ti->n_bases && i < SHOWN; i++) {
		fprintf(f, INDENT "  0x%-16" PRIx64 " %12" PRIu64 " samples",
			ti->bases[i].base, ti->bases[i].count.samples);
		if (ti->bases[i].tid >= 0)
			fprintf(f, ", thread %" PRId32, ti->bases[i].tid);
		else if (hlg_profile_sandbox_of(ti->bases[i].tid) > 0)
			fprintf(f, ", sandbox %" PRId32,
				hlg_profile_sandbox_of(ti->bases[i].tid));
		fputc('\n', f);
	}
	if (ti->n_bases > SHOWN)
		fprintf(f, INDENT "  ... and %zu more\n", ti->n_bases - SHOWN);
}

static void write_image(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image)
{
	fputs("image     ", f);
	hlg_escape_print(f, image->path);
	if (!image->map)
		fprintf(f, ", symbols of %s", image->elf.dynsym ? ".dynsym" : ".symtab");
	fputc('\n', f);
	if (image->elf.build_id[0])
		fprintf(f, INDENT "build id %s\n", image->elf.build_id);
	write_bases(f, r, image);
}

static void write_boundaries(FILE *f, const char *what, const struct hlg_boundaries *b,
			     const struct hlg_share *share)
{
	char percent[16], low[16], high[16];

	fprintf(f, INDENT "%-10s %10" PRIu64 " of %10" PRIu64 " %8s %%  %6s - %6s\n",
		what, b->on, b->on + b->off, hlg_interval_percent(percent, share->share),
		hlg_interval_percent(low, share->low),
		hlg_interval_percent(high, share->high));
}

static void write_tested(FILE *f, const struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;

	fprintf(f, "check     %s", hlg_verdict_said(t->verdict));
	if (t->addrs.on + t->addrs.off == 0) {
		fputc('\n', f);
	} else {
		fputs(": on instruction starts, with 99 % intervals\n", f);
		write_boundaries(f, "samples", &t->samples, &t->by_samples);
		write_boundaries(f, "addresses", &t->addrs, &t->by_addrs);
		fputs(INDENT "(the check is stricter than the rows, whose intervals are "
			     "of 95 %)\n",
		      f);
	}
	if (t->samples.undecodable)
		fprintf(f,
			INDENT "%" PRIu64 " sample%s in functions and labels could not "
			       "be tested\n",
			t->samples.undecodable, t->samples.undecodable == 1 ? "" : "s");
	hlg_text_lines_notes(f, &r->screen, &r->remarks, HLG_NOTE_DETAIL);
}

/* The places of the border, and its share of the guest there. */
static void write_border(FILE *f, const struct hlg_report *r)
{
	static const char *const words[] = {"apart from the functions",
					    "in the functions", "left out"};
	const struct hlg_view *v = &r->all;
	char percent[16];

	fprintf(f, "VM exits  %s\n", words[r->options->border]);
	for (size_t i = 0; i < hlg_rows_borders_shown(r, v); i++) {
		fprintf(f, INDENT "%6s %%  %8" PRIu64 "  ",
			hlg_interval_percent(percent, v->borders[i].share.share),
			v->borders[i].count.samples);
		hlg_escape_print(f, v->borders[i].name);
		fputc('\n', f);
	}
}

static const char *weight_words(const struct hlg_report *r)
{
	if (r->options->weight == HLG_WEIGHT_SAMPLES)
		return "samples";
	if (r->all.weight == HLG_WEIGHT_SAMPLES)
		return "period within an event, samples over all events";
	return "period";
}

void hlg_text_lines_details(FILE *f, const struct hlg_report *r)
{
	static const char *const gaps[] = {"separate rows", "left out",
					   "credited to the symbol before"};

	fputs("\nhlguest   " HLG_VERSION "\n", f);
	for (size_t i = 0; i < r->space->n_images; i++)
		write_image(f, r, r->space->images[i]);
	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];

		fputs("event     ", f);
		hlg_escape_print(f, event->name);
		fprintf(f, ", precise_ip %u, %" PRIu64 " samples, period %" PRIu64 "\n",
			event->precise_ip, r->events[i].count.samples,
			r->events[i].count.period);
	}
	fprintf(f, "percent   of %s%s\n", weight_words(r),
		r->all.border.samples ? ", without VM exits" : "");
	write_border(f, r);
	fprintf(f, "gaps      %s\n", gaps[r->options->gaps]);
	write_tested(f, r);
	hlg_text_callers_details(f, r);
	fputc('\n', f);
	write_all_sums(f, r);
}
