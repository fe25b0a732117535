// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/line-fit.h"

#include <elf.h>
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/grow.h"

enum {
	INSN = 4,
	MOST_WORDS = 1 << 24, /* 64 MB: larger than any kernel's */
	NO_LINE = -1
};

/*
 * In nats, of real executions: of five programs under QEMU, with and without instructions
 * that get no samples. Verdicts hardly depend on them.
 */
#define ALONE    (-4.6) /* a line runs that nothing leads to: one in a hundred */
#define ANY_RATE (-2.1) /* and as often as may be */
#define LED_TO   (-1.2) /* a line runs that another leads to, or that leads to one */
#define UNEVEN   0.8    /* then they run about as often: a Laplace distribution's scale */
#define SILENT   (-1.9) /* an instruction of a line that runs has no sample */
#define MISSED   (-4.0) /* a line has none though it must run, at least */
#define NOWHERE  (-9.2) /* a sample lies where nothing can run */

struct line {
	uint32_t length;           /* in instructions */
	int32_t target, next;      /* lines it leads to behind its last, or NO_LINE */
	uint32_t calls, calls_end; /* of the list: lines that it calls */
};

/* A line with samples. */
struct touched {
	uint32_t line;
	uint32_t addrs;
	double samples, log_rate; /* of samples for each of its instructions */
	double uneven; /* from the neighbour that is most alike; INFINITY: none */
	double score;
};

struct hlg_line_fit {
	uint64_t start;
	size_t n_words, n_lines, n_calls, n_touched, room;
	int32_t *line_of; /* of each word; NO_LINE: nothing runs there */
	struct line *lines;
	int32_t *calls;
	uint32_t *touched_as;    /* of each line: place in touched + 1; 0: no samples */
	struct touched *touched; /* room for so many */
};

/* What is needed of the code to find lines. */
struct words {
	uint32_t *word;
	unsigned char *flags; /* HAS_CODE, BEGINS */
	uint64_t start;
	size_t n;
};

enum {
	HAS_CODE = 1,
	BEGINS = 2
};

/* From the first byte of code in the file to the last. */
static bool extent(const struct hlg_image *image, uint64_t *start, uint64_t *end)
{
	bool any = false;

	for (size_t i = 0; i < image->n_areas; i++) {
		const struct hlg_area *area = &image->areas[i];
		uint64_t stored = hlg_image_stored(image, area->start);

		if (!area->code || stored == 0)
			continue;
		if (!any)
			*start = area->start & ~UINT64_C(3);
		*end = area->end - area->start < stored ? area->end
							: area->start + stored;
		any = true;
	}
	return any;
}

bool hlg_line_fit_applies(const struct hlg_image *image)
{
	uint64_t start, end;

	return !image->map && image->elf.machine == EM_AARCH64 &&
	       extent(image, &start, &end) && (end - start) / INSN < MOST_WORDS &&
	       end - start >= INSN;
}

/* May an instruction run there? */
static bool may_run(const struct hlg_code *code, const struct hlg_image *image,
		    uint64_t addr)
{
	enum hlg_boundary is = hlg_code_test(code, addr);

	return is == HLG_BOUNDARY_ON ||
	       (is == HLG_BOUNDARY_UNKNOWN && !hlg_symbol_is_data(&image->tab, addr));
}

static void read_area(struct words *w, const struct hlg_code *code,
		      const struct hlg_image *image, int fd, const struct hlg_area *area)
{
	uint64_t from = (area->start + 3) & ~UINT64_C(3);
	uint64_t stored = hlg_image_stored(image, from);
	uint64_t left = area->end > from ? area->end - from : 0;
	size_t size, at = (from - w->start) / INSN;

	left = left < stored ? left : stored;
	size = hlg_image_pread(image, fd, from, &w->word[at], left / INSN * INSN);
	for (size_t i = at; i < at + size / INSN; i++) {
		w->word[i] = le32toh(w->word[i]);
		if (w->word[i] >> 16 && may_run(code, image, w->start + i * INSN))
			w->flags[i] |= HAS_CODE;
	}
}

static bool decode(const struct words *w, size_t i, struct hlg_insn *insn)
{
	const uint32_t word = htole32(w->word[i]);

	return hlg_insn_decode(EM_AARCH64, (const unsigned char *)&word, INSN,
			       w->start + i * INSN, insn);
}

/* The place of an address among the words; n: it is none of them. */
static size_t place_of(const struct words *w, uint64_t addr)
{
	uint64_t i = (addr - w->start) / INSN;

	return i < w->n ? i : w->n;
}

/* Marks where lines begin. */
static void mark(struct words *w, const struct hlg_image *image)
{
	struct hlg_insn insn;

	for (size_t i = 0; i < image->tab.n_syms; i++) {
		size_t at = place_of(w, image->tab.syms[i].addr);

		if (at < w->n)
			w->flags[at] |= BEGINS;
	}
	for (size_t i = 0; i < w->n; i++) {
		if (!(w->flags[i] & HAS_CODE) || !decode(w, i, &insn))
			continue;
		if (insn.direct && place_of(w, insn.target) < w->n)
			w->flags[place_of(w, insn.target)] |= BEGINS;
		if ((insn.ends || insn.flow == HLG_FLOW_BRANCH) && i + 1 < w->n)
			w->flags[i + 1] |= BEGINS;
	}
}

/* Gives each word its line. False without memory. */
static bool number(struct hlg_line_fit *fit, const struct words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const bool code = w->flags[i] & HAS_CODE;

		if (code && (i == 0 || (w->flags[i] & BEGINS) ||
			     fit->line_of[i - 1] == NO_LINE)) {
			if (!HLG_GROW(fit->lines, fit->n_lines))
				return false;
			fit->lines[fit->n_lines++] =
				(struct line){0, NO_LINE, NO_LINE, 0, 0};
		}
		fit->line_of[i] = code ? (int32_t)fit->n_lines - 1 : NO_LINE;
		if (code)
			fit->lines[fit->n_lines - 1].length++;
	}
	return true;
}

static int32_t line_at(const struct hlg_line_fit *fit, const struct words *w,
		       uint64_t addr)
{
	size_t i = place_of(w, addr);

	return i < w->n ? fit->line_of[i] : NO_LINE;
}

/* Where each line leads to. False without memory. */
static bool lead(struct hlg_line_fit *fit, const struct words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const int32_t at = fit->line_of[i];
		const bool last = i + 1 == w->n || fit->line_of[i + 1] != at;
		struct hlg_insn insn;
		struct line *line;

		if (at == NO_LINE || !decode(w, i, &insn))
			continue;
		line = &fit->lines[at];
		if (i == 0 || fit->line_of[i - 1] != at)
			line->calls = line->calls_end = (uint32_t)fit->n_calls;
		if (insn.flow == HLG_FLOW_CALL && insn.direct &&
		    line_at(fit, w, insn.target) != NO_LINE) {
			if (!HLG_GROW(fit->calls, fit->n_calls))
				return false;
			fit->calls[fit->n_calls++] = line_at(fit, w, insn.target);
			line->calls_end = (uint32_t)fit->n_calls;
		}
		if (!last)
			continue;
		if (insn.flow == HLG_FLOW_BRANCH && insn.direct)
			line->target = line_at(fit, w, insn.target);
		if (!insn.ends && i + 1 < w->n)
			line->next = fit->line_of[i + 1];
	}
	return true;
}

static bool find_lines(struct hlg_line_fit *fit, const struct hlg_code *code,
		       const struct hlg_image *image, int fd, struct words *w)
{
	w->word = calloc(w->n, sizeof(*w->word));
	w->flags = calloc(w->n, 1);
	fit->line_of = calloc(w->n, sizeof(*fit->line_of));
	if (!w->word || !w->flags || !fit->line_of)
		return false;
	for (size_t i = 0; i < image->n_areas; i++)
		if (image->areas[i].code)
			read_area(w, code, image, fd, &image->areas[i]);
	mark(w, image);
	if (!number(fit, w) || !lead(fit, w))
		return false;
	fit->touched_as = calloc(fit->n_lines + 1, sizeof(*fit->touched_as));
	return fit->touched_as;
}

struct hlg_line_fit *hlg_line_fit_open(struct hlg_code *code,
				       const struct hlg_image *image)
{
	struct hlg_line_fit *fit = calloc(1, sizeof(*fit));
	struct words w = {0};
	struct hlg_err err;
	uint64_t end;
	int fd;
	bool ok;

	if (!fit || !extent(image, &fit->start, &end))
		return fit;
	fd = hlg_image_reopen(image, &err);
	if (fd < 0)
		return fit;
	hlg_code_decode_all(code);
	w.start = fit->start;
	w.n = fit->n_words = (end - fit->start) / INSN;
	ok = find_lines(fit, code, image, fd, &w);
	free(w.word);
	free(w.flags);
	close(fd);
	if (ok)
		return fit;
	hlg_line_fit_close(fit);
	return NULL;
}

void hlg_line_fit_close(struct hlg_line_fit *fit)
{
	if (!fit)
		return;
	free(fit->line_of);
	free(fit->lines);
	free(fit->calls);
	free(fit->touched_as);
	free(fit->touched);
	free(fit);
}

/* Of a rate, the logarithm of how likely n samples are at k instructions, as few as that
 * (geometric). */
static double at_rate(double rate, double n, double k)
{
	return n * log(rate / (1 + rate)) - k * log1p(rate);
}

/* An address as a line of its own. */
static double alone(double samples)
{
	return ALONE + ANY_RATE + at_rate(samples, samples, 1);
}

static int32_t find(const struct hlg_line_fit *fit, uint64_t addr)
{
	uint64_t i = (addr - fit->start) / INSN;

	return addr >= fit->start && i < fit->n_words ? fit->line_of[i] : NO_LINE;
}

/* Adds up samples by line. False without memory. */
static bool touch(struct hlg_line_fit *fit, const struct hlg_sampled *addrs, size_t n,
		  uint64_t move)
{
	fit->n_touched = 0;
	if (fit->room < n) {
		free(fit->touched);
		fit->touched = calloc(n, sizeof(*fit->touched));
		fit->room = fit->touched ? n : 0;
	}
	if (fit->room < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int32_t at = find(fit, addrs[i].ip + move);
		struct touched *t;

		if (at == NO_LINE)
			continue;
		if (!fit->touched_as[at]) {
			fit->touched[fit->n_touched] = (struct touched){
				.line = (uint32_t)at, .uneven = INFINITY};
			fit->touched_as[at] = (uint32_t)++fit->n_touched;
		}
		t = &fit->touched[fit->touched_as[at] - 1];
		t->addrs++;
		t->samples += (double)addrs[i].samples;
	}
	for (size_t i = 0; i < fit->n_touched; i++) {
		struct touched *t = &fit->touched[i];

		t->log_rate = log(t->samples / fit->lines[t->line].length);
	}
	return true;
}

/* One line leads to another: if both run, how alike are they? True if the other does. */
static bool join(struct hlg_line_fit *fit, struct touched *from, int32_t to)
{
	struct touched *other;
	double uneven;

	if (to == NO_LINE || !fit->touched_as[to])
		return false;
	other = &fit->touched[fit->touched_as[to] - 1];
	if (other == from)
		return true;
	uneven = fabs(from->log_rate - other->log_rate);
	from->uneven = fmin(from->uneven, uneven);
	other->uneven = fmin(other->uneven, uneven);
	return true;
}

/* How likely is it that a line has no sample, which runs as often as this one? */
static double missed(const struct hlg_line_fit *fit, const struct touched *from,
		     int32_t to)
{
	double rate = from->samples / fit->lines[from->line].length;

	return fmax(-(double)fit->lines[to].length * log1p(rate), MISSED);
}

/* What a line says of those that it leads to. */
static void follow(struct hlg_line_fit *fit, struct touched *t)
{
	const struct line *line = &fit->lines[t->line];
	bool any = join(fit, t, line->target);

	any |= join(fit, t, line->next);
	if (!any && line->target != NO_LINE && line->next != NO_LINE)
		t->score +=
			fmax(missed(fit, t, line->target), missed(fit, t, line->next));
	else if (!any && (line->target != NO_LINE || line->next != NO_LINE))
		t->score += missed(fit, t,
				   line->target != NO_LINE ? line->target : line->next);
	for (uint32_t i = line->calls; i < line->calls_end; i++)
		if (!join(fit, t, fit->calls[i]))
			t->score += missed(fit, t, fit->calls[i]);
}

/* How likely are the samples of a line? Either all of its instructions get samples, or
 * some never do. */
static double inside(const struct hlg_line_fit *fit, const struct touched *t)
{
	const double length = fit->lines[t->line].length, k = t->addrs;
	const double rate = t->samples / k;

	return fmax(at_rate(t->samples / length, t->samples, length),
		    at_rate(rate, t->samples, k) +
			    (length - k) * fmax(-log1p(rate), SILENT));
}

static double as_neighbour(const struct touched *t)
{
	return fmax(ALONE + ANY_RATE, LED_TO - log(2 * UNEVEN) - t->uneven / UNEVEN);
}

bool hlg_line_fit_score(struct hlg_line_fit *fit, const struct hlg_sampled *addrs,
			size_t n, uint64_t move, double *score, double *each)
{
	bool ok = touch(fit, addrs, n, move);

	*score = 0;
	for (size_t i = 0; ok && i < fit->n_touched; i++)
		follow(fit, &fit->touched[i]);
	for (size_t i = 0; ok && i < fit->n_touched; i++) {
		struct touched *t = &fit->touched[i];

		t->score = (t->score + as_neighbour(t) + inside(fit, t)) / t->addrs;
	}
	for (size_t i = 0; ok && i < n; i++) {
		int32_t at = find(fit, addrs[i].ip + move);
		double mine = at == NO_LINE
				      ? NOWHERE
				      : fit->touched[fit->touched_as[at] - 1].score -
						alone((double)addrs[i].samples);

		*score += mine;
		if (each)
			each[i] = mine;
	}
	for (size_t i = 0; i < fit->n_touched; i++)
		fit->touched_as[fit->touched[i].line] = 0;
	return ok;
}
