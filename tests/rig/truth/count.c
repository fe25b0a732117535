// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for QEMU that counts each executed instruction of a guest's guest by address.
 *
 *     -plugin count.so,out=PREFIX,elf=FILE[,elf=FILE...][,base=0x4000]
 *
 * All guests lie at one base, which is what Hyperlight does. An instruction is a guest's
 * if its page has the bytes that the guest's ELF has there: nothing else that runs at
 * these addresses, as the BIOS does, counts. Of a page that several ELFs have alike, each
 * is told the counts of all.
 *
 * Between two marks (mark.h) instructions are counted; at the second PREFIX.N.K is
 * written, N counting from 1, for each ELF K from 1 in the order of the arguments: lines
 * of an address, in hexadecimal and as the ELF has it, and how often the instruction
 * there was executed, in order of addresses. An instruction that faults is executed
 * again, and counts twice.
 */
#include "tests/rig/truth/mark.h"
#include "tests/rig/truth/qemu-plugin.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT    __attribute__((visibility("default")))
#define PAGE      ((uint64_t)4096)
#define MOST_ELFS 8

EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			       int argc, char **argv);

/* A guest's code: the bytes of its executable segment, and for each page of the addresses
 * from the first one's on, a count for each byte. */
struct guest {
	const unsigned char *code;
	uint64_t addr; /* of the first byte, as the ELF has it */
	uint64_t size;
	uint64_t **pages;
};

static struct guest guests[MOST_ELFS];
static unsigned guest_count;
static uint64_t base = 0x4000;
static const char *prefix;
static unsigned written;

/* The part of an address's page that is a guest's code; empty where begin == end. */
struct part {
	uint64_t begin, end;
};

static struct part part_at(const struct guest *guest, uint64_t addr)
{
	struct part part = {.begin = addr & ~(PAGE - 1)};
	part.end = part.begin + PAGE;
	if (part.begin < guest->addr)
		part.begin = guest->addr;
	if (part.end > guest->addr + guest->size)
		part.end = guest->addr + guest->size;
	if (part.end < part.begin)
		part.end = part.begin;
	return part;
}

static struct part first_part(const struct guest *guest)
{
	return part_at(guest, guest->addr);
}

static struct part next_part(const struct guest *guest, struct part part)
{
	if (part.end == guest->addr + guest->size)
		return (struct part){0};
	return part_at(guest, part.end);
}

static const unsigned char *code_at(const struct guest *guest, uint64_t addr)
{
	return guest->code + (addr - guest->addr);
}

static uint64_t **page_at(const struct guest *guest, uint64_t addr)
{
	return &guest->pages[addr / PAGE - guest->addr / PAGE];
}

/* The counts of a page that an earlier guest has alike, NULL if none has. */
static uint64_t *same_page(const struct guest *guest, struct part part)
{
	for (const struct guest *other = guests; other < guest; other++) {
		struct part theirs = part_at(other, part.begin);
		if (theirs.begin == part.begin && theirs.end == part.end &&
		    memcmp(code_at(guest, part.begin), code_at(other, part.begin),
			   part.end - part.begin) == 0)
			return *page_at(other, part.begin);
	}
	return NULL;
}

static bool add_pages(struct guest *guest)
{
	uint64_t end = guest->addr + guest->size;
	guest->pages = calloc(end / PAGE - guest->addr / PAGE + 1, sizeof(*guest->pages));
	if (guest->pages == NULL)
		return false;
	for (struct part part = first_part(guest); part.end > 0;
	     part = next_part(guest, part)) {
		uint64_t *counts = same_page(guest, part);
		if (counts == NULL)
			counts = calloc(PAGE, sizeof(*counts));
		if (counts == NULL)
			return false;
		*page_at(guest, part.begin) = counts;
	}
	return true;
}

static bool load(struct guest *guest, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return false;
	const unsigned char *file =
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return false;
	const Elf64_Ehdr *head = (const void *)file;
	const Elf64_Phdr *segment = (const void *)(file + head->e_phoff);
	for (unsigned at = 0; at < head->e_phnum; at++) {
		if (segment[at].p_type != PT_LOAD || !(segment[at].p_flags & PF_X))
			continue;
		guest->code = file + segment[at].p_offset;
		guest->addr = segment[at].p_vaddr;
		guest->size = segment[at].p_filesz;
		return add_pages(guest);
	}
	return false;
}

/* The count of an instruction, NULL if no guest has it. */
static uint64_t *count_of(const struct qemu_plugin_insn *insn)
{
	uint64_t addr = qemu_plugin_insn_vaddr(insn) - base;
	const unsigned char *where = qemu_plugin_insn_haddr(insn);
	if (where == NULL)
		return NULL;
	const unsigned char *page = where - (addr & (PAGE - 1));
	for (const struct guest *guest = guests; guest < guests + guest_count; guest++) {
		if (addr - guest->addr >= guest->size)
			continue;
		struct part part = part_at(guest, addr);
		if (memcmp(page + (part.begin & (PAGE - 1)), code_at(guest, part.begin),
			   part.end - part.begin) == 0)
			return &(*page_at(guest, addr))[addr & (PAGE - 1)];
	}
	return NULL;
}

static void start(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	for (const struct guest *guest = guests; guest < guests + guest_count; guest++)
		for (struct part part = first_part(guest); part.end > 0;
		     part = next_part(guest, part))
			memset(*page_at(guest, part.begin), 0, PAGE * sizeof(uint64_t));
}

static void write_counts(const struct guest *guest, const char *path)
{
	FILE *out = fopen(path, "w");
	if (out == NULL) {
		perror(path);
		exit(1);
	}
	for (uint64_t addr = guest->addr; addr < guest->addr + guest->size; addr++) {
		uint64_t count = (*page_at(guest, addr))[addr & (PAGE - 1)];
		if (count > 0)
			fprintf(out, "%llx %llu\n", (unsigned long long)addr,
				(unsigned long long)count);
	}
	if (fclose(out) != 0) {
		perror(path);
		exit(1);
	}
}

static void stop(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	written++;
	for (unsigned at = 0; at < guest_count; at++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s.%u.%u", prefix, written, at + 1);
		write_counts(&guests[at], path);
	}
}

static uint32_t mark_of(const struct qemu_plugin_insn *insn)
{
	uint32_t number = 0;
	const char *bytes = qemu_plugin_insn_data(insn);
	if (qemu_plugin_insn_size(insn) == MARK_SIZE &&
	    memcmp(bytes, MARK_OPCODE, 4) == 0)
		memcpy(&number, bytes + 4, sizeof(number));
	return number;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	size_t n = qemu_plugin_tb_n_insns(tb);
	for (size_t at = 0; at < n; at++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, at);
		uint64_t *count = count_of(insn);
		if (count != NULL)
			qemu_plugin_register_vcpu_insn_exec_inline(
				insn, QEMU_PLUGIN_INLINE_ADD_U64, count, 1);
		uint32_t mark = mark_of(insn);
		if (mark == MARK_START || mark == MARK_STOP)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, mark == MARK_START ? start : stop,
				QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static bool take(const char *argument)
{
	if (strncmp(argument, "out=", 4) == 0) {
		prefix = strdup(argument + 4);
		return prefix != NULL;
	}
	if (strncmp(argument, "base=", 5) == 0) {
		base = strtoull(argument + 5, NULL, 0);
		return true;
	}
	return strncmp(argument, "elf=", 4) == 0 && guest_count < MOST_ELFS &&
	       load(&guests[guest_count++], argument + 4);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			char **argv)
{
	(void)info;
	for (int at = 0; at < argc; at++) {
		if (!take(argv[at])) {
			fprintf(stderr, "count.so: %s: cannot be used\n", argv[at]);
			return 1;
		}
	}
	if (prefix == NULL || guest_count == 0) {
		fputs("usage: -plugin "
		      "count.so,out=PREFIX,elf=FILE[,elf=FILE...][,base=N]\n",
		      stderr);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
