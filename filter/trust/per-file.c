// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/per-file.h"

#include <stdlib.h>
#include <string.h>

#include "filter/trust/base-search.h"

bool hlg_fits_begin(struct hlg_fits *fits, const struct hlg_space *space)
{
	*fits = (struct hlg_fits){.space = space};
	fits->codes = calloc(space->n_images + 1, sizeof(*fits->codes));
	if (!fits->codes)
		return false;
	for (size_t i = 0; i < space->n_images; i++) {
		struct hlg_err err;

		/* What cannot be decoded is not tested. */
		if (hlg_code_open(&fits->codes[i], space->images[i], &err) == HLG_ESYSTEM)
			return false;
	}
	return true;
}

static bool lost(const struct hlg_fits *fits)
{
	for (size_t i = 0; i < fits->space->n_images; i++)
		if (fits->codes[i] && hlg_code_lost(fits->codes[i]))
			return true;
	return false;
}

void hlg_fits_finish(struct hlg_fits *fits)
{
	for (size_t i = 0; fits->codes && i < fits->space->n_images; i++)
		hlg_code_close(fits->codes[i]);
	free(fits->codes);
	*fits = (struct hlg_fits){0};
}

static struct hlg_code *code_of(const struct hlg_fits *fits,
				const struct hlg_image *image)
{
	return hlg_space_has(fits->space, image) ? fits->codes[image->number] : NULL;
}

/* Images that have a base are tested there. Keeps the addresses that are in none. */
static void test_placed(struct hlg_fits *fits, struct hlg_addresses *addrs,
			struct hlg_tested *tested, struct hlg_file_fit *fit)
{
	uint64_t lowest = UINT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < addrs->n; i++) {
		const struct hlg_sampled *at = &addrs->at[i];
		struct hlg_place place;

		hlg_space_lookup(fits->space, at->ip, &place);
		if (!place.image) {
			addrs->at[n++] = *at;
			continue;
		}
		/* An image has one base, if any, while recordings are read. */
		fit->n_bases = 1;
		if (at->ip <= lowest) {
			lowest = at->ip;
			fit->base = place.image->base;
		}
		hlg_tested_add(tested, code_of(fits, place.image), &place, at->samples);
	}
	addrs->n = n;
}

/* An image without a base is tested where the samples fit best. */
static bool test_found(struct hlg_fits *fits, struct hlg_addresses *addrs, size_t image,
		       struct hlg_tested *tested, struct hlg_file_fit *fit)
{
	struct hlg_code *code = fits->codes[image];
	struct hlg_density all;
	struct hlg_found found;

	if (fits->space->images[image]->from != HLG_BASE_NONE || !code || addrs->n == 0)
		return true;
	hlg_addresses_sort(addrs);
	if (!hlg_find_bases(code, fits->space->images[image], addrs->at, addrs->n,
			    &found))
		return false;
	all = hlg_code_total(code);
	for (size_t i = 0; i < found.n; i++) {
		const struct hlg_fit *f = &found.fits[i];

		tested->samples.on += f->on_samples;
		tested->samples.off += f->off_samples;
		tested->addrs.on += f->on;
		tested->addrs.off += f->off;
		tested->starts += (double)all.starts;
		tested->bytes += (double)all.bytes;
	}
	if (found.n && fit->n_bases == 0) {
		fit->base = found.fits[0].base;
		fit->n_bases = found.n;
	}
	if (found.n)
		addrs->n = 0;
	hlg_found_finish(&found);
	return true;
}

bool hlg_fits_judge(struct hlg_fits *fits, const struct hlg_profile *profile,
		    struct hlg_file_fit *fit)
{
	struct hlg_addresses addrs = {0};
	struct hlg_tested tested = {0};
	bool ok = hlg_addresses_gather(&addrs, profile);

	*fit = (struct hlg_file_fit){0};
	/* Each address counts once; order matters only where a base is to be found. */
	if (ok && profile->n_series > 1)
		hlg_addresses_sort(&addrs);
	if (ok)
		test_placed(fits, &addrs, &tested, fit);
	for (size_t i = 0; ok && i < fits->space->n_images; i++)
		ok = test_found(fits, &addrs, i, &tested, fit);
	hlg_tested_judge(&tested, addrs.n);
	fit->verdict = tested.verdict;
	hlg_addresses_finish(&addrs);
	return ok && !lost(fits);
}
