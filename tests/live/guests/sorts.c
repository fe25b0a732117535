// SPDX-License-Identifier: GPL-2.0-only
/*
 * A C library guest that sorts, copies, searches and allocates: most of it inside libc.
 * With -DCHANGED=BYTES one early function is longer by so many, as after a change.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS   3000
#define BLOCKS 256
#define TEXT   8192

#define STRING(x) #x
#define EXPAND(x) STRING(x)

static uint32_t seed = 1;
static char text[TEXT];
static char copy[TEXT];

static uint32_t next(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left;
	uint32_t b = *(const uint32_t *)right;

#ifdef CHANGED
	__asm__ volatile(".fill " EXPAND(CHANGED) ", 1, 0x90");
#endif
	return (a > b) - (a < b);
}

static size_t sort(void)
{
	static uint32_t keys[KEYS];
	size_t found = 0;

	for (size_t i = 0; i < KEYS; i++)
		keys[i] = next();
	qsort(keys, KEYS, sizeof(keys[0]), compare);
	for (size_t i = 0; i < KEYS; i += 2) {
		uint32_t key = keys[i] + i % 3;

		found += bsearch(&key, keys, KEYS, sizeof(key), compare) != NULL;
	}
	return found;
}

static size_t allocate(void)
{
	static char *blocks[BLOCKS];
	size_t total = 0;

	for (int i = 0; i < 4000; i++) {
		size_t at = next() % BLOCKS;
		size_t size = next() % 900 + 1;

		blocks[at] = realloc(blocks[at], size);
		if (!blocks[at])
			exit(1);
		blocks[at][size - 1] = (char)i;
		total += size;
		at = next() % BLOCKS;
		if (i % 3 == 0) {
			free(blocks[at]);
			blocks[at] = NULL;
		}
	}
	return total;
}

static size_t handle_strings(void)
{
	size_t total = 0;

	for (size_t i = 0; i < TEXT - 1; i++)
		text[i] = next() % 61 ? (char)('a' + next() % 26) : ' ';
	for (int i = 0; i < 60; i++) {
		size_t from = next() % (TEXT / 2);

		memcpy(copy, text, sizeof(text));
		memmove(copy + from, copy, TEXT / 2 - 1);
		total += strlen(copy + from);
		total += memcmp(copy, text, TEXT) < 0;
		total += strchr(text + from, 'q') != NULL;
		total += strstr(text + from, "qzq") != NULL;
		total += strcspn(text + from, " ");
	}
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		total += strcmp(word, "word") < 0;
	return total;
}

int main(void)
{
	size_t total = 0;

	for (int i = 0; i < 20; i++)
		total += sort() + handle_strings() + allocate();
	printf("sorts: %zu\n", total);
	return 0;
}
