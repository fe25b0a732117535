/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for tables of megabytes that are filled at once. */
#ifndef HLG_SYMTAB_ELF_MEMORY_H
#define HLG_SYMTAB_ELF_MEMORY_H

#include <stddef.h>

/*
 * As malloc, for free(); NULL without memory. A large block is asked for in huge pages:
 * a first touch of every 4 KiB page would cost more than filling it.
 */
void *hlg_memory_alloc(size_t size);

#endif
