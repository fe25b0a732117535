// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a part of a file, and where to cut it. The guess needs no proof: whoever uses
 * it compares it with where the first part's walk ends.
 */
#include <stdlib.h>
#include <string.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

#define LOOK_AT 262144 /* bytes that are searched; a record is at most 65535 */
#define CHAIN   64     /* headers in a row that make a guess */

static bool can_split(const struct hlg_perfdata *pd)
{
	/* Without all facts it may be compressed after all. */
	if (pd->counts.unfinished || pd->counts.missing || pd->counts.facts_cut)
		return false;
	if (pd->host.pipe || pd->host.directory || pd->host.compressed ||
	    pd->n_data_files || pd->source.stream)
		return false;
	for (uint32_t i = 0; i < pd->n_events; i++)
		if (pd->layouts[i].read)
			return false;
	return pd->n_events > 0;
}

/* Could a record begin here? Its size if so, else 0. */
static unsigned plausible(const struct hlg_perfdata *pd, const uint8_t *at, size_t rest)
{
	uint32_t type, event = 0;
	uint16_t size, misc;

	if (rest < HLG_HEADER_SIZE)
		return 0;
	type = hlg_perfdata_u32(at);
	misc = (uint16_t)hlg_perfdata_u32(at + 4);
	size = (uint16_t)(hlg_perfdata_u32(at + 4) >> 16);
	/* The kernel has types 1 to 22 by now, perf 64 to 84. */
	if (type == 0 || (type > 31 && type < HLG_RECORD_USER) || type > 95 ||
	    size < HLG_HEADER_SIZE || size % 8 || size > rest)
		return 0;
	/* Modes end with GUEST_USER. */
	if (type != PERF_RECORD_SAMPLE || (misc & PERF_RECORD_MISC_CPUMODE_MASK) > 5)
		return type == PERF_RECORD_SAMPLE ? 0 : size;
	if (pd->walk.id_at && pd->walk.id_at + 8u <= size)
		event = hlg_ids_find(pd->ids.entries, pd->ids.shift,
				     hlg_perfdata_u64(at + pd->walk.id_at));
	return event == HLG_NO_ID || size < pd->layouts[event].needs ? 0 : size;
}

static bool chain(const struct hlg_perfdata *pd, const uint8_t *at, size_t rest,
		  bool to_end)
{
	for (unsigned n = 0; n < CHAIN; n++) {
		unsigned size;

		if (rest == 0)
			return to_end && n;
		size = plausible(pd, at, rest);
		if (size == 0)
			return false;
		at += size;
		rest -= size;
	}
	return true;
}

bool hlg_perfdata_split(const struct hlg_perfdata *pd, uint64_t *at)
{
	uint64_t half = (pd->limit - pd->from) / 2 & ~UINT64_C(7);
	uint64_t start = pd->from + half, rest = pd->limit - start;
	size_t i, n = rest < LOOK_AT ? (size_t)rest : LOOK_AT;
	bool found = false;
	uint8_t *bytes;

	if (!can_split(pd) || half == 0)
		return false;
	bytes = malloc(n);
	if (bytes && !hlg_file_read(pd->fd, bytes, n, start)) {
		for (i = 0; !found && i < n && i < LOOK_AT / 2; i += 8)
			found = chain(pd, bytes + i, n - i, n == rest);
		*at = start + i - 8;
	}
	free(bytes);
	return found;
}

bool hlg_perfdata_split_holds(const struct hlg_perfdata *first,
			      const struct hlg_perfdata *copy, uint64_t at)
{
	return !first->stopped && hlg_perfdata_tell(first) == at &&
	       !first->host.compressed && !copy->host.compressed;
}

void hlg_perfdata_range(struct hlg_perfdata *pd, uint64_t from, uint64_t to)
{
	if (pd->source.stream || pd->n_data_files || pd->stopped)
		return;
	if (from < pd->from)
		from = pd->from;
	if (from > pd->limit)
		from = pd->limit;
	pd->range_to = to;
	pd->unzipping = false;
	hlg_window_seek(pd, from, pd->limit);
	pd->told = 0;
}

int hlg_perfdata_clone(struct hlg_perfdata **to, const struct hlg_perfdata *pd,
		       struct hlg_err *err)
{
	struct hlg_perfdata *copy;
	size_t n = pd->n_events;

	*to = NULL;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return hlg_err_memory(err, pd->path);
	*copy = (struct hlg_perfdata){
		.walk = pd->walk,
		.path = pd->path,
		.fd = pd->fd,
		.data_fd = -1,
		.from = pd->from,
		.limit = pd->limit,
		.range_to = UINT64_MAX,
		.parent = pd,
		.events = pd->events,
		.n_events = pd->n_events,
		.ids = pd->ids,
		.id_back = pd->id_back,
		.host = pd->host,
	};
	copy->layouts = calloc(n, sizeof(*copy->layouts));
	if (!copy->layouts || hlg_window_start(copy, false, err) < 0) {
		hlg_perfdata_close(copy);
		return hlg_err_memory(err, pd->path);
	}
	memcpy(copy->layouts, pd->layouts, n * sizeof(*copy->layouts));
	memcpy(copy->features, pd->features, sizeof(copy->features));
	for (uint32_t i = 0; i < n; i++) {
		/* Its sink has not met them. */
		copy->layouts[i].known = false;
		copy->layouts[i].short_needs = UINT32_MAX;
	}
	copy->walk.layouts = copy->layouts;
	hlg_perfdata_range(copy, 0, UINT64_MAX);
	*to = copy;
	return 0;
}
