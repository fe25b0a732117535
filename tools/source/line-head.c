// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/line-head.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

enum {
	MAX_FORMATS = 255 /* their number has one byte */
};

struct format {
	uint64_t content, form;
};

/* A head that is being read. */
struct reader {
	const struct hlg_line_sections *sections;
	struct hlg_line_bytes bytes;
	unsigned offset; /* bytes of one: 4, in 64-bit DWARF 8 */
	struct hlg_line_head *head;
};

uint64_t hlg_line_head_number(struct hlg_line_bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0; bytes->at < bytes->end; shift += 7) {
		unsigned char byte = *bytes->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* Steps over n bytes, or to the end. */
static void skip(struct hlg_line_bytes *bytes, uint64_t n)
{
	uint64_t left = (uint64_t)(bytes->end - bytes->at);

	bytes->at += n < left ? n : left;
}

/* n bytes, the lowest first; 0 at the end. */
static uint64_t take(struct hlg_line_bytes *bytes, unsigned n)
{
	uint64_t value = 0;

	if ((uint64_t)(bytes->end - bytes->at) >= n)
		for (unsigned i = n; i-- > 0;)
			value = value << 8 | bytes->at[i];
	skip(bytes, n);
	return value;
}

/* Letters of the path that begins here; no path has PATH_MAX. */
static uint64_t length(struct hlg_line_bytes bytes)
{
	uint64_t left = (uint64_t)(bytes.end - bytes.at);

	return strnlen((const char *)bytes.at, left < PATH_MAX ? left : PATH_MAX);
}

/* Takes a path that stands here. */
static uint64_t take_text(struct hlg_line_bytes *bytes)
{
	uint64_t n = length(*bytes);

	skip(bytes, n + 1);
	return n;
}

/* The length of a path that stands in another section. */
static uint64_t length_at(const Elf_Data *data, uint64_t at)
{
	const unsigned char *text = data ? data->d_buf : NULL;

	return text && at < data->d_size
		       ? length((struct hlg_line_bytes){text + at, text + data->d_size})
		       : 0;
}

/* Takes what a form says; a path's length goes to *n. False: no compiler uses it here. */
static bool take_form(struct reader *r, uint64_t form, uint64_t *n)
{
	switch (form) {
	case DW_FORM_string:
		*n = take_text(&r->bytes);
		return true;
	case DW_FORM_line_strp:
		*n = length_at(r->sections->line_str, take(&r->bytes, r->offset));
		return true;
	case DW_FORM_strp:
		*n = length_at(r->sections->str, take(&r->bytes, r->offset));
		return true;
	case DW_FORM_udata:
		hlg_line_head_number(&r->bytes);
		return true;
	case DW_FORM_block:
		skip(&r->bytes, hlg_line_head_number(&r->bytes));
		return true;
	case DW_FORM_data1:
		skip(&r->bytes, 1);
		return true;
	case DW_FORM_data2:
		skip(&r->bytes, 2);
		return true;
	case DW_FORM_data4:
		skip(&r->bytes, 4);
		return true;
	case DW_FORM_data8:
		skip(&r->bytes, 8);
		return true;
	case DW_FORM_data16:
		skip(&r->bytes, 16);
		return true;
	default:
		return false;
	}
}

/* Takes the folders or files of DWARF 5, and says how many, how long the longest is, and
 * all are. */
static bool take_entries(struct reader *r, uint64_t *count, uint64_t *longest,
			 uint64_t *all)
{
	struct format formats[MAX_FORMATS];
	unsigned n = (unsigned)take(&r->bytes, 1);
	uint64_t said;

	for (unsigned i = 0; i < n; i++) {
		formats[i].content = hlg_line_head_number(&r->bytes);
		formats[i].form = hlg_line_head_number(&r->bytes);
	}
	said = hlg_line_head_number(&r->bytes);
	for (*count = 0; n && *count < said && r->bytes.at < r->bytes.end; ++*count) {
		for (unsigned i = 0; i < n; i++) {
			uint64_t path = 0;

			if (!take_form(r, formats[i].form, &path) || path == PATH_MAX)
				return false;
			if (formats[i].content != DW_LNCT_path)
				continue;
			*all += path;
			*longest = path > *longest ? path : *longest;
		}
	}
	return true;
}

/* Takes the folders and files of older ones: each list ends with an empty name. */
static bool take_lists(struct reader *r)
{
	struct hlg_line_head *head = r->head;
	uint64_t n;

	while ((n = take_text(&r->bytes))) {
		if (n == PATH_MAX)
			return false;
		head->folder = n > head->folder ? n : head->folder;
	}
	while ((n = take_text(&r->bytes))) {
		if (n == PATH_MAX)
			return false;
		for (int i = 0; i < 3; i++) /* its folder, time and size */
			hlg_line_head_number(&r->bytes);
		head->names += n;
		head->files++;
	}
	return true;
}

/* Counts files that the program names itself: 0, a length, DW_LNE_define_file. Other
 * bytes may look so, but few. */
static void count_defined(struct reader *r)
{
	const unsigned char *at = r->bytes.at;

	while ((at = memchr(at, 0, (size_t)(r->bytes.end - at)))) {
		struct hlg_line_bytes file = {at + 1, r->bytes.end};

		at++;
		if (hlg_line_head_number(&file) == 0 ||
		    take(&file, 1) != DW_LNE_define_file)
			continue;
		r->head->names += length(file);
		r->head->files++;
	}
}

/* Takes what stands between a table's length and its folders. False: there is no more. */
static bool take_fixed(struct reader *r, unsigned *version)
{
	unsigned opcodes;

	*version = (unsigned)take(&r->bytes, 2);
	skip(&r->bytes, *version >= 5 ? 2 : 0); /* sizes of addresses, of segments */
	skip(&r->bytes, r->offset);             /* the rest of the head */
	skip(&r->bytes, *version >= 4 ? 5 : 4); /* about instructions and opcodes */
	opcodes = (unsigned)take(&r->bytes, 1);
	skip(&r->bytes, opcodes ? opcodes - 1 : 0);
	return r->bytes.at < r->bytes.end;
}

bool hlg_line_head_read(const struct hlg_line_sections *sections, uint64_t at,
			struct hlg_line_head *head)
{
	const Elf_Data *data = sections->line;
	struct reader r = {.sections = sections, .offset = 4, .head = head};
	uint64_t size, left, folders, letters = 0, longest = 0;
	unsigned version;

	*head = (struct hlg_line_head){0};
	if (at > data->d_size || data->d_size - at < 12)
		return true;
	r.bytes.at = (const unsigned char *)data->d_buf + at;
	r.bytes.end = (const unsigned char *)data->d_buf + data->d_size;
	size = take(&r.bytes, 4);
	if (size == UINT32_MAX) {
		r.offset = 8;
		size = take(&r.bytes, 8);
	}
	left = (uint64_t)(r.bytes.end - r.bytes.at);
	head->size = size < left ? size : left;
	r.bytes.end = r.bytes.at + head->size;
	if (!take_fixed(&r, &version))
		return true;
	if (version < 5 ? !take_lists(&r)
			: !take_entries(&r, &folders, &head->folder, &letters) ||
				  !take_entries(&r, &head->files, &longest, &head->names))
		return false;
	count_defined(&r);
	return true;
}

uint64_t hlg_line_head_paths(const struct hlg_line_head *head, uint64_t compiled_in)
{
	return head->names + head->files * (head->folder + compiled_in + 2);
}
