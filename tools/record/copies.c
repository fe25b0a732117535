// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/copies.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "filter/output/temp-file.h"
#include "filter/run.h"
#include "tools/callers/unwind.h"
#include "tools/feed/feed.h"

int hlg_record_copies_begin(struct hlg_record_copies *copies, const char *recording,
			    struct hlg_err *err)
{
	char folder[PATH_MAX];
	int fd = hlg_target_folder(folder, recording) ? hlg_temp_file_nameless(folder)
						      : -1;
	struct statvfs fs;

	memset(copies, 0, sizeof(*copies));
	copies->f = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!copies->f || fstatvfs(fd, &fs) != 0) {
		int error = errno;

		if (fd >= 0 && !copies->f)
			close(fd);
		hlg_record_copies_finish(copies);
		return hlg_err_set(err, HLG_ESYSTEM,
				   "copied stacks cannot be kept beside %s: %s",
				   recording, strerrordesc_np(error));
	}
	copies->most = fs.f_bavail * fs.f_frsize / 2;
	return 0;
}

bool hlg_record_copies_add(struct hlg_record_copies *copies,
			   const struct hlg_callers_copy *copy)
{
	size_t size = HLG_CALLERS_COPY_SIZE(copy->size);

	if (!copies->f)
		return false;
	copies->bytes += size;
	if (copies->bytes <= copies->most && fwrite(copy, size, 1, copies->f) == 1) {
		copies->n++;
		return true;
	}
	hlg_err_set(
		&copies->why, HLG_ESYSTEM,
		"no room for copied stacks after %llu of them (make room, sample less "
		"often: -F, or copy less: --stack-size)",
		(unsigned long long)copies->n);
	fclose(copies->f);
	copies->f = NULL;
	return false;
}

void hlg_record_copies_finish(struct hlg_record_copies *copies)
{
	if (copies->f)
		fclose(copies->f);
	memset(copies, 0, sizeof(*copies));
}

/* The next one; false at the end. */
static bool read_copy(FILE *f, struct hlg_callers_copy *copy)
{
	return fread(copy, HLG_CALLERS_COPY_SIZE(0), 1, f) == 1 &&
	       copy->size <= HLG_WALK_COPY_MAX &&
	       (copy->size == 0 || fread(copy->bytes, copy->size, 1, f) == 1);
}

/* What unwinding needs. */
struct unwinding {
	struct hlg_run run; /* of one image, at its bases */
	struct hlg_image *image;
	struct hlg_callers_unwind *tables;
	struct hlg_callers_copy copy;
	uint64_t old; /* copies without a stack, as KVM had an old stack pointer */
};

static int open_guest(struct unwinding *u, const char *guest, struct hlg_err *err)
{
	struct hlg_image *image;
	int rc = hlg_run_begin(&u->run, 0, NULL, err);

	if (rc == 0)
		rc = hlg_image_open_guest(&image, guest, 0, err);
	if (rc == 0) {
		u->image = image;
		rc = hlg_space_add(&u->run.space, image, err);
	}
	if (rc == 0 && u->image->next_guest)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s has more guests than one inside (name the guest's "
				   "ELF in the command, or use --guest-stacks=fp)",
				   guest);
	return rc < 0 ? rc : hlg_callers_unwind_open(&u->tables, u->image, err);
}

/* As a report does it, of all samples. */
static int find_base(struct unwinding *u, const char *recording, struct hlg_err *err)
{
	const struct hlg_feed_how how = {.threads = 1, .no_sandboxes = true};
	struct hlg_recording_sums sums;
	int rc = hlg_feed_read(recording, &how, &u->run.profile, NULL, &sums, err);

	if (rc == 0)
		rc = hlg_run_settle(&u->run, err);
	if (rc == 0 && u->image->from == HLG_BASE_DEFAULT)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: where the guest has it is not known, nor found "
				   "from the samples (record longer, or use "
				   "--guest-stacks=fp)",
				   u->image->path);
	return rc;
}

static bool add_stack(struct unwinding *u, struct hlg_join *join)
{
	const struct hlg_callers_stack *head = (const void *)u->copy.head;
	struct hlg_callers_stack stack;
	struct hlg_place place;
	uint32_t n = 0;

	if (head->end == HLG_WALK_NO_RSP) {
		u->old++;
		return true;
	}
	memcpy(&stack, u->copy.head, sizeof(u->copy.head));
	hlg_space_lookup(&u->run.space, u->copy.regs[HLG_CALLERS_REGS - 1], &place);
	stack.end = HLG_WALK_NO_CFI;
	if (place.image)
		stack.end = (uint8_t)hlg_callers_unwind_stack(
			u->tables, u->copy.regs[HLG_CALLERS_REGS - 1] - place.addr,
			&u->copy, stack.callers, &n);
	stack.n = (uint16_t)n;
	return hlg_join_add(join, &stack);
}

static int unwind_all(struct unwinding *u, struct hlg_record_copies *copies,
		      struct hlg_join *join, struct hlg_err *err)
{
	uint64_t n = 0;

	rewind(copies->f); /* which writes what is left, and forgets errors of before */
	for (; n < copies->n && read_copy(copies->f, &u->copy); n++)
		if (!add_stack(u, join))
			return hlg_err_memory(err, "guest stacks");
	if (n < copies->n)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "copied stacks cannot be read again (make room on the "
				   "disk)");
	if (u->old > n - u->old)
		return hlg_err_set(
			err, HLG_EINPUT,
			"KVM does not know the guest's stack pointer when it is sampled, "
			"as on Intel (build the guest with frame pointers, and use "
			"--guest-stacks=fp)");
	return 0;
}

int hlg_record_copies_unwind(struct hlg_record_copies *copies, const char *recording,
			     const char *guest, struct hlg_join *join,
			     struct hlg_err *err)
{
	struct unwinding *u = calloc(1, sizeof(*u));
	int rc;

	if (!u)
		return hlg_err_memory(err, "guest stacks");
	if (!copies->f)
		rc = hlg_err_set(err, HLG_ESYSTEM, "%s", copies->why.msg);
	else
		rc = open_guest(u, guest, err);
	if (rc == 0)
		rc = find_base(u, recording, err);
	if (rc == 0)
		rc = unwind_all(u, copies, join, err);
	hlg_callers_unwind_close(u->tables);
	hlg_run_finish(&u->run);
	free(u);
	return rc;
}
