/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two profiles compared, row by row.
 *
 * A row of both sides is the same function, label, gap or data by its image's own
 * addresses where both sides ran the same build (tools/inputs/paired.h), else by its
 * symbol's name (key.h) within the paired image; what is in no image is one row. Regions
 * are compared only if every image is of the same build.
 *
 * Shares are of the side's weight in all rows (hlg_rows_sum), those of the border
 * (filter/view/border.h) among them; so what a side has more of in total does not show,
 * and when one row takes less, all others have more of the whole. In builds that are the
 * same an address is the border's on both sides if the samples of one tell so.
 *
 * With children= rows are functions with all that they call: their counts do not add up.
 *
 * Else conservation: over the rows, the counts of a side sum to its kept count and that
 * of the border, unless it is left out; over the regions, if there are any, to the kept
 * count.
 */
#ifndef HLG_TOOLS_DIFF_DIFF_H
#define HLG_TOOLS_DIFF_DIFF_H

#include <stdio.h>

#include "filter/report/report.h"
#include "filter/stats/compare.h"
#include "tools/inputs/paired.h"

/*
 * One side of a comparison: what its recordings held together, and each for itself, seen
 * in one space. It must not move.
 */
struct hlg_diff_side {
	/* In: not owned. The space is settled, the profile is the sum of the runs'. */
	const struct hlg_options *options;
	const struct hlg_space *space;
	const struct hlg_profile *profile;
	const struct hlg_profile *runs; /* of each recording that was read */
	const struct hlg_stacks *stacks, *run_stacks; /* the same of children= */
	char *const *paths; /* where these came from, for people */
	const uint64_t *of; /* how many recordings each of them sums, as saved profiles */
	size_t n_runs;
	bool attached; /* recordings of no command of their own: perf record -a, -p */
	/* Out. */
	struct hlg_report report; /* trust, notes, events; not the rows to compare */
	struct hlg_host no_host;
	struct hlg_view all;   /* the rows to compare */
	struct hlg_view *each; /* of each run: rows of the same owners, not all of them */
	struct hlg_count *self; /* with children=: of each row of all, and of its border,
				 * what was sampled in it */
};

enum hlg_diff_presence {
	HLG_DIFF_BOTH,
	HLG_DIFF_NEW,         /* no symbol of this name in the build before */
	HLG_DIFF_GONE,        /* none in the build after */
	HLG_DIFF_ONLY_AFTER,  /* it is in the build before, but no sample was in it */
	HLG_DIFF_ONLY_BEFORE, /* it is in the build after, but no sample was in it */
};

struct hlg_diff_row {
	/* Of each side (0 before, 1 after): the row of side->all, the largest of those
	 * that share the name; NULL: no sample. For regions the other of both. */
	const struct hlg_row *row[2];
	const struct hlg_region *region[2];
	size_t pair; /* in images; images.n: in none */
	size_t n[2]; /* how many rows of the side it sums: functions of one name */
	enum hlg_diff_presence presence;
	struct hlg_count count[2];
	struct hlg_count self[2]; /* with children= */
	struct hlg_share share[2];
	struct hlg_compared compared;
	double q;      /* false discovery rate, over all rows, or all regions; */
	double amount; /* and of what it took, in the mean of a side's recordings */
	bool significant;
};

struct hlg_diff_rows {
	struct hlg_diff_row *row; /* significant first, then by size of the difference */
	size_t n, n_significant;
	size_t *to[2]; /* while they are made: which row a side's i-th is part of */
};

/* What the guest took in all, in the mean of a side's recordings. */
struct hlg_diff_total {
	double mean[2]; /* ns of a clock, else by weight */
	bool clock;
	bool apart; /* by more than the samples' own error */
	double p;   /* of hlg_compare_totals; NAN: not tested */
	bool significant;
};

/* What --fail-if says of it. */
struct hlg_diff_gate {
	bool set;     /* it is asked for, and nothing is refused: below, or a side */
	double least; /* growth that fails: 0.05 for 5 % */
	/* Which of the diff's totals fails, or which row; NULL: that does not. */
	const struct hlg_diff_total *total;
	const struct hlg_diff_row *row;
	char said[512];  /* why, if either does; else empty */
	char *undecided; /* why that is refused: what grew is of no ELF; else NULL */
};

struct hlg_diff {
	struct hlg_diff_side side[2]; /* in; filled by the caller as it says */
	struct hlg_paired images;
	enum hlg_weight weight;
	const struct hlg_event
		*event[2]; /* of each side's samples; NULL: there are none */
	bool withheld;     /* a side's samples do not fit: rows are guest addresses */
	bool incomparable; /* and as the builds differ, there are none */
	size_t n_runs[2];  /* recordings, and saved profiles, with guest samples */
	uint64_t recordings[2];     /* all, as many as saved profiles sum */
	bool by_runs;               /* the spread between recordings is used */
	const char *matched, *test; /* in words: how rows were found, which test */
	char *shares;               /* what shares are of */
	struct hlg_note_list notes; /* what a reader must know */
	struct hlg_diff_rows functions, regions;
	struct hlg_diff_total total, inside; /* of all; but what lies outside */
	struct hlg_diff_gate gate; /* set by the caller once it is built; or all zero */
	bool every;                /* in: text shows rows that are not significant, too */
	struct hlg_colour colours; /* of the stream it goes to; off as it is built */
	struct hlg_screen screen;  /* that text is fitted to; no limit as it is built */
	size_t most;               /* rows that fit it, where no option says; 0: all */
};

/*
 * Compares both sides. Fails without memory, and if the guest samples of a side are of
 * several events. The caller finishes the diff in any case, also the sides.
 */
int hlg_diff_build(struct hlg_diff *diff, struct hlg_err *err);
void hlg_diff_finish(struct hlg_diff *diff);

/*
 * The first row whose share grew significantly, and by more than least (0.05: 5 %) of
 * what it was, and that took as much more, too; one that was nothing grew by more than
 * that. NULL if none did. but: another row than this; or NULL.
 */
const struct hlg_diff_row *hlg_diff_grown(const struct hlg_diff *diff, double least,
					  const struct hlg_diff_row *but);

/* What lies outside of all images of both sides; NULL: nothing does. */
const struct hlg_diff_row *hlg_diff_outside(const struct hlg_diff *diff);

/* By how much of what it was did a total change? INFINITY from nothing. */
double hlg_diff_total_growth(const struct hlg_diff_total *total);

/* Did what a row took in the mean of a side's recordings grow significantly, and by more
 * than that, too? Where another got faster, its share of what is left grew, and nothing
 * else. True where users decided how long recordings are. */
bool hlg_diff_total_grew(const struct hlg_diff *diff, const struct hlg_diff_row *row,
			 double least);

/* Writes the line that answers; and what can be said of the total. */
void hlg_diff_total_tell(const struct hlg_diff *diff, FILE *f);
const char *hlg_diff_total_meaning(const struct hlg_diff *diff);

/* "24.1 -> 73.2 ms": the time of a row in the mean of each side's recordings. False if
 * the event is no clock. */
bool hlg_diff_total_times(char buf[static 32], const struct hlg_diff *diff,
			  const struct hlg_count count[2]);

/* Has it samples off its instructions, on either side? Then it has no name on both. */
bool hlg_diff_is_misfit(const struct hlg_diff_row *row);

/* What a row is called, of the side after if it is there; not escaped. */
const char *hlg_diff_name(const struct hlg_diff_row *row);

/* Of a row's image and place, those of a side; NULL if there are none. */
const struct hlg_place *hlg_diff_place(const struct hlg_diff_row *row, int side);

/* By how much of what it was did the share change? INFINITY from nothing. */
double hlg_diff_growth(const struct hlg_diff_row *row);

#endif
