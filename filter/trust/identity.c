// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/identity.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/elf/debug-file.h"

/* The id of a host that is mapped is not that of the guest inside. */
static bool is_named(const struct hlg_image *image, const struct hlg_build *build)
{
	const char *file = hlg_image_file(image), *slash = strrchr(file, '/');

	return (build->noted || !image->inside_size) &&
	       strcmp(slash ? slash + 1 : file, build->file) == 0;
}

/* An id may be cut: recordings have 20 bytes at most. */
static bool has_id(const struct hlg_image *image, const struct hlg_build *build)
{
	const char *id = image->elf.build_id;

	return id[0] && build->id[0] && strncmp(id, build->id, strlen(build->id)) == 0;
}

/* Has the image the bytes that were noted? */
static bool has_bytes(const struct hlg_image *image, const struct hlg_build *build)
{
	uint64_t size =
		image->inside_size ? image->inside_size : (uint64_t)image->elf.id.size;
	struct hlg_err err;
	uint32_t crc;
	bool same;
	int fd;

	if (!build->noted || build->size != size)
		return false;
	fd = hlg_image_reopen(image, &err);
	if (fd < 0)
		return false;
	same = hlg_debug_file_crc(fd, image->path, (off_t)size, &crc, &err) == 0 &&
	       crc == build->crc;
	close(fd);
	return same;
}

static bool is_build(const struct hlg_image *image, const struct hlg_build *build)
{
	if (image->elf.build_id[0] && build->id[0])
		return has_id(image, build);
	return has_bytes(image, build);
}

static bool is_any(const struct hlg_space *space, const struct hlg_build *build)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (!space->images[i]->map && is_build(space->images[i], build))
			return true;
	return false;
}

/* A guest's ELF that is none of the images, and has an id to tell it by. */
static bool is_missing(const struct hlg_space *space, const struct hlg_build *build)
{
	return build->noted && build->id[0] && !is_any(space, build);
}

/* Of an image of a space; *ran is the build that differs, else NULL. */
static enum hlg_identity identify(const struct hlg_image *image,
				  const struct hlg_space *space,
				  const struct hlg_builds *builds,
				  const struct hlg_build **ran)
{
	enum hlg_identity found = HLG_IDENTITY_UNKNOWN;

	*ran = NULL;
	if (image->map)
		return HLG_IDENTITY_UNKNOWN;
	for (size_t i = 0; i < builds->n; i++)
		if (is_build(image, &builds->at[i]))
			return HLG_IDENTITY_SAME;
	for (size_t i = 0; i < builds->n && found != HLG_IDENTITY_OTHER; i++) {
		const struct hlg_build *build = &builds->at[i];
		bool named = is_named(image, build);
		bool ids = image->elf.build_id[0] && build->id[0];

		if (ids ? named || is_missing(space, build) : named && build->noted) {
			found = ids ? HLG_IDENTITY_OTHER : HLG_IDENTITY_CHANGED;
			*ran = build;
		}
	}
	return found;
}

/* The build that another guest of the same file name is of, which none of the images is:
 * whose samples are whose nothing tells. NULL: there is none. */
static const struct hlg_build *find_namesake(const struct hlg_image *image,
					     const struct hlg_space *space,
					     const struct hlg_builds *builds)
{
	for (size_t i = 0; i < builds->n; i++)
		if (is_named(image, &builds->at[i]) && is_missing(space, &builds->at[i]))
			return &builds->at[i];
	return NULL;
}

/* Did others of the images run, as record noted, and not this one? */
static bool ran_others(const struct hlg_image *image, const struct hlg_space *space,
		       const struct hlg_builds *builds)
{
	bool any = false;

	for (size_t i = 0; i < builds->n; i++) {
		if (!image->map && is_build(image, &builds->at[i]))
			return false;
		any |= builds->at[i].noted && is_any(space, &builds->at[i]);
	}
	return any;
}

/* Which images may have samples of the profile: those they lie in; and if any lies in
 * none, those whose base may come to be another one, unless only others ran. */
static void find_sampled(bool *sampled, const struct hlg_profile *profile,
			 const struct hlg_space *space)
{
	bool outside = false;

	for (size_t i = 0; i < hlg_profile_room(profile); i++) {
		const struct hlg_cell *cell = &profile->cells[i];
		struct hlg_place place;

		if (!cell->count.samples)
			continue;
		hlg_space_lookup(space,
				 cell->ip + hlg_profile_move(profile, cell->series),
				 &place);
		if (place.image)
			sampled[place.image->number] = true;
		else
			outside = true;
	}
	for (size_t i = 0; outside && i < space->n_images; i++)
		sampled[i] |= space->images[i]->from != HLG_BASE_STATED &&
			      !ran_others(space->images[i], space, &profile->builds);
}

/* What an ELF is known by, however often it is named. */
static const char *key_of(const struct hlg_image *image)
{
	return image->elf.build_id[0] ? image->elf.build_id : image->path;
}

/* A recording counts once for each ELF, at however many bases that is named. */
static void add_origin(struct hlg_profile *profile, const struct hlg_space *space,
		       const bool *sampled, size_t number)
{
	const struct hlg_image *image = space->images[number];

	for (size_t i = 0; i < number; i++)
		if (sampled[i] && strcmp(key_of(space->images[i]), key_of(image)) == 0)
			return;
	hlg_origins_add(&profile->origins, HLG_ORIGIN_IMAGE, key_of(image), image->path,
			1);
}

void hlg_identity_judge(struct hlg_profile *profile, const struct hlg_space *space,
			bool recorded)
{
	const struct hlg_builds *builds = &profile->builds;
	struct hlg_rans *rans = &profile->ran;
	bool *sampled = calloc(space->n_images + 1, sizeof(*sampled));

	rans->more |= builds->more;
	rans->lost |= builds->lost || !sampled;
	if (sampled)
		find_sampled(sampled, profile, space);
	for (size_t i = 0; sampled && i < space->n_images; i++) {
		const struct hlg_build *ran;
		enum hlg_identity identity;

		if (sampled[i] && recorded)
			add_origin(profile, space, sampled, i);
		/* Without builds it does not matter. */
		if (!sampled[i] && builds->n)
			continue;
		identity = identify(space->images[i], space, builds, &ran);
		hlg_rans_add(rans, i, identity, ran ? ran->file : NULL,
			     ran ? ran->id : NULL);
		if (identity == HLG_IDENTITY_UNKNOWN)
			hlg_rans_written(rans, builds->written);
		if (identity == HLG_IDENTITY_SAME)
			ran = find_namesake(space->images[i], space, builds);
		if (identity == HLG_IDENTITY_SAME && ran)
			hlg_rans_add(rans, i, HLG_IDENTITY_OTHER, ran->file, ran->id);
	}
	free(sampled);
	hlg_builds_finish(&profile->builds);
}
