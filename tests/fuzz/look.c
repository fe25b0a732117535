// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/look.h"

#include <stdlib.h>

#include "filter/view/place-name.h"
#include "symtab/code/code.h"
#include "symtab/image/base.h"
#include "symtab/image/space.h"
#include "tests/fuzz/door.h"

/* Of a hostile file's symbols: enough to meet each path, few enough to be fast. */
#define LOOKS 64

static void look(const struct hlg_space *space, uint64_t ip)
{
	struct hlg_place place;
	size_t n = 0;

	hlg_space_lookup(space, ip, &place);
	free(hlg_place_name(&place, true));
	if (!place.image)
		return;
	if (place.kind != HLG_DATA &&
	    (place.addr < place.start || place.addr >= place.end))
		door_fail("a place does not hold its address");
	if (place.symbol && !hlg_image_aliases(place.image, place.symbol, &n))
		door_fail("a symbol is none of its own aliases");
	if (place.kind == HLG_GAP) {
		hlg_image_neighbour(place.image, &place, -1);
		hlg_image_neighbour(place.image, &place, 1);
	}
}

static void look_around(const struct hlg_space *space, const struct hlg_image *image)
{
	for (size_t i = 0; i < image->spans.n && i < LOOKS; i++) {
		uint64_t ip = image->spans.span[i].start + image->bias;

		look(space, ip - 1);
		look(space, ip);
		look(space, ip + 1);
	}
	look(space, 0);
	look(space, UINT64_MAX);
}

static void decode(const struct hlg_image *image)
{
	struct hlg_code *code;
	struct hlg_err err;

	if (hlg_code_open(&code, image, &err) < 0)
		return;
	hlg_code_decode_all(code);
	for (size_t i = 0; i < image->spans.n && i < LOOKS; i++)
		hlg_code_test(code, image->spans.span[i].start);
	hlg_code_total(code);
	hlg_code_close(code);
}

void door_look(struct hlg_image *image)
{
	struct hlg_space space = {0};
	struct hlg_err err;
	char base[128];

	hlg_base_read(image, &err);
	hlg_base_decide(image, &err);
	hlg_base_describe(image, base, sizeof(base));
	decode(image);
	if (hlg_space_add(&space, image, &err) == 0 &&
	    hlg_space_settle(&space, &err) == 0)
		look_around(&space, image);
	hlg_space_finish(&space);
}
