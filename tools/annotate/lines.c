// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/lines.h"

#include <stdlib.h>

#include "filter/view/view.h"

struct walk {
	struct hlg_lines *lines;
	const struct hlg_place *place;
	uint64_t next; /* up to here there are lines */
};

bool hlg_lines_add(struct hlg_lines *lines, const struct hlg_line *line)
{
	if (lines->n == lines->room) {
		size_t room = lines->room ? 2 * lines->room : 64;
		struct hlg_line *more = reallocarray(lines->line, room, sizeof(*more));

		if (!more)
			return false;
		lines->line = more;
		lines->room = room;
	}
	lines->line[lines->n++] = *line;
	return true;
}

/*
 * A line up to end, unless it is empty; one of the same kind as the last extends that.
 * False without memory.
 */
static bool cover(struct walk *w, enum hlg_line_kind kind, uint64_t end)
{
	struct hlg_lines *lines = w->lines;
	const struct hlg_line line = {
		.kind = kind, .addr = w->next, .length = end - w->next};

	if (end <= w->next)
		return true;
	if (kind != HLG_LINE_INSN && lines->n && lines->line[lines->n - 1].kind == kind)
		lines->line[lines->n - 1].length += line.length;
	else if (!hlg_lines_add(lines, &line))
		return false;
	w->next = end;
	return true;
}

static bool is_own(const struct hlg_place *place, uint64_t addr)
{
	struct hlg_place at;

	hlg_image_lookup(place->image, addr, &at);
	return at.owner == place->owner;
}

static bool add_insn(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct walk *w = ctx;
	bool own = is_own(w->place, addr);

	if (!cover(w, HLG_LINE_BYTES, addr) ||
	    !cover(w, own ? HLG_LINE_INSN : HLG_LINE_OTHER, addr + insn->length))
		return false;
	if (!own || insn->flow == HLG_FLOW_ON || !insn->direct)
		return true;
	w->lines->line[w->lines->n - 1].has_target = true;
	w->lines->line[w->lines->n - 1].target = insn->target;
	return true;
}

static int compare_addrs(const void *a, const void *b)
{
	const struct hlg_line *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void mark_targets(struct hlg_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		const struct hlg_line key = {.addr = lines->line[i].target};
		struct hlg_line *to;

		if (!lines->line[i].has_target)
			continue;
		to = bsearch(&key, lines->line, lines->n, sizeof(key), compare_addrs);
		if (to && to->kind == HLG_LINE_INSN)
			to->is_target = true;
	}
}

/* Of a gap, what is to be decoded: the bytes between its padding. */
static bool find_code(const struct hlg_place *place, uint64_t *start, uint64_t *end)
{
	struct hlg_padding pad = {0, 0};

	if (place->kind == HLG_GAP && !hlg_view_padding(place, &pad))
		return false;
	*start = place->start + pad.lead;
	*end = pad.lead == place->end - place->start ? *start : place->end - pad.trail;
	return true;
}

static const char *remark_of(const struct hlg_code *code, const struct hlg_place *place)
{
	if (place->kind == HLG_OUTSIDE)
		return "outside of every image: there are no bytes to decode";
	if (place->kind == HLG_DATA)
		return "data: nothing is decoded";
	if (place->image->map)
		return "a perf map has no bytes to decode";
	if (!code)
		return "its instructions cannot be decoded in this build (install "
		       "libzydis-dev and build again)";
	if (place->image->elf.machine == EM_AARCH64)
		return "AArch64 is not disassembled (Zydis is for x86): instructions are "
		       "shown as words";
	if (place->kind == HLG_GAP)
		return "of a gap it is not known where instructions begin: it is decoded "
		       "from its first byte that is no padding";
	return NULL;
}

bool hlg_lines_build(struct hlg_lines *lines, struct hlg_code *code,
		     const struct hlg_place *place)
{
	struct walk w = {.lines = lines, .place = place, .next = place->start};
	struct hlg_place inner = *place;

	*lines = (struct hlg_lines){.remark = remark_of(code, place)};
	if (!code || place->kind == HLG_DATA || place->kind == HLG_OUTSIDE)
		return true;
	if (!find_code(place, &inner.start, &inner.end))
		return false;
	if (!cover(&w, HLG_LINE_PADDING, inner.start) ||
	    (inner.start < inner.end && !hlg_code_walk(code, &inner, add_insn, &w)) ||
	    !cover(&w, HLG_LINE_BYTES, inner.end) ||
	    !cover(&w, HLG_LINE_PADDING, place->end))
		return false;
	mark_targets(lines);
	return true;
}

void hlg_lines_finish(struct hlg_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		free(lines->line[i].text);
		free(lines->line[i].target_name);
	}
	free(lines->line);
	*lines = (struct hlg_lines){0};
}
