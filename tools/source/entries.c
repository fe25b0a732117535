// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/entries.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>

enum {
	MAX_ATTRIBUTES = 64,   /* of one abbreviation */
	TIMES = 16,            /* bytes of all units' tables, for one of the units */
	TIMES_LINES = 2,       /* and of their lines, for one of all lines */
	FREE_LINES = 256 << 10 /* bytes of lines that need none */
};

#define FREE ((uint64_t)16 << 20) /* bytes of tables that need none */

/* What is left of a table. */
struct table {
	const unsigned char *at, *end;
};

/* LEB128; 0 at the end. Of a signed one the value is of no interest. */
static uint64_t take_number(struct table *t)
{
	uint64_t value = 0;

	for (unsigned shift = 0; t->at < t->end; shift += 7) {
		unsigned char byte = *t->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* Steps over an abbreviation behind its code (7.5.3). False if it has too many
 * attributes. */
static bool take_abbreviation(struct table *t)
{
	uint64_t name, form;

	take_number(t);          /* tag */
	t->at += t->at < t->end; /* are there entries below? */
	for (unsigned n = 0; n <= MAX_ATTRIBUTES; n++) {
		name = take_number(t);
		form = take_number(t);
		if (form == DW_FORM_implicit_const)
			take_number(t);
		if (name == 0 && form == 0)
			return true;
	}
	return false;
}

/* The table at an offset of data, and its size. */
static bool vet_table(const Elf_Data *data, uint64_t offset, uint64_t *size)
{
	struct table t = {data->d_buf, (const unsigned char *)data->d_buf + data->d_size};
	const unsigned char *begin;

	*size = 0;
	if (offset >= data->d_size)
		return true;
	begin = t.at += offset;
	while (take_number(&t))
		if (!take_abbreviation(&t))
			return false;
	*size = (uint64_t)(t.at - begin);
	return true;
}

/* Is this "debug_abbrev", or "debug_abbrev.dwo", of "abbrev"? */
static bool is_called(const char *name, const char *what)
{
	const char *own = name ? strstr(name, "debug_") : NULL;
	size_t n = strlen(what);

	return own && strncmp(own + 6, what, n) == 0 &&
	       (own[6 + n] == '\0' || strcmp(own + 6 + n, ".dwo") == 0);
}

/* .debug_WHAT, or .zdebug_WHAT, of a file that libdw has opened; NULL: it has none. */
static const Elf_Data *section_of(Dwarf *dwarf, const char *what)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const Elf_Data *data;
		GElf_Shdr sh;

		if (!gelf_getshdr(section, &sh) ||
		    !is_called(elf_strptr(elf, names, sh.sh_name), what))
			continue;
		data = elf_getdata(section, NULL);
		return data && data->d_buf ? data : NULL;
	}
	return NULL;
}

/* What all units' tables come to. */
struct sum {
	const Elf_Data *data;
	uint64_t tables, units;
};

/* Adds the units of .debug_info, or of .debug_types; NULL, or what is wrong with them. */
static const char *add_units(struct sum *sum, Dwarf *dwarf, bool types)
{
	Dwarf_Off at = 0, next, table, last = UINT64_MAX, type;
	uint64_t size = 0, signature;

	while (dwarf_next_unit(dwarf, at, &next, NULL, NULL, &table, NULL, NULL,
			       types ? &signature : NULL, types ? &type : NULL) == 0) {
		if (table != last && !vet_table(sum->data, table, &size))
			return "an entry has too many attributes";
		sum->units += next - at;
		sum->tables += size;
		if (sum->tables > FREE && (sum->tables - FREE) / TIMES > sum->units)
			return "its units share too long tables of abbreviations";
		last = table;
		at = next;
	}
	return NULL;
}

/* What the table of lines at an offset says that it has (6.2.4). */
static uint64_t size_of_lines(const Elf_Data *data, uint64_t at)
{
	const unsigned char *bytes = data->d_buf;
	uint64_t size = 0;
	uint32_t first;

	if (at > data->d_size || data->d_size - at < 12)
		return 0;
	memcpy(&first, bytes + at, sizeof(first));
	if (first == UINT32_MAX) /* of 64-bit DWARF */
		memcpy(&size, bytes + at + sizeof(first), sizeof(size));
	else
		size = first;
	return size < data->d_size - at ? size : data->d_size - at;
}

/* Adds the lines of all units. */
static const char *add_lines(const Elf_Data *data, Dwarf *dwarf)
{
	uint64_t left = FREE_LINES + TIMES_LINES * (uint64_t)data->d_size, size;
	Dwarf_Word at, last = UINT64_MAX;
	Dwarf_Attribute attr;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		if (!dwarf_attr(&unit, DW_AT_stmt_list, &attr) ||
		    dwarf_formudata(&attr, &at) != 0 || at == last)
			continue;
		size = size_of_lines(data, at);
		if (size > left)
			return "its units share too many lines";
		left -= size;
		last = at;
	}
	return NULL;
}

bool hlg_entries_vet(Dwarf *dwarf, const char *path, struct hlg_err *err)
{
	struct sum sum = {.data = section_of(dwarf, "abbrev")};
	const Elf_Data *lines = section_of(dwarf, "line");
	const char *wrong = NULL;

	if (sum.data)
		wrong = add_units(&sum, dwarf, false);
	if (sum.data && !wrong)
		wrong = add_units(&sum, dwarf, true);
	if (sum.data && lines && !wrong)
		wrong = add_lines(lines, dwarf);
	if (wrong)
		hlg_err_set(err, HLG_EINPUT,
			    "%s: source lines left out: %s (damaged; build or copy it "
			    "again)",
			    path, wrong);
	return !wrong;
}
