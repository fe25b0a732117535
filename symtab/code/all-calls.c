// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/all-calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"
#include "symtab/unique.h"

/* Bytes of data that are read at once; and how words lie there. */
#define CHUNK 65536
#define STEP  4

struct reading {
	struct hlg_all_calls *calls;
	const struct hlg_image *image;
};

/* The function or label that begins at addr, or that has it. */
static const struct hlg_symbol *symbol_at(const struct hlg_image *image, uint64_t addr,
					  bool begins, uint64_t *start)
{
	struct hlg_place place;

	if (addr < image->first || addr >= image->end)
		return NULL;
	hlg_image_lookup(image, addr, &place);
	*start = place.start;
	return begins && place.start != addr ? NULL : place.symbol;
}

static bool add_taken(struct reading *r, uint64_t addr)
{
	struct hlg_all_calls *c = r->calls;
	uint64_t start;

	if (!symbol_at(r->image, addr, true, &start))
		return true;
	if (!HLG_GROW(c->taken, c->n_taken))
		return false;
	c->taken[c->n_taken++] = addr;
	return true;
}

static bool add_call(struct reading *r, const struct hlg_body *body,
		     const struct hlg_body_insn *insn)
{
	bool tail = hlg_body_is_tail(body, insn);
	struct hlg_all_calls *c = r->calls;
	uint64_t start;

	if (!tail && !(insn->flow == HLG_FLOW_CALL && insn->direct))
		return true;
	if (!symbol_at(r->image, insn->target, false, &start))
		return true;
	if (!HLG_GROW(c->calls, c->n))
		return false;
	c->calls[c->n++] = (struct hlg_call){start, body->start, tail};
	return true;
}

static bool read_function(struct reading *r, struct hlg_code *code,
			  const struct hlg_place *place)
{
	struct hlg_body body;
	bool ok = hlg_body_read(&body, code, place);

	for (size_t i = 0; ok && i < body.n; i++)
		ok = (!body.insns[i].refers || add_taken(r, body.insns[i].refers)) &&
		     add_call(r, &body, &body.insns[i]);
	hlg_body_finish(&body);
	return ok;
}

/* Each once, of those that overlap the first. */
static bool read_code(struct reading *r, struct hlg_code *code)
{
	const struct hlg_image *image = r->image;
	uint64_t done = 0;

	for (size_t i = 0; i < image->tab.n_syms; i++) {
		struct hlg_place place;

		if (image->tab.syms[i].addr < done)
			continue;
		hlg_image_lookup(image, image->tab.syms[i].addr, &place);
		if (!place.symbol || place.start < done)
			continue;
		done = place.end;
		if (!read_function(r, code, &place))
			return false;
	}
	return true;
}

static bool read_words(struct reading *r, const unsigned char *bytes, size_t n)
{
	for (size_t at = 0; at + 8 <= n; at += STEP) {
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		if (!add_taken(r, word))
			return false;
	}
	return true;
}

/* Symbol tables have the addresses of all functions. */
static bool is_table(const struct hlg_image *image, const struct hlg_area *area)
{
	return area->section < image->elf.n_sections &&
	       strcmp(image->elf.sections[area->section].name, ".dynsym") == 0;
}

static bool read_data(struct reading *r, int fd)
{
	const struct hlg_image *image = r->image;
	unsigned char *bytes = malloc(CHUNK);
	bool ok = bytes;

	for (size_t i = 0; ok && i < image->n_areas; i++) {
		const struct hlg_area *area = &image->areas[i];

		if (area->code || is_table(image, area))
			continue;
		for (uint64_t at = area->start; ok && at < area->end;
		     at += CHUNK - STEP) {
			uint64_t left = area->end - at;
			size_t n = hlg_image_pread(image, fd, at, bytes,
						   left < CHUNK ? (size_t)left : CHUNK);

			ok = read_words(r, bytes, n);
			if (n < CHUNK)
				break;
		}
	}
	free(bytes);
	return ok;
}

static int compare_calls(const void *a, const void *b)
{
	const struct hlg_call *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->tail - y->tail;
}

/* Sorted, each once. */
static void settle(struct hlg_all_calls *c)
{
	c->n = HLG_UNIQUE(c->calls, c->n, compare_calls, NULL);
	c->n_taken = HLG_UNIQUE(c->taken, c->n_taken, hlg_bsearch_compare, NULL);
}

bool hlg_all_calls_read(struct hlg_all_calls *calls, struct hlg_code *code,
			const struct hlg_image *image)
{
	struct reading r = {calls, image};
	struct hlg_err err;
	int fd = hlg_image_reopen(image, &err);
	bool ok;

	*calls = (struct hlg_all_calls){0};
	if (fd < 0)
		return true;
	ok = read_code(&r, code) && read_data(&r, fd);
	close(fd);
	settle(calls);
	return ok;
}

void hlg_all_calls_finish(struct hlg_all_calls *calls)
{
	free(calls->calls);
	free(calls->taken);
	*calls = (struct hlg_all_calls){0};
}

const struct hlg_call *hlg_all_calls_to(const struct hlg_all_calls *calls,
					uint64_t function, size_t *n)
{
	size_t from =
		function ? HLG_BSEARCH_UPTO(calls->calls, calls->n, to, function - 1) : 0;

	*n = HLG_BSEARCH_UPTO(calls->calls, calls->n, to, function) - from;
	return calls->calls + from;
}

bool hlg_all_calls_is_taken(const struct hlg_all_calls *calls, uint64_t function)
{
	return bsearch(&function, calls->taken, calls->n_taken, sizeof(*calls->taken),
		       hlg_bsearch_compare);
}
