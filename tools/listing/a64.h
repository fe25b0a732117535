/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64 instructions as GNU's objdump writes them, from Capstone's text, which has
 * other names (movz, b.hs, hint), and numbers that are decimal up to 9 and hexadecimal
 * above: targets are plain, offsets and shifts decimal, other numbers hexadecimal.
 */
#ifndef HLG_TOOLS_LISTING_A64_H
#define HLG_TOOLS_LISTING_A64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the instruction at addr to buf; false if Capstone does not know it. */
bool hlg_a64_write(uint32_t word, uint64_t addr, char *buf, size_t size);

/* The address that an adr or a load from behind or before it means. */
bool hlg_a64_memory(uint32_t word, uint64_t addr, uint64_t *memory);

#endif
