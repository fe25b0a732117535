// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/sections.h"

#include <string.h>
#include <sys/stat.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

static int too_large(const struct hlg_sections *sections, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: its facts overlap (damaged; record again)",
			   sections->path);
}

/* The table behind the records: a section for each bit that is set, in their order. */
static int read_features(struct hlg_sections *sections, const struct hlg_perfdata *pd,
			 const struct hlg_file_header *h, uint64_t file_size,
			 struct hlg_err *err)
{
	uint64_t at = pd->limit, sum = 0;

	for (unsigned i = 0; i < HLG_FEATURES; i++) {
		struct hlg_file_section *s = &sections->features[i];

		if (!(h->features[i / 64] >> (i % 64) & 1))
			continue;
		if (file_size < sizeof(*s) || at > file_size - sizeof(*s))
			break;
		if (hlg_file_read(sections->fd, s, sizeof(*s), at))
			return hlg_perfdata_source_errno(pd->path, err);
		at += sizeof(*s);
		if (s->offset > file_size || s->size > file_size - s->offset)
			continue;
		if (s->size > file_size - sum)
			return too_large(sections, err);
		sum += s->size;
		sections->has[i / 64] |= UINT64_C(1) << (i % 64);
	}
	return 0;
}

int hlg_sections_read(struct hlg_sections *sections, const struct hlg_perfdata *pd,
		      struct hlg_err *err)
{
	struct hlg_file_header h = {0};
	struct stat st;

	memset(sections, 0, sizeof(*sections));
	sections->fd = pd->fd;
	sections->path = pd->path;
	sections->pipe = pd->host.pipe;
	if (sections->pipe) {
		sections->records_at = hlg_perfdata_tell(pd);
		return 0;
	}
	if (hlg_file_read(pd->fd, &h, HLG_SHORT_HEADER_SIZE, 0) ||
	    (h.size == sizeof(h) && hlg_file_read(pd->fd, &h, sizeof(h), 0)) ||
	    fstat(pd->fd, &st) != 0)
		return hlg_perfdata_source_errno(pd->path, err);
	/* As the reader has checked, unless the file was changed since. */
	if (h.attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct hlg_file_section) ||
	    h.attr_size > UINT16_MAX || h.attrs.size / h.attr_size != pd->n_events)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: events in the header make no sense (damaged; "
				   "record again)",
				   pd->path);
	sections->attr_size = h.attr_size - sizeof(struct hlg_file_section);
	sections->n_attrs = pd->n_events;
	sections->attrs_at = h.attrs.offset;
	if (pd->counts.unfinished || pd->counts.missing)
		return 0;
	return read_features(sections, pd, &h, (uint64_t)st.st_size, err);
}
