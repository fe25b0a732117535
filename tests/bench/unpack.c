// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it takes at least to read saved profiles: each file inflated by zlib and parsed by
 * protobuf-c, once, and forgotten.
 *
 *	$ bench-unpack LIST
 *
 * LIST names the files, a line each. Prints how many samples there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "at-once.pb-c.h"

static unsigned char *message;
static size_t room;

static size_t inflate_file(const char *path)
{
	gzFile f = gzopen(path, "rb");
	size_t n = 0;
	int got = 1;

	while (f && got > 0) {
		if (n == room) {
			room = room ? 2 * room : 1 << 20;
			message = realloc(message, room);
			if (!message)
				exit(1);
		}
		got = gzread(f, message + n, (unsigned)(room - n));
		n += got > 0 ? (size_t)got : 0;
	}
	if (!f || got < 0) {
		fprintf(stderr, "%s: cannot be inflated\n", path);
		exit(1);
	}
	gzclose(f);
	return n;
}

int main(int argc, char **argv)
{
	FILE *list = argc == 2 ? fopen(argv[1], "re") : NULL;
	char line[4096];
	size_t samples = 0;

	while (list && fgets(line, sizeof(line), list)) {
		Pprof__Profile *profile;
		size_t size;

		line[strcspn(line, "\n")] = '\0';
		size = inflate_file(line);
		profile = pprof__profile__unpack(NULL, size, message);
		if (!profile) {
			fprintf(stderr, "%s: is no profile\n", line);
			return 1;
		}
		samples += profile->n_sample;
		pprof__profile__free_unpacked(profile, NULL);
	}
	printf("%zu samples\n", samples);
	free(message);
	return list && fclose(list) == 0 ? 0 : 1;
}
