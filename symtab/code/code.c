// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/code.h"

#include <stdlib.h>
#include <unistd.h>

#include "symtab/bsearch.h"
#include "symtab/code/padding.h"

enum {
	NESTING = 16 /* no byte of a real program is in so many symbols */
};

/* What is known of the bytes of one code area [start, end), two bits for each, in words
 * of 64 addresses: start is rounded down. */
struct boundary_map {
	uint64_t start, end;
	uint64_t *starts; /* an instruction begins here */
	uint64_t *known;  /* decoded */
};

/* Sets and asks bit i. */
static void map_set(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool map_get(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* The mask of bits [from, to) in their word; from < to, and both are of one word. */
static uint64_t map_bits(uint64_t from, uint64_t to)
{
	return UINT64_MAX << from % 64 &
	       UINT64_MAX >> (64 - (to - (from & ~UINT64_C(63))));
}

/* The end of the part of [at, end) that is in at's word. */
static uint64_t map_word_end(uint64_t at, uint64_t end)
{
	uint64_t next = (at | 63) + 1;

	return next < end ? next : end;
}

/* Marks the part of [start, end) that is in the map as decoded. */
static void map_know(struct boundary_map *map, uint64_t start, uint64_t end)
{
	uint64_t to = (end < map->end ? end : map->end) - map->start;

	for (uint64_t at = start - map->start, next; at < to; at = next) {
		next = map_word_end(at, to);
		map->known[at / 64] |= map_bits(at, next);
	}
}

/* Adds the instructions that begin in [start, end), and its decoded bytes, to both. */
static void map_count(const struct boundary_map *map, uint64_t start, uint64_t end,
		      uint64_t *starts, uint64_t *bytes)
{
	uint64_t to = (end < map->end ? end : map->end) - map->start;

	for (uint64_t at = start - map->start, next; at < to; at = next) {
		uint64_t bits = map_bits(at, next = map_word_end(at, to));

		*bytes += (unsigned)__builtin_popcountll(map->known[at / 64] & bits);
		*starts += (unsigned)__builtin_popcountll(map->starts[at / 64] & bits);
	}
}

struct hlg_code {
	const struct hlg_image *image;
	int fd;
	struct boundary_map *maps; /* sorted, disjoint but for the rounding */
	size_t n_maps;
	uint64_t *done;                /* a bit for each symbol */
	uint64_t left;                 /* bytes that may still be decoded */
	struct hlg_density *densities; /* of each symbol that was asked for; else 0 */
	unsigned char *bytes;          /* room for those of any function, label or gap */
	void *kept;                    /* see hlg_code_keep */
	void (*close_kept)(void *kept);
	bool padding; /* that of gaps is known */
};

/* Bytes of the image, and the next instruction in them. */
struct sweep {
	const struct hlg_image *image;
	const unsigned char *bytes; /* from start on */
	uint64_t start, end, addr;
	uint64_t until; /* what addr is, data or not, is known up to here */
	bool data;
};

static struct boundary_map *find_map(const struct hlg_code *code, uint64_t addr)
{
	size_t i = HLG_BSEARCH_UPTO(code->maps, code->n_maps, end, addr);

	return i < code->n_maps && addr >= code->maps[i].start ? &code->maps[i] : NULL;
}

static bool add_maps(struct hlg_code *code)
{
	const struct hlg_image *image = code->image;

	code->maps = calloc(image->n_areas, sizeof(*code->maps));
	if (!code->maps)
		return false;
	for (size_t i = 0; i < image->n_areas; i++) {
		const struct hlg_area *area = &image->areas[i];
		uint64_t stored = hlg_image_stored(image, area->start);
		struct boundary_map *map = &code->maps[code->n_maps];
		size_t words;

		if (!area->code || stored == 0)
			continue;
		map->start = area->start & ~UINT64_C(63);
		map->end = area->end - area->start < stored ? area->end
							    : area->start + stored;
		words = (map->end - map->start) / 64 + 1;
		map->starts = calloc(words, 2 * sizeof(*map->starts));
		if (!map->starts)
			return false;
		map->known = map->starts + words;
		code->n_maps++;
		code->left += NESTING * (map->end - map->start);
	}
	return true;
}

/* Room for the bytes of anything that is decoded at once. */
static bool add_bytes(struct hlg_code *code)
{
	const struct hlg_symtab *tab = &code->image->tab;
	uint64_t most = 0;

	for (size_t i = 0; i < code->n_maps; i++)
		if (code->maps[i].end - code->maps[i].start > most)
			most = code->maps[i].end - code->maps[i].start;
	/* A symbol may go on behind its area. */
	for (size_t i = 0; i < tab->n_syms; i++) {
		uint64_t size = tab->syms[i].end - tab->syms[i].addr, stored;

		if (size <= most)
			continue;
		stored = hlg_image_stored(code->image, tab->syms[i].addr);
		size = size < stored ? size : stored;
		most = size > most ? size : most;
	}
	code->bytes = malloc(most + 1);
	return code->bytes;
}

int hlg_code_open(struct hlg_code **out, const struct hlg_image *image,
		  struct hlg_err *err)
{
	struct hlg_code *code;

	*out = NULL;
	if (image->map || !hlg_insn_available(image->elf.machine))
		return hlg_err_set(
			err, HLG_EINPUT, "%s: its instructions cannot be decoded (%s)",
			image->path,
			image->map ? "a perf map has none" : hlg_insn_problem());
	if (!hlg_image_has_code(image))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: holds no code, as debug files do (name the ELF "
				   "that ran)",
				   image->path);
	code = calloc(1, sizeof(*code));
	if (!code)
		return hlg_err_memory(err, image->path);
	code->image = image;
	code->fd = hlg_image_reopen(image, err);
	if (code->fd < 0) {
		int rc = code->fd;

		free(code);
		return rc;
	}
	code->done = calloc(image->tab.n_syms / 64 + 1, sizeof(*code->done));
	code->densities = calloc(image->tab.n_syms + 1, sizeof(*code->densities));
	if (!code->done || !code->densities || !add_maps(code) || !add_bytes(code)) {
		hlg_code_close(code);
		return hlg_err_memory(err, image->path);
	}
	*out = code;
	return 0;
}

void hlg_code_close(struct hlg_code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->n_maps; i++)
		free(code->maps[i].starts);
	close(code->fd);
	free(code->maps);
	free(code->done);
	free(code->densities);
	free(code->bytes);
	if (code->kept)
		code->close_kept(code->kept);
	free(code);
}

struct hlg_code **hlg_code_open_all(const struct hlg_space *space)
{
	struct hlg_code **codes = calloc(space->n_images + 1, sizeof(*codes));

	for (size_t i = 0; codes && i < space->n_images; i++) {
		struct hlg_err err;

		if (hlg_code_open(&codes[i], space->images[i], &err) != HLG_ESYSTEM)
			continue;
		hlg_code_close_all(codes, space);
		codes = NULL;
	}
	return codes;
}

void hlg_code_close_all(struct hlg_code **codes, const struct hlg_space *space)
{
	for (size_t i = 0; codes && i < space->n_images; i++)
		hlg_code_close(codes[i]);
	free(codes);
}

void *hlg_code_kept(const struct hlg_code *code)
{
	return code->kept;
}

void hlg_code_keep(struct hlg_code *code, void *kept, void (*close)(void *kept))
{
	code->kept = kept;
	code->close_kept = close;
}

/* Readies [start, end), or what is stored of it. */
static void begin_sweep(struct hlg_code *code, uint64_t start, uint64_t end,
			struct sweep *sweep)
{
	uint64_t size = hlg_image_stored(code->image, start);

	size = end - start < size ? end - start : size;
	size = hlg_image_pread(code->image, code->fd, start, code->bytes, size);
	*sweep = (struct sweep){.image = code->image,
				.bytes = code->bytes,
				.start = start,
				.end = start + size,
				.addr = start};
}

/* What is no instruction hides where the next one begins, until a symbol tells. */
static uint64_t behind_data(const struct hlg_image *image, uint64_t addr)
{
	const struct hlg_symtab *tab = &image->tab;
	size_t next;

	if (image->elf.machine == EM_AARCH64)
		return addr < UINT64_MAX - 3 ? (addr | 3) + 1 : UINT64_MAX;
	next = HLG_BSEARCH_UPTO(tab->syms, tab->n_syms, addr, addr);
	return next < tab->n_syms ? tab->syms[next].addr : UINT64_MAX;
}

/* Steps over what is no instruction; of the next one's insn, the length at least. */
static bool next_insn(struct sweep *s, bool whole, struct hlg_insn *insn)
{
	unsigned machine = s->image->elf.machine;

	for (; s->addr < s->end; s->addr = behind_data(s->image, s->addr)) {
		const unsigned char *p = s->bytes + (s->addr - s->start);
		size_t left = s->end - s->addr;

		if (s->addr >= s->until)
			s->data = hlg_symbol_is_data(&s->image->tab, s->addr, &s->until);
		if (s->data)
			continue;
		if (whole && hlg_insn_decode(machine, p, left, s->addr, insn))
			return true;
		if (!whole)
			insn->length = hlg_insn_length(machine, p, left, s->addr);
		if (!whole && insn->length)
			return true;
	}
	return false;
}

bool hlg_code_walk(struct hlg_code *code, const struct hlg_place *place,
		   bool (*each)(void *ctx, uint64_t addr, const struct hlg_insn *insn),
		   void *ctx)
{
	struct sweep sweep;
	struct hlg_insn insn;

	begin_sweep(code, place->start, place->end, &sweep);
	for (; next_insn(&sweep, true, &insn); sweep.addr += insn.length)
		if (!each(ctx, sweep.addr, &insn))
			return false;
	return true;
}

/* What is recorded: only what the symbol owns, so that the order of asking is nothing. */
struct decoding {
	struct boundary_map *map;
	const struct hlg_image *image;
	const struct hlg_symbol *symbol;
	size_t span; /* of the last address */
};

static bool owns(const struct hlg_image *image, const struct hlg_symbol *symbol,
		 const struct hlg_span *span)
{
	return (span->kind == HLG_FUNCTION || span->kind == HLG_LABEL) &&
	       &image->tab.syms[span->index] == symbol;
}

static void record(struct decoding *m, uint64_t addr, unsigned length)
{
	const struct hlg_span *span = m->image->spans.span;
	struct boundary_map *map = m->map;
	uint64_t end = addr + length;

	while (span[m->span + 1].start <= addr)
		m->span++;
	span += m->span;
	if (end > map->end || !owns(m->image, m->symbol, span))
		return;
	map_set(map->starts, addr - map->start);
	map_know(map, addr, end < span[1].start ? end : span[1].start);
}

/* Decodes a symbol. */
static void decode_symbol(struct hlg_code *code, const struct hlg_place *place,
			  struct boundary_map *map)
{
	struct decoding m = {map, code->image, place->symbol,
			     hlg_span_find(&code->image->spans, place->start)};
	struct hlg_insn insn;
	struct sweep sweep;

	begin_sweep(code, place->start, place->end, &sweep);
	for (; next_insn(&sweep, false, &insn); sweep.addr += insn.length)
		record(&m, sweep.addr, insn.length);
}

/* Decodes place's symbol unless that is done. Returns where the bits are, or NULL. */
static struct boundary_map *ready(struct hlg_code *code, const struct hlg_place *place)
{
	struct boundary_map *map = find_map(code, place->start);
	uint64_t size;
	size_t i;

	if (!place->symbol || !map)
		return NULL;
	i = (size_t)(place->symbol - code->image->tab.syms);
	size = hlg_image_stored(code->image, place->start);
	size = place->end - place->start < size ? place->end - place->start : size;
	if (map_get(code->done, i) || size > code->left)
		return map;
	code->left -= size;
	decode_symbol(code, place, map);
	map_set(code->done, i);
	return map;
}

static enum hlg_boundary test(const struct boundary_map *map, uint64_t addr)
{
	if (!map || addr >= map->end || !map_get(map->known, addr - map->start))
		return HLG_BOUNDARY_UNKNOWN;
	return map_get(map->starts, addr - map->start) ? HLG_BOUNDARY_ON
						       : HLG_BOUNDARY_OFF;
}

enum hlg_boundary hlg_code_at(struct hlg_code *code, const struct hlg_place *place)
{
	return test(ready(code, place), place->addr);
}

enum hlg_boundary hlg_code_test(const struct hlg_code *code, uint64_t addr)
{
	return test(find_map(code, addr), addr);
}

static struct hlg_density count_own(const struct hlg_code *code,
				    const struct hlg_place *place,
				    const struct boundary_map *map)
{
	const struct hlg_spans *spans = &code->image->spans;
	size_t i = hlg_span_find(spans, place->start);
	struct hlg_density density = {0, 0};

	for (; i + 1 < spans->n && spans->span[i].start < place->end; i++) {
		const struct hlg_span *span = &spans->span[i];

		if (owns(code->image, place->symbol, span))
			map_count(map, span->start, span[1].start, &density.starts,
				  &density.bytes);
	}
	return density;
}

struct hlg_density hlg_code_density(struct hlg_code *code, const struct hlg_place *place)
{
	const struct boundary_map *map = ready(code, place);
	struct hlg_density *kept;

	if (!map)
		return (struct hlg_density){0, 0};
	kept = &code->densities[place->symbol - code->image->tab.syms];
	if (kept->bytes == 0)
		*kept = count_own(code, place, map);
	return *kept;
}

struct hlg_density hlg_code_total(const struct hlg_code *code)
{
	struct hlg_density density = {0, 0};

	for (size_t i = 0; i < code->n_maps; i++)
		map_count(&code->maps[i], code->maps[i].start, code->maps[i].end,
			  &density.starts, &density.bytes);
	return density;
}

/* Nothing runs in a gap's padding, so no instruction of interest begins there. */
static void record_padding(struct hlg_code *code, uint64_t start, uint64_t end)
{
	struct boundary_map *map = find_map(code, start);
	struct hlg_padding pad;
	struct sweep sweep;

	if (!map)
		return;
	begin_sweep(code, start, end, &sweep);
	if (sweep.end != end)
		return;
	pad = hlg_padding_find(code->image->elf.machine, sweep.bytes, end - start);
	map_know(map, start, start + pad.lead);
	map_know(map, end - pad.trail, end);
}

void hlg_code_find_padding(struct hlg_code *code)
{
	const struct hlg_spans *spans = &code->image->spans;

	/* Instructions of one length tell little else of a base. */
	for (size_t i = 0; !code->padding && i + 1 < spans->n; i++)
		if (spans->span[i].kind == HLG_GAP &&
		    code->image->elf.machine == EM_AARCH64)
			record_padding(code, spans->span[i].start,
				       spans->span[i + 1].start);
	code->padding = true;
}

void hlg_code_decode_all(struct hlg_code *code)
{
	const struct hlg_spans *spans = &code->image->spans;

	hlg_code_find_padding(code);
	for (size_t i = 0; i < spans->n; i++) {
		struct hlg_place place;

		hlg_image_lookup(code->image, spans->span[i].start, &place);
		if (place.symbol)
			ready(code, &place);
	}
}
