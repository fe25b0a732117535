// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"

int hlg_write_views(void *to, const struct hlg_report *report,
		    void (*view)(void *to, const struct hlg_report *report,
				 const struct hlg_view *view, const char *series),
		    struct hlg_err *err)
{
	if (report->options->mode == HLG_SHOW_HOST)
		return 0;
	if (!report->n_groups)
		view(to, report, &report->all, NULL);
	for (uint32_t i = 0; i < report->n_groups; i++) {
		char *series = hlg_report_series_name(report, report->groups[i].series);

		if (!series)
			return hlg_err_memory(err, "report");
		view(to, report, &report->groups[i].view, series);
		free(series);
	}
	return 0;
}

size_t hlg_write_host_shown(const struct hlg_report *report)
{
	uint64_t top = hlg_report_top(report);

	if (report->options->mode == HLG_SHOW_GUEST)
		return 0;
	return top && top < report->host->n_rows ? top : report->host->n_rows;
}

int hlg_write_host(void *to, const struct hlg_report *report,
		   void (*row)(void *to, const struct hlg_host_row *row, uint64_t weight,
			       double share, const char *series),
		   struct hlg_err *err)
{
	size_t n = hlg_write_host_shown(report);
	double total = (double)hlg_count_weigh(report->all.weight, report->profile->host);

	for (size_t i = 0; i < n; i++) {
		const struct hlg_host_row *host = &report->host->rows[i];
		uint64_t weight = hlg_count_weigh(report->all.weight, host->count);
		char *series = NULL;

		if (report->by) {
			series = hlg_report_series_name(report, host->series);
			if (!series)
				return hlg_err_memory(err, "report");
		}
		row(to, host, weight, total > 0 ? (double)weight / total : 0, series);
		free(series);
	}
	return 0;
}

const char *hlg_write_percent(char buf[static 16], double share)
{
	unsigned hundredths = (unsigned)lround(share * 10000);

	snprintf(buf, 16, "%u.%02u", hundredths / 100 % 100000, hundredths % 100);
	return buf;
}

/* Up to end. */
static void write_part(FILE *f, const char *text, const char *end, char c,
		       const char *instead)
{
	while (text < end) {
		size_t plain = hlg_escape_plain(text);

		if (*text == c)
			fputs(instead, f);
		else if (plain)
			fwrite(text, 1, plain, f);
		else
			fprintf(f, "\\x%02x", (unsigned)(unsigned char)*text);
		text += plain ? plain : 1;
	}
}

void hlg_write_escaped(FILE *f, const char *text, char c, const char *instead)
{
	write_part(f, text, text + strlen(text), c, instead);
}

/*
 * OWASP's list of what begins a formula (CSV Injection), among it the full-width forms of
 * =+-@ that some locales' spreadsheets take for the same. Tabs and line ends are escaped.
 */
bool hlg_write_is_formula(const char *text)
{
	static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					   "\xef\xbc\xa0"};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return true;
	return text[0] && strchr("=+-@", text[0]);
}

void hlg_write_cell_begin(FILE *f, const char *text)
{
	fputs(hlg_write_is_formula(text) ? "\"'" : "\"", f);
}

void hlg_write_cell(FILE *f, const char *text)
{
	hlg_write_cell_begin(f, text);
	hlg_write_escaped(f, text, '"', "\"\"");
	fputc('"', f);
}

/* What hlg_escape_plain lets pass needs a \ only before these two. */
void hlg_write_string(FILE *f, const char *text)
{
	fputc('"', f);
	while (*text) {
		size_t plain = hlg_escape_plain(text);

		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if (plain)
			fwrite(text, 1, plain, f);
		else
			fprintf(f, "\\\\x%02x", (unsigned)(unsigned char)*text);
		text += plain ? plain : 1;
	}
	fputc('"', f);
}

/* The blank before digits, or digits with a point behind some, that end text; or NULL. */
static const char *find_count(const char *text)
{
	static const char digits[] = "0123456789";
	const char *blank = strrchr(text, ' '), *end;

	if (!blank || !strspn(blank + 1, digits))
		return NULL;
	end = blank + 1 + strspn(blank + 1, digits);
	if (*end == '.')
		end += 1 + strspn(end + 1, digits);
	return *end ? NULL : blank;
}

void hlg_write_frame(FILE *f, const char *name)
{
	const char *blank = find_count(name);

	if (blank) {
		write_part(f, name, blank, ';', ":");
		fputs("\\x20", f);
		name = blank + 1;
	}
	hlg_write_escaped(f, name, ';', ":");
}

const char *hlg_write_kind(enum hlg_kind kind)
{
	static const char *const words[] = {"function", "label", "gap", "data",
					    "outside"};

	return words[kind];
}

const char *hlg_write_state(enum hlg_state state)
{
	static const char *const words[] = {"guest kernel", "guest user", "host kernel",
					    "host user",    "hypervisor", "other"};

	return words[state];
}
