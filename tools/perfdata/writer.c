// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symtab/file.h"

#define SOME 65536

static int cannot_read(const struct hlg_sections *sections, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: cannot be read: %s (is it changing?)",
			   sections->path,
			   errno ? strerrordesc_np(errno) : "it became shorter");
}

static int cannot_write(const struct hlg_writer *w, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: cannot be written: %s (make room, or write elsewhere)",
			   w->path, strerrordesc_np(errno));
}

/* Bytes of the old file, in pieces. */
static int copy(struct hlg_writer *w, const struct hlg_sections *sections,
		struct hlg_file_section s, struct hlg_err *err)
{
	uint8_t some[SOME];

	while (s.size && !ferror(w->f)) {
		size_t now = s.size < SOME ? (size_t)s.size : SOME;

		if (hlg_file_read(sections->fd, some, now, s.offset))
			return cannot_read(sections, err);
		hlg_writer_put(w, some, now);
		s.offset += now;
		s.size -= now;
	}
	return 0;
}

/* Where the ids of an attribute stand in the old file. */
static int read_ids(const struct hlg_sections *sections, uint64_t i,
		    struct hlg_file_section *s, struct hlg_err *err)
{
	uint64_t at = sections->attrs_at + i * (sections->attr_size + sizeof(*s));

	if (hlg_file_read(sections->fd, s, sizeof(*s), at + sections->attr_size))
		return cannot_read(sections, err);
	/* The reader has counted them: so many are in the file. */
	if (s->size / 8 > HLG_MAX_IDS)
		return hlg_err_set(err, HLG_EINPUT, "%s: has too many ids (damaged)",
				   sections->path);
	return 0;
}

/* "Event types": ids of all events, then the attributes, each with where its ids are. */
static int write_attrs(struct hlg_writer *w, const struct hlg_sections *sections,
		       struct hlg_err *err)
{
	uint64_t ids_at = w->at;
	struct hlg_file_section ids, attr = {0, sections->attr_size};
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < sections->n_attrs; i++) {
		rc = read_ids(sections, i, &ids, err);
		if (rc == 0)
			rc = copy(w, sections, ids, err);
	}
	w->attrs_at = w->at;
	for (uint64_t i = 0; rc == 0 && i < sections->n_attrs; i++) {
		rc = read_ids(sections, i, &ids, err);
		attr.offset =
			sections->attrs_at + i * (sections->attr_size + sizeof(ids));
		if (rc == 0)
			rc = copy(w, sections, attr, err);
		ids.offset = ids_at;
		hlg_writer_put(w, &ids, sizeof(ids));
		ids_at += ids.size;
	}
	return rc;
}

void hlg_writer_flush(struct hlg_writer *w)
{
	fwrite_unlocked(w->buffer, 1, w->n, w->f);
	w->n = 0;
}

void hlg_writer_large(struct hlg_writer *w, const void *bytes, size_t n)
{
	hlg_writer_flush(w);
	if (n <= sizeof(w->buffer)) {
		memcpy(w->buffer, bytes, n);
		w->n = n;
	} else {
		fwrite_unlocked(bytes, 1, n, w->f);
	}
}

int hlg_writer_begin(struct hlg_writer *w, FILE *f, const char *path,
		     const struct hlg_sections *sections, struct hlg_err *err)
{
	static const struct hlg_file_header none;
	int rc;

	memset(w, 0, offsetof(struct hlg_writer, buffer));
	w->f = f;
	w->path = path;
	if (sections->pipe) {
		/* What stands for the header is records, too. */
		rc = copy(w, sections, (struct hlg_file_section){0, sections->records_at},
			  err);
	} else {
		hlg_writer_put(w, &none, sizeof(none));
		rc = write_attrs(w, sections, err);
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

static bool is_kept(const struct hlg_writer *w, const struct hlg_sections *sections,
		    unsigned i)
{
	if (i == HLG_FEATURE_BUILD_ID && w->build_ids_size)
		return true;
	if (i == HLG_FEATURE_COMPRESSED || i == HLG_FEATURE_DIR_FORMAT ||
	    i == HLG_FEATURE_AUXTRACE)
		return false;
	return sections->has[i / 64] >> (i % 64) & 1;
}

/* Contents behind a table that tells where they are, which has one place for each. */
static int write_features(struct hlg_writer *w, const struct hlg_sections *sections,
			  struct hlg_err *err)
{
	struct hlg_file_section table[HLG_FEATURES] = {0};
	uint64_t table_at = w->at;
	size_t n = 0;
	int rc = 0;

	for (unsigned i = 0; i < HLG_FEATURES; i++)
		if (is_kept(w, sections, i)) {
			w->has[i / 64] |= UINT64_C(1) << (i % 64);
			n++;
		}
	hlg_writer_put(w, table, n * sizeof(table[0]));
	n = 0;
	for (unsigned i = 0; rc == 0 && i < HLG_FEATURES; i++) {
		if (!is_kept(w, sections, i))
			continue;
		table[n].offset = w->at;
		/* One that is only ours is none of the old file. */
		if (sections->has[i / 64] >> (i % 64) & 1)
			rc = copy(w, sections, sections->features[i], err);
		if (i == HLG_FEATURE_BUILD_ID && w->build_ids_size)
			hlg_writer_put(w, w->build_ids, w->build_ids_size);
		table[n].size = w->at - table[n].offset;
		n++;
	}
	hlg_writer_flush(w);
	if (rc == 0 && (fseeko(w->f, (off_t)table_at, SEEK_SET) != 0 ||
			fwrite(table, sizeof(table[0]), n, w->f) != n))
		rc = cannot_write(w, err);
	return rc;
}

static int write_header(struct hlg_writer *w, const struct hlg_sections *sections,
			uint64_t data_size, struct hlg_err *err)
{
	uint64_t entry = sections->attr_size + sizeof(struct hlg_file_section);
	struct hlg_file_header h = {
		.magic = HLG_MAGIC_2,
		.size = sizeof(h),
		.attr_size = entry,
		.attrs = {w->attrs_at, sections->n_attrs * entry},
		.data = {w->start, data_size},
	};

	memcpy(h.features, w->has, sizeof(h.features));
	if (fseeko(w->f, 0, SEEK_SET) != 0 || fwrite(&h, sizeof(h), 1, w->f) != 1)
		return cannot_write(w, err);
	return 0;
}

int hlg_writer_finish(struct hlg_writer *w, const struct hlg_sections *sections,
		      struct hlg_err *err)
{
	uint64_t data_size = w->at - w->start;
	int rc = 0;

	hlg_writer_flush(w);
	if (!sections->pipe) {
		rc = write_features(w, sections, err);
		if (rc == 0)
			rc = write_header(w, sections, data_size, err);
	}
	if (rc == 0 && (fflush(w->f) != 0 || ferror(w->f)))
		rc = cannot_write(w, err);
	return rc;
}
