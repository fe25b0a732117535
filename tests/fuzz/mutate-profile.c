// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other profiles from one that is not packed: a field of the message is another, is there
 * twice, or is gone; or a field inside of it is another (protobuf.dev, "Encoding"). One
 * of four times, and of what is no message, any bytes are others.
 */
#include "tests/fuzz/mutate.h"

/* A field: from its tag to its end, and where its content begins. */
struct field {
	size_t at, content, end;
	unsigned wire;
};

static bool take_varint(const uint8_t *data, size_t size, size_t *at, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
		uint8_t byte = data[(*at)++];

		*value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

static bool take_field(const uint8_t *data, size_t size, struct field *field)
{
	size_t at = field->end;
	uint64_t tag, n = 0;

	field->at = field->content = at;
	if (!take_varint(data, size, &at, &tag))
		return false;
	field->wire = tag & 7;
	field->content = at;
	switch (field->wire) {
	case 0:
		if (!take_varint(data, size, &at, &n))
			return false;
		n = 0;
		break;
	case 1:
		n = 8;
		break;
	case 2:
		if (!take_varint(data, size, &at, &n))
			return false;
		field->content = at;
		break;
	case 5:
		n = 4;
		break;
	default:
		return false;
	}
	if (n > size - at)
		return false;
	field->end = at + n;
	return true;
}

/* Some field; false unless all of the bytes are fields. */
static bool pick(const uint8_t *data, size_t size, struct mutate_dice *dice,
		 struct field *field)
{
	struct field next = {0};
	size_t n = 0;

	/* Each as likely: the n-th takes the place of the one before with 1 / n. */
	while (next.end < size) {
		if (!take_field(data, size, &next))
			return false;
		if (mutate_roll(dice, ++n) == 0)
			*field = next;
	}
	return n > 0;
}

/* A field, or one in it, and so on. */
static void change(uint8_t *data, size_t size, struct mutate_dice *dice)
{
	struct field field;

	while (mutate_roll(dice, 4) && pick(data, size, dice, &field) &&
	       field.content < field.end) {
		data += field.content;
		size = field.end - field.content;
	}
	mutate_inside(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	struct mutate_dice dice = {seed};
	struct field field;
	size_t n;

	if (mutate_roll(&dice, 4) == 0 || !pick(data, size, &dice, &field))
		return LLVMFuzzerMutate(data, size, most);
	n = field.end - field.at;
	switch (mutate_roll(&dice, 6)) {
	case 0:
		if (n > most - size)
			return size;
		memmove(data + field.end + n, data + field.end, size - field.end);
		memcpy(data + field.end, data + field.at, n);
		return size + n;
	case 1:
		memmove(data + field.at, data + field.end, size - field.end);
		return size - n;
	default:
		change(data + field.content, field.end - field.content, &dice);
		return size;
	}
}
