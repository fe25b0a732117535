// SPDX-License-Identifier: GPL-2.0-only
#include "tools/sysprof/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/out.h"
#include "filter/write/write.h"
#include "tools/sysprof/sysprof.h"

enum {
	SYM_C = 1, /* a record of the symbol table (lj_symtab.h) */
	END = 0x80 /* of the table, of the frames of Lua, of the events */
};

/* Samples of a row at one address. */
struct spot {
	uint64_t at, start; /* as in the stream; where its place begins */
	uint64_t samples;
	size_t row;
};

struct writer {
	FILE *f;
	const struct hlg_run *run;
	const struct hlg_report *report;
	struct spot *spots; /* by address, then row */
	size_t n;
	uint64_t top; /* the highest address */
};

static void put_uleb(FILE *f, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		fputc((int)(0x80 | (value & 0x7f)), f);
	fputc((int)value, f);
}

/*
 * Readers end a frame at ';', and print what they find. Without memory fclose() succeeds,
 * and there is no text.
 */
static bool put_symbol(FILE *f, uint64_t addr, const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *made = open_memstream(&text, &size);

	if (made)
		hlg_write_escaped(made, name, ';', ":");
	if (!made || fclose(made) != 0 || !text) {
		free(text);
		return false;
	}
	fputc(SYM_C, f);
	put_uleb(f, addr);
	put_uleb(f, size);
	fwrite(text, 1, size, f);
	free(text);
	return true;
}

/*
 * The upper half of an address space of up to 52 bits into what a double holds exactly,
 * with room above it for the images.
 */
static uint64_t shorten(uint64_t ip)
{
	const uint64_t half = UINT64_C(1) << 51;

	return ip >= 0 - half ? ip & (2 * half - 1) : ip;
}

static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool find_spots(struct writer *w)
{
	const struct hlg_view *view = &w->report->all;

	w->spots = calloc(view->n_hits + 1, sizeof(*w->spots));
	if (!w->spots)
		return false;
	for (size_t i = 0; i < view->n_rows; i++) {
		const struct hlg_row *row = &view->rows[i];

		for (size_t k = 0; k < row->n_hits; k++) {
			const struct hlg_hit *hit = &view->hits[row->first_hit + k];
			uint64_t into =
				row->place.image ? hit->addr - row->place.start : 0;

			w->spots[w->n++] =
				(struct spot){shorten(hit->ip), shorten(hit->ip - into),
					      hit->count.samples, i};
		}
	}
	qsort(w->spots, w->n, sizeof(*w->spots), compare_spots);
	return true;
}

/* Each row's addresses apart from the others', none 0, in the same order. */
static void part_spots(struct writer *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct spot *spot = &w->spots[i];
		bool same = i && spot[-1].row == spot->row;
		uint64_t least = i ? spot[-1].at + !same : 1;

		if (spot->at < least)
			spot->at = least;
		/* Where the place begins, unless another one's samples lie behind. */
		if (spot->start < least || spot->start > spot->at)
			spot->start = spot->at;
		w->top = spot->at;
	}
}

/* 0 outside. */
static uint64_t image_addr(const struct writer *w, const struct hlg_image *image)
{
	return hlg_space_has(&w->run->space, image) ? w->top + 1 + image->number : 0;
}

static bool write_table(const struct writer *w)
{
	static const char head[] = {'l', 'j', 's', 3, 0, 0, 0};
	bool ok = true;

	fwrite(head, 1, sizeof(head), w->f);
	for (size_t i = 0; ok && i < w->n; i++)
		if (i == 0 || w->spots[i].row != w->spots[i - 1].row)
			ok = put_symbol(w->f, w->spots[i].start,
					w->report->all.rows[w->spots[i].row].name);
	for (size_t i = 0; ok && i < w->run->space.n_images; i++)
		ok = put_symbol(w->f, image_addr(w, w->run->space.images[i]),
				w->run->space.images[i]->path);
	fputc(END, w->f);
	return ok;
}

static bool write_samples(const struct writer *w, const struct spot *spot)
{
	const struct hlg_row *row = &w->report->all.rows[spot->row];
	uint64_t image = image_addr(w, row->place.image);
	char *event = NULL;
	size_t size;
	FILE *made = open_memstream(&event, &size);

	if (made) {
		fputc(HLG_SYSPROF_CFUNC, made);
		fputc(END, made);
		put_uleb(made, spot->at);
		if (image)
			put_uleb(made, image);
		fputc(0, made);
	}
	if (!made || fclose(made) != 0 || !event) {
		free(event);
		return false;
	}
	for (uint64_t i = 0; i < spot->samples && !ferror(w->f); i++)
		fwrite(event, 1, size, w->f);
	free(event);
	return true;
}

static bool write_stream(const struct writer *w)
{
	static const char head[] = {'l', 'j', 'p', 2, 0, 0, 0};
	bool ok = write_table(w);

	fwrite(head, 1, sizeof(head), w->f);
	for (size_t i = 0; ok && i < w->n; i++)
		ok = write_samples(w, &w->spots[i]);
	fputc(END, w->f);
	return ok;
}

static int write_out(struct writer *w, FILE *stream, struct hlg_err *err)
{
	struct hlg_out out;
	int rc;

	if (w->report->all.kept.samples > HLG_SYSPROF_MAX_SAMPLES)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=sysprof: has an event for each of %" PRIu64
				   " samples (at most %" PRIu64 ": select fewer)",
				   w->report->all.kept.samples, HLG_SYSPROF_MAX_SAMPLES);
	if (!find_spots(w))
		return hlg_err_memory(err, "--format=sysprof");
	part_spots(w);
	rc = hlg_out_open(&out, w->run->options.out, stream, err);
	if (rc < 0)
		return rc;
	w->f = out.f;
	if (write_stream(w))
		return hlg_out_commit(&out, err);
	hlg_out_abort(&out);
	return hlg_err_memory(err, "--format=sysprof");
}

int hlg_sysprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		       FILE *stream, struct hlg_err *err)
{
	struct hlg_report report;
	struct writer w = {.run = run, .report = &report};
	int rc = hlg_run_settle(run, err);

	(void)sums;
	if (rc < 0)
		return rc;
	rc = hlg_report_build(&report, &run->options, &run->space, &run->profile,
			      &run->host, err);
	if (rc == 0)
		rc = hlg_report_check_whole(&report, err);
	if (rc == 0) {
		run->mismatch = report.trust.all.verdict == HLG_TRUST_MISMATCH;
		rc = write_out(&w, stream, err);
	}
	free(w.spots);
	hlg_report_finish(&report);
	return rc;
}

int hlg_sysprof_check(const struct hlg_run *run, struct hlg_err *err)
{
	if (run->options.by)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=sysprof: has no room for by= (select with "
				   "event=, pid=, tid= or cpu=)");
	if (run->options.mode != HLG_SHOW_GUEST)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=sysprof: holds the guest's samples only "
				   "(leave mode= out)");
	return 0;
}
