// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images nobody would build: a few segments with holes between them, sections inside,
 * across and beside them, and symbols of every kind that favour the edges of sections
 * and of each other.
 */
#include "tests/unit/symtab/oracle.h"

#include <stdio.h>
#include <string.h>

#define SPREAD 0x200 /* addresses in which things begin */

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
	return next(state) % n;
}

static bool one_in(uint64_t *state, uint64_t n)
{
	return below(state, n) == 0;
}

/* One of the values. */
#define PICK(state, ...)                                                                 \
	(((const uint64_t[]){__VA_ARGS__})[below(                                        \
		state, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))])

static uint64_t pick_origin(uint64_t *state)
{
	return PICK(state, 0, 0x1000, 0x400000, UINT64_C(0xffffffff80000000),
		    UINT64_MAX - 0x400);
}

static void make_segments(struct oracle_case *c, uint64_t *state)
{
	uint64_t at = c->low + below(state, 0x20);
	size_t n = 1 + below(state, ORACLE_MAX_SEGMENTS - 1);

	for (size_t i = 0; i < n; i++) {
		uint64_t size = 1 + below(state, SPREAD / n), hole = below(state, 0x20);

		c->segments[i] = (struct mkelf_segment){
			.type = PT_LOAD,
			.flags = PF_R | (uint32_t)PICK(state, PF_X, PF_X, PF_W),
			.vaddr = at,
			.memsz = size,
			.align = 1,
		};
		at += size + (one_in(state, 3) ? 0 : hole);
		if (at >= c->low + SPREAD)
			break;
		c->elf.n_segments = i + 1;
	}
	if (!c->elf.n_segments)
		c->elf.n_segments = 1;
	if (c->segments[0].memsz > SPREAD)
		c->segments[0].memsz = SPREAD;
	if (one_in(state, 4) && c->elf.n_segments > 1) { /* not in order */
		struct mkelf_segment first = c->segments[0];

		c->segments[0] = c->segments[c->elf.n_segments - 1];
		c->segments[c->elf.n_segments - 1] = first;
	}
}

static void make_section(struct mkelf_section *s, uint64_t *state, uint64_t addr)
{
	*s = (struct mkelf_section){
		.name = ".s",
		.type = (uint32_t)PICK(state, SHT_PROGBITS, SHT_PROGBITS, SHT_PROGBITS,
				       SHT_NOBITS),
		.flags = PICK(state, SHF_ALLOC | SHF_EXECINSTR, SHF_ALLOC | SHF_EXECINSTR,
			      SHF_ALLOC | SHF_EXECINSTR, SHF_ALLOC | SHF_WRITE, SHF_ALLOC,
			      SHF_EXECINSTR, SHF_ALLOC | SHF_TLS | SHF_WRITE),
		.addr = addr,
		.size = one_in(state, 10) ? 0 : 1 + below(state, 0xa0),
		.align = 1,
	};
	if (s->type == SHT_NOBITS && one_in(state, 20))
		s->size = PICK(state, UINT64_MAX, UINT64_MAX - addr, UINT64_C(1) << 63);
}

static void make_sections(struct oracle_case *c, uint64_t *state)
{
	uint64_t at = c->low + below(state, 0x30);

	c->elf.n_sections = 1 + below(state, one_in(state, 2) ? 4 : ORACLE_MAX_SECTIONS);
	for (size_t i = 0; i < c->elf.n_sections; i++) {
		struct mkelf_section *s = &c->sections[i];
		bool aside = one_in(state, 12);

		make_section(s, state, aside ? c->low + below(state, SPREAD) : at);
		if (i == 0 && !one_in(state, 8))
			s->flags = SHF_ALLOC | SHF_EXECINSTR;
		if (aside && !one_in(state, 4))
			s->flags &= ~(uint64_t)SHF_EXECINSTR;
		else if (!aside && s->size < SPREAD)
			at += s->size + (one_in(state, 2) ? 0 : below(state, 0x18));
	}
}

static void make_name(struct oracle_case *c, uint64_t *state, size_t i)
{
	static const char *const formats[] = {
		"f%zu", "f%zu", "f%zu",   "f%zu",  "f%zu", "f%zu", ".Lf%zu", ".f%zu",
		"$x",   "$d",   "$x.%zu", "$d%zu", "$t",   "",     "a b%zu", "<f>%zu"};
	size_t at = below(state, sizeof(formats) / sizeof(formats[0]));

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
	snprintf(c->names[i], ORACLE_NAME, formats[at], i);
#pragma GCC diagnostic pop
	c->syms[i].name = c->names[i];
	if (one_in(state, 60))
		c->syms[i].name = NULL;
	if (one_in(state, 60))
		c->syms[i].st_name = UINT32_MAX - (uint32_t)below(state, 2);
}

/* At an edge of its section or nearly; where another symbol begins or ends; anywhere. */
static uint64_t pick_value(const struct oracle_case *c, uint64_t *state,
			   const struct mkelf_section *s, const struct mkelf_sym *other)
{
	if (other && one_in(state, 2))
		return other->value + (one_in(state, 4) ? below(state, 4) : 0);
	if (other && one_in(state, 2))
		return other->value + other->size - below(state, 2);
	switch (below(state, 12)) {
	case 0:
		return s->addr + s->size - below(state, 3);
	case 1:
		return s->addr - below(state, 2);
	case 2:
		return c->low + below(state, SPREAD);
	default:
		return s->addr + below(state, s->size && s->size < SPREAD ? s->size : 1);
	}
}

static uint64_t pick_size(const struct oracle_case *c, uint64_t *state, size_t i)
{
	if (one_in(state, 4))
		return 0;
	if (i && one_in(state, 4))
		return c->syms[below(state, i)].size;
	if (one_in(state, 12))
		return PICK(state, UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX - c->low,
			    0x1000);
	return 1 + below(state, one_in(state, 3) ? 0x80 : 0x20);
}

static uint16_t pick_index(const struct oracle_case *c, uint64_t *state, size_t section)
{
	if (one_in(state, 12))
		return (uint16_t)PICK(state, SHN_UNDEF, SHN_ABS, SHN_COMMON, SHN_XINDEX,
				      SHN_LORESERVE, 0xfeff);
	if (one_in(state, 12))
		return MKELF_SEC(below(state, c->elf.n_sections));
	return MKELF_SEC(section);
}

/* Most symbols name code. */
static size_t pick_section(const struct oracle_case *c, uint64_t *state)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	size_t section = 0;

	for (int n = 0; n < 8; n++) {
		section = below(state, c->elf.n_sections);
		if (c->sections[section].size &&
		    (c->sections[section].flags & code) == code)
			break;
	}
	return section;
}

static void make_symbols(struct oracle_case *c, uint64_t *state)
{
	c->elf.n_syms = 1 + below(state, one_in(state, 2) ? 8 : ORACLE_MAX_SYMBOLS);
	for (size_t i = 0; i < c->elf.n_syms; i++) {
		struct mkelf_sym *sym = &c->syms[i], *other = NULL;
		size_t section = pick_section(c, state);

		if (i && one_in(state, 2)) {
			other = &c->syms[below(state, i)];
			if (other->shndx && other->shndx <= c->elf.n_sections)
				section = other->shndx - 1u;
		}
		make_name(c, state, i);
		sym->value = pick_value(c, state, &c->sections[section], other);
		sym->size = pick_size(c, state, i);
		sym->shndx = pick_index(c, state, section);
		sym->type = (uint8_t)PICK(state, STT_FUNC, STT_FUNC, STT_FUNC, STT_NOTYPE,
					  STT_NOTYPE, STT_OBJECT, STT_GNU_IFUNC);
		if (one_in(state, 10))
			sym->type = (uint8_t)below(state, 16);
		sym->bind = (uint8_t)PICK(state, STB_LOCAL, STB_GLOBAL, STB_WEAK,
					  STB_GNU_UNIQUE);
	}
}

void oracle_make_elf(struct oracle_case *c, uint64_t seed)
{
	uint64_t state = seed;

	c->low = pick_origin(&state);
	make_segments(c, &state);
	make_sections(c, &state);
	make_symbols(c, &state);
	c->elf.type = one_in(&state, 2) ? ET_DYN : ET_EXEC;
	c->elf.machine = one_in(&state, 2) ? EM_X86_64 : EM_AARCH64;
	c->elf.segments = c->segments;
	c->elf.sections = c->sections;
	c->elf.syms = c->syms;
	c->elf.tables = (unsigned)PICK(&state, MKELF_SYMTAB, MKELF_SYMTAB, MKELF_DYNSYM,
				       MKELF_BOTH);
	c->elf.osabi = one_in(&state, 2) ? ELFOSABI_GNU : ELFOSABI_NONE;
}

static char *make_bad_line(char *at, uint64_t *state)
{
	static const char *const lines[] = {"nonsense\n",
					    "10 0 empty\n",
					    "10 20\n",
					    "10 x y\n",
					    " 10 20 blank\n",
					    "-10 20 sign\n",
					    "ffffffffffffffff 2 past\n"};

	return stpcpy(at, lines[below(state, sizeof(lines) / sizeof(lines[0]))]);
}

void oracle_make_map(struct oracle_case *c, uint64_t seed)
{
	static const char *const formats[] = {"%lx %lx %s\n", "0x%lx 0x%lx %s\n",
					      "%lX\t%lX\t%s\r\n", "%016lx  %08lx   %s\n"};
	uint64_t state = seed;
	char *at = c->text;

	c->map = true;
	c->low = pick_origin(&state);
	c->n_lines = 1 + below(&state, ORACLE_MAX_SYMBOLS);
	for (size_t i = 0; i < c->n_lines; i++) {
		struct oracle_line *l = &c->lines[i];
		const struct oracle_line *other = &c->lines[i ? below(&state, i) : 0];

		l->start = c->low + below(&state, SPREAD - 0x60);
		if (i && one_in(&state, 3))
			l->start = other->start + (one_in(&state, 3) ? other->size : 0);
		l->size = 1 + below(&state, one_in(&state, 3) ? 0x60 : 0x10);
		if (l->start - c->low > SPREAD - 0x60)
			l->start = c->low;
		snprintf(c->names[i], ORACLE_NAME, one_in(&state, 9) ? "a b %zu" : "f%zu",
			 i);
		for (; one_in(&state, 6) && c->n_bad_lines < ORACLE_MAX_SYMBOLS;
		     c->n_bad_lines++)
			at = make_bad_line(at, &state);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		at += sprintf(at, formats[below(&state, 4)], (unsigned long)l->start,
			      (unsigned long)l->size, c->names[i]);
#pragma GCC diagnostic pop
		if (one_in(&state, 9))
			*at++ = '\n';
	}
	*at = '\0';
}
