// SPDX-License-Identifier: GPL-2.0-only
#include "tests/rig/truth/plugin.h"

#include "tests/rig/truth/mark.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool plugin_load(struct plugin_guest *guest, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0)
		st.st_size = 0;
	const unsigned char *file =
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return false;
	guest->file = file;
	const Elf64_Ehdr *head = (const void *)file;
	const Elf64_Phdr *segment = (const void *)(file + head->e_phoff);
	for (unsigned at = 0; at < head->e_phnum; at++) {
		if (segment[at].p_type != PT_LOAD || !(segment[at].p_flags & PF_X))
			continue;
		guest->code = file + segment[at].p_offset;
		guest->addr = segment[at].p_vaddr;
		guest->size = segment[at].p_filesz;
		return true;
	}
	return false;
}

struct plugin_part plugin_part_at(const struct plugin_guest *guest, uint64_t addr)
{
	struct plugin_part part = {.begin = addr & ~(PLUGIN_PAGE - 1)};
	part.end = part.begin + PLUGIN_PAGE;
	if (part.begin < guest->addr)
		part.begin = guest->addr;
	if (part.end > guest->addr + guest->size)
		part.end = guest->addr + guest->size;
	if (part.end < part.begin)
		part.end = part.begin;
	return part;
}

struct plugin_part plugin_first_part(const struct plugin_guest *guest)
{
	return plugin_part_at(guest, guest->addr);
}

struct plugin_part plugin_next_part(const struct plugin_guest *guest,
				    struct plugin_part part)
{
	if (part.end == guest->addr + guest->size)
		return (struct plugin_part){0};
	return plugin_part_at(guest, part.end);
}

bool plugin_is_guest(const struct plugin_guest *guest, uint64_t addr,
		     const struct qemu_plugin_insn *insn)
{
	const unsigned char *where = qemu_plugin_insn_haddr(insn);
	if (where == NULL || addr - guest->addr >= guest->size)
		return false;
	const unsigned char *page = where - (addr & (PLUGIN_PAGE - 1));
	struct plugin_part part = plugin_part_at(guest, addr);
	return memcmp(page + (part.begin & (PLUGIN_PAGE - 1)),
		      plugin_code(guest, part.begin), part.end - part.begin) == 0;
}

uint32_t plugin_mark(const struct qemu_plugin_insn *insn)
{
	uint32_t number = 0;
	const char *bytes = qemu_plugin_insn_data(insn);
	if (qemu_plugin_insn_size(insn) == MARK_SIZE &&
	    memcmp(bytes, MARK_OPCODE, 4) == 0)
		memcpy(&number, bytes + 4, sizeof(number));
	return number == MARK_START || number == MARK_STOP ? number : 0;
}
