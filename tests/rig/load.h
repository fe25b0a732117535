/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts a static guest program into memory, as Hyperlight's loader does:
 *
 *	guest address = p_vaddr - p_vaddr of the first PT_LOAD + base
 *
 * Static PIEs get their R_X86_64_RELATIVE relocations applied. ET_EXEC files run only at
 * their own addresses. A program with thread-local storage (PT_TLS) is taken for one that
 * a C library starts: it is hosted, needs the process of process.h, and relocates itself.
 */
#ifndef HLG_TESTS_RIG_LOAD_H
#define HLG_TESTS_RIG_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hlg_err;

/* Where the guest sees the memory it is loaded into. */
#define HLG_VM_BASE_DEFAULT UINT64_C(0x4000) /* of a Hyperlight 0.17 guest */
#define HLG_VM_BASE_UNSET   UINT64_MAX       /* ET_DYN: the default; ET_EXEC: its own */

/* A window of guest memory; window.mem[0] is what the guest sees at image.base. */
struct hlg_vm_window {
	uint8_t *mem; /* zeroed, owned by the caller */
	size_t size;  /* bytes */
};

struct hlg_vm_image {
	uint64_t base;     /* guest address of the first PT_LOAD */
	uint64_t entry;    /* guest address of the first instruction */
	uint64_t size;     /* bytes from base to the end of the last PT_LOAD */
	bool hosted;       /* it makes system calls */
	uint64_t segments; /* guest address of the program headers */
	uint64_t segment_count;
};

/*
 * Loads the ELF64 x86-64 file at path into the window and describes it in image.
 *
 * Returns 0, or -EINVAL (not a program this loader can run), -E2BIG (does not fit the
 * window) or another negative errno, with err set. The window's contents are unspecified
 * after a failure.
 */
int hlg_vm_load(const char *path, uint64_t base, struct hlg_vm_window window,
		struct hlg_vm_image *image, struct hlg_err *err);

#endif
