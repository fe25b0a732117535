// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/companion.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/options/options.h"
#include "filter/output/memstream.h"
#include "filter/output/out.h"
#include "filter/profile/index.h"
#include "filter/view/place-name.h"
#include "symtab/bsearch.h"
#include "symtab/escape.h"
#include "symtab/file.h"
#include "symtab/grow.h"

#define SOME 65536

bool hlg_companion_units_init(struct hlg_units *units, const struct hlg_image *image,
			      int gaps)
{
	const struct hlg_symtab *tab = &image->tab;
	uint64_t most = 0;

	*units = (struct hlg_units){.image = image, .gaps = gaps};
	units->ends = calloc(tab->n_syms + 1, sizeof(*units->ends));
	for (size_t i = 0; units->ends && i < tab->n_syms; i++) {
		units->ends[i] = most;
		most = tab->syms[i].end > most ? tab->syms[i].end : most;
	}
	return units->ends != NULL;
}

void hlg_companion_units_finish(struct hlg_units *units)
{
	free(units->ends);
}

/* May perf show the name, which it does as it is? */
static bool is_harmless(const struct hlg_units *units, const struct hlg_symbol *symbol)
{
	const char *name = hlg_image_name(units->image, symbol);

	return hlg_escape(NULL, 0, name) == strlen(name);
}

/* Does a function have all of its bytes, and its address, for itself, and a good name? */
static bool is_plain(const struct hlg_units *units, const struct hlg_unit *unit)
{
	const struct hlg_symbol *symbol = unit->place.symbol;
	const struct hlg_symtab *tab = &units->image->tab;
	size_t i;

	if (unit->place.kind != HLG_FUNCTION || !units->image->elf.by_name)
		return false;
	if (unit->start != symbol->addr || unit->end != symbol->end ||
	    !is_harmless(units, symbol))
		return false;
	i = (size_t)(symbol - tab->syms);
	return units->ends[i] <= symbol->addr &&
	       (i == 0 || tab->syms[i - 1].addr < symbol->addr) &&
	       (i + 1 == tab->n_syms || tab->syms[i + 1].addr >= symbol->end);
}

/* A gap that belongs to what is before it. */
static bool is_stretched(const struct hlg_units *units, size_t span)
{
	const struct hlg_span *s = &units->image->spans.span[span];
	struct hlg_place gap;

	if (units->gaps != HLG_GAPS_STRETCH || s->kind != HLG_GAP)
		return false;
	hlg_image_lookup(units->image, s->start, &gap);
	return hlg_image_neighbour(units->image, &gap, -1) != NULL;
}

bool hlg_companion_unit_get(const struct hlg_units *units, size_t span,
			    struct hlg_unit *unit)
{
	const struct hlg_spans *spans = &units->image->spans;
	size_t next = span + 1;

	/* The last one is outside and has no end. */
	if (next >= spans->n || spans->span[span].kind == HLG_OUTSIDE)
		return false;
	*unit = (struct hlg_unit){.start = spans->span[span].start};
	hlg_image_lookup(units->image, unit->start, &unit->place);
	while (next + 1 < spans->n && is_stretched(units, next))
		next++;
	unit->end = spans->span[next].start;
	unit->spans = next - span;
	unit->nameless = unit->place.kind == HLG_GAP && units->gaps == HLG_GAPS_DROP;
	unit->plain = is_plain(units, unit);
	return true;
}

bool hlg_companion_unit_find(const struct hlg_units *units, uint64_t addr,
			     struct hlg_unit *unit)
{
	size_t i = hlg_span_find(&units->image->spans, addr);

	if (i == SIZE_MAX)
		return false;
	while (i > 0 && is_stretched(units, i))
		i--;
	return hlg_companion_unit_get(units, i, unit);
}

/* An image's ELF, as far as writing its companion needs it. */
struct companion {
	const struct hlg_image *image;
	int fd;
	struct hlg_build_id id; /* of the ELF */
	uint64_t id_at;         /* its offset in the file */
	Elf64_Ehdr header;
	Elf64_Shdr *sections; /* with room for three more */
	size_t n_sections;
	char *names; /* of sections, those of the three at the end */
	size_t names_size;
};

static int malformed(const struct companion *c, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: its section headers are malformed (link it again)",
			   c->image->path);
}

static int read_at(const struct companion *c, void *to, size_t n, uint64_t at,
		   struct hlg_err *err)
{
	if (hlg_file_read(c->fd, to, n, at) == 0)
		return 0;
	return errno ? hlg_file_fail_read(c->image->path, errno, err) : malformed(c, err);
}

/* In the file, wholly. */
static bool is_inside(const struct companion *c, const Elf64_Shdr *s)
{
	uint64_t size = (uint64_t)c->image->elf.id.size;

	return s->sh_type != SHT_NOBITS && s->sh_offset <= size &&
	       s->sh_size <= size - s->sh_offset;
}

/* Names of the three sections that a companion has more, behind those that there are. */
static const char more_names[] = "\0.symtab\0.strtab\0.shstrtab";

static int read_names(struct companion *c, const Elf64_Shdr *names, struct hlg_err *err)
{
	int rc;

	if (!is_inside(c, names) || names->sh_size > UINT32_MAX / 2)
		return malformed(c, err);
	c->names_size = names->sh_size + sizeof(more_names);
	c->names = malloc(c->names_size);
	if (!c->names)
		return hlg_err_memory(err, c->image->path);
	rc = read_at(c, c->names, names->sh_size, names->sh_offset, err);
	memcpy(c->names + names->sh_size, more_names, sizeof(more_names));
	return rc;
}

static int read_sections(struct companion *c, struct hlg_err *err)
{
	int rc = read_at(c, &c->header, sizeof(c->header), 0, err);
	size_t n = c->header.e_shnum;

	if (rc < 0)
		return rc;
	if (n == 0 || n + 3 >= SHN_LORESERVE || c->header.e_shstrndx >= n ||
	    c->header.e_shentsize != sizeof(*c->sections))
		return malformed(c, err);
	c->sections = calloc(n + 3, sizeof(*c->sections));
	if (!c->sections)
		return hlg_err_memory(err, c->image->path);
	rc = read_at(c, c->sections, n * sizeof(*c->sections), c->header.e_shoff, err);
	if (rc < 0)
		return rc;
	c->n_sections = n;
	return read_names(c, &c->sections[c->header.e_shstrndx], err);
}

static const char *name_of(const struct companion *c, const Elf64_Shdr *s)
{
	return s->sh_name < c->names_size ? c->names + s->sh_name : "";
}

/* A note's header, and "GNU" behind it. */
struct gnu_note {
	Elf64_Nhdr header;
	char name[4];
};

/* The first build id in a section of notes, if there is one. */
static void find_in(struct companion *c, const Elf64_Shdr *s)
{
	uint64_t at = s->sh_offset, end = s->sh_offset + s->sh_size;
	struct gnu_note note;

	while (c->id.size == 0 && end - at >= sizeof(note)) {
		uint64_t size;

		if (hlg_file_read(c->fd, &note, sizeof(note), at))
			return;
		size = sizeof(note.header) + ((uint64_t)note.header.n_namesz + 3) / 4 * 4;
		if (note.header.n_type == NT_GNU_BUILD_ID && note.header.n_namesz == 4 &&
		    memcmp(note.name, "GNU", 4) == 0 && note.header.n_descsz > 0 &&
		    note.header.n_descsz <= HLG_BUILD_ID_MAX &&
		    end - at - sizeof(note) >= note.header.n_descsz) {
			c->id_at = at + sizeof(note);
			if (!hlg_file_read(c->fd, c->id.bytes, note.header.n_descsz,
					   c->id_at))
				c->id.size = note.header.n_descsz;
			return;
		}
		size += ((uint64_t)note.header.n_descsz + 3) / 4 * 4;
		if (size > end - at)
			return;
		at += size;
	}
}

/* Where perf looks for it, in this order (elf_read_build_id, util/symbol-elf.c). */
static void find_id(struct companion *c)
{
	static const char *const names[] = {".note.gnu.build-id", ".notes", ".note"};
	const Elf64_Shdr *s = c->sections;

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		for (size_t i = 1; c->id.size == 0 && i < c->n_sections; i++)
			if (s[i].sh_type == SHT_NOTE && is_inside(c, &s[i]) &&
			    strcmp(name_of(c, &s[i]), names[k]) == 0)
				find_in(c, &s[i]);
}

/* Opens the image's file again; the caller finishes it in any case. */
static int open_image(struct companion *c, const struct hlg_image *image,
		      struct hlg_err *err)
{
	int rc;

	*c = (struct companion){.image = image};
	c->fd = hlg_image_reopen(image, err);
	if (c->fd < 0)
		return c->fd;
	rc = read_sections(c, err);
	if (rc == 0)
		find_id(c);
	return rc;
}

static void finish(struct companion *c)
{
	free(c->sections);
	free(c->names);
	if (c->fd >= 0)
		close(c->fd);
}

int hlg_companion_image_id(const struct hlg_image *image, struct hlg_build_id *id,
			   struct hlg_err *err)
{
	struct companion c;
	int rc = open_image(&c, image, err);

	*id = c.id;
	finish(&c);
	return rc;
}

/* The companion's symbol table, as an ELF file holds it. */
struct sized {
	Elf64_Sym *syms; /* the first is the null symbol; all others are global */
	size_t n;
	struct hlg_memstream text; /* of names */
	char *names;               /* strings, the first one empty */
	size_t names_size;
};

/* False without memory, or past 2^32. */
static bool add_symbol(struct sized *s, Elf64_Sym sym, const char *name)
{
	size_t n = strlen(name) + 1;

	if (s->names_size + n > UINT32_MAX || !HLG_GROW(s->syms, s->n))
		return false;
	sym.st_name = (Elf64_Word)s->names_size;
	s->names_size += n;
	s->syms[s->n++] = sym;
	return fwrite_unlocked(name, 1, n, s->text.f) == n;
}

/* The section that claims an own address, else the first that holds code. */
static Elf64_Section section_of(const struct hlg_image *image, uint64_t addr)
{
	const struct hlg_elf64 *elf = &image->elf;
	size_t behind = HLG_BSEARCH_UPTO(image->areas, image->n_areas, start, addr);
	uint32_t section;

	section = image->n_areas ? image->areas[behind ? behind - 1 : 0].section : 0;
	for (uint32_t i = 1; section == 0 && i < elf->n_sections; i++)
		if (elf->sections[i].exec)
			section = i;
	return (Elf64_Section)(section ? section : 1);
}

static bool add_unit(struct sized *s, const struct hlg_image *image,
		     const struct hlg_unit *unit, bool demangle)
{
	bool named = unit->place.kind == HLG_FUNCTION || unit->place.kind == HLG_LABEL;
	char *raw = hlg_place_name(&unit->place, demangle && !named);
	char *name = raw ? hlg_escape_dup(raw) : NULL; /* perf shows all bytes */
	bool ok =
		name && add_symbol(s,
				   (Elf64_Sym){
					   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					   .st_shndx = section_of(image, unit->start),
					   .st_value = unit->start,
					   .st_size = unit->end - unit->start,
				   },
				   name);

	free(raw);
	free(name);
	return ok;
}

/*
 * One symbol for each unit, in the order of addresses, its name escaped (escape.h), since
 * perf shows names as they are. demangle: of gaps, which are called by what is next to
 * them; functions and labels are called as in the ELF, since perf demangles them itself.
 * False without memory.
 */
static bool build_symbols(struct sized *s, const struct hlg_units *units, bool demangle)
{
	struct hlg_unit unit;
	bool ok = hlg_memstream_open(&s->text) && add_symbol(s, (Elf64_Sym){0}, "");

	for (size_t i = 0; ok && i < units->image->spans.n;) {
		bool inside = hlg_companion_unit_get(units, i, &unit);

		if (inside && !unit.nameless)
			ok = add_unit(s, units->image, &unit, demangle);
		i += inside ? unit.spans : 1;
	}
	s->names = hlg_memstream_close(&s->text);
	return ok && s->names;
}

/* A hash, once for each 8 bytes of the id: it names, nothing more. */
static void hash_id(const struct companion *c, const struct sized *s,
		    struct hlg_build_id *id)
{
	const struct {
		const void *at;
		size_t size;
	} parts[] = {{c->id.bytes, c->id.size},
		     {s->syms, s->n * sizeof(*s->syms)},
		     {s->names, s->names_size}};
	uint8_t *to = id->bytes;

	*id = (struct hlg_build_id){.size = c->id.size};
	for (size_t done = 0; done < id->size; done += 8) {
		uint64_t h = HLG_HASH_SEED + done;

		for (size_t p = 0; p < 3; p++)
			h = hlg_hash_fnv(h, parts[p].at, parts[p].size);
		memcpy(to + done, &h, id->size - done < 8 ? id->size - done : 8);
	}
}

/* What perf, or objdump, could take symbols from. */
static void hide(const struct companion *c, Elf64_Shdr *s)
{
	const char *name = name_of(c, s);
	bool relocations = s->sh_type == SHT_RELA || s->sh_type == SHT_REL;

	if (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_SYMTAB_SHNDX ||
	    (relocations && !(s->sh_flags & SHF_ALLOC))) {
		s->sh_type = SHT_NULL;
		s->sh_name = 0;
	} else if (s->sh_type == SHT_DYNSYM || strcmp(name, ".symtab") == 0 ||
		   strcmp(name, ".dynsym") == 0 || strcmp(name, ".gnu_debuglink") == 0 ||
		   (relocations && strstr(name, "plt"))) {
		s->sh_type = SHT_PROGBITS;
		s->sh_name = 0;
	}
}

/* Writes n bytes, and zeros up to the next multiple of 8; *at is where the file ends. */
static void put(FILE *f, uint64_t *at, const void *bytes, size_t n)
{
	static const uint8_t none[8];

	fwrite_unlocked(bytes, 1, n, f);
	fwrite_unlocked(none, 1, -n & 7, f);
	*at += n + (-n & 7);
}

/* The file as it is; *at becomes its end, aligned to 8. */
static int copy_file(const struct companion *c, FILE *f, uint64_t *at,
		     struct hlg_err *err)
{
	uint64_t size = (uint64_t)c->image->elf.id.size;
	uint8_t some[SOME];

	for (*at = 0; *at < size && !ferror(f);) {
		size_t now = size - *at < SOME ? (size_t)(size - *at) : SOME;

		if (hlg_file_read(c->fd, some, now, *at))
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: cannot be copied (is it changing?)",
					   c->image->path);
		put(f, at, some, now);
	}
	return 0;
}

/* .symtab, .strtab and .shstrtab, then all section headers; returns where these are. */
static uint64_t put_tables(const struct companion *c, const struct sized *s, FILE *f,
			   uint64_t at)
{
	const void *const bytes[] = {s->syms, s->names, c->names};
	Elf64_Shdr *own = c->sections + c->n_sections;
	Elf64_Word name = (Elf64_Word)(c->names_size - sizeof(more_names)) + 1;

	own[0] = (Elf64_Shdr){.sh_name = name,
			      .sh_type = SHT_SYMTAB,
			      .sh_size = s->n * sizeof(*s->syms),
			      .sh_link = (Elf64_Word)c->n_sections + 1,
			      .sh_info = 1, /* the first that is not local */
			      .sh_addralign = 8,
			      .sh_entsize = sizeof(*s->syms)};
	own[1] = (Elf64_Shdr){.sh_name = name + 8,
			      .sh_type = SHT_STRTAB,
			      .sh_size = s->names_size,
			      .sh_addralign = 1};
	own[2] = (Elf64_Shdr){.sh_name = name + 16,
			      .sh_type = SHT_STRTAB,
			      .sh_size = c->names_size,
			      .sh_addralign = 1};
	for (size_t i = 0; i < 3; i++) {
		own[i].sh_offset = at;
		put(f, &at, bytes[i], own[i].sh_size);
	}
	for (size_t i = 1; i < c->n_sections; i++)
		hide(c, &c->sections[i]);
	fwrite_unlocked(c->sections, sizeof(*own), c->n_sections + 3, f);
	return at;
}

/* False, and errno, if f cannot go there. */
static bool put_at(FILE *f, uint64_t at, const void *bytes, size_t n)
{
	if (fseeko(f, (off_t)at, SEEK_SET) != 0)
		return false;
	fwrite_unlocked(bytes, 1, n, f);
	return true;
}

static int write_to(struct companion *c, const struct sized *symbols, FILE *f,
		    const char *path, struct hlg_build_id *id, struct hlg_err *err)
{
	Elf64_Ehdr header = c->header;
	uint64_t at;
	int rc = copy_file(c, f, &at, err);

	if (rc < 0)
		return rc;
	hash_id(c, symbols, id);
	header.e_shoff = put_tables(c, symbols, f, at);
	header.e_shnum = (Elf64_Half)(c->n_sections + 3);
	header.e_shstrndx = (Elf64_Half)(c->n_sections + 2);
	if (!put_at(f, 0, &header, sizeof(header)) ||
	    (id->size && !put_at(f, c->id_at, id->bytes, id->size)))
		return hlg_out_fail(path, "written", errno, err);
	return 0;
}

int hlg_companion_write(const struct hlg_units *units, bool demangle, FILE *f,
			const char *path, struct hlg_build_id *id, struct hlg_err *err)
{
	struct sized symbols = {0};
	struct companion c;
	int rc = open_image(&c, units->image, err);

	if (rc == 0 && !build_symbols(&symbols, units, demangle))
		rc = hlg_err_memory(err, units->image->path);
	if (rc == 0)
		rc = write_to(&c, &symbols, f, path, id, err);
	free(symbols.syms);
	free(symbols.names);
	finish(&c);
	return rc;
}
