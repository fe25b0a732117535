// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other recordings from one in file mode: a record, or a feature section, is another, is
 * there twice, or is gone; offsets and sizes around it fit. One of four times, and of
 * what is no such recording, any bytes are others.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "tests/fuzz/mutate.h"
#include "tools/perfdata/format.h"

struct part {
	size_t at, size;
};

static bool read_header(const uint8_t *data, size_t size, struct hlg_file_header *h)
{
	if (size < sizeof(*h))
		return false;
	memcpy(h, data, sizeof(*h));
	return memcmp(data, "PERFILE2", 8) == 0 && h->data.offset >= sizeof(*h) &&
	       h->data.offset <= size && h->data.size <= size - h->data.offset;
}

/* Some record of the data; none if they end before it. */
static bool pick_record(const uint8_t *data, const struct hlg_file_header *h,
			struct mutate_dice *dice, struct part *part)
{
	size_t at = h->data.offset, end = at + h->data.size, n = 0;
	struct perf_event_header record;
	bool found = false;

	/* Each as likely: the n-th takes the place of the one before with 1 / n. */
	while (end - at >= sizeof(record)) {
		memcpy(&record, data + at, sizeof(record));
		if (record.size < sizeof(record) || record.size > end - at)
			break;
		if (mutate_roll(dice, ++n) == 0) {
			*part = (struct part){at, record.size};
			found = true;
		}
		at += record.size;
	}
	return found;
}

static size_t n_features(const struct hlg_file_header *h)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(h->features) / sizeof(h->features[0]); i++)
		n += (size_t)__builtin_popcountll(h->features[i]);
	return n;
}

/* Some section of the table of features behind the data. */
static bool pick_feature(const uint8_t *data, size_t size,
			 const struct hlg_file_header *h, struct mutate_dice *dice,
			 struct part *part)
{
	size_t table = h->data.offset + h->data.size, n = n_features(h);
	struct hlg_file_section section;

	if (n == 0 || n > (size - table) / sizeof(section))
		return false;
	memcpy(&section, data + table + mutate_roll(dice, n) * sizeof(section),
	       sizeof(section));
	if (section.offset > size || section.size > size - section.offset ||
	    section.size == 0)
		return false;
	*part = (struct part){section.offset, section.size};
	return true;
}

/* What lies behind the data moves by as much as these grow, if there is room. */
static size_t resize(uint8_t *data, size_t size, size_t most, struct hlg_file_header *h,
		     const struct part *record, bool twice)
{
	const size_t behind = record->at + record->size;
	const size_t to = twice ? behind + record->size : record->at;
	const uint64_t by = (uint64_t)to - behind;
	size_t table, n;
	struct hlg_file_section section;

	if (twice && record->size > most - size)
		return size;
	memmove(data + to, data + behind, size - behind);
	if (twice)
		memcpy(data + behind, data + record->at, record->size);
	h->data.size += by;
	memcpy(data, h, sizeof(*h));
	size += by;
	table = h->data.offset + h->data.size;
	for (n = n_features(h); n && table + sizeof(section) <= size;
	     n--, table += sizeof(section)) {
		memcpy(&section, data + table, sizeof(section));
		section.offset += by;
		memcpy(data + table, &section, sizeof(section));
	}
	return size;
}

/* Types that there are, and some that there are not yet. */
static void set_type(uint8_t *record, struct mutate_dice *dice)
{
	uint32_t roll = (uint32_t)mutate_roll(dice, 48);
	uint32_t type = roll < 24 ? roll : 64 + roll - 24;

	memcpy(record, &type, sizeof(type));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	struct mutate_dice dice = {seed};
	struct hlg_file_header h;
	struct part part;

	if (mutate_roll(&dice, 4) == 0 || !read_header(data, size, &h))
		return LLVMFuzzerMutate(data, size, most);
	if (mutate_roll(&dice, 2) && pick_feature(data, size, &h, &dice, &part)) {
		mutate_inside(data + part.at, part.size);
		return size;
	}
	if (!pick_record(data, &h, &dice, &part))
		return LLVMFuzzerMutate(data, size, most);
	switch (mutate_roll(&dice, 6)) {
	case 0:
		return resize(data, size, most, &h, &part, true);
	case 1:
		return resize(data, size, most, &h, &part, false);
	case 2:
		set_type(data + part.at, &dice);
		return size;
	default:
		mutate_inside(data + part.at + sizeof(struct perf_event_header),
			      part.size - sizeof(struct perf_event_header));
		return size;
	}
}
