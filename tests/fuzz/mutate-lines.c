// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other DWARF in the same ELF: of one of its sections .debug_* a few bytes are others, or
 * those that stand elsewhere in it, or it is shorter. One of eight times, and of what is
 * no such ELF, any bytes are.
 */
#include <elf.h>

#include "tests/fuzz/mutate.h"

enum {
	STRETCH = 16 /* bytes at most */
};

/* The sections, or NULL. */
static Elf64_Shdr *sections(uint8_t *data, size_t size, Elf64_Ehdr *ehdr)
{
	if (size < sizeof(*ehdr))
		return NULL;
	memcpy(ehdr, data, sizeof(*ehdr));
	if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0 || ehdr->e_shoff > size ||
	    ehdr->e_shoff % 8 || ehdr->e_shentsize != sizeof(Elf64_Shdr) ||
	    ehdr->e_shnum > (size - ehdr->e_shoff) / sizeof(Elf64_Shdr))
		return NULL;
	return (Elf64_Shdr *)(void *)(data + ehdr->e_shoff);
}

/* Neither loaded nor a table of the ELF's own: of these only DWARF is left. */
static bool is_debug(const Elf64_Shdr *s, size_t size)
{
	return s->sh_type == SHT_PROGBITS && !(s->sh_flags & SHF_ALLOC) && s->sh_size &&
	       s->sh_offset <= size && s->sh_size <= size - s->sh_offset;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	struct mutate_dice dice = {seed};
	Elf64_Shdr *all, *one = NULL;
	Elf64_Ehdr ehdr;
	size_t n = 0, at;

	all = sections(data, size, &ehdr);
	for (size_t i = 0; all && i < ehdr.e_shnum; i++)
		if (is_debug(&all[i], size) && mutate_roll(&dice, ++n) == 0)
			one = &all[i];
	if (mutate_roll(&dice, 8) == 0 || !one)
		return LLVMFuzzerMutate(data, size, most);
	data += one->sh_offset;
	/* A stretch, so that what is around it stays as it is. */
	at = mutate_roll(&dice, one->sh_size);
	n = one->sh_size - at < STRETCH ? one->sh_size - at : STRETCH;
	switch (mutate_roll(&dice, 8)) {
	case 0:
		one->sh_size = at;
		break;
	case 1:
		memmove(data + at, data + mutate_roll(&dice, one->sh_size - n + 1), n);
		break;
	default:
		mutate_inside(data + at, n);
	}
	return size;
}
