// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/elf64-tables.h"

#include <stdlib.h>

#include "symtab/elf/note.h"

#define NO_SYMBOLS                                                                       \
	"has no symbols (it was stripped: `strip -s` and, for Rust, `strip = "           \
	"\"symbols\"` "                                                                  \
	"remove them, `strip --strip-debug` is safe)"

static int read_table(struct hlg_elf64_reader *r, const GElf_Shdr *sh, void **out)
{
	if (sh->sh_flags & SHF_COMPRESSED)
		return hlg_err_set(r->err, HLG_EINPUT,
				   "%s: has a compressed symbol table (build it without)",
				   r->path);
	if (!hlg_elf64_reader_in_file(r, sh->sh_offset, sh->sh_size))
		return hlg_elf64_reader_damaged(
			r, "has a symbol table that ends past the file");
	return hlg_elf64_reader_contents(r, sh, out);
}

/* Sections of notes do not overlap: all of them are in the file but once. */
static int read_notes(struct hlg_elf64_reader *r, const GElf_Shdr *sh)
{
	void *bytes;
	int rc;

	if (sh->sh_flags & SHF_COMPRESSED ||
	    !hlg_elf64_reader_in_file(r, sh->sh_offset, sh->sh_size))
		return 0;
	if (sh->sh_size > r->size - r->notes)
		return hlg_elf64_reader_damaged(r, "has sections of notes that overlap");
	r->notes += sh->sh_size;
	rc = hlg_elf64_reader_contents(r, sh, &bytes);
	if (rc == 0)
		hlg_note_read(r->elf, bytes, sh->sh_size, sh->sh_addralign);
	free(bytes);
	return rc;
}

static int read_symbols(struct hlg_elf64_reader *r, const GElf_Shdr *sh)
{
	struct hlg_elf64 *elf = r->elf;
	Elf_Scn *names = elf_getscn(r->libelf, sh->sh_link);
	GElf_Shdr str;
	int rc;

	if (sh->sh_entsize != sizeof(Elf64_Sym) || !names || !gelf_getshdr(names, &str) ||
	    str.sh_type != SHT_STRTAB)
		return hlg_elf64_reader_damaged(r, "has a malformed symbol table");
	rc = read_table(r, sh, (void **)&elf->syms);
	if (rc < 0)
		return rc;
	elf->n_syms = sh->sh_size / sizeof(Elf64_Sym);
	rc = read_table(r, &str, (void **)&elf->strtab);
	if (rc == 0)
		elf->strsz = str.sh_size;
	return rc;
}

/*
 * The table with those section numbers that do not fit st_shndx, if the symbols of
 * section table have one: gABI, SHT_SYMTAB_SHNDX.
 */
static int read_shndx(struct hlg_elf64_reader *r, size_t table)
{
	for (size_t i = 1; i < r->elf->n_sections; i++) {
		Elf_Scn *scn = elf_getscn(r->libelf, i);
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB_SHNDX ||
		    sh.sh_link != table)
			continue;
		if (sh.sh_size / sizeof(uint32_t) < r->elf->n_syms)
			return hlg_elf64_reader_damaged(
				r, "has a short section index table");
		return read_table(r, &sh, (void **)&r->elf->shndx);
	}
	return 0;
}

int hlg_elf64_tables_read(struct hlg_elf64_reader *r)
{
	GElf_Shdr sh, symtab = {0}, dynsym = {0};
	size_t symtab_at = 0, dynsym_at = 0;
	int rc = 0;

	for (size_t i = 1; i < r->elf->n_sections; i++) {
		Elf_Scn *scn = elf_getscn(r->libelf, i);

		if (!scn || !gelf_getshdr(scn, &sh))
			return hlg_elf64_reader_damaged(
				r, "has no readable section headers");
		if (sh.sh_type == SHT_NOTE)
			rc = read_notes(r, &sh);
		if (rc < 0)
			return rc;
		if (sh.sh_type == SHT_DYNSYM && !dynsym_at) {
			dynsym = sh;
			dynsym_at = i;
		}
		if (sh.sh_type == SHT_SYMTAB && !symtab_at) {
			symtab = sh;
			symtab_at = i;
		}
	}
	r->elf->dynsym = symtab.sh_size <= sizeof(Elf64_Sym);
	if (r->elf->dynsym && dynsym.sh_size <= sizeof(Elf64_Sym))
		return hlg_err_set(r->err, HLG_EINPUT, "%s: " NO_SYMBOLS, r->path);
	rc = read_symbols(r, r->elf->dynsym ? &dynsym : &symtab);
	return rc < 0 ? rc : read_shndx(r, r->elf->dynsym ? dynsym_at : symtab_at);
}
