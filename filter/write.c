// SPDX-License-Identifier: GPL-2.0-only
#include "write.h"

#include <math.h>
#include <stdlib.h>

#include "../symtab/escape.h"

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
	double total = (double)hlg_weigh(report->all.weight, report->profile->host);

	for (size_t i = 0; i < n; i++) {
		const struct hlg_host_row *host = &report->host->rows[i];
		uint64_t weight = hlg_weigh(report->all.weight, host->count);
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

void hlg_write_escaped(FILE *f, const char *text, char c, const char *instead)
{
	while (*text) {
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

const char *hlg_write_kind(enum hlg_kind kind)
{
	static const char *const words[] = {"function", "label", "gap", "data",
					    "outside"};

	return words[kind];
}
