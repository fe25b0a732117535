/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which event a sample's id means. The kernel numbers every opened counter (one for each
 * event, CPU and thread); the recording lists the numbers of each event.
 */
#ifndef HLG_TOOLS_PERFDATA_IDS_H
#define HLG_TOOLS_PERFDATA_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "symtab/hash.h"

#define HLG_NO_ID UINT32_MAX

/*
 * Ids a recording may have: 512 CPUs with 8,000 events. Keeps the table of a hostile pipe
 * below 200 MB.
 */
#define HLG_MAX_IDS (UINT32_C(1) << 22)

struct hlg_ids_entry {
	uint64_t id; /* 0: free. perf makes up records with id 0; they mean event 0 */
	uint32_t event;
	uint32_t slot; /* a number for this id, from 0 on */
};

struct hlg_ids {
	struct hlg_ids_entry
		*entries; /* open addressing, at most half used; never NULL */
	unsigned shift;   /* 64 - log2 of their number */
	uint32_t n;
};

/* Where to look for an id first. */
static inline uint64_t hlg_ids_hash(uint64_t id, unsigned shift)
{
	return id * hlg_hash_factor >> shift;
}

/* The entry of an id, NULL if unknown (0 always is). */
static inline const struct hlg_ids_entry *hlg_ids_entry(
	const struct hlg_ids_entry *entries, unsigned shift, uint64_t id)
{
	uint64_t i = hlg_ids_hash(id, shift);

	/* Most are where they are looked for first. */
	while (entries[i].id != id) {
		if (entries[i].id == 0)
			return NULL;
		i = (i + 1) & ((UINT64_C(1) << (64 - shift)) - 1);
	}
	return id ? &entries[i] : NULL;
}

/* The event of an id, HLG_NO_ID if unknown. */
static inline uint32_t hlg_ids_find(const struct hlg_ids_entry *entries, unsigned shift,
				    uint64_t id)
{
	const struct hlg_ids_entry *entry = hlg_ids_entry(entries, shift, id);

	return entry ? entry->event : HLG_NO_ID;
}

#endif
