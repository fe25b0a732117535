// SPDX-License-Identifier: GPL-2.0-only
/* Packs and unpacks words (zstd, zlib, lzma). */
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define SIZE 100000

static char text[SIZE], back[SIZE];
static unsigned char packed[2 * SIZE];

static void write_text(unsigned state)
{
	for (size_t at = 0; at + 16 < SIZE;) {
		state = state * 1103515245 + 12345;
		at += (size_t)sprintf(text + at, "%s%u ", state >> 30 ? "at " : "of the ",
				      state >> 16 & 1023);
	}
}

static int same(void)
{
	int equal = memcmp(text, back, SIZE) == 0;

	memset(back, 0, SIZE);
	return equal;
}

static int by_lzma(void)
{
	size_t used = 0, from = 0, to = 0;
	uint64_t limit = UINT64_MAX;

	if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (void *)text, SIZE, packed,
				    &used, sizeof(packed)) != LZMA_OK)
		return 0;
	return lzma_stream_buffer_decode(&limit, 0, NULL, packed, &from, used,
					 (void *)back, &to, SIZE) == LZMA_OK &&
	       same();
}

int main(void)
{
	int right = 0;

	for (unsigned round = 0; round < 6; round++) {
		uLongf n = sizeof(packed), m = SIZE;
		size_t used;

		write_text(round);
		used = ZSTD_compress(packed, sizeof(packed), text, SIZE,
				     1 + 3 * (int)round);
		ZSTD_decompress(back, SIZE, packed, used);
		right += same();
		compress2(packed, &n, (void *)text, SIZE, 1 + (int)round);
		uncompress((void *)back, &m, packed, n);
		right += same();
		right += by_lzma();
	}
	printf("%d\n", right);
	return right != 18;
}
