// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-regions.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/report/rows.h"
#include "filter/write/report-table.h"

enum {
	LAYOUT = 5,       /* columns */
	BAR = 12,         /* cells of one */
	FILE_CELLS = 20,  /* of a file's name beside a range, on a screen */
	WIDE_FILE = 80,   /* however wide a line may be */
	PARTS_CELLS = 24, /* for what is in a region, before its bar is left out */
	FEWEST_CELLS = 10 /* before that is, too */
};

struct regions {
	FILE *f;
	const struct hlg_report *r;
	const struct hlg_view *v;
	struct hlg_column columns[HLG_REPORT_COLUMNS];
	unsigned char layout[LAYOUT];
	struct hlg_table table;
	bool lost; /* something, for want of memory */
};

/* "hash_block 81 %, sort_keys 9 %, 3 more": n parts, with names of so many cells; alone:
 * without how many more there are. */
static char *parts_text(const struct regions *t, const struct hlg_region *region,
			size_t n, bool alone, long cells)
{
	double total = (double)hlg_count_weigh(t->v->weight, region->count);
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	if (!f)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct hlg_region_part *part = &t->v->parts[region->first_part + i];
		double w = (double)hlg_count_weigh(t->v->weight, part->count);

		fputs(i ? ", " : "", f);
		hlg_table_cut(f, t->v->rows[part->row].name, cells, t->r->screen.ascii);
		fprintf(f, " %ld %%", total > 0 ? lround(100 * w / total) : 0);
	}
	if (region->n_parts > n && !alone)
		fprintf(f, ", %zu more", region->n_parts - n);
	return hlg_memstream_close(&m);
}

/* As many parts as fit in room cells, or any: with whole names, else with shorter ones.
 */
static char *parts_of(const struct regions *t, const struct hlg_region *region,
		      size_t room)
{
	enum {
		PARTS = 3,
		BEHIND = 16, /* cells of " 100 %, 999 more" */
		ALONE = 6,   /* of " 100 %" */
		SHORT = 24,
		LEAST = 8
	};
	size_t n = region->n_parts < PARTS ? region->n_parts : PARTS;
	char *text = NULL;

	for (; n; n--) {
		text = parts_text(t, region, n, false, LONG_MAX);
		if (!text || room == 0 || (size_t)hlg_table_cells(text) <= room)
			return text;
		free(text);
		text = parts_text(t, region, n, false, SHORT);
		if (!text || (size_t)hlg_table_cells(text) <= room)
			return text;
		free(text);
	}
	if (room >= BEHIND + LEAST)
		return parts_text(t, region, 1, false, (long)room - BEHIND);
	return parts_text(t, region, 1, true, room > ALONE + 4 ? (long)room - ALONE : 4);
}

/* "0x1000-0x13ff", with its file where there are several, in so many cells; "guest
 * 0x6000-0x63ff" in none. To be freed; NULL without memory. */
static char *range_of(const struct regions *t, const struct hlg_region *region,
		      long file_cells)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	if (!f)
		return NULL;
	if (t->r->space->n_images > 1 && region->image) {
		hlg_table_cut(f, hlg_image_short_name(region->image), file_cells,
			      t->r->screen.ascii);
		fputc(' ', f);
	}
	/* All others are addresses of an ELF, as the heading says. */
	if (!region->image && !t->r->suppressed)
		fputs("guest ", f);
	fprintf(f, "0x%" PRIx64 "-0x%" PRIx64, region->addr,
		region->addr + (t->r->options->region - 1));
	return hlg_memstream_close(&m);
}

static void write_region(struct regions *t, const struct hlg_region *region, char *range)
{
	struct hlg_value c[HLG_REPORT_COLUMNS];
	size_t used = hlg_table_front(&t->table);
	char *parts = parts_of(
		t, region, t->r->screen.columns > used ? t->r->screen.columns - used : 0);

	hlg_report_table_region(c, t->r, t->v, region, NULL);
	c[HLG_REPORT_RANGE] = hlg_table_text_value(range);
	c[HLG_REPORT_BAR] = hlg_table_share_value((struct hlg_share){
		.share = region->share.share, .high = t->v->regions[0].share.share});
	c[HLG_REPORT_NAME] = hlg_table_text_value(parts);
	t->lost |= !hlg_table_text_row(t->f, &t->table, c, region->share.share);
	t->lost |= !parts || !range;
	free(parts);
}

/* The ranges of so many regions, each to be freed, and the cells of the widest. NULL
 * without memory. */
static char **ranges_of(const struct regions *t, size_t shown, long file_cells,
			long *width)
{
	char **ranges = calloc(shown, sizeof(*ranges));

	for (size_t i = 0; ranges && i < shown; i++) {
		long cells;

		ranges[i] = range_of(t, &t->v->regions[i], file_cells);
		cells = ranges[i] ? hlg_table_cells(ranges[i]) : 0;
		*width = cells > *width ? cells : *width;
	}
	return ranges;
}

static void begin(struct regions *t, const char *whose, long width, const char *heading)
{
	static const unsigned char layout[LAYOUT] = {HLG_REPORT_RANGE, HLG_REPORT_PERCENT,
						     HLG_REPORT_SAMPLES, HLG_REPORT_BAR,
						     HLG_REPORT_NAME};
	const size_t columns = t->r->screen.columns;

	memcpy(t->columns, hlg_report_table_columns, sizeof(t->columns));
	memcpy(t->layout, layout, sizeof(layout));
	t->table = (struct hlg_table){t->columns, t->layout, LAYOUT, t->r->colours,
				      t->r->screen};
	t->columns[HLG_REPORT_NAME].heading = heading;
	if (!t->r->options->wide)
		hlg_table_leave_out(&t->table, t->layout, HLG_REPORT_SAMPLES);
	t->columns[HLG_REPORT_RANGE].heading = whose; /* addresses they are */
	t->columns[HLG_REPORT_RANGE].width = (signed char)-width;
	t->columns[HLG_REPORT_PERCENT].gap = 2;
	t->columns[HLG_REPORT_BAR].width = -BAR;
	t->columns[HLG_REPORT_BAR].heading = "";
	if (columns && hlg_table_front(&t->table) + PARTS_CELLS > columns)
		hlg_table_leave_out(&t->table, t->layout, HLG_REPORT_BAR);
	if (columns && hlg_table_front(&t->table) + FEWEST_CELLS > columns)
		hlg_table_leave_out(&t->table, t->layout, HLG_REPORT_NAME);
}

bool hlg_text_regions_write(FILE *f, const struct hlg_report *report,
			    const struct hlg_view *v, uint64_t most)
{
	struct regions of = {.f = f, .r = report, .v = v}, *t = &of;
	size_t shown = hlg_rows_regions_shown(t->r, v), columns = t->r->screen.columns;
	const char *whose = t->r->suppressed ? "region (guest)" : "region (ELF)";
	const char *plain = "% of the region";
	long width = (long)strlen(whose);
	char rest[64] = "", heading[96], **ranges;

	if (most && most < shown)
		shown = most;
	if (shown == 0)
		return true;
	ranges = ranges_of(t, shown, columns ? FILE_CELLS : WIDE_FILE, &width);
	if (shown < v->n_regions)
		snprintf(rest, sizeof(rest), "(%zu of %zu: --%s=0)", shown, v->n_regions,
			 hlg_rows_limit(t->r, v->regions[shown].share.share, "regions"));
	snprintf(heading, sizeof(heading), "%s%s%s", plain, rest[0] ? " " : "", rest);
	begin(t, whose, width, heading);
	if (columns && hlg_table_front(&t->table) + strlen(heading) > columns)
		t->columns[HLG_REPORT_NAME].heading =
			hlg_table_front(&t->table) + strlen(plain) > columns ? "% of it"
									     : plain;
	else
		rest[0] = '\0';
	hlg_table_text_head(t->f, &t->table);
	for (size_t i = 0; i < shown; i++)
		write_region(t, &v->regions[i], ranges ? ranges[i] : NULL);
	if (rest[0])
		fprintf(t->f, "%*s%s\n",
			width + 2 + (long)strlen(rest) > (long)columns ? 0
								       : (int)width + 2,
			"", rest);
	fputc('\n', t->f);
	for (size_t i = 0; ranges && i < shown; i++)
		free(ranges[i]);
	free(ranges);
	return !of.lost;
}
