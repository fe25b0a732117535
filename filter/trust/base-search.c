// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/base-search.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/addresses.h"
#include "filter/trust/base-kvm.h"
#include "filter/trust/base-seek.h"
#include "filter/trust/verdict.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"

/* Adds all bases that were found; to an image without one, its first. */
static int add_bases(struct hlg_image *image, const struct hlg_found *found,
		     struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < found->n; i++)
		rc = image->from != HLG_BASE_NONE
			     ? hlg_image_add_base(image, found->fits[i].base, err)
			     : hlg_image_set_base(image, found->fits[i].base,
						  HLG_BASE_FOUND, err);
	return rc;
}

static bool fits_wholly(const struct hlg_fit *fit)
{
	return (double)fit->on >= HLG_VERDICT_NEARLY_ALL * (double)(fit->on + fit->off) &&
	       (double)fit->on_samples >=
		       HLG_VERDICT_NEARLY_ALL *
			       (double)(fit->on_samples + fit->off_samples);
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

/* Does it lie across another, each where its file has it? */
static bool is_across(const struct hlg_space *space, const struct hlg_image *image)
{
	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *other = space->images[i];

		if (other != image && other->from != HLG_BASE_NONE && !other->map &&
		    hlg_base_seek_collide(image, image->base, other, other->base))
			return true;
	}
	return false;
}

int hlg_base_search_unplace(struct hlg_space *space, const struct hlg_options *options,
			    struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		if (image->from != HLG_BASE_NONE && !image->map &&
		    !may_move(image, options))
			return 0;
	}
	for (size_t i = 0; i < space->n_images; i++)
		space->images[i]->sought |= may_move(space->images[i], options) &&
					    is_across(space, space->images[i]);
	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];
		const enum hlg_base_from from = image->from;
		const uint64_t base = image->base;

		if (from == HLG_BASE_NONE)
			continue;
		hlg_image_clear_base(image);
		image->lane = 0;
		if (!image->sought) {
			rc = hlg_image_set_base(image, base, from, err);
			continue;
		}
		image->refused = base;
		image->refused_from = from;
	}
	space->n_lanes = 0;
	space->has_shared = false;
	if (rc == 0)
		rc = hlg_space_arrange(space, err);
	return rc < 0 ? rc : 1;
}

/* What was sought, and found where its file has it, was not refused. */
static void forget_refused(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (image->sought && hlg_image_lies_at(image, image->refused))
			image->refused_from = HLG_BASE_NONE;
	}
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
		     more, n > 1 ? "all" : "both", image->typed, image->base) < 0)
		return NULL;
	return text;
}

static char *warn_of_kvm(const struct hlg_image *image)
{
	char from[128], *text;
	int n;

	if (image->kvm_left_out) {
		n = asprintf(&text,
			     "%s: KVM's records have it at %zu bases, of which the "
			     "lowest %d are used (name those that you want: FILE@BASE)",
			     image->path, image->kvm_left_out + HLG_BASE_KVM_MAX,
			     HLG_BASE_KVM_MAX);
	} else if (image->kvm_overlaps) {
		n = asprintf(&text,
			     "%s: KVM's records have a guest at 0x%" PRIx64
			     " and one at 0x%" PRIx64 ", which overlap; 0x%" PRIx64
			     " is used (name both, %s@0x%" PRIx64 " %s@0x%" PRIx64
			     ", to tell them apart)",
			     image->path, image->kvm_base, image->kvm_other,
			     image->from == HLG_BASE_KVM ? image->kvm_base : image->base,
			     image->typed, image->kvm_base, image->typed,
			     image->kvm_other);
	} else {
		hlg_base_describe(image, from, sizeof(from));
		n = asprintf(&text,
			     "%s: base 0x%" PRIx64 " (%s) is used, but KVM's records "
			     "have the guest at 0x%" PRIx64,
			     image->path, image->base, from, image->kvm_base);
	}
	return n < 0 ? NULL : text;
}

/* The base that was refused is not used, but the one that KVM, or the samples, have. */
static char *warn_of_refused(const struct hlg_image *image)
{
	char from[128], *text;
	int n;

	hlg_base_describe_from(image, image->refused_from, from, sizeof(from));
	if (image->from == HLG_BASE_KVM)
		n = asprintf(&text,
			     "%s: KVM's records have the guest at 0x%" PRIx64
			     ", which is used, not at 0x%" PRIx64 " (%s; %s@0x%" PRIx64
			     " keeps to the file's)",
			     image->path, image->base, image->refused, from, image->typed,
			     image->refused);
	else
		n = asprintf(
			&text,
			"%s: base 0x%" PRIx64 " (%s) does not fit the samples; 0x%" PRIx64
			" is used, which does (%s@0x%" PRIx64 " keeps to the file's)",
			image->path, image->refused, from, image->base, image->typed,
			image->refused);
	return n < 0 ? NULL : text;
}

char *hlg_base_search_warning(const struct hlg_image *image)
{
	const bool refused = image->refused_from != HLG_BASE_NONE;

	if (image->kvm_left_out ||
	    (!refused && (image->kvm_overlaps || image->kvm_differs)))
		return warn_of_kvm(image);
	return refused ? warn_of_refused(image) : warn_of_others(image);
}

/* What to warn of: to be freed; NULL without memory, or if there is nothing. */
static char *warning_of(const struct hlg_image *image)
{
	char *text = NULL;
	int n = 0;

	if (hlg_base_search_differs(image))
		return hlg_base_search_warning(image);
	if (image->from == HLG_BASE_DEFAULT)
		n = asprintf(&text,
			     "%s: base 0x%" PRIx64 " is assumed, nothing states it (give "
			     "it: %s@ADDRESS)",
			     image->path, image->base, image->typed);
	else if (image->from == HLG_BASE_NONE)
		n = asprintf(
			&text,
			"%s: is left out, nothing says where it lies (give its base: "
			"%s@ADDRESS)",
			image->path, image->typed);
	return n < 0 ? NULL : text;
}

void hlg_base_search_warn(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++) {
		char *warning = warning_of(space->images[i]);

		if (!warning)
			continue;
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, warning);
		fputc('\n', stderr);
		free(warning);
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
	if (rc == 0 && refused) {
		hlg_image_clear_base(image);
		rc = add_bases(image, &found, err);
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

/* Moves an image, or adds bases, as the samples say; *moved becomes true if they do. */
static int follow(struct hlg_image *image, struct hlg_space *space,
		  const struct hlg_profile *profile, struct hlg_addresses *all,
		  bool *moved, struct hlg_err *err)
{
	const enum hlg_base_from from = image->from;
	const size_t n_also = image->n_also;
	struct hlg_code *code;
	int rc = hlg_code_open(&code, image, err);

	/* What cannot be decoded, or read again, stays where it is. */
	if (!code)
		return rc == HLG_ESYSTEM ? rc : 0;
	rc = 0;
	if (!all->at && !hlg_addresses_collect(all, profile))
		rc = hlg_err_memory(err, image->path);
	if (rc == 0)
		rc = move_image(image, code, space, all, profile->options, err);
	/* What has moved is where all fits. */
	if (rc == 0 && image->from == from)
		rc = spread_image(image, code, space, all, profile->options, err);
	hlg_code_close(code);
	if (rc < 0 || (image->from == from && image->n_also == n_also))
		return rc;
	*moved = true;
	return hlg_space_arrange(space, err);
}

static int compare_paths(const void *a, const void *b)
{
	const struct hlg_image *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/* All, in whatever order they were named; and again: one that moves makes room. */
static int move_all(struct hlg_space *space, const struct hlg_profile *profile,
		    struct hlg_err *err)
{
	struct hlg_image **images = calloc(space->n_images + 1, sizeof(*images));
	struct hlg_addresses all = {0};
	bool moved = images;
	int rc = moved ? 0 : hlg_err_memory(err, "bases");

	for (size_t i = 0; images && i < space->n_images; i++)
		images[i] = space->images[i];
	if (images && space->n_images)
		qsort(images, space->n_images, sizeof(*images), compare_paths);
	while (rc == 0 && moved) {
		moved = false;
		for (size_t i = 0; rc == 0 && i < space->n_images; i++)
			if (may_spread(images[i], profile->options))
				rc = follow(images[i], space, profile, &all, &moved, err);
		moved = moved && space->n_images > 1;
	}
	hlg_addresses_finish(&all);
	free(images);
	return rc;
}

/* Opens the code of those that nothing places; *addrs: what no image has, if there are
 * such. */
static int open_sought(struct hlg_base_sought *sought, const struct hlg_space *space,
		       const struct hlg_profile *profile, struct hlg_addresses *addrs,
		       struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (image->from != HLG_BASE_NONE || image->map)
			continue;
		if (!addrs->at && !hlg_addresses_collect(addrs, profile))
			return hlg_err_memory(err, image->path);
		rc = hlg_code_open(&sought[i].code, image, err);
		/* Not an error if it cannot be decoded: it gets the last resort. */
		if (rc < 0 && rc != HLG_ESYSTEM && !hlg_image_unread(image))
			rc = 0;
	}
	hlg_addresses_keep_outside(addrs, space);
	return rc;
}

/* Do samples fit where its file has an image that was sought in vain, or where it would
 * be assumed to be? Of several, it lies there or nowhere. */
static int test_claim(struct hlg_image *image, struct hlg_code *code,
		      const struct hlg_addresses *addrs, struct hlg_err *err)
{
	struct hlg_fit fit;
	int rc = hlg_base_decide(image, err);

	if (rc < 0)
		return rc;
	hlg_base_find_fit(code, image, addrs->at, addrs->n, image->base, &fit);
	image->nowhere = !fit.on || !fits_wholly(&fit);
	hlg_image_clear_base(image);
	return 0;
}

static bool are_several_elfs(const struct hlg_space *space)
{
	size_t n = 0;

	for (size_t i = 0; i < space->n_images; i++)
		n += !space->images[i]->map;
	return n > 1;
}

/* An ELF alone is where its file has it if nothing else is found. */
static int place_sought(struct hlg_base_sought *sought, struct hlg_space *space,
			const struct hlg_addresses *left, struct hlg_err *err)
{
	const bool several = are_several_elfs(space);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (!sought[i].code)
			continue;
		if (hlg_image_unread(image))
			rc = hlg_image_fail_unread(image, err);
		else if (sought[i].found.n)
			rc = add_bases(image, &sought[i].found, err);
		else if (several)
			rc = test_claim(image, sought[i].code, left, err);
		if (!sought[i].found.n)
			image->refused_from = HLG_BASE_NONE;
	}
	return rc == 0 ? hlg_space_arrange(space, err) : rc;
}

/* All that nothing places. */
static int seek_all(struct hlg_space *space, const struct hlg_profile *profile,
		    struct hlg_err *err)
{
	struct hlg_base_sought *sought = calloc(space->n_images + 1, sizeof(*sought));
	struct hlg_addresses addrs = {0};
	int rc = sought ? open_sought(sought, space, profile, &addrs, err)
			: hlg_err_memory(err, "bases");

	if (rc == 0 && addrs.at && !hlg_base_seek(sought, space, &addrs, 0, false))
		rc = hlg_err_memory(err, "bases");
	if (rc == 0 && addrs.at)
		rc = place_sought(sought, space, &addrs, err);
	hlg_base_seek_finish(sought, space);
	for (size_t i = 0; sought && i < space->n_images; i++)
		hlg_code_close(sought[i].code);
	free(sought);
	hlg_addresses_finish(&addrs);
	return rc;
}

int hlg_base_search_all(struct hlg_space *space, const struct hlg_profile *profile,
			struct hlg_err *err)
{
	const struct hlg_options *options = profile->options;
	bool placed;
	int rc;

	forget_refused(space);
	rc = hlg_base_kvm_place(space, &profile->starts,
				options->strict_base || options->emit != HLG_EMIT_NONE,
				&placed, err);
	if (rc == 0 && placed)
		rc = hlg_space_arrange(space, err);
	if (rc == 0)
		rc = move_all(space, profile, err);
	if (rc == 0)
		rc = seek_all(space, profile, err);
	forget_refused(space);
	return rc;
}
