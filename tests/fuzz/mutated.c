// SPDX-License-Identifier: GPL-2.0-only
/*
 * mutated FILE: what a mutator makes of a file in a thousand rounds fits the room there
 * is, is mostly another file, and not by one byte only: parts are there twice, or gone, or
 * have another size. Prints how many.
 */
#include <stdio.h>

#include "tests/fuzz/mutate.h"

enum {
	ROUNDS = 1000,
	MOST = 1 << 18
};

/* In libFuzzer's place: one byte is another. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
	static struct mutate_dice dice;

	if (size && size <= most)
		data[mutate_roll(&dice, size)] ^= (uint8_t)(1 + mutate_roll(&dice, 255));
	return size;
}

int main(int argc, char **argv)
{
	static uint8_t file[MOST];
	size_t size = 0, n, differ, changed = 0, several = 0;
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;

	if (f) {
		size = fread(file, 1, MOST, f);
		fclose(f);
	}
	if (size == 0 || size == MOST) {
		fputs("usage: mutated FILE\n", stderr);
		return 2;
	}
	for (unsigned seed = 0; seed < ROUNDS; seed++) {
		/* No room to spare: a sanitizer sees what is written behind it. */
		size_t most = size + seed % 512;
		uint8_t *room = malloc(most);

		if (!room)
			return 2;
		memcpy(room, file, size);
		n = LLVMFuzzerCustomMutator(room, size, most, seed);
		if (n > most) {
			fprintf(stderr, "seed %u: %zu bytes for %zu\n", seed, n, most);
			return 1;
		}
		differ = n != size ? 2 : 0;
		for (size_t i = 0; i < n && i < size; i++)
			differ += file[i] != room[i];
		changed += differ > 0;
		several += differ > 1;
		free(room);
	}
	printf("of %d: %zu are others, %zu of them by more than a byte\n", ROUNDS,
	       changed, several);
	/* Where nothing is understood, one byte is another. */
	return changed < ROUNDS * 8 / 10 || several < ROUNDS / 50;
}
