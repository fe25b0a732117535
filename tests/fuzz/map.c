// SPDX-License-Identifier: GPL-2.0-only
/* A perf map. */
#include "tests/fuzz/door.h"
#include "tests/fuzz/look.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hlg_image *image;
	struct hlg_err err;

	if (hlg_image_open_map(&image, door_path(data, size), &err) == 0)
		door_look(image);
	return 0;
}
