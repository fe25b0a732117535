// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/symtab/test_code_kit.h"

#include <check.h>
#include <string.h>

#include "tests/kit/scratch.h"

struct hlg_image *code_image;
struct hlg_code *code;

void code_close_all(void)
{
	hlg_code_close(code);
	hlg_image_destroy(code_image);
	code = NULL;
	code_image = NULL;
}

void code_open_image(const char *path)
{
	struct hlg_err err;

	code_close_all();
	ck_assert_msg(hlg_image_open_elf(&code_image, path, &err) == 0, "%s", err.msg);
}

void code_open(void)
{
	struct hlg_err err;

	hlg_code_close(code);
	ck_assert_msg(hlg_code_open(&code, code_image, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(code);
}

void code_load_image(const struct sketch *sketch, size_t filesz)
{
	struct mkelf_simple simple;
	struct mkelf_image img;
	size_t n = 0;

	while (n < MAX_SYMS && sketch->syms[n].name)
		n++;
	mkelf_simple_init(&simple, TEXT, sketch->text, strlen(sketch->picture),
			  sketch->syms, n);
	simple.elf.machine = sketch->machine;
	ck_assert_int_eq(mkelf_build(&simple.elf, &img), 0);
	mkelf_put(&img, mkelf_phdr(&img, 0) + offsetof(Elf64_Phdr, p_filesz), 8, filesz);
	code_open_image(scratch_image("guest.elf", &img));
	mkelf_finish(&img);
}

void code_load(const struct sketch *sketch, size_t filesz)
{
	code_load_image(sketch, filesz);
	code_open();
}

void code_load_text(const void *text, size_t size, uint16_t machine,
		    const struct mkelf_sym *syms, size_t n)
{
	struct mkelf_simple simple;

	mkelf_simple_init(&simple, TEXT, text, size, syms, n);
	simple.elf.machine = machine;
	code_open_image(scratch_elf("guest.elf", &simple.elf));
	code_open();
}

void code_load_two(const void *text, size_t size, uint16_t machine, uint64_t end)
{
	const struct mkelf_sym syms[] = {
		FUNC("one", 0, end - TEXT),
		FUNC("next", end - TEXT, TEXT + size - end),
	};

	code_load_text(text, size, machine, syms, 2);
}

static char letter(enum hlg_boundary boundary)
{
	return boundary == HLG_BOUNDARY_ON    ? 'o'
	       : boundary == HLG_BOUNDARY_OFF ? '.'
					      : '?';
}

char code_draw(uint64_t addr)
{
	struct hlg_place place;

	hlg_image_lookup(code_image, addr, &place);
	return letter(hlg_code_at(code, &place));
}

char code_draw_decoded(uint64_t addr)
{
	return letter(hlg_code_test(code, addr));
}
