// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/whose.h"

#include <inttypes.h>

#include "symtab/image/lane.h"
#include "tools/feed/turns-read.h"
#include "tools/perfdata/perfdata.h"

bool hlg_whose_may_learn(char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!hlg_perfdata_is_kept(paths[i]))
			return false;
	return true;
}

int hlg_whose_learn(struct hlg_whose *whose, struct hlg_run *run, char *const *paths,
		    size_t n, unsigned threads, struct hlg_err *err)
{
	int rc;

	for (size_t i = 0; i < n; i++)
		if (!hlg_perfdata_is_kept(paths[i]))
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: is read through a pipe, but must be read "
					   "twice to tell who runs which ELF (save it to "
					   "a file)",
					   paths[i]);
	whose->by_tid = hlg_options_states_tid(&run->options);
	whose->batch = (struct hlg_batch){.paths = paths,
					  .n_paths = n,
					  .threads = threads,
					  .quiet = true,
					  .noted = whose->noted,
					  .keep_units = true};
	rc = hlg_batch_read(&whose->batch, run, err);
	whose->parted = run->space.n_lanes;
	return rc;
}

int hlg_whose_begin(struct hlg_whose *whose, size_t number, struct hlg_err *err)
{
	const struct hlg_batch_file *file = &whose->batch.files[number];
	const char *why;

	whose->file = file;
	hlg_turns_free(whose->turns);
	whose->turns = NULL;
	if (file->rc < 0) {
		*err = file->err;
		return file->rc;
	}
	if (!whose->parted)
		return 0;
	if (file->telling == 0)
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: has no sample of a guest, which would tell who runs "
			"which of the ELFs at the same addresses (name one, and "
			"with --tid= the threads that run it)",
			whose->batch.paths[number]);
	return whose->by_tid || file->whole
		       ? 0
		       : hlg_turns_read(&whose->turns, whose->batch.paths[number], true,
					&why, err);
}

uint64_t hlg_whose_move(struct hlg_whose *whose, int32_t tid, uint64_t time)
{
	struct hlg_sample sample = {.tid = tid, .time = time};
	const struct hlg_runner *unit;

	if (!whose->parted || whose->file->whole)
		return whose->parted ? hlg_lane_move(whose->file->lane) : 0;
	hlg_turns_tell(whose->turns, &sample);
	unit = hlg_runners_find(&whose->file->units,
				sample.sandbox ? (int32_t)sample.sandbox : -1, tid,
				sample.stretch);
	whose->unknown += !unit;
	return hlg_lane_move(unit ? unit->lane : HLG_LANE_NOBODY);
}

void hlg_whose_note(const struct hlg_whose *whose, const char *what,
		    struct hlg_note_list *notes)
{
	for (size_t i = 0; whose->batch.files && i < whose->batch.n_paths; i++)
		hlg_note_list_append(notes, &whose->batch.files[i].notes);
	if (whose->unknown)
		hlg_note_list_warn(
			notes,
			"no sample tells which ELF guests run that have %" PRIu64
			" of the %s: outside here",
			whose->unknown, what);
}

void hlg_whose_finish(struct hlg_whose *whose)
{
	hlg_batch_finish(&whose->batch);
	hlg_turns_free(whose->turns);
	*whose = (struct hlg_whose){0};
}
