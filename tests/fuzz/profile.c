// SPDX-License-Identifier: GPL-2.0-only
/*
 * A saved profile: as the file is, and, so that the fuzzer need not learn gzip, the same
 * bytes as what is inside of one. Read, and summed with itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/fuzz/door.h"
#include "tools/pprof/pprof.h"

static FILE *nowhere;

static void use(const void *data, size_t size)
{
	const struct hlg_space space = {0};
	char *path = strdup(door_path(data, size)), *paths[] = {path, path};
	struct hlg_pprof_merging merging = {
		.paths = paths, .n = 2, .threads = 1, .failures = HLG_PPROF_WARN};
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_recording_sums sums;
	struct hlg_stacks stacks = {0};
	struct hlg_host host = {0};
	const struct hlg_pprof_how how = {.stay = size % 2 == 0};
	struct hlg_err err;

	if (!path || hlg_options_parse(&options, 0, NULL, &err) < 0 ||
	    !hlg_profile_init(&profile, &options) || !hlg_stacks_init(&stacks, &options))
		door_fail("options");
	if (hlg_pprof_is(path))
		hlg_pprof_read(path, &space, &how, &profile, &host, &stacks, &sums, &err);
	hlg_host_finish(&host);
	hlg_stacks_finish(&stacks);
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
	hlg_pprof_merge(&merging, NULL, nowhere, &err);
	free(merging.left_out);
	rewind(nowhere);
	free(path);
}

/*
 * The bytes as gzip has them where it does not compress: its header, one block of deflate
 * that is stored (at most 65,535 bytes), sum and size (RFC 1952, 2.3; RFC 1951, 3.2.4).
 */
static size_t pack(uint8_t *to, const uint8_t *data, uint16_t size)
{
	static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1};
	const uint16_t sizes[] = {size, (uint16_t)~size};
	const uint32_t tail[] = {(uint32_t)crc32(0, data, size), size};

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), sizes, sizeof(sizes));
	if (size)
		memcpy(to + sizeof(head) + sizeof(sizes), data, size);
	memcpy(to + sizeof(head) + sizeof(sizes) + size, tail, sizeof(tail));
	return sizeof(head) + sizeof(sizes) + size + sizeof(tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *packed;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		door_fail("/dev/null");
	if (size <= UINT16_MAX) {
		packed = malloc(size + 64);
		if (!packed)
			door_fail("no memory");
		use(packed, pack(packed, data, (uint16_t)size));
		free(packed);
	}
	use(data, size);
	return 0;
}
