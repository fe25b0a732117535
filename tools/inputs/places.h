/* SPDX-License-Identifier: GPL-2.0-only */
/* Which places of a guest does a word of the command line name? */
#ifndef HLG_TOOLS_INPUTS_PLACES_H
#define HLG_TOOLS_INPUTS_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/image/space.h"

struct hlg_found_places {
	struct hlg_place *place; /* no owner twice; by image, then address, for a word */
	size_t n;
};

/* Is word an address (0x and digits) and no name? */
bool hlg_places_is_address(const char *word, uint64_t *ip);

/*
 * Appends the places that word names: functions and labels by any of the names of their
 * address, as the ELF has it or readable, with or without a C++ function's parameters;
 * gaps and data by what a report calls them ("__gap__ after foo"). An alias leads to the
 * place that owns its address. Where there are none, a part of one name will do. Fails
 * without that, telling some names that have it, and without memory. The space need not
 * be settled.
 */
int hlg_places_find(struct hlg_found_places *places, const struct hlg_space *space,
		    const char *word, struct hlg_err *err);

/* The place of a guest address, in a settled space; outside is a place. */
int hlg_places_find_ip(struct hlg_found_places *places, const struct hlg_space *space,
		       uint64_t ip, struct hlg_err *err);

void hlg_places_finish(struct hlg_found_places *places);

#endif
