// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/decode-tables.h"

#include "filter/report/inlined.h"

#define MAX_PRECISE 3 /* perf_event_attr.precise_ip has two bits */

/* Which builds recordings told of. Numbers that are not known say nothing. */
static int read_ran(struct hlg_decoder *d, const Pprof__Extra__Image *from,
		    struct hlg_saved_image *to)
{
	for (size_t i = 0; i < from->n_ran; i++) {
		const Pprof__Extra__Ran *ran = from->ran[i];
		const char *file = "", *id = "";

		if (ran->identity != HLG_IDENTITY_UNKNOWN &&
		    ran->identity != HLG_IDENTITY_SAME &&
		    ran->identity != HLG_IDENTITY_CODE &&
		    !hlg_rans_has_file((enum hlg_identity)ran->identity))
			continue;
		if (hlg_rans_has_file((enum hlg_identity)ran->identity)) {
			file = hlg_saved_text(d->saved, ran->file);
			id = hlg_saved_text(d->saved, ran->build_id);
		}
		if (!file || !id)
			return hlg_decode_fail_memory(d);
		hlg_saved_add_ran(to, (enum hlg_identity)ran->identity, file, id);
	}
	return 0;
}

/* A mapping and the image of Extra that belongs to it. */
static int read_image(struct hlg_decoder *d, size_t i)
{
	static const char wrong[] = "a mapping has a wrong name";
	const Pprof__Mapping *mapping = d->p->mapping[i];
	struct hlg_saved_image *image = HLG_SAVED_MORE(d->saved->images);
	int rc;

	if (!image)
		return hlg_decode_fail_memory(d);
	*image = (struct hlg_saved_image){.extra = *d->p->extra->image[i],
					  .start = mapping->memory_start,
					  .limit = mapping->memory_limit};
	if (mapping->id != i + 1)
		return hlg_decode_fail(d, "a mapping has a wrong id");
	rc = hlg_decode_name(d, mapping->filename, &image->path, wrong);
	if (rc == 0)
		rc = hlg_decode_name(d, mapping->build_id, &image->build_id, wrong);
	if (rc == 0)
		rc = read_ran(d, d->p->extra->image[i], image);
	image->extra.n_ran = 0;
	image->extra.ran = NULL;
	if (rc == 0 && !hlg_decode_own_unknown(d, &image->extra.base))
		rc = hlg_decode_fail_memory(d);
	return rc;
}

int hlg_decode_tables_images(struct hlg_decoder *d)
{
	int rc = 0;

	if (d->p->extra->n_image != d->p->n_mapping)
		return hlg_decode_fail(d, "a mapping has no image");
	for (size_t i = 0; rc == 0 && i < d->p->n_mapping; i++)
		rc = read_image(d, i);
	return rc;
}

int hlg_decode_tables_functions(struct hlg_decoder *d)
{
	static const char wrong[] = "a function has a wrong name";
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->p->n_function; i++) {
		const Pprof__Function *function = d->p->function[i];
		struct hlg_saved_function *f = HLG_SAVED_MORE(d->saved->functions);

		if (!f)
			return hlg_decode_fail_memory(d);
		if (function->id != i + 1)
			return hlg_decode_fail(d, "a function has a wrong id");
		rc = hlg_decode_name(d, function->name, &f->name, wrong);
		if (rc == 0)
			rc = hlg_decode_name(d, function->system_name, &f->symbol, wrong);
	}
	return rc;
}

/* Its functions, of which all but the last were inlined. */
static bool check_lines(const struct hlg_decoder *d, const Pprof__Location *location)
{
	size_t most = d->p->extra->format > HLG_SAVED_STACKS && location->mapping_id
			      ? HLG_INLINED_MAX + 1
			      : 1;

	for (size_t i = 0; i < location->n_line; i++)
		if (location->line[i]->function_id == 0 ||
		    location->line[i]->function_id > d->p->n_function)
			return false;
	return location->n_line && location->n_line <= most;
}

int hlg_decode_tables_locations(struct hlg_decoder *d)
{
	for (size_t i = 0; i < d->p->n_location; i++) {
		const Pprof__Location *location = d->p->location[i];
		uint32_t n, *inlines;

		if (location->id != i + 1 || location->mapping_id > d->p->n_mapping)
			return hlg_decode_fail(d, "a location has a wrong id");
		if (!check_lines(d, location))
			return hlg_decode_fail(d, "a location has a wrong function");
		n = (uint32_t)location->n_line - 1;
		if (n == 0)
			continue;
		inlines = hlg_saved_add_inlines(
			d->saved, d->images + (uint32_t)location->mapping_id,
			location->address, n);
		if (!inlines)
			return hlg_decode_fail_memory(d);
		for (uint32_t k = 0; k < n; k++)
			inlines[k] = d->functions +
				     (uint32_t)location->line[k]->function_id - 1;
	}
	return 0;
}

int hlg_decode_tables_events(struct hlg_decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_event; i++) {
		Pprof__Extra__Event *event = HLG_SAVED_MORE(d->saved->events);

		if (!event)
			return hlg_decode_fail_memory(d);
		*event = *extra->event[i];
		if (event->precise_ip > MAX_PRECISE || event->kind > HLG_EVENT_BREAKPOINT)
			return hlg_decode_fail(d, "an event has a wrong number");
		event->name = hlg_saved_text(d->saved, event->name);
		if (!event->name || !hlg_decode_own_unknown(d, &event->base))
			return hlg_decode_fail_memory(d);
	}
	return 0;
}

int hlg_decode_tables_series(struct hlg_decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_series; i++) {
		struct hlg_saved_key key = hlg_saved_series_key(extra->series[i]);
		Pprof__Extra__Series *series = HLG_SAVED_MORE(d->saved->series);

		if (!series)
			return hlg_decode_fail_memory(d);
		*series = *extra->series[i];
		series->event += d->events;
		if (!hlg_decode_is_key(d, &key))
			return hlg_decode_fail(d, "a series has wrong labels");
		if (!hlg_decode_own_unknown(d, &series->base))
			return hlg_decode_fail_memory(d);
	}
	return 0;
}

int hlg_decode_tables_hosts(struct hlg_decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_host_row; i++) {
		struct hlg_saved_key key = hlg_saved_host_key(extra->host_row[i]);
		Pprof__Extra__HostRow *row = HLG_SAVED_MORE(d->saved->hosts);

		if (!row)
			return hlg_decode_fail_memory(d);
		*row = *extra->host_row[i];
		row->event += d->events;
		if (!hlg_decode_is_key(d, &key))
			return hlg_decode_fail(d, "a host row has wrong labels");
		row->dso = hlg_saved_text(d->saved, row->dso);
		row->process = hlg_saved_text(d->saved, row->process);
		if (!row->dso || !row->process || !hlg_decode_own_unknown(d, &row->base))
			return hlg_decode_fail_memory(d);
	}
	return 0;
}
