// SPDX-License-Identifier: GPL-2.0-only
#include "tools/beside/beside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "symtab/file.h"
#include "symtab/grow.h"
#include "symtab/image/image.h"
#include "tools/beside/text.h"
#include "tools/perfdata/perfdata.h"

#define END ".hlguest"

#define LARGEST (1 << 20) /* bytes; a real one has less than 1 KiB for each guest */

static bool join(char place[static PATH_MAX], const char *path, const char *end)
{
	return snprintf(place, PATH_MAX, "%s%s", path, end) < PATH_MAX;
}

bool hlg_beside_place(char place[static PATH_MAX], const char *recording)
{
	return join(place, recording, END);
}

/* Identity of a recording */

struct first {
	uint64_t time;
	bool met;
};

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	struct first *first = ctx;
	uint64_t time = hlg_perfdata_time(raw);

	if (!first->met && time != HLG_NO_TIME)
		first->time = time;
	first->met = true;
}

/* A negative value ends the read. */
static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct first *first = ctx;

	(void)bytes;
	(void)samples;
	(void)err;
	return first->met ? -1 : 0;
}

/* Of a regular file, which is read up to its first sample; false of what is none. */
static bool identify(struct hlg_beside *beside, const char *recording)
{
	static const struct hlg_perfdata_sink sink = {.progress = on_progress};
	struct first first = {0};
	struct hlg_perfdata *pd;
	struct hlg_err err;
	struct stat st;

	if (stat(recording, &st) != 0 || !S_ISREG(st.st_mode) ||
	    hlg_perfdata_open(&pd, recording, &err) < 0)
		return false;
	hlg_perfdata_read(pd, on_sample, &sink, &first, &err);
	hlg_perfdata_close(pd);
	beside->size = (uint64_t)st.st_size;
	beside->first_sample = first.time;
	return true;
}

/* Reading */

static int read_text(struct hlg_beside *beside, int fd, off_t size, const char *place,
		     struct hlg_err *err)
{
	char *text;
	int rc;

	if (size > LARGEST)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is too large for what hlguest record notes (name "
				   "the guest's ELF)",
				   place);
	text = malloc((size_t)size + 1);
	if (!text)
		rc = hlg_err_memory(err, place);
	else if (hlg_file_read(fd, text, (size_t)size, 0) < 0)
		rc = hlg_file_fail_read(place, errno, err);
	else
		rc = hlg_beside_text_read(beside, place, text, (size_t)size, err);
	free(text);
	return rc;
}

/* What stands in place, of whatever recording. */
static int read_place(struct hlg_beside *beside, const char *place, struct hlg_err *err)
{
	struct hlg_file_id id;
	int fd = hlg_file_open_own(place, &id, "name the guest's ELF", err), rc;

	*beside = (struct hlg_beside){0};
	if (fd < 0)
		return fd;
	rc = read_text(beside, fd, id.size, place, err);
	close(fd);
	return rc;
}

static bool is_of(const struct hlg_beside *beside, const char *recording)
{
	struct hlg_beside now;

	return identify(&now, recording) && now.size == beside->size &&
	       now.first_sample == beside->first_sample;
}

int hlg_beside_read(struct hlg_beside *beside, const char *recording, struct hlg_err *err)
{
	char place[PATH_MAX];
	struct hlg_file_id id;
	struct stat st;
	int fd, rc;

	*beside = (struct hlg_beside){0};
	if (!hlg_beside_text_built() || !hlg_perfdata_is_kept(recording) ||
	    !hlg_beside_place(place, recording) || lstat(place, &st) != 0 ||
	    stat(recording, &st) != 0 || !S_ISREG(st.st_mode))
		return 1;
	fd = hlg_file_open(recording, &id, err); /* often root's, who made it */
	if (fd < 0)
		return fd;
	close(fd);
	rc = read_place(beside, place, err);
	if (rc == 0 && !is_of(beside, recording))
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: was noted of another recording than %s, or of that "
				 "before it was changed (name the guest's ELF)",
				 place, recording);
	return rc;
}

void hlg_beside_finish(struct hlg_beside *beside)
{
	for (size_t i = 0; i < beside->n_guests; i++)
		free(beside->guests[i].file);
	free(beside->guests);
	*beside = (struct hlg_beside){0};
}

/* The guest's ELF */

static uint64_t inside_of(const struct hlg_image *image)
{
	return image->inside_size ? image->inside : 0;
}

/* Fills *guest, but for its file, of an image. */
static int describe(struct hlg_beside_guest *guest, const struct hlg_image *image,
		    struct hlg_err *err)
{
	guest->inside = inside_of(image);
	return hlg_fingerprint_take(&guest->print, image, err);
}

bool hlg_beside_is_trusted(const char *file)
{
	struct stat st;

	return geteuid() != 0 || (stat(file, &st) == 0 && hlg_file_is_own(&st));
}

static int check_trust(const struct hlg_beside_guest *guest, const char *recording,
		       struct hlg_err *err)
{
	if (hlg_beside_is_trusted(guest->file))
		return 0;
	if (guest->stripped)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: the guest of %s had no symbols (name the file "
				   "that it was stripped from)",
				   guest->file, recording);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: the guest of %s, as record noted it, may be written by "
			   "others than root, and is not opened unless it is named "
			   "(name it)",
			   guest->file, recording);
}

bool hlg_beside_is_same(const struct hlg_beside_guest *a,
			const struct hlg_beside_guest *b)
{
	return a->inside == b->inside && hlg_fingerprint_is_same(&a->print, &b->print);
}

bool hlg_beside_is(const struct hlg_beside_guest *guest, const char *file, size_t number)
{
	size_t next = number;
	bool is = false;

	do {
		struct hlg_fingerprint_reader reader = {0};
		struct hlg_image *image;
		struct hlg_err err;

		if (hlg_image_open_guest(&image, file, next, &err) < 0)
			return false;
		next = number ? 0 : image->next_guest;
		reader.image = image;
		is = hlg_fingerprint_compare(&reader, &guest->print) == HLG_LIKENESS_SAME;
		hlg_image_destroy(image);
	} while (!is && next);
	return is;
}

/* Opens that which lies where it was noted; of a host that has none there, the last. */
static int open_noted(struct hlg_image **image, const struct hlg_beside_guest *guest,
		      struct hlg_err *err)
{
	int rc = hlg_image_open_guest(image, guest->file, 0, err);

	while (rc == 0 && guest->inside && (*image)->inside != guest->inside &&
	       (*image)->next_guest) {
		size_t next = (*image)->next_guest;

		hlg_image_destroy(*image);
		rc = hlg_image_open_guest(image, guest->file, next, err);
	}
	return rc;
}

int hlg_beside_check(const struct hlg_beside_guest *guest, const char *recording,
		     char **name, struct hlg_err *err)
{
	struct hlg_image *image;
	const char *id = guest->print.build_id;
	int rc;

	*name = NULL;
	if (access(guest->file, F_OK) != 0)
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: is where %s had its guest's ELF%s, and is not here "
			"(copy it from the machine of the recording, and name "
			"it%s%.8s)",
			guest->file, recording, guest->inside ? " inside" : "",
			id[0] ? "; its build id begins with " : "", id);
	rc = check_trust(guest, recording, err);
	if (rc < 0)
		return rc;
	rc = open_noted(&image, guest, err);
	if (rc < 0)
		return rc;
	if (inside_of(image) != guest->inside ||
	    !hlg_fingerprint_is_file(image, &guest->print))
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: %s not the ELF any more that %s was recorded with "
				 "(name that one, or record again)",
				 guest->file, guest->inside ? "has inside" : "is",
				 recording);
	else if (!(*name = strdup(image->path)))
		rc = hlg_err_memory(err, guest->file);
	hlg_image_destroy(image);
	return rc;
}

char *hlg_beside_name(const struct hlg_beside_guest *guest, const char *recording)
{
	struct hlg_err err;
	struct stat st;
	char *name;

	if (hlg_beside_is_trusted(guest->file)) {
		(void)hlg_beside_check(guest, recording, &name, &err);
		return name;
	}
	if (guest->stripped || guest->inside || stat(guest->file, &st) != 0 ||
	    !S_ISREG(st.st_mode) || (uint64_t)st.st_size != guest->print.size)
		return NULL;
	return strdup(guest->file);
}

/* Writing */

/* What was noted of the recording before goes with that, which perf has renamed. What was
 * noted of this very one is in *before, or nothing. */
static void retire(const char *place, const char *recording, struct hlg_beside *before)
{
	char old[PATH_MAX], old_place[PATH_MAX];
	struct hlg_err err;

	if (read_place(before, place, &err) == 0) {
		if (join(old, recording, ".old") && hlg_beside_place(old_place, old) &&
		    is_of(before, old))
			(void)rename(place, old_place);
		else
			(void)unlink(place);
	}
	if (!is_of(before, recording))
		hlg_beside_finish(before);
}

static int write_place(const struct hlg_beside *beside, const char *place,
		       struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_out_open_own(&out, place, err);

	if (rc < 0)
		return rc;
	rc = hlg_beside_text_write(out.f, beside, err);
	if (rc == 0)
		return hlg_out_commit(&out, err);
	hlg_out_abort(&out);
	return rc;
}

static bool has(const struct hlg_beside *beside, const struct hlg_beside_guest *guest)
{
	for (size_t i = 0; i < beside->n_guests; i++)
		if (strcmp(beside->guests[i].file, guest->file) == 0 &&
		    beside->guests[i].inside == guest->inside)
			return true;
	return false;
}

/* Adds a guest; *next: the next one inside the same file, 0: none. */
static int look_at_guest(struct hlg_beside *beside, const char *path, size_t *next,
			 struct hlg_err *err)
{
	struct hlg_beside_guest *guest;
	struct hlg_image *image;
	struct hlg_err why;
	int rc = hlg_image_open_guest(&image, path, *next, err);
	const bool stripped =
		rc < 0 && *next == 0 && hlg_image_open_stripped(&image, path, &why) == 0;

	if (stripped)
		rc = 0;
	*next = 0;
	if (rc < 0)
		return rc;
	if (HLG_GROW(beside->guests, beside->n_guests)) {
		guest = &beside->guests[beside->n_guests];
		*guest = (struct hlg_beside_guest){.stripped = stripped};
		rc = describe(guest, image, err);
		guest->file = rc == 0 ? realpath(path, NULL) : NULL;
		beside->n_guests += guest->file != NULL;
		*next = image->next_guest;
	} else {
		rc = hlg_err_memory(err, path);
	}
	hlg_image_destroy(image);
	return rc;
}

/* Adds each guest inside a file, or the ELF that it is. */
static int look_at_guests(struct hlg_beside *beside, const char *path,
			  struct hlg_err *err)
{
	size_t next = 0;
	int rc = 0;

	while (rc == 0 && beside->n_guests < HLG_BESIDE_GUESTS) {
		rc = look_at_guest(beside, path, &next, err);
		if (next == 0)
			break;
	}
	return rc;
}

/* Moves those that are not there yet behind the guests. Without memory they are left out:
 * the rest is what is asked for. */
static void add_others(struct hlg_beside *to, const struct hlg_beside *from)
{
	const size_t most = to->n_guests + HLG_BESIDE_GUESTS;

	for (size_t i = 0; i < from->n_guests; i++) {
		struct hlg_beside_guest *other = &from->guests[i];

		if (has(to, other) || to->n_guests == most ||
		    !HLG_GROW(to->guests, to->n_guests))
			continue;
		to->guests[to->n_guests] = *other;
		to->guests[to->n_guests++].other = true;
		other->file = NULL;
	}
}

int hlg_beside_write(const char *recording, const char *const *guests, size_t n,
		     const char *const *others, size_t n_others, struct hlg_err *err)
{
	struct hlg_beside beside = {0}, more = {0};
	char place[PATH_MAX];
	struct hlg_err why;
	struct stat st;
	int rc = 0;

	if (!hlg_beside_text_built() || !hlg_beside_place(place, recording))
		return 0;
	if (lstat(place, &st) == 0)
		retire(place, recording, &more);
	if (n && identify(&beside, recording) && lstat(place, &st) == 0)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is another file, and is left as it is: which guest "
				 "ELF this was is not noted (name it to report)",
				 place);
	for (size_t i = 0; rc == 0 && beside.size && i < n; i++)
		rc = look_at_guests(&beside, guests[i], err);
	for (size_t i = 0; rc == 0 && beside.n_guests && i < n_others; i++)
		(void)look_at_guests(&more, others[i], &why);
	if (rc == 0 && beside.n_guests) {
		add_others(&beside, &more);
		rc = write_place(&beside, place, err);
	}
	hlg_beside_finish(&beside);
	hlg_beside_finish(&more);
	return rc;
}
