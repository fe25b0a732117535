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
#include "tests/rig/truth/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ELFS 8

PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
				      int argc, char **argv);

/* A guest's code, and for each page of the addresses a count for each byte. */
struct counted {
	struct plugin_guest guest;
	uint64_t **pages;
};

static struct counted all[MOST_ELFS];
static unsigned n;
static uint64_t base = 0x4000;
static const char *prefix;
static unsigned written;

static uint64_t **page_at(const struct counted *one, uint64_t addr)
{
	return &one->pages[addr / PLUGIN_PAGE - one->guest.addr / PLUGIN_PAGE];
}

static uint64_t *count_at(const struct counted *one, uint64_t addr)
{
	return &(*page_at(one, addr))[addr & (PLUGIN_PAGE - 1)];
}

/* The counts of a page that an earlier guest has alike, NULL if none has. */
static uint64_t *same_page(const struct counted *one, struct plugin_part part)
{
	for (const struct counted *other = all; other < one; other++) {
		struct plugin_part theirs = plugin_part_at(&other->guest, part.begin);
		if (theirs.begin == part.begin && theirs.end == part.end &&
		    memcmp(plugin_code(&one->guest, part.begin),
			   plugin_code(&other->guest, part.begin),
			   part.end - part.begin) == 0)
			return *page_at(other, part.begin);
	}
	return NULL;
}

static bool add(struct counted *one, const char *path)
{
	if (!plugin_load(&one->guest, path))
		return false;
	uint64_t end = one->guest.addr + one->guest.size;
	uint64_t pages = end / PLUGIN_PAGE - one->guest.addr / PLUGIN_PAGE + 1;
	one->pages = calloc(pages, sizeof(*one->pages));
	if (one->pages == NULL)
		return false;
	for (struct plugin_part part = plugin_first_part(&one->guest); part.end > 0;
	     part = plugin_next_part(&one->guest, part)) {
		uint64_t *counts = same_page(one, part);
		if (counts == NULL)
			counts = calloc(PLUGIN_PAGE, sizeof(*counts));
		if (counts == NULL)
			return false;
		*page_at(one, part.begin) = counts;
	}
	return true;
}

/* The count of an instruction, NULL if no guest has it. */
static uint64_t *count_of(const struct qemu_plugin_insn *insn)
{
	uint64_t addr = qemu_plugin_insn_vaddr(insn) - base;
	for (const struct counted *one = all; one < all + n; one++)
		if (plugin_is_guest(&one->guest, addr, insn))
			return count_at(one, addr);
	return NULL;
}

static void start(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	for (const struct counted *one = all; one < all + n; one++)
		for (struct plugin_part part = plugin_first_part(&one->guest);
		     part.end > 0; part = plugin_next_part(&one->guest, part))
			memset(*page_at(one, part.begin), 0,
			       PLUGIN_PAGE * sizeof(uint64_t));
}

static void write_counts(const struct counted *one, const char *path)
{
	FILE *out = fopen(path, "w");
	if (out == NULL) {
		perror(path);
		exit(1);
	}
	uint64_t end = one->guest.addr + one->guest.size;
	for (uint64_t addr = one->guest.addr; addr < end; addr++) {
		uint64_t count = *count_at(one, addr);
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
	for (unsigned at = 0; at < n; at++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s.%u.%u", prefix, written, at + 1);
		write_counts(&all[at], path);
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	size_t insns = qemu_plugin_tb_n_insns(tb);
	for (size_t at = 0; at < insns; at++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, at);
		uint64_t *count = count_of(insn);
		if (count != NULL)
			qemu_plugin_register_vcpu_insn_exec_inline(
				insn, QEMU_PLUGIN_INLINE_ADD_U64, count, 1);
		uint32_t mark = plugin_mark(insn);
		if (mark != 0)
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
	return strncmp(argument, "elf=", 4) == 0 && n < MOST_ELFS &&
	       add(&all[n++], argument + 4);
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
	if (prefix == NULL || n == 0) {
		fputs("usage: -plugin "
		      "count.so,out=PREFIX,elf=FILE[,elf=FILE...][,base=N]\n",
		      stderr);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
