// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/listing.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/view/place-name.h"
#include "symtab/code/edge.h"
#include "tools/annotate/lines.h"
#include "tools/export/address-counts.h"

/* Samples at an address that no line of lines begins at. */
static struct hlg_line line_of(const struct hlg_line *before,
			       const struct hlg_address_count *spot)
{
	bool inside = before && before->kind == HLG_LINE_INSN &&
		      spot->addr - before->addr < before->length;

	return (struct hlg_line){.kind = inside ? HLG_LINE_INSIDE : HLG_LINE_PLAIN,
				 .addr = spot->addr,
				 .count = spot->count};
}

/* Lines and spots into one, by address: a spot counts at the instruction it begins. */
static bool merge(struct hlg_lines *to, struct hlg_lines *from,
		  const struct hlg_address_counts *spots)
{
	const struct hlg_line *before = NULL; /* of from */
	size_t i = 0, k = 0;

	while (i < from->n || k < spots->n) {
		struct hlg_line *line = i < from->n ? &from->line[i] : NULL;
		const struct hlg_address_count *spot =
			k < spots->n ? &spots->spot[k] : NULL;

		if (line && (!spot || line->addr <= spot->addr)) {
			if (spot && line->kind == HLG_LINE_INSN &&
			    line->addr == spot->addr) {
				line->count = spot->count;
				k++;
			}
			if (!hlg_lines_add(to, line))
				return false;
			before = line;
			i++;
		} else {
			const struct hlg_line plain = line_of(before, spot);

			if (!hlg_lines_add(to, &plain))
				return false;
			k++;
		}
	}
	return true;
}

/* "foo", "foo+0x10" for an own address of image; NULL where nothing is. False without
 * memory. */
static bool name_addr(const struct hlg_image *image, uint64_t addr, bool demangle,
		      char **name)
{
	struct hlg_place place;
	char *plain;

	*name = NULL;
	hlg_image_lookup(image, addr, &place);
	if (!place.image)
		return true;
	plain = hlg_place_name(&place, demangle);
	if (!plain || place.addr == place.start) {
		*name = plain;
		return plain != NULL;
	}
	if (asprintf(name, "%s+0x%" PRIx64, plain, place.addr - place.start) < 0)
		*name = NULL;
	free(plain);
	return *name != NULL;
}

/* What an instruction says, from the bytes of the place from start on. */
static bool put_text(struct hlg_line *line, const struct hlg_listing_input *in,
		     const unsigned char *bytes, size_t size)
{
	const struct hlg_place *place = &in->row->place;
	uint64_t off = line->addr - place->start, memory;
	char text[256];
	bool has_memory;

	if (line->kind == HLG_LINE_INSN && off < size &&
	    hlg_disasm(place->image->elf.machine, in->syntax, bytes + off, size - off,
		       line->addr, text, sizeof(text), &memory, &has_memory)) {
		line->text = strdup(text);
		if (!line->text)
			return false;
		if (has_memory && !line->has_target) {
			line->has_target = true;
			line->target = memory;
		}
	}
	return !line->has_target ||
	       name_addr(place->image, line->target, in->report->options->demangle,
			 &line->target_name);
}

static bool has_insns(const struct hlg_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		if (lines->line[i].kind == HLG_LINE_INSN)
			return true;
	return false;
}

static bool put_texts(struct hlg_lines *lines, const struct hlg_listing_input *in)
{
	const struct hlg_place *place = &in->row->place;
	uint64_t size = place->end - place->start, stored;
	unsigned char *bytes;
	bool ok = true;

	if (!has_insns(lines))
		return true;
	stored = hlg_image_stored(place->image, place->start);
	size = size < stored ? size : stored;
	bytes = malloc(size + 1);
	if (!bytes)
		return false;
	size = hlg_image_read(place->image, place->start, bytes, size);
	for (size_t i = 0; ok && i < lines->n; i++)
		ok = put_text(&lines->line[i], in, bytes, size);
	free(bytes);
	return ok;
}

static void put_sources(struct hlg_lines *lines, const struct hlg_listing_input *in)
{
	const struct hlg_image *image = in->row->place.image;
	struct hlg_source *source = image ? hlg_source_of(in->sources, image) : NULL;
	struct hlg_source_line found;

	for (size_t i = 0; source && i < lines->n; i++) {
		struct hlg_line *line = &lines->line[i];

		if (line->kind > HLG_LINE_PLAIN ||
		    !hlg_source_find(source, line->addr, &found))
			continue;
		line->file = found.file;
		line->source_line = found.line;
	}
}

/* False without memory. */
static bool put_edges(struct hlg_listing *l, struct hlg_code *code,
		      const struct hlg_listing_input *in)
{
	uint64_t reach = in->report->options->skid;
	struct hlg_edges edges;
	bool ok;

	l->no_edges = reach && (!code || !in->row->place.symbol);
	if (reach == 0 || l->no_edges)
		return true;
	ok = hlg_edge_find(&edges, code, &in->row->place, reach);
	for (size_t i = 0; ok && i < l->n; i++)
		l->lines[i].edge = hlg_edge_has(&edges, l->lines[i].addr);
	hlg_edge_finish(&edges);
	return ok;
}

static bool is_hotter(const struct hlg_listing *l, enum hlg_weight weight, size_t a,
		      size_t b)
{
	return hlg_count_weigh(weight, l->lines[a].count) >
	       hlg_count_weigh(weight, l->lines[b].count);
}

/* Puts a line among the hottest; of two alike the lower address goes first. */
static void rank(struct hlg_listing *l, enum hlg_weight weight, size_t line)
{
	size_t at = l->n_hot;

	while (at && is_hotter(l, weight, line, l->hot[at - 1]))
		at--;
	if (at == HLG_LISTING_HOT)
		return;
	if (l->n_hot < HLG_LISTING_HOT)
		l->n_hot++;
	for (size_t i = l->n_hot - 1; i > at; i--)
		l->hot[i] = l->hot[i - 1];
	l->hot[at] = line;
}

static void sum_up(struct hlg_listing *l, enum hlg_weight weight)
{
	double total = (double)hlg_count_weigh(weight, l->row->count);
	struct hlg_count sum = {0, 0};

	for (size_t i = 0; i < l->n; i++) {
		struct hlg_line *line = &l->lines[i];

		if (line->count.samples == 0)
			continue;
		hlg_count_add(line->kind == HLG_LINE_INSN     ? &l->on
			      : line->kind == HLG_LINE_INSIDE ? &l->inside
							      : &l->plain,
			      line->count);
		hlg_count_add(&sum, line->count);
		if (total > 0)
			line->share =
				(double)hlg_count_weigh(weight, line->count) / total;
		rank(l, weight, i);
	}
	if (l->n_hot)
		l->lines[l->hot[0]].hottest = true;
	assert(sum.samples == l->row->count.samples &&
	       sum.period == l->row->count.period);
}

static bool build(struct hlg_listing *l, struct hlg_lines *lines,
		  struct hlg_address_counts *spots, const struct hlg_listing_input *in)
{
	const struct hlg_image_test *ti =
		hlg_trust_of(&in->report->trust, in->row->place.image);
	struct hlg_code *code = ti ? ti->code : NULL;
	struct hlg_lines merged = {0};
	bool ok = hlg_address_counts_collect(spots, in->view, in->row, NULL) &&
		  hlg_lines_build(lines, code, &in->row->place) &&
		  merge(&merged, lines, spots) && put_texts(&merged, in);

	l->lines = merged.line;
	l->n = merged.n;
	l->remark = lines->remark;
	if (!ok)
		return false;
	put_sources(&merged, in);
	sum_up(l, in->view->weight);
	return put_edges(l, code, in);
}

int hlg_listing_build(struct hlg_listing *l, const struct hlg_listing_input *in,
		      struct hlg_err *err)
{
	struct hlg_address_counts spots = {0};
	struct hlg_lines lines = {0};
	bool ok;

	*l = (struct hlg_listing){.row = in->row};
	ok = build(l, &lines, &spots, in);
	hlg_lines_finish(&lines);
	hlg_address_counts_finish(&spots);
	return ok ? 0 : hlg_err_memory(err, "annotate");
}

void hlg_listing_finish(struct hlg_listing *l)
{
	struct hlg_lines lines = {.line = l->lines, .n = l->n};

	hlg_lines_finish(&lines);
	*l = (struct hlg_listing){0};
}

const char *hlg_listing_word(enum hlg_line_kind kind)
{
	static const char *const words[] = {"instruction", "inside", "plain",
					    "padding",     "other",  "bytes"};

	return words[kind];
}
