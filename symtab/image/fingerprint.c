// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/image/fingerprint.h"

#include <string.h>
#include <unistd.h>

#include "symtab/elf/debug-file.h"

enum {
	CUT = 40 /* digits of 20 bytes: what recordings have of a longer id */
};

static uint64_t size_of(const struct hlg_image *image)
{
	return image->inside_size ? image->inside_size : (uint64_t)image->elf.id.size;
}

static int read_crc(uint32_t *crc, const struct hlg_image *image, struct hlg_err *err)
{
	int fd = hlg_image_reopen(image, err), rc;

	if (fd < 0)
		return fd;
	rc = hlg_debug_file_crc(fd, image->path, (off_t)size_of(image), crc, err);
	close(fd);
	return rc;
}

static int read_code(uint32_t *code, const struct hlg_image *image, struct hlg_err *err)
{
	int fd = hlg_image_reopen(image, err), rc;

	if (fd < 0)
		return fd;
	rc = hlg_debug_file_code_crc(fd, image->path, &image->elf, code, err);
	close(fd);
	return rc;
}

int hlg_fingerprint_take(struct hlg_fingerprint *print, const struct hlg_image *image,
			 struct hlg_err *err)
{
	int rc;

	*print = (struct hlg_fingerprint){.size = size_of(image)};
	strcpy(print->build_id, image->elf.build_id);
	rc = read_crc(&print->crc, image, err);
	return rc < 0 ? rc : read_code(&print->code, image, err);
}

bool hlg_fingerprint_is_same(const struct hlg_fingerprint *a,
			     const struct hlg_fingerprint *b)
{
	return a->size == b->size && a->crc == b->crc &&
	       strcmp(a->build_id, b->build_id) == 0;
}

static bool has_bytes(struct hlg_fingerprint_reader *reader,
		      const struct hlg_fingerprint *noted)
{
	struct hlg_err err;

	if (noted->size != size_of(reader->image))
		return false;
	/* What cannot be read cannot be told: nor can its code be read then. */
	if (!reader->has_crc && read_crc(&reader->own.crc, reader->image, &err) < 0)
		return false;
	reader->has_crc = true;
	return reader->own.crc == noted->crc;
}

bool hlg_fingerprint_is_file(const struct hlg_image *image,
			     const struct hlg_fingerprint *noted)
{
	struct hlg_fingerprint_reader reader = {.image = image};

	return strcmp(image->elf.build_id, noted->build_id) == 0 &&
	       has_bytes(&reader, noted);
}

/* Is it that id? Of a note, which has a size, all of it. */
static bool has_id(const char *id, const struct hlg_fingerprint *noted)
{
	const char *its = noted->build_id;

	if (noted->size == 0 && strlen(its) == CUT)
		return strncmp(id, its, CUT) == 0;
	return strcmp(id, its) == 0;
}

/* By the code alone. A debug file's segments may have a few bytes that are no code. */
static enum hlg_likeness compare_code(struct hlg_fingerprint_reader *reader,
				      const struct hlg_fingerprint *noted)
{
	struct hlg_err err;

	if (noted->code == 0 || !hlg_image_has_code(reader->image))
		return HLG_LIKENESS_UNKNOWN;
	if (!reader->has_code && read_code(&reader->own.code, reader->image, &err) < 0)
		return HLG_LIKENESS_UNKNOWN;
	reader->has_code = true;
	if (reader->own.code == 0)
		return HLG_LIKENESS_UNKNOWN;
	return reader->own.code == noted->code ? HLG_LIKENESS_SAME : HLG_LIKENESS_OTHER;
}

enum hlg_likeness hlg_fingerprint_compare(struct hlg_fingerprint_reader *reader,
					  const struct hlg_fingerprint *noted)
{
	const char *id = reader->image->elf.build_id;
	enum hlg_likeness code;

	if (reader->image->map)
		return HLG_LIKENESS_UNKNOWN;
	code = compare_code(reader, noted);
	if (code != HLG_LIKENESS_UNKNOWN)
		return code;
	if (id[0] && noted->build_id[0])
		return has_id(id, noted) ? HLG_LIKENESS_SAME : HLG_LIKENESS_OTHER;
	return noted->size && has_bytes(reader, noted) ? HLG_LIKENESS_SAME
						       : HLG_LIKENESS_UNKNOWN;
}

bool hlg_fingerprint_has_other_id(const struct hlg_image *image,
				  const struct hlg_fingerprint *noted)
{
	const char *id = image->elf.build_id;

	return id[0] && noted->build_id[0] && !has_id(id, noted);
}
