// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/inputs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "tools/beside/beside.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/cpus.h"
#include "tools/cli/output.h"
#include "tools/inputs/snapshot.h"
#include "tools/inputs/sorting.h"
#include "tools/inputs/twice.h"
#include "tools/inputs/unnamed.h"
#include "tools/perfdata/count.h"
#include "tools/perfdata/perfdata.h"
#include "tools/pprof/pprof.h"

/* The first argument of a kind, or NULL. */
static const char *find_other(const struct hlg_inputs *in, enum hlg_file_kind kind)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind == kind)
			return in->others[i].word;
	return NULL;
}

/* Without an image: was one of the recordings meant to be it? */
static int no_image(const struct hlg_inputs *in, struct hlg_err *err)
{
	const char *folder = find_other(in, HLG_FILE_KIND_FOLDER);
	const char *file = in->n_files                             ? in->files[0]
			   : access(HLG_INPUTS_DEFAULT, F_OK) == 0 ? HLG_INPUTS_DEFAULT
								   : NULL;

	if (file && !hlg_perfdata_is_kept(file))
		file = NULL; /* nothing stands beside a pipe */
	if (in->not_noted.msg[0]) {
		*err = in->not_noted;
		return HLG_EINPUT;
	}
	if (folder && hlg_snapshot_is(folder))
		return hlg_err_set(err, HLG_EWORDS,
				   "%s: is a snapshot of Hyperlight, and no guest ELF is "
				   "given (use guest.elf@snapshot:%s)",
				   folder, folder);
	if (folder)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a directory that holds no recording, and no "
				   "guest ELF is given (name files)",
				   folder);
	return hlg_err_set(err, HLG_EWORDS,
			   "%s: no guest ELF is given%s%s (name it: guest.elf; hlguest "
			   "help %s shows more)",
			   in->verb->name,
			   !file                ? ""
			   : hlg_pprof_is(file) ? ", and none is in the saved profile "
						: ", and none is noted beside ",
			   file ? file : "", in->verb->name);
}

/* A word that names no file, and no function either. */
static const char *find_named(const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind == HLG_FILE_KIND_OTHER &&
		    (strchr(in->others[i].word, '/') ||
		     strstr(in->others[i].word, ".data")))
			return in->others[i].word;
	return NULL;
}

/* How a recording for the verb is made: "hlguest record --exits -- VMM" */
static const char *how_to_record(char buf[static 80], const struct hlg_verb *verb)
{
	snprintf(buf, 80, "hlguest record %s%s-- VMM", verb->record ? verb->record : "",
		 verb->record ? " " : "");
	return buf;
}

/* The same without a recording, where there is none by default. */
static int no_recording(const struct hlg_inputs *in, struct hlg_err *err)
{
	const char *other = find_other(in, HLG_FILE_KIND_OTHER);
	bool own = hlg_inputs_own_word(in->verb);
	char how[80];

	/* With an ELF a word that is no file is the verb's, unless only a file is called
	 * so. */
	if (own && find_other(in, HLG_FILE_KIND_IMAGE))
		other = find_named(in);
	if (other && own && hlg_inputs_check_there(other, err) < 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: no such file, and no recording is given (name "
				   "both, guest.elf perf.data, or make one: %s)",
				   other, how_to_record(how, in->verb));
	if (other)
		return hlg_inputs_check_there(other, err) < 0
			       ? HLG_EINPUT
			       : hlg_err_set(err, HLG_EINPUT,
					     "%s: is no recording and no ELF, or cannot "
					     "be read (name both: guest.elf perf.data)",
					     other);
	return hlg_err_set(
		err, HLG_EWORDS,
		"%s: no recording is given, and there is no " HLG_INPUTS_DEFAULT
		" (name one, or make one: %s)",
		in->verb->name, how_to_record(how, in->verb));
}

/* Of a recording, and what record noted beside it. */
static int check_recording(const char *recording, const char *out, struct hlg_err *err)
{
	char noted[PATH_MAX];
	int rc = hlg_target_check_input(out, recording, err);

	return rc == 0 && hlg_beside_place(noted, recording)
		       ? hlg_target_check_input(out, noted, err)
		       : rc;
}

/* Of recordings and images of one side. */
static int check_side(const struct hlg_inputs *in, const char *out, struct hlg_err *err)
{
	struct hlg_options options;
	int rc = hlg_options_parse(&options, in->n_words, in->words, err);

	for (size_t i = 0; rc == 0 && i < options.n_images; i++)
		rc = hlg_target_check_input(out, options.images[i].path, err);
	for (size_t i = 0; rc == 0 && i < in->n_files; i++)
		rc = check_recording(in->files[i], out, err);
	if (rc == 0 && in->n_files == 0)
		rc = check_recording(HLG_INPUTS_DEFAULT, out, err);
	if (rc == 0 && in->list)
		rc = hlg_target_check_input(out, in->list, err);
	hlg_options_finish(&options);
	return rc;
}

int hlg_inputs_check_out(const struct hlg_inputs *in, const char *out,
			 struct hlg_err *err)
{
	const struct hlg_verb_option *own = in->verb->options;
	int rc = check_side(in, out, err);

	if (rc == 0 && in->second)
		rc = check_side(in->second, out, err);
	for (; rc == 0 && own && (own->name || own->kind); own++) {
		const char *path =
			own->reads ? *(const char *const *)((const char *)in + own->field)
				   : NULL;

		if (path)
			rc = hlg_target_check_input(out, path, err);
	}
	return rc;
}

/* The code of what failed by the words alone. */
static int of_words(int rc, struct hlg_err *err)
{
	return rc == HLG_EINPUT ? err->code = HLG_EWORDS : rc;
}

/* What makes no sense is told before any file is opened, but for what is noted. */
static int check_words(const struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_options options;
	bool counts; /* no image is needed */
	int rc;

	if (in->missing.msg[0]) {
		*err = in->missing;
		return HLG_ESYSTEM;
	}
	rc = of_words(hlg_options_parse(&options, in->n_words, in->words, err), err);

	if (rc == 0)
		rc = hlg_inputs_check_out(in, options.out, err);
	/* "--out FILE.data" is easily written for "--out=x FILE.data". */
	if (rc == 0)
		rc = hlg_target_check_magic(options.out, HLG_MAGIC_NONE, err);
	counts = options.stacks == HLG_STACKS_COUNTERS;
	hlg_options_finish(&options);
	if (rc == 0 && in->n_images == 0 && !in->no_images && !counts)
		rc = no_image(in, err);
	if (rc == 0 && in->n_files == 0 && access(HLG_INPUTS_DEFAULT, F_OK) != 0)
		rc = no_recording(in, err);
	return rc;
}

static void keep_first(struct hlg_inputs *in, size_t n)
{
	while (in->n_files > n)
		free(in->files[--in->n_files]);
}

/* A recording that is named twice counts once: also in one part of many, so of two names
 * the same one has to count in each. */
static int drop_same(struct hlg_inputs *in, struct hlg_err *err)
{
	size_t all, once = in->n_files;
	int rc;

	if (in->shard.n)
		hlg_list_sort(in->files, in->n_files);
	rc = hlg_twice_part(in->files, in->n_files, &once, err);
	keep_first(in, once);
	if (rc < 0)
		return rc;
	all = in->n_files;
	keep_first(in, hlg_shard_part(&in->shard, in->files, in->n_files));
	if (in->n_files || in->shard.n == 0)
		return 0;
	return hlg_err_set(
		err, HLG_EWORDS,
		"--shard=%" PRIu64 "/%" PRIu64
		": has nothing to read, as there are %zu recordings (use fewer "
		"parts)",
		in->shard.index, in->shard.n, all);
}

/* After a run in vain: what was recorded before that is there, and not lost. */
static void tell_before(void)
{
	if (hlg_perfdata_is_kept(HLG_INPUTS_DEFAULT) &&
	    hlg_perfdata_is_kept(HLG_INPUTS_BEFORE) &&
	    !hlg_perfdata_count_is_good(HLG_INPUTS_DEFAULT) &&
	    hlg_perfdata_count_is_good(HLG_INPUTS_BEFORE))
		fputs("hlguest: " HLG_INPUTS_DEFAULT ": has no guest samples; the last "
		      "recording with some is " HLG_INPUTS_BEFORE " (name it)\n",
		      stderr);
}

bool hlg_inputs_parse(struct hlg_inputs *in, const struct hlg_verb *verb, int argc,
		      char **argv, int *status)
{
	struct hlg_verb_option *options = hlg_inputs_options(verb);
	const struct hlg_argp_run run = {verb, options, hlg_inputs_sort,
					 hlg_inputs_keep_option};
	struct hlg_err err;
	bool go_on = false;
	int rc = options ? 0 : hlg_err_memory(&err, "arguments");

	in->verb = verb;
	in->threads = hlg_inputs_has(verb, "jobs") ? hlg_cpus_count() : 1;
	in->inlines = -1;
	if (in->second) {
		in->second->verb = verb;
		in->second->first = in;
	}
	if (rc == 0)
		go_on = hlg_argp_run_words(&run, argc, argv, in, status);
	free(options);
	if (go_on)
		rc = check_words(in, &err);
	if (go_on && rc == 0 && in->n_files == 0) {
		in->by_default = true;
		rc = hlg_inputs_add_file(in, HLG_INPUTS_DEFAULT, &err);
	}
	if (go_on && rc == 0)
		rc = drop_same(in, &err);
	if (go_on && rc == 0 && in->second)
		rc = drop_same(in->second, &err);
	if (in->second) {
		in->second->threads = in->threads;
		in->second->quiet = in->quiet;
		in->second->format = in->format;
	}
	if (rc == 0 && go_on && in->by_default)
		tell_before();
	if (rc == 0)
		return go_on;
	*status = hlg_output_error(&err);
	return false;
}

/* Which recording was read, where no word says so; and that another is newer. */
static void tell_default(struct hlg_run *run)
{
	struct stat st, other;
	struct tm tm;
	char made[32];

	if (stat(HLG_INPUTS_DEFAULT, &st) != 0 || !localtime_r(&st.st_mtime, &tm) ||
	    !strftime(made, sizeof(made), "%Y-%m-%d %H:%M", &tm))
		return;
	snprintf(run->recording, sizeof(run->recording), HLG_INPUTS_DEFAULT " of %s",
		 made);
	if (stat(HLG_INPUTS_HOST, &other) == 0 && S_ISREG(other.st_mode) &&
	    (other.st_mtim.tv_sec > st.st_mtim.tv_sec ||
	     (other.st_mtim.tv_sec == st.st_mtim.tv_sec &&
	      other.st_mtim.tv_nsec > st.st_mtim.tv_nsec)))
		hlg_note_list_warn(&run->notes, HLG_INPUTS_HOST
				   " is newer than " HLG_INPUTS_DEFAULT
				   ", which is shown (name it to see it)");
}

int hlg_inputs_read(const struct hlg_inputs *in, struct hlg_run *run,
		    struct hlg_batch *batch, int *status, struct hlg_err *err)
{
	int rc;

	for (size_t i = 0; in->noted && i < run->space.n_images; i++)
		run->space.images[i]->noted = true;
	if (run->apart) /* else one ELF of several is taken */
		hlg_unnamed_ask(in, &run->options);
	if (in->by_default)
		tell_default(run);
	batch->paths = in->files;
	batch->n_paths = in->n_files;
	batch->threads = in->threads;
	batch->quiet = in->quiet;
	rc = hlg_batch_read(batch, run, err);
	for (size_t i = 0; i < batch->n_paths && batch->files; i++)
		if (batch->files[i].rc < 0)
			*status = hlg_output_error(&batch->files[i].err);
	if (rc == 0 && batch->n_read == 0)
		*status = 1;
	return rc;
}
