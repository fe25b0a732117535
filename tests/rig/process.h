/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a statically linked Linux program needs of a kernel, for one thread: the stack of
 * a fresh process, memory, standard output and error, clocks, random numbers, an end.
 *
 * The window is laid out like this; all offsets below are into it:
 *
 *	image | heap of brk, grows up ->   <- mmap, from the top down | stack
 *
 * A process belongs to one machine and is used by that machine's thread. Functions return
 * 0 or a negative errno with err set, unless they say otherwise.
 */
#ifndef HLG_TESTS_RIG_PROCESS_H
#define HLG_TESTS_RIG_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/vm/machine.h"

struct hlg_err;
struct hlg_vm_image;
struct hlg_vm_machine;

#define HLG_VM_CALLS 512 /* system calls have lower numbers */

/* The caller's memory, filled by hlg_vm_process_init. */
struct hlg_vm_process {
	struct hlg_vm_machine *machine;
	const struct hlg_vm_image *image; /* the caller's */
	size_t stack;            /* offset of the stack, which ends with the window */
	size_t heap;             /* offset of the heap */
	size_t brk;              /* offset of its end */
	uint8_t *used;           /* of each page below the stack: not for mmap */
	uint64_t fs;             /* guest address */
	bool told[HLG_VM_CALLS]; /* that there is no such call here */
	bool exited;
	int signal; /* it ended itself with, or 0 */
	int status; /* it exited with */
};

/* stack: bytes at the window's end. */
int hlg_vm_process_init(struct hlg_vm_process *process, struct hlg_vm_machine *machine,
			const struct hlg_vm_image *image, size_t stack,
			struct hlg_err *err);
void hlg_vm_process_finish(struct hlg_vm_process *process);

/* A new life: fills the stack and says where to begin. The image is loaded afresh. */
int hlg_vm_process_start(struct hlg_vm_process *process, struct hlg_vm_start *start,
			 struct hlg_err *err);

/* Serves the system call that a step stopped at. Then look at exited. */
int hlg_vm_process_call(struct hlg_vm_process *process, struct hlg_err *err);

/* The window's bytes of [address, address + size), or NULL if not all are inside. */
void *hlg_vm_process_bytes(const struct hlg_vm_process *process, uint64_t address,
			   uint64_t size);

/* memory.c: zeroes these bytes of the window, both page-aligned, and gives them back. */
int hlg_vm_memory_clear(struct hlg_vm_machine *machine, size_t offset, size_t size,
			struct hlg_err *err);

/* memory.c: as the system calls of these names; the result or a negative errno. */
int64_t hlg_vm_process_brk(struct hlg_vm_process *process, const uint64_t *args);
int64_t hlg_vm_process_mmap(struct hlg_vm_process *process, const uint64_t *args);
int64_t hlg_vm_process_munmap(struct hlg_vm_process *process, const uint64_t *args);

#endif
