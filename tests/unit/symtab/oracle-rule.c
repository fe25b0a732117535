// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules, read aloud. Each comment quotes the clause that the code below it is; where
 * this file and symtab/ differ, one of them has misread the rule, or the rule is bad.
 */
#include "tests/unit/symtab/oracle.h"

#include <string.h>

/* "Ends are cut at the end of memory." */
static uint64_t end_of(uint64_t start, uint64_t size)
{
	return size < UINT64_MAX - start ? start + size : UINT64_MAX;
}

/* Section numbers are ELF's: 0 is none, 1 the first of the description. */
static const struct mkelf_section *section(const struct oracle_case *c, unsigned number)
{
	return &c->elf.sections[number - 1];
}

/* Thread-local bss has an address, but no bytes there. */
static bool is_allocated(const struct mkelf_section *s)
{
	bool tbss = (s->flags & SHF_TLS) && s->type == SHT_NOBITS;

	return (s->flags & SHF_ALLOC) && !tbss;
}

static bool is_executable(const struct mkelf_section *s)
{
	return is_allocated(s) && (s->flags & SHF_EXECINSTR);
}

static bool holds(const struct mkelf_section *s, uint64_t addr)
{
	return addr >= s->addr && addr < end_of(s->addr, s->size);
}

static bool overlap(const struct mkelf_section *a, const struct mkelf_section *b)
{
	uint64_t start = a->addr > b->addr ? a->addr : b->addr;

	return holds(a, start) && holds(b, start);
}

static void conclude_overlaps(struct oracle_case *c)
{
	for (unsigned i = 1; i <= c->elf.n_sections; i++) {
		for (unsigned j = 1; j < i; j++) {
			const struct mkelf_section *a = section(c, i), *b = section(c, j);

			if (!is_allocated(a) || !is_allocated(b) || !overlap(a, b))
				continue;
			if (is_executable(a) && is_executable(b))
				c->code_overlaps = true;
			if (!is_executable(a) && !is_executable(b))
				c->data_overlaps = true;
		}
	}
}

/*
 * "Only bytes of a PT_LOAD are in the image. Of these, bytes of an executable section are
 * code; bytes of another allocated section are data; bytes of no section are code in an
 * executable segment, data in any other [...]." (mkelf puts headers into no segment.)
 */
static struct oracle_byte elf_byte(const struct oracle_case *c, uint64_t addr)
{
	struct oracle_byte byte = {.owner = -1};

	for (size_t i = 0; i < c->elf.n_segments; i++) {
		const struct mkelf_segment *seg = &c->segments[i];

		if (seg->type != PT_LOAD || addr < seg->vaddr ||
		    addr - seg->vaddr >= seg->memsz)
			continue;
		byte.loaded = true;
		byte.code = (seg->flags & PF_X) != 0;
	}
	if (!byte.loaded)
		return byte;
	for (unsigned i = 1; i <= c->elf.n_sections; i++) {
		const struct mkelf_section *s = section(c, i);

		if (is_executable(s) && holds(s, addr))
			return (struct oracle_byte){true, true, i, -1};
	}
	for (unsigned i = 1; i <= c->elf.n_sections; i++) {
		const struct mkelf_section *s = section(c, i);

		if (is_allocated(s) && holds(s, addr))
			return (struct oracle_byte){true, false, i, -1};
	}
	return byte;
}

/* "With a name [...]; local labels (`.L`), on AArch64 the mapping symbols `$x`, `$d`." */
static bool name_counts(const struct oracle_case *c, const struct mkelf_sym *sym)
{
	const char *n = sym->name;

	if (sym->st_name || !n || !strcmp(n, ""))
		return false;
	if (!strncmp(n, ".L", 2))
		return false;
	if (c->elf.machine == EM_AARCH64)
		return strcmp(n, "$x") && strcmp(n, "$d") && strncmp(n, "$x.", 3) &&
		       strncmp(n, "$d.", 3);
	return true;
}

/*
 * "Any type but SECTION, FILE and TLS, with a name, in an executable section, its value
 * inside that section."
 */
static bool is_taken(const struct oracle_case *c, const struct mkelf_sym *sym)
{
	if (sym->type == STT_SECTION || sym->type == STT_FILE || sym->type == STT_TLS)
		return false;
	if (sym->shndx == SHN_UNDEF || sym->shndx > c->elf.n_sections)
		return false;
	return name_counts(c, sym) && is_executable(section(c, sym->shndx)) &&
	       holds(section(c, sym->shndx), sym->value);
}

/*
 * "FUNC and GNU_IFUNC with a size are functions. Any other type with a size is a sized
 * label. Anything without a size is a bare label. A size that passes the section's end
 * is cut there."
 */
static struct oracle_taken take(const struct oracle_case *c, const struct mkelf_sym *sym)
{
	const struct mkelf_section *s = section(c, sym->shndx);
	uint64_t section_end = end_of(s->addr, s->size);
	struct oracle_taken t = {.name = sym->name, .start = sym->value};

	t.end = end_of(sym->value, sym->size);
	if (t.end > section_end)
		t.end = section_end;
	if (sym->size == 0)
		t.class = HLG_SYM_BARE_LABEL;
	else if (sym->type == STT_FUNC || sym->type == STT_GNU_IFUNC)
		t.class = HLG_SYM_FUNCTION;
	else
		t.class = HLG_SYM_SIZED_LABEL;
	t.bind = sym->bind == STB_WEAK ? 1 : sym->bind == STB_LOCAL ? 2 : 0;
	return t;
}

static void area_of(const struct oracle_case *c, uint64_t addr, uint64_t *start,
		    uint64_t *end)
{
	const struct oracle_byte *at = &c->bytes[addr - c->low];
	uint64_t from = addr - c->low, to = from;
	const struct oracle_byte *b = c->bytes;

	while (from > 0 && b[from - 1].loaded && b[from - 1].code == at->code &&
	       b[from - 1].section == at->section)
		from--;
	while (to < ORACLE_REGION && b[to].loaded && b[to].code == at->code &&
	       b[to].section == at->section)
		to++;
	*start = c->low + from;
	*end = c->low + to;
}

static bool covers(const struct oracle_taken *t, uint64_t addr)
{
	return addr >= t->start && addr < t->end;
}

/* Does a, seen later in the table, own rather than b, when both cover an address? */
static bool inner(const struct oracle_case *c, const struct oracle_taken *a,
		  const struct oracle_taken *b)
{
	/* "In a perf map, the later line goes before `begins last'." */
	if (c->map)
		return true;
	/* "The one that begins last, and of those the shortest." */
	if (a->start != b->start)
		return a->start > b->start;
	if (a->end != b->end)
		return a->end < b->end;
	/* Twins: the canonical name. "GLOBAL before WEAK before LOCAL." */
	return a->bind < b->bind;
}

/* "Symbols are those that begin in the area": the strongest of a class over addr, or -1.
 */
static int sized_owner(const struct oracle_case *c, enum hlg_symbol_class class,
		       uint64_t addr, uint64_t start, uint64_t end)
{
	int best = -1;

	for (int i = 0; i < c->n_taken; i++) {
		const struct oracle_taken *t = &c->taken[i];

		if (t->class != class || t->start < start || t->start >= end ||
		    !covers(t, addr))
			continue;
		if (best < 0 || inner(c, t, &c->taken[best]))
			best = i;
	}
	return best;
}

/*
 * "Else the bare label at or before it, if no symbol begins between the two and no
 * function or sized label covers the label's own address."
 */
static int bare_owner(const struct oracle_case *c, uint64_t addr, uint64_t start,
		      uint64_t end)
{
	int best = -1;
	uint64_t at;

	for (int i = 0; i < c->n_taken; i++) {
		const struct oracle_taken *t = &c->taken[i];

		if (t->class != HLG_SYM_BARE_LABEL || t->start < start || t->start > addr)
			continue;
		if (best < 0 || t->start > c->taken[best].start ||
		    (t->start == c->taken[best].start && t->bind < c->taken[best].bind))
			best = i;
	}
	if (best < 0)
		return -1;
	at = c->taken[best].start;
	for (int i = 0; i < c->n_taken; i++)
		if (c->taken[i].start > at && c->taken[i].start <= addr)
			return -1;
	if (sized_owner(c, HLG_SYM_FUNCTION, at, start, end) >= 0 ||
	    sized_owner(c, HLG_SYM_SIZED_LABEL, at, start, end) >= 0)
		return -1;
	return best;
}

static int owner(const struct oracle_case *c, uint64_t addr)
{
	uint64_t start, end;
	int symbol;

	area_of(c, addr, &start, &end);
	symbol = sized_owner(c, HLG_SYM_FUNCTION, addr, start, end);
	if (symbol < 0)
		symbol = sized_owner(c, HLG_SYM_SIZED_LABEL, addr, start, end);
	if (symbol < 0)
		symbol = bare_owner(c, addr, start, end);
	return symbol;
}

void oracle_conclude(struct oracle_case *c)
{
	conclude_overlaps(c);
	c->n_taken = 0;
	for (size_t i = 0; i < c->elf.n_syms; i++)
		if (is_taken(c, &c->syms[i]))
			c->taken[c->n_taken++] = take(c, &c->syms[i]);
	for (size_t i = 0; i < c->n_lines; i++)
		c->taken[c->n_taken++] =
			(struct oracle_taken){.name = c->names[i],
					      .start = c->lines[i].start,
					      .end = c->lines[i].start + c->lines[i].size,
					      .class = HLG_SYM_FUNCTION};
	for (uint64_t i = 0; i < ORACLE_REGION; i++) {
		c->bytes[i] = elf_byte(c, c->low + i);
		for (int j = 0; c->map && j < c->n_taken; j++)
			if (covers(&c->taken[j], c->low + i))
				c->bytes[i] = (struct oracle_byte){true, true, 0, -1};
	}
	for (uint64_t i = 0; i < ORACLE_REGION; i++)
		if (c->bytes[i].code)
			c->bytes[i].owner = owner(c, c->low + i);
}

/* How far the byte's owner, or the lack of one, reaches both ways inside the area. */
static void reach(const struct oracle_case *c, uint64_t addr, struct oracle_place *p)
{
	const struct oracle_byte *b = c->bytes;
	uint64_t from = addr - c->low, to = from;

	while (c->low + from > p->area_start && b[from - 1].owner == b[to].owner)
		from--;
	while (c->low + to < p->area_end && b[to].owner == b[addr - c->low].owner)
		to++;
	p->start = c->low + from;
	p->end = c->low + to;
}

struct oracle_place oracle_place(const struct oracle_case *c, uint64_t addr)
{
	struct oracle_place p = {.kind = HLG_OUTSIDE, .symbol = -1};
	const struct oracle_byte *byte;
	const struct oracle_taken *t;

	if (addr < c->low || addr - c->low >= ORACLE_REGION)
		return p;
	byte = &c->bytes[addr - c->low];
	if (!byte->loaded)
		return p;
	area_of(c, addr, &p.area_start, &p.area_end);
	p.section = byte->section;
	p.symbol = byte->owner;
	reach(c, addr, &p);
	if (p.symbol < 0) {
		p.kind = byte->code ? HLG_GAP : HLG_DATA;
		return p;
	}
	t = &c->taken[p.symbol];
	p.kind = t->class == HLG_SYM_FUNCTION ? HLG_FUNCTION : HLG_LABEL;
	if (t->class != HLG_SYM_BARE_LABEL) {
		p.start = t->start;
		p.end = t->end;
	}
	return p;
}

/*
 * "Then functions, sized labels, bare labels; then the shorter; then GLOBAL before WEAK
 * before LOCAL; then the table's order. In a perf map a later line goes before all but
 * the class."
 */
static bool goes_before(const struct oracle_case *c, int i, int j)
{
	const struct oracle_taken *a = &c->taken[i], *b = &c->taken[j];

	if (a->class != b->class)
		return a->class < b->class;
	if (c->map)
		return i > j;
	if (a->end != b->end)
		return a->end < b->end;
	if (a->bind != b->bind)
		return a->bind < b->bind;
	return i < j;
}

int oracle_aliases(const struct oracle_case *c, int symbol, int list[ORACLE_MAX_SYMBOLS])
{
	int n = 0;

	for (int i = 0; i < c->n_taken; i++) {
		int at = 0;

		if (c->taken[i].start != c->taken[symbol].start)
			continue;
		/* The place of each is the number of those that go before it. */
		for (int j = 0; j < c->n_taken; j++)
			at += c->taken[j].start == c->taken[symbol].start &&
			      goes_before(c, j, i);
		list[at] = i;
		n++;
	}
	return n;
}

/* "In the same section, or NULL." */
int oracle_neighbour(const struct oracle_case *c, const struct oracle_place *gap, int dir)
{
	uint64_t at = dir < 0 ? gap->start - c->low - 1 : gap->end - c->low;

	if (at >= ORACLE_REGION || !c->bytes[at].loaded || !c->bytes[at].code ||
	    c->bytes[at].section != gap->section)
		return -1;
	return c->bytes[at].owner;
}
