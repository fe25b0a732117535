// SPDX-License-Identifier: GPL-2.0-only
/*
 * mkelf KIND OUT: writes one of the well-known inputs of the golden tests; without
 * arguments, lists them. The same bytes every time. Most are the guest of
 * mkelf-guest.h with something changed. One kind takes its names from standard input, so
 * that whoever wrote them knows what has to come out.
 */
#include "tests/kit/mkelf-guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXEC_BASE 0x200000
#define N_MANY    100000
#define MANY_SIZE 16

/* Every output format and the terminal have a character here that is theirs. */
static const char *const hostile_names[] = {
	"\033[31mred\033[0m",
	"\033]0;title\007",
	"new\nline",
	"carriage\rreturn",
	"tab\tstop",
	"back\bspace\177",
	"say \"quoted\" 'name'",
	"back\\slash\\n",
	"invalid\xff\xfe\xc0\x80utf8",
	"cut\xe2\x82",
	("c1\xc2\x9b"
	 "31m"),
	"right\xe2\x80\xaeot-left",
	"valid\xc3\xa9\xe2\x82\xac",
	"comma,separated,name",
	"=cmd|'/C calc'!A0",
	"semi;colon",
	"two words",
	"  edges  ",
	"%s%n%100000d",
	"[bracket]",
	"<b>&amp;</b>",
	"-dash",
	"#comment",
	"",
	"_ZN9truncated",
	"_Znonsense\033[2J",
};

#define N_HOSTILE (sizeof(hostile_names) / sizeof(hostile_names[0]))
#define FN_SIZE   0x20

struct kind {
	const char *name;
	int (*make)(struct mkelf_guest *g);
	const char *what;
};

static void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

static int build(struct mkelf_guest *g)
{
	return mkelf_build(&g->elf, &g->img);
}

static int make_nonote(struct mkelf_guest *g)
{
	g->elf.version = NULL;
	return build(g);
}

static int make_exec(struct mkelf_guest *g)
{
	mkelf_guest_init(g, EXEC_BASE);
	g->elf.type = ET_EXEC;
	g->elf.version = NULL;
	return build(g);
}

static int make_old(struct mkelf_guest *g)
{
	g->elf.version = "0.14.1";
	return build(g);
}

static int make_badnote(struct mkelf_guest *g)
{
	g->elf.version = "nine\033[31m point\n\xff";
	return build(g);
}

static int make_aarch64(struct mkelf_guest *g)
{
	g->elf.machine = EM_AARCH64;
	mkelf_guest_code(g);
	return build(g);
}

static int make_dynsym(struct mkelf_guest *g)
{
	g->elf.tables = MKELF_DYNSYM;
	return build(g);
}

static int make_stripped(struct mkelf_guest *g)
{
	g->elf.tables = 0;
	return build(g);
}

static int make_headless(struct mkelf_guest *g)
{
	g->elf.no_section_headers = true;
	return build(g);
}

static int make_elf32(struct mkelf_guest *g)
{
	g->elf.elf32 = true;
	g->elf.machine = EM_386;
	return build(g);
}

static int make_bigendian(struct mkelf_guest *g)
{
	g->elf.big_endian = true;
	g->elf.machine = EM_AARCH64;
	mkelf_guest_code(g);
	return build(g);
}

static int make_riscv(struct mkelf_guest *g)
{
	g->elf.machine = EM_RISCV;
	return build(g);
}

static int make_relocatable(struct mkelf_guest *g)
{
	g->elf.type = ET_REL;
	g->elf.n_segments = 0;
	g->elf.no_note_segments = true;
	return build(g);
}

static int make_core(struct mkelf_guest *g)
{
	g->elf.type = ET_CORE;
	g->elf.tables = 0;
	return build(g);
}

static int make_nosegments(struct mkelf_guest *g)
{
	g->elf.n_segments = 0;
	return build(g);
}

/* The section headers, after the cut, are gone as well. */
static int make_truncated(struct mkelf_guest *g)
{
	int rc = build(g);

	if (!rc)
		g->img.size = mkelf_bytes(&g->img, MKELF_SEC(MKELF_SEC_TEXT)) +
			      MKELF_TEXT_SIZE / 2;
	return rc;
}

static int make_empty(struct mkelf_guest *g)
{
	(void)g;
	return 0;
}

static int make_notelf(struct mkelf_guest *g)
{
	static const char text[] = "#!/bin/sh\necho This is not an ELF file.\n";

	g->img.size = sizeof(text) - 1;
	g->img.bytes = xcalloc(1, sizeof(text));
	memcpy(g->img.bytes, text, sizeof(text) - 1);
	return 0;
}

/* n functions of size bytes one after the other. */
static int make_row(struct mkelf_guest *g, struct mkelf_sym *syms, size_t n, size_t size)
{
	uint64_t addr = MKELF_TEXT;

	for (size_t i = 0; i < n; i++, addr += size) {
		syms[i] =
			(struct mkelf_sym)MKELF_SYM(syms[i].name, addr, size, STB_GLOBAL,
						    STT_FUNC, MKELF_SEC(MKELF_SEC_TEXT));
	}
	g->sec[MKELF_SEC_TEXT].size = n * size;
	g->sec[MKELF_SEC_TEXT].data = NULL;
	g->sec[MKELF_SEC_TEXT].fill = 0x90;
	g->seg[MKELF_SEG_TEXT].memsz = n * size;
	g->elf.n_sections = 1;
	g->elf.n_segments = MKELF_SEG_DATA;
	g->elf.syms = syms;
	g->elf.n_syms = n;
	return build(g);
}

static int make_hostile(struct mkelf_guest *g)
{
	struct mkelf_sym syms[N_HOSTILE + 1];
	char name[4001];

	for (size_t i = 0; i < N_HOSTILE; i++)
		syms[i].name = hostile_names[i];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	syms[N_HOSTILE].name = name;
	return make_row(g, syms, N_HOSTILE + 1, FN_SIZE);
}

/*
 * Functions of 0x20 by the names on standard input, each ended by NUL, from 0x1000 on;
 * the last is also the section's, and the first what the version note says.
 */
static int make_named(struct mkelf_guest *g)
{
	struct mkelf_sym *syms = NULL;
	char *name = NULL;
	size_t n = 0, room = 0;
	int rc;

	while (getdelim(&name, &room, '\0', stdin) >= 0) {
		syms = reallocarray(syms, n + 1, sizeof(*syms));
		if (!syms)
			abort();
		syms[n++].name = name;
		name = NULL;
		room = 0;
	}
	free(name);
	if (n == 0)
		return -EINVAL;
	g->elf.version = syms[0].name;
	g->sec[MKELF_SEC_TEXT].name = syms[n - 1].name;
	rc = make_row(g, syms, n, FN_SIZE);
	while (n > 0)
		free((char *)syms[--n].name);
	free(syms);
	return rc;
}

static int make_many(struct mkelf_guest *g)
{
	struct mkelf_sym *syms = xcalloc(N_MANY, sizeof(*syms));
	char(*names)[16] = xcalloc(N_MANY, sizeof(*names));
	int rc;

	for (unsigned i = 0; i < N_MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "fn_%06u", i);
		syms[i].name = names[i];
	}
	rc = make_row(g, syms, N_MANY, MANY_SIZE);
	free(names);
	free(syms);
	return rc;
}

static const struct kind kinds[] = {
	{"good", build, "x86-64 ET_DYN, note 0.17.0, functions, gaps, a label"},
	{"nonote", make_nonote, "good without the Hyperlight note"},
	{"exec", make_exec, "ET_EXEC at 0x200000, no Hyperlight note"},
	{"old", make_old, "good with note 0.14.1"},
	{"badnote", make_badnote, "good with a hostile version in the note"},
	{"aarch64", make_aarch64, "good for AArch64"},
	{"dynsym", make_dynsym, "good with .dynsym only"},
	{"stripped", make_stripped, "good without any symbol table"},
	{"headless", make_headless, "good without section headers"},
	{"elf32", make_elf32, "ELF32 for i386"},
	{"bigendian", make_bigendian, "big-endian AArch64"},
	{"riscv", make_riscv, "good for RISC-V"},
	{"relocatable", make_relocatable, "ET_REL, no program headers"},
	{"core", make_core, "ET_CORE"},
	{"nosegments", make_nosegments, "ET_DYN with no PT_LOAD"},
	{"truncated", make_truncated, "good cut in the middle of the code"},
	{"empty", make_empty, "no bytes"},
	{"notelf", make_notelf, "a shell script"},
	{"hostile", make_hostile, "names that attack terminals and formats"},
	{"named", make_named,
	 "functions by the names on standard input, NUL behind each"},
	{"many", make_many, "100000 functions of 16 bytes"},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int usage(FILE *to)
{
	fputs("usage: mkelf KIND OUT\n", to);
	for (size_t i = 0; i < N_KINDS; i++)
		fprintf(to, "  %-12s %s\n", kinds[i].name, kinds[i].what);
	return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	static struct mkelf_guest g;
	size_t i = 0;
	int rc;

	if (argc != 3)
		return usage(argc == 1 ? stdout : stderr);
	while (i < N_KINDS && strcmp(kinds[i].name, argv[1]))
		i++;
	if (i == N_KINDS)
		return usage(stderr);
	mkelf_guest_init(&g, 0);
	rc = kinds[i].make(&g);
	if (!rc)
		rc = mkelf_write(&g.img, argv[2]);
	mkelf_finish(&g.img);
	if (rc)
		fprintf(stderr, "mkelf: %s: %s\n", argv[2], strerror(-rc));
	return rc ? 1 : 0;
}
