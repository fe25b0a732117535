// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/base-search.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/trust/addresses.h"
#include "filter/trust/base-kvm.h"
#include "filter/trust/verdict.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"

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

static bool fits_wholly(const struct hlg_fit *fit)
{
	return (double)fit->on >= HLG_VERDICT_NEARLY_ALL * (double)(fit->on + fit->off) &&
	       (double)fit->on_samples >=
		       HLG_VERDICT_NEARLY_ALL *
			       (double)(fit->on_samples + fit->off_samples);
}

/* Do samples fit where its file has an image that was sought, in vain? */
static int test_claim(struct hlg_image *image, struct hlg_code *code,
		      const struct hlg_addresses *addrs, struct hlg_err *err)
{
	struct hlg_fit fit;
	int rc = hlg_base_read(image, err);

	if (rc < 0 || image->from == HLG_BASE_NONE)
		return rc;
	hlg_base_find_fit(code, image, addrs->at, addrs->n, image->base, &fit);
	image->nowhere = !fit.on || !fits_wholly(&fit);
	hlg_image_clear_base(image);
	return 0;
}

/* beside: others have a base. An image alone is where its file has it if nothing else is
 * found. */
static int find_bases(struct hlg_image *image, const struct hlg_addresses *addrs,
		      bool beside, struct hlg_err *err)
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
	else if (found.n == 0 && image->sought && beside)
		rc = test_claim(image, code, addrs, err);
	else
		rc = hlg_base_search_place(image, &found, err);
	hlg_base_find_finish(&found);
	hlg_code_close(code);
	return rc;
}

/* The image at the base it has. */
static void test_here(struct hlg_tested *tested, const struct hlg_image *image,
		      struct hlg_code *code, const struct hlg_addresses *addrs)
{
	*tested = (struct hlg_tested){0};
	for (size_t i = 0; i < addrs->n; i++) {
		struct hlg_place place;

		hlg_image_lookup(
			image, addrs->at[i].ip + hlg_lane_move(image->lane) - image->bias,
			&place);
		if (place.image)
			hlg_verdict_add(tested, code, &place, false,
					addrs->at[i].samples);
	}
	hlg_verdict_judge(tested, 0);
}

/* Is its base its file's, or one of KVM's records, which the samples may overrule? */
static bool may_move(const struct hlg_image *image, const struct hlg_options *options)
{
	return (image->from == HLG_BASE_NOTE || image->from == HLG_BASE_EXEC ||
		(image->from == HLG_BASE_KVM && image->n_also == 0)) &&
	       !options->strict_base && options->emit == HLG_EMIT_NONE;
}

/* May it get further bases, beside one of these, or beside those of guests one by one? */
static bool may_spread(const struct hlg_image *image, const struct hlg_options *options)
{
	return may_move(image, options) || image->from == HLG_BASE_FOUND;
}

int hlg_base_search_refuses(const struct hlg_image *image, struct hlg_code *code,
			    const struct hlg_options *options,
			    const struct hlg_addresses *addrs, struct hlg_found *found)
{
	struct hlg_tested here;

	*found = (struct hlg_found){0};
	if (!may_move(image, options))
		return 0;
	test_here(&here, image, code, addrs);
	/* Of AArch64, nearly all are on boundaries at any base. */
	if (here.verdict == HLG_TRUST_VERIFIED && image->elf.machine != EM_AARCH64)
		return 0;
	if (!hlg_base_find_all(code, image, addrs->at, addrs->n, found))
		return -1;
	for (size_t i = 0; i < found->n; i++)
		if (found->fits[i].base == image->base)
			return 0;
	return found->n && fits_wholly(&found->fits[0]) &&
	       (found->fits[0].on_samples > here.samples.on ||
		(image->elf.machine == EM_AARCH64 &&
		 found->fits[0].on_samples == here.samples.on));
}

/* Would the image at a base lie where one of the space does, it included? */
static bool is_taken(const struct hlg_space *space, const struct hlg_image *image,
		     uint64_t base)
{
	const uint64_t last = base + (image->end - image->first - 1);

	for (size_t i = 0; i < space->n_ranges; i++)
		if (space->ranges[i].first <= last && space->ranges[i].last >= base)
			return true;
	return last < base;
}

bool hlg_base_search_also(const struct hlg_space *space, const struct hlg_image *image,
			  struct hlg_code *code, const struct hlg_options *options,
			  const struct hlg_addresses *all, struct hlg_found *found)
{
	struct hlg_addresses outside = {0};
	struct hlg_tested here;
	size_t n = 0;
	bool ok;

	*found = (struct hlg_found){0};
	/* Of AArch64, nearly all are on boundaries at any base. */
	if (!may_spread(image, options) || space->n_lanes ||
	    image->elf.machine != EM_X86_64)
		return true;
	/* Samples at another base must not vouch for those at this one. */
	test_here(&here, image, code, all);
	if (here.verdict != HLG_TRUST_VERIFIED)
		return true;
	ok = hlg_addresses_pick(&outside, all, space, NULL) &&
	     hlg_base_find_all(code, image, outside.at, outside.n, found);
	hlg_addresses_finish(&outside);
	if (!ok)
		return false;
	for (size_t i = 0; i < found->n; i++)
		if (fits_wholly(&found->fits[i]) &&
		    !is_taken(space, image, found->fits[i].base))
			found->fits[n++] = found->fits[i];
	found->n = n;
	return true;
}

bool hlg_base_search_differs(const struct hlg_image *image)
{
	return image->n_also_found || image->refused_from != HLG_BASE_NONE ||
	       image->kvm_differs || image->kvm_overlaps || image->kvm_left_out;
}

static char *warn_of_others(const struct hlg_image *image)
{
	const size_t n = image->n_also_found;
	char from[128], more[48] = "", *text;

	hlg_base_describe_from(image, image->from, from, sizeof(from));
	if (n > 1)
		snprintf(more, sizeof(more), " and %zu more base%s", n - 1,
			 n > 2 ? "s" : "");
	if (asprintf(&text,
		     "%s: some samples fit base 0x%" PRIx64 " (%s), others 0x%" PRIx64
		     "%s; %s are used (%s@0x%" PRIx64 " keeps to the first)",
		     image->path, image->base, from, image->also[image->n_also - n].base,
		     more, n > 1 ? "all" : "both", image->path, image->base) < 0)
		return NULL;
	return text;
}

char *hlg_base_search_warning(const struct hlg_image *image)
{
	char from[128], *text;

	if (image->kvm_left_out)
		return asprintf(&text,
				"%s: KVM's records have it at %zu bases, of which the "
				"lowest %d are used (name those that you want: "
				"FILE@BASE)",
				image->path, image->kvm_left_out + HLG_BASE_KVM_MAX,
				HLG_BASE_KVM_MAX) < 0
			       ? NULL
			       : text;
	if (image->kvm_overlaps && image->refused_from == HLG_BASE_NONE)
		return asprintf(&text,
				"%s: KVM's records have a guest at 0x%" PRIx64
				" and one at 0x%" PRIx64 ", which overlap; 0x%" PRIx64
				" is used (name both, %s@0x%" PRIx64 " %s@0x%" PRIx64
				", to tell them apart)",
				image->path, image->kvm_base, image->kvm_other,
				image->from == HLG_BASE_KVM ? image->kvm_base
							    : image->base,
				image->path, image->kvm_base, image->path,
				image->kvm_other) < 0
			       ? NULL
			       : text;
	if (image->refused_from == HLG_BASE_NONE && !image->kvm_differs)
		return warn_of_others(image);
	if (image->refused_from == HLG_BASE_NONE) {
		hlg_base_describe(image, from, sizeof(from));
		return asprintf(&text,
				"%s: base 0x%" PRIx64 " (%s) is used, but KVM's records "
				"have the guest at 0x%" PRIx64,
				image->path, image->base, from, image->kvm_base) < 0
			       ? NULL
			       : text;
	}
	hlg_base_describe_from(image, image->refused_from, from, sizeof(from));
	if (image->from == HLG_BASE_KVM)
		return asprintf(&text,
				"%s: KVM's records have the guest at 0x%" PRIx64
				", which is used, not at 0x%" PRIx64 " (%s; %s@0x%" PRIx64
				" keeps to the file's)",
				image->path, image->base, image->refused, from,
				image->path, image->refused) < 0
			       ? NULL
			       : text;
	if (asprintf(&text,
		     "%s: base 0x%" PRIx64 " (%s) does not fit the samples; 0x%" PRIx64
		     " is used, which does (%s@0x%" PRIx64 " keeps to the file's)",
		     image->path, image->refused, from, image->base, image->path,
		     image->refused) < 0)
		return NULL;
	return text;
}

void hlg_base_search_warn(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];
		char *warning = hlg_base_search_differs(image)
					? hlg_base_search_warning(image)
					: NULL;

		if (warning) {
			fputs("hlguest: ", stderr);
			hlg_escape_print(stderr, warning);
			fputc('\n', stderr);
			free(warning);
		}
		if (image->from != HLG_BASE_DEFAULT)
			continue;
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, image->path);
		fprintf(stderr,
			": base 0x%" PRIx64 " is assumed, nothing states it (give it: ",
			image->base);
		hlg_escape_print(stderr, image->path);
		fputs("@ADDRESS)\n", stderr);
	}
}

/* Moves an image to where the samples say, if they refuse the base it has. */
static int move_image(struct hlg_image *image, struct hlg_code *code,
		      const struct hlg_space *space, const struct hlg_addresses *all,
		      const struct hlg_options *options, struct hlg_err *err)
{
	const enum hlg_base_from from = image->from;
	const uint64_t base = image->base;
	struct hlg_addresses some = {0};
	struct hlg_found found = {0};
	int rc = 0, refused = 0;

	if (!hlg_addresses_pick(&some, all, space, image) ||
	    (refused = hlg_base_search_refuses(image, code, options, &some, &found)) < 0)
		rc = hlg_err_memory(err, image->path);
	else if (refused)
		rc = hlg_base_search_place(image, &found, err);
	if (rc == 0 && refused) {
		image->refused = base;
		image->refused_from = from;
	}
	hlg_addresses_finish(&some);
	hlg_base_find_finish(&found);
	return rc;
}

/* Adds the bases at which what lies in no image fits this one. */
static int spread_image(struct hlg_image *image, struct hlg_code *code,
			const struct hlg_space *space, const struct hlg_addresses *all,
			const struct hlg_options *options, struct hlg_err *err)
{
	struct hlg_found found;
	int rc = 0;

	if (!hlg_base_search_also(space, image, code, options, all, &found))
		rc = hlg_err_memory(err, image->path);
	for (size_t i = 0; rc == 0 && i < found.n; i++) {
		rc = hlg_image_add_base(image, found.fits[i].base, err);
		image->n_also_found += rc == 0 && image->from != HLG_BASE_FOUND;
	}
	hlg_base_find_finish(&found);
	return rc;
}

static int move_all(struct hlg_space *space, const struct hlg_profile *profile,
		    struct hlg_err *err)
{
	struct hlg_addresses all = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];
		const enum hlg_base_from from = image->from;
		const size_t n_also = image->n_also;
		struct hlg_code *code;

		if (!may_spread(image, profile->options))
			continue;
		rc = hlg_code_open(&code, image, err);
		/* What cannot be decoded, or read again, stays where it is. */
		if (rc < 0 && rc != HLG_ESYSTEM)
			rc = 0;
		if (!code)
			continue;
		if (!all.at && !hlg_addresses_collect(&all, profile))
			rc = hlg_err_memory(err, image->path);
		if (rc == 0)
			rc = move_image(image, code, space, &all, profile->options, err);
		/* What has moved is where all fits. */
		if (rc == 0 && image->from == from)
			rc = spread_image(image, code, space, &all, profile->options,
					  err);
		hlg_code_close(code);
		if (rc == 0 &&
		    (image->refused_from != HLG_BASE_NONE || image->n_also > n_also))
			rc = hlg_space_arrange(space, err);
	}
	hlg_addresses_finish(&all);
	return rc;
}

static bool is_beside(const struct hlg_space *space, const struct hlg_image *image)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (space->images[i] != image && space->images[i]->from != HLG_BASE_NONE)
			return true;
	return false;
}

int hlg_base_search_all(struct hlg_space *space, const struct hlg_profile *profile,
			struct hlg_err *err)
{
	const struct hlg_options *options = profile->options;
	struct hlg_addresses addrs = {0};
	bool placed;
	int rc = hlg_base_kvm_place(
		space, &profile->starts,
		options->strict_base || options->emit != HLG_EMIT_NONE, &placed, err);

	if (rc == 0 && placed)
		rc = hlg_space_arrange(space, err);
	if (rc == 0)
		rc = move_all(space, profile, err);

	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (image->from != HLG_BASE_NONE || image->map)
			continue;
		if (!addrs.at && !hlg_addresses_collect(&addrs, profile)) {
			rc = hlg_err_memory(err, image->path);
			break;
		}
		hlg_addresses_keep_outside(&addrs, space);
		rc = find_bases(image, &addrs, is_beside(space, image), err);
		if (rc == 0)
			rc = hlg_space_arrange(space, err);
	}
	hlg_addresses_finish(&addrs);
	return rc;
}
