// SPDX-License-Identifier: GPL-2.0-only
/*
 * Features: what a recording tells about its host and its events besides the attributes
 * ("Flags section" of perf.data-file-format.txt). All of it is optional: what is
 * malformed is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

struct blob {
	const uint8_t *at;
	size_t rest;
};

static const uint8_t *take(struct blob *b, uint64_t n)
{
	const uint8_t *at = b->at;

	if (n > b->rest)
		return NULL;
	b->at += n;
	b->rest -= n;
	return at;
}

static bool take_u32(struct blob *b, uint32_t *v)
{
	const uint8_t *at = take(b, sizeof(*v));

	if (at)
		*v = hlg_perfdata_u32(at);
	return at != NULL;
}

static bool take_u64(struct blob *b, uint64_t *v)
{
	const uint8_t *at = take(b, sizeof(*v));

	if (at)
		*v = hlg_perfdata_u64(at);
	return at != NULL;
}

/* perf_header_string: u32 room, text with NULs behind it. */
static bool take_string(struct blob *b, const char **text, size_t *length)
{
	uint32_t room;

	if (!take_u32(b, &room))
		return false;
	*text = (const char *)take(b, room);
	if (!*text)
		return false;
	*length = strnlen(*text, room);
	return true;
}

static int keep_string(struct hlg_perfdata *pd, char **to, struct blob *b,
		       struct hlg_err *err)
{
	const char *text;
	size_t length;
	char *copy;

	if (!take_string(b, &text, &length))
		return 0;
	copy = strndup(text, length);
	if (!copy)
		return hlg_err_memory(err, pd->path);
	free(*to);
	*to = copy;
	return 0;
}

/* u32 n, n strings: to one, with blanks between. */
static int keep_command(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	char *joined = malloc(b->rest + 1), *p = joined;
	const char *text;
	uint32_t n = 0;
	size_t length;

	if (!joined)
		return hlg_err_memory(err, pd->path);
	if (!take_u32(b, &n))
		n = 0;
	/* A word's size takes more room than the blank. */
	while (n-- && take_string(b, &text, &length)) {
		if (p > joined)
			*p++ = ' ';
		memcpy(p, text, length);
		p += length;
	}
	*p = '\0';
	free(pd->host.command);
	pd->host.command = joined;
	return 0;
}

/* "HEADER_EVENT_DESC": an event is known by its place, as perf has it. */
static int read_event_desc(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	uint32_t n, attr_size, n_ids;
	const char *text;
	size_t length;
	int rc = 0;

	if (!take_u32(b, &n) || !take_u32(b, &attr_size))
		return 0;
	for (uint32_t i = 0; rc == 0 && i < n && i < pd->n_events; i++) {
		if (!take(b, attr_size) || !take_u32(b, &n_ids) ||
		    !take_string(b, &text, &length) || !take(b, 8 * (uint64_t)n_ids))
			return 0;
		rc = hlg_attrs_name(pd, i, strndup(text, length), err);
	}
	return rc;
}

/* "HEADER_GROUP_DESC": nr_members counts the leader. An event is in one group: what is
 * said of more events than there are is no work for us. */
static void read_group_desc(struct hlg_perfdata *pd, struct blob *b)
{
	uint32_t n, leader, members, told = 0;
	const char *text;
	size_t length;

	if (!take_u32(b, &n))
		return;
	while (n-- && take_string(b, &text, &length) && take_u32(b, &leader) &&
	       take_u32(b, &members)) {
		for (uint32_t i = leader; members && i < pd->n_events; i++, members--) {
			if (told++ == pd->n_events)
				return;
			pd->events[i]->leader = leader;
		}
	}
}

static void read_numbers(struct hlg_perfdata *pd, unsigned feature, struct blob *b)
{
	uint32_t version, type, level, cpus[2];
	uint64_t times[2];

	/* perf writes first how many there are, then how many are online. */
	if (feature == HLG_FEATURE_NRCPUS && take_u32(b, &cpus[0]) &&
	    take_u32(b, &cpus[1])) {
		pd->host.cpus_available = cpus[0];
		pd->host.cpus_online = cpus[1];
	}
	if (feature == HLG_FEATURE_SAMPLE_TIME && take_u64(b, &times[0]) &&
	    take_u64(b, &times[1])) {
		pd->host.first_time = times[0];
		pd->host.last_time = times[1];
	}
	/* u32 version, type, level, ratio, mmap_len */
	if (feature == HLG_FEATURE_COMPRESSED && take_u32(b, &version) &&
	    take_u32(b, &type) && take_u32(b, &level)) {
		pd->host.compressed = true;
		pd->host.zstd_level = type == HLG_ZSTD ? level : 0;
	}
}

int hlg_feature_read(struct hlg_perfdata *pd, unsigned feature, const uint8_t *data,
		     size_t size, struct hlg_err *err)
{
	struct blob b = {data, size};

	switch (feature) {
	case HLG_FEATURE_HOSTNAME:
		return keep_string(pd, &pd->host.hostname, &b, err);
	case HLG_FEATURE_OSRELEASE:
		return keep_string(pd, &pd->host.release, &b, err);
	case HLG_FEATURE_VERSION:
		return keep_string(pd, &pd->host.perf_version, &b, err);
	case HLG_FEATURE_ARCH:
		return keep_string(pd, &pd->host.arch, &b, err);
	case HLG_FEATURE_CPUDESC:
		return keep_string(pd, &pd->host.cpu, &b, err);
	case HLG_FEATURE_CPUID:
		return keep_string(pd, &pd->host.cpuid, &b, err);
	case HLG_FEATURE_CMDLINE:
		return keep_command(pd, &b, err);
	case HLG_FEATURE_EVENT_DESC:
		return read_event_desc(pd, &b, err);
	case HLG_FEATURE_GROUP_DESC:
		read_group_desc(pd, &b);
		return 0;
	default:
		read_numbers(pd, feature, &b);
		return 0;
	}
}

void hlg_feature_finish(struct hlg_perfdata_host *host)
{
	free(host->perf_version);
	free(host->hostname);
	free(host->release);
	free(host->arch);
	free(host->cpu);
	free(host->cpuid);
	free(host->command);
}

/*
 * "HEADER_BUILD_ID": struct build_id_event one after the other (tools/perf/util/
 * build-id.h and tools/lib/perf/include/perf/event.h, struct
 * perf_record_header_build_id): a header, i32 pid, 24 bytes with the id, of which the
 * 21st is its size if the header's misc says so, and the path.
 */

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
		return hlg_window_errno(pd->path, err);
	}
	for (size_t at = 0; ok && (size = read_one(&build_id, data + at, n - at));
	     at += size)
		ok = found(ctx, &build_id);
	free(data);
	return ok ? 0 : hlg_err_memory(err, pd->path);
}
