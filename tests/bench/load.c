// SPDX-License-Identifier: GPL-2.0-only
/*
 * What loading an image costs beside a bare libelf walk of the same symbol table.
 *
 *	$ bench-load guest.elf [REPETITIONS]
 *
 * prints `bare NS` and `load NS` in turn, one pair a repetition. The walk asks libelf for
 * every symbol and its name and keeps nothing; loading checks, sorts, settles overlaps
 * and freezes.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "symtab/image/image.h"

static volatile uint64_t sink; /* so that no walk is optimised away */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Adds something of every symbol up. */
static uint64_t walk_table(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	uint64_t sum = 0;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, sh->sh_link, sym.st_name);

		sum += sym.st_value + sym.st_size + (name ? (unsigned char)name[0] : 0);
	}
	return sum;
}

static uint64_t walk(const char *path, Elf_Cmd how)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, how, NULL);
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;
	GElf_Shdr sh;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
			sum += walk_table(elf, scn, &sh);
	elf_end(elf);
	close(fd);
	return sum;
}

int main(int argc, char **argv)
{
	int repetitions = argc > 2 ? atoi(argv[2]) : 21;

	if (argc < 2) {
		fputs("usage: bench-load guest.elf [REPETITIONS]\n", stderr);
		return 2;
	}
	elf_version(EV_CURRENT);
	for (int i = 0; i < repetitions; i++) {
		struct hlg_image *image;
		struct hlg_err err;
		uint64_t start = now(), mapped, mid;

		sink += walk(argv[1], ELF_C_READ);
		mapped = now();
		sink += walk(argv[1], ELF_C_READ_MMAP);
		mid = now();
		if (hlg_image_open_elf(&image, argv[1], &err) < 0) {
			fprintf(stderr, "bench-load: %s\n", err.msg);
			return 1;
		}
		printf("bare %llu\n", (unsigned long long)(mapped - start));
		printf("bare-mmap %llu\n", (unsigned long long)(mid - mapped));
		printf("load %llu\n", (unsigned long long)(now() - mid));
		hlg_image_destroy(image);
	}
	return 0;
}
