// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/base-search.h"

#include <stdlib.h>

static int compare_addresses(const void *a, const void *b)
{
	const struct hlg_sampled *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

bool hlg_addresses_gather(struct hlg_addresses *addrs, const struct hlg_profile *profile)
{
	addrs->n = 0;
	addrs->at = malloc((profile->n_cells + 1) * sizeof(*addrs->at));
	if (!addrs->at)
		return false;
	for (size_t i = 0; i < hlg_profile_room(profile); i++) {
		const struct hlg_cell *cell = &profile->cells[i];

		if (cell->count.samples)
			addrs->at[addrs->n++] =
				(struct hlg_sampled){cell->ip, cell->count.samples};
	}
	return true;
}

void hlg_addresses_sort(struct hlg_addresses *addrs)
{
	struct hlg_sampled *at = addrs->at;
	size_t n = 0;

	qsort(at, addrs->n, sizeof(*at), compare_addresses);
	for (size_t i = 0; i < addrs->n; i++) {
		if (n && at[n - 1].ip == at[i].ip)
			at[n - 1].samples += at[i].samples;
		else
			at[n++] = at[i];
	}
	addrs->n = n;
}

bool hlg_addresses_collect(struct hlg_addresses *addrs, const struct hlg_profile *profile)
{
	if (!hlg_addresses_gather(addrs, profile))
		return false;
	hlg_addresses_sort(addrs);
	return true;
}

void hlg_addresses_claim(struct hlg_addresses *addrs, const struct hlg_space *space)
{
	size_t n = 0;

	for (size_t i = 0; i < addrs->n; i++) {
		struct hlg_place place;

		hlg_space_lookup(space, addrs->at[i].ip, &place);
		if (!place.image)
			addrs->at[n++] = addrs->at[i];
	}
	addrs->n = n;
}

void hlg_addresses_finish(struct hlg_addresses *addrs)
{
	free(addrs->at);
	*addrs = (struct hlg_addresses){0};
}

int hlg_bases_set(struct hlg_image *image, const struct hlg_found *found,
		  struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < found->n; i++)
		rc = i ? hlg_image_add_base(image, found->fits[i].base, err)
		       : hlg_image_set_base(image, found->fits[i].base, HLG_BASE_FOUND,
					    err);
	return rc;
}

static int find_bases(struct hlg_image *image, const struct hlg_addresses *addrs,
		      struct hlg_err *err)
{
	struct hlg_found found = {0};
	struct hlg_code *code;
	int rc = hlg_code_open(&code, image, err);

	/* Not an error if it cannot be decoded: it gets the last resort. */
	if (rc < 0)
		return rc == HLG_ESYSTEM || hlg_image_unread(image) ? rc : 0;
	if (!hlg_find_bases(code, image, addrs->at, addrs->n, &found))
		rc = hlg_err_memory(err, image->path);
	else if (hlg_image_unread(image))
		rc = hlg_image_fail_unread(image, err);
	else
		rc = hlg_bases_set(image, &found, err);
	hlg_found_finish(&found);
	hlg_code_close(code);
	return rc;
}

int hlg_bases_find(struct hlg_space *space, const struct hlg_profile *profile,
		   struct hlg_err *err)
{
	struct hlg_addresses addrs = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (image->from != HLG_BASE_NONE || image->map)
			continue;
		if (!addrs.at && !hlg_addresses_collect(&addrs, profile)) {
			rc = hlg_err_memory(err, image->path);
			break;
		}
		hlg_addresses_claim(&addrs, space);
		rc = find_bases(image, &addrs, err);
		if (rc == 0)
			rc = hlg_space_arrange(space, err);
	}
	hlg_addresses_finish(&addrs);
	return rc;
}
