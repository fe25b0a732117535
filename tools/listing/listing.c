// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/report/rows.h"
#include "filter/view/place-name.h"
#include "filter/view/view.h"
#include "symtab/code/edge.h"
#include "symtab/grow.h"
#include "tools/export/export.h"
#include "tools/listing/listing.h"

/* A row that is walked through: the bytes of its place, and the samples in it. */
struct walk {
	struct hlg_listing *l;
	const struct hlg_place *place;
	struct hlg_address_counts spots;
	size_t n_told; /* spots that are in lines */
	uint64_t next; /* up to here there are lines */
	size_t last;   /* the last line that has bytes; SIZE_MAX: none */
};

static bool add_line(struct hlg_listing *l, const struct hlg_line *line)
{
	if (!HLG_GROW(l->lines, l->n))
		return false;
	l->lines[l->n++] = *line;
	return true;
}

/* A line for the next spot, where no instruction begins. False without memory. */
static bool add_spot(struct walk *w)
{
	const struct hlg_address_count *spot = &w->spots.spot[w->n_told++];
	const struct hlg_line *in = w->last == SIZE_MAX ? NULL : &w->l->lines[w->last];
	bool inside =
		in && in->kind == HLG_LINE_INSN && spot->addr - in->addr < in->length;
	const struct hlg_line line = {.kind = inside ? HLG_LINE_INSIDE : HLG_LINE_PLAIN,
				      .addr = spot->addr,
				      .count = spot->count};

	return add_line(w->l, &line);
}

/*
 * A line up to end, unless it is empty; one of the same kind as the last extends that.
 * The spot where an instruction begins counts there. False without memory.
 */
static bool cover(struct walk *w, enum hlg_line_kind kind, uint64_t end)
{
	struct hlg_line line = {.kind = kind, .addr = w->next, .length = end - w->next};
	struct hlg_line *last = w->last == SIZE_MAX ? NULL : &w->l->lines[w->last];

	if (end <= w->next)
		return true;
	w->next = end;
	if (kind != HLG_LINE_INSN && last && last->kind == kind) {
		last->length += line.length;
		return true;
	}
	while (w->n_told < w->spots.n && w->spots.spot[w->n_told].addr < line.addr)
		if (!add_spot(w))
			return false;
	if (kind == HLG_LINE_INSN && w->n_told < w->spots.n &&
	    w->spots.spot[w->n_told].addr == line.addr)
		line.count = w->spots.spot[w->n_told++].count;
	w->last = w->l->n;
	return add_line(w->l, &line);
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
	w->l->lines[w->last].has_target = true;
	w->l->lines[w->last].target = insn->target;
	return true;
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
	if (place->image->elf.machine == EM_AARCH64 && !HLG_HAVE_CAPSTONE)
		return "AArch64 instructions are shown as words in this build (install "
		       "libcapstone-dev and build again)";
	if (place->kind == HLG_GAP)
		return "where instructions of a gap begin is a guess: at its first byte "
		       "that is no padding";
	return NULL;
}

/* Decodes the place. False without memory. */
static bool decode(struct walk *w, struct hlg_code *code)
{
	const struct hlg_place *place = w->place;
	struct hlg_place inner = *place;

	if (!code || place->kind == HLG_DATA || place->kind == HLG_OUTSIDE)
		return true;
	return find_code(place, &inner.start, &inner.end) &&
	       cover(w, HLG_LINE_PADDING, inner.start) &&
	       (inner.start >= inner.end || hlg_code_walk(code, &inner, add_insn, w)) &&
	       cover(w, HLG_LINE_BYTES, inner.end) &&
	       cover(w, HLG_LINE_PADDING, place->end);
}

static int compare_addrs(const void *a, const void *b)
{
	const struct hlg_line *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* A spot at the address of a line that is no instruction has a line, too. */
static void mark_targets(struct hlg_listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct hlg_line key = {.addr = l->lines[i].target};
		struct hlg_line *to;

		if (!l->lines[i].has_target)
			continue;
		to = bsearch(&key, l->lines, l->n, sizeof(key), compare_addrs);
		if (to && to->kind == HLG_LINE_INSN)
			to->is_target = true;
	}
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
static bool put_text(struct hlg_line *line, const struct hlg_listings *a,
		     const struct hlg_place *place, const unsigned char *bytes,
		     size_t size)
{
	uint64_t off = line->addr - place->start, memory;
	char text[256];
	bool has_memory;

	if (line->kind == HLG_LINE_INSN && off < size &&
	    hlg_disasm(place->image->elf.machine, a->syntax, bytes + off, size - off,
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
	       name_addr(place->image, line->target, a->report->options->demangle,
			 &line->target_name);
}

/* Of a place that was decoded. False without memory. */
static bool put_texts(struct hlg_listing *l, const struct hlg_listings *a)
{
	const struct hlg_place *place = &l->row->place;
	uint64_t size = place->end - place->start, stored;
	unsigned char *bytes;
	bool ok = true;

	stored = hlg_image_stored(place->image, place->start);
	size = size < stored ? size : stored;
	bytes = malloc(size + 1);
	if (!bytes)
		return false;
	size = hlg_image_read(place->image, place->start, bytes, size);
	for (size_t i = 0; ok && i < l->n; i++)
		ok = put_text(&l->lines[i], a, place, bytes, size);
	free(bytes);
	return ok;
}

static void put_sources(struct hlg_listing *l, const struct hlg_listings *a)
{
	const struct hlg_image *image = l->row->place.image;
	struct hlg_source *source = image ? hlg_source_of(a->sources, image) : NULL;
	struct hlg_source_line found;

	for (size_t i = 0; source && i < l->n; i++) {
		struct hlg_line *line = &l->lines[i];

		if (line->kind > HLG_LINE_PLAIN ||
		    !hlg_source_find(source, line->addr, &found))
			continue;
		line->file = found.file;
		line->source_line = found.line;
		line->inlined = hlg_source_innermost(source, line->addr);
	}
}

/* False without memory. */
static bool put_edges(struct hlg_listing *l, struct hlg_code *code, uint64_t reach)
{
	struct hlg_edges edges;
	bool ok;

	l->no_edges = reach && (!code || !l->row->place.symbol);
	if (reach == 0 || l->no_edges)
		return true;
	ok = hlg_edge_find(&edges, code, &l->row->place, reach);
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

static void sum_up(struct hlg_listing *l, enum hlg_weight weight,
		   const struct hlg_border *border)
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
		line->exit = hlg_border_has(border, l->row->place.image, line->addr);
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

static bool build(struct walk *w, const struct hlg_listings *a,
		  const struct hlg_view *view)
{
	struct hlg_listing *l = w->l;
	const struct hlg_image_test *ti =
		hlg_trust_of(&a->report->trust, w->place->image);
	struct hlg_code *code = ti ? ti->code : NULL;

	l->remark = remark_of(code, w->place);
	if (!hlg_address_counts_collect(&w->spots, view, l->row, NULL) ||
	    !decode(w, code))
		return false;
	while (w->n_told < w->spots.n)
		if (!add_spot(w))
			return false;
	mark_targets(l);
	if (w->last != SIZE_MAX && !put_texts(l, a))
		return false;
	put_sources(l, a);
	sum_up(l, view->weight, &a->report->border);
	return put_edges(l, code, a->report->options->skid);
}

int hlg_listing_build(struct hlg_listing *l, const struct hlg_listings *a,
		      const struct hlg_view *view, const struct hlg_row *row,
		      struct hlg_err *err)
{
	struct walk w = {
		.l = l, .place = &row->place, .next = row->place.start, .last = SIZE_MAX};
	bool ok;

	*l = (struct hlg_listing){.row = row};
	ok = build(&w, a, view);
	hlg_address_counts_finish(&w.spots);
	if (!ok)
		return hlg_err_memory(err, "annotate");
	/* Too late for a note. */
	if (row->place.image && hlg_image_unread(row->place.image) && !a->report->unread)
		return hlg_image_fail_unread(row->place.image, err);
	return 0;
}

void hlg_listing_finish(struct hlg_listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->lines[i].text);
		free(l->lines[i].target_name);
	}
	free(l->lines);
	*l = (struct hlg_listing){0};
}

void hlg_listing_remark(FILE *f, const struct hlg_line *line, const struct hlg_line *in)
{
	bool padding = in && in->kind == HLG_LINE_PADDING, one = line->length == 1;

	switch (line->kind) {
	case HLG_LINE_INSIDE:
		fprintf(f, "(inside of the instruction at 0x%" PRIx64 ")", in->addr);
		break;
	case HLG_LINE_PADDING:
		fprintf(f, "(padding, %" PRIu64 " byte%s)", line->length, one ? "" : "s");
		break;
	case HLG_LINE_OTHER:
		fprintf(f, "(%" PRIu64 " byte%s of another symbol)", line->length,
			one ? "" : "s");
		break;
	case HLG_LINE_BYTES:
		fprintf(f, "(%" PRIu64 " byte%s no instruction)", line->length,
			one ? " that is" : "s that are");
		break;
	case HLG_LINE_PLAIN:
		fputs(padding ? "(in padding)" : in ? "(no instruction)" : "", f);
		break;
	default:
		fputs("(not disassembled)", f);
	}
}

struct show {
	const struct hlg_listings *a;
	void (*each)(void *ctx, const struct hlg_listing *listing,
		     const struct hlg_view *view, const char *series);
	void *ctx;
	const struct hlg_view *view;
	const char *series;
};

static int show_row(const struct show *s, const struct hlg_row *row, struct hlg_err *err)
{
	struct hlg_listing listing;
	int rc = hlg_listing_build(&listing, s->a, s->view, row, err);

	if (rc == 0)
		s->each(s->ctx, &listing, s->view, s->series);
	hlg_listing_finish(&listing);
	return rc;
}

/* A place without samples has a row all the same. */
static int show_place(const struct show *s, const struct hlg_place *place,
		      struct hlg_err *err)
{
	struct hlg_row none = {.place = *place, .design = 1};
	int rc;

	for (size_t i = 0; i < s->view->n_rows; i++)
		if (s->view->rows[i].place.owner == place->owner)
			return show_row(s, &s->view->rows[i], err);
	if (place->image) /* by its first name, as the others */
		hlg_image_lookup(place->image, place->start, &none.place);
	none.share = hlg_interval_wilson(0, hlg_view_worth(s->view));
	none.name = hlg_place_name(&none.place, s->a->report->options->demangle);
	if (!none.name)
		return hlg_err_memory(err, "annotate");
	rc = show_row(s, &none, err);
	free(none.name);
	return rc;
}

static int show_view(const struct show *s, struct hlg_err *err)
{
	const struct hlg_report *r = s->a->report;
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < s->a->places->n && rc == 0; i++)
		rc = show_place(s, &s->a->places->place[i], err);
	if (s->a->places->n)
		return rc;
	n = hlg_rows_shown(r, s->view->n_rows, hlg_rows_share, s->view);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = show_row(s, &s->view->rows[i], err);
	return rc;
}

int hlg_listing_each(const struct hlg_listings *a,
		     void (*each)(void *ctx, const struct hlg_listing *listing,
				  const struct hlg_view *view, const char *series),
		     void *ctx, struct hlg_err *err)
{
	const struct hlg_report *r = a->report;
	struct show s = {.a = a, .each = each, .ctx = ctx, .view = &r->all};
	int rc = 0;

	if (r->suppressed)
		return 0;
	if (r->n_groups == 0)
		return show_view(&s, err);
	for (uint32_t i = 0; i < r->n_groups && rc == 0; i++) {
		char *series = hlg_report_series_name(r, r->groups[i].series);

		if (!series)
			return hlg_err_memory(err, "annotate");
		s.series = series;
		s.view = &r->groups[i].view;
		rc = show_view(&s, err);
		free(series);
	}
	return rc;
}
