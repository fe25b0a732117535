/* SPDX-License-Identifier: GPL-2.0-only */
/* What the plugins share: which instruction is a guest's, and which is a mark. */
#ifndef TRUTH_PLUGIN_H
#define TRUTH_PLUGIN_H

#include "tests/rig/truth/qemu-plugin.h"

#include <stdbool.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))
#define PLUGIN_PAGE   ((uint64_t)4096)

/* A guest's ELF, and the bytes of its executable segment. Addresses are the ELF's own. */
struct plugin_guest {
	const unsigned char *file;
	const unsigned char *code;
	uint64_t addr; /* of code[0] */
	uint64_t size;
};

/* The part of a page that is a guest's code; empty where begin == end. */
struct plugin_part {
	uint64_t begin, end;
};

/* Reads an ELF, which stays mapped. */
bool plugin_load(struct plugin_guest *guest, const char *path);

struct plugin_part plugin_part_at(const struct plugin_guest *guest, uint64_t addr);
struct plugin_part plugin_first_part(const struct plugin_guest *guest);
/* Of the next page; {0, 0} behind the last. */
struct plugin_part plugin_next_part(const struct plugin_guest *guest,
				    struct plugin_part part);

static inline const unsigned char *plugin_code(const struct plugin_guest *guest,
					       uint64_t addr)
{
	return guest->code + (addr - guest->addr);
}

/* Whether an instruction, at an address of the guest's, lies in QEMU's memory on a page
 * that has the ELF's bytes. */
bool plugin_is_guest(const struct plugin_guest *guest, uint64_t addr,
		     const struct qemu_plugin_insn *insn);

/* The number of a mark (mark.h), 0 if the instruction is none. */
uint32_t plugin_mark(const struct qemu_plugin_insn *insn);

#endif
