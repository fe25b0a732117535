// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/line-fit.h"

#include <math.h>
#include <stdlib.h>

enum {
	INSN = 4,
	LOGS = 4096
};

/*
 * In nats, of real executions: of five programs under QEMU, with and without instructions
 * that get no samples. Verdicts hardly depend on them.
 */
#define ALONE    (-4.6) /* a line runs that nothing leads to: one in a hundred */
#define ANY_RATE (-HLG_LINE_FIT_MOST - ALONE) /* and as often as may be */
#define LED_TO   (-1.2) /* a line runs that another leads to, or that leads to one */
#define UNEVEN   0.8    /* then they run about as often: a Laplace distribution's scale */
#define SILENT   (-1.9) /* an instruction of a line that runs has no sample */
#define MISSED   (-4.0) /* a line has none though it must run, at least */
#define NOWHERE  (-9.2) /* a sample lies where nothing can run */

/* A line beside another that runs as often. */
#define AT_BEST (LED_TO - log(2 * UNEVEN))

/* A line with samples. */
struct touched {
	int32_t line;
	uint32_t addrs;
	uint64_t samples;
	double worth; /* for each address; what these are alone is not taken off */
};

struct hlg_line_fit {
	struct hlg_all_lines lines;
	size_t n_touched, room;
	uint32_t *touched_as;    /* of each line: place in touched + 1; 0: no samples */
	struct touched *touched; /* room for so many */
	double log[LOGS];        /* of whole numbers: a score asks for little else, */
	double alone[LOGS];      /* and what an address of so many samples is alone */
};

/* The samples of a line: those in touched; or, if samples is not NULL, these, moved. */
struct trial {
	const struct hlg_line_fit *fit;
	const struct hlg_line_fit_samples *samples;
	int64_t words;
};

/* A line, and how it runs. */
struct run {
	const struct hlg_run_line *line;
	int32_t number;
	uint64_t samples;
	uint32_t addrs;
	double log_rate;   /* of samples for each of its instructions, */
	double log1p_rate; /* and of one more than that */
	double uneven;     /* from the neighbour that is most alike; INFINITY: none */
};

bool hlg_line_fit_applies(const struct hlg_image *image)
{
	return hlg_all_lines_applies(image);
}

/* An address of so many samples as a line of its own. */
static double alone(double samples)
{
	return ALONE + ANY_RATE + samples * log(samples / (samples + 1)) - log1p(samples);
}

static void close_fit(void *kept)
{
	struct hlg_line_fit *fit = kept;

	if (!fit)
		return;
	hlg_all_lines_finish(&fit->lines);
	free(fit->touched_as);
	free(fit->touched);
	free(fit);
}

/* NULL without memory. */
static struct hlg_line_fit *open_fit(const struct hlg_image *image)
{
	struct hlg_line_fit *fit = calloc(1, sizeof(*fit));
	bool ok = fit && hlg_all_lines_read(&fit->lines, image);

	if (ok)
		fit->touched_as = calloc(fit->lines.n + 1, sizeof(*fit->touched_as));
	if (!ok || !fit->touched_as) {
		close_fit(fit);
		return NULL;
	}
	for (int i = 0; i < LOGS; i++) {
		fit->log[i] = log(i);
		fit->alone[i] = alone(i);
	}
	return fit;
}

struct hlg_line_fit *hlg_line_fit_of(struct hlg_code *code, const struct hlg_image *image)
{
	struct hlg_line_fit *fit = hlg_code_kept(code);

	if (!fit) {
		fit = open_fit(image);
		hlg_code_keep(code, fit, close_fit);
	}
	return fit;
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

/* The place of a word among those from the first sampled one to behind the last. */
static inline size_t clamp(const struct hlg_line_fit_samples *s, int64_t word)
{
	word -= s->first;
	word = word > 0 ? word : 0;
	return (size_t)word < s->n_words ? (size_t)word : s->n_words;
}

/* The samples of a line. */
static inline uint64_t samples_of(const struct trial *t, int32_t number)
{
	const struct hlg_line_fit_samples *s = t->samples;
	const struct hlg_run_line *line = &t->fit->lines.at[number];
	uint32_t touched;

	if (s)
		return s->sum[clamp(s, line->start + line->length - t->words)] -
		       s->sum[clamp(s, line->start - t->words)];
	touched = t->fit->touched_as[number];
	return touched ? t->fit->touched[touched - 1].samples : 0;
}

/* One line leads to another: if that runs, too, how alike are they? True if it does. */
static inline bool join(const struct trial *t, struct run *run, int32_t other)
{
	uint64_t samples;
	double rate;

	if (other == HLG_NO_LINE)
		return false;
	if (other == run->number)
		return true;
	samples = samples_of(t, other);
	if (samples == 0)
		return false;
	rate = log_of(t->fit, samples) - log_of(t->fit, t->fit->lines.at[other].length);
	run->uneven = least(run->uneven, fabs(run->log_rate - rate));
	return true;
}

/* How likely is it that a line has no sample, which runs as often as this one? */
static double missed(const struct trial *t, const struct run *run, int32_t other)
{
	return most(-(double)t->fit->lines.at[other].length * run->log1p_rate, MISSED);
}

/* What a line says of those that it leads to. */
static double follow(const struct trial *t, struct run *run)
{
	const int32_t target = run->line->target, next = run->line->next;
	bool any = join(t, run, target);
	double score = 0;

	any |= join(t, run, next);
	if (!any && target != HLG_NO_LINE && next != HLG_NO_LINE)
		score += most(missed(t, run, target), missed(t, run, next));
	else if (!any && (target != HLG_NO_LINE || next != HLG_NO_LINE))
		score += missed(t, run, target != HLG_NO_LINE ? target : next);
	for (uint32_t i = run->line->calls; i < run->line->calls_end; i++)
		if (!join(t, run, t->fit->lines.calls[i]))
			score += missed(t, run, t->fit->lines.calls[i]);
	return score;
}

/* Those that lead to it are neighbours, too. */
static void follow_back(const struct trial *t, struct run *run)
{
	const struct hlg_all_lines *lines = &t->fit->lines;

	if (run->number && lines->at[run->number - 1].next == run->number)
		join(t, run, run->number - 1);
	for (uint32_t i = run->line->callers; i < run->line->callers_end; i++)
		join(t, run, lines->callers[i]);
}

/* How likely are the samples of a line? Either all of its instructions get samples, or
 * some never do. */
static double inside(const struct hlg_line_fit *fit, const struct run *run)
{
	const uint32_t length = run->line->length, k = run->addrs;
	const double n = (double)run->samples;
	double all = even(n, length, run->log_rate, run->log1p_rate), log_k, log1p_rate;

	if (k >= length) /* odd addresses may be more */
		return all;
	log_k = log_of(fit, k);
	log1p_rate = log_of(fit, run->samples + k) - log_k;
	return most(all, even(n, k, log_of(fit, run->samples) - log_k, log1p_rate) +
				 (length - k) * most(-log1p_rate, SILENT));
}

static double as_neighbour(const struct run *run)
{
	return most(ALONE + ANY_RATE, AT_BEST - run->uneven / UNEVEN);
}

/* What a line is worth that has so many samples at so many addresses, for each. */
static double score_line(const struct trial *t, int32_t number, uint64_t samples,
			 uint32_t addrs)
{
	const struct hlg_run_line *line = &t->fit->lines.at[number];
	const double log_length = log_of(t->fit, line->length);
	struct run run = {.line = line,
			  .number = number,
			  .samples = samples,
			  .addrs = addrs,
			  .log_rate = log_of(t->fit, samples) - log_length,
			  .log1p_rate =
				  log_of(t->fit, samples + line->length) - log_length,
			  .uneven = (double)INFINITY};
	const double score = follow(t, &run);

	follow_back(t, &run);
	return (score + as_neighbour(&run) + inside(t->fit, &run)) / addrs;
}

static bool make_room(struct hlg_line_fit *fit, size_t n)
{
	if (fit->room >= n)
		return true;
	free(fit->touched);
	fit->touched = calloc(n, sizeof(*fit->touched));
	fit->room = fit->touched ? n : 0;
	return fit->room;
}

/* Adds up samples by line. */
static void touch(struct hlg_line_fit *fit, const struct hlg_sampled *addrs, size_t n,
		  uint64_t move)
{
	struct touched *t = NULL;

	fit->n_touched = 0;
	for (size_t i = 0; i < n; i++) {
		const int32_t at = hlg_all_lines_find(&fit->lines, addrs[i].ip + move);

		if (at == HLG_NO_LINE)
			continue;
		if (!t || t->line != at) {
			uint32_t *as = &fit->touched_as[at];

			if (!*as) {
				fit->touched[fit->n_touched] =
					(struct touched){.line = at};
				*as = (uint32_t)++fit->n_touched;
			}
			t = &fit->touched[*as - 1];
		}
		t->addrs++;
		t->samples += addrs[i].samples;
	}
}

bool hlg_line_fit_score(struct hlg_line_fit *fit, const struct hlg_sampled *addrs,
			size_t n, uint64_t move, double *score, double *each)
{
	const struct trial trial = {.fit = fit};

	*score = 0;
	if (!make_room(fit, n))
		return false;
	touch(fit, addrs, n, move);
	for (size_t i = 0; i < fit->n_touched; i++) {
		struct touched *t = &fit->touched[i];

		t->worth = score_line(&trial, t->line, t->samples, t->addrs);
	}
	for (size_t i = 0; i < n; i++) {
		const int32_t at = hlg_all_lines_find(&fit->lines, addrs[i].ip + move);
		const double mine =
			at == HLG_NO_LINE ? NOWHERE
					  : fit->touched[fit->touched_as[at] - 1].worth -
						    alone_of(fit, addrs[i].samples);

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
	return hlg_all_lines_find(&fit->lines, addr) != HLG_NO_LINE;
}

/* Words from here on, and as far behind the last, are in no line, however they are moved.
 */
static const int64_t far = HLG_LINE_FIT_FAR / INSN + 1;

static int64_t word_of(const struct hlg_line_fit *fit, uint64_t addr)
{
	const int64_t by = (int64_t)(addr - fit->lines.start);

	return by >= 0 ? by / INSN : (by - (INSN - 1)) / INSN;
}

/*
 * The words of addresses, in ascending order: the guest's addresses are in it, but the
 * image's own may pass 2^64 on the way. What is far from all lines is in front of those
 * that are near, or behind them, as it stands.
 */
static void set_words(struct hlg_line_fit_samples *s, const struct hlg_line_fit *fit,
		      uint64_t move)
{
	const int64_t behind = (int64_t)fit->lines.n_words + far;
	int64_t last = -far;

	for (size_t i = 0; i < s->n; i++) {
		const uint64_t addr = s->addrs[i].ip + move;
		const int64_t word = word_of(fit, addr);

		if (word > -far && word < behind && word >= last)
			last = word;
		else if (last > -far)
			last = behind;
		s->word[i] = last;
		s->odd |= addr % INSN != 0;
	}
}

static void fill_samples(struct hlg_line_fit_samples *s, const struct hlg_line_fit *fit,
			 const struct hlg_sampled *addrs)
{
	uint64_t sum = 0;
	size_t word = 0;

	for (size_t i = s->n; i-- > 0;)
		s->behind[i] = i + 1 < s->n && s->word[i + 1] - s->word[i] <= 1
				       ? s->behind[i + 1]
				       : (uint32_t)i + 1;
	for (size_t i = 0; i < s->n; i++) {
		s->alone[i + 1] = s->alone[i] + alone_of(fit, addrs[i].samples);
		for (; word <= (size_t)(s->word[i] - s->first); word++) {
			s->before[word] = (uint32_t)i;
			s->sum[word] = sum;
		}
		sum += addrs[i].samples;
	}
	s->before[word] = (uint32_t)s->n;
	s->sum[word] = sum;
}

bool hlg_line_fit_samples_begin(struct hlg_line_fit_samples *s,
				const struct hlg_line_fit *fit,
				const struct hlg_sampled *addrs, size_t n, uint64_t move)
{
	*s = (struct hlg_line_fit_samples){.addrs = addrs, .n = n};
	s->word = calloc(n + 1, sizeof(*s->word));
	s->alone = calloc(n + 1, sizeof(*s->alone));
	s->behind = calloc(n + 1, sizeof(*s->behind));
	if (!s->word || !s->alone || !s->behind)
		return false;
	set_words(s, fit, move);
	s->first = s->word[0];
	s->n_words = n ? (size_t)(s->word[n - 1] - s->first) + 1 : 0;
	s->before = calloc(s->n_words + 1, sizeof(*s->before));
	s->sum = calloc(s->n_words + 1, sizeof(*s->sum));
	if (!s->before || !s->sum)
		return false;
	fill_samples(s, fit, addrs);
	return true;
}

void hlg_line_fit_samples_finish(struct hlg_line_fit_samples *s)
{
	free(s->word);
	free(s->alone);
	free(s->behind);
	free(s->before);
	free(s->sum);
	*s = (struct hlg_line_fit_samples){0};
}

static int32_t line_at(const struct trial *t, size_t i)
{
	const uint64_t word = (uint64_t)(t->samples->word[i] + t->words);

	return word < t->fit->lines.n_words ? t->fit->lines.of[word] : HLG_NO_LINE;
}

/* The line of the i-th address, which has [*first, *end) of them, or i alone; and what it
 * is worth for each. */
static int32_t look_at_line(const struct trial *t, size_t i, size_t *first, size_t *end,
			    double *worth)
{
	const struct hlg_line_fit_samples *s = t->samples;
	const int32_t at = line_at(t, i);
	const struct hlg_run_line *line;
	size_t from, to;

	*first = i;
	*end = i + 1;
	*worth = NOWHERE;
	if (at == HLG_NO_LINE)
		return at;
	line = &t->fit->lines.at[at];
	from = clamp(s, line->start - t->words);
	to = clamp(s, line->start + line->length - t->words);
	*first = s->before[from];
	*end = s->before[to];
	*worth = score_line(t, at, s->sum[to] - s->sum[from], (uint32_t)(*end - *first));
	return at;
}

size_t hlg_line_fit_each(const struct hlg_line_fit *fit,
			 const struct hlg_line_fit_samples *s, size_t i, int64_t move,
			 double *each)
{
	const struct trial t = {fit, s, move / INSN};
	size_t first, end;
	double worth;
	const int32_t at = look_at_line(&t, i, &first, &end, &worth);

	for (size_t k = first; k <= i; k++)
		each[k] = at == HLG_NO_LINE ? worth
					    : worth - alone_of(fit, s->addrs[k].samples);
	return first;
}

/* Addresses of a part that are not scored yet, and what those that are are worth. */
struct rest {
	size_t from, to;
	size_t lines; /* that these lie in at least */
	double worth;
};

/* Lines are numbered in order, and of words in a row each has its line. */
static size_t count_lines(const struct trial *t, size_t from, size_t to)
{
	int32_t before = HLG_NO_LINE;
	size_t lines = 0;

	for (size_t i = from, end; i < to; i = end) {
		int32_t first = line_at(t, i), last;

		end = t->samples->behind[i];
		end = end < to ? end : to;
		last = line_at(t, end - 1);
		if (first == HLG_NO_LINE || last == HLG_NO_LINE)
			continue;
		lines += (size_t)(last - first) + (first != before);
		before = last;
	}
	return lines;
}

/* The most that addresses can be worth that are not scored yet, in whole lines: these are
 * no likelier than each address by itself, but for what that costs. */
static double most_of(const struct rest *rest)
{
	return HLG_LINE_FIT_MOST * (double)(rest->to - rest->from) +
	       AT_BEST * (double)rest->lines;
}

/* Scores those of the line of the i-th, the first or the last. */
static void take_line(const struct trial *t, struct rest *rest, size_t i)
{
	const double *alone = t->samples->alone;
	size_t first, end;
	double worth;

	if (look_at_line(t, i, &first, &end, &worth) == HLG_NO_LINE) {
		rest->worth += worth;
	} else {
		first = first > rest->from ? first : rest->from;
		end = end < rest->to ? end : rest->to;
		rest->worth +=
			worth * (double)(end - first) - (alone[end] - alone[first]);
		rest->lines -= rest->lines > 0;
	}
	if (first == rest->from)
		rest->from = end;
	else
		rest->to = first;
}

double hlg_line_fit_part(const struct hlg_line_fit *fit,
			 const struct hlg_line_fit_samples *s, size_t from, size_t to,
			 int64_t move, double needed)
{
	const struct trial t = {fit, s, move / INSN};
	struct rest rest = {from, to, count_lines(&t, from, to), 0};

	/* The first line may begin in front of them, and the last one go on behind. */
	if (from < to)
		take_line(&t, &rest, from);
	if (rest.from < rest.to)
		take_line(&t, &rest, to - 1);
	while (rest.from < rest.to && (s->odd || rest.worth + most_of(&rest) >= needed))
		take_line(&t, &rest, rest.from);
	return rest.worth + most_of(&rest);
}
