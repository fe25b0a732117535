// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another program's algorithm, step for step, so that its tables can be had without it
 * and compared with ours. Sums of addresses wrap, as they do there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/kallsyms/kallsyms.h"

struct entry {
	uint64_t ip, size;
	const char *name;
};

struct table {
	struct entry *entry; /* room for what is kept, its gaps and two more */
	size_t n;
};

/* Is s well-formed UTF-8 (RFC 3629, section 4)? Other names are passed over. */
static bool is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		size_t len = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

		if (len > 1 && (p[0] < 0xc2 || p[0] > 0xf4))
			return false;
		for (size_t i = 1; i < len; i++)
			if ((p[i] & 0xc0) != 0x80)
				return false;
		if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
			return false;
		p += len;
	}
	return true;
}

/* Takes symbol i if it is a function with a name and a value. */
static bool take(const struct hlg_elf64 *elf, size_t i, uint64_t base, struct entry *out)
{
	Elf64_Sym sym;
	unsigned type;

	memcpy(&sym, (const char *)elf->syms + i * sizeof(sym), sizeof(sym));
	type = ELF64_ST_TYPE(sym.st_info);
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym.st_value == 0 ||
	    sym.st_name >= elf->strsz)
		return false;
	*out = (struct entry){sym.st_value + base, sym.st_size,
			      elf->strtab + sym.st_name};
	return out->name[0] && is_utf8(out->name);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int marker_rank(const char *name)
{
	return strcmp(name, "_text") != 0 && strcmp(name, "_stext") != 0 &&
	       strcmp(name, "__gap__") != 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	if (marker_rank(x->name) != marker_rank(y->name))
		return marker_rank(x->name) - marker_rank(y->name);
	return strcmp(x->name, y->name);
}

/* The symbols, one for each address. Returns false without memory. */
static bool collect(struct table *table, const struct hlg_elf64 *elf, uint64_t base)
{
	size_t n = 0;

	table->entry = calloc(2 * elf->n_syms + 2, sizeof(*table->entry));
	if (!table->entry)
		return false;
	for (size_t i = 0; i < elf->n_syms; i++)
		n += take(elf, i, base, &table->entry[n]);
	qsort(table->entry, n, sizeof(*table->entry), compare_symbols);
	for (size_t i = 0; i < n; i++)
		if (table->n == 0 || table->entry[table->n - 1].ip != table->entry[i].ip)
			table->entry[table->n++] = table->entry[i];
	return true;
}

/* Gap lines go behind the symbols first; sorting brings them home. */
static void add_gaps(struct table *table)
{
	size_t symbols = table->n;

	for (size_t i = 0; i + 1 < symbols; i++) {
		const struct entry *e = &table->entry[i];
		uint64_t end = e->ip + e->size;

		if (e->size && end < e[1].ip)
			table->entry[table->n++] = (struct entry){end, 0, "__gap__"};
	}
}

static void add_text(struct table *table, const struct hlg_elf64 *elf, uint64_t base)
{
	for (size_t i = 0; i < elf->n_sections; i++) {
		uint64_t ip = elf->sections[i].addr + base;

		if (strcmp(elf->sections[i].name, ".text") != 0)
			continue;
		table->entry[table->n++] = (struct entry){ip, 0, "_text"};
		table->entry[table->n++] = (struct entry){ip, 0, "_stext"};
		return;
	}
}

static int write_table(FILE *f, const struct hlg_elf64 *elf, const char *path,
		       uint64_t base, struct hlg_err *err)
{
	struct table table = {0};

	if (!collect(&table, elf, base))
		return hlg_err_memory(err, path);
	if (table.n == 0) {
		free(table.entry);
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no functions (it was stripped, or all of its "
				   "symbols are labels: leave --compat out)",
				   path);
	}
	add_gaps(&table);
	add_text(&table, elf, base);
	qsort(table.entry, table.n, sizeof(*table.entry), compare_lines);
	for (size_t i = 0; i < table.n; i++) {
		fprintf(f, "%016" PRIx64 " T ", table.entry[i].ip);
		hlg_escape_print(f, table.entry[i].name);
		fputc('\n', f);
	}
	free(table.entry);
	return 0;
}

int hlg_kallsyms_compat(FILE *f, const char *path, uint64_t base, struct hlg_err *err)
{
	struct hlg_elf64 elf;
	int rc = hlg_elf64_read(&elf, path, err);

	if (rc == 0 && elf.dynsym)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: has no .symtab, which --compat reads (leave it out "
				 "for the dynamic symbols)",
				 path);
	if (rc == 0)
		rc = write_table(f, &elf, path, base, err);
	hlg_elf64_finish(&elf);
	return rc;
}
