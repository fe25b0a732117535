// SPDX-License-Identifier: GPL-2.0-only
#include "filter/options/number.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/err.h"
#include "symtab/grow.h"

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Reads the digits at *s; false when there are none or too many. */
static bool read_digits(const char **s, unsigned base, uint64_t *value)
{
	const char *p = *s;

	*value = 0;
	for (; digit(*p) < (int)base; p++)
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (uint64_t)digit(*p), value))
			return false;
	if (p == *s)
		return false;
	*s = p;
	return true;
}

static bool read_number(const char **s, uint64_t *value)
{
	if ((*s)[0] == '0' && ((*s)[1] | 0x20) == 'x') {
		*s += 2;
		return read_digits(s, 16, value);
	}
	return read_digits(s, 10, value);
}

bool hlg_number_u64(const char *s, uint64_t *value)
{
	return read_number(&s, value) && *s == '\0';
}

bool hlg_number_size(const char *s, uint64_t *value)
{
	static const char units[] = "kmg";
	const char *unit;

	if (!read_number(&s, value))
		return false;
	if (*s == '\0')
		return true;
	unit = strchr(units, *s | 0x20);
	if (!unit || s[1] != '\0')
		return false;
	return !__builtin_mul_overflow(*value, UINT64_C(1) << 10 * (unit - units + 1),
				       value);
}

/* In units of 10^-9, and then of per of these, cut off. */
static bool read_fraction(const char *s, uint64_t per, uint64_t *value)
{
	uint64_t places = 0;
	int left = 9;

	if (!read_digits(&s, 10, value) ||
	    __builtin_mul_overflow(*value, UINT64_C(1000000000) / per, value))
		return false;
	if (*s == '.')
		for (s++; left && digit(*s) < 10; left--)
			places = places * 10 + (uint64_t)digit(*s++);
	for (; left; left--)
		places *= 10;
	return *s == '\0' && !__builtin_add_overflow(*value, places / per, value);
}

bool hlg_number_nano(const char *s, uint64_t *value)
{
	return read_fraction(s, 1, value);
}

bool hlg_number_time(const char *s, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t per; /* of 10^-9 units a ns */
	} units[] = {
		{"ns", 1000000000}, {"us", 1000000}, {"ms", 1000}, {"s", 1}, {"", 1}};
	size_t n = strspn(s, "0123456789.");
	char number[32];

	if (n >= sizeof(number))
		return false;
	memcpy(number, s, n);
	number[n] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(s + n, units[i].unit) == 0)
			return read_fraction(number, units[i].per, ns);
	return false;
}

static bool read_id(const char **s, uint32_t *id)
{
	uint64_t value;

	if (!read_number(s, &value) || value > INT32_MAX)
		return false;
	*id = (uint32_t)value;
	return true;
}

static bool append(struct hlg_number_list *list, uint32_t first, uint32_t last)
{
	if (!HLG_GROW(list->range, list->n))
		return false;
	list->range[list->n].first = first;
	list->range[list->n++].last = last;
	return true;
}

int hlg_number_list_parse(struct hlg_number_list *list, const char *s)
{
	*list = (struct hlg_number_list){0};
	for (;;) {
		uint32_t first, last;

		if (!read_id(&s, &first))
			return HLG_EINPUT;
		last = first;
		if (*s == '-' && (s++, !read_id(&s, &last)))
			return HLG_EINPUT;
		if (last < first)
			return HLG_EINPUT;
		if (!append(list, first, last))
			return HLG_ESYSTEM;
		if (*s == '\0')
			return 0;
		if (*s++ != ',')
			return HLG_EINPUT;
	}
}

bool hlg_number_list_has(const struct hlg_number_list *list, int32_t value)
{
	for (size_t i = 0; i < list->n; i++)
		if (value >= (int32_t)list->range[i].first &&
		    value <= (int32_t)list->range[i].last)
			return true;
	return false;
}

void hlg_number_list_finish(struct hlg_number_list *list)
{
	free(list->range);
	*list = (struct hlg_number_list){0};
}
