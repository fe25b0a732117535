// SPDX-License-Identifier: GPL-2.0-only
/*
 * The header of a recording: in file mode what the file begins with, in pipe mode records
 * ("Pipe-mode data") before the first sample. Nothing in it is believed: sections must
 * lie in the file, and memory is taken only for what the file really has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

#define SOME_IDS 512
#define AHEAD    8192 /* bytes that are read at once: headers are many small pieces */

static bool inside(struct hlg_file_section s, uint64_t limit)
{
	return s.offset <= limit && s.size <= limit - s.offset;
}

static int bad(const struct hlg_perfdata *pd, const char *problem, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s (damaged; record again)", pd->path,
			   problem);
}

/* What was read of the file last. */
struct hlg_ahead {
	uint64_t at, n;
	uint8_t bytes[AHEAD];
};

static bool has(const struct hlg_ahead *ahead, uint64_t at, size_t size)
{
	return at >= ahead->at && at - ahead->at <= ahead->n &&
	       size <= ahead->n - (at - ahead->at);
}

static int read_at(struct hlg_perfdata *pd, void *to, size_t size, uint64_t at,
		   struct hlg_err *err)
{
	struct hlg_ahead *ahead = pd->ahead;
	ssize_t got;

	if (!has(ahead, at, size) && size <= AHEAD) {
		got = pread(pd->fd, ahead->bytes, AHEAD, (off_t)at);
		ahead->at = at;
		ahead->n = got > 0 ? (uint64_t)got : 0;
	}
	if (has(ahead, at, size)) {
		memcpy(to, ahead->bytes + (at - ahead->at), size);
		return 0;
	}
	/* Large, or interrupted, or not there: which of them is told here. */
	return hlg_file_read(pd->fd, to, size, at) ? hlg_window_errno(pd->path, err) : 0;
}

static int read_ids(struct hlg_perfdata *pd, uint32_t event, struct hlg_file_section ids,
		    struct hlg_err *err)
{
	uint64_t n = ids.size / 8;
	uint8_t some[8 * SOME_IDS];
	int rc = 0;

	while (rc == 0 && n) {
		uint64_t now = n < SOME_IDS ? n : SOME_IDS;

		rc = read_at(pd, some, 8 * now, ids.offset, err);
		if (rc == 0)
			rc = hlg_attrs_add_ids(pd, event, some, now, err);
		ids.offset += 8 * now;
		n -= now;
	}
	return rc;
}

/* "Event types": an attribute as old or new as it likes, then the section of its ids. */
static int read_attr(struct hlg_perfdata *pd, uint64_t at, uint64_t attr_size,
		     uint64_t file_size, uint64_t *ids_size, struct hlg_err *err)
{
	uint8_t attr[sizeof(struct perf_event_attr)] = {0};
	struct hlg_file_section ids = {0};
	uint32_t own_size;
	int rc;

	rc = read_at(pd, attr, attr_size < sizeof(attr) ? attr_size : sizeof(attr), at,
		     err);
	if (rc == 0)
		rc = read_at(pd, &ids, sizeof(ids), at + attr_size, err);
	if (rc < 0)
		return rc;
	own_size = hlg_perfdata_u32(attr + offsetof(struct perf_event_attr, size));
	if (own_size > attr_size)
		return bad(pd, "an event is larger than its place in the header", err);
	if (!inside(ids, file_size))
		return bad(pd, "ids of an event are past the end of the file", err);
	/* Nobody shares ids: all of them are in the file but once. */
	if (ids.size > file_size - *ids_size)
		return bad(pd, "ids of its events overlap", err);
	*ids_size += ids.size;
	/* The first perf's attributes said 0. */
	if (own_size < PERF_ATTR_SIZE_VER0)
		own_size = PERF_ATTR_SIZE_VER0;
	rc = hlg_attrs_add(pd, attr, own_size, err);
	return rc < 0 ? rc : read_ids(pd, pd->n_events - 1, ids, err);
}

static int read_attrs(struct hlg_perfdata *pd, const struct hlg_file_header *h,
		      uint64_t file_size, struct hlg_err *err)
{
	uint64_t attr_size = h->attr_size - sizeof(struct hlg_file_section);
	uint64_t ids_size = 0;
	int rc = 0;

	if (h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct hlg_file_section))
		return bad(pd, "events in the header are too small", err);
	if (!inside(h->attrs, file_size))
		return bad(pd, "its events are past the end of the file", err);
	if (h->attrs.size < h->attr_size)
		return bad(pd, "has no events", err);
	for (uint64_t i = 0; rc == 0 && i < h->attrs.size / h->attr_size; i++)
		rc = read_attr(pd, h->attrs.offset + i * h->attr_size, attr_size,
			       file_size, &ids_size, err);
	return rc < 0 ? rc : hlg_attrs_check(pd, err);
}

static int set_data(struct hlg_perfdata *pd, const struct hlg_file_header *h,
		    uint64_t file_size, struct hlg_err *err)
{
	if (h->data.offset < h->size || h->data.offset > file_size)
		return bad(pd, "its records are outside the file", err);
	pd->from = h->data.offset;
	pd->limit = file_size;
	/* Written last: 0 means that perf did not get that far. */
	pd->counts.unfinished = h->data.size == 0;
	if (h->data.size && h->data.size <= file_size - h->data.offset)
		pd->limit = h->data.offset + h->data.size;
	else if (h->data.size)
		pd->counts.missing = h->data.size - (file_size - h->data.offset);
	return 0;
}

static int read_feature(struct hlg_perfdata *pd, unsigned feature,
			struct hlg_file_section s, struct hlg_err *err)
{
	uint8_t *data;
	int rc;

	if (feature == HLG_FEATURE_TRACING_DATA)
		pd->tracing = s;
	if (feature == HLG_FEATURE_BUILD_ID)
		pd->build_ids = s;
	if (feature == HLG_FEATURE_TRACING_DATA || feature == HLG_FEATURE_BUILD_ID ||
	    s.size > HLG_MAX_FEATURE)
		return 0;
	data = malloc(s.size + 1);
	if (!data)
		return hlg_err_memory(err, pd->path);
	rc = read_at(pd, data, s.size, s.offset, err);
	if (rc == 0)
		rc = hlg_feature_read(pd, feature, data, s.size, err);
	free(data);
	return rc;
}

/* Features that are wanted: others are not even read. */
static bool wanted(unsigned feature)
{
	switch (feature) {
	case HLG_FEATURE_TRACING_DATA:
	case HLG_FEATURE_BUILD_ID:
	case HLG_FEATURE_HOSTNAME:
	case HLG_FEATURE_OSRELEASE:
	case HLG_FEATURE_VERSION:
	case HLG_FEATURE_ARCH:
	case HLG_FEATURE_NRCPUS:
	case HLG_FEATURE_CPUDESC:
	case HLG_FEATURE_CPUID:
	case HLG_FEATURE_CMDLINE:
	case HLG_FEATURE_EVENT_DESC:
	case HLG_FEATURE_GROUP_DESC:
	case HLG_FEATURE_SAMPLE_TIME:
	case HLG_FEATURE_COMPRESSED:
		return true;
	default:
		return false;
	}
}

/* "Flags section": sections behind the data, one for each bit that is set. */
static int read_features(struct hlg_perfdata *pd, const struct hlg_file_header *h,
			 uint64_t file_size, struct hlg_err *err)
{
	uint64_t at = pd->limit;
	struct hlg_file_section s;
	int rc = 0;

	if (pd->counts.unfinished || pd->counts.missing)
		return 0;
	for (unsigned i = 0; rc == 0 && i < HLG_FEATURES; i++) {
		if (!(h->features[i / 64] >> (i % 64) & 1))
			continue;
		if (file_size - at < sizeof(s)) {
			pd->counts.facts_cut = true;
			break;
		}
		rc = read_at(pd, &s, sizeof(s), at, err);
		at += sizeof(s);
		if (rc < 0 || !wanted(i))
			continue;
		if (inside(s, file_size))
			rc = read_feature(pd, i, s, err);
		else
			pd->counts.facts_cut = true;
	}
	return rc;
}

/* DIR_FORMAT, by its own name: most of the records are in the files beside it. */
static int check_alone(struct hlg_perfdata *pd, const struct hlg_file_header *h,
		       struct hlg_err *err)
{
	bool part = h->features[0] >> HLG_FEATURE_DIR_FORMAT & 1;
	char *beside;
	int there;

	if (!part || pd->host.directory)
		return 0;
	if (asprintf(&beside, "%s.0", pd->path) < 0)
		return hlg_err_memory(err, pd->path);
	there = access(beside, F_OK);
	free(beside);
	if (there != 0)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is one part of a recording (name the directory)",
			   pd->path);
}

static int read_header(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err)
{
	struct hlg_file_header h = {0};
	int rc;

	if (file_size < HLG_SHORT_HEADER_SIZE)
		return bad(pd, "ends within its header", err);
	rc = read_at(pd, &h, HLG_SHORT_HEADER_SIZE, 0, err);
	if (rc < 0)
		return rc;
	if (h.size != sizeof(h) && h.size != HLG_SHORT_HEADER_SIZE)
		return bad(pd, "has a header of no known size", err);
	if (file_size < h.size)
		return bad(pd, "ends within its header", err);
	rc = read_at(pd, &h, h.size, 0, err);
	if (rc == 0)
		rc = check_alone(pd, &h, err);
	if (rc == 0)
		rc = set_data(pd, &h, file_size, err);
	if (rc == 0)
		rc = read_attrs(pd, &h, file_size, err);
	if (rc == 0)
		rc = read_features(pd, &h, file_size, err);
	return rc;
}

int hlg_header_read(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err)
{
	struct hlg_ahead ahead;
	int rc;

	ahead.at = ahead.n = 0;
	pd->ahead = &ahead;
	rc = read_header(pd, file_size, err);
	pd->ahead = NULL;
	return rc;
}

/* attr_event: the attribute, then its ids. */
static int read_attr_record(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
			    struct hlg_err *err)
{
	const uint8_t *attr = record + HLG_HEADER_SIZE;
	size_t room = size - HLG_HEADER_SIZE, own_size;
	int rc;

	if (room < PERF_ATTR_SIZE_VER0)
		return bad(pd, "a record of an event is too short", err);
	own_size = hlg_perfdata_u32(attr + offsetof(struct perf_event_attr, size));
	if (own_size < PERF_ATTR_SIZE_VER0)
		own_size = PERF_ATTR_SIZE_VER0;
	if (own_size > room)
		return bad(pd, "an event is larger than its record", err);
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
static int read_feature_record(struct hlg_perfdata *pd, const uint8_t *record,
			       size_t size, struct hlg_err *err)
{
	uint64_t feature;

	if (size < 16)
		return 0;
	feature = hlg_perfdata_u64(record + 8);
	if (feature >= HLG_FEATURES)
		return 0;
	return hlg_feature_read(pd, (unsigned)feature, record + 16, size - 16, err);
}

int hlg_header_record(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		      size_t size, struct hlg_err *err)
{
	switch (type) {
	case HLG_RECORD_HEADER_ATTR:
		return pd->host.pipe ? read_attr_record(pd, record, size, err) : 0;
	case HLG_RECORD_EVENT_UPDATE:
		return pd->host.pipe ? read_update(pd, record, size, err) : 0;
	case HLG_RECORD_HEADER_FEATURE:
		return pd->host.pipe ? read_feature_record(pd, record, size, err) : 0;
	default:
		return 0;
	}
}
