// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks, the input of flame graph tools: `frame;frame NUMBER`. The frames are the
 * series (if the report is split), the image and the place; the number is the weight.
 * Together the lines hold the kept guest weight, and that of the host if it is shown.
 */
#include <inttypes.h>

#include "format.h"
#include "write.h"

/* A frame: escaped, and without the character that ends one. */
static void write_frame(FILE *f, const char *text)
{
	hlg_write_escaped(f, text, ';', ":");
}

static void write_view(FILE *f, const struct hlg_report *r, const struct hlg_view *v,
		       const char *series)
{
	size_t shown = hlg_report_shown(r, v->n_rows, hlg_report_row_share, v);

	for (size_t i = 0; i < shown; i++) {
		const struct hlg_row *row = &v->rows[i];

		if (series) {
			write_frame(f, series);
			fputc(';', f);
		}
		if (row->place.image) {
			write_frame(f, row->place.image->path);
			fputc(';', f);
		}
		write_frame(f, row->name);
		fprintf(f, " %" PRIu64 "\n", hlg_weigh(v->weight, row->count));
	}
}

static void write_host_row(void *f, const struct hlg_host_row *row, uint64_t weight,
			   double share, const char *series)
{
	(void)share;
	fputs("[host];", f);
	if (series) {
		write_frame(f, series);
		fputc(';', f);
	}
	write_frame(f, row->comm);
	fputc(';', f);
	write_frame(f, row->dso);
	fprintf(f, " %" PRIu64 "\n", weight);
}

int hlg_write_folded(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	int rc = hlg_write_views(f, r, write_view, err);

	return rc < 0 ? rc : hlg_write_host(f, r, write_host_row, err);
}
