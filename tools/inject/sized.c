// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/sized.h"

#include <stdlib.h>
#include <string.h>

#include "filter/view/place-name.h"
#include "symtab/bsearch.h"
#include "symtab/escape.h"

/* Room for n more of size bytes each; false without memory, or past 2^32. */
static bool make_room(void *to, size_t *room, size_t used, size_t n, size_t size)
{
	size_t more = *room ? *room : 256;
	void **array = to, *grown;

	if (used + n > UINT32_MAX)
		return false;
	while (more < used + n)
		more *= 2;
	if (more == *room)
		return true;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return false;
	*array = grown;
	*room = more;
	return true;
}

static bool add(struct hlg_sized *s, Elf64_Sym sym, const char *name)
{
	size_t n = strlen(name) + 1;
	void *syms = s->syms, *names = s->names;
	bool ok = make_room(&syms, &s->room, s->n, 1, sizeof(*s->syms)) &&
		  make_room(&names, &s->names_room, s->names_size, n, 1);

	s->syms = syms;
	s->names = names;
	if (!ok)
		return false;
	sym.st_name = (Elf64_Word)s->names_size;
	memcpy(s->names + s->names_size, name, n);
	s->names_size += n;
	s->syms[s->n++] = sym;
	return true;
}

/* The section that claims an own address, else the first that holds code. */
static Elf64_Section section_of(const struct hlg_image *image, uint64_t addr)
{
	const struct hlg_elf64 *elf = &image->elf;
	size_t behind = HLG_BSEARCH_UPTO(image->areas, image->n_areas, start, addr);
	uint32_t section;

	section = image->n_areas ? image->areas[behind ? behind - 1 : 0].section : 0;
	for (uint32_t i = 1; section == 0 && i < elf->n_sections; i++)
		if (elf->sections[i].exec)
			section = i;
	return (Elf64_Section)(section ? section : 1);
}

static bool add_unit(struct hlg_sized *s, const struct hlg_image *image,
		     const struct hlg_unit *unit, bool demangle)
{
	bool named = unit->place.kind == HLG_FUNCTION || unit->place.kind == HLG_LABEL;
	char *raw = hlg_place_name(&unit->place, demangle && !named);
	char *name = raw ? hlg_escape_dup(raw) : NULL; /* perf shows all bytes */
	bool ok = name && add(s,
			      (Elf64_Sym){
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				      .st_shndx = section_of(image, unit->start),
				      .st_value = unit->start,
				      .st_size = unit->end - unit->start,
			      },
			      name);

	free(raw);
	free(name);
	return ok;
}

bool hlg_sized_build(struct hlg_sized *s, const struct hlg_units *units, bool demangle)
{
	struct hlg_unit unit;
	bool ok;

	*s = (struct hlg_sized){0};
	ok = add(s, (Elf64_Sym){0}, "");
	for (size_t i = 0; ok && i < units->image->spans.n;) {
		bool inside = hlg_units_get(units, i, &unit);

		if (inside && !unit.nameless)
			ok = add_unit(s, units->image, &unit, demangle);
		i += inside ? unit.spans : 1;
	}
	return ok;
}

void hlg_sized_finish(struct hlg_sized *s)
{
	free(s->syms);
	free(s->names);
}
