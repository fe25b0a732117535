// SPDX-License-Identifier: GPL-2.0-only
/*
 * A saved profile: as the file is, and, so that the fuzzer need not learn gzip, the same
 * bytes as what is inside of one. Read, and summed with itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../../tools/pprof/pprof.h"
#include "door.h"

static FILE *nowhere;

static void use(const void *data, size_t size)
{
	const struct hlg_space space = {0};
	const struct hlg_feed_how how = {.threads = 1, .space = &space};
	char *path = strdup(door_path(data, size)), *paths[] = {path, path};
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_feed_sums sums;
	struct hlg_host host = {0};
	struct hlg_err err;

	if (!path || hlg_options_parse(&options, 0, NULL, &err) < 0 ||
	    !hlg_profile_init(&profile, &options))
		door_fail("options");
	if (hlg_pprof_is(path))
		hlg_pprof_read(path, &how, &profile, &host, &sums, &err);
	hlg_host_finish(&host);
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
	hlg_pprof_merge(paths, 2, NULL, nowhere, NULL, &err);
	rewind(nowhere);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *packed;
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size};

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	/* 16: with the header of gzip (zlib.h); level 0 copies. */
	if (!nowhere || deflateInit2(&z, 0, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY))
		door_fail("zlib");
	/* deflateBound() is too small for no bytes at level 0. */
	z.avail_out = (uInt)deflateBound(&z, size) + 64;
	packed = malloc(z.avail_out);
	z.next_out = packed;
	if (!packed || deflate(&z, Z_FINISH) != Z_STREAM_END)
		door_fail("zlib");
	use(packed, z.total_out);
	deflateEnd(&z);
	free(packed);
	use(data, size);
	return 0;
}
