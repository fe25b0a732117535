// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/entries.h"

#include <dwarf.h>
#include <gelf.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "tools/source/line-head.h"
#include "tools/source/range-lists.h"

enum {
	MAX_ATTRIBUTES = 64,    /* of one abbreviation */
	TIMES = 16,             /* bytes of all units' tables, for one of the units */
	TIMES_LINES = 2,        /* and of their lines, for one of all lines */
	FREE_LINES = 256 << 10, /* bytes of lines that need none */
	TIMES_PATHS = 32        /* letters of paths, for a byte of all lines */
};

#define FREE                                                                             \
	((uint64_t)16 << 20) /* bytes of tables, or letters of paths, that need none */

/* Steps over an abbreviation behind its code (7.5.3). False if it has too many
 * attributes. */
static bool take_abbreviation(struct hlg_line_bytes *t)
{
	uint64_t name, form;

	hlg_line_head_number(t); /* tag */
	t->at += t->at < t->end; /* are there entries below? */
	for (unsigned n = 0; n <= MAX_ATTRIBUTES; n++) {
		name = hlg_line_head_number(t);
		form = hlg_line_head_number(t);
		if (form == DW_FORM_implicit_const)
			hlg_line_head_number(t);
		if (name == 0 && form == 0)
			return true;
	}
	return false;
}

/* The table at an offset of data, and its size. */
static bool vet_table(const Elf_Data *data, uint64_t offset, uint64_t *size)
{
	struct hlg_line_bytes t = {data->d_buf,
				   (const unsigned char *)data->d_buf + data->d_size};
	const unsigned char *begin;

	*size = 0;
	if (offset >= data->d_size)
		return true;
	begin = t.at += offset;
	while (hlg_line_head_number(&t))
		if (!take_abbreviation(&t))
			return false;
	*size = (uint64_t)(t.at - begin);
	return true;
}

/* Which kind of section is called so for "abbrev"? libdw reads those of the last kind
 * that a file has; 0: none. */
static unsigned kind_of(const char *name, const char *what)
{
	static const struct {
		const char *before, *behind;
		unsigned kind;
	} names[] = {{".gnu.debuglto_.debug_", "", 1},
		     {".debug_", ".dwo", 2},
		     {".zdebug_", ".dwo", 2},
		     {".debug_", "", 3},
		     {".zdebug_", "", 3}};
	size_t n = strlen(what);

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t before = strlen(names[i].before);

		if (strncmp(name, names[i].before, before) == 0 &&
		    strncmp(name + before, what, n) == 0 &&
		    strcmp(name + before + n, names[i].behind) == 0)
			return names[i].kind;
	}
	return 0;
}

/* .debug_WHAT of a file that libdw has opened; NULL: it has none. *wrong if there are
 * two, as it is libdw's own affair which of them is read. */
static const Elf_Data *section_of(Dwarf *dwarf, const char *what, const char **wrong)
{
	Elf *elf = dwarf_getelf(dwarf);
	const Elf_Data *found = NULL;
	Elf_Scn *section = NULL;
	unsigned best = 0;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const Elf_Data *data;
		GElf_Shdr sh;
		unsigned kind;

		if (!gelf_getshdr(section, &sh))
			continue;
		kind = kind_of(elf_strptr(elf, names, sh.sh_name), what);
		data = kind && kind >= best ? elf_getdata(section, NULL) : NULL;
		if (!data || !data->d_buf)
			continue;
		if (kind == best)
			*wrong = "two of its sections have one name";
		best = kind;
		found = data;
	}
	return found;
}

/* What all units' tables come to. */
struct sum {
	const Elf_Data *data;
	uint64_t tables, units;
	unsigned widths; /* bytes that their addresses have: 4, 8, or the sum */
};

/* Adds the units of .debug_info, or of .debug_types; NULL, or what is wrong with them. */
static const char *add_units(struct sum *sum, Dwarf *dwarf, bool types)
{
	Dwarf_Off at = 0, next, table, last = UINT64_MAX, type;
	uint64_t size = 0, signature;
	uint8_t width;

	while (dwarf_next_unit(dwarf, at, &next, NULL, NULL, &table, &width, NULL,
			       types ? &signature : NULL, types ? &type : NULL) == 0) {
		if (table != last && !vet_table(sum->data, table, &size))
			return "an entry has too many attributes";
		sum->units += next - at;
		sum->tables += size;
		sum->widths |= width == 4 ? 4 : 8; /* libdw takes all others for 8 */
		if (sum->tables > FREE && (sum->tables - FREE) / TIMES > sum->units)
			return "its units share too long tables of abbreviations";
		last = table;
		at = next;
	}
	return NULL;
}

/* Letters of the folder that a unit was compiled in; no path has PATH_MAX. */
static uint64_t compiled_in(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *folder =
		dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;

	return folder ? strnlen(folder, PATH_MAX) : 0;
}

/* What may still be read of lines. */
struct left {
	uint64_t lines, paths;
};

/* Takes the lines of a unit, whose table is at an offset. */
static const char *take_lines(const struct hlg_line_sections *sections, Dwarf_Die *unit,
			      Dwarf_Word at, struct left *left)
{
	struct hlg_line_head head;
	uint64_t folder = compiled_in(unit), paths;

	if (!hlg_line_head_read(sections, at, &head) || folder == PATH_MAX)
		return "its lines have too long paths";
	paths = hlg_line_head_paths(&head, folder);
	if (head.size > left->lines)
		return "its units share too many lines";
	if (paths > left->paths)
		return "its lines repeat too long paths";
	left->lines -= head.size;
	left->paths -= paths;
	return NULL;
}

/* Takes the lines of all units. */
static const char *add_lines(const struct hlg_line_sections *sections, Dwarf *dwarf)
{
	uint64_t size = sections->line->d_size;
	struct left left = {FREE_LINES + TIMES_LINES * size, FREE + TIMES_PATHS * size};
	Dwarf_Word at, last = UINT64_MAX;
	const char *wrong = NULL;
	Dwarf_Attribute attr;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (!wrong && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		if (!dwarf_attr(&unit, DW_AT_stmt_list, &attr) ||
		    dwarf_formudata(&attr, &at) != 0 || at == last)
			continue;
		wrong = take_lines(sections, &unit, at, &left);
		last = at;
	}
	return wrong;
}

/* Vets .debug_ranges, or (is_new) .debug_rnglists, for the units that there are. */
static const char *vet_ranges(const struct sum *sum, const Elf_Data *data, bool is_new)
{
	for (unsigned width = 4; data && width <= 8; width += 4)
		if (sum->widths & width &&
		    !hlg_range_lists_vet(data->d_buf, data->d_size, is_new, width))
			return "its lists of ranges set too many bases";
	return NULL;
}

bool hlg_entries_vet(Dwarf *dwarf, const char *path, struct hlg_err *err)
{
	const char *wrong = NULL;
	struct sum sum = {.data = section_of(dwarf, "abbrev", &wrong)};
	const struct hlg_line_sections lines = {section_of(dwarf, "line", &wrong),
						section_of(dwarf, "line_str", &wrong),
						section_of(dwarf, "str", &wrong)};
	const Elf_Data *old = section_of(dwarf, "ranges", &wrong);
	const Elf_Data *new = section_of(dwarf, "rnglists", &wrong);

	if (sum.data && !wrong)
		wrong = add_units(&sum, dwarf, false);
	if (sum.data && !wrong)
		wrong = add_units(&sum, dwarf, true);
	if (sum.data && lines.line && !wrong)
		wrong = add_lines(&lines, dwarf);
	if (!wrong)
		wrong = vet_ranges(&sum, old, false);
	if (!wrong)
		wrong = vet_ranges(&sum, new, true);
	if (wrong)
		hlg_err_set(err, HLG_EINPUT,
			    "%s: source lines left out: %s (damaged; build or copy it "
			    "again)",
			    path, wrong);
	return !wrong;
}
