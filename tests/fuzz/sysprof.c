// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream of LuaJIT's sysprof; its last byte says how it is written. Each sample is in
 * one stack.
 */
#include <stdlib.h>

#include "config.h"
#include "tests/fuzz/door.h"
#include "tools/sysprof/sysprof.h"

static FILE *nowhere;

static void check(const struct hlg_sysprof *s)
{
	uint64_t stacks = 0, states = 0;

	for (uint32_t i = 0; i < s->n_stacks; i++)
		stacks += s->stacks[i].samples;
	for (unsigned i = 0; i < HLG_SYSPROF_STATES; i++)
		states += s->states[i];
	if (stacks != s->samples || states != s->samples)
		door_fail("samples are not conserved");
}

static void write_it(const struct hlg_sysprof *s, unsigned how)
{
	struct hlg_sysprof_output output = {
		.s = s,
		.mode = how % 3,
		.by_state = how & 4,
		.top = how & 8 ? 3 : 0,
		.path = "stream",
	};
	struct hlg_err err;

	switch (how >> 5 & 3) {
	case 0:
		hlg_sysprof_text(&output, nowhere, &err);
		break;
	case 1:
	case 2:
		hlg_sysprof_folded(&output, nowhere, &err);
		break;
	case 3:
#if HLG_HAVE_JANSSON
		hlg_sysprof_json(&output, nowhere, &err);
#endif
		break;
	}
	rewind(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hlg_sysprof s = {0};
	struct hlg_err err;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		door_fail("/dev/null");
	if (hlg_sysprof_read(&s, door_path(data, size), &err) == 0) {
		check(&s);
		write_it(&s, data[size - 1]);
	}
	hlg_sysprof_finish(&s);
	return 0;
}
