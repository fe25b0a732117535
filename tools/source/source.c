// SPDX-License-Identifier: GPL-2.0-only
/*
 * libdw finds the compilation unit of an address through .debug_aranges, which LLVM does
 * not write (so no Rust guest has it). So the units' own ranges are collected once.
 */
#include "tools/source/source.h"

#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "filter/report/inlined.h"

#if HLG_HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "filter/stacks/address-map.h"
#include "symtab/grow.h"
#include "tools/source/entries.h"
#include "tools/source/shrunk.h"
#include "tools/source/source-files.h"
#include "tools/source/subroutines.h"

enum {
	MAX_CHAIN = 64,
	MAX_RANGES = 1 << 20,      /* some kernels': units of a damaged file share them */
	MAX_SUBROUTINES = 1 << 21, /* ranges of them, in all units: likewise */
	MAX_TEXT = PATH_MAX,       /* bytes of a name or path, with its end */
	USUAL_TEXT = 512,          /* bytes of one on average, */
	FREE_TEXT = 64 << 20       /* and besides, in all */
};

struct unit {
	Dwarf_Die die;
	bool read; /* its subroutines are there */
	struct hlg_subroutines subroutines;
};

struct hlg_source {
	Dwfl *dwfl;
	Dwarf *dwarf;
	const char *path; /* of the file that has it; dwfl's */
	struct unit *units;
	size_t n_units;
	struct hlg_address_range *ranges; /* as the units have them; names are units */
	size_t n_ranges, told_ranges;     /* told: also those that are empty */
	struct hlg_address_map map;       /* who of them has an address */
	size_t room;                      /* for ranges of subroutines */
	size_t texts;                     /* bytes of names and paths that may be told */
	bool told; /* that inlined functions, or names, are left out */
	struct hlg_shrunk shrunk;
};

static bool add_range(struct hlg_source *s, uint64_t start, uint64_t end,
		      struct hlg_err *err)
{
	if (s->told_ranges++ == MAX_RANGES) {
		hlg_err_set(err, HLG_EINPUT,
			    "%s: source lines left out: its units have over %d ranges of "
			    "addresses",
			    s->path, MAX_RANGES);
		return false;
	}
	if (start >= end)
		return true;
	if (!HLG_GROW(s->ranges, s->n_ranges))
		return false;
	s->ranges[s->n_ranges++] = (struct hlg_address_range){
		.start = start, .end = end, .name = (uint32_t)(s->n_units - 1)};
	return true;
}

static bool add_unit(struct hlg_source *s, Dwarf_Die *unit, struct hlg_err *err)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;

	if (!HLG_GROW(s->units, s->n_units))
		return false;
	s->units[s->n_units++] = (struct unit){.die = *unit};
	while ((off = dwarf_ranges(unit, off, &base, &start, &end)) > 0)
		if (!add_range(s, start, end, err))
			return false;
	return true; /* a unit whose ranges are damaged has those before */
}

static int compare_ranges(const void *a, const void *b)
{
	const struct hlg_address_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/*
 * Functions that the linker threw away leave ranges at 0 that may cover real code, so of
 * several ranges the one that begins last has an address.
 */
static bool map_ranges(struct hlg_source *s)
{
	if (s->n_ranges)
		qsort(s->ranges, s->n_ranges, sizeof(*s->ranges), compare_ranges);
	for (size_t i = 0; i < s->n_ranges; i++)
		if (!hlg_address_map_put(&s->map, s->ranges[i], HLG_ADDRESS_MAP_KEEP))
			return false;
	free(s->ranges);
	s->ranges = NULL;
	return s->n_ranges != 0;
}

static bool collect_ranges(struct hlg_source *s, struct hlg_err *err)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	while (dwarf_get_units(s->dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    !add_unit(s, &unit, err))
			return false;
	return map_ranges(s);
}

static struct unit *find_unit(struct hlg_source *s, uint64_t addr)
{
	const struct hlg_address_range *range = hlg_address_map_find(&s->map, addr);

	return range ? &s->units[range->name] : NULL;
}

static bool open_dwarf(struct hlg_source *s, const struct hlg_image *image,
		       struct hlg_err *err)
{
	Dwfl_Module *module;
	const char *own = NULL;

	s->dwfl = hlg_source_files_begin();
	if (!s->dwfl)
		return false;
	s->dwarf = hlg_source_files_open(s->dwfl, image, &module, err);
	if (!s->dwarf || !hlg_source_files_shared(s->dwarf, err))
		return false;
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &own, &s->path);
	if (!s->path)
		s->path = own;
	return s->path && hlg_entries_vet(s->dwarf, s->path, err);
}

struct hlg_source *hlg_source_open(const struct hlg_image *image, struct hlg_err *err)
{
	struct hlg_source *s = calloc(1, sizeof(*s));

	err->msg[0] = '\0';
	if (s) {
		s->room = MAX_SUBROUTINES;
		s->texts = FREE_TEXT;
		hlg_shrunk_init(&s->shrunk, hlg_image_file(image));
		hlg_shrunk_watch(&s->shrunk);
	}
	if (s && (!open_dwarf(s, image, err) || !collect_ranges(s, err))) {
		hlg_source_close(s);
		s = NULL;
	}
	return s;
}

void hlg_source_close(struct hlg_source *s)
{
	if (!s)
		return;
	hlg_shrunk_watch(NULL);
	if (s->dwfl)
		dwfl_end(s->dwfl);
	for (size_t i = 0; i < s->n_units; i++)
		hlg_subroutines_finish(&s->units[i].subroutines);
	free(s->units);
	free(s->ranges);
	hlg_address_map_finish(&s->map);
	free(s);
}

/* That inlined functions, or names, are missing. */
static void tell_once(struct hlg_source *s, const struct hlg_err *err)
{
	if (err->msg[0] && !s->told)
		fprintf(stderr, "hlguest: %s\n", err->msg);
	s->told |= err->msg[0] != '\0';
}

/* A name or path as it is told; NULL: longer than any, or all are too long. Many may
 * share one text, and each place where it is shown takes as much. */
static const char *text_of(struct hlg_source *s, const char *text)
{
	size_t n = strnlen(text, MAX_TEXT);
	struct hlg_err err;

	s->texts += USUAL_TEXT;
	if (n < MAX_TEXT && n <= s->texts) {
		s->texts -= n;
		return text;
	}
	hlg_err_set(&err, HLG_EINPUT,
		    "%s: some names and paths are left out: the debug information has "
		    "them too long, or too often",
		    s->path);
	tell_once(s, &err);
	return NULL;
}

bool hlg_source_find(struct hlg_source *s, uint64_t addr, struct hlg_source_line *line)
{
	struct unit *unit = find_unit(s, addr);
	Dwarf_Line *found;

	hlg_shrunk_watch(&s->shrunk);
	found = unit ? dwarf_getsrc_die(&unit->die, addr) : NULL;
	*line = (struct hlg_source_line){0};
	if (!found || dwarf_lineno(found, &line->line) != 0)
		return false;
	line->file = dwarf_linesrc(found, NULL, NULL);
	if (line->file)
		line->file = text_of(s, line->file);
	return line->file != NULL;
}

static bool get_number(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, value) == 0;
}

static const char *function_of(struct hlg_source *s, Dwarf_Die *scope)
{
	static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					 DW_AT_name};
	const char *name = NULL;
	Dwarf_Attribute attr;

	for (size_t i = 0; i < 3 && !(name && strnlen(name, MAX_TEXT) < MAX_TEXT); i++)
		if (dwarf_attr_integrate(scope, names[i], &attr))
			name = dwarf_formstring(&attr);
	name = name ? text_of(s, name) : NULL;
	return name ? name : "?";
}

static void describe(struct hlg_source *s, Dwarf_Die *unit, Dwarf_Die *scope,
		     struct hlg_source_inline *out)
{
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	*out = (struct hlg_source_inline){function_of(s, scope), {.file = "?"}};
	if (get_number(scope, DW_AT_call_line, &line) && line <= INT32_MAX)
		out->call.line = (int)line;
	if (get_number(scope, DW_AT_call_file, &file) &&
	    dwarf_getsrcfiles(unit, &files, &n) == 0 && file < n) {
		const char *path = dwarf_filesrc(files, file, NULL, NULL);

		path = path ? text_of(s, path) : NULL;
		out->call.file = path ? path : "?";
	}
}

/* May the unit's other half be read? If not for its size, that is told once. */
static bool is_whole(struct hlg_source *s, Dwarf_Die *unit)
{
	struct hlg_err err = {0};
	bool whole = hlg_source_files_split(unit, s->path, &err);

	tell_once(s, &err);
	return whole;
}

static void tell_left_out(struct hlg_source *s)
{
	struct hlg_err err;

	hlg_err_set(
		&err, HLG_EINPUT,
		"%s: inlined functions left out: its functions have over %d ranges of "
		"addresses, or are nested too deep",
		s->path, MAX_SUBROUTINES);
	tell_once(s, &err);
}

/* The entries of a unit; where it was split off, they are in the other file. */
static Dwarf_Die tree_of(struct hlg_source *s, Dwarf_Die *unit)
{
	struct hlg_err err = {0};
	Dwarf_Die tree;

	if (!is_whole(s, unit) ||
	    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &tree, NULL, NULL, NULL) != 0 ||
	    !tree.cu || !hlg_entries_vet(dwarf_cu_getdwarf(tree.cu), s->path, &err))
		tree = *unit;
	tell_once(s, &err);
	return tree;
}

/* False without memory. */
static bool read_subroutines(struct hlg_source *s, struct unit *unit)
{
	Dwarf_Die tree = tree_of(s, &unit->die);

	unit->read = hlg_subroutines_collect(&unit->subroutines, &tree, &s->room);
	if (!unit->read)
		hlg_subroutines_finish(&unit->subroutines);
	if (unit->read && s->room == 0)
		tell_left_out(s);
	return unit->read;
}

/* Are a unit's subroutines there? False without memory. */
static bool has_subroutines(struct hlg_source *s, struct unit *unit)
{
	hlg_shrunk_watch(&s->shrunk);
	return unit->read || read_subroutines(s, unit);
}

/* What was inlined at addr of a unit, of which there are *n; NULL: of none. False without
 * memory. */
static bool find_inlined(struct hlg_source *s, struct unit *unit, uint64_t addr,
			 Dwarf_Die inlined[static MAX_CHAIN], size_t *n, size_t max)
{
	*n = 0;
	if (!unit)
		return true;
	if (!has_subroutines(s, unit))
		return false;
	*n = hlg_subroutines_find(&unit->subroutines, addr, inlined,
				  max < MAX_CHAIN ? max : MAX_CHAIN);
	return true;
}

size_t hlg_source_inlines(struct hlg_source *s, uint64_t addr,
			  struct hlg_source_inline *inlines, size_t max)
{
	Dwarf_Die inlined[MAX_CHAIN];
	size_t n;
	struct unit *unit = find_unit(s, addr);

	find_inlined(s, unit, addr, inlined, &n, max);
	for (size_t i = 0; i < n; i++)
		describe(s, &unit->die, &inlined[i], &inlines[i]);
	return n;
}

const char *hlg_source_innermost(struct hlg_source *s, uint64_t addr)
{
	struct unit *unit = find_unit(s, addr);
	Dwarf_Die inlined;

	return unit && has_subroutines(s, unit) &&
			       hlg_subroutines_innermost(&unit->subroutines, addr,
							 &inlined)
		       ? function_of(s, &inlined)
		       : NULL;
}

static size_t inlined_names(struct hlg_source *s, uint64_t addr, const char **names,
			    size_t max)
{
	Dwarf_Die inlined[MAX_CHAIN];
	size_t n;

	if (!find_inlined(s, find_unit(s, addr), addr, inlined, &n, max))
		return HLG_INLINED_LOST;
	for (size_t i = 0; i < n; i++)
		names[i] = function_of(s, &inlined[i]);
	return n;
}

#else
struct hlg_source *hlg_source_open(const struct hlg_image *image, struct hlg_err *err)
{
	(void)image;
	err->msg[0] = '\0';
	return NULL;
}

void hlg_source_close(struct hlg_source *source)
{
	(void)source;
}

bool hlg_source_find(struct hlg_source *source, uint64_t addr,
		     struct hlg_source_line *line)
{
	(void)source;
	(void)addr;
	*line = (struct hlg_source_line){0};
	return false;
}

const char *hlg_source_innermost(struct hlg_source *source, uint64_t addr)
{
	(void)source;
	(void)addr;
	return NULL;
}

size_t hlg_source_inlines(struct hlg_source *source, uint64_t addr,
			  struct hlg_source_inline *inlines, size_t max)
{
	(void)source;
	(void)addr;
	(void)inlines;
	(void)max;
	return 0;
}

static size_t inlined_names(struct hlg_source *source, uint64_t addr, const char **names,
			    size_t max)
{
	(void)source;
	(void)addr;
	(void)names;
	(void)max;
	return 0;
}
#endif

bool hlg_source_open_all(struct hlg_sources *s, const struct hlg_space *space)
{
	*s = (struct hlg_sources){
		.space = space,
		.source = calloc(space->n_images + 1, sizeof(*s->source)),
		.tried = calloc(space->n_images + 1, sizeof(*s->tried)),
	};
	return s->source && s->tried;
}

struct hlg_source *hlg_source_of(struct hlg_sources *s, const struct hlg_image *image)
{
	size_t i = hlg_space_has(s->space, image) ? image->number : s->space->n_images;

	if (i == s->space->n_images)
		return NULL;
	if (!s->tried[i] && !image->map) {
		struct hlg_err err;

		s->source[i] = hlg_source_open(image, &err);
		if (err.msg[0])
			fprintf(stderr, "hlguest: %s\n", err.msg);
	}
	s->tried[i] = true;
	return s->source[i];
}

size_t hlg_source_inlined_at(void *ctx, const struct hlg_image *image, uint64_t addr,
			     const char **names, size_t max)
{
	struct hlg_source *source = hlg_source_of(ctx, image);

	return source ? inlined_names(source, addr, names, max) : 0;
}

void hlg_source_close_all(struct hlg_sources *s)
{
	for (size_t i = 0; s->source && i < s->space->n_images; i++)
		hlg_source_close(s->source[i]);
	free(s->source);
	free(s->tried);
	*s = (struct hlg_sources){0};
}
