// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/mkelf-guest.h"

#include <string.h>

/* Locals first, as a linker would have them. */
static const struct mkelf_sym symbols[MKELF_N_SYMS] = {
	MKELF_SYM("guest.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS),
	MKELF_SYM(NULL, 0x1000, 0, STB_LOCAL, STT_SECTION, MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("dispatch", 0x1020, 0x34, STB_LOCAL, STT_FUNC,
		  MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("entrypoint", 0x1000, 0x20, STB_GLOBAL, STT_FUNC,
		  MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("compute_alias", 0x1060, 0x80, STB_WEAK, STT_FUNC,
		  MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("compute", 0x1060, 0x80, STB_GLOBAL, STT_FUNC,
		  MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("handler", 0x1120, 0, STB_GLOBAL, STT_NOTYPE,
		  MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("cold", 0x1180, 0x40, STB_GLOBAL, STT_FUNC, MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("last", 0x11c0, 0x20, STB_GLOBAL, STT_FUNC, MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("copy", 0x1200, 0x20, STB_GLOBAL, STT_GNU_IFUNC,
		  MKELF_SEC(MKELF_SEC_TEXT)),
	MKELF_SYM("counter", 0x3000, 8, STB_GLOBAL, STT_OBJECT,
		  MKELF_SEC(MKELF_SEC_DATA)),
	MKELF_SYM("buffer", 0x3010, 0x100, STB_GLOBAL, STT_OBJECT,
		  MKELF_SEC(MKELF_SEC_BSS)),
	MKELF_SYM("stack_top", 0xffffff0000000000, 0, STB_GLOBAL, STT_NOTYPE, SHN_ABS),
};

static const struct mkelf_segment segments[MKELF_N_SEG] = {
	{
		.type = PT_LOAD,
		.flags = PF_R,
		.vaddr = 0,
		.memsz = 0x200,
		.align = 0x1000,
	},
	{
		.type = PT_LOAD,
		.flags = PF_R | PF_X,
		.vaddr = MKELF_TEXT,
		.memsz = MKELF_TEXT_SIZE,
		.align = 0x1000,
	},
	{
		.type = PT_LOAD,
		.flags = PF_R | PF_W,
		.vaddr = MKELF_DATA,
		.memsz = 0x110,
		.align = 0x1000,
	},
};

static const struct mkelf_section sections[MKELF_N_SEC] = {
	{
		.name = ".text",
		.type = SHT_PROGBITS,
		.flags = SHF_ALLOC | SHF_EXECINSTR,
		.addr = MKELF_TEXT,
		.size = MKELF_TEXT_SIZE,
		.align = 16,
	},
	{
		.name = ".data",
		.type = SHT_PROGBITS,
		.flags = SHF_ALLOC | SHF_WRITE,
		.addr = MKELF_DATA,
		.size = 8,
		.fill = 1,
		.align = 8,
	},
	{
		.name = ".bss",
		.type = SHT_NOBITS,
		.flags = SHF_ALLOC | SHF_WRITE,
		.addr = MKELF_DATA + 0x10,
		.size = 0x100,
		.align = 16,
	},
};

static bool is_a64(const struct mkelf_guest *g)
{
	return g->elf.machine == EM_AARCH64;
}

static void put_insn(uint8_t *at, uint32_t insn)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(insn >> (8 * i));
}

/* size bytes of code at text + off, ending in a return: instructions of four bytes, so
 * that samples at multiples of four lie on their starts. */
static void put_code(struct mkelf_guest *g, size_t off, size_t size)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x40, 0x01}; /* rax, [rax + 1] */
	uint8_t *at = g->text + off;

	if (is_a64(g)) {
		for (size_t i = 0; i + 4 <= size; i += 4)
			put_insn(at + i, i + 4 < size ? 0x91000400 : 0xd65f03c0);
		return;
	}
	memset(at, 0x90, size);
	for (size_t i = 0; i + 4 < size; i += 4)
		memcpy(at + i, lea, 4);
	at[size - 1] = 0xc3;
}

void mkelf_guest_code(struct mkelf_guest *g)
{
	static const uint8_t nops[] = {0x0f, 0x1f, 0x84, 0,    0,    0,
				       0,    0,    0x0f, 0x1f, 0x40, 0};

	memset(g->text, 0, sizeof(g->text));
	put_code(g, 0x000, 0x20);
	put_code(g, 0x020, 0x34);
	memcpy(g->text + 0x54, nops, sizeof(nops));
	put_code(g, 0x060, 0x80);
	put_code(g, 0x0e0, 0x40);
	put_code(g, 0x120, 0x60);
	put_code(g, 0x180, 0x40);
	put_code(g, 0x1c0, 0x20);
	memset(g->text + 0x1e0, 0xcc, 0x20);
	put_code(g, 0x200, 0x20);
	if (!is_a64(g))
		return;
	for (size_t i = 0x54; i < 0x60; i += 4)
		put_insn(g->text + i, 0xd503201f);
	for (uint32_t i = 0x1e0; i < 0x200; i += 4)
		put_insn(g->text + i, i & 0xffff); /* udf #i */
}

void mkelf_guest_words(struct mkelf_guest *g, bool decodable)
{
	static const uint8_t mov[] = {0x48, 0x8b, 0x45, 0xf8}; /* rax, [rbp - 8] */
	static const struct {
		size_t off, end;
	} code[] = {{0x000, 0x054}, {0x060, 0x1e0}, {0x200, 0x220}};

	g->elf.machine = decodable ? EM_X86_64 : EM_AARCH64;
	mkelf_guest_code(g);
	for (size_t i = 0; decodable && i < sizeof(code) / sizeof(code[0]); i++)
		for (size_t at = code[i].off; at < code[i].end; at += sizeof(mov))
			memcpy(g->text + at, mov, sizeof(mov));
}

void mkelf_guest_init(struct mkelf_guest *g, uint64_t base)
{
	static const uint8_t build_id[] = {0xb0, 0x1d, 0x1d, 0xea, 0xd0, 0xbe, 0xef,
					   0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
					   0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c};

	memset(g, 0, sizeof(*g));
	memcpy(g->seg, segments, sizeof(segments));
	memcpy(g->sec, sections, sizeof(sections));
	memcpy(g->syms, symbols, sizeof(symbols));
	for (size_t i = 0; i < MKELF_N_SEG; i++)
		g->seg[i].vaddr += base;
	for (size_t i = 0; i < MKELF_N_SEC; i++)
		g->sec[i].addr += base;
	g->sec[MKELF_SEC_TEXT].data = g->text;
	for (size_t i = 0; i < MKELF_N_SYMS; i++)
		g->syms[i].value += g->syms[i].shndx < SHN_LORESERVE ? base : 0;
	g->elf = (struct mkelf){
		.osabi = ELFOSABI_GNU,
		.type = ET_DYN,
		.machine = EM_X86_64,
		.entry = base + MKELF_TEXT,
		.segments = g->seg,
		.n_segments = MKELF_N_SEG,
		.sections = g->sec,
		.n_sections = MKELF_N_SEC,
		.syms = g->syms,
		.n_syms = MKELF_N_SYMS,
		.tables = MKELF_SYMTAB,
		.build_id = build_id,
		.build_id_size = sizeof(build_id),
		.version = "0.17.0",
		.notes_addr = base + 0x100,
	};
	mkelf_guest_code(g);
}
