// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/json-parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "symtab/escape.h"

static bool lost; /* an allocation failed since hlg_json_begin */

static void *watched_malloc(size_t size)
{
	void *p = malloc(size);

	lost |= !p;
	return p;
}

void hlg_json_begin(void)
{
	lost = false;
	json_set_alloc_funcs(watched_malloc, free);
}

bool hlg_json_lost(void)
{
	return lost;
}

void hlg_json_watch(const void *memory)
{
	lost |= !memory;
}

json_t *hlg_json_text(const char *s)
{
	char *safe = hlg_escape_dup(s);
	json_t *json = safe ? json_string(safe) : NULL;

	hlg_json_watch(safe);
	free(safe);
	return json;
}

json_t *hlg_json_hex(uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, value);
	return json_string(buf);
}

/* JSON integers are signed here; a count beyond 2^63 is one that overflowed anyway. */
json_t *hlg_json_number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

void hlg_json_put_count(json_t *object, struct hlg_count count)
{
	json_object_set_new(object, "samples", hlg_json_number(count.samples));
	json_object_set_new(object, "period", hlg_json_number(count.period));
}

json_t *hlg_json_count(struct hlg_count count)
{
	json_t *object = json_object();

	hlg_json_put_count(object, count);
	return object;
}

json_t *hlg_json_percent(double share)
{
	return json_real((double)lround(share * 10000) / 100);
}

void hlg_json_put_share(json_t *object, const struct hlg_share *share)
{
	json_object_set_new(object, "percent", hlg_json_percent(share->share));
	json_object_set_new(object, "low", hlg_json_percent(share->low));
	json_object_set_new(object, "high", hlg_json_percent(share->high));
}

json_t *hlg_json_lines(char *const *lines, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, hlg_json_text(lines[i]));
	return list;
}

json_t *hlg_json_aliases(const struct hlg_place *place)
{
	json_t *list = json_array();
	const struct hlg_symbol *first;
	size_t n;

	if (!place->symbol)
		return list;
	first = hlg_image_aliases(place->image, place->symbol, &n);
	for (size_t i = 0; i < n; i++)
		if (&first[i] != place->symbol)
			json_array_append_new(list, hlg_json_text(hlg_image_name(
							    place->image, &first[i])));
	return list;
}
