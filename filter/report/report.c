// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

int hlg_report_check_whole(const struct hlg_report *r, struct hlg_err *err)
{
	if (r->profile->unrecorded || r->host->unnamed.samples)
		return hlg_err_memory(err, "report");
	return 0;
}

void hlg_report_finish(struct hlg_report *r)
{
	for (uint32_t i = 0; i < r->n_groups; i++)
		hlg_view_finish(&r->groups[i].view);
	for (size_t i = 0; i < r->n_notes; i++)
		free(r->notes[i]);
	for (size_t i = 0; i < r->n_remarks; i++)
		free(r->remarks[i]);
	free(r->remarks);
	free(r->banner);
	hlg_trust_finish(&r->trust);
	hlg_view_finish(&r->all);
	free(r->cells);
	free(r->rank);
	free(r->groups);
	free(r->events);
	free(r->notes);
	memset(r, 0, sizeof(*r));
}

bool hlg_report_add_line(char ***lines, size_t *n, const char *fmt, va_list ap)
{
	char *line;

	if (!HLG_GROW(*lines, *n) || vasprintf(&line, fmt, ap) < 0)
		return false;
	(*lines)[(*n)++] = line;
	return true;
}

void hlg_report_note(struct hlg_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	r->no_memory |= !hlg_report_add_line(&r->notes, &r->n_notes, fmt, ap);
	va_end(ap);
}

void hlg_report_remark(struct hlg_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	r->no_memory |= !hlg_report_add_line(&r->remarks, &r->n_remarks, fmt, ap);
	va_end(ap);
}

char *hlg_report_series_name(const struct hlg_report *r, uint32_t series)
{
	const struct hlg_series *s = &r->profile->series[series];
	const char *comma = "";
	char *name = NULL;
	size_t size;
	FILE *f = open_memstream(&name, &size);

	if (!f)
		return NULL;
	if (r->by & HLG_BY_EVENT) {
		const struct hlg_event *event = &r->profile->events[s->event];

		fprintf(f, "event=%s", event->name);
		if (event->shared)
			fprintf(f, ",precise_ip=%u", event->precise_ip);
		comma = ",";
	}
	if (r->by & HLG_BY_PID)
		fprintf(f, "%spid=%" PRId32, comma, s->pid), comma = ",";
	if (r->by & HLG_BY_TID)
		fprintf(f, "%stid=%" PRId32, comma, s->tid), comma = ",";
	if (r->by & HLG_BY_CPU)
		fprintf(f, "%scpu=%" PRId32, comma, s->cpu);
	if (fclose(f) != 0) {
		free(name);
		return NULL;
	}
	return name;
}

double hlg_report_row_share(const struct hlg_view *view, size_t i)
{
	return view->rows[i].share.share;
}

double hlg_report_region_share(const struct hlg_view *view, size_t i)
{
	return view->regions[i].share.share;
}

uint64_t hlg_report_top(const struct hlg_report *r)
{
	if (r->options->top != HLG_UNSET)
		return r->options->top;
	return r->options->format == HLG_FORMAT_TEXT ? 40 : 0;
}

double hlg_report_least(const struct hlg_report *r)
{
	return r->options->min == HLG_UNSET ? 0 : (double)r->options->min / 1e11;
}

size_t hlg_report_shown(const struct hlg_report *r, size_t n,
			double (*share)(const struct hlg_view *, size_t),
			const struct hlg_view *view)
{
	uint64_t top = hlg_report_top(r);
	double least = hlg_report_least(r);
	size_t shown = 0;

	while (shown < n && (top == 0 || shown < top) && share(view, shown) >= least)
		shown++;
	return shown;
}
