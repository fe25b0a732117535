/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of filter/ share: a folder to work in, the small guest of mkelf-guest.h,
 * runs that are fed by hand, random numbers that are the same every time, and the sums
 * that hold in every view.
 */
#ifndef HLG_TESTS_KIT_H
#define HLG_TESTS_KIT_H

#include "filter/run.h"
#include "tests/kit/mkelf-guest.h"

/* Where the small guest lies by its version note, 0.17.0. */
#define KIT_BASE UINT64_C(0x4000)

/* Fixture: an empty folder that is the current one while a test runs. */
void kit_enter(void);
void kit_leave(void);

/* Writes what g describes; or the small guest itself, at base 0. */
void kit_write(struct mkelf_guest *g, const char *path);
void kit_guest(const char *path);

/* Words apart by blanks, for a parser; kit_words_finish frees them. */
struct kit_words {
	char *text, *word[32];
	int n;
};
void kit_words(struct kit_words *words, const char *text);
void kit_words_finish(struct kit_words *words);

/* Options from such words; the test fails if they are refused. */
void kit_options(struct hlg_options *options, const char *text);

/*
 * Starts a run with these words; the test fails if that fails. What is fed here need not
 * fit the guest, so force is 1 from then on: a test of what a mismatch withholds sets
 * options.force back to 0. Nor is much at one address of the border: that is kept.
 */
void kit_start(struct hlg_run *run, const char *text);

/* A guest sample of period 1 with nothing recorded but the event. */
struct hlg_sample kit_sample(uint32_t event, uint64_t ip);

/* Adds n guest samples of one event, each of this period. */
void kit_add(struct hlg_run *run, uint32_t event, uint64_t ip, uint64_t period,
	     unsigned n);

/* Settles a started run and builds its report; hlg_report_finish() is the caller's. */
void kit_build(struct hlg_run *run, struct hlg_report *report);

/* The report as it is written, to be freed. */
char *kit_report(struct hlg_run *run);

/* A whole file, or NULL if there is none; to be freed. */
char *kit_read(const char *path);

/* How many entries the current folder has. */
unsigned kit_count_files(void);

/* A number below n. The state is any number; the same one gives the same numbers. */
uint64_t kit_random(uint64_t *state, uint64_t n);

/* Conservation, order and shares of one view, whatever is in it. */
void kit_check_view(const struct hlg_view *view, uint64_t region);

/* The same of a view whose rows are guest addresses, which say nothing of a place. */
void kit_check_raw_view(const struct hlg_view *view, uint64_t region);

#endif
