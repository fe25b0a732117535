// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/subroutines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symtab/grow.h"

enum {
	MAX_DEPTH = 256,      /* of nested entries: stops damaged files */
	TIMES = 64,           /* that each byte is stepped over, on average */
	FREE_STEPS = 16 << 20 /* bytes stepped over that need no others */
};

/* An entry of the tree that is open, and the subroutine that it is, or stands in. */
struct level {
	Dwarf_Die die;
	uint32_t in;
};

/* Puts the ranges of an entry on top of those before. False without memory or room. */
static bool paint(struct hlg_subroutines *s, Dwarf_Die *die, uint32_t number,
		  size_t *room)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0) {
		const struct hlg_address_range range = {
			.start = start, .end = end, .name = number};

		if (*room == 0)
			return false;
		--*room;
		if (!hlg_address_map_put(&s->map, range, HLG_ADDRESS_MAP_KEEP))
			return false;
	}
	return true; /* whose ranges are damaged has those before */
}

/* Takes note of an entry that is a subroutine. */
static bool enter(struct hlg_subroutines *s, struct level *level, size_t *room)
{
	int tag = dwarf_tag(&level->die);

	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return true;
	if (s->n == HLG_SUBROUTINE_NONE || !HLG_GROW(s->list, s->n))
		return false;
	s->list[s->n] = (struct hlg_subroutine){level->die, level->in,
						tag == DW_TAG_inlined_subroutine};
	level->in = s->n++;
	return paint(s, &level->die, level->in, room);
}

/* How far a unit's entries have been read. libdw gets from an entry to the one beside it
 * by stepping over all that is below it, where no attribute says how far that is: at each
 * level anew. */
struct walk {
	Dwarf_Off begin, reached;
	uint64_t stepped; /* bytes */
};

static void reach(struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	if (at > walk->reached)
		walk->reached = at;
}

/* Goes to the entry beside this one; false: there is none. */
static bool go_on(struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Off from = dwarf_dieoffset(die);
	bool more = dwarf_siblingof(die, die) == 0;

	if (more)
		reach(walk, die);
	walk->stepped += walk->reached - from;
	return more;
}

/* Is a file damaged whose entries take so many steps? */
static bool is_too_deep(const struct walk *walk)
{
	return walk->stepped > FREE_STEPS + TIMES * (walk->reached - walk->begin);
}

/* Goes on beside the innermost open entry that has one beside it; false: none has, or
 * that takes too long to find out. */
static bool climb(struct walk *walk, struct level *path, size_t *depth)
{
	while (!go_on(walk, &path[*depth].die))
		if ((*depth)-- == 0 || is_too_deep(walk))
			return false;
	return !is_too_deep(walk);
}

bool hlg_subroutines_collect(struct hlg_subroutines *s, Dwarf_Die *tree, size_t *room)
{
	struct level path[MAX_DEPTH]; /* open entries; [0] is among the top's */
	struct walk walk = {dwarf_dieoffset(tree), dwarf_dieoffset(tree), 0};
	size_t depth = 0;

	path[0].in = HLG_SUBROUTINE_NONE;
	if (dwarf_child(tree, &path[0].die) != 0)
		return true;
	reach(&walk, &path[0].die);
	for (;;) {
		uint32_t above = depth ? path[depth - 1].in : HLG_SUBROUTINE_NONE;

		path[depth].in = above;
		if (!enter(s, &path[depth], room))
			return *room == 0;
		if (depth + 1 < MAX_DEPTH &&
		    dwarf_child(&path[depth].die, &path[depth + 1].die) == 0) {
			reach(&walk, &path[++depth].die);
			continue;
		}
		if (!climb(&walk, path, &depth)) {
			*room = is_too_deep(&walk) ? 0 : *room;
			return true;
		}
	}
}

size_t hlg_subroutines_find(const struct hlg_subroutines *s, uint64_t addr,
			    Dwarf_Die *inlined, size_t max)
{
	const struct hlg_address_range *range = hlg_address_map_find(&s->map, addr);
	uint32_t at = range ? range->name : HLG_SUBROUTINE_NONE;
	size_t n = 0, left_out;

	/* A parent comes before what stands in it. */
	for (uint32_t i = at; i != HLG_SUBROUTINE_NONE && s->list[i].inlined;
	     i = s->list[i].parent)
		n++;
	for (left_out = n > max ? n - max : 0; left_out; left_out--)
		at = s->list[at].parent;
	if (n > max)
		n = max;
	for (size_t i = 0; i < n; i++, at = s->list[at].parent)
		inlined[i] = s->list[at].die;
	return n;
}

bool hlg_subroutines_innermost(const struct hlg_subroutines *s, uint64_t addr,
			       Dwarf_Die *inlined)
{
	const struct hlg_address_range *range = hlg_address_map_find(&s->map, addr);

	if (!range || range->name == HLG_SUBROUTINE_NONE || !s->list[range->name].inlined)
		return false;
	*inlined = s->list[range->name].die;
	return true;
}

void hlg_subroutines_finish(struct hlg_subroutines *s)
{
	hlg_address_map_finish(&s->map);
	free(s->list);
	*s = (struct hlg_subroutines){0};
}
