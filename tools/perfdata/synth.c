// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/synth.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

/* linux/perf_event.h of 5.12: a build id stands where the device would. */
#define MISC_MMAP_BUILD_ID (1 << 14)
/* tools/lib/perf/include/perf/event.h: the size of a build id is told. */
#define MISC_BUILD_ID_SIZE (1 << 15)
/* struct perf_record_header_build_id: header, pid, 20 bytes of id, its size, 3 unused. */
#define BUILD_ID_ENTRY 36
#define NAME_ALIGN     64
#define ANY_PID        (-1) /* HOST_KERNEL_ID: of the host */

static void put(uint8_t *record, size_t at, const void *value, size_t size)
{
	memcpy(record + at, value, size);
}

static void put_u32(uint8_t *record, size_t at, uint32_t value)
{
	put(record, at, &value, sizeof(value));
}

static void put_u64(uint8_t *record, size_t at, uint64_t value)
{
	put(record, at, &value, sizeof(value));
}

/* struct perf_event_header, and the name at fixed, to the size that is returned. */
static size_t finish(uint8_t *record, uint32_t type, unsigned misc, size_t fixed,
		     const char *name, size_t align, size_t trailer)
{
	size_t n = strnlen(name, PATH_MAX - 1);
	size_t size = fixed + (n + 1 + align - 1) / align * align + trailer;
	struct perf_event_header header = {type, (uint16_t)misc, (uint16_t)size};

	assert(size <= HLG_SYNTH_MAX);
	put(record, fixed, name, n);
	put(record, 0, &header, sizeof(header));
	return size;
}

size_t hlg_synth_trailer(const struct hlg_perfdata *pd)
{
	const uint64_t all = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			     PERF_SAMPLE_IDENTIFIER;
	const struct perf_event_attr *attr = &hlg_perfdata_event(pd, 0)->attr;

	return attr->sample_id_all
		       ? 8 * (size_t)__builtin_popcountll(attr->sample_type & all)
		       : 0;
}

size_t hlg_synth_comm(uint8_t record[static HLG_SYNTH_MAX], int32_t pid, int32_t tid,
		      const char *name, size_t trailer)
{
	memset(record, 0, HLG_SYNTH_MAX);
	put_u32(record, 8, (uint32_t)pid);
	put_u32(record, 12, (uint32_t)tid);
	return finish(record, PERF_RECORD_COMM, 0, 16, name, 8, trailer);
}

size_t hlg_synth_mmap2(uint8_t record[static HLG_SYNTH_MAX],
		       const struct hlg_synth_map *map, size_t trailer)
{
	unsigned misc = PERF_RECORD_MISC_USER;

	memset(record, 0, HLG_SYNTH_MAX);
	put_u32(record, 8, (uint32_t)map->pid);
	put_u32(record, 12, (uint32_t)map->pid);
	put_u64(record, 16, map->start);
	put_u64(record, 24, map->size);
	put_u64(record, 32, map->file_offset);
	if (map->build_id) {
		assert(map->build_id_size <= HLG_BUILD_ID_MAX);
		misc |= MISC_MMAP_BUILD_ID;
		record[40] = (uint8_t)map->build_id_size;
		put(record, 44, map->build_id, map->build_id_size);
	}
	put_u32(record, 64, PROT_READ | (map->exec ? PROT_EXEC : 0));
	put_u32(record, 68, MAP_PRIVATE);
	return finish(record, PERF_RECORD_MMAP2, misc, 72, map->path, 8, trailer);
}

size_t hlg_synth_build_id(uint8_t entry[static HLG_SYNTH_MAX], const char *path,
			  const uint8_t *build_id, size_t build_id_size)
{
	assert(build_id_size <= HLG_BUILD_ID_MAX);
	memset(entry, 0, HLG_SYNTH_MAX);
	put_u32(entry, 8, (uint32_t)ANY_PID);
	put(entry, 12, build_id, build_id_size);
	entry[32] = (uint8_t)build_id_size;
	/* perf leaves the type 0. */
	return finish(entry, 0, PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE,
		      BUILD_ID_ENTRY, path, NAME_ALIGN, 0);
}
