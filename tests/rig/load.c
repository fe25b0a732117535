// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file is read through libelf, which checks headers, and copied segment by segment.
 * From then on only the copy is looked at: the dynamic section and the relocations are
 * read where the guest would read them. Every range goes through in_range().
 */
#include "tests/rig/load.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "symtab/err.h"

struct load {
	const char *path;
	struct hlg_vm_window window;
	struct hlg_vm_image *image;
	struct hlg_err *err;
	Elf *elf;
	const Elf64_Ehdr *header;
	size_t segment_count;
	const char *file; /* the raw bytes of the file, libelf's */
	size_t file_size;
	uint64_t first_vaddr;
	uint64_t first_offset; /* in the file */
};

struct relocations {
	uint64_t vaddr;
	uint64_t size;  /* bytes */
	uint64_t entry; /* bytes of one entry */
};

static bool in_range(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

/* The window's bytes of [vaddr, vaddr + size), or NULL if they are not all inside. */
static uint8_t *bytes_at(const struct load *load, uint64_t vaddr, uint64_t size)
{
	if (vaddr < load->first_vaddr ||
	    !in_range(vaddr - load->first_vaddr, size, load->window.size))
		return NULL;
	return load->window.mem + (vaddr - load->first_vaddr);
}

static int refuse(const struct load *load, const char *problem)
{
	return hlg_err_set(load->err, -EINVAL, "%s: %s", load->path, problem);
}

static int read_headers(struct load *load)
{
	load->file = elf_rawfile(load->elf, &load->file_size);
	load->header = elf64_getehdr(load->elf);
	if (elf_kind(load->elf) != ELF_K_ELF || !load->file || !load->header)
		return refuse(load, "not an ELF64 file (give a guest program)");
	if (load->header->e_machine != EM_X86_64 ||
	    load->header->e_ident[EI_DATA] != ELFDATA2LSB)
		return refuse(load, "not for x86-64 (build the guest for this machine)");
	if (load->header->e_type != ET_DYN && load->header->e_type != ET_EXEC)
		return refuse(load, "neither ET_DYN nor ET_EXEC (link it first)");
	if (elf_getphdrnum(load->elf, &load->segment_count) < 0)
		return refuse(load, "no readable program headers (link it first)");
	return 0;
}

/*
 * A copy of the segment: in a malformed file, libelf's own may be misaligned. PT_NULL if
 * there is none.
 */
static GElf_Phdr segment_at(const struct load *load, size_t index)
{
	GElf_Phdr segment;

	if (index > INT_MAX || !gelf_getphdr(load->elf, (int)index, &segment))
		segment = (GElf_Phdr){.p_type = PT_NULL};
	return segment;
}

/* The lowest PT_LOAD comes first: the ELF specification orders them by p_vaddr. */
static int find_first(struct load *load)
{
	GElf_Phdr segment;
	bool found = false;

	for (size_t i = 0; i < load->segment_count; i++) {
		segment = segment_at(load, i);
		if (segment.p_type == PT_INTERP)
			return refuse(load, "needs a dynamic linker (use -static-pie)");
		if (segment.p_type == PT_TLS)
			load->image->hosted = true;
		if (segment.p_type == PT_LOAD && !found) {
			load->first_vaddr = segment.p_vaddr;
			load->first_offset = segment.p_offset;
			found = true;
		}
	}
	return found ? 0 : refuse(load, "has no PT_LOAD (link it first)");
}

static int choose_base(struct load *load, uint64_t base)
{
	bool fixed = load->header->e_type == ET_EXEC;

	if (base == HLG_VM_BASE_UNSET)
		base = fixed ? load->first_vaddr : HLG_VM_BASE_DEFAULT;
	if (fixed && base != load->first_vaddr)
		return hlg_err_set(
			load->err, -EINVAL,
			"%s: an ET_EXEC that runs only at 0x%llx (use no --base)",
			load->path, (unsigned long long)load->first_vaddr);
	load->image->base = base;
	return 0;
}

static int copy_segment(struct load *load, const GElf_Phdr *segment)
{
	uint8_t *to = bytes_at(load, segment->p_vaddr, segment->p_memsz);
	uint64_t end;

	if (segment->p_filesz > segment->p_memsz ||
	    !in_range(segment->p_offset, segment->p_filesz, load->file_size))
		return refuse(load, "a PT_LOAD points outside the file (is it cut off?)");
	if (!to)
		return hlg_err_set(load->err, -E2BIG,
				   "%s: does not fit %zu bytes of guest memory "
				   "(raise --memory)",
				   load->path, load->window.size);
	memcpy(to, load->file + segment->p_offset, segment->p_filesz);
	end = segment->p_vaddr - load->first_vaddr + segment->p_memsz;
	if (load->image->size < end)
		load->image->size = end;
	return 0;
}

static int copy_segments(struct load *load)
{
	GElf_Phdr segment;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < load->segment_count; i++) {
		segment = segment_at(load, i);
		if (segment.p_type == PT_LOAD)
			rc = copy_segment(load, &segment);
	}
	return rc;
}

static int set_entry(struct load *load)
{
	uint64_t entry = load->header->e_entry;

	if (entry < load->first_vaddr ||
	    !in_range(entry - load->first_vaddr, 1, load->image->size))
		return refuse(load, "the entry point is in no PT_LOAD (set one with -e)");
	load->image->entry = entry - load->first_vaddr + load->image->base;
	return 0;
}

/* The program headers lie in the first PT_LOAD, or a hosted program cannot find them. */
static void set_segments(struct load *load)
{
	struct hlg_vm_image *image = load->image;

	image->segments = image->base + load->header->e_phoff - load->first_offset;
	image->segment_count = load->segment_count;
}

static int read_dynamic(struct load *load, const GElf_Phdr *dynamic,
			struct relocations *rela)
{
	uint64_t count = dynamic->p_memsz / sizeof(Elf64_Dyn);
	const uint8_t *bytes = bytes_at(load, dynamic->p_vaddr, dynamic->p_memsz);
	Elf64_Dyn entry;

	if (!bytes)
		return refuse(load, "PT_DYNAMIC is in no PT_LOAD (link it again)");
	for (uint64_t i = 0; i < count; i++) {
		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_RELA)
			rela->vaddr = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_RELASZ)
			rela->size = entry.d_un.d_val;
		else if (entry.d_tag == DT_RELAENT)
			rela->entry = entry.d_un.d_val;
		else if (entry.d_tag == DT_NEEDED)
			return refuse(load, "needs shared libraries (use -static-pie)");
		else if (entry.d_tag == DT_JMPREL)
			return refuse(load, "has a PLT (use -static-pie)");
	}
	return 0;
}

static int relocate_one(struct load *load, const Elf64_Rela *rela)
{
	uint64_t value = load->image->base - load->first_vaddr + (uint64_t)rela->r_addend;
	uint8_t *to = bytes_at(load, rela->r_offset, sizeof(value));

	if (ELF64_R_TYPE(rela->r_info) == R_X86_64_NONE)
		return 0;
	if (ELF64_R_TYPE(rela->r_info) != R_X86_64_RELATIVE)
		return hlg_err_set(load->err, -EINVAL,
				   "%s: relocation type %u is not supported "
				   "(only R_X86_64_RELATIVE is)",
				   load->path, (unsigned int)ELF64_R_TYPE(rela->r_info));
	if (!to)
		return refuse(load, "a relocation points outside guest memory");
	memcpy(to, &value, sizeof(value));
	return 0;
}

static int relocate(struct load *load, const struct relocations *rela)
{
	const uint8_t *bytes;
	Elf64_Rela entry;
	int rc;

	if (rela->size == 0)
		return 0;
	if (rela->entry != sizeof(entry))
		return refuse(load, "DT_RELAENT is not 24 (link it again)");
	bytes = bytes_at(load, rela->vaddr, rela->size);
	if (!bytes)
		return refuse(load, "DT_RELA points outside guest memory");
	for (uint64_t i = 0; i < rela->size / sizeof(entry); i++) {
		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		rc = relocate_one(load, &entry);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int relocate_all(struct load *load)
{
	struct relocations rela = {0};
	GElf_Phdr segment;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < load->segment_count; i++) {
		segment = segment_at(load, i);
		if (segment.p_type == PT_DYNAMIC)
			rc = read_dynamic(load, &segment, &rela);
	}
	return rc < 0 ? rc : relocate(load, &rela);
}

static int load_elf(struct load *load, uint64_t base)
{
	int rc = read_headers(load);

	if (rc == 0)
		rc = find_first(load);
	if (rc == 0)
		rc = choose_base(load, base);
	if (rc == 0)
		rc = copy_segments(load);
	if (rc == 0)
		rc = set_entry(load);
	if (rc == 0)
		set_segments(load);
	if (rc == 0 && !load->image->hosted)
		rc = relocate_all(load);
	return rc;
}

int hlg_vm_load(const char *path, uint64_t base, struct hlg_vm_window window,
		struct hlg_vm_image *image, struct hlg_err *err)
{
	struct load load = {.path = path, .window = window, .image = image, .err = err};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0) {
		rc = -errno;
		return hlg_err_set(err, rc, "%s: cannot open: %s (give a guest program)",
				   path, strerror(-rc));
	}
	*image = (struct hlg_vm_image){0};
	elf_version(EV_CURRENT);
	load.elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = load.elf ? load_elf(&load, base) : refuse(&load, "libelf cannot read it");
	elf_end(load.elf);
	close(fd);
	return rc;
}
