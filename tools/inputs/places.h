/* SPDX-License-Identifier: GPL-2.0-only */
/* Which places of a guest does a word of the command line name? */
#ifndef HLG_TOOLS_INPUTS_PLACES_H
#define HLG_TOOLS_INPUTS_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "filter/profile/index.h"
#include "symtab/image/space.h"

struct hlg_found_places {
	struct hlg_place *place; /* no owner twice; by image, then address, for a word */
	uint32_t n;
	struct hlg_index by_owner;
};

/* Is word an address (0x and digits) and no name? */
bool hlg_places_is_address(const char *word, uint64_t *ip);

/*
 * Appends the places that word names: functions and labels by any of the names of their
 * address, as the ELF has it or readable, with or without a C++ function's parameters;
 * gaps and data by what a report calls them ("__gap__ after foo"). An alias leads to the
 * place that owns its address, and where the place begins there it is the place's symbol.
 * Where there are none, the last part of one name's path will do (round, of
 * kinds::hash::round), else any part of one. Fails without that, telling names that have
 * it, and without memory. The space need not be settled.
 */
int hlg_places_find(struct hlg_found_places *places, const struct hlg_space *space,
		    const char *word, struct hlg_err *err);

/* The place of a guest address, in a settled space; outside is a place. */
int hlg_places_find_ip(struct hlg_found_places *places, const struct hlg_space *space,
		       uint64_t ip, struct hlg_err *err);

/* A line of the other names of a place's symbol, as the ELF has them; nothing where there
 * are none. */
void hlg_places_put_aliases(FILE *f, const struct hlg_place *place);

void hlg_places_finish(struct hlg_found_places *places);

#endif
