// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/base-search.h"

#include "filter/trust/addresses.h"

int hlg_base_search_place(struct hlg_image *image, const struct hlg_found *found,
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
	if (!hlg_base_find_all(code, image, addrs->at, addrs->n, &found))
		rc = hlg_err_memory(err, image->path);
	else if (hlg_image_unread(image))
		rc = hlg_image_fail_unread(image, err);
	else
		rc = hlg_base_search_place(image, &found, err);
	hlg_base_find_finish(&found);
	hlg_code_close(code);
	return rc;
}

int hlg_base_search_all(struct hlg_space *space, const struct hlg_profile *profile,
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
		hlg_addresses_keep_outside(&addrs, space);
		rc = find_bases(image, &addrs, err);
		if (rc == 0)
			rc = hlg_space_arrange(space, err);
	}
	hlg_addresses_finish(&addrs);
	return rc;
}
