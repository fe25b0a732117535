// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/perf-lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "filter/view/place-name.h"
#include "filter/view/view.h"
#include "symtab/escape.h"

/* "comm tid [cpu] seconds: period event:", without what was not recorded. */
static void write_head(FILE *f, const struct hlg_sample *s, const char *event,
		       const char *comm)
{
	if (comm)
		hlg_escape_print(f, comm);
	else
		fprintf(f, ":%" PRId32, s->tid);
	fprintf(f, " %" PRId32 " ", s->tid);
	if (s->cpu >= 0)
		fprintf(f, "[%03" PRId32 "] ", s->cpu);
	if (s->time != HLG_NO_TIME)
		fprintf(f, "%" PRIu64 ".%06" PRIu64 ": ", s->time / 1000000000,
			s->time % 1000000000 / 1000);
	fprintf(f, "%" PRIu64 " ", s->period);
	hlg_escape_print(f, event);
	fputs(": \n", f);
}

bool hlg_perf_lines_write(FILE *f, const struct hlg_space *space,
			  const struct hlg_options *options, const struct hlg_sample *s,
			  const char *event, const char *comm)
{
	struct hlg_place place;
	enum hlg_kind kind = hlg_view_place(space, options->gaps, s->ip, &place);
	char *name;

	if (kind == HLG_GAP && options->gaps == HLG_GAPS_DROP)
		return false;
	name = hlg_place_name(&place, options->demangle);
	write_head(f, s, event, comm);
	fprintf(f, "\t%16" PRIx64 " ", s->ip);
	hlg_escape_print(f, name ? name : "[out of memory]");
	if (place.image)
		fprintf(f, "+0x%" PRIx64, place.addr - place.start);
	fputs(" (", f);
	hlg_escape_print(f, place.image ? place.image->path : "[unknown]");
	fputs(")\n\n", f);
	free(name);
	return true;
}
