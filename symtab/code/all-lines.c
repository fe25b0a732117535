// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/all-lines.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include "symtab/code/insn.h"
#include "symtab/code/padding.h"
#include "symtab/grow.h"

enum {
	INSN = 4,
	MOST_WORDS = 1 << 24 /* 64 MB: larger than any kernel's */
};

/* What is needed of the code to find lines; words are told by their places. */
struct words {
	unsigned char *flags;
	uint64_t start;
	size_t n;
	struct branch *branches; /* and calls, by place */
	size_t n_branches;
};

struct branch {
	uint32_t from, to; /* places; to is n if that is not known */
	bool call;
};

enum {
	HAS_CODE = 1,
	BEGINS = 2,
	ENDS = 4, /* the next is never run next */
	FILLER = 8
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

bool hlg_all_lines_applies(const struct hlg_image *image)
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

static void mark_filler(struct words *w, uint64_t from, uint64_t size)
{
	for (uint64_t at = (from + 3) & ~UINT64_C(3); at < from + size; at += INSN)
		if (place_of(w, at) < w->n)
			w->flags[place_of(w, at)] |= FILLER;
}

/* Nothing runs in the padding of gaps, of an area whose bytes are these. */
static void mark_gaps(struct words *w, const struct hlg_image *image,
		      const struct hlg_area *area, const unsigned char *bytes,
		      size_t size)
{
	const struct hlg_span *span = image->spans.span;

	for (size_t i = hlg_span_find(&image->spans, area->start);
	     i + 1 < image->spans.n && span[i].start < area->end; i++) {
		const uint64_t start = span[i].start, end = span[i + 1].start;
		struct hlg_padding pad;

		if (span[i].kind != HLG_GAP || end - area->start > size)
			continue;
		pad = hlg_padding_find(EM_AARCH64, bytes + (start - area->start),
				       end - start);
		mark_filler(w, start, pad.lead);
		mark_filler(w, end - pad.trail, pad.trail);
	}
}

/* What may lead elsewhere. False without memory. */
static bool take(struct words *w, size_t i, const struct hlg_insn *insn)
{
	const size_t to = insn->direct ? place_of(w, insn->target) : w->n;

	if (insn->ends)
		w->flags[i] |= ENDS;
	if ((insn->ends || insn->flow == HLG_FLOW_BRANCH) && i + 1 < w->n)
		w->flags[i + 1] |= BEGINS;
	if (insn->flow == HLG_FLOW_ON || to == w->n)
		return true;
	w->flags[to] |= BEGINS;
	if (!HLG_GROW(w->branches, w->n_branches))
		return false;
	w->branches[w->n_branches++] =
		(struct branch){(uint32_t)i, (uint32_t)to, insn->flow == HLG_FLOW_CALL};
	return true;
}

/* The code of [from, to), whose bytes are these, none of which is data. False without
 * memory. */
static bool read_code(struct words *w, uint64_t from, uint64_t to,
		      const unsigned char *bytes)
{
	bool ok = true;

	for (size_t i = place_of(w, from); ok && from < to;
	     from += INSN, bytes += INSN, i++) {
		struct hlg_insn insn;

		if (w->flags[i] & FILLER || !hlg_insn_is_a64(bytes))
			continue;
		w->flags[i] |= HAS_CODE;
		if (hlg_insn_may_branch_a64(bytes) &&
		    hlg_insn_decode(EM_AARCH64, bytes, INSN, from, &insn))
			ok = take(w, i, &insn);
	}
	return ok;
}

/* False without memory. */
static bool read_area(struct words *w, const struct hlg_image *image, int fd,
		      const struct hlg_area *area)
{
	const uint64_t stored = hlg_image_stored(image, area->start);
	const uint64_t left = area->end - area->start;
	unsigned char *bytes = malloc((left < stored ? left : stored) + 1);
	uint64_t from = (area->start + 3) & ~UINT64_C(3), to, end;
	bool ok = true;
	size_t size;

	if (!bytes)
		return false;
	size = hlg_image_pread(image, fd, area->start, bytes,
			       left < stored ? left : stored);
	end = size >= INSN ? (area->start + size) & ~UINT64_C(3) : 0;
	mark_gaps(w, image, area, bytes, size);
	for (; ok && from < end; from = to) {
		const bool data = hlg_symbol_is_data(&image->tab, from, &to);

		to = to < end ? (to + 3) & ~UINT64_C(3) : end;
		if (!data)
			ok = read_code(w, from, to, bytes + (from - area->start));
	}
	free(bytes);
	return ok;
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
static bool number(struct hlg_all_lines *lines, const struct words *w)
{
	struct hlg_run_line *line = NULL;

	for (size_t i = 0; i < w->n; i++) {
		const unsigned char flags = w->flags[i];

		lines->of[i] = HLG_NO_LINE;
		if (line && (flags & BEGINS || !(flags & HAS_CODE)))
			line = NULL;
		if (!(flags & HAS_CODE))
			continue;
		if (!line) {
			if (!HLG_GROW(lines->at, lines->n))
				return false;
			line = &lines->at[lines->n++];
			*line = (struct hlg_run_line){.start = (uint32_t)i,
						      .target = HLG_NO_LINE,
						      .next = HLG_NO_LINE};
		}
		lines->of[i] = (int32_t)lines->n - 1;
		line->length = (uint32_t)i + 1 - line->start;
	}
	return true;
}

/* Where each line leads to. False without memory. */
static bool lead(struct hlg_all_lines *lines, const struct words *w)
{
	size_t next = 0; /* branch */

	for (size_t l = 0; l < lines->n; l++) {
		struct hlg_run_line *line = &lines->at[l];
		const size_t behind = line->start + line->length;

		line->calls = (uint32_t)lines->n_calls;
		for (; next < w->n_branches && w->branches[next].from < behind; next++) {
			const struct branch *branch = &w->branches[next];
			const int32_t to = lines->of[branch->to];

			if (!branch->call) /* its last */
				line->target = to;
			if (!branch->call || to == HLG_NO_LINE)
				continue;
			if (!HLG_GROW(lines->calls, lines->n_calls))
				return false;
			lines->calls[lines->n_calls++] = to;
		}
		line->calls_end = (uint32_t)lines->n_calls;
		if (!(w->flags[behind - 1] & ENDS) && behind < w->n)
			line->next = lines->of[behind];
	}
	return true;
}

/* Who calls each line, or branches to it. False without memory. */
static bool lead_back(struct hlg_all_lines *lines)
{
	uint32_t n = 0;

	for (size_t i = 0; i < lines->n_calls; i++)
		lines->at[lines->calls[i]].callers_end++;
	for (size_t i = 0; i < lines->n; i++)
		if (lines->at[i].target != HLG_NO_LINE)
			lines->at[lines->at[i].target].callers_end++;
	for (size_t i = 0; i < lines->n; i++) {
		struct hlg_run_line *line = &lines->at[i];

		n += line->callers_end;
		line->callers = line->callers_end = n - line->callers_end;
	}
	lines->callers = calloc(n + 1, sizeof(*lines->callers));
	if (!lines->callers)
		return false;
	for (size_t i = 0; i < lines->n; i++) {
		const struct hlg_run_line *line = &lines->at[i];

		for (uint32_t k = line->calls; k < line->calls_end; k++)
			lines->callers[lines->at[lines->calls[k]].callers_end++] =
				(int32_t)i;
		if (line->target != HLG_NO_LINE)
			lines->callers[lines->at[line->target].callers_end++] =
				(int32_t)i;
	}
	return true;
}

static bool find(struct hlg_all_lines *lines, const struct hlg_image *image, int fd,
		 struct words *w)
{
	bool ok;

	w->flags = calloc(w->n, 1);
	lines->of = malloc(w->n * sizeof(*lines->of));
	ok = w->flags && lines->of;
	for (size_t i = 0; ok && i < image->n_areas; i++)
		if (image->areas[i].code &&
		    hlg_image_stored(image, image->areas[i].start))
			ok = read_area(w, image, fd, &image->areas[i]);
	if (ok)
		mark_symbols(w, image);
	return ok && number(lines, w) && lead(lines, w) && lead_back(lines);
}

bool hlg_all_lines_read(struct hlg_all_lines *lines, const struct hlg_image *image)
{
	struct words w = {0};
	struct hlg_err err;
	uint64_t end;
	bool ok;
	int fd;

	*lines = (struct hlg_all_lines){0};
	if (!extent(image, &w.start, &end))
		return true;
	fd = hlg_image_reopen(image, &err);
	if (fd < 0)
		return true;
	w.n = (end - w.start) / INSN;
	ok = find(lines, image, fd, &w);
	lines->start = w.start;
	lines->n_words = ok ? w.n : 0;
	free(w.flags);
	free(w.branches);
	close(fd);
	return ok;
}

void hlg_all_lines_finish(struct hlg_all_lines *lines)
{
	free(lines->of);
	free(lines->at);
	free(lines->calls);
	free(lines->callers);
	*lines = (struct hlg_all_lines){0};
}
