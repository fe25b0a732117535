/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The symbol table as it stands at one point of a stream: Lua functions by the address of
 * their prototype, C functions by theirs, traces by number. A later record takes the
 * place of an earlier one of the same address or number.
 */
#ifndef HLG_TOOLS_SYSPROF_SYMBOLS_H
#define HLG_TOOLS_SYSPROF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct hlg_symbols {
	void *lua, *c, *traces; /* trees of tsearch(3) */
};

/* Of what is asked or told; not all mean something for every kind. */
struct hlg_symbols_entry {
	uint64_t key;  /* address, or number of a trace */
	uint32_t name; /* of the chunk, or the C function */
	uint64_t addr; /* of a trace: the prototype's */
	uint64_t line; /* of a trace: it begins there */
};

/* False without memory. tree is one of the three. */
bool hlg_symbols_set(void **tree, const struct hlg_symbols_entry *entry);

/* The entry of a key, or NULL. Valid until the next hlg_symbols_set. */
const struct hlg_symbols_entry *hlg_symbols_get(void *const *tree, uint64_t key);

/* The last at or below key, or NULL. */
const struct hlg_symbols_entry *hlg_symbols_floor(void *const *tree, uint64_t key);

void hlg_symbols_finish(struct hlg_symbols *symbols);

#endif
