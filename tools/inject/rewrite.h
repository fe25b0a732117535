/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest sample turned into a user sample of another process. What changes is
 *
 * - the mode: PERF_RECORD_MISC_USER;
 * - pid and tid, by hlg_rewrite_id;
 * - the callchain, if the event has one. The host records none for a guest, only markers
 *   of contexts without an address; perf would then show no frame at all. It becomes the
 *   sample's own address in the context of a user. Where there are addresses, a guest's
 *   contexts become a user's, and nothing else changes;
 * - registers and stack of the user, for events that have a stack: they are the VMM's,
 *   and perf would unwind it as if it ran in the guest. They are left out.
 *
 * Everything else stays, ids and counter values among it.
 */
#ifndef HLG_TOOLS_INJECT_REWRITE_H
#define HLG_TOOLS_INJECT_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perfdata/perfdata.h"

#define HLG_REWRITE_MAX (UINT16_MAX + 1)

/*
 * The number above all processes and threads of a recording, a power of ten, that is
 * added to the numbers of the new ones: 16290 becomes 10016290. highest: of all that are
 * in the recording. 0 if there is no room for it: highest has ten digits.
 *
 * Linux has no process above 4194304 (PID_MAX_LIMIT, linux/threads.h), so that it is
 * 10000000 but for a recording that was rewritten before.
 */
int32_t hlg_rewrite_offset(int32_t highest);

/* The number of the new process (or thread) of a VMM's. -1, not known, has one, too. */
static inline int32_t hlg_rewrite_id(int32_t offset, int32_t id)
{
	return id < 0 ? 2 * offset - 1 : offset + id;
}

/* Writes the new sample of a guest sample with pid and tid. Returns its size. */
size_t hlg_rewrite_sample(uint8_t to[static HLG_REWRITE_MAX], const uint8_t *record,
			  uint16_t size, const struct hlg_perfdata_layout *layout,
			  int32_t offset);

#endif
