// SPDX-License-Identifier: GPL-2.0-only
#include "tests/bench/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t field_bit[FIELD_COUNT] = {
	[FIELD_IDENTIFIER] = PERF_SAMPLE_IDENTIFIER,
	[FIELD_IP] = PERF_SAMPLE_IP,
	[FIELD_TID] = PERF_SAMPLE_TID,
	[FIELD_TIME] = PERF_SAMPLE_TIME,
	[FIELD_ADDR] = PERF_SAMPLE_ADDR,
	[FIELD_ID] = PERF_SAMPLE_ID,
	[FIELD_STREAM_ID] = PERF_SAMPLE_STREAM_ID,
	[FIELD_CPU] = PERF_SAMPLE_CPU,
	[FIELD_PERIOD] = PERF_SAMPLE_PERIOD,
};

/* What follows TIME in the trailer that sample_id_all puts behind other records. */
static const uint64_t trailer_after_time[] = {
	PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,
	PERF_SAMPLE_CPU,
	PERF_SAMPLE_IDENTIFIER,
};

static uint64_t get_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool inside(struct file_section s, uint64_t limit)
{
	return s.offset <= limit && s.size <= limit - s.offset;
}

static const char *map_file(struct recording *r, const char *path)
{
	struct stat st;
	void *map;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return "not a regular file (give a perf.data in file mode)";
	}
	r->map_size = (uint64_t)st.st_size;
	if (r->map_size < sizeof(r->header)) {
		close(fd);
		return "too short for a perf.data (record it again)";
	}
	map = mmap(NULL, r->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return strerror(errno);
	r->map = map;
	return NULL;
}

static const char *read_header(struct recording *r)
{
	struct file_header *h = &r->header;

	memcpy(h, r->map, sizeof(*h));
	if (memcmp(h->magic, "PERFILE2", 8) || h->size != sizeof(*h))
		return "not a perf.data in file mode (record with -o FILE, not -o -)";
	if (!h->data.size)
		return "no data size in the header (perf record was killed: record "
		       "again)";
	if (!inside(h->data, r->map_size))
		return "data section past the end of the file (record it again)";
	if (!inside(h->attrs, h->data.offset))
		return "attributes after the data (only the order of perf record is "
		       "known)";
	if (h->features[0] >> FEAT_AUXTRACE & 1)
		return "has AUX area data (record without intel_pt and the like)";
	if (h->features[0] >> FEAT_DIR_FORMAT & 1)
		return "is part of a directory (record without --threads)";
	if (h->features[0] >> FEAT_COMPRESSED & 1)
		return "is compressed (record without -z)";
	return NULL;
}

static void layout_init(struct layout *l)
{
	uint64_t type = l->attr.sample_type;
	uint16_t at = sizeof(struct perf_event_header);
	size_t i;

	for (i = 0; i < FIELD_COUNT; i++) {
		if (!(type & field_bit[i]))
			continue;
		l->at[i] = at;
		at += 8;
	}
	if (!l->attr.sample_id_all || !(type & PERF_SAMPLE_TIME))
		return;
	l->time_back = 8;
	for (i = 0; i < sizeof(trailer_after_time) / sizeof(trailer_after_time[0]); i++)
		if (type & trailer_after_time[i])
			l->time_back += 8;
}

static const char *read_layout(struct recording *r, struct layout *l,
			       const uint8_t *entry)
{
	uint64_t attr_size = r->header.attr_size - sizeof(struct file_section);
	struct file_section ids;

	memcpy(&l->attr, entry,
	       attr_size < sizeof(l->attr) ? attr_size : sizeof(l->attr));
	memcpy(&ids, entry + attr_size, sizeof(ids));
	if (!inside(ids, r->header.data.offset))
		return "event ids after the data (only the order of perf record is "
		       "known)";
	l->ids = r->map + ids.offset;
	l->n_ids = ids.size / 8;
	layout_init(l);
	if (!l->at[FIELD_TIME])
		return "samples without time (record with -T)";
	/* Counts that start again with each copy would be nonsense as deltas. */
	if (l->attr.sample_type & PERF_SAMPLE_READ)
		return "samples with counter values (record without :S)";
	return NULL;
}

/* A record must tell by itself which attribute it belongs to. */
static const char *check_layouts(const struct recording *r)
{
	const struct layout *first = &r->layouts[0];
	uint32_t i;

	for (i = 1; i < r->n_layouts; i++) {
		const struct layout *l = &r->layouts[i];

		if (l->at[FIELD_IDENTIFIER] != first->at[FIELD_IDENTIFIER])
			return "only some events have an IDENTIFIER (record one event)";
		if (!first->at[FIELD_IDENTIFIER] &&
		    (l->at[FIELD_ID] != first->at[FIELD_ID] ||
		     l->time_back != first->time_back))
			return "samples do not tell their event (record one event)";
	}
	return NULL;
}

static const char *read_layouts(struct recording *r)
{
	const struct file_header *h = &r->header;
	uint64_t i, n;

	if (h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct file_section))
		return "attributes smaller than the first perf's (record it again)";
	n = h->attrs.size / h->attr_size;
	if (!n || n > UINT32_MAX)
		return "no event attributes (record it again)";
	r->layouts = calloc(n, sizeof(*r->layouts));
	if (!r->layouts)
		return strerror(ENOMEM);
	r->n_layouts = (uint32_t)n;
	for (i = 0; i < n; i++) {
		const uint8_t *entry = r->map + h->attrs.offset + i * h->attr_size;
		const char *problem = read_layout(r, &r->layouts[i], entry);

		if (problem)
			return problem;
	}
	return check_layouts(r);
}

static bool find_id(const struct recording *r, uint64_t id, uint32_t *layout)
{
	uint32_t i;
	uint64_t k;

	for (i = 0; i < r->n_layouts; i++) {
		for (k = 0; k < r->layouts[i].n_ids; k++) {
			if (get_u64(r->layouts[i].ids + 8 * k) != id)
				continue;
			*layout = i;
			return true;
		}
	}
	return false;
}

static const char *read_sample(struct recording *r, struct record *rec)
{
	const struct layout *l = &r->layouts[0];
	uint16_t at = l->at[FIELD_IDENTIFIER] ? l->at[FIELD_IDENTIFIER] : l->at[FIELD_ID];
	size_t i;

	if (r->n_layouts > 1 && at) {
		if (at + 8u > rec->size)
			return "sample too short for its event (record it again)";
		if (!find_id(r, get_u64(r->map + rec->offset + at), &rec->layout))
			return "sample of an unknown event (record it again)";
		l = &r->layouts[rec->layout];
	}
	for (i = 0; i < FIELD_COUNT; i++)
		if (l->at[i] && l->at[i] + 8u > rec->size)
			return "sample too short for its event (record it again)";
	rec->time = get_u64(r->map + rec->offset + l->at[FIELD_TIME]);
	return NULL;
}

static const char *read_other(struct recording *r, struct record *rec)
{
	const uint8_t *end = r->map + rec->offset + rec->size;
	uint16_t back;

	if (rec->type == PERF_USER_COMPRESSED || rec->type == PERF_USER_COMPRESSED2)
		return "is compressed (record without -z)";
	if (rec->type == PERF_RECORD_AUX || (rec->type >= PERF_USER_AUXTRACE_INFO &&
					     rec->type <= PERF_USER_AUXTRACE_ERROR))
		return "has AUX area data (record without intel_pt and the like)";
	if (rec->type >= PERF_USER_FIRST)
		return NULL;
	/* Records that perf made up have id 0 and belong to no event in particular. */
	if (r->layouts[0].at[FIELD_IDENTIFIER] && r->layouts[0].attr.sample_id_all &&
	    rec->size >= sizeof(struct perf_event_header) + 8)
		find_id(r, get_u64(end - 8), &rec->layout);
	back = r->layouts[rec->layout].time_back;
	if (!back)
		return NULL;
	if (rec->size < sizeof(struct perf_event_header) + back)
		return "record too short for its trailer (record it again)";
	rec->time = get_u64(end - back);
	return NULL;
}

static const char *push(struct records *list, const struct record *rec)
{
	if (list->n == list->room) {
		uint64_t room = list->room ? list->room * 2 : 1024;
		void *at = realloc(list->at, room * sizeof(*list->at));

		if (!at)
			return strerror(ENOMEM);
		list->at = at;
		list->room = room;
	}
	list->at[list->n++] = *rec;
	return NULL;
}

static const char *read_record(struct recording *r, uint64_t offset, uint16_t size,
			       uint32_t type)
{
	struct record rec = {.offset = offset, .size = size, .type = (uint16_t)type};
	const char *problem;

	if (type == PERF_USER_FINISHED_ROUND)
		return NULL;
	if (type > UINT16_MAX)
		return "record of an unknown type (record it again)";
	if (type == PERF_RECORD_SAMPLE) {
		problem = read_sample(r, &rec);
		return problem ? problem : push(&r->samples, &rec);
	}
	problem = read_other(r, &rec);
	return problem ? problem : push(&r->others, &rec);
}

static const char *read_records(struct recording *r)
{
	uint64_t at = r->header.data.offset;
	uint64_t end = at + r->header.data.size;

	while (at < end) {
		struct perf_event_header h;
		const char *problem;

		if (end - at < sizeof(h))
			return "last record is torn (record it again)";
		memcpy(&h, r->map + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - at)
			return "record of an impossible size (record it again)";
		problem = read_record(r, at, h.size, h.type);
		if (problem)
			return problem;
		at += h.size;
	}
	return r->samples.n ? NULL : "no samples (record for longer)";
}

static int by_time(const void *pa, const void *pb)
{
	const struct record *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void records_sort(struct records *list)
{
	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), by_time);
}

const char *recording_open(struct recording *r, const char *path)
{
	const char *problem;

	memset(r, 0, sizeof(*r));
	problem = map_file(r, path);
	if (!problem)
		problem = read_header(r);
	if (!problem)
		problem = read_layouts(r);
	if (!problem)
		problem = read_records(r);
	if (problem)
		return problem;
	records_sort(&r->samples);
	records_sort(&r->others);
	return NULL;
}

void recording_close(struct recording *r)
{
	if (r->map)
		munmap((void *)r->map, r->map_size);
	free(r->layouts);
	free(r->samples.at);
	free(r->others.at);
	memset(r, 0, sizeof(*r));
}

uint64_t recording_field(const struct recording *r, const struct record *rec,
			 enum field field, uint64_t absent)
{
	uint16_t at = r->layouts[rec->layout].at[field];

	return at ? get_u64(r->map + rec->offset + at) : absent;
}
