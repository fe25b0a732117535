// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/lacks.h"
#include "symtab/plural.h"

#include <inttypes.h>
#include <stdio.h>

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
	to->unknown_types += part->unknown_types;
	to->left = hlg_sum(to->left, part->left);
	to->missing = hlg_sum(to->missing, part->missing);
	to->corrupt |= part->corrupt;
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
	sums->unknown = counts->unknown_types;
	sums->left = hlg_perfdata_n_left(counts);
	sums->damaged = counts->corrupt;
	sums->no_end = !sums->left && (counts->unfinished || counts->facts_cut);
}

void hlg_lacks_add(struct hlg_recording_sums *to, const struct hlg_recording_sums *from)
{
	to->recordings = hlg_sum(to->recordings, from->recordings);
	to->lost = hlg_sum(to->lost, from->lost);
	to->throttled += from->throttled;
	to->packed += from->packed;
	to->skipped += from->skipped;
	to->unknown += from->unknown;
	to->late += from->late;
	to->unjoined += from->unjoined;
	to->left = hlg_sum(to->left, from->left);
	to->damaged += from->damaged;
	to->no_end += from->no_end;
	to->undecoded += from->undecoded;
}

static void note_late(const struct hlg_recording_sums *sums, const char *of,
		      struct hlg_note_list *notes)
{
	static const char why[] =
		"not in the order of time: processes of the host may be "
		"named wrongly, or not at all (of record --threads, "
		"select a part: --time=)";

	if (sums->late && sums->recordings > 1)
		hlg_note_list_warn(notes, "%s%" PRIu64 " of %" PRIu64 " recordings %s %s",
				   of, sums->late, sums->recordings,
				   hlg_plural_word(sums->late, "is", "are"), why);
	else if (sums->late)
		hlg_note_list_warn(notes, "%sthe recording is %s", of, why);
}

static void note_undecoded(const struct hlg_recording_sums *sums, const char *of,
			   struct hlg_note_list *notes)
{
	static const char why[] =
		"no whole formats of KVM's tracepoints, which perf writes at the end: "
		"exits, and where guests are entered, are not decoded (record again)";

	if (sums->undecoded && sums->recordings > 1)
		hlg_note_list_warn(notes, "%s%" PRIu64 " of %" PRIu64 " recordings %s %s",
				   of, sums->undecoded, sums->recordings,
				   hlg_plural_word(sums->undecoded, "has", "have"), why);
	else if (sums->undecoded)
		hlg_note_list_warn(notes, "%sthe recording has %s", of, why);
}

static void note_left_out(const struct hlg_recording_sums *sums, const char *of,
			  struct hlg_note_list *notes)
{
	const uint64_t skipped = sums->skipped - sums->packed;

	if (skipped)
		hlg_note_list_warn(notes,
				   skipped == 1 ? "%s%" PRIu64
						  " record makes no sense and was skipped"
						: "%s%" PRIu64
						  " records, or parts of records, make "
						  "no sense and were skipped",
				   of, skipped);
	if (sums->unknown)
		hlg_note_list_warn(
			notes,
			"%s%" PRIu64 " record%s that this hlguest does not know, and %s "
			"skipped (is it older than perf?)",
			of, sums->unknown,
			sums->unknown == 1 ? " is of a type" : "s are of types",
			sums->unknown == 1 ? "was" : "were");
	if (sums->packed)
		hlg_note_list_warn(
			notes,
			"%s%" PRIu64
			" compressed record%s skipped, with all samples inside "
			"(use a hlguest that is built with libzstd)",
			of, sums->packed,
			hlg_plural_word(sums->packed, " was", "s were"));
	if (sums->unjoined)
		hlg_note_list_warn(
			notes,
			"%s%" PRIu64
			" callchain%s in the kernel: the user part was to be recorded "
			"later (--call-graph fp,defer) and is not there (it was lost, or "
			"this is a pipe: save it first)",
			of, sums->unjoined,
			hlg_plural_word(sums->unjoined, " of the host ends",
					"s of the host end"));
}

const char *hlg_lacks_span(char buf[static 24], uint64_t ns)
{
	uint64_t tenths;

	if (ns < 100000000) {
		snprintf(buf, 24, "%" PRIu64 ".%03" PRIu64 " ms", ns / 1000000,
			 ns / 1000 % 1000);
		return buf;
	}
	tenths = (ns + 50000000) / 100000000;
	snprintf(buf, 24, "%" PRIu64 ".%" PRIu64 " s", tenths / 10, tenths % 10);
	return buf;
}

/* How much of the run is there, where that is known: bytes tell little of it, since perf
 * that could not write has no idea how many more there would have been. */
static const char *ends_after(char buf[static 80], const struct hlg_recording_sums *sums)
{
	char span[24];

	buf[0] = '\0';
	if (sums->took)
		snprintf(buf, 80, ", and it ends after %s: what came later is not there",
			 hlg_lacks_span(span, sums->took));
	return buf;
}

static void note_left(const struct hlg_recording_sums *sums, const char *of,
		      struct hlg_note_list *notes)
{
	char after[80];

	if (sums->recordings > 1 && sums->damaged)
		hlg_note_list_warn(notes,
				   "%s%" PRIu64 " of %" PRIu64
				   " recordings %s damaged: what follows where no record "
				   "begins was not read",
				   of, sums->damaged, sums->recordings,
				   hlg_plural_word(sums->damaged, "is", "are"));
	if (!sums->left)
		return;
	if (sums->recordings > 1)
		hlg_note_list_warn(notes,
				   sums->damaged ? "%srecordings were cut off or are "
						   "damaged: %" PRIu64
						   " bytes could not be read"
						 : "%srecordings were cut off: %" PRIu64
						   " bytes at their ends are missing or "
						   "hold no whole record",
				   of, sums->left);
	else
		hlg_note_list_warn(
			notes,
			sums->damaged
				? "%sthe recording is damaged: no record begins where "
				  "one should, and %" PRIu64
				  " bytes from there on were not read%s"
				: "%sthe recording was cut off: %" PRIu64
				  " bytes at its end are missing or hold no whole "
				  "record%s",
			of, sums->left, ends_after(after, sums));
}

static void note_end(const struct hlg_recording_sums *sums, const char *of,
		     struct hlg_note_list *notes)
{
	static const char why[] = "no end: perf record was killed, or the file was cut "
				  "off (what came last, "
				  "and what perf notes behind it, may be missing)";

	note_left(sums, of, notes);
	if (sums->no_end && sums->recordings > 1)
		hlg_note_list_warn(notes, "%s%" PRIu64 " of %" PRIu64 " recordings %s %s",
				   of, sums->no_end, sums->recordings,
				   hlg_plural_word(sums->no_end, "has", "have"), why);
	else if (sums->no_end)
		hlg_note_list_warn(notes, "%sthe recording has %s", of, why);
}

void hlg_lacks_note(const struct hlg_recording_sums *sums, const char *of,
		    const char *loss, struct hlg_note_list *notes)
{
	if (sums->lost)
		hlg_note_list_warn(notes, "%s%" PRIu64 " event%s lost while recording%s",
				   of, sums->lost, sums->lost == 1 ? " was" : "s were",
				   loss ? loss
					: " (a larger -m, or a lower -F, loses less)");
	if (sums->throttled)
		hlg_note_list_warn(notes,
				   "%sthe kernel throttled sampling %" PRIu64
				   " time%s: busy periods have too few samples",
				   of, sums->throttled, sums->throttled == 1 ? "" : "s");
	note_left_out(sums, of, notes);
	note_late(sums, of, notes);
	note_undecoded(sums, of, notes);
	note_end(sums, of, notes);
}
