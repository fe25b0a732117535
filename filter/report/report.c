// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"

int hlg_report_check_whole(const struct hlg_report *r, struct hlg_err *err)
{
	if (r->profile->unrecorded || r->host->unnamed.samples)
		return hlg_err_memory(err, "report");
	if (r->options->border == HLG_BORDER_KEEP)
		return 0;
	for (size_t i = 0; i < r->space->n_images; i++)
		if (hlg_image_unread(r->space->images[i]))
			return hlg_image_fail_unread(r->space->images[i], err);
	return 0;
}

void hlg_report_finish(struct hlg_report *r)
{
	for (uint32_t i = 0; i < r->n_groups; i++)
		hlg_view_finish(&r->groups[i].view);
	hlg_view_gaps_finish(&r->gaps);
	hlg_note_list_finish(&r->notes);
	hlg_note_list_finish(&r->remarks);
	hlg_by_series_finish(&r->by_series);
	hlg_proof_close(r->proof);
	hlg_inlined_close(r->inlined);
	free(r->unnamed);
	free(r->banner);
	free(r->misfits.owner);
	free(r->parted.owner);
	hlg_trust_finish(&r->trust);
	hlg_view_finish(&r->all);
	hlg_border_finish(&r->border);
	free(r->cells);
	free(r->rank);
	free(r->moments);
	free(r->groups);
	free(r->events);
	memset(r, 0, sizeof(*r));
}

bool hlg_report_lost(const struct hlg_report *r)
{
	return r->notes.lost || r->remarks.lost || (r->profile && r->profile->ran.lost);
}

char *hlg_report_series_name(const struct hlg_report *r, uint32_t series)
{
	const struct hlg_series *s = &r->profile->series[series];
	const char *comma = "";
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

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
		fprintf(f, "%scpu=%" PRId32, comma, s->cpu), comma = ",";
	if (r->by & HLG_BY_SANDBOX)
		fprintf(f, "%ssandbox=%" PRId32, comma, s->sandbox);
	return hlg_memstream_close(&m);
}
