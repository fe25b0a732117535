// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/frame.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a function that are looked at, and those in which its frame is set up: other
 * instructions may stand between, and before. */
#define LOOKED_AT 16384
#define PROLOGUE  40

#define PUSH_RBP  0x55
#define CALL      0xe8 /* and 4 bytes: from behind them */
#define CALL_SIZE 5

/* At its beginning, where other instructions may stand between; or one right behind the
 * other anywhere, behind ways out that need no frame. */
static bool is_framed(const uint8_t *code, size_t n)
{
	static const uint8_t both[2][4] = {{PUSH_RBP, 0x48, 0x89, 0xe5},
					   {PUSH_RBP, 0x48, 0x8b, 0xec}};
	const uint8_t *push = memchr(code, PUSH_RBP, n < PROLOGUE ? n : PROLOGUE);
	size_t rest = push ? n - (size_t)(push - code) : 0;

	rest = rest < PROLOGUE ? rest : PROLOGUE;
	for (int i = 0; i < 2; i++)
		if ((push && memmem(push, rest, both[i] + 1, 3)) ||
		    memmem(code, n, both[i], 4))
			return true;
	return false;
}

static bool calls(const struct hlg_image *image, uint64_t addr, const uint8_t *code,
		  size_t n)
{
	for (size_t i = 0; i + CALL_SIZE <= n; i++) {
		struct hlg_place place;
		int32_t distance;

		if (code[i] != CALL)
			continue;
		memcpy(&distance, code + i + 1, sizeof(distance));
		hlg_image_lookup(image,
				 addr + i + CALL_SIZE + (uint64_t)(int64_t)distance,
				 &place);
		if (place.symbol && place.start == place.addr)
			return true;
	}
	return false;
}

int hlg_frame_count(const struct hlg_image *image, struct hlg_frame_count *count,
		    struct hlg_err *err)
{
	uint64_t done = 0;
	uint8_t *code;
	int fd;

	*count = (struct hlg_frame_count){0};
	if (image->map || image->made || image->elf.machine != EM_X86_64)
		return 0;
	fd = hlg_image_reopen(image, err);
	if (fd < 0)
		return fd;
	code = malloc(LOOKED_AT);
	/* Of functions that overlap, however many, the first: no byte is read twice. */
	for (size_t i = 0; code && i < image->tab.n_syms; i++) {
		const struct hlg_symbol *symbol = &image->tab.syms[i];
		uint64_t size = symbol->end - symbol->addr;
		size_t n;

		if (symbol->class != HLG_SYM_FUNCTION || symbol->addr < done)
			continue;
		done = symbol->end;
		n = hlg_image_pread(image, fd, symbol->addr, code,
				    size < LOOKED_AT ? (size_t)size : LOOKED_AT);
		if (!calls(image, symbol->addr, code, n))
			continue;
		count->calling++;
		if (is_framed(code, n))
			count->framed++;
		else if (image->elf.entry - symbol->addr < size)
			count->entered = 1;
	}
	close(fd);
	if (!code)
		return hlg_err_memory(err, image->path);
	free(code);
	return 0;
}

/* A record of .eh_frame at addr: where the next one is, and whether it is a function's;
 * false behind the last. */
static bool next_table(const struct hlg_image *image, int fd, uint64_t *addr,
		       bool *of_function)
{
	uint64_t start = *addr + sizeof(uint32_t), long_size;
	uint32_t size, id;

	if (hlg_image_pread(image, fd, *addr, &size, sizeof(size)) < sizeof(size) ||
	    size == 0)
		return false;
	long_size = size;
	if (size == UINT32_MAX) {
		if (hlg_image_pread(image, fd, start, &long_size, sizeof(long_size)) <
		    sizeof(long_size))
			return false;
		start += sizeof(long_size);
	}
	if (hlg_image_pread(image, fd, start, &id, sizeof(id)) < sizeof(id) ||
	    start + long_size < start)
		return false;
	*of_function = id != 0;
	*addr = start + long_size;
	return true;
}

/* Tables of functions in a section, up to more than most of them. */
static size_t count_tables(const struct hlg_image *image,
			   const struct hlg_section *section, size_t most)
{
	size_t left = 4 * most + 64; /* records that are read, whatever the file has */
	uint64_t addr = section->addr;
	struct hlg_err err;
	int fd = hlg_image_reopen(image, &err);
	bool of_function;
	size_t n = 0;

	if (fd < 0)
		return 0;
	while (n <= most && left-- && addr < section->end &&
	       next_table(image, fd, &addr, &of_function))
		n += of_function;
	close(fd);
	return n;
}

bool hlg_frame_may_have_tables(const struct hlg_image *image)
{
	size_t functions = 0;

	for (size_t i = 0; i < image->tab.n_syms; i++)
		functions += image->tab.syms[i].class == HLG_SYM_FUNCTION &&
			     image->tab.syms[i].end != image->tab.syms[i].addr;
	for (size_t i = 0; i < image->elf.n_sections; i++) {
		const struct hlg_section *section = &image->elf.sections[i];

		if (strcmp(section->name, ".debug_frame") == 0 ||
		    (strcmp(section->name, ".eh_frame") == 0 &&
		     count_tables(image, section, functions / 2) > functions / 2))
			return true;
	}
	return false;
}

bool hlg_frame_may_have_callers(const struct hlg_image *image)
{
	struct hlg_frame_count count;
	struct hlg_err err;

	return hlg_frame_count(image, &count, &err) < 0 || hlg_frame_is_kept(&count) ||
	       hlg_frame_may_have_tables(image);
}
