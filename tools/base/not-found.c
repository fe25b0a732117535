// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/not-found.h"

#include <inttypes.h>

#include "filter/report/banner.h"
#include "filter/stats/interval.h"
#include "filter/trust/identity.h"
#include "symtab/image/lane.h"
#include "tools/cli/output.h"

#define IN_TURN                                                                          \
	"or, if guests ran in turn at one base, record with hlguest record --sandboxes"

enum {
	LEAST = 20 /* distinct addresses: fewer hardly find a base */
};

/* What recordings tell of an image; NULL: nothing. */
static const struct hlg_ran *told_of(const struct hlg_run *run,
				     const struct hlg_image *image)
{
	const struct hlg_rans *ran = &run->profile.ran;

	return image->number < ran->n ? &ran->at[image->number] : NULL;
}

/* Did another build run, as is told before bases are? */
static bool is_other(const struct hlg_run *run, const struct hlg_image *image)
{
	const struct hlg_ran *ran = told_of(run, image);

	return ran && hlg_identity_verdict(ran) != HLG_TRUST_UNTESTED;
}

static bool is_same(const struct hlg_run *run, const struct hlg_image *image)
{
	const struct hlg_ran *ran = told_of(run, image);

	return ran && ran->identities >> HLG_IDENTITY_SAME & 1;
}

/* One of the other images that ran, as recordings tell, if none tells it of this one. */
static const struct hlg_image *noted_instead(const struct hlg_run *run,
					     const struct hlg_image *image)
{
	for (size_t i = 0; !is_same(run, image) && i < run->space.n_images; i++)
		if (is_same(run, run->space.images[i]))
			return run->space.images[i];
	return NULL;
}

/* The other images have all addresses. */
static void put_none(struct hlg_err *err, const struct hlg_run *run,
		     const struct hlg_image *image)
{
	const struct hlg_image *noted = noted_instead(run, image);
	const bool told = run->profile.sandboxes.n > 0;

	if (is_other(run, image))
		hlg_err_set(err, HLG_EINPUT, "%s: the other ELFs have all samples",
			    image->path);
	else if (noted)
		hlg_err_set(err, HLG_EINPUT,
			    "%s: the other ELFs have all samples (did it run? record "
			    "noted %s, and not this one)",
			    image->path, noted->path);
	else
		hlg_err_set(err, HLG_EINPUT,
			    "%s: the other ELFs have all samples (did it run?%s)",
			    image->path, told ? "" : " name it alone, " IN_TURN);
}

/* There are too few addresses to say more. What guests at one base have together is no
 * more of it for being longer recorded. */
static void put_few(struct hlg_err *err, const struct hlg_run *run,
		    const struct hlg_image *image, size_t all, size_t left, bool others)
{
	const bool told = run->profile.sandboxes.n > 0;

	hlg_err_set(err, HLG_EINPUT,
		    "%s: %zu distinct address%s%s, about %d are needed to find a base%s",
		    image->path, left, left == 1 ? "" : "es",
		    others ? " left by the images before it" : "", LEAST,
		    is_other(run, image)              ? ""
		    : others && all >= LEAST && !told ? " (name it alone, " IN_TURN ")"
						      : " (record longer, or at a higher "
							"rate)");
}

static void put_best(struct hlg_err *err, const struct hlg_run *run,
		     const struct hlg_image *image, const struct hlg_fit *best)
{
	const bool other = is_other(run, image), told = run->profile.sandboxes.n > 0;
	const bool near = best->off && best->on >= best->off;
	char percent[16];

	hlg_interval_part(percent, best->on, best->off);
	if (best->on == 0)
		hlg_err_set(err, HLG_EINPUT, "%s: no base stands out%s", image->path,
			    other ? "" : " (is it this guest's ELF?)");
	else
		hlg_err_set(err, HLG_EINPUT,
			    "%s: no base stands out; the best, 0x%" PRIx64
			    ", has %s %% of addresses on instruction starts%s%s%s",
			    image->path, best->base, percent,
			    other ? "" : " (is it this guest's ELF?",
			    !other && near && !told ? " " IN_TURN : "", other ? "" : ")");
}

/* Addresses of guests of which no base was found: no ELF has them. */
static size_t count_nobody(const struct hlg_addresses *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += hlg_lane_of(all->at[i].ip) == HLG_LANE_NOBODY;
	return n;
}

int hlg_not_found_tell(const struct hlg_run *run, const struct hlg_image *image,
		       const struct hlg_addresses *all, const struct hlg_addresses *left,
		       const struct hlg_fit *best, bool others)
{
	const struct hlg_boundaries at = {best->on, best->off, 0};
	const size_t n = left->n ? left->n : count_nobody(all);
	struct hlg_err err;

	if (n == 0)
		put_none(&err, run, image);
	/* Few may tell that they fit nowhere, all the same. */
	else if (n < LEAST && !(best->on && hlg_verdict_is_off(&at)))
		put_few(&err, run, image, all->n, n, others && left->n);
	else
		put_best(&err, run, image, best);
	hlg_output_error(&err);
	return is_other(run, image) ? HLG_BANNER_STATUS : 1;
}
