// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/writer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

#define SOME 65536

static void put_u16(uint8_t *record, size_t at, uint16_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static void put_u32(uint8_t *record, size_t at, uint32_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

/* Why: what failed first, else errno says. */
static int cannot_write(const struct hlg_writer *w, struct hlg_err *err)
{
	int error = w->error ? w->error : errno;

	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: cannot be written: %s (%s, or write elsewhere)", w->path,
			   strerrordesc_np(error),
			   error == EFBIG ? "raise ulimit -f" : "make room");
}

int hlg_writer_check(const struct hlg_writer *w, struct hlg_err *err)
{
	return w->error ? cannot_write(w, err) : 0;
}

static int read_old(const struct hlg_writer *w, void *to, size_t n, uint64_t at,
		    struct hlg_err *err)
{
	if (hlg_file_read(w->pd->fd, to, n, at) == 0)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "%s: cannot be read: %s (is it changing?)",
			   w->pd->path,
			   errno ? strerrordesc_np(errno) : "it became shorter");
}

/* Bytes of the old file, in pieces. */
static int copy(struct hlg_writer *w, struct hlg_file_section s, struct hlg_err *err)
{
	uint8_t some[SOME];
	int rc = 0;

	while (rc == 0 && s.size && !w->error) {
		size_t now = s.size < SOME ? (size_t)s.size : SOME;

		rc = read_old(w, some, now, s.offset, err);
		if (rc == 0)
			hlg_writer_put(w, some, now);
		s.offset += now;
		s.size -= now;
	}
	return rc;
}

/* Has an attribute of this size anything behind its first HLG_WRITER_ATTR bytes? */
static bool is_long(const uint8_t *attr, size_t size)
{
	for (size_t i = HLG_WRITER_ATTR; i < size; i++)
		if (attr[i])
			return true;
	return false;
}

/* Where those of an event stand in the old file; its ids behind it. */
static uint64_t old_attr(const struct hlg_writer *w, uint64_t event)
{
	return w->pd->header.attrs.offset + event * w->pd->header.attr_size;
}

/* How much of each attribute is written: as little as an old perf reads, if the rest says
 * nothing in any. */
static int find_attr_size(struct hlg_writer *w, struct hlg_err *err)
{
	uint8_t attr[2 * HLG_WRITER_ATTR];
	int rc = 0;

	w->attr_size = w->pd->header.attr_size - sizeof(struct hlg_file_section);
	if (w->attr_size <= HLG_WRITER_ATTR || w->attr_size > sizeof(attr))
		return 0;
	for (uint64_t i = 0; i < w->pd->n_events; i++) {
		rc = read_old(w, attr, w->attr_size, old_attr(w, i), err);
		if (rc < 0 || is_long(attr, w->attr_size))
			return rc;
	}
	w->attr_size = HLG_WRITER_ATTR;
	return 0;
}

static int write_attr(struct hlg_writer *w, uint64_t event, struct hlg_err *err)
{
	struct hlg_file_section rest = {old_attr(w, event) + 8, w->attr_size - 8};
	uint32_t head[2]; /* struct perf_event_attr: type, size */
	int rc = read_old(w, head, sizeof(head), old_attr(w, event), err);

	if (rc < 0)
		return rc;
	if (head[1] > w->attr_size)
		head[1] = (uint32_t)w->attr_size;
	hlg_writer_put(w, head, sizeof(head));
	return copy(w, rest, err);
}

/* "Event types": ids of all events, then the attributes, each with where its ids are. */
static int write_attrs(struct hlg_writer *w, struct hlg_err *err)
{
	uint64_t size = w->pd->header.attr_size - sizeof(struct hlg_file_section);
	struct hlg_file_section ids;
	uint64_t ids_at = w->at;
	int rc = find_attr_size(w, err);

	for (uint64_t i = 0; rc == 0 && i < w->pd->n_events; i++) {
		rc = read_old(w, &ids, sizeof(ids), old_attr(w, i) + size, err);
		if (rc == 0)
			rc = copy(w, ids, err);
	}
	w->attrs_at = w->at;
	for (uint64_t i = 0; rc == 0 && i < w->pd->n_events; i++) {
		rc = read_old(w, &ids, sizeof(ids), old_attr(w, i) + size, err);
		if (rc == 0)
			rc = write_attr(w, i, err);
		ids.offset = ids_at;
		hlg_writer_put(w, &ids, sizeof(ids));
		ids_at += ids.size;
	}
	return rc;
}

/* An event in pipe mode: its attribute, then its ids. Returns the new size. */
static size_t shorten_attr(uint8_t *record, size_t size)
{
	const size_t whole = HLG_HEADER_SIZE + HLG_WRITER_ATTR;
	uint32_t own;

	if (size < whole)
		return size;
	own = hlg_perfdata_u32(record + HLG_HEADER_SIZE + 4);
	if (own <= HLG_WRITER_ATTR || own > size - HLG_HEADER_SIZE ||
	    is_long(record + HLG_HEADER_SIZE, own))
		return size;
	size -= HLG_HEADER_SIZE + own;
	memmove(record + whole, record + HLG_HEADER_SIZE + own, size);
	put_u32(record, HLG_HEADER_SIZE + 4, HLG_WRITER_ATTR);
	put_u16(record, 6, (uint16_t)(whole + size));
	return whole + size;
}

/* A perf refuses a pipe for an empty feature, as perf 5.10 writes one, and for those of
 * perf 7, if it is an older one. */
static bool is_readable(const uint8_t *feature, size_t size)
{
	return size > HLG_HEADER_SIZE + 8 &&
	       hlg_perfdata_u64(feature + HLG_HEADER_SIZE) <= HLG_FEATURE_PMU_CAPS;
}

/* The record at an offset, which was read before; to what is behind it: so many bytes of
 * its own, then the next one. */
static __attribute__((noinline)) int write_pipe_record(struct hlg_writer *w, uint64_t *at,
						       uint64_t *behind,
						       struct hlg_err *err)
{
	uint8_t record[HLG_RECORD_MAX];
	size_t size;
	uint32_t type;
	int rc = read_old(w, record, HLG_HEADER_SIZE, *at, err);

	if (rc < 0)
		return rc;
	type = hlg_perfdata_u32(record);
	size = hlg_perfdata_u32(record + 4) >> 16;
	if (size < HLG_HEADER_SIZE)
		return hlg_err_set(err, HLG_EINPUT, "%s: has changed (is it written to?)",
				   w->pd->path);
	rc = read_old(w, record, size, *at, err);
	if (rc < 0)
		return rc;
	*at += size;
	if (type == HLG_RECORD_HEADER_ATTR)
		hlg_writer_put(w, record, shorten_attr(record, size));
	else if (type != HLG_RECORD_HEADER_FEATURE || is_readable(record, size))
		hlg_writer_put(w, record, size);
	*behind = type == HLG_RECORD_TRACING_DATA && size >= HLG_HEADER_SIZE + 4
			  ? hlg_perfdata_u32(record + HLG_HEADER_SIZE)
			  : 0;
	return 0;
}

/* "Pipe-mode data": what stands for the header is records, too. */
static int write_pipe_header(struct hlg_writer *w, struct hlg_err *err)
{
	uint64_t at = HLG_PIPE_HEADER_SIZE, end = hlg_perfdata_tell(w->pd);
	uint64_t behind = 0;
	int rc = copy(w, (struct hlg_file_section){0, at}, err);

	while (rc == 0 && at < end) {
		rc = write_pipe_record(w, &at, &behind, err);
		if (rc == 0)
			rc = copy(w, (struct hlg_file_section){at, behind}, err);
		at += behind;
	}
	return rc;
}

static void write_out(struct hlg_writer *w, const void *bytes, size_t n)
{
	errno = EIO;
	if (fwrite_unlocked(bytes, 1, n, w->f) != n && !w->error)
		w->error = errno;
}

void hlg_writer_flush(struct hlg_writer *w)
{
	write_out(w, w->buffer, w->n);
	w->n = 0;
}

void hlg_writer_large(struct hlg_writer *w, const void *bytes, size_t n)
{
	hlg_writer_flush(w);
	if (n <= sizeof(w->buffer)) {
		memcpy(w->buffer, bytes, n);
		w->n = n;
	} else {
		write_out(w, bytes, n);
	}
}

int hlg_writer_begin(struct hlg_writer *w, FILE *f, const char *path,
		     const struct hlg_perfdata *pd, struct hlg_err *err)
{
	static const struct hlg_file_header none;
	int rc;

	memset(w, 0, offsetof(struct hlg_writer, buffer));
	w->pd = pd;
	w->f = f;
	w->path = path;
	if (pd->host.pipe) {
		rc = write_pipe_header(w, err);
	} else {
		hlg_writer_put(w, &none, sizeof(none));
		rc = write_attrs(w, err);
	}
	w->start = w->at;
	return rc;
}

int hlg_writer_rewind(struct hlg_writer *w, uint64_t at, struct hlg_err *err)
{
	hlg_writer_flush(w);
	if (fflush(w->f) != 0 || ftruncate(fileno(w->f), (off_t)at) != 0 ||
	    fseeko(w->f, (off_t)at, SEEK_SET) != 0)
		return cannot_write(w, err);
	w->at = at;
	return 0;
}

/* tools/lib/perf/include/perf/event.h, struct perf_record_cpu_map: what follows its u16
 * type. */
enum cpu_map {
	CPU_LIST,  /* u16 n, u16 each; 0xffff is no CPU */
	CPU_MASK,  /* u16 n, u16 bytes of a word, 4 unused if those are 8, the words */
	CPU_RANGE, /* u16 other, u16 first, u16 last */
};

static uint16_t get_u16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* As many CPUs as it takes to have those of size bytes. */
static uint32_t count_listed(const uint8_t *cpus, size_t size)
{
	uint32_t n = 0;

	for (size_t i = 0; i + 2 <= size; i += 2) {
		uint16_t cpu = get_u16(cpus + i);

		if (cpu != UINT16_MAX && cpu >= n)
			n = cpu + 1U;
	}
	return n;
}

static uint32_t count_masked(const uint8_t *mask, size_t size)
{
	while (size && !mask[size - 1])
		size--;
	if (!size)
		return 0;
	return (uint32_t)(8 * size) - (uint32_t)__builtin_clz(mask[size - 1]) + 24;
}

void hlg_writer_cpus(struct hlg_writer *w, const uint8_t *record, size_t size)
{
	const uint8_t *data = record + HLG_HEADER_SIZE + 2, *end = record + size;
	size_t left, n;
	uint32_t cpus = 0;

	if (size < HLG_HEADER_SIZE + 8)
		return;
	left = (size_t)(end - data);
	n = get_u16(data);
	switch (get_u16(data - 2)) {
	case CPU_LIST:
		n = 2 * n < left - 2 ? 2 * n : left - 2;
		cpus = count_listed(data + 2, n);
		break;
	case CPU_MASK:
		data += get_u16(data + 2) == 8 ? 8 : 4;
		n *= get_u16(record + HLG_HEADER_SIZE + 4);
		left = data < end ? (size_t)(end - data) : 0;
		cpus = count_masked(data, n < left ? n : left);
		break;
	case CPU_RANGE:
		cpus = count_listed(data + 4, 2);
		break;
	}
	w->cpus = cpus > w->cpus ? cpus : w->cpus;
}

static bool is_kept(const struct hlg_writer *w, unsigned i)
{
	if (i == HLG_FEATURE_BUILD_ID && w->build_ids_size)
		return true;
	if (i == HLG_FEATURE_NRCPUS && w->cpus)
		return true;
	if (i == HLG_FEATURE_COMPRESSED || i == HLG_FEATURE_DIR_FORMAT ||
	    i == HLG_FEATURE_AUXTRACE)
		return false;
	return w->pd->features[i].offset != 0;
}

/* Contents behind a table that tells where they are, which has one place for each. */
static int write_features(struct hlg_writer *w, struct hlg_err *err)
{
	struct hlg_file_section table[HLG_FEATURES] = {0};
	uint64_t table_at = w->at;
	size_t n = 0;
	int rc = 0;

	for (unsigned i = 0; i < HLG_FEATURES; i++)
		if (is_kept(w, i)) {
			w->has[i / 64] |= UINT64_C(1) << (i % 64);
			n++;
		}
	hlg_writer_put(w, table, n * sizeof(table[0]));
	n = 0;
	for (unsigned i = 0; rc == 0 && i < HLG_FEATURES; i++) {
		if (!is_kept(w, i))
			continue;
		table[n].offset = w->at;
		rc = copy(w, w->pd->features[i], err);
		if (i == HLG_FEATURE_BUILD_ID && w->build_ids_size)
			hlg_writer_put(w, w->build_ids, w->build_ids_size);
		if (i == HLG_FEATURE_NRCPUS && !w->pd->features[i].offset)
			hlg_writer_put(w, (uint32_t[]){w->cpus, w->cpus}, 8);
		table[n].size = w->at - table[n].offset;
		n++;
	}
	hlg_writer_flush(w);
	if (rc == 0 && (fseeko(w->f, (off_t)table_at, SEEK_SET) != 0 ||
			fwrite(table, sizeof(table[0]), n, w->f) != n))
		rc = cannot_write(w, err);
	return rc;
}

static int write_header(struct hlg_writer *w, uint64_t data_size, struct hlg_err *err)
{
	uint64_t entry = w->attr_size + sizeof(struct hlg_file_section);
	struct hlg_file_header h = {
		.magic = HLG_MAGIC_2,
		.size = sizeof(h),
		.attr_size = entry,
		.attrs = {w->attrs_at, w->pd->n_events * entry},
		.data = {w->start, data_size},
	};

	memcpy(h.features, w->has, sizeof(h.features));
	if (fseeko(w->f, 0, SEEK_SET) != 0 || fwrite(&h, sizeof(h), 1, w->f) != 1)
		return cannot_write(w, err);
	return 0;
}

int hlg_writer_finish(struct hlg_writer *w, struct hlg_err *err)
{
	uint64_t data_size = w->at - w->start;
	int rc = 0;

	hlg_writer_flush(w);
	if (!w->pd->host.pipe) {
		rc = write_features(w, err);
		if (rc == 0)
			rc = write_header(w, data_size, err);
	}
	if (rc == 0 && fflush(w->f) != 0)
		rc = cannot_write(w, err);
	return rc == 0 ? hlg_writer_check(w, err) : rc;
}

/* tools/lib/perf/include/perf/event.h: the size of a build id is told. */
#define MISC_BUILD_ID_SIZE (1 << 15)
/* struct perf_record_header_build_id: header, pid, 20 bytes of id, its size, 3 unused. */
#define BUILD_ID_ENTRY 36
#define NAME_ALIGN     64
#define ANY_PID        (-1) /* HOST_KERNEL_ID: of the host */

static void put_u64(uint8_t *record, size_t at, uint64_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

/* struct perf_event_header, and the name at fixed, to the size that is returned. */
static size_t finish_record(uint8_t *record, uint32_t type, unsigned misc, size_t fixed,
			    const char *name, size_t align, size_t trailer)
{
	size_t n = strnlen(name, PATH_MAX - 1);
	size_t size = fixed + (n + 1 + align - 1) / align * align + trailer;
	struct perf_event_header header = {type, (uint16_t)misc, (uint16_t)size};

	assert(size <= HLG_WRITER_RECORD_MAX);
	memcpy(record + fixed, name, n);
	memcpy(record, &header, sizeof(header));
	return size;
}

size_t hlg_writer_trailer(const struct hlg_perfdata *pd)
{
	const uint64_t all = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			     PERF_SAMPLE_IDENTIFIER;
	const struct perf_event_attr *attr = &hlg_perfdata_event(pd, 0)->attr;

	return attr->sample_id_all
		       ? 8 * (size_t)__builtin_popcountll(attr->sample_type & all)
		       : 0;
}

size_t hlg_writer_comm(uint8_t record[static HLG_WRITER_RECORD_MAX], int32_t pid,
		       int32_t tid, const char *name, size_t trailer)
{
	memset(record, 0, HLG_WRITER_RECORD_MAX);
	put_u32(record, 8, (uint32_t)pid);
	put_u32(record, 12, (uint32_t)tid);
	return finish_record(record, PERF_RECORD_COMM, 0, 16, name, 8, trailer);
}

size_t hlg_writer_mmap2(uint8_t record[static HLG_WRITER_RECORD_MAX],
			const struct hlg_writer_map *map, size_t trailer)
{
	unsigned misc = PERF_RECORD_MISC_USER;

	memset(record, 0, HLG_WRITER_RECORD_MAX);
	put_u32(record, 8, (uint32_t)map->pid);
	put_u32(record, 12, (uint32_t)map->pid);
	put_u64(record, 16, map->start);
	put_u64(record, 24, map->size);
	put_u64(record, 32, map->file_offset);
	if (map->build_id) {
		assert(map->build_id_size <= HLG_BUILD_ID_MAX);
		misc |= HLG_MISC_MMAP_BUILD_ID;
		record[40] = (uint8_t)map->build_id_size;
		memcpy(record + 44, map->build_id, map->build_id_size);
	}
	put_u32(record, 64, PROT_READ | (map->exec ? PROT_EXEC : 0));
	put_u32(record, 68, MAP_PRIVATE);
	return finish_record(record, PERF_RECORD_MMAP2, misc, 72, map->path, 8, trailer);
}

size_t hlg_writer_build_id(uint8_t entry[static HLG_WRITER_RECORD_MAX], const char *path,
			   const uint8_t *build_id, size_t build_id_size)
{
	assert(build_id_size <= HLG_BUILD_ID_MAX);
	memset(entry, 0, HLG_WRITER_RECORD_MAX);
	put_u32(entry, 8, (uint32_t)ANY_PID);
	memcpy(entry + 12, build_id, build_id_size);
	entry[32] = (uint8_t)build_id_size;
	/* perf leaves the type 0. */
	return finish_record(entry, 0, PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE,
			     BUILD_ID_ENTRY, path, NAME_ALIGN, 0);
}
