// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/elf64.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/bsearch.h"

#define NO_SYMBOLS                                                                       \
	"has no symbols, it was stripped (name it as it was built, or keep them: "       \
	"`strip --strip-debug`, for Rust `strip = \"debuginfo\"`)"

enum {
	MAX_SECTION_NAME = 4096
};

/* EI_OSABI of what wasmtime compiles: wasmtime-environ, obj.rs. */
#define ELFOSABI_WASMTIME 200

/* An ELF that is being read. errno is 0 whenever libelf is asked: it says only there why
 * it could not read. */
struct reader {
	const char *path;
	int fd;
	Elf *libelf;
	uint64_t size;
	uint64_t names_size; /* of elf->section_names */
	uint64_t notes;      /* bytes of them that were read */
	bool debug;          /* a debug file is read */
	struct hlg_elf64 *elf;
	struct hlg_err *err;
};

/* The system's reason, if it has one. */
static int unread(struct reader *r)
{
	return hlg_file_fail_read(r->path, errno, r->err);
}

/* What is wrong with the file; or libelf could not read it. */
static int damaged(struct reader *r, const char *what)
{
	if (errno)
		return unread(r);
	return hlg_err_set(r->err, HLG_EINPUT,
			   "%s: %s (the ELF is damaged; build or copy it again)", r->path,
			   what);
}

/* What ends past the end of the file, with its verb. */
static int truncated(struct reader *r, const char *what)
{
	return hlg_err_set(r->err, HLG_EINPUT,
			   "%s: is truncated: %s past its %" PRIu64
			   " bytes (copy it again)",
			   r->path, what, r->size);
}

static bool in_file(const struct reader *r, uint64_t off, uint64_t len)
{
	return off <= r->size && len <= r->size - off;
}

/*
 * Reads the bytes of a section that is in the file, with a zero behind them, into memory
 * of the caller's. After an error there may be memory, too.
 */
static int read_contents(struct reader *r, const GElf_Shdr *sh, void **out)
{
	*out = malloc(sh->sh_size + 1);
	if (!*out)
		return hlg_err_memory(r->err, r->path);
	((char *)*out)[sh->sh_size] = '\0';
	if (hlg_file_read(r->fd, *out, sh->sh_size, sh->sh_offset) < 0)
		return unread(r);
	return 0;
}

static int unsuited(struct reader *r, const char *what)
{
	return hlg_err_set(r->err, HLG_EINPUT,
			   "%s: %s (give the little-endian ELF64 of an x86-64 or AArch64 "
			   "guest)",
			   r->path, what);
}

static int check_type(struct reader *r, uint16_t type)
{
	switch (type) {
	case ET_EXEC:
	case ET_DYN:
		return 0;
	case ET_REL:
		if (r->elf->wasm)
			return 0;
		return unsuited(r, "is an object file, not linked yet");
	case ET_CORE:
		return unsuited(r, "is a core dump, not a program");
	default:
		return unsuited(r, "is neither an executable nor a shared object");
	}
}

/* What people call a machine, by e_machine, class and byte order; NULL: no name. */
static const char *name_machine(unsigned machine, bool wide, bool big)
{
	static const struct {
		unsigned machine;
		const char *narrow, *little, *big; /* 32 bits; 64 bits by byte order */
	} names[] = {
		{EM_386, "i386", NULL, NULL},
		{EM_X86_64, "x32", "x86-64", NULL},
		{EM_ARM, "arm", NULL, NULL},
		{EM_AARCH64, "arm64ilp32", "AArch64", "aarch64_be"},
		{EM_RISCV, "riscv32", "riscv64", NULL},
		{EM_PPC, "powerpc", NULL, NULL},
		{EM_PPC64, NULL, "ppc64le", "ppc64"},
		{EM_S390, "s390", NULL, "s390x"},
		{EM_LOONGARCH, "loongarch32", "loongarch64", NULL},
		{EM_MIPS, "mips", "mips64el", "mips64"},
		{EM_SPARCV9, NULL, NULL, "sparc64"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].machine == machine)
			return !wide ? names[i].narrow
			       : big ? names[i].big
				     : names[i].little;
	return NULL;
}

/* An ELF of a machine whose code and sizes are not known here. */
static int foreign(struct reader *r, unsigned machine, bool wide, bool big)
{
	const char *name = name_machine(machine, wide, big);
	char what[64];

	snprintf(what, sizeof(what), "machine %u, %d bits, %s-endian", machine,
		 wide ? 64 : 32, big ? "big" : "little");
	return hlg_err_set(r->err, HLG_EINPUT,
			   "%s: is for %s, and only ELFs of x86-64 and AArch64 are read "
			   "(of others give the functions as a perf map: map:FILE)",
			   r->path, name ? name : what);
}

/* Who are you, before anything is believed: gABI, "ELF Identification". */
static int read_identity(struct reader *r)
{
	Elf64_Ehdr eh;
	bool big, wide;

	if (r->size == 0)
		return unsuited(r, "is empty");
	if (r->size < EI_NIDENT)
		return unsuited(r, "is not an ELF file");
	if (hlg_file_read(r->fd, &eh, EI_NIDENT, 0) < 0)
		return unread(r);
	if (memcmp(eh.e_ident, "PERFILE2", 8) == 0)
		return unsuited(r, "is perf's recording, not an ELF file");
	if (memcmp(eh.e_ident, "\0asm", 4) == 0)
		return hlg_err_set(r->err, HLG_EINPUT,
				   "%s: is WebAssembly, not compiled yet (give what runs "
				   "in the guest, the .aot or .cwasm made of it)",
				   r->path);
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return unsuited(r, "is not an ELF file");
	if (eh.e_ident[EI_CLASS] != ELFCLASS32 && eh.e_ident[EI_CLASS] != ELFCLASS64)
		return damaged(r, "has an unknown ELF class");
	if (eh.e_ident[EI_DATA] != ELFDATA2LSB && eh.e_ident[EI_DATA] != ELFDATA2MSB)
		return damaged(r, "has an unknown byte order");
	/* Up to e_machine all ELFs are laid out alike. */
	if (r->size < offsetof(Elf64_Ehdr, e_version))
		return damaged(r, "ends inside its header");
	if (hlg_file_read(r->fd, &eh, offsetof(Elf64_Ehdr, e_version), 0) < 0)
		return unread(r);
	big = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	wide = eh.e_ident[EI_CLASS] == ELFCLASS64;
	if (big)
		eh.e_machine = __builtin_bswap16(eh.e_machine);
	if (!wide || big || (eh.e_machine != EM_X86_64 && eh.e_machine != EM_AARCH64))
		return foreign(r, eh.e_machine, wide, big);
	if (r->size < sizeof(eh))
		return damaged(r, "ends inside its header");
	if (hlg_file_read(r->fd, &eh, sizeof(eh), 0) < 0)
		return unread(r);
	/* libelf takes them to have the usual size, whatever is said. */
	if ((eh.e_phnum && eh.e_phentsize != sizeof(Elf64_Phdr)) ||
	    (eh.e_shoff && eh.e_shentsize != sizeof(Elf64_Shdr)))
		return damaged(r, "has headers of an unknown size");
	r->elf->machine = eh.e_machine;
	r->elf->entry = eh.e_entry;
	r->elf->headers = sizeof(eh);
	if (eh.e_phoff == sizeof(eh))
		r->elf->headers += (uint64_t)eh.e_phnum * sizeof(Elf64_Phdr);
	r->elf->type = eh.e_type;
	r->elf->wasm = eh.e_type == ET_REL && eh.e_ident[EI_OSABI] == ELFOSABI_WASMTIME;
	return check_type(r, eh.e_type);
}

static int read_load(struct reader *r, const GElf_Phdr *ph)
{
	struct hlg_load *load = &r->elf->loads[r->elf->n_loads];

	if (ph->p_type != PT_LOAD || ph->p_memsz == 0)
		return 0;
	if (ph->p_memsz > UINT64_MAX - ph->p_vaddr)
		return damaged(r, "has a segment that passes the end of memory");
	if (ph->p_filesz > ph->p_memsz)
		return damaged(r, "has a segment larger in the file than in memory");
	if (!in_file(r, ph->p_offset, ph->p_filesz))
		return truncated(r, "a segment ends");
	*load = (struct hlg_load){ph->p_vaddr, ph->p_vaddr + ph->p_memsz, ph->p_offset,
				  ph->p_filesz, (ph->p_flags & PF_X) != 0};
	r->elf->n_loads++;
	return 0;
}

/* gABI, "ELF Header": as many that e_phnum has no room for them are in section 0. */
static uint64_t promised_loads(struct reader *r)
{
	GElf_Ehdr eh;
	GElf_Shdr zero;

	if (!gelf_getehdr(r->libelf, &eh) || eh.e_phoff == 0)
		return 0;
	if (eh.e_phnum != PN_XNUM)
		return eh.e_phnum;
	return gelf_getshdr(elf_getscn(r->libelf, 0), &zero) ? zero.sh_info : 0;
}

/* Does it need other libraries, so a loader? gABI, "Dynamic Section". */
static int read_dynamic(struct reader *r, const GElf_Phdr *ph)
{
	Elf64_Dyn some[256];
	uint64_t left = ph->p_filesz / sizeof(*some);

	if (!in_file(r, ph->p_offset, ph->p_filesz))
		return 0;
	for (uint64_t at = ph->p_offset; left;) {
		size_t n = left < 256 ? left : 256;

		if (hlg_file_read(r->fd, some, n * sizeof(*some), at) < 0)
			return unread(r);
		for (size_t i = 0; i < n; i++) {
			if (some[i].d_tag == DT_NULL)
				return 0;
			r->elf->needs_loader |= some[i].d_tag == DT_NEEDED;
		}
		left -= n;
		at += n * sizeof(*some);
	}
	return 0;
}

/* Sorts the segments, and fails if there is none or some overlap. */
static int settle_loads(struct reader *r)
{
	struct hlg_elf64 *elf = r->elf;

	if (elf->n_loads == 0)
		return damaged(r, "has nothing to load");
	qsort(elf->loads, elf->n_loads, sizeof(*elf->loads), hlg_bsearch_compare);
	for (size_t i = 1; i < elf->n_loads; i++)
		if (elf->loads[i].addr < elf->loads[i - 1].end)
			return damaged(r, "has segments that overlap");
	return 0;
}

static int read_loads(struct reader *r)
{
	struct hlg_elf64 *elf = r->elf;
	size_t n;

	if (elf_getphdrnum(r->libelf, &n) != 0)
		return damaged(r, "has no readable program headers");
	/* libelf makes do with those that the file has. */
	if (n < promised_loads(r))
		return truncated(r, "its program headers end");
	elf->loads = calloc(n + 1, sizeof(*elf->loads));
	if (!elf->loads)
		return hlg_err_memory(r->err, r->path);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;
		int rc;

		if (!gelf_getphdr(r->libelf, (int)i, &ph))
			return damaged(r, "has no readable program headers");
		elf->needs_loader |= ph.p_type == PT_INTERP;
		rc = ph.p_type == PT_DYNAMIC ? read_dynamic(r, &ph) : read_load(r, &ph);
		if (rc < 0)
			return rc;
	}
	return settle_loads(r);
}

/* Sections of a module lie in memory as they do in its file. */
static int read_module_load(struct reader *r, GElf_Shdr *sh)
{
	struct hlg_elf64 *elf = r->elf;

	sh->sh_addr = sh->sh_offset;
	if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_size == 0)
		return 0;
	if (sh->sh_type == SHT_NOBITS)
		return damaged(r, "has a section without bytes to load");
	if (!in_file(r, sh->sh_offset, sh->sh_size))
		return truncated(r, "a section ends");
	elf->loads[elf->n_loads++] = (struct hlg_load){
		sh->sh_offset, sh->sh_offset + sh->sh_size, sh->sh_offset, sh->sh_size,
		(sh->sh_flags & SHF_EXECINSTR) != 0};
	return 0;
}

/* Makes room for a module's segments: its header, and n sections. */
static int begin_module(struct reader *r, size_t n)
{
	const uint64_t header = sizeof(Elf64_Ehdr);
	struct hlg_elf64 *elf = r->elf;

	elf->loads = calloc(n + 1, sizeof(*elf->loads));
	if (!elf->loads)
		return hlg_err_memory(r->err, r->path);
	elf->loads[elf->n_loads++] = (struct hlg_load){0, header, 0, header, false};
	return 0;
}

/*
 * The names of sections, once: many sections may share a long one. Without a table of
 * names they have none.
 */
static int read_names(struct reader *r, size_t index)
{
	Elf_Scn *scn = elf_getscn(r->libelf, index);
	GElf_Shdr sh = {0};
	int rc;

	if ((!scn || !gelf_getshdr(scn, &sh)) && errno)
		return unread(r);
	if (sh.sh_type != SHT_STRTAB || sh.sh_flags & SHF_COMPRESSED ||
	    !in_file(r, sh.sh_offset, sh.sh_size))
		sh.sh_size = sh.sh_offset = 0;
	rc = read_contents(r, &sh, (void **)&r->elf->section_names);
	r->names_size = rc == 0 ? sh.sh_size : 0;
	return rc;
}

/*
 * A section takes room when it is allocated, not empty and not thread-local bss, which
 * has an address but no bytes of its own there. Ends are cut at the end of memory.
 */
static void read_section(const struct reader *r, struct hlg_section *out,
			 const GElf_Shdr *sh)
{
	bool tbss = (sh->sh_flags & SHF_TLS) && sh->sh_type == SHT_NOBITS;

	out->name =
		sh->sh_name < r->names_size ? r->elf->section_names + sh->sh_name : "";
	if (strnlen(out->name, MAX_SECTION_NAME + 1) > MAX_SECTION_NAME)
		out->name = "";
	out->addr = out->end = sh->sh_addr;
	if (!(sh->sh_flags & SHF_ALLOC) || tbss)
		return;
	out->exec = (sh->sh_flags & SHF_EXECINSTR) != 0;
	out->end += sh->sh_size < UINT64_MAX - sh->sh_addr ? sh->sh_size
							   : UINT64_MAX - sh->sh_addr;
}

static int read_sections(struct reader *r)
{
	struct hlg_elf64 *elf = r->elf;
	GElf_Ehdr eh;
	size_t n, names = 0;
	int rc;

	if (elf_getshdrnum(r->libelf, &n) != 0 ||
	    (n && elf_getshdrstrndx(r->libelf, &names)))
		return damaged(r, "has no readable section headers");
	/* What libelf does not find in the file it passes off as no headers. */
	if (n == 0 && gelf_getehdr(r->libelf, &eh) && eh.e_shoff != 0)
		return truncated(r, "its section headers end");
	elf->sections = calloc(n + 1, sizeof(*elf->sections));
	if (!elf->sections)
		return hlg_err_memory(r->err, r->path);
	rc = read_names(r, names);
	if (rc == 0 && elf->wasm)
		rc = begin_module(r, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		Elf_Scn *scn = elf_getscn(r->libelf, i);
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh))
			return damaged(r, "has no readable section headers");
		if (elf->wasm)
			rc = read_module_load(r, &sh);
		read_section(r, &elf->sections[i], &sh);
		elf->n_sections = i + 1;
	}
	return rc == 0 && elf->wasm ? settle_loads(r) : rc;
}

static int read_table(struct reader *r, const GElf_Shdr *sh, void **out)
{
	if (sh->sh_flags & SHF_COMPRESSED)
		return hlg_err_set(r->err, HLG_EINPUT,
				   "%s: has a compressed symbol table (build it without)",
				   r->path);
	if (!in_file(r, sh->sh_offset, sh->sh_size))
		return damaged(r, "has a symbol table that ends past the file");
	return read_contents(r, sh, out);
}

/* Sections of notes do not overlap: all of them are in the file but once. */
static int read_notes(struct reader *r, const GElf_Shdr *sh)
{
	void *bytes;
	int rc;

	if (sh->sh_flags & SHF_COMPRESSED || !in_file(r, sh->sh_offset, sh->sh_size))
		return 0;
	if (sh->sh_size > r->size - r->notes)
		return damaged(r, "has sections of notes that overlap");
	r->notes += sh->sh_size;
	rc = read_contents(r, sh, &bytes);
	if (rc == 0)
		hlg_note_read(r->elf->build_id, r->elf->hyperlight, bytes, sh->sh_size,
			      sh->sh_addralign);
	free(bytes);
	return rc;
}

/*
 * A name, its NUL, zeros up to a multiple of four, and the CRC (gdb's manual, "Separate
 * Debug Files"). What is not made so leads to no file.
 */
static int read_debuglink(struct reader *r, const GElf_Shdr *sh)
{
	struct hlg_elf64 *elf = r->elf;
	uint64_t size = sh->sh_size, end;
	void *bytes;
	int rc;

	if (elf->debuglink || sh->sh_type == SHT_NOBITS ||
	    sh->sh_flags & SHF_COMPRESSED || size > PATH_MAX ||
	    !in_file(r, sh->sh_offset, size))
		return 0;
	rc = read_contents(r, sh, &bytes);
	end = rc < 0 ? size : (strlen(bytes) + 1 + 3) & ~UINT64_C(3);
	if (end + sizeof(elf->debuglink_crc) > size || !((char *)bytes)[0]) {
		free(bytes);
		return rc;
	}
	elf->debuglink = bytes;
	memcpy(&elf->debuglink_crc, elf->debuglink + end, sizeof(elf->debuglink_crc));
	return 0;
}

static int read_symbols(struct reader *r, const GElf_Shdr *sh)
{
	struct hlg_elf64 *elf = r->elf;
	Elf_Scn *names = elf_getscn(r->libelf, sh->sh_link);
	GElf_Shdr str;
	int rc;

	if (sh->sh_entsize != sizeof(Elf64_Sym) || !names || !gelf_getshdr(names, &str) ||
	    str.sh_type != SHT_STRTAB)
		return damaged(r, "has a malformed symbol table");
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
static int read_shndx(struct reader *r, size_t table)
{
	for (size_t i = 1; i < r->elf->n_sections; i++) {
		Elf_Scn *scn = elf_getscn(r->libelf, i);
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB_SHNDX ||
		    sh.sh_link != table)
			continue;
		if (sh.sh_size / sizeof(uint32_t) < r->elf->n_syms)
			return damaged(r, "has a short section index table");
		return read_table(r, &sh, (void **)&r->elf->shndx);
	}
	return 0;
}

/* The first section of that name, or 0. */
static size_t section_named(const struct hlg_elf64 *elf, const char *name)
{
	for (size_t i = 1; i < elf->n_sections; i++)
		if (strcmp(elf->sections[i].name, name) == 0)
			return i;
	return 0;
}

/*
 * Reads symbols and notes, behind the sections. Fails if there are no symbols, or if some
 * of these tables cannot be read as they are meant.
 */
static int read_tables(struct reader *r)
{
	GElf_Shdr sh, symtab = {0}, dynsym = {0};
	size_t symtab_at = 0, dynsym_at = 0;
	int rc = 0;

	for (size_t i = 1; i < r->elf->n_sections; i++) {
		Elf_Scn *scn = elf_getscn(r->libelf, i);

		if (!scn || !gelf_getshdr(scn, &sh))
			return damaged(r, "has no readable section headers");
		if (sh.sh_type == SHT_NOTE)
			rc = read_notes(r, &sh);
		else if (strcmp(r->elf->sections[i].name, ".gnu_debuglink") == 0)
			rc = read_debuglink(r, &sh);
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
	r->elf->by_name =
		!r->elf->dynsym && section_named(r->elf, ".symtab") == symtab_at;
	if (r->debug && r->elf->dynsym)
		return 0;
	if (r->elf->dynsym && dynsym.sh_size <= sizeof(Elf64_Sym))
		return hlg_err_set(r->err, HLG_EINPUT, "%s: " NO_SYMBOLS, r->path);
	rc = read_symbols(r, r->elf->dynsym ? &dynsym : &symtab);
	return rc < 0 ? rc : read_shndx(r, r->elf->dynsym ? dynsym_at : symtab_at);
}

static int read_all(struct reader *r)
{
	int rc;

	errno = 0;
	rc = read_identity(r);
	if (rc < 0)
		return rc;
	elf_version(EV_CURRENT);
	r->libelf = elf_begin(r->fd, ELF_C_READ, NULL);
	if (!r->libelf)
		return damaged(r, "cannot be understood");
	rc = r->debug || r->elf->wasm ? 0 : read_loads(r);
	if (rc == 0)
		rc = read_sections(r);
	if (rc == 0)
		rc = read_tables(r);
	elf_end(r->libelf);
	return rc;
}

static int read_file(struct hlg_elf64 *elf, const char *path, bool debug,
		     struct hlg_err *err)
{
	struct reader r = {.path = path, .elf = elf, .debug = debug, .err = err};
	int rc;

	memset(elf, 0, sizeof(*elf));
	r.fd = hlg_file_open(path, &elf->id, err);
	if (r.fd < 0)
		return r.fd;
	r.size = (uint64_t)elf->id.size;
	rc = read_all(&r);
	close(r.fd);
	return rc;
}

int hlg_elf64_read_fd(struct hlg_elf64 *elf, int fd, uint64_t size, const char *path,
		      struct hlg_err *err)
{
	struct reader r = {.path = path, .elf = elf, .fd = fd, .size = size, .err = err};

	memset(elf, 0, sizeof(*elf));
	return read_all(&r);
}

int hlg_elf64_read(struct hlg_elf64 *elf, const char *path, struct hlg_err *err)
{
	return read_file(elf, path, false, err);
}

int hlg_elf64_read_debug(struct hlg_elf64 *elf, const char *path, struct hlg_err *err)
{
	return read_file(elf, path, true, err);
}

void hlg_elf64_finish(struct hlg_elf64 *elf)
{
	free(elf->section_names);
	free(elf->sections);
	free(elf->loads);
	free(elf->syms);
	free(elf->shndx);
	free(elf->strtab);
	free(elf->debuglink);
	memset(elf, 0, sizeof(*elf));
}
