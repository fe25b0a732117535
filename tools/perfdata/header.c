// SPDX-License-Identifier: GPL-2.0-only
/*
 * The header of a recording: in file mode what the file begins with, in pipe mode records
 * ("Pipe-mode data") before the first sample. Nothing in it is believed: sections must
 * lie in the file, and memory is taken only for what the file really has.
 *
 * Features are what a recording tells about its host and its events besides the
 * attributes ("Flags section" of perf.data-file-format.txt). All of them are optional:
 * what is malformed is left out.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

#define SOME_IDS 512

static bool inside(struct hlg_file_section s, uint64_t limit)
{
	return s.offset <= limit && s.size <= limit - s.offset;
}

static int bad(const struct hlg_perfdata *pd, const char *problem, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s (damaged; record again)", pd->path,
			   problem);
}

static int read_at(const struct hlg_perfdata *pd, void *to, size_t size, uint64_t at,
		   struct hlg_err *err)
{
	return hlg_file_read(pd->fd, to, size, at) ? hlg_window_errno(pd->path, err) : 0;
}

static int read_ids(struct hlg_perfdata *pd, uint32_t event, struct hlg_file_section ids,
		    struct hlg_err *err)
{
	uint64_t n = ids.size / 8;
	uint8_t some[8 * SOME_IDS];
	int rc = 0;

	while (rc == 0 && n) {
		uint64_t now = n < SOME_IDS ? n : SOME_IDS;

		rc = read_at(pd, some, 8 * now, ids.offset, err);
		if (rc == 0)
			rc = hlg_attrs_add_ids(pd, event, some, now, err);
		ids.offset += 8 * now;
		n -= now;
	}
	return rc;
}

/* The first perf's attributes said 0. */
static uint32_t own_size(const uint8_t *attr)
{
	uint32_t size = hlg_perfdata_u32(attr + offsetof(struct perf_event_attr, size));

	return size < PERF_ATTR_SIZE_VER0 ? PERF_ATTR_SIZE_VER0 : size;
}

/* "Event types": an attribute as old or new as it likes, then the section of its ids. */
static int read_attr(struct hlg_perfdata *pd, uint64_t at, uint64_t attr_size,
		     uint64_t file_size, uint64_t *ids_size, struct hlg_err *err)
{
	uint8_t attr[sizeof(struct perf_event_attr)] = {0};
	struct hlg_file_section ids = {0};
	int rc;

	rc = read_at(pd, attr, attr_size < sizeof(attr) ? attr_size : sizeof(attr), at,
		     err);
	if (rc == 0)
		rc = read_at(pd, &ids, sizeof(ids), at + attr_size, err);
	if (rc < 0)
		return rc;
	if (own_size(attr) > attr_size)
		return bad(pd, "an event is larger than its place in the header", err);
	if (!inside(ids, file_size))
		return bad(pd, "ids of an event are past the end of the file", err);
	/* Nobody shares ids: all of them are in the file but once. */
	if (ids.size > file_size - *ids_size)
		return bad(pd, "ids of its events overlap", err);
	*ids_size += ids.size;
	rc = hlg_attrs_add(pd, attr, own_size(attr), err);
	return rc < 0 ? rc : read_ids(pd, pd->n_events - 1, ids, err);
}

static int read_attrs(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err)
{
	const struct hlg_file_header *h = &pd->header;
	uint64_t attr_size = h->attr_size - sizeof(struct hlg_file_section);
	uint64_t ids_size = 0;
	int rc = 0;

	if (h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct hlg_file_section))
		return bad(pd, "events in the header are too small", err);
	if (!inside(h->attrs, file_size))
		return bad(pd, "its events are past the end of the file", err);
	if (h->attrs.size < h->attr_size)
		return bad(pd, "has no events", err);
	for (uint64_t i = 0; rc == 0 && i < h->attrs.size / h->attr_size; i++)
		rc = read_attr(pd, h->attrs.offset + i * h->attr_size, attr_size,
			       file_size, &ids_size, err);
	return rc < 0 ? rc : hlg_attrs_check(pd, err);
}

static int set_data(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err)
{
	const struct hlg_file_header *h = &pd->header;

	if (h->data.offset < h->size || h->data.offset > file_size)
		return bad(pd, "its records are outside the file", err);
	pd->from = h->data.offset;
	pd->limit = file_size;
	/* Written last: 0 means that perf did not get that far. */
	pd->counts.unfinished = h->data.size == 0;
	if (h->data.size && h->data.size <= file_size - h->data.offset)
		pd->limit = h->data.offset + h->data.size;
	else if (h->data.size)
		pd->counts.missing = h->data.size - (file_size - h->data.offset);
	return 0;
}

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

static int keep_text(struct hlg_perfdata *pd, char **to, struct blob *b,
		     struct hlg_err *err)
{
	const char *text;
	size_t length;

	if (!take_string(b, &text, &length))
		return 0;
	free(*to);
	*to = strndup(text, length);
	return *to ? 0 : hlg_err_memory(err, pd->path);
}

/* "HEADER_ARCH": uname's word, from 7.0 on perf's own. */
static int read_arch(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	static const struct {
		const char *word;
		uint16_t machine;
	} words[] = {{"x86_64", EM_X86_64},
		     {"x86", EM_X86_64},
		     {"aarch64", EM_AARCH64},
		     {"arm64", EM_AARCH64}};
	const char *text;
	size_t length;

	(void)err;
	if (pd->host.machine || !take_string(b, &text, &length))
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == length &&
		    memcmp(words[i].word, text, length) == 0)
			pd->host.machine = words[i].machine;
	return 0;
}

/* "HEADER_E_MACHINE": goes before the word. */
static int read_machine(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	uint32_t machine;

	(void)err;
	if (take_u32(b, &machine) && machine <= UINT16_MAX)
		pd->host.machine = (uint16_t)machine;
	return 0;
}

/* perf-record(1): short options may stand together; what takes a value ends them. */
static bool is_attaching(const char *word)
{
	static const char *const words[] = {"--all-cpus", "--pid", "--tid"};

	for (int i = 0; i < 3; i++)
		if (strncmp(word, words[i], strlen(words[i])) == 0)
			return true;
	if (word[0] != '-' || word[1] == '-')
		return false;
	word += strcspn(word, "aptCDFGIMSWbcejkmoru");
	return *word && strchr("apt", *word);
}

void hlg_header_forget_command(struct hlg_perfdata *pd)
{
	for (char **word = pd->host.command; word && *word; word++)
		free(*word);
	free(pd->host.command);
	pd->host.command = NULL;
}

/* Its n words, unless some are missing. */
static int keep_command(struct hlg_perfdata *pd, struct blob *b, uint32_t n,
			struct hlg_err *err)
{
	const char *text;
	size_t length;

	hlg_header_forget_command(pd);
	if (n > b->rest / sizeof(uint32_t))
		return 0;
	pd->host.command = calloc((size_t)n + 1, sizeof(*pd->host.command));
	if (!pd->host.command)
		return hlg_err_memory(err, pd->path);
	for (uint32_t i = 0; i < n; i++) {
		if (!take_string(b, &text, &length)) {
			hlg_header_forget_command(pd);
			return 0;
		}
		pd->host.command[i] = strndup(text, length);
		if (!pd->host.command[i])
			return hlg_err_memory(err, pd->path);
	}
	return 0;
}

/* "HEADER_CMDLINE": perf's own words, which the command's follow behind --, or behind
 * perf's options: those are not for us, but then perf began with the command. */
static int read_cmdline(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	uint32_t n;
	const char *text;
	size_t length;

	if (!take_u32(b, &n))
		return 0;
	for (uint32_t i = 0; i < n && take_string(b, &text, &length); i++) {
		char word[16];

		snprintf(word, sizeof(word), "%.*s", (int)(length < 15 ? length : 15),
			 text);
		if (strcmp(word, "--") == 0)
			return keep_command(pd, b, n - i - 1, err);
		pd->host.attached |= is_attaching(word) && !pd->on_exec;
	}
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

static int read_cpu(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	return keep_text(pd, &pd->host.cpu, b, err);
}

static int read_name(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	return keep_text(pd, &pd->host.name, b, err);
}

static int read_compressed(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err)
{
	(void)b;
	(void)err;
	pd->host.compressed = true;
	return 0;
}

/* The features that are read, in the order in which a file's are: a machine's number goes
 * before its word. */
static const struct feature {
	unsigned number;
	int (*read)(struct hlg_perfdata *pd, struct blob *b, struct hlg_err *err);
} features[] = {
	{HLG_FEATURE_E_MACHINE, read_machine},
	{HLG_FEATURE_ARCH, read_arch},
	{HLG_FEATURE_CPUDESC, read_cpu},
	{HLG_FEATURE_CMDLINE, read_cmdline},
	{HLG_FEATURE_EVENT_DESC, read_event_desc},
	{HLG_FEATURE_COMPRESSED, read_compressed},
	{HLG_FEATURE_HOSTNAME, read_name},
};

enum {
	N_FEATURES = sizeof(features) / sizeof(features[0])
};

/* Of a pipe, where each is a record. */
static int use_feature(struct hlg_perfdata *pd, uint64_t number, const uint8_t *data,
		       size_t size, struct hlg_err *err)
{
	for (size_t i = 0; i < N_FEATURES; i++)
		if (features[i].number == number)
			return features[i].read(pd, &(struct blob){data, size}, err);
	return 0;
}

/* What a feature's section holds, to be freed; NULL and 0 bytes: nothing, or too much. */
static int read_section(const struct hlg_perfdata *pd, unsigned feature, uint8_t **data,
			size_t *size, struct hlg_err *err)
{
	struct hlg_file_section s = pd->features[feature];
	int rc;

	*data = NULL;
	*size = 0;
	if (s.size == 0 || s.size > HLG_MAX_FEATURE)
		return 0;
	*data = malloc(s.size);
	if (!*data)
		return hlg_err_memory(err, pd->path);
	rc = read_at(pd, *data, s.size, s.offset, err);
	if (rc == 0) {
		*size = s.size;
		return 0;
	}
	free(*data);
	*data = NULL;
	return rc;
}

static int read_feature(struct hlg_perfdata *pd, const struct feature *feature,
			struct hlg_err *err)
{
	uint8_t *data;
	size_t size;
	int rc = read_section(pd, feature->number, &data, &size, err);

	if (rc == 0)
		rc = feature->read(pd, &(struct blob){data, size}, err);
	free(data);
	return rc;
}

/* "Flags section": sections behind the data, one for each bit that is set. */
static int find_features(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err)
{
	uint64_t at = pd->limit, left = file_size; /* for sections: none overlap */
	struct hlg_file_section s;
	int rc = 0;

	if (pd->counts.unfinished || pd->counts.missing)
		return 0;
	for (unsigned i = 0; rc == 0 && i < HLG_FEATURES; i++) {
		if (!(pd->header.features[i / 64] >> (i % 64) & 1))
			continue;
		if (file_size - at < sizeof(s)) {
			pd->counts.facts_cut = true;
			break;
		}
		rc = read_at(pd, &s, sizeof(s), at, err);
		at += sizeof(s);
		if (rc < 0 || !inside(s, file_size) || s.size > left) {
			pd->counts.facts_cut = true;
			continue;
		}
		pd->features[i] = s;
		left -= s.size;
	}
	return rc;
}

static int read_features(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err)
{
	int rc = find_features(pd, file_size, err);

	for (size_t i = 0; rc == 0 && i < N_FEATURES; i++)
		if (pd->features[features[i].number].offset)
			rc = read_feature(pd, &features[i], err);
	return rc;
}

/* DIR_FORMAT, by its own name: most of the records are in the files beside it. */
static int check_alone(struct hlg_perfdata *pd, struct hlg_err *err)
{
	bool part = pd->header.features[0] >> HLG_FEATURE_DIR_FORMAT & 1;
	char *beside;
	int there;

	if (!part || pd->host.directory)
		return 0;
	if (asprintf(&beside, "%s.0", pd->path) < 0)
		return hlg_err_memory(err, pd->path);
	there = access(beside, F_OK);
	free(beside);
	if (there != 0)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is one part of a recording (name the directory)",
			   pd->path);
}

int hlg_header_read(struct hlg_perfdata *pd, uint64_t file_size, struct hlg_err *err)
{
	struct hlg_file_header *h = &pd->header;
	int rc;

	if (file_size < HLG_SHORT_HEADER_SIZE)
		return bad(pd, "ends within its header", err);
	rc = read_at(pd, h, HLG_SHORT_HEADER_SIZE, 0, err);
	if (rc < 0)
		return rc;
	if (h->size != sizeof(*h) && h->size != HLG_SHORT_HEADER_SIZE)
		return bad(pd, "has a header of no known size", err);
	if (file_size < h->size)
		return bad(pd, "ends within its header", err);
	rc = read_at(pd, h, h->size, 0, err);
	if (rc == 0)
		rc = check_alone(pd, err);
	if (rc == 0)
		rc = set_data(pd, file_size, err);
	if (rc == 0)
		rc = read_attrs(pd, file_size, err);
	if (rc == 0)
		rc = read_features(pd, file_size, err);
	return rc;
}

/* attr_event: the attribute, then its ids. */
static int read_attr_record(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
			    struct hlg_err *err)
{
	const uint8_t *attr = record + HLG_HEADER_SIZE;
	size_t room = size - HLG_HEADER_SIZE, attr_size;
	int rc;

	if (room < PERF_ATTR_SIZE_VER0)
		return bad(pd, "a record of an event is too short", err);
	attr_size = own_size(attr);
	if (attr_size > room)
		return bad(pd, "an event is larger than its record", err);
	rc = hlg_attrs_add(pd, attr, attr_size, err);
	if (rc == 0)
		rc = hlg_attrs_add_ids(pd, pd->n_events - 1, attr + attr_size,
				       (room - attr_size) / 8, err);
	return rc < 0 ? rc : hlg_attrs_check(pd, err);
}

/* u64 type, u64 id of the event, and for a name the text. */
static int read_update(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		       struct hlg_err *err)
{
	uint32_t event = 0;
	uint64_t id;

	if (size <= 24 || hlg_perfdata_u64(record + 8) != HLG_EVENT_UPDATE_NAME)
		return 0;
	id = hlg_perfdata_u64(record + 16);
	if (pd->n_events > 1 && id)
		event = hlg_ids_find(pd->ids.entries, pd->ids.shift, id);
	if (event >= pd->n_events)
		return 0;
	return hlg_attrs_name(pd, event, strndup((const char *)record + 24, size - 24),
			      err);
}

/* u64 feature, and what the section of a file would hold. */
static int read_feature_record(struct hlg_perfdata *pd, const uint8_t *record,
			       size_t size, struct hlg_err *err)
{
	return size < 16 ? 0
			 : use_feature(pd, hlg_perfdata_u64(record + 8), record + 16,
				       size - 16, err);
}

int hlg_header_record(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		      size_t size, struct hlg_err *err)
{
	if (!pd->host.pipe)
		return 0;
	switch (type) {
	case HLG_RECORD_HEADER_ATTR:
		return read_attr_record(pd, record, size, err);
	case HLG_RECORD_EVENT_UPDATE:
		return read_update(pd, record, size, err);
	case HLG_RECORD_HEADER_FEATURE:
		return read_feature_record(pd, record, size, err);
	default:
		return 0;
	}
}

int hlg_perfdata_tracing(const struct hlg_perfdata *pd, void **data, size_t *size,
			 struct hlg_err *err)
{
	uint8_t *bytes;
	int rc;

	if (pd->features[HLG_FEATURE_TRACING_DATA].size > HLG_MAX_FEATURE)
		return hlg_err_set(err, HLG_EINPUT, "%s: its tracing data are too large",
				   pd->path);
	rc = read_section(pd, HLG_FEATURE_TRACING_DATA, &bytes, size, err);
	*data = bytes;
	if (rc < 0 || !pd->tracing_copy)
		return rc;
	free(bytes);
	*data = malloc(pd->tracing_size);
	if (!*data)
		return hlg_err_memory(err, pd->path);
	*size = pd->tracing_size;
	memcpy(*data, pd->tracing_copy, *size);
	return 0;
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
	size_t n, size;
	uint8_t *data;
	bool ok = true;
	int rc = read_section(pd, HLG_FEATURE_BUILD_ID, &data, &n, err);

	if (rc < 0)
		return rc;
	for (size_t at = 0;
	     ok && at < n && (size = read_one(&build_id, data + at, n - at)); at += size)
		ok = found(ctx, &build_id);
	free(data);
	return ok ? 0 : hlg_err_memory(err, pd->path);
}

/* Two numbers that stand at at in a section of a feature; both 0 if it is not there. */
static int read_pair(const struct hlg_perfdata *pd, unsigned feature, size_t at,
		     uint64_t *one, uint64_t *two, struct hlg_err *err)
{
	uint8_t *data;
	size_t n;
	int rc = read_section(pd, feature, &data, &n, err);

	*one = *two = 0;
	if (rc < 0)
		return rc;
	if (n >= at + 16) {
		*one = hlg_perfdata_u64(data + at);
		*two = hlg_perfdata_u64(data + at + 8);
	}
	free(data);
	return 0;
}

int hlg_perfdata_sample_time(const struct hlg_perfdata *pd, uint64_t *first,
			     uint64_t *last, struct hlg_err *err)
{
	int rc = read_pair(pd, HLG_FEATURE_SAMPLE_TIME, 0, first, last, err);

	if (*first > *last)
		*first = *last = 0;
	return rc;
}

int hlg_perfdata_clock(const struct hlg_perfdata *pd, uint64_t *wall, uint64_t *clock,
		       struct hlg_err *err)
{
	/* Behind a version and the clock's id. */
	return read_pair(pd, HLG_FEATURE_CLOCK_DATA, 8, wall, clock, err);
}
