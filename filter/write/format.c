// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/out.h"

static int write_text(void *data, FILE *f, struct hlg_err *err)
{
	return hlg_text_write(f, data, err);
}

static int write_csv(void *data, FILE *f, struct hlg_err *err)
{
	return hlg_csv_write(f, data, err);
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
					   .stacks = true,
					   .notes = true,
					   .files = true,
					   .write = write_text};
const struct hlg_format hlg_format_csv = {
	.name = "csv", .stacks = true, .notes = true, .write = write_csv};
const struct hlg_format hlg_format_json = {.name = "json",
					   .stacks = true,
					   .notes = true,
					   .files = true,
					   HLG_FORMAT_JANSSON(write_json)};
const struct hlg_format hlg_format_folded = {
	.name = "folded", .stacks = true, .write = write_folded};

const struct hlg_format *const hlg_format_filter[] = {
	[HLG_FORMAT_TEXT] = &hlg_format_text,
	[HLG_FORMAT_CSV] = &hlg_format_csv,
	[HLG_FORMAT_JSON] = &hlg_format_json,
	[HLG_FORMAT_FOLDED] = &hlg_format_folded,
	NULL,
};

const struct hlg_format *hlg_format_find(const struct hlg_format *const *formats,
					 const char *name)
{
	while (name && *formats && strcmp((*formats)->name, name) != 0)
		formats++;
	return *formats;
}

char *hlg_format_words(const struct hlg_format *const *formats)
{
	char *words = NULL;
	size_t size;
	FILE *f = open_memstream(&words, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; formats[i]; i++)
		fprintf(f, "%s%s", i ? "|" : "", formats[i]->name);
	if (fclose(f) == 0)
		return words;
	free(words);
	return NULL;
}

int hlg_format_choose(const struct hlg_format *format, struct hlg_options *options,
		      struct hlg_err *err)
{
	const char *name = format->name;

	options->most = format->top;
	if (format->needs)
		return hlg_err_set(
			err, HLG_EINPUT,
			"format=%s: not in this build (install %s and build again)", name,
			format->needs);
	if (format->file && hlg_target_is_stream(options->out) && isatty(STDOUT_FILENO))
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=%s: is nothing for a terminal (say "
				   "--out=%s)",
				   name, format->file);
	if (!format->stacks && options->stacks != HLG_STACKS_LEAF)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--format=%s: keeps no stacks (leave --stacks away, or "
			"say --format=folded)",
			name);
	return 0;
}

int hlg_format_write(const struct hlg_format *format, const char *out, FILE *stream,
		     void *data, struct hlg_colour *colours, struct hlg_err *err)
{
	struct hlg_out to;
	int rc = hlg_out_open(&to, out, stream, err);

	if (rc < 0)
		return rc;
	if (colours && hlg_target_is_stream(out))
		*colours = hlg_colour_of(to.f);
	rc = format->write(data, to.f, err);
	if (rc == 0)
		return hlg_out_commit(&to, err);
	hlg_out_abort(&to);
	return rc;
}
