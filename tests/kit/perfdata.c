// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/perfdata.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kit_free(struct kit *k)
{
	free(k->at);
	*k = (struct kit){0};
}

void kit_bytes(struct kit *k, const void *bytes, size_t n)
{
	if (k->n + n > k->room) {
		k->room = 2 * (k->n + n);
		k->at = realloc(k->at, k->room);
		ck_assert_ptr_nonnull(k->at);
	}
	if (n)
		memcpy(k->at + k->n, bytes, n);
	k->n += n;
}

void kit_u32(struct kit *k, uint32_t v)
{
	kit_bytes(k, &v, sizeof(v));
}

void kit_u64(struct kit *k, uint64_t v)
{
	kit_bytes(k, &v, sizeof(v));
}

void kit_text(struct kit *k, const char *text)
{
	static const char zeros[8];
	size_t n = strlen(text);

	kit_bytes(k, text, n);
	kit_bytes(k, zeros, 8 - n % 8);
}

size_t kit_begin(struct kit *k, uint32_t type, uint16_t misc)
{
	size_t start = k->n;

	kit_u32(k, type);
	kit_bytes(k, &misc, sizeof(misc));
	misc = 0;
	kit_bytes(k, &misc, sizeof(misc));
	return start;
}

void kit_end(struct kit *k, size_t start)
{
	uint16_t size = (uint16_t)(k->n - start);

	ck_assert_uint_le(k->n - start, UINT16_MAX);
	memcpy(k->at + start + 6, &size, sizeof(size));
}

void kit_plain(struct kit *k, uint64_t ip, uint64_t period)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, HLG_MODE_GUEST_USER);

	kit_u64(k, ip);
	kit_u32(k, 11);
	kit_u32(k, 12);
	kit_u64(k, 1000 + ip);
	kit_u64(k, period);
	kit_end(k, start);
}

void kit_with_id(struct kit *k, uint64_t id, uint64_t ip)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, HLG_MODE_GUEST_USER);

	kit_u64(k, id);
	kit_u64(k, ip);
	kit_end(k, start);
}

static size_t count_ids(const struct kit_event *e)
{
	size_t n = 0;

	while (n < 4 && e->ids[n])
		n++;
	return n;
}

/* The attribute as a kernel with more or fewer fields has it. */
static void put_attr(struct kit *k, const struct perf_event_attr *attr, size_t size)
{
	uint8_t bytes[512];
	uint32_t own = (uint32_t)size;

	/* What is not known here must not matter. */
	memset(bytes, 0xa5, sizeof(bytes));
	memcpy(bytes, attr, sizeof(*attr));
	memcpy(bytes + offsetof(struct perf_event_attr, size), &own, sizeof(own));
	kit_bytes(k, bytes, size);
}

static void put_string(struct kit *k, const char *text)
{
	uint32_t room = (uint32_t)(strlen(text) / 64 + 1) * 64;
	char padded[256] = "";

	kit_u32(k, room);
	snprintf(padded, sizeof(padded), "%s", text);
	kit_bytes(k, padded, room);
}

/* "HEADER_EVENT_DESC" of perf.data-file-format.txt */
static void put_event_desc(struct kit *k, const struct kit_event *events, size_t n)
{
	kit_u32(k, (uint32_t)n);
	kit_u32(k, KIT_ATTR);
	for (size_t i = 0; i < n; i++) {
		put_attr(k, &events[i].attr, KIT_ATTR);
		kit_u32(k, (uint32_t)count_ids(&events[i]));
		put_string(k, events[i].name);
		kit_bytes(k, events[i].ids, 8 * count_ids(&events[i]));
	}
}

void kit_file(struct kit *k, const struct kit_event *events, size_t n,
	      const struct kit *records, size_t attr_size)
{
	size_t each = (attr_size ? attr_size : KIT_ATTR) + 16;
	size_t ids = 104, attrs, data, desc;
	struct kit more = {0};

	for (size_t i = 0; i < n; i++)
		ids += 8 * count_ids(&events[i]);
	attrs = ids;
	data = attrs + n * each;
	if (n && events[0].name)
		put_event_desc(&more, events, n);
	desc = data + records->n;
	/* perf_header: magic, size, attr_size, attrs, data, event_types, flags */
	kit_bytes(k, "PERFILE2", 8);
	kit_u64(k, 104);
	kit_u64(k, each);
	kit_u64(k, attrs);
	kit_u64(k, n * each);
	kit_u64(k, data);
	kit_u64(k, records->n);
	kit_u64(k, 0);
	kit_u64(k, 0);
	kit_u64(k, more.n ? 1 << 12 : 0);
	for (int i = 0; i < 3; i++)
		kit_u64(k, 0);
	for (size_t i = 0; i < n; i++)
		kit_bytes(k, events[i].ids, 8 * count_ids(&events[i]));
	ids = 104;
	for (size_t i = 0; i < n; i++) {
		put_attr(k, &events[i].attr, each - 16);
		kit_u64(k, ids);
		kit_u64(k, 8 * count_ids(&events[i]));
		ids += 8 * count_ids(&events[i]);
	}
	kit_bytes(k, records->at, records->n);
	if (more.n) {
		kit_u64(k, desc + 16);
		kit_u64(k, more.n);
		kit_bytes(k, more.at, more.n);
	}
	kit_free(&more);
}

void kit_pipe(struct kit *k, const struct kit_event *events, size_t n,
	      const struct kit *records)
{
	size_t start;

	kit_bytes(k, "PERFILE2", 8);
	kit_u64(k, 16);
	for (size_t i = 0; i < n; i++) {
		start = kit_begin(k, 64, 0); /* PERF_RECORD_HEADER_ATTR */
		put_attr(k, &events[i].attr, KIT_ATTR);
		kit_bytes(k, events[i].ids, 8 * count_ids(&events[i]));
		kit_end(k, start);
	}
	if (n && events[0].name) {
		start = kit_begin(k, 80, 0); /* PERF_RECORD_HEADER_FEATURE */
		kit_u64(k, 12);
		put_event_desc(k, events, n);
		kit_end(k, start);
	}
	kit_bytes(k, records->at, records->n);
}
