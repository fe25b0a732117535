// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of the file, once mkelf-layout.c has said where each piece goes. Both
 * byte orders and both classes go through put().
 */
#include "tests/kit/mkelf-layout.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A place in the image that moves on as fields are written. */
struct cursor {
	struct mkelf_image *img;
	size_t off;
};

void mkelf_put(struct mkelf_image *img, size_t off, unsigned width, uint64_t value)
{
	uint64_t v = img->big_endian ? htobe64(value) : htole64(value);
	const uint8_t *from = (const uint8_t *)&v + (img->big_endian ? 8 - width : 0);

	assert(width == 1 || width == 2 || width == 4 || width == 8);
	assert(off <= img->size && width <= img->size - off);
	memcpy(img->bytes + off, from, width);
}

static uint64_t get(const struct mkelf_image *img, size_t off, unsigned width)
{
	uint64_t v = 0;

	assert(off <= img->size && width <= img->size - off);
	memcpy((uint8_t *)&v + (img->big_endian ? 8 - width : 0), img->bytes + off,
	       width);
	return img->big_endian ? be64toh(v) : le64toh(v);
}

static void put(struct cursor *c, unsigned width, uint64_t value)
{
	mkelf_put(c->img, c->off, width, value);
	c->off += width;
}

/* An Elf_Addr, Elf_Off or Elf_Xword: as wide as the class. */
static void put_word(struct cursor *c, uint64_t value)
{
	put(c, c->img->elf32 ? 4 : 8, value);
}

static void put_bytes(struct cursor *c, const void *bytes, size_t size)
{
	assert(c->off <= c->img->size && size <= c->img->size - c->off);
	if (size)
		memcpy(c->img->bytes + c->off, bytes, size);
	c->off += size;
}

size_t mkelf_shdr(const struct mkelf_image *img, unsigned i)
{
	return img->shoff + i * mkelf_shdr_size(img->elf32);
}

size_t mkelf_phdr(const struct mkelf_image *img, unsigned i)
{
	return img->phoff + i * mkelf_phdr_size(img->elf32);
}

size_t mkelf_bytes(const struct mkelf_image *img, unsigned i)
{
	size_t shdr = mkelf_shdr(img, i);

	if (img->elf32)
		return get(img, shdr + offsetof(Elf32_Shdr, sh_offset), 4);
	return get(img, shdr + offsetof(Elf64_Shdr, sh_offset), 8);
}

static void write_ehdr(const struct mkelf_layout *l)
{
	const struct mkelf_image *img = l->img;
	struct cursor c = {l->img, 0};
	unsigned char ident[EI_NIDENT] =
		ELFMAG "\2\1\1"; /* 64, little-endian, EV_CURRENT */

	if (img->elf32)
		ident[EI_CLASS] = ELFCLASS32;
	if (img->big_endian)
		ident[EI_DATA] = ELFDATA2MSB;
	ident[EI_OSABI] = l->elf->osabi;
	put_bytes(&c, ident, sizeof(ident));
	put(&c, 2, l->elf->type);
	put(&c, 2, l->elf->machine);
	put(&c, 4, EV_CURRENT);
	put_word(&c, l->elf->entry);
	put_word(&c, img->phoff);
	put_word(&c, img->shoff);
	put(&c, 4, l->elf->flags);
	put(&c, 2, mkelf_ehdr_size(img->elf32));
	put(&c, 2, img->phnum ? mkelf_phdr_size(img->elf32) : 0);
	put(&c, 2, img->phnum);
	put(&c, 2, img->shnum ? mkelf_shdr_size(img->elf32) : 0);
	put(&c, 2, img->shnum);
	put(&c, 2, img->shnum ? img->shstrtab : 0);
}

static void write_phdr(struct cursor *c, const struct mkelf_segment *seg, uint64_t offset,
		       uint64_t filesz)
{
	put(c, 4, seg->type);
	if (!c->img->elf32)
		put(c, 4, seg->flags);
	put_word(c, offset);
	put_word(c, seg->vaddr);
	put_word(c, seg->vaddr);
	put_word(c, filesz);
	put_word(c, seg->memsz ? seg->memsz : filesz);
	if (c->img->elf32)
		put(c, 4, seg->flags);
	put_word(c, seg->align);
}

static void write_segments(const struct mkelf_layout *l)
{
	struct cursor c = {l->img, l->img->phoff};
	size_t notes = l->elf->no_note_segments ? 0 : l->n_notes;

	for (size_t i = 0; i < l->elf->n_segments; i++) {
		const struct mkelf_segment *seg = &l->elf->segments[i];
		struct cursor data = {l->img, l->seg_off[i]};

		write_phdr(&c, seg, l->seg_off[i], l->seg_filesz[i]);
		if (seg->data)
			put_bytes(&data, seg->data, seg->filesz);
	}
	for (size_t i = 0; i < notes; i++) {
		const struct mkelf_section *sec = &l->sec[l->note[i]];
		struct mkelf_segment seg = {
			.type = PT_NOTE,
			.flags = PF_R,
			.vaddr = sec->addr,
			.align = sec->align,
		};

		write_phdr(&c, &seg, l->sec_off[l->note[i]], sec->size);
	}
}

static void write_sections(const struct mkelf_layout *l)
{
	for (size_t i = 1; i <= l->elf->n_sections; i++) {
		const struct mkelf_section *sec = &l->sec[i];
		struct cursor c = {l->img, l->sec_off[i]};

		if (sec->type == SHT_NOBITS)
			continue;
		if (sec->data)
			put_bytes(&c, sec->data, sec->size);
		else if (sec->fill)
			memset(l->img->bytes + c.off, sec->fill, sec->size);
	}
}

static void write_section_headers(const struct mkelf_layout *l)
{
	struct cursor c = {l->img, l->img->shoff};
	struct cursor names = {l->img, l->sec_off[l->img->shstrtab]};
	const size_t first = names.off++;

	for (size_t i = 0; i < l->n_sec; i++) {
		const struct mkelf_section *sec = &l->sec[i];
		size_t name = 0;

		if (sec->name) {
			name = names.off - first;
			put_bytes(&names, sec->name, strlen(sec->name) + 1);
		}
		if (!l->img->shnum)
			continue;
		put(&c, 4, name);
		put(&c, 4, sec->type);
		put_word(&c, sec->flags);
		put_word(&c, sec->addr);
		put_word(&c, l->sec_off[i]);
		put_word(&c, sec->size);
		put(&c, 4, sec->link);
		put(&c, 4, sec->info);
		put_word(&c, sec->align);
		put_word(&c, sec->entsize);
	}
}

static void write_note(const struct mkelf_layout *l, unsigned sec, const char *owner,
		       uint32_t type, const void *desc, size_t desc_size)
{
	struct cursor c = {l->img, l->sec_off[sec]};
	size_t owner_size = strlen(owner) + 1;

	if (!sec)
		return;
	put(&c, 4, owner_size);
	put(&c, 4, desc_size);
	put(&c, 4, type);
	put_bytes(&c, owner, owner_size);
	c.off = (c.off - l->sec_off[sec] + 3) / 4 * 4 + l->sec_off[sec];
	put_bytes(&c, desc, desc_size);
}

static void write_symbol(struct cursor *c, const struct mkelf_sym *sym, uint32_t name)
{
	put(c, 4, name);
	if (c->img->elf32) {
		put(c, 4, sym->value);
		put(c, 4, sym->size);
	}
	put(c, 1, (unsigned)sym->bind << 4 | (sym->type & 0xf));
	put(c, 1, sym->other);
	put(c, 2, sym->shndx);
	if (!c->img->elf32) {
		put(c, 8, sym->value);
		put(c, 8, sym->size);
	}
}

static void write_symbols(const struct mkelf_layout *l, unsigned table, unsigned sym_sec,
			  unsigned str_sec)
{
	struct cursor c = {l->img, l->sec_off[sym_sec] + mkelf_sym_size(l->elf->elf32)};
	struct cursor names = {l->img, l->sec_off[str_sec]};
	const size_t first = names.off++;

	if (!sym_sec)
		return;
	for (size_t i = 0; i < l->elf->n_syms; i++) {
		const struct mkelf_sym *sym = &l->elf->syms[i];
		size_t name = 0;

		if (!(mkelf_tables_of(l->elf, sym) & table))
			continue;
		if (sym->name) {
			name = names.off - first;
			put_bytes(&names, sym->name, strlen(sym->name) + 1);
		}
		write_symbol(&c, sym, sym->st_name ? sym->st_name : (uint32_t)name);
	}
}

static void write_all(const struct mkelf_layout *l)
{
	const struct mkelf *elf = l->elf;
	const struct mkelf_image *img = l->img;

	write_ehdr(l);
	write_segments(l);
	write_sections(l);
	write_note(l, img->build_id, "GNU", NT_GNU_BUILD_ID, elf->build_id,
		   elf->build_id_size);
	write_note(l, img->version, "Hyperlight", 1, elf->version,
		   elf->version ? strlen(elf->version) + 1 : 0);
	write_symbols(l, MKELF_SYMTAB, img->symtab, img->strtab);
	write_symbols(l, MKELF_DYNSYM, img->dynsym, img->dynstr);
	write_section_headers(l);
}

static int build(struct mkelf_layout *l)
{
	int rc = mkelf_layout(l);

	if (rc)
		return rc;
	l->img->bytes = calloc(1, l->end);
	if (!l->img->bytes)
		return -ENOMEM;
	l->img->size = l->end;
	write_all(l);
	return 0;
}

int mkelf_build(const struct mkelf *elf, struct mkelf_image *out)
{
	size_t n_sec = elf->n_sections + MKELF_MAX_ADDED;
	size_t per_sec = sizeof(struct mkelf_section) + sizeof(uint64_t);
	struct mkelf_layout l = {.elf = elf, .img = out};
	void *block;
	int rc;

	*out = (struct mkelf_image){.elf32 = elf->elf32, .big_endian = elf->big_endian};
	if (n_sec >= SHN_LORESERVE || elf->n_segments >= PN_XNUM - MKELF_MAX_NOTES)
		return -EINVAL;
	/* One block for the four arrays: images are built by the thousand. */
	block = calloc(1, n_sec * per_sec + elf->n_segments * 2 * sizeof(uint64_t));
	if (!block)
		return -ENOMEM;
	l.sec = block;
	l.sec_off = (uint64_t *)(l.sec + n_sec);
	l.seg_off = l.sec_off + n_sec;
	l.seg_filesz = l.seg_off + elf->n_segments;
	rc = build(&l);
	free(block);
	if (rc)
		mkelf_finish(out);
	return rc;
}

void mkelf_finish(struct mkelf_image *img)
{
	free(img->bytes);
	*img = (struct mkelf_image){0};
}

int mkelf_write(const struct mkelf_image *img, const char *path)
{
	FILE *f;
	size_t done;
	int rc = 0;

	unlink(path); /* ext4 writes what replaces a file to the disk at once */
	f = fopen(path, "wb");

	if (!f)
		return -errno;
	done = img->size ? fwrite(img->bytes, 1, img->size, f) : 0;
	if (done != img->size)
		rc = -errno;
	if (fclose(f) && !rc)
		rc = -errno;
	return rc;
}

void mkelf_simple_init(struct mkelf_simple *s, uint64_t vaddr, const void *text,
		       size_t text_size, const struct mkelf_sym *syms, size_t n_syms)
{
	s->segment = (struct mkelf_segment){
		.type = PT_LOAD,
		.flags = PF_R | PF_X,
		.vaddr = vaddr,
		.memsz = text_size,
		.align = 0x1000,
	};
	s->text = (struct mkelf_section){
		.name = ".text",
		.type = SHT_PROGBITS,
		.flags = SHF_ALLOC | SHF_EXECINSTR,
		.addr = vaddr,
		.size = text_size,
		.data = text,
		.align = 1,
	};
	s->elf = (struct mkelf){
		.type = ET_DYN,
		.machine = EM_X86_64,
		.entry = vaddr,
		.segments = &s->segment,
		.n_segments = 1,
		.sections = &s->text,
		.n_sections = 1,
		.syms = syms,
		.n_syms = n_syms,
		.tables = MKELF_SYMTAB,
	};
}

int mkelf_simple(struct mkelf_image *out, uint64_t vaddr, const void *text,
		 size_t text_size, const struct mkelf_sym *syms, size_t n_syms)
{
	struct mkelf_simple s;

	mkelf_simple_init(&s, vaddr, text, text_size, syms, n_syms);
	return mkelf_build(&s.elf, out);
}
