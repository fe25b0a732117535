// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/line-fit.h"

#include <elf.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

enum {
	INSN = 4,
	MOST_WORDS = 1 << 24, /* 64 MB: larger than any kernel's */
	LOGS = 4096,
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
	uint64_t samples;
	double log_rate;   /* of samples for each of its instructions, */
	double log1p_rate; /* and of one more than that */
	double uneven;     /* from the neighbour that is most alike; INFINITY: none */
	double score;
};

struct hlg_line_fit {
	uint64_t start;
	size_t n_words, n_lines, n_calls, n_touched, room;
	int32_t *line_of; /* of each word; NO_LINE: nothing runs there */
	struct line *lines;
	int32_t *calls;
	uint32_t *touched_as;    /* of each line: place in touched + 1; 0: no samples */
	struct touched *touched; /* room for so many, */
	uint32_t *lies_in;       /* and of each address its place in touched + 1, or 0 */
	double log[LOGS];        /* of whole numbers: a score asks for little else, */
	double alone[LOGS];      /* and what an address of so many samples is alone */
};

/* What is needed of the code to find lines. */
struct words {
	unsigned char *flags;
	uint32_t *target; /* of each word that has one, the place among them */
	uint64_t start;
	size_t n;
};

enum {
	HAS_CODE = 1,
	BEGINS = 2,
	ENDS = 4,   /* the next is never run next */
	BRANCH = 8, /* with a target, if HAS_TARGET */
	CALL = 16,
	HAS_TARGET = 32
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

/* The place of an address among the words; n: it is none of them. */
static size_t place_of(const struct words *w, uint64_t addr)
{
	uint64_t i = (addr - w->start) / INSN;

	return i < w->n ? i : w->n;
}

static void take(struct words *w, size_t i, const struct hlg_insn *insn)
{
	const bool branch = insn->flow == HLG_FLOW_BRANCH;
	const bool call = insn->flow == HLG_FLOW_CALL;
	const size_t target = insn->direct ? place_of(w, insn->target) : w->n;

	w->flags[i] |= (unsigned char)(HAS_CODE | (insn->ends ? ENDS : 0) |
				       (branch ? BRANCH : 0) | (call ? CALL : 0));
	if (target < w->n) {
		w->flags[i] |= HAS_TARGET;
		w->target[i] = (uint32_t)target;
		w->flags[target] |= BEGINS;
	}
	if ((insn->ends || branch) && i + 1 < w->n)
		w->flags[i + 1] |= BEGINS;
}

/* False without memory. */
static bool read_area(struct words *w, const struct hlg_code *code,
		      const struct hlg_image *image, int fd, const struct hlg_area *area)
{
	uint64_t from = (area->start + 3) & ~UINT64_C(3);
	uint64_t stored = hlg_image_stored(image, from);
	uint64_t left = area->end > from ? area->end - from : 0;
	const struct hlg_symtab *tab = &image->tab;
	size_t mapping = HLG_BSEARCH_BELOW(tab->mapping, tab->n_mapping, addr, from);
	bool data = mapping && tab->mapping[mapping - 1].data;
	unsigned char *bytes;
	size_t size;

	left = (left < stored ? left : stored) / INSN * INSN;
	bytes = malloc(left + 1);
	if (!bytes)
		return false;
	size = hlg_image_pread(image, fd, from, bytes, left);
	for (size_t at = 0; at + INSN <= size; at += INSN) {
		const enum hlg_boundary is = hlg_code_test(code, from + at);
		struct hlg_insn insn;

		for (;
		     mapping < tab->n_mapping && tab->mapping[mapping].addr <= from + at;
		     mapping++)
			data = tab->mapping[mapping].data;
		/* What is not decoded yet is not known. */
		if ((is == HLG_BOUNDARY_ON || (is == HLG_BOUNDARY_UNKNOWN && !data)) &&
		    hlg_insn_decode(EM_AARCH64, bytes + at, INSN, from + at, &insn))
			take(w, place_of(w, from + at), &insn);
	}
	free(bytes);
	return true;
}

/* Lines begin at symbols, too. */
static void mark_symbols(struct words *w, const struct hlg_image *image)
{
	for (size_t i = 0; i < image->tab.n_syms; i++) {
		size_t at = place_of(w, image->tab.syms[i].addr);

		if (at < w->n)
			w->flags[at] |= BEGINS;
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

/* The line that a word leads to, or NO_LINE. */
static int32_t target_of(const struct hlg_line_fit *fit, const struct words *w, size_t i)
{
	return w->flags[i] & HAS_TARGET ? fit->line_of[w->target[i]] : NO_LINE;
}

/* Where each line leads to. False without memory. */
static bool lead(struct hlg_line_fit *fit, const struct words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const int32_t at = fit->line_of[i];
		const bool last = i + 1 == w->n || fit->line_of[i + 1] != at;
		struct line *line;

		if (at == NO_LINE)
			continue;
		line = &fit->lines[at];
		if (i == 0 || fit->line_of[i - 1] != at)
			line->calls = line->calls_end = (uint32_t)fit->n_calls;
		if (w->flags[i] & CALL && target_of(fit, w, i) != NO_LINE) {
			if (!HLG_GROW(fit->calls, fit->n_calls))
				return false;
			fit->calls[fit->n_calls++] = target_of(fit, w, i);
			line->calls_end = (uint32_t)fit->n_calls;
		}
		if (!last)
			continue;
		if (w->flags[i] & BRANCH)
			line->target = target_of(fit, w, i);
		if (!(w->flags[i] & ENDS) && i + 1 < w->n)
			line->next = fit->line_of[i + 1];
	}
	return true;
}

static bool find_lines(struct hlg_line_fit *fit, const struct hlg_code *code,
		       const struct hlg_image *image, int fd, struct words *w)
{
	bool ok;

	w->flags = calloc(w->n, 1);
	w->target = calloc(w->n, sizeof(*w->target));
	fit->line_of = calloc(w->n, sizeof(*fit->line_of));
	ok = w->flags && w->target && fit->line_of;
	for (size_t i = 0; ok && i < image->n_areas; i++)
		if (image->areas[i].code)
			ok = read_area(w, code, image, fd, &image->areas[i]);
	if (!ok)
		return false;
	mark_symbols(w, image);
	if (!number(fit, w) || !lead(fit, w))
		return false;
	fit->touched_as = calloc(fit->n_lines + 1, sizeof(*fit->touched_as));
	return fit->touched_as;
}

/* An address of so many samples as a line of its own. */
static double alone(double samples)
{
	return ALONE + ANY_RATE + samples * log(samples / (samples + 1)) - log1p(samples);
}

/* Lines of an image whose file cannot be read again are none. NULL without memory. */
static struct hlg_line_fit *open_fit(struct hlg_code *code, const struct hlg_image *image)
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
	for (int i = 0; i < LOGS; i++) {
		fit->log[i] = log(i);
		fit->alone[i] = alone(i);
	}
	hlg_code_find_padding(code);
	w.start = fit->start;
	w.n = fit->n_words = (end - fit->start) / INSN;
	ok = find_lines(fit, code, image, fd, &w);
	free(w.flags);
	free(w.target);
	close(fd);
	if (ok)
		return fit;
	hlg_line_fit_close(fit);
	return NULL;
}

struct hlg_line_fit *hlg_line_fit_of(struct hlg_code *code, const struct hlg_image *image)
{
	struct hlg_line_fit **kept = hlg_code_lines(code);

	if (!*kept)
		*kept = open_fit(code, image);
	return *kept;
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
	free(fit->lies_in);
	free(fit);
}

static double log_of(const struct hlg_line_fit *fit, uint64_t n)
{
	return n < LOGS ? fit->log[n] : log((double)n);
}

/* By the rate n / k: the logarithm of how likely n samples are at k instructions, as few
 * as that (geometric). */
static double even(double n, double k, double log_rate, double log1p_rate)
{
	return n * (log_rate - log1p_rate) - k * log1p_rate;
}

static double alone_of(const struct hlg_line_fit *fit, uint64_t samples)
{
	return samples < LOGS ? fit->alone[samples] : alone((double)samples);
}

/* fmax and fmin, of numbers only: those are calls. */
static double most(double a, double b)
{
	return a > b ? a : b;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static int32_t find(const struct hlg_line_fit *fit, uint64_t addr)
{
	uint64_t i = (addr - fit->start) / INSN;

	return addr >= fit->start && i < fit->n_words ? fit->line_of[i] : NO_LINE;
}

static bool make_room(struct hlg_line_fit *fit, size_t n)
{
	if (fit->room >= n)
		return true;
	free(fit->touched);
	free(fit->lies_in);
	fit->touched = calloc(n, sizeof(*fit->touched));
	fit->lies_in = calloc(n, sizeof(*fit->lies_in));
	fit->room = fit->touched && fit->lies_in ? n : 0;
	return fit->room;
}

/* Adds up samples by line. */
static void touch(struct hlg_line_fit *fit, const struct hlg_sampled *addrs, size_t n,
		  uint64_t move)
{
	for (size_t i = 0; i < n; i++) {
		int32_t at = find(fit, addrs[i].ip + move);
		struct touched *t;

		fit->lies_in[i] = 0;
		if (at == NO_LINE)
			continue;
		if (!fit->touched_as[at]) {
			fit->touched[fit->n_touched] = (struct touched){
				.line = (uint32_t)at, .uneven = INFINITY};
			fit->touched_as[at] = (uint32_t)++fit->n_touched;
		}
		fit->lies_in[i] = fit->touched_as[at];
		t = &fit->touched[fit->lies_in[i] - 1];
		t->addrs++;
		t->samples += addrs[i].samples;
	}
	for (size_t i = 0; i < fit->n_touched; i++) {
		struct touched *t = &fit->touched[i];
		const uint64_t length = fit->lines[t->line].length;
		const double log_length = log_of(fit, length);

		t->log_rate = log_of(fit, t->samples) - log_length;
		t->log1p_rate = log_of(fit, t->samples + length) - log_length;
	}
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
	from->uneven = least(from->uneven, uneven);
	other->uneven = least(other->uneven, uneven);
	return true;
}

/* How likely is it that a line has no sample, which runs as often as this one? */
static double missed(const struct hlg_line_fit *fit, const struct touched *from,
		     int32_t to)
{
	return most(-(double)fit->lines[to].length * from->log1p_rate, MISSED);
}

/* What a line says of those that it leads to. */
static void follow(struct hlg_line_fit *fit, struct touched *t)
{
	const struct line *line = &fit->lines[t->line];
	bool any = join(fit, t, line->target);

	any |= join(fit, t, line->next);
	if (!any && line->target != NO_LINE && line->next != NO_LINE)
		t->score +=
			most(missed(fit, t, line->target), missed(fit, t, line->next));
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
	const uint32_t length = fit->lines[t->line].length, k = t->addrs;
	const double n = (double)t->samples;
	double all = even(n, length, t->log_rate, t->log1p_rate), log_k, log1p_rate;

	if (k >= length) /* odd addresses may be more */
		return all;
	log_k = log_of(fit, k);
	log1p_rate = log_of(fit, t->samples + k) - log_k;
	return most(all, even(n, k, log_of(fit, t->samples) - log_k, log1p_rate) +
				 (length - k) * most(-log1p_rate, SILENT));
}

static double as_neighbour(const struct touched *t)
{
	return most(ALONE + ANY_RATE, LED_TO - log(2 * UNEVEN) - t->uneven / UNEVEN);
}

bool hlg_line_fit_score(struct hlg_line_fit *fit, const struct hlg_sampled *addrs,
			size_t n, uint64_t move, double *score, double *each)
{
	*score = 0;
	fit->n_touched = 0;
	if (!make_room(fit, n))
		return false;
	touch(fit, addrs, n, move);
	for (size_t i = 0; i < fit->n_touched; i++)
		follow(fit, &fit->touched[i]);
	for (size_t i = 0; i < fit->n_touched; i++) {
		struct touched *t = &fit->touched[i];

		t->score = (t->score + as_neighbour(t) + inside(fit, t)) / t->addrs;
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t in = fit->lies_in[i];
		double mine =
			in ? fit->touched[in - 1].score - alone_of(fit, addrs[i].samples)
			   : NOWHERE;

		*score += mine;
		if (each)
			each[i] = mine;
	}
	for (size_t i = 0; i < fit->n_touched; i++)
		fit->touched_as[fit->touched[i].line] = 0;
	return true;
}

bool hlg_line_fit_runs(const struct hlg_line_fit *fit, uint64_t addr)
{
	return find(fit, addr) != NO_LINE;
}
