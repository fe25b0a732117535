// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/lacks.h"

#include <inttypes.h>

#include "tools/perfdata/sum.h"

void hlg_lacks_join(struct hlg_perfdata_counts *to,
		    const struct hlg_perfdata_counts *part)
{
	to->samples += part->samples;
	to->lost = hlg_sum(to->lost, part->lost);
	to->lost_samples = hlg_sum(to->lost_samples, part->lost_samples);
	to->types[PERF_RECORD_THROTTLE] += part->types[PERF_RECORD_THROTTLE];
	to->unknown_id += part->unknown_id;
	to->bad_sample += part->bad_sample;
	to->bad_record += part->bad_record;
	to->no_zstd += part->no_zstd;
	to->left = hlg_sum(to->left, part->left);
	to->missing = hlg_sum(to->missing, part->missing);
	to->unfinished |= part->unfinished;
	to->facts_cut |= part->facts_cut;
}

void hlg_lacks_set(struct hlg_recording_sums *sums,
		   const struct hlg_perfdata_counts *counts)
{
	sums->lost = hlg_perfdata_n_lost(counts);
	sums->throttled = counts->types[PERF_RECORD_THROTTLE];
	sums->packed = counts->no_zstd;
	sums->skipped = counts->unknown_id + counts->bad_sample + counts->bad_record +
			counts->no_zstd;
	sums->left = hlg_perfdata_n_left(counts);
	sums->no_end = !sums->left && (counts->unfinished || counts->facts_cut);
}

void hlg_lacks_add(struct hlg_recording_sums *to, const struct hlg_recording_sums *from)
{
	to->recordings = hlg_sum(to->recordings, from->recordings);
	to->lost = hlg_sum(to->lost, from->lost);
	to->throttled += from->throttled;
	to->packed += from->packed;
	to->skipped += from->skipped;
	to->unjoined += from->unjoined;
	to->left = hlg_sum(to->left, from->left);
	to->no_end += from->no_end;
}

static void note_left_out(const struct hlg_recording_sums *sums, const char *of,
			  struct hlg_note_list *notes)
{
	if (sums->skipped > sums->packed)
		hlg_note_list_warn(notes,
				   "%s%" PRIu64
				   " records, or parts of records, make no sense and "
				   "were skipped",
				   of, sums->skipped - sums->packed);
	if (sums->packed)
		hlg_note_list_warn(notes,
				   "%s%" PRIu64
				   " compressed records were skipped, with all samples "
				   "in them (use a hlguest that is built with libzstd)",
				   of, sums->packed);
	if (sums->unjoined)
		hlg_note_list_warn(
			notes,
			"%s%" PRIu64
			" callchains of the host end in the kernel: their user "
			"part was to be recorded later (--call-graph fp,defer) "
			"and is not there (it was lost, or this is a pipe: save "
			"it first)",
			of, sums->unjoined);
}

static void note_end(const struct hlg_recording_sums *sums, const char *of,
		     struct hlg_note_list *notes)
{
	static const char why[] = "no end: perf record was killed, or the file was cut "
				  "off (what came last, "
				  "and what perf notes behind it, may be missing)";

	if (sums->left)
		hlg_note_list_warn(
			notes,
			sums->recordings > 1
				? "%srecordings were cut off: %" PRIu64
				  " bytes at their ends are missing or hold no whole "
				  "record"
				: "%sthe recording was cut off: %" PRIu64
				  " bytes at its end are missing or hold no whole record",
			of, sums->left);
	if (sums->no_end && sums->recordings > 1)
		hlg_note_list_warn(notes,
				   "%s%" PRIu64 " of %" PRIu64 " recordings have %s", of,
				   sums->no_end, sums->recordings, why);
	else if (sums->no_end)
		hlg_note_list_warn(notes, "%sthe recording has %s", of, why);
}

void hlg_lacks_note(const struct hlg_recording_sums *sums, const char *of,
		    const char *loss, struct hlg_note_list *notes)
{
	if (sums->lost)
		hlg_note_list_warn(
			notes, "%s%" PRIu64 " events were lost while recording%s", of,
			sums->lost,
			loss ? loss : " (a larger -m, or a lower -F, loses less)");
	if (sums->throttled)
		hlg_note_list_warn(notes,
				   "%sthe kernel throttled sampling %" PRIu64
				   " times: busy periods have too few samples",
				   of, sums->throttled);
	note_left_out(sums, of, notes);
	note_end(sums, of, notes);
}
