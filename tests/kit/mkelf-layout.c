// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where everything in the file goes: the sections are listed (the caller's, then our
 * own), the PT_LOADs placed, and every section put in its PT_LOAD or after them.
 */
#include "tests/kit/mkelf-layout.h"

#include <errno.h>
#include <string.h>

#define MAX_FILE  (UINT64_C(1) << 30)
#define MAX_ALIGN 0x10000 /* a hostile alignment is written, but not followed */

static uint64_t round_up(uint64_t value, uint64_t align)
{
	if (align <= 1 || align > MAX_ALIGN)
		return value;
	return (value + align - 1) / align * align;
}

/* First offset from `from` on that is congruent to addr modulo align. */
static uint64_t congruent(uint64_t from, uint64_t addr, uint64_t align)
{
	uint64_t off;

	if (align <= 1 || align > MAX_ALIGN)
		return from;
	off = from - from % align + addr % align;
	return off < from ? off + align : off;
}

static size_t name_size(const char *name)
{
	return name ? strlen(name) + 1 : 0;
}

unsigned mkelf_tables_of(const struct mkelf *elf, const struct mkelf_sym *sym)
{
	return sym->tables == MKELF_INHERIT ? elf->tables : sym->tables;
}

static unsigned add_section(struct mkelf_layout *l, const struct mkelf_section *sec)
{
	l->sec[l->n_sec] = *sec;
	return (unsigned)l->n_sec++;
}

static uint64_t note_size(size_t owner, size_t desc, uint64_t align)
{
	return round_up(sizeof(Elf64_Nhdr) + round_up(owner, 4) + desc, align);
}

static unsigned add_note(struct mkelf_layout *l, const char *name, uint64_t size,
			 uint64_t align)
{
	struct mkelf_section sec = {
		.name = name,
		.type = SHT_NOTE,
		.size = size,
		.align = align,
	};

	if (l->elf->notes_addr) {
		const struct mkelf_section *prev = &l->sec[l->n_sec - 1];

		sec.flags = SHF_ALLOC;
		sec.addr = l->n_notes ? round_up(prev->addr + prev->size, 8)
				      : l->elf->notes_addr;
	}
	l->note[l->n_notes] = add_section(l, &sec);
	return l->note[l->n_notes++];
}

static void add_symbols(struct mkelf_layout *l, unsigned table, uint32_t type,
			const char *sym_name, const char *str_name, unsigned *sym_index,
			unsigned *str_index)
{
	const struct mkelf *elf = l->elf;
	struct mkelf_section symbols = {.name = sym_name, .type = type};
	struct mkelf_section strings = {.name = str_name, .type = SHT_STRTAB};
	uint64_t entries = 1;
	bool only_locals = true;

	symbols.info = 1;
	strings.size = 1;
	for (size_t i = 0; i < elf->n_syms; i++) {
		const struct mkelf_sym *sym = &elf->syms[i];

		if (!(mkelf_tables_of(elf, sym) & table))
			continue;
		entries++;
		strings.size += name_size(sym->name);
		only_locals = only_locals && sym->bind == STB_LOCAL;
		symbols.info += only_locals;
	}
	symbols.size = entries * mkelf_sym_size(elf->elf32);
	symbols.entsize = mkelf_sym_size(elf->elf32);
	symbols.align = 8;
	symbols.link = (uint32_t)l->n_sec + 1;
	strings.align = 1;
	*sym_index = add_section(l, &symbols);
	*str_index = add_section(l, &strings);
}

static void add_names(struct mkelf_layout *l)
{
	static const char own_name[] = ".shstrtab";
	struct mkelf_section names = {.name = own_name, .type = SHT_STRTAB};

	names.size = 1 + sizeof(own_name);
	names.align = 1;
	for (size_t i = 1; i < l->n_sec; i++)
		names.size += name_size(l->sec[i].name);
	l->img->shstrtab = add_section(l, &names);
}

static void list_sections(struct mkelf_layout *l)
{
	const struct mkelf *elf = l->elf;
	struct mkelf_image *img = l->img;

	l->n_sec = 1;
	for (size_t i = 0; i < elf->n_sections; i++)
		add_section(l, &elf->sections[i]);
	if (elf->build_id)
		img->build_id =
			add_note(l, ".note.gnu.build-id",
				 note_size(sizeof("GNU"), elf->build_id_size, 4), 4);
	if (elf->version)
		img->version = add_note(
			l, ".note.hyperlight-version",
			note_size(sizeof("Hyperlight"), name_size(elf->version), 8), 8);
	if (elf->tables & MKELF_SYMTAB)
		add_symbols(l, MKELF_SYMTAB, SHT_SYMTAB, ".symtab", ".strtab",
			    &img->symtab, &img->strtab);
	if (elf->tables & MKELF_DYNSYM)
		add_symbols(l, MKELF_DYNSYM, SHT_DYNSYM, ".dynsym", ".dynstr",
			    &img->dynsym, &img->dynstr);
	add_names(l);
}

/* Index of the PT_LOAD around [addr, addr + size), or -1. */
static long segment_around(const struct mkelf *elf, uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct mkelf_segment *seg = &elf->segments[i];
		uint64_t memsz = seg->memsz ? seg->memsz : seg->filesz;

		if (seg->type != PT_LOAD || addr < seg->vaddr)
			continue;
		if (addr - seg->vaddr <= memsz && size <= memsz - (addr - seg->vaddr))
			return (long)i;
	}
	return -1;
}

static long segment_of(const struct mkelf_layout *l, size_t i)
{
	const struct mkelf_section *sec = &l->sec[i];

	if (!(sec->flags & SHF_ALLOC))
		return -1;
	return segment_around(l->elf, sec->addr, sec->size);
}

static int grow(struct mkelf_layout *l, uint64_t start, uint64_t size)
{
	if (start > MAX_FILE || size > MAX_FILE - start)
		return -E2BIG;
	if (l->end < start + size)
		l->end = start + size;
	return 0;
}

static int place_segments(struct mkelf_layout *l)
{
	const struct mkelf *elf = l->elf;

	for (size_t i = 0; i < elf->n_segments; i++)
		l->seg_filesz[i] = elf->segments[i].filesz;
	for (size_t i = 1; i < l->n_sec; i++) {
		long s = segment_of(l, i);
		uint64_t end;

		if (s < 0 || l->sec[i].type == SHT_NOBITS)
			continue;
		end = l->sec[i].addr - elf->segments[s].vaddr + l->sec[i].size;
		if (l->seg_filesz[s] < end)
			l->seg_filesz[s] = end;
	}
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct mkelf_segment *seg = &elf->segments[i];
		int rc;

		if (seg->type != PT_LOAD && !seg->data)
			continue;
		l->seg_off[i] = congruent(l->end, seg->vaddr, seg->align);
		rc = grow(l, l->seg_off[i], l->seg_filesz[i]);
		if (rc)
			return rc;
	}
	return 0;
}

/* Program headers that only point at what others have put in the file. */
static void point_segments(struct mkelf_layout *l)
{
	for (size_t i = 0; i < l->elf->n_segments; i++) {
		const struct mkelf_segment *seg = &l->elf->segments[i];
		long s;

		if (seg->type == PT_LOAD || seg->data)
			continue;
		s = segment_around(l->elf, seg->vaddr, seg->filesz);
		if (s >= 0 && seg->filesz)
			l->seg_off[i] =
				l->seg_off[s] + seg->vaddr - l->elf->segments[s].vaddr;
	}
}

static int place_sections(struct mkelf_layout *l)
{
	for (size_t i = 1; i < l->n_sec; i++) {
		const struct mkelf_section *sec = &l->sec[i];
		long s = segment_of(l, i);
		int rc;

		if (s >= 0) {
			l->sec_off[i] =
				l->seg_off[s] + sec->addr - l->elf->segments[s].vaddr;
			continue;
		}
		l->sec_off[i] = round_up(l->end, sec->align);
		rc = grow(l, l->sec_off[i], sec->type == SHT_NOBITS ? 0 : sec->size);
		if (rc)
			return rc;
	}
	return 0;
}

int mkelf_layout(struct mkelf_layout *l)
{
	struct mkelf_image *img = l->img;
	int rc;

	list_sections(l);
	img->phnum = (unsigned)l->elf->n_segments;
	if (!l->elf->no_note_segments)
		img->phnum += l->n_notes;
	l->end = mkelf_ehdr_size(img->elf32);
	if (img->phnum)
		img->phoff = l->end;
	l->end += img->phnum * mkelf_phdr_size(img->elf32);
	rc = place_segments(l);
	if (rc)
		return rc;
	point_segments(l);
	rc = place_sections(l);
	if (rc || l->elf->no_section_headers)
		return rc;
	img->shnum = (unsigned)l->n_sec;
	img->shoff = round_up(l->end, 8);
	return grow(l, img->shoff, img->shnum * mkelf_shdr_size(img->elf32));
}
