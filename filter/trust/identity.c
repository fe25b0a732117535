// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/identity.h"

#include <stdlib.h>
#include <string.h>

struct judge {
	const struct hlg_space *space;
	const struct hlg_builds *builds;
	struct hlg_fingerprint_reader *readers; /* of the images */
};

bool hlg_identity_is_called(const struct hlg_image *image, const char *file)
{
	const char *own = hlg_image_file(image), *slash = strrchr(own, '/');

	return strcmp(slash ? slash + 1 : own, file) == 0;
}

/* The id of a host that is mapped is not that of the guest inside. */
static bool is_named(const struct hlg_image *image, const struct hlg_build *build)
{
	return (build->noted || (!build->maybe && !image->inside_size)) &&
	       hlg_identity_is_called(image, build->file);
}

static enum hlg_likeness compare(struct judge *judge, size_t image,
				 const struct hlg_build *build)
{
	judge->readers[image].image = judge->space->images[image];
	return hlg_fingerprint_compare(&judge->readers[image], &build->print);
}

static bool is_any(struct judge *judge, const struct hlg_build *build)
{
	for (size_t i = 0; i < judge->space->n_images; i++)
		if (compare(judge, i, build) == HLG_LIKENESS_SAME)
			return true;
	return false;
}

/* A guest's ELF that is none of the images, as far as can be told of each. */
static bool is_missing(struct judge *judge, const struct hlg_build *build)
{
	bool missing = build->noted;

	for (size_t i = 0; missing && i < judge->space->n_images; i++)
		missing = judge->space->images[i]->map ||
			  compare(judge, i, build) == HLG_LIKENESS_OTHER;
	return missing;
}

/* Is it another build of the image: of its name, or else a guest that is none of the
 * images? */
static bool is_other(struct judge *judge, size_t image, const struct hlg_build *build,
		     bool named)
{
	return compare(judge, image, build) == HLG_LIKENESS_OTHER &&
	       (named ? is_named(judge->space->images[image], build)
		      : is_missing(judge, build));
}

/* Of an image of the space; *ran is the build that differs, else NULL. CODE: none that
 * ran has its build id. */
static enum hlg_identity identify(struct judge *judge, size_t image,
				  const struct hlg_build **ran)
{
	const struct hlg_builds *builds = judge->builds;
	bool same = false;

	*ran = NULL;
	for (size_t i = 0; i < builds->n; i++) {
		if (compare(judge, image, &builds->at[i]) != HLG_LIKENESS_SAME)
			continue;
		same = true;
		if (!hlg_fingerprint_has_other_id(judge->space->images[image],
						  &builds->at[i].print))
			return HLG_IDENTITY_SAME;
	}
	if (same)
		return HLG_IDENTITY_CODE;
	/* One of its name is it, before any other that ran. */
	for (int named = 1; named >= 0 && !*ran; named--)
		for (size_t i = 0; i < builds->n && !*ran; i++)
			if (is_other(judge, image, &builds->at[i], named))
				*ran = &builds->at[i];
	return *ran ? HLG_IDENTITY_OTHER : HLG_IDENTITY_UNKNOWN;
}

/* The build that another guest of the same file name is of, which none of the images is:
 * whose samples are whose nothing tells. NULL: there is none. */
static const struct hlg_build *find_namesake(struct judge *judge, size_t image)
{
	for (size_t i = 0; i < judge->builds->n; i++)
		if (is_named(judge->space->images[image], &judge->builds->at[i]) &&
		    is_missing(judge, &judge->builds->at[i]))
			return &judge->builds->at[i];
	return NULL;
}

/* Did others of the images run, as record noted, and not this one? */
static bool ran_others(struct judge *judge, size_t image)
{
	bool any = false;

	for (size_t i = 0; i < judge->builds->n; i++) {
		const struct hlg_build *build = &judge->builds->at[i];

		if (compare(judge, image, build) == HLG_LIKENESS_SAME)
			return false;
		any |= build->noted && is_any(judge, build);
	}
	return any;
}

/* A guest that record noted, and that is none of the images, where others of these ran
 * and this one did not. NULL: there is none. */
static const struct hlg_build *find_instead(struct judge *judge, size_t image)
{
	const struct hlg_builds *builds = judge->builds;

	if (!ran_others(judge, image))
		return NULL;
	for (size_t i = 0; i < builds->n; i++)
		if (is_other(judge, image, &builds->at[i], false))
			return &builds->at[i];
	return NULL;
}

/* Which images may have samples of the profile: those they lie in; and if any lies in
 * none, those of whose name another build ran, and those whose base may come to be
 * another one, unless only others ran. Does much lie in none? */
static bool find_sampled(bool *sampled, const struct hlg_profile *profile,
			 struct judge *judge)
{
	const struct hlg_space *space = judge->space;
	uint64_t outside = 0, all = 0;

	for (size_t i = 0; i < hlg_profile_room(profile); i++) {
		const struct hlg_cell *cell = &profile->cells[i];
		struct hlg_place place;

		if (!cell->count.samples)
			continue;
		hlg_space_lookup(space,
				 cell->ip + hlg_profile_move(profile, cell->series),
				 &place);
		all += cell->count.samples;
		if (place.image)
			sampled[place.image->number] = true;
		else
			outside += cell->count.samples;
	}
	for (size_t i = 0; outside && i < space->n_images; i++)
		sampled[i] |= find_namesake(judge, i) ||
			      (space->images[i]->from != HLG_BASE_STATED &&
			       !ran_others(judge, i));
	return hlg_verdict_is_much(outside, all);
}

const char *hlg_identity_key(const struct hlg_image *image)
{
	return image->elf.build_id[0] ? image->elf.build_id : image->path;
}

/* A recording counts once for each ELF, at however many bases that is named. */
static void add_origin(struct hlg_profile *profile, const struct hlg_space *space,
		       const bool *sampled, size_t number)
{
	const struct hlg_image *image = space->images[number];
	const char *key = hlg_identity_key(image);

	for (size_t i = 0; i < number; i++)
		if (sampled[i] && strcmp(hlg_identity_key(space->images[i]), key) == 0)
			return;
	hlg_origins_add(&profile->origins, HLG_ORIGIN_IMAGE, key, image->path, 1);
}

/* What the builds of the profile tell of an image. */
static void judge_image(struct judge *judge, struct hlg_rans *rans, size_t image,
			const char *recording)
{
	const struct hlg_build *ran;
	enum hlg_identity identity = identify(judge, image, &ran);

	/* A saved profile has told it. */
	if (identity == HLG_IDENTITY_UNKNOWN && image < rans->n &&
	    rans->at[image].identities)
		return;
	if (identity == HLG_IDENTITY_CODE) {
		hlg_rans_add(rans, image, identity, NULL, NULL);
		identity = HLG_IDENTITY_SAME;
	}
	hlg_rans_add(rans, image, identity, ran ? ran->file : NULL,
		     ran ? ran->print.build_id : NULL);
	if (identity == HLG_IDENTITY_UNKNOWN)
		hlg_rans_written(rans, judge->builds->written);
	if (identity == HLG_IDENTITY_SAME)
		ran = find_namesake(judge, image);
	if (identity == HLG_IDENTITY_SAME && ran)
		hlg_rans_add(rans, image, HLG_IDENTITY_OTHER, ran->file,
			     ran->print.build_id);
	if (recording)
		hlg_rans_name(rans, image, recording);
}

/* Of an image that has no sample where much lies outside. */
static void judge_absent(struct judge *judge, struct hlg_rans *rans, size_t image,
			 const char *recording)
{
	const struct hlg_build *ran = find_instead(judge, image);

	if (ran)
		hlg_rans_add(rans, image, HLG_IDENTITY_ABSENT, ran->file,
			     ran->print.build_id);
	if (ran && recording)
		hlg_rans_name(rans, image, recording);
}

void hlg_identity_judge(struct hlg_profile *profile, const struct hlg_space *space,
			const char *recording)
{
	const struct hlg_builds *builds = &profile->builds;
	struct judge judge = {space, builds,
			      calloc(space->n_images + 1, sizeof(*judge.readers))};
	bool *sampled = calloc(space->n_images + 1, sizeof(*sampled));
	const bool able = sampled && judge.readers;
	bool much = false;

	profile->ran.more |= builds->more;
	profile->ran.lost |= builds->lost || !able;
	if (able)
		much = find_sampled(sampled, profile, &judge);
	for (size_t i = 0; able && i < space->n_images; i++) {
		if (sampled[i] && recording)
			add_origin(profile, space, sampled, i);
		/* Without builds it does not matter. */
		if (sampled[i] || !builds->n)
			judge_image(&judge, &profile->ran, i, recording);
		else if (much)
			judge_absent(&judge, &profile->ran, i, recording);
	}
	free(judge.readers);
	free(sampled);
	hlg_builds_finish(&profile->builds);
}

enum hlg_trust_verdict hlg_identity_verdict(const struct hlg_ran *ran)
{
	if (hlg_rans_worst(ran) != HLG_IDENTITY_OTHER)
		return HLG_TRUST_UNTESTED;
	return ran->identities >> HLG_IDENTITY_SAME & 1 ? HLG_TRUST_MIXED
							: HLG_TRUST_MISMATCH;
}
