// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/format.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "filter/write/record-formats.h" /* by meson.build: HLG_RECORD_FORMATS(X) */

static int write_text(void *data, FILE *f, struct hlg_err *err)
{
	return hlg_text_write(f, data, err);
}

#if HLG_HAVE_JANSSON
static int write_json(void *data, FILE *f, struct hlg_err *err)
{
	return hlg_report_json_write(f, data, err);
}
#endif

static int write_folded(void *data, FILE *f, struct hlg_err *err)
{
	return hlg_folded_report(f, data, err);
}

const struct hlg_format hlg_format_text = {.name = "text",
					   .top = 40,
					   .regions = 5,
					   .stacks = true,
					   .notes = true,
					   .remarks = true,
					   .files = true,
					   .reader = true,
					   .write = write_text};
const struct hlg_format hlg_format_json = {.name = "json",
					   .stacks = true,
					   .notes = true,
					   .remarks = true,
					   .files = true,
					   .one_table = true,
					   HLG_FORMAT_JANSSON(write_json)};
const struct hlg_format hlg_format_folded = {
	.name = "folded", .stacks = true, .write = write_folded};

const struct hlg_format *const hlg_format_filter[] = {
	&hlg_format_text,
	&hlg_format_of_records,
	&hlg_format_json,
	&hlg_format_folded,
	NULL,
};

#define DECLARE(name) extern const struct hlg_format hlg_##name##_format;
#define LIST(name)    &hlg_##name##_format,

HLG_RECORD_FORMATS(DECLARE)

const struct hlg_format hlg_format_of_records = {0};
static const struct hlg_format *const of_records[] = {HLG_RECORD_FORMATS(LIST)};

const struct hlg_format *hlg_format_at(const struct hlg_format *const *formats, size_t i)
{
	enum {
		N = sizeof(of_records) / sizeof(of_records[0])
	};

	for (; *formats; formats++) {
		bool many = *formats == &hlg_format_of_records;

		if (i < (many ? N : 1))
			return many ? of_records[i] : *formats;
		i -= many ? N : 1;
	}
	return NULL;
}

const struct hlg_format *hlg_format_find(const struct hlg_format *const *formats,
					 const char *name)
{
	const struct hlg_format *format;

	for (size_t i = 0; (format = hlg_format_at(formats, i)); i++)
		if (!name || strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

const char *hlg_format_words(char words[static HLG_FORMAT_WORDS],
			     const struct hlg_format *const *formats)
{
	const struct hlg_format *format;
	char *at = words;

	*at = '\0';
	for (size_t i = 0; (format = hlg_format_at(formats, i)); i++)
		at += snprintf(at, (size_t)(words + HLG_FORMAT_WORDS - at), "%s%s",
			       i ? "|" : "", format->name);
	assert(at < words + HLG_FORMAT_WORDS);
	return words;
}

void hlg_format_begin(struct hlg_records *to, const struct hlg_table *table)
{
	to->table = table;
	to->format->head(to->f, table);
}

void hlg_format_record(struct hlg_records *to, const struct hlg_value *cells)
{
	to->format->record(to->f, to->table, cells);
}

int hlg_format_choose(const struct hlg_format *format, struct hlg_options *options,
		      struct hlg_err *err)
{
	const char *name = format->name;

	options->most = format->top;
	options->most_regions = format->regions;
	options->one_table = format->one_table;
	if (format->needs)
		return hlg_err_set(
			err, HLG_EINPUT,
			"format=%s: not in this build (install %s and build again)", name,
			format->needs);
	if (format->file && hlg_target_is_stream(options->out) && isatty(STDOUT_FILENO))
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=%s: not for a terminal (use -o "
				   "%s)",
				   name, format->file);
	if (!format->stacks && options->stacks != HLG_STACKS_LEAF)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--format=%s: keeps no stacks (leave --stacks away, or "
			"use --format=folded)",
			name);
	return 0;
}

static int write_result(const struct hlg_result *result, FILE *f, struct hlg_err *err)
{
	struct hlg_records to = {f, result->format, NULL};

	return result->format->record ? result->records(result->data, &to, err)
				      : result->format->write(result->data, f, err);
}

int hlg_format_write(const struct hlg_result *result, const char *out, FILE *stream,
		     struct hlg_err *err)
{
	const struct hlg_err *nothing = result->nothing;
	struct hlg_out to;
	int rc = 0;

	if (nothing && result->format->reader)
		return hlg_err_set(err, HLG_EINPUT, "%s", nothing->msg);
	rc = hlg_out_open(&to, out, stream, err);
	if (rc < 0)
		return rc;
	if (result->colours && result->color == HLG_COLOR_ALWAYS)
		*result->colours = hlg_colour_always();
	else if (result->colours && result->color == HLG_COLOR_AUTO &&
		 hlg_target_is_stream(out))
		*result->colours = hlg_colour_of(to.f);
	if (result->screen)
		*result->screen = hlg_screen_of(hlg_target_is_stream(out) ? to.f : NULL);
	rc = write_result(result, to.f, err);
	if (rc == 0)
		rc = hlg_out_commit(&to, err);
	else
		hlg_out_abort(&to);
	return rc == 0 && nothing ? hlg_err_set(err, HLG_EINPUT, "%s", nothing->msg) : rc;
}
