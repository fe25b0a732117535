// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/place-name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/name/demangle.h"

char *hlg_place_name_symbol(const struct hlg_image *image,
			    const struct hlg_symbol *symbol, bool demangle)
{
	return hlg_demangle_if(demangle, hlg_image_name(image, symbol));
}

/* prefix and name in one string, taking name over. */
static char *join(const char *prefix, char *name)
{
	char *joined = NULL;

	if (name && asprintf(&joined, "%s%s", prefix, name) < 0)
		joined = NULL;
	free(name);
	return joined;
}

static const char *section_name(const struct hlg_place *place)
{
	uint32_t section = place->area->section;

	return section ? place->image->elf.sections[section].name : "";
}

static char *name_gap(const struct hlg_place *place, bool demangle)
{
	const struct hlg_symbol *near = hlg_image_neighbour(place->image, place, -1);
	const char *prefix = "__gap__ after ";

	if (!near) {
		near = hlg_image_neighbour(place->image, place, 1);
		prefix = "__gap__ before ";
	}
	if (near)
		return join(prefix, hlg_place_name_symbol(place->image, near, demangle));
	if (section_name(place)[0])
		return join("__gap__ in ", strdup(section_name(place)));
	return strdup("__gap__");
}

char *hlg_place_name(const struct hlg_place *place, bool demangle)
{
	switch (place->kind) {
	case HLG_FUNCTION:
	case HLG_LABEL:
		return hlg_place_name_symbol(place->image, place->symbol, demangle);
	case HLG_GAP:
		return name_gap(place, demangle);
	case HLG_DATA:
		if (section_name(place)[0])
			return join("[data] ", strdup(section_name(place)));
		return strdup("[data]");
	default:
		return strdup("[outside]");
	}
}

char *hlg_place_name_of_image(char *name, const struct hlg_place *place)
{
	char *with;

	if (!name || !place->image)
		return name;
	if (asprintf(&with, "%s [%s]", name, hlg_image_short_name(place->image)) < 0)
		with = NULL;
	free(name);
	return with;
}

char *hlg_place_name_border(const struct hlg_place *place, bool demangle)
{
	if (place->image->made)
		return hlg_place_name(place, demangle);
	return join(HLG_PLACE_NAME_EXIT, hlg_place_name(place, demangle));
}

const char *hlg_place_name_kind(enum hlg_kind kind)
{
	static const char *const words[] = {"function", "label", "gap", "data",
					    "outside"};

	return words[kind];
}
