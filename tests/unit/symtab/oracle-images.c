// SPDX-License-Identifier: GPL-2.0-only
/*
 * oracle-images FOLDER SEED N: writes the oracle's random images of N seeds from SEED on,
 * as FOLDER/SEED.elf, for those who ask other tools what is in them.
 */
#include "tests/unit/symtab/oracle.h"

#include <stdio.h>
#include <stdlib.h>

static int make(const char *folder, uint64_t seed)
{
	static struct oracle_case c;
	struct mkelf_image img;
	char path[4096];
	int rc;

	c = (struct oracle_case){0};
	oracle_make_elf(&c, seed);
	rc = mkelf_build(&c.elf, &img);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof(path), "%s/%lu.elf", folder, (unsigned long)seed);
	rc = mkelf_write(&img, path);
	mkelf_finish(&img);
	return rc;
}

int main(int argc, char **argv)
{
	uint64_t seed, n;

	if (argc != 4) {
		fprintf(stderr, "usage: oracle-images FOLDER SEED N\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	n = strtoull(argv[3], NULL, 10);
	for (uint64_t i = seed; i < seed + n; i++)
		if (make(argv[1], i) < 0) {
			fprintf(stderr, "oracle-images: seed %lu\n", (unsigned long)i);
			return 1;
		}
	return 0;
}
