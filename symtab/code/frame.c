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

bool hlg_frame_may_have_callers(const struct hlg_image *image)
{
	struct hlg_frame_count count;
	struct hlg_err err;

	if (hlg_frame_count(image, &count, &err) < 0 || hlg_frame_is_kept(&count))
		return true;
	for (size_t i = 0; i < image->elf.n_sections; i++) {
		const char *name = image->elf.sections[i].name;

		if (strcmp(name, ".eh_frame") == 0 || strcmp(name, ".debug_frame") == 0)
			return true;
	}
	return false;
}
