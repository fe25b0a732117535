// SPDX-License-Identifier: GPL-2.0-only
/* What there is to say of the recordings of a batch. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "symtab/plural.h"
#include "tools/feed/batch.h"
#include "tools/feed/lacks.h"

#define RATES_DIFFER 1.5

/* Why host frames have no names. */
static void note_syms(struct hlg_run *run, const struct hlg_hostsyms *syms)
{
	if (syms->kernel_is_other)
		hlg_run_note(run, "frames of the host's kernel have no names: the "
				  "recording is of another kernel than runs here, or "
				  "this one hides its addresses (kernel.kptr_restrict)");
	if (syms->kernel_is_untold)
		hlg_run_note(
			run,
			"frames of the host's kernel have no names: a recording does "
			"not say which kernel it was (record with hlguest record "
			"--stacks, or perf record --buildid-all)");
	if (syms->file_is_other)
		hlg_run_note(run,
			     "%s: is not the file that was recorded (its build id "
			     "differs), so frames in it have no names",
			     syms->other);
	if (syms->too_many)
		hlg_run_note(run,
			     "more than %d files are mapped: frames in others have no "
			     "names",
			     HLG_HOSTSYMS_MAX);
}

/* With weight=samples one that was sampled more often counts for more than its time. */
static void note_rates(const struct hlg_batch *batch, struct hlg_run *run)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < batch->n_paths; i++)
		if (batch->files[i].rc == 0 && batch->files[i].period > 0) {
			least = fmin(least, batch->files[i].period);
			most = fmax(most, batch->files[i].period);
		}
	if (run->options.weight == HLG_WEIGHT_SAMPLES && most > RATES_DIFFER * least)
		hlg_note_list_warn(&run->notes,
				   "a sample of one recording stands for %.3g times what "
				   "one of another does: shares are of samples, not of "
				   "time or events (weight=period counts these)",
				   most / least);
}

/* Which of several files were cut off: the first is named. */
static void note_cut(const struct hlg_batch *batch, struct hlg_run *run)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < batch->n_paths; i++) {
		if (batch->files[i].rc < 0 || !batch->files[i].sums.left)
			continue;
		first = first ? first : batch->paths[i];
		n++;
	}
	if (first)
		hlg_note_list_warn(&run->notes,
				   "%zu of %zu files %s cut off: %s%s (%" PRIu64
				   " bytes are missing or hold no whole record)",
				   n, batch->n_paths, n == 1 ? "is" : "are", first,
				   n > 1 ? " and others" : "", batch->sums.left);
}

/* A recording in vain counts as one all the same, in a time per run. Where the host's
 * samples are shown, too, it may be there for them. */
static void note_vain(const struct hlg_batch *batch, struct hlg_run *run)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < batch->n_paths; i++) {
		const struct hlg_batch_file *file = &batch->files[i];

		/* One that inject wrote has a note of its own. */
		if (file->rc < 0 || file->sums.guest || file->sums.deselected ||
		    hlg_note_list_told(&file->notes))
			continue;
		/* Whatever order they are named in. */
		if (!first || strcmp(batch->paths[i], first) < 0)
			first = batch->paths[i];
		n++;
	}
	if (first && batch->sums.guest && run->options.mode == HLG_SHOW_GUEST)
		hlg_note_list_warn(&run->notes,
				   "%zu of %zu recordings %s no guest samples, and still "
				   "%s: %s%s (leave out what was recorded in vain)",
				   n, batch->n_read, n == 1 ? "has" : "have",
				   n == 1 ? "counts" : "count", first,
				   n > 1 ? " and others" : "");
}

/* What single recordings have: notes of the first few as they are, others as details. */
static void note_files(const struct hlg_batch *batch, struct hlg_note_list *to)
{
	enum {
		MOST_TOLD = 16,
		MOST_LISTED = 256
	};
	size_t told = 0, untold = 0, listed = 0, lines = 0;

	for (size_t i = 0; i < batch->n_paths; i++) {
		const struct hlg_note_list *notes = &batch->files[i].notes;

		if (told < MOST_TOLD) {
			told += hlg_note_list_told(notes);
			hlg_note_list_append(to, notes);
			continue;
		}
		untold += hlg_note_list_told(notes);
		lines += notes->n;
		listed += hlg_note_list_append_details(to, notes, MOST_LISTED - listed);
	}
	if (untold)
		hlg_note_list_warn(
			to, "%zu more note%s left out (hlguest report -v lists %s)",
			untold,
			hlg_plural_word(untold, " on a single recording is",
					"s on single recordings are"),
			lines > listed ? "the first of them"
			: untold == 1  ? "it"
				       : "them");
}

void hlg_batch_note(const struct hlg_batch *batch, struct hlg_run *run)
{
	struct hlg_recording_sums sums = batch->sums;

	note_rates(batch, run);
	note_files(batch, &run->notes);
	if (batch->n_paths > 1) {
		note_vain(batch, run);
		note_cut(batch, run);
		sums.left = 0;
		if (sums.guest)
			run->profile.injected = 0; /* each file's note tells */
	}
	hlg_lacks_note(&sums, "", NULL, &run->notes);
	note_syms(run, &batch->syms);
}
