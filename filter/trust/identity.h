/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is an image the build that was recorded? Build ids say so, or what record noted where
 * there are none, before any sample does.
 */
#ifndef HLG_FILTER_TRUST_IDENTITY_H
#define HLG_FILTER_TRUST_IDENTITY_H

#include "filter/profile/profile.h"
#include "filter/trust/verdict.h"
#include "symtab/image/space.h"

/*
 * Judges one recording, which the profile holds, by its builds: adds to the profile's ran
 * what they tell of each image of a space (arranged) that the recording may have samples
 * of, and empties the builds. Samples that lie in no image may be of one whose base is
 * not stated, unless record noted others of the images and not this one; and of one of
 * whose file name record noted another build, which is none of the images. Another build
 * ran if one of the image's file name is another (symtab/image/fingerprint.h); or, if
 * there is none of that name, if record noted a guest that is none of the space's images,
 * and this image is no build that was noted or mapped. Of another recording that says
 * nothing: each has its own. Where much lies outside, and an image has no sample though
 * others of the images ran, a guest that is none of the images tells that this one is
 * absent (HLG_IDENTITY_ABSENT). If this image ran and record noted a guest of its name,
 * of another build that is none of the images, both ran. recording: its name; NULL: it is
 * a saved profile, or a part of several. Of a recording the images that it may have
 * samples of are added to the profile's origins, too.
 */
void hlg_identity_judge(struct hlg_profile *profile, const struct hlg_space *space,
			const char *recording);

/* What recordings that may have samples of an image tell of it: another build ran in none
 * of them (UNTESTED), besides this one (MIXED), or in all that tell (MISMATCH). */
enum hlg_trust_verdict hlg_identity_verdict(const struct hlg_ran *ran);

/* Is that the name of its file, without folders? Of a guest inside it is the host's. */
bool hlg_identity_is_called(const struct hlg_image *image, const char *file);

/* What an ELF is known by among a profile's origins, however often it is named. */
const char *hlg_identity_key(const struct hlg_image *image);

#endif
