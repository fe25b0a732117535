// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/entries.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>

enum {
	MAX_ATTRIBUTES = 64, /* of one abbreviation */
	TIMES = 16           /* bytes of all units' tables, for one of the units */
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

/* .debug_abbrev, or .zdebug_abbrev, of a file that libdw has opened. */
static const Elf_Data *abbreviations(Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(section, &sh)
					   ? elf_strptr(elf, names, sh.sh_name)
					   : NULL;

		name = name ? strstr(name, "debug_abbrev") : NULL;
		if (name && (strcmp(name, "debug_abbrev") == 0 ||
			     strcmp(name, "debug_abbrev.dwo") == 0))
			return elf_getdata(section, NULL);
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

bool hlg_entries_vet(Dwarf *dwarf, const char *path, struct hlg_err *err)
{
	struct sum sum = {.data = abbreviations(dwarf)};
	const char *wrong = NULL;

	if (sum.data && sum.data->d_buf)
		wrong = add_units(&sum, dwarf, false);
	if (sum.data && sum.data->d_buf && !wrong)
		wrong = add_units(&sum, dwarf, true);
	if (wrong)
		hlg_err_set(err, HLG_EINPUT,
			    "%s: source lines left out: %s (damaged; build or copy it "
			    "again)",
			    path, wrong);
	return !wrong;
}
