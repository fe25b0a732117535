/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream into memory whose text is whole or absent. That of open_memstream(3) drops
 * what it had no memory for without an error, and goes on.
 */
#ifndef HLG_FILTER_OUTPUT_MEMSTREAM_H
#define HLG_FILTER_OUTPUT_MEMSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Stays where it is while it is open. */
struct hlg_memstream {
	FILE *f;    /* NULL: there was no memory, or it is closed */
	char *text; /* what f was flushed of, and a '\0'; NULL before the first byte */
	size_t size, room;
	bool lost; /* for want of memory, here or in who writes: nothing more is taken */
};

/* f; *m need not be set. Then close, once, also of NULL. */
FILE *hlg_memstream_open(struct hlg_memstream *m);

/* How many bytes have been written. */
size_t hlg_memstream_size(struct hlg_memstream *m);

/* The whole text, m->size bytes and a '\0', to be freed; NULL if some of it was lost. */
char *hlg_memstream_close(struct hlg_memstream *m);

#endif
