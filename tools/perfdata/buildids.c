// SPDX-License-Identifier: GPL-2.0-only
/*
 * "HEADER_BUILD_ID": struct build_id_event one after the other (tools/perf/util/
 * build-id.h and tools/lib/perf/include/perf/event.h, struct
 * perf_record_header_build_id): a header, i32 pid, 24 bytes with the id, of which the
 * 21st is its size if the header's misc says so, and the path.
 */
#include <stdlib.h>
#include <string.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

enum {
	PID = HLG_HEADER_SIZE,
	ID = PID + 4,
	ID_MAX = 20,
	PATH = ID + 24
};

#define HAS_SIZE (1u << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */

/* The record at at, of rest bytes; its size, or 0 at the end. */
static size_t read_one(struct hlg_perfdata_build_id *b, const uint8_t *at, size_t rest)
{
	uint64_t header;
	size_t size;

	if (rest <= PATH)
		return 0;
	header = hlg_perfdata_u64(at);
	size = header >> 48;
	if (size <= PATH || size > rest || !memchr(at + PATH, 0, size - PATH))
		return 0;
	*b = (struct hlg_perfdata_build_id){
		.path = (const char *)at + PATH,
		.cpumode = header >> 32 & PERF_RECORD_MISC_CPUMODE_MASK,
		.size = header >> 32 & HAS_SIZE ? at[ID + ID_MAX] : ID_MAX,
		.id = at + ID};
	return b->size && b->size <= ID_MAX ? size : 0;
}

int hlg_perfdata_build_ids(const struct hlg_perfdata *pd,
			   bool (*found)(void *ctx,
					 const struct hlg_perfdata_build_id *build_id),
			   void *ctx, struct hlg_err *err)
{
	struct hlg_perfdata_build_id build_id;
	size_t n = pd->build_ids.size, size;
	uint8_t *data;
	bool ok = true;

	if (n == 0 || n > HLG_MAX_FEATURE)
		return 0;
	data = malloc(n);
	if (!data)
		return hlg_err_memory(err, pd->path);
	if (hlg_file_read(pd->fd, data, n, pd->build_ids.offset)) {
		free(data);
		return hlg_perfdata_source_errno(pd->path, err);
	}
	for (size_t at = 0; ok && (size = read_one(&build_id, data + at, n - at));
	     at += size)
		ok = found(ctx, &build_id);
	free(data);
	return ok ? 0 : hlg_err_memory(err, pd->path);
}
