// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20) /* of x86-64, and of AArch64 with 4 KiB pages */

void *hlg_memory_alloc(size_t size)
{
	void *p;

	if (size < HUGE_PAGE / 2 || size > SIZE_MAX - HUGE_PAGE)
		return malloc(size);
	size = (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	if (posix_memalign(&p, HUGE_PAGE, size) != 0)
		return NULL;
	madvise(p, size, MADV_HUGEPAGE); /* a wish; without it the block is as good */
	return p;
}
