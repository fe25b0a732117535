// SPDX-License-Identifier: GPL-2.0-only
/* An ELF's DWARF: which source line is at each address, and what was inlined there. */
#include "tests/fuzz/door.h"

#include "symtab/image/image.h"
#include "tools/source/source.h"

/* Of the code of the corpus: 0x4000b0, 35 bytes. */
enum {
	FROM = 0x4000a0,
	TO = 0x4000e0,
	MOST = 8 /* functions inlined around an address */
};

static void look(struct hlg_source *source, uint64_t addr)
{
	struct hlg_source_inline inlines[MOST];
	struct hlg_source_line line;
	size_t n;

	if (hlg_source_find(source, addr, &line) && !line.file)
		door_fail("a line of no file");
	n = hlg_source_inlines(source, addr, inlines, MOST);
	if (n > MOST)
		door_fail("more functions than there is room for");
	for (size_t i = 0; i < n; i++)
		if (!inlines[i].function || !inlines[i].call.file)
			door_fail("an inlined function without name or file");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hlg_source *source;
	struct hlg_image *image;
	struct hlg_err err;

	if (hlg_image_open_elf(&image, door_path(data, size), &err) < 0)
		return 0;
	source = hlg_source_open(image, &err);
	for (uint64_t addr = FROM; source && addr < TO; addr++)
		look(source, addr);
	if (source)
		look(source, UINT64_MAX);
	hlg_source_close(source);
	hlg_image_destroy(image);
	return 0;
}
