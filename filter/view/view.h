/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view: what the cells of a profile mean in a space. Rows (functions, labels, gaps,
 * data, outside) with their shares, and, if region.h is asked for them, the regions of
 * the rows' hits. What is of the border (border.h) is in rows of its own.
 *
 * Conservation: guest = the sum of kinds[] + border; kept = guest - dropped - border =
 * the sum of the rows = the sum of the regions (if there are any); border = the sum of
 * the borders.
 */
#ifndef HLG_FILTER_VIEW_VIEW_H
#define HLG_FILTER_VIEW_VIEW_H

#include "filter/profile/index.h"
#include "filter/profile/profile.h"
#include "filter/stats/interval.h"
#include "filter/view/border.h"
#include "symtab/code/padding.h"
#include "symtab/image/space.h"

/* One cell, placed. */
struct hlg_hit {
	uint64_t ip, addr; /* the guest's, and the image's own; outside, both are the
			      guest's */
	struct hlg_count count;
	uint32_t series;
	int32_t tid;       /* as in the cell */
	uint32_t rank;     /* of the series in the stable order */
	const void *owner; /* of the place it is credited to */
	bool filler;       /* really in the padding of a gap */
	bool border;
};

struct hlg_row {
	struct hlg_place place; /* of its first hit; place.addr means nothing */
	struct hlg_count count;
	struct hlg_count padding; /* of a gap: what fell into filler */
	struct hlg_share
		share; /* of the view's kept weight; of the border, its guest's */
	double design; /* by how much less its samples are worth (stats/phases.h) */
	uint64_t edge; /* samples at an edge (hlg_skid_count), if edge_known */
	bool edge_known;
	bool border;  /* of the view's borders */
	bool inlined; /* no row of a view: a function inlined in others (children.h) */
	bool misfit;  /* its samples are off its instructions: it has no name (misfits.h)
		       */
	bool unsure;  /* the next row may well have more: their intervals overlap */
	bool few;     /* one or two samples: rows that have none are not shown, so nothing
		       * is known of how small its share may be: its interval begins at 0 */
	char *name;   /* readable, not escaped */
	char *apart;  /* what tells it from rows of its name (report/twins.h), or NULL */
	size_t first_hit, n_hits; /* in the view's hits; by series rank, then address */
};

/* What one row has in one region. */
struct hlg_region_part {
	uint32_t row;
	struct hlg_count count;
};

struct hlg_region {
	const struct hlg_image *image; /* NULL outside */
	uint64_t addr;                 /* own address; outside, a guest address */
	struct hlg_count count;
	struct hlg_share share;
	size_t first_part, n_parts; /* largest first */
};

struct hlg_view {
	enum hlg_weight weight;
	struct hlg_count guest, kinds[HLG_N_KINDS], padding;
	struct hlg_count border;             /* in none of the kinds */
	struct hlg_count dropped, stretched; /* gap samples under gaps=drop, =stretch */
	struct hlg_count kept;
	struct hlg_count ip_zero; /* part of guest: the ip is not told */
	double observations;      /* effective number, of what is kept; of all: */
	double guest_observations;
	double design; /* by how much less these are worth for phases (stats/phases.h); 1:
			* none
			*/
	unsigned in_step; /* each so many samples are alike (stats/lockstep.h); 0: not */
	struct hlg_row *rows; /* by weight, then address, then image */
	size_t n_rows;
	size_t *order; /* numbers of the rows as they are shown; NULL: as they are */
	struct hlg_row
		*borders; /* the border, by the places that it is in; as rows are */
	size_t n_borders;
	struct hlg_hit *hits; /* of the rows, and behind these of the borders */
	size_t n_hits, n_border_hits;
	struct hlg_region *regions; /* of region.h; by weight, then image, then address */
	size_t n_regions;
	struct hlg_region_part *parts;
};

/* The rows, and behind them those of the border: i below n_rows + n_borders. */
static inline const struct hlg_row *hlg_view_row(const struct hlg_view *view, size_t i)
{
	return i < view->n_rows ? &view->rows[i] : &view->borders[i - view->n_rows];
}

/* How many independent samples are worth as much as the samples of a part of the view of
 * which nothing more is known; see observations. */
static inline double hlg_view_worth(const struct hlg_view *view)
{
	return view->observations / view->design;
}

/* A stable order of images, for rows that are otherwise alike; NULL comes last. */
int hlg_view_compare_images(const struct hlg_image *a, const struct hlg_image *b);

struct hlg_view_gap {
	const void *owner;
	struct hlg_padding pad;
};

/* Gaps that were asked for: each is read once. All zero before the first. */
struct hlg_view_gaps {
	struct hlg_view_gap *at;
	uint32_t n;
	struct hlg_index index; /* by owner */
};

/* What a view is made of. All of it outlives the view. */
struct hlg_view_input {
	const struct hlg_space *space; /* settled */
	const struct hlg_options *options;
	const struct hlg_cell *cells; /* by series, then ip */
	size_t n_cells;
	const uint32_t *rank; /* of each series, in the stable order */
	hlg_u128 squares;     /* of the series the cells belong to */
	const struct hlg_moment
		*moments; /* of these, by time; of one in 2^halved samples */
	size_t n_moments; /* 0: not known */
	unsigned halved;
	uint64_t clock; /* ns: samples' period, where they may be in step; 0: they are
			 * not looked at for that */
	const struct hlg_border *border; /* NULL: it is in the rows of its places */
	enum hlg_weight weight;
	bool raw; /* rows are guest addresses: nothing is said about what is there */
	struct hlg_view_gaps *gaps; /* of several views; NULL: of this one alone */
};

/*
 * The place a guest ip is credited to under a gap policy (enum hlg_gaps): its own, or
 * under stretch, for a gap, that of the symbol before it. Returns the kind it really has.
 */
enum hlg_kind hlg_view_place(const struct hlg_space *space, int gaps, uint64_t ip,
			     struct hlg_place *place);

/* A guest ip as a place of its own: nothing is said about what is there. */
struct hlg_place hlg_view_raw_place(const struct hlg_space *space, uint64_t ip);

/* Where the filler of a gap is; none if its bytes cannot be read. False without memory.
 */
bool hlg_view_padding(const struct hlg_place *gap, struct hlg_padding *pad);

/* Does gap, where an address lies, have filler there, not code without a label? False
 * without memory. */
bool hlg_view_is_filler(struct hlg_view_gaps *gaps, const struct hlg_place *gap,
			bool *filler);

/* The same, where the gap's padding is known. */
bool hlg_view_in_padding(const struct hlg_padding *pad, const struct hlg_place *gap);

void hlg_view_gaps_finish(struct hlg_view_gaps *gaps);

/*
 * Builds the rows and their hits; there are no regions yet. Fails only without memory;
 * the caller finishes the view in any case.
 */
int hlg_view_build(struct hlg_view *view, const struct hlg_view_input *in,
		   struct hlg_err *err);

/* What rows of a view that was built without the border have at its addresses: one, or
 * all. */
struct hlg_count hlg_view_exits_of(const struct hlg_view *view, const struct hlg_row *row,
				   const struct hlg_border *border);
struct hlg_count hlg_view_exits(const struct hlg_view *view,
				const struct hlg_border *border);

void hlg_view_finish(struct hlg_view *view);

#endif
