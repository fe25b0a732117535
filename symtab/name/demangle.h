/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names as their authors wrote them: C++ and Rust (legacy and v0) demangled, without
 * Rust's hashes, and without the `.llvm.N` that ThinLTO appends to local names. So is the
 * name behind wasmtime's `wasm[0]::function[7]::`, which stays.
 */
#ifndef HLG_SYMTAB_NAME_DEMANGLE_H
#define HLG_SYMTAB_NAME_DEMANGLE_H

#include <stdbool.h>
#include <string.h>

/*
 * The readable form of a symbol name, in memory for the caller to free; the name itself
 * when it is not mangled, or would take more than its worth of memory. NULL without
 * memory. Not escaped yet.
 */
char *hlg_demangle(const char *name);

/* The same if that is asked for, else a copy of the name. */
static inline char *hlg_demangle_if(bool demangle, const char *name)
{
	return demangle ? hlg_demangle(name) : strdup(name);
}

/* Built with a demangler? Without one only `.llvm.N` is dropped. */
bool hlg_demangle_available(void);

#endif
