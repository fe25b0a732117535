// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/batch.h"

#include <elf.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/apart.h"
#include "filter/trust/base-search.h"
#include "filter/trust/guest-bases.h"
#include "filter/trust/identity.h"
#include "tools/feed/again.h"
#include "tools/feed/lacks.h"
#include "tools/feed/noted-builds.h"
#include "tools/perfdata/perfdata.h"
#include "tools/perfdata/sum.h"
#include "tools/pprof/pprof.h"

/* Recordings are settled in their order, so that nothing depends on who reads them. */
struct settling {
	struct hlg_guest_bases bases;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	size_t next; /* recording */
};

struct worker {
	pthread_t thread;
	struct hlg_batch *batch;
	const struct hlg_options *options;
	atomic_size_t *next; /* file to take */
	struct hlg_feed_how how;
	const struct hlg_space *space; /* for saved profiles */
	struct hlg_profile *sum;       /* the run's own, or the thread's; and so */
	struct hlg_host *host;
	struct hlg_profile own_sum;
	struct hlg_host own_host;
	struct hlg_stacks *stacks, own_stacks; /* for stacks=callgraph */
	struct hlg_profile file;               /* of the file that is being read, */
	struct hlg_profile all;                /* and of all its samples, whoever is */
	struct hlg_options unselected;         /* selected, if that is asked */
	struct hlg_per_file fits;              /* judges it, if there are several */
	struct hlg_apart apart;                /* if images overlap */
	struct hlg_guest_bases_finder finder;  /* if bases are to be found */
	struct settling *settling;
	bool started;
};

/* What a file held, besides the worker's profile of it. */
struct contents {
	bool saved; /* it is a saved profile */
	struct hlg_host rows;
	struct hlg_stacks stacks;
};

/* A copy of what was given. */
static void copy_given(struct worker *w, struct hlg_host *host,
		       struct hlg_recording_sums *sums)
{
	const struct hlg_batch_given *given = w->batch->given;

	hlg_profile_merge(&w->file, given->profile);
	if (host && given->host)
		hlg_host_merge(host, &w->file, given->host, given->profile);
	if (w->how.stacks && given->stacks)
		hlg_stacks_merge(w->how.stacks, given->stacks, &w->file, given->profile);
	*sums = given->sums;
}

/* A recording or a saved profile, into the worker's profile of the file. */
static int read_path(struct worker *w, const char *path, bool saved,
		     struct hlg_host *host, struct hlg_batch_file *file)
{
	const struct hlg_pprof_how how = {
		w->how.progress, w->batch->n_paths == 1 && !w->options->strict_base,
		&file->notes};
	struct hlg_recording_sums *sums = &file->sums;
	struct hlg_err *err = &file->err;

	if (w->batch->given) {
		copy_given(w, host, sums);
		return 0;
	}
	if (!saved)
		return hlg_feed_read(path, &w->how, &w->file, host, sums, err);
	if (w->options->stacks == HLG_STACKS_COUNTERS)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a saved profile, which has no states (name "
				   "a recording)",
				   path);
	return hlg_pprof_read(path, w->space, &how, &w->file, host, w->how.stacks, sums,
			      err);
}

/* apart: kept by sandbox and thread, but in a saved profile, where that is settled. */
static int read_contents(struct worker *w, size_t number, bool apart,
			 struct contents *contents)
{
	struct hlg_batch_file *file = &w->batch->files[number];
	const char *path = w->batch->paths[number];
	bool callgraph = w->options->stacks == HLG_STACKS_CALLGRAPH;
	int rc;

	*contents = (struct contents){.saved = !w->batch->given && hlg_pprof_is(path)};
	w->how.stacks = callgraph ? &contents->stacks : NULL;
	w->how.no_sandboxes = w->batch->keep_units && !apart && !w->options->sandbox.n;
	if (!hlg_profile_init(&w->file, w->options) ||
	    (callgraph && !hlg_stacks_init(&contents->stacks, w->options)))
		return hlg_err_memory(&file->err, path);
	if (apart && !contents->saved)
		hlg_profile_keep_apart(&w->file);
	rc = read_path(w, path, contents->saved,
		       w->options->mode != HLG_SHOW_GUEST ? &contents->rows : NULL, file);
	file->sums.traced = hlg_profile_traced(&w->file).samples;
	if (!w->all.options)
		file->telling = file->sums.guest;
	return rc;
}

static void forget(struct worker *w, struct contents *contents)
{
	hlg_profile_finish(&w->all);
	hlg_host_finish(&contents->rows);
	hlg_stacks_finish(&contents->stacks);
	hlg_profile_finish(&w->file);
}

/* All samples of guests of a file. */
static int read_all(struct worker *w, size_t number)
{
	const struct hlg_feed_how how = {.threads = w->how.threads};
	struct hlg_batch_file *file = &w->batch->files[number];
	struct hlg_recording_sums sums;
	int rc;

	if (!hlg_profile_init(&w->all, &w->unselected))
		return hlg_err_memory(&file->err, w->batch->paths[number]);
	hlg_profile_keep_apart(&w->all);
	rc = hlg_feed_read(w->batch->paths[number], &how, &w->all, NULL, &sums,
			   &file->err);
	file->telling = sums.guest;
	return rc;
}

/* Where the guests of a file lie that was read wholly. */
static bool find_guests(struct worker *w, struct hlg_guest_bases_found *found)
{
	bool fits;

	if (!hlg_guest_bases_find_whole(&w->finder, &w->all, found, &fits))
		return false;
	if (fits)
		return true;
	hlg_guest_bases_find_finish(found);
	return hlg_guest_bases_find(&w->finder, &w->all, found);
}

/* Reads a file of which some samples are selected: all of them tell where its guests lie,
 * and who runs what. */
static int read_selected(struct worker *w, size_t number, struct contents *contents,
			 struct hlg_guest_bases_found *found)
{
	struct hlg_batch_file *file = &w->batch->files[number];
	bool ok = true;
	int rc = read_all(w, number);

	*contents = (struct contents){0};
	if (rc == 0 && w->finder.space)
		ok = find_guests(w, found);
	if (rc == 0 && ok)
		rc = read_contents(w, number, !found->whole, contents);
	return ok ? rc : hlg_err_memory(&file->err, w->batch->paths[number]);
}

/* Does what is selected of a file not tell alone who is who in it? */
static bool is_selected(const struct worker *w, size_t number)
{
	return (w->space->n_lanes || w->finder.space) && w->settling->bases.selected &&
	       !w->batch->given && hlg_perfdata_is_kept(w->batch->paths[number]) &&
	       !hlg_pprof_is(w->batch->paths[number]);
}

/* Reads a file, and where its guests lie; a second time if they are to be told apart. */
static int read_guests(struct worker *w, size_t number, struct contents *contents,
		       struct hlg_guest_bases_found *found)
{
	struct hlg_batch_file *file = &w->batch->files[number];
	const char *path = w->batch->paths[number];
	bool kept = w->batch->given || hlg_perfdata_is_kept(path);
	bool ok, fits = true, twice = w->finder.space && kept;
	int rc;

	if (is_selected(w, number))
		return read_selected(w, number, contents, found);
	rc = read_contents(w, number, w->space->n_lanes || (w->finder.space && !twice),
			   contents);
	if (rc < 0 || !w->finder.space || contents->saved)
		return rc;
	if (twice && !hlg_guest_bases_find_whole(&w->finder, &w->file, found, &fits))
		return hlg_err_memory(&file->err, path);
	if (twice && fits)
		return 0;
	if (twice) {
		hlg_guest_bases_find_finish(found);
		forget(w, contents);
		rc = read_contents(w, number, true, contents);
	}
	ok = rc < 0 || hlg_guest_bases_find(&w->finder, &w->file, found);
	return ok ? rc : hlg_err_memory(&file->err, path);
}

/* Moves what a recording held to where its guests lie, in the recordings' order; of one
 * that could not be read nothing: it is then the next's turn. */
static int settle(struct worker *w, size_t number, const struct hlg_runners_recording *r,
		  struct hlg_guest_bases_found *found, struct hlg_batch_file *file)
{
	struct settling *s = w->settling;
	unsigned n_lanes;
	bool ok;

	pthread_mutex_lock(&s->lock);
	while (s->next != number)
		pthread_cond_wait(&s->turn, &s->lock);
	ok = file->rc < 0 ||
	     hlg_guest_bases_settle(&s->bases, w->space, r, r->all && !r->units, found);
	n_lanes = s->bases.n_lanes;
	s->next++;
	pthread_cond_broadcast(&s->turn);
	pthread_mutex_unlock(&s->lock);
	if (ok && file->rc == 0 && (found->whole || w->file.apart))
		ok = hlg_guest_bases_move(found, r, n_lanes);
	file->whole = found->whole;
	file->lane = found->lane;
	if (r->units) {
		*r->units = found->units;
		found->units = (struct hlg_runners){0};
	}
	return ok ? file->rc : hlg_err_memory(&file->err, r->path);
}

static char *again_of_path(const void *path)
{
	return hlg_feed_again(path);
}

/* Who of a recording runs which image, and where. */
static int tell_apart(struct worker *w, size_t number, struct contents *contents,
		      struct hlg_guest_bases_found *found, struct hlg_batch_file *file)
{
	const struct hlg_runners_recording r = {
		w->batch->paths[number],
		&w->file,
		w->all.options ? &w->all : NULL,
		&contents->rows,
		w->how.stacks,
		&file->notes,
		w->batch->given ? &w->batch->moved : NULL,
		w->batch->keep_units ? &file->units : NULL,
		w->batch->given ? hlg_feed_again_recorded : again_of_path,
		w->batch->given ? (const void *)&w->batch->given->recorded
				: w->batch->paths[number]};

	if (w->finder.space && file->rc == 0)
		file->rc = hlg_guest_bases_check(found, w->space, &r, &file->err);
	if (w->finder.space)
		return settle(w, number, &r, found, file);
	if (file->rc == 0 && w->file.apart)
		return hlg_apart_settle(&w->apart, &r, &file->err);
	return file->rc;
}

static const char *name_machine(uint16_t machine)
{
	return machine == EM_X86_64 ? "x86-64" : machine == EM_AARCH64 ? "AArch64" : NULL;
}

/* n samples of the host that are a guest's. */
static void note_injected(struct hlg_batch_file *file, const char *path, uint64_t n)
{
	char some[32] = "";

	if (file->sums.guest)
		snprintf(some, sizeof(some), "%" PRIu64 " of ", n);
	hlg_note_list_warn(&file->notes,
			   "%s: hlguest inject wrote %sits guest samples as samples of "
			   "processes, which are the host's here (give the recording that "
			   "it was made from)",
			   path, some);
}

/* What of a recording is no guest of these images. */
static void note_recording(const struct worker *w, const char *path,
			   struct hlg_batch_file *file)
{
	const char *recorded = name_machine(file->sums.machine);
	const struct hlg_space *space = w->space;

	/* Of one alone the report says it (filter/report/nothing.h, notes.h). */
	if (w->file.injected && w->batch->n_paths > 1)
		note_injected(file, path, w->file.injected);
	/* KVM runs guests of the processor's own kind only. */
	for (size_t i = 0; file->sums.machine && i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		if (!image->map && image->elf.machine != file->sums.machine)
			hlg_note_list_warn(&file->notes,
					   "%s was recorded on %s, and %s is for %s: "
					   "it cannot be the guest's ELF",
					   path, recorded ? recorded : "another machine",
					   image->path,
					   name_machine((uint16_t)image->elf.machine));
	}
}

static double mean_period(const struct hlg_profile *p)
{
	struct hlg_count guest = {0};

	for (size_t i = 0; i < hlg_profile_room(p); i++) {
		guest.samples += p->cells[i].count.samples;
		guest.period += p->cells[i].count.period;
	}
	return guest.samples ? (double)guest.period / (double)guest.samples : 0;
}

/* Whose samples the slices of time are of. */
static void number_slices(struct worker *w, size_t number, struct hlg_stacks *stacks)
{
	uint64_t began = hlg_sample_span_known(&w->file.span) ? w->file.span.first : 0;
	uint32_t rank = w->batch->files[number].rank;

	hlg_slices_number(&w->file.by_thread, rank, began);
	hlg_slices_number(&w->file.by_address, rank, began);
	hlg_slices_number(&stacks->slices, rank, began);
}

/*
 * A file is counted on its own first: one that turns out to be unreadable half-way must
 * leave nothing behind.
 */
static void read_file(struct worker *w, size_t number)
{
	struct hlg_batch *batch = w->batch;
	struct hlg_batch_file *file = &batch->files[number];
	struct hlg_guest_bases_found found = {0};
	struct contents contents;

	file->rc = read_guests(w, number, &contents, &found);
	file->rc = tell_apart(w, number, &contents, &found, file);
	hlg_guest_bases_find_finish(&found);
	if (file->rc == 0) {
		if (batch->noted)
			hlg_builds_merge(&w->file.builds, &batch->noted[number]);
		else if (!batch->given)
			hlg_noted_builds_add(&w->file.builds, batch->paths[number]);
		hlg_identity_judge(&w->file, w->space,
				   contents.saved ? NULL : batch->paths[number]);
	}
	if (file->rc == 0 && w->fits.space &&
	    !hlg_per_file_judge(&w->fits, &w->file, &file->fit))
		file->rc = hlg_err_memory(&file->err, batch->paths[number]);
	if (file->rc == 0) {
		note_recording(w, batch->paths[number], file);
		file->period = mean_period(&w->file);
		if (w->options->slices)
			number_slices(w, number, &contents.stacks);
		hlg_host_merge(w->host, w->sum, &contents.rows, &w->file);
		if (w->how.stacks)
			hlg_stacks_merge(w->stacks, w->how.stacks, w->sum, &w->file);
		hlg_profile_merge(w->sum, &w->file);
	}
	if (file->rc == 0 && batch->stacks) {
		batch->stacks[number] = contents.stacks;
		contents.stacks = (struct hlg_stacks){0};
	}
	if (file->rc == 0 && batch->profiles) {
		batch->profiles[number] = w->file;
		w->file = (struct hlg_profile){0};
	}
	forget(w, &contents);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	size_t i;

	while ((i = atomic_fetch_add(w->next, 1)) < w->batch->n_paths)
		read_file(w, i);
	return NULL;
}

static void add_sums(struct hlg_recording_sums *to, const struct hlg_recording_sums *from)
{
	to->samples += from->samples;
	to->guest += from->guest;
	to->host += from->host;
	to->traced += from->traced;
	to->deselected += from->deselected;
	hlg_lacks_add(to, from);
	to->attached |= from->attached;
	to->began = hlg_sum_first(to->began, from->began);
	to->took = hlg_sum(to->took, from->took);
}

static void start(struct worker *workers, unsigned n)
{
	/* The first is this thread's; one that cannot be had leaves its files to it. */
	for (unsigned i = 1; i < n; i++)
		workers[i].started =
			pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
	work(&workers[0]);
	for (unsigned i = 1; i < n; i++)
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
}

/* The first worker, this thread's, counts into the run itself. */
static bool init(struct worker *w, struct hlg_run *run, bool first)
{
	w->options = &run->options;
	w->unselected = hlg_select_all(&run->options);
	w->unselected.by = 0;
	w->unselected.slices = false;
	w->unselected.stacks = HLG_STACKS_LEAF;
	w->unselected.mode = HLG_SHOW_GUEST;
	w->sum = first ? &run->profile : &w->own_sum;
	w->host = first ? &run->host : &w->own_host;
	w->stacks = first ? &run->stacks : &w->own_stacks;
	if (!first && run->options.stacks == HLG_STACKS_CALLGRAPH &&
	    !hlg_stacks_init(&w->own_stacks, &run->options))
		return false;
	if (w->batch->judge && w->batch->n_paths > 1 &&
	    !hlg_per_file_begin(&w->fits, &run->space, run->options.gaps))
		return false;
	if (run->space.n_lanes && !hlg_apart_begin(&w->apart, &run->space, &run->options))
		return false;
	if (run->apart && hlg_guest_bases_find_wanted(&run->space) &&
	    !hlg_guest_bases_find_begin(&w->finder, &run->space))
		return false;
	return first || hlg_profile_init(&w->own_sum, &run->options);
}

/* What one file, or the run, held of whom nothing was found. False without memory. */
static bool move_back(struct hlg_profile *profile, struct hlg_stacks *stacks)
{
	for (uint32_t i = 0; stacks && i < stacks->n_stacks; i++)
		stacks->stacks[i].ip = hlg_guest_bases_back(NULL, stacks->stacks[i].ip);
	return hlg_profile_relocate(profile, hlg_guest_bases_back, NULL);
}

/* Places the guests. If no guest that was found lies where others do, all are in one
 * lane, and so are those that were not found, unless only the found ones count. */
static int place(struct hlg_batch *batch, struct hlg_run *run,
		 struct hlg_guest_bases *bases, struct hlg_err *err)
{
	bool ok = true;

	batch->together =
		hlg_guest_bases_lie_together(bases) && !(run->apart_only && bases->n);
	if (batch->together) {
		ok = move_back(&run->profile, &run->stacks);
		for (size_t i = 0; ok && i < batch->n_paths && batch->profiles; i++)
			if (batch->files[i].rc == 0)
				ok = move_back(&batch->profiles[i],
					       batch->stacks ? &batch->stacks[i] : NULL);
	} else {
		hlg_guest_bases_tell(bases, &run->notes);
	}
	if (ok && bases->selected && !batch->keep_units)
		ok = hlg_guest_bases_narrow(bases, &run->space, &run->profile);
	return ok ? hlg_guest_bases_place(bases, &run->space, batch->together, err)
		  : hlg_err_memory(err, "bases");
}

static int run_workers(struct hlg_batch *batch, struct hlg_run *run,
		       struct worker *workers, unsigned n, struct hlg_progress *progress,
		       struct hlg_err *err)
{
	struct settling settling = {.bases.selected = hlg_select_is(&run->options) &&
						      !run->apart_only,
				    .lock = PTHREAD_MUTEX_INITIALIZER,
				    .turn = PTHREAD_COND_INITIALIZER};
	atomic_size_t next = 0;
	bool ok = true;
	int rc = 0;

	for (unsigned i = 0; i < n; i++) {
		workers[i].batch = batch;
		workers[i].next = &next;
		workers[i].settling = &settling;
		workers[i].how.threads = n > 1 ? 1 : batch->threads;
		workers[i].how.progress = progress;
		workers[i].space = &run->space;
		workers[i].how.syms = &batch->syms;
		ok = init(&workers[i], run, i == 0) && ok;
	}
	if (ok)
		start(workers, n);
	for (unsigned i = 0; i < n; i++) {
		if (ok && i > 0) {
			hlg_host_merge(&run->host, &run->profile, &workers[i].own_host,
				       &workers[i].own_sum);
			if (run->options.stacks == HLG_STACKS_CALLGRAPH)
				hlg_stacks_merge(&run->stacks, &workers[i].own_stacks,
						 &run->profile, &workers[i].own_sum);
			hlg_profile_merge(&run->profile, &workers[i].own_sum);
		}
		hlg_host_finish(&workers[i].own_host);
		hlg_stacks_finish(&workers[i].own_stacks);
		hlg_profile_finish(&workers[i].own_sum);
		hlg_per_file_finish(&workers[i].fits);
		batch->refused |= workers[i].apart.refused;
		hlg_apart_finish(&workers[i].apart);
		hlg_guest_bases_find_end(&workers[i].finder);
	}
	rc = ok ? place(batch, run, &settling.bases, err)
		: hlg_err_memory(err, "threads");
	hlg_guest_bases_finish(&settling.bases);
	return rc;
}

static int compare_paths(const void *a, const void *b, void *paths)
{
	return strcmp(((char **)paths)[*(const size_t *)a],
		      ((char **)paths)[*(const size_t *)b]);
}

/* Recordings stand in the order of their names; those of one name have one rank. False
 * without memory. */
static bool rank_files(struct hlg_batch *batch)
{
	size_t n = batch->n_paths, *order = calloc(n + 1, sizeof(*order));
	bool ok;

	for (size_t i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), compare_paths, (void *)batch->paths);
	for (size_t i = 0; order && i < n; i++)
		batch->files[order[i]].rank =
			i && compare_paths(&order[i - 1], &order[i],
					   (void *)batch->paths) == 0
				? batch->files[order[i - 1]].rank
				: (uint32_t)i;
	ok = order != NULL;
	free(order);
	return ok;
}

static int read_all_files(struct hlg_batch *batch, struct hlg_run *run,
			  struct hlg_err *err)
{
	unsigned n = batch->threads;
	struct hlg_progress progress;
	struct worker *workers;
	int rc;

	if (n > batch->n_paths)
		n = (unsigned)batch->n_paths;
	batch->files = calloc(batch->n_paths + 1, sizeof(*batch->files));
	workers = calloc(n + 1, sizeof(*workers));
	if (!batch->files || !workers || !rank_files(batch)) {
		free(workers);
		return hlg_err_memory(err, "files");
	}
	hlg_hostsyms_init(&batch->syms, run->options.demangle);
	hlg_progress_init(&progress, batch->paths, batch->n_paths, batch->quiet);
	/* Those of whom it cannot be told what they run are there. */
	run->space.has_shared = run->space.n_lanes > 0;
	rc = hlg_space_share(&run->space, err);
	if (rc == 0)
		rc = run_workers(batch, run, workers, n ? n : 1, &progress, err);
	hlg_progress_end(&progress);
	free(workers);
	return rc;
}

/* Can all be read again? */
static bool are_kept(const struct hlg_batch *batch)
{
	for (size_t i = 0; !batch->given && i < batch->n_paths; i++)
		if (!hlg_perfdata_is_kept(batch->paths[i]))
			return false;
	return true;
}

/* As if nothing had been read. */
static int forget_all(struct hlg_batch *batch, struct hlg_run *run, struct hlg_err *err)
{
	hlg_batch_finish(batch);
	for (size_t i = 0; batch->profiles && i < batch->n_paths; i++)
		hlg_profile_finish(&batch->profiles[i]);
	for (size_t i = 0; batch->stacks && i < batch->n_paths; i++)
		hlg_stacks_finish(&batch->stacks[i]);
	hlg_profile_finish(&run->profile);
	hlg_host_finish(&run->host);
	hlg_stacks_finish(&run->stacks);
	if (!hlg_profile_init(&run->profile, &run->options) ||
	    (run->options.stacks == HLG_STACKS_CALLGRAPH &&
	     !hlg_stacks_init(&run->stacks, &run->options)))
		return hlg_err_memory(err, "recordings");
	return 0;
}

/* Reads all; and where samples refuse where files have images that lie across each other,
 * again, with all of them sought. */
static int read_and_seek(struct hlg_batch *batch, struct hlg_run *run,
			 struct hlg_err *err)
{
	int rc = read_all_files(batch, run, err);

	if (rc < 0 || !batch->refused || !are_kept(batch))
		return rc;
	rc = hlg_base_search_unplace(&run->space, &run->options, err);
	if (rc <= 0)
		return rc;
	rc = forget_all(batch, run, err);
	return rc < 0 ? rc : read_all_files(batch, run, err);
}

int hlg_batch_read(struct hlg_batch *batch, struct hlg_run *run, struct hlg_err *err)
{
	int rc = read_and_seek(batch, run, err);

	for (size_t i = 0; rc == 0 && i < batch->n_paths; i++) {
		if (batch->files[i].rc < 0) {
			hlg_origins_add_unread(&run->profile.origins,
					       !batch->given &&
						       hlg_pprof_is(batch->paths[i]),
					       batch->files[i].err.msg);
			continue;
		}
		batch->n_read++;
		add_sums(&batch->sums, &batch->files[i].sums);
	}
	return rc;
}

void hlg_batch_finish(struct hlg_batch *batch)
{
	if (batch->files)
		hlg_hostsyms_finish(&batch->syms);
	for (size_t i = 0; batch->files && i < batch->n_paths; i++) {
		hlg_note_list_finish(&batch->files[i].notes);
		hlg_runners_finish(&batch->files[i].units);
	}
	free(batch->files);
	free(batch->moved.by);
	batch->files = NULL;
	batch->moved = (struct hlg_runners_moved){0};
}

bool hlg_batch_wants_apart(const struct hlg_run *run)
{
	return run->space.n_lanes ||
	       (run->apart && hlg_guest_bases_find_wanted(&run->space));
}

uint64_t hlg_batch_given_ip(const struct hlg_batch *batch, uint32_t series, uint64_t ip)
{
	if (series < batch->moved.n)
		ip += batch->moved.by[series];
	return batch->together ? hlg_guest_bases_back(NULL, ip) : ip;
}
