// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pipe mode: what is the header of a file comes as records ("Pipe-mode data"), before the
 * first sample as perf record writes them.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/perfdata/reader.h"

static int contradicts(const struct hlg_perfdata *pd, const char *what,
		       struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s (damaged; record again)", pd->path,
			   what);
}

/* attr_event: the attribute, then its ids. */
static int read_attr(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		     struct hlg_err *err)
{
	const uint8_t *attr = record + HLG_HEADER_SIZE;
	size_t room = size - HLG_HEADER_SIZE, own_size;
	int rc;

	if (room < PERF_ATTR_SIZE_VER0)
		return contradicts(pd, "a record of an event is too short", err);
	own_size = hlg_perfdata_u32(attr + offsetof(struct perf_event_attr, size));
	if (own_size < PERF_ATTR_SIZE_VER0)
		own_size = PERF_ATTR_SIZE_VER0;
	if (own_size > room)
		return contradicts(pd, "an event is larger than its record", err);
	rc = hlg_attrs_add(pd, attr, own_size, err);
	if (rc == 0)
		rc = hlg_attrs_add_ids(pd, pd->n_events - 1, attr + own_size,
				       (room - own_size) / 8, err);
	return rc < 0 ? rc : hlg_attrs_check(pd, err);
}

/* u64 type, u64 id of the event, and for a name the text. */
static int read_update(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		       struct hlg_err *err)
{
	uint32_t event = 0;
	uint64_t id;

	if (size <= 24 || hlg_perfdata_u64(record + 8) != HLG_EVENT_UPDATE_NAME)
		return 0;
	id = hlg_perfdata_u64(record + 16);
	if (pd->n_events > 1 && id)
		event = hlg_ids_find(pd->ids.entries, pd->ids.shift, id);
	if (event >= pd->n_events)
		return 0;
	return hlg_attrs_name(pd, event, strndup((const char *)record + 24, size - 24),
			      err);
}

/* u64 feature, and what the section of a file would hold. */
static int read_feature(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
			struct hlg_err *err)
{
	uint64_t feature;

	if (size < 16)
		return 0;
	feature = hlg_perfdata_u64(record + 8);
	if (feature >= HLG_FEATURES)
		return 0;
	return hlg_feature_read(pd, (unsigned)feature, record + 16, size - 16, err);
}

int hlg_pipe_record(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		    size_t size, struct hlg_err *err)
{
	switch (type) {
	case HLG_RECORD_HEADER_ATTR:
		return pd->host.pipe ? read_attr(pd, record, size, err) : 0;
	case HLG_RECORD_EVENT_UPDATE:
		return pd->host.pipe ? read_update(pd, record, size, err) : 0;
	case HLG_RECORD_HEADER_FEATURE:
		return pd->host.pipe ? read_feature(pd, record, size, err) : 0;
	default:
		return 0;
	}
}
