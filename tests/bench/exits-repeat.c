// SPDX-License-Identifier: GPL-2.0-only
/*
 * exits-repeat FILE TIMES OUT: the records of a recording that splice.py made, again and
 * again, each time later by as long as the recording is; for measuring with many.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE  9
#define TIME_AT 32 /* IDENTIFIER, IP, TID, TIME: what splice.py writes */

static uint64_t u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint8_t *load(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;

	if (!f || fseek(f, 0, SEEK_END) != 0)
		exit(1);
	*size = (size_t)ftell(f);
	rewind(f);
	data = malloc(*size);
	if (!data || fread(data, 1, *size, f) != *size)
		exit(1);
	fclose(f);
	return data;
}

/* Adds to all times; returns how long the recording is. */
static uint64_t shift(uint8_t *at, const uint8_t *end, uint64_t by)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (; at < end; at += u64(at) >> 48) {
		uint64_t time;

		if ((uint32_t)u64(at) != SAMPLE)
			continue;
		time = u64(at + TIME_AT) + by;
		memcpy(at + TIME_AT, &time, sizeof(time));
		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	return last - first;
}

int main(int argc, char **argv)
{
	uint64_t from, size, features, more;
	size_t whole;
	uint8_t *data;
	long times;
	FILE *out;

	if (argc != 4)
		return 2;
	data = load(argv[1], &whole);
	times = strtol(argv[2], NULL, 10);
	out = fopen(argv[3], "wb");
	if (!out || times < 1)
		return 1;
	/* struct perf_file_header: data at 40, its size at 48; features' bits at 72. */
	from = u64(data + 40);
	size = u64(data + 48);
	more = size * (uint64_t)(times - 1);
	for (features = 0; features < 256; features++) {
		static uint64_t n;
		uint64_t at, section = from + size + 16 * n;

		if (!(data[72 + features / 8] >> features % 8 & 1))
			continue;
		at = u64(data + section) + more;
		memcpy(data + section, &at, sizeof(at));
		n++;
	}
	more += size;
	memcpy(data + 48, &more, sizeof(more));
	fwrite(data, 1, from, out);
	for (long i = 0; i < times; i++) {
		fwrite(data + from, 1, size, out);
		shift(data + from, data + from + size,
		      shift(data + from, data + from + size, 0) + 1000000);
	}
	fwrite(data + from + size, 1, whole - from - size, out);
	return fclose(out) == 0 ? 0 : 1;
}
