/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bases from the samples: what symtab/code/base-find.h does for one image, done for a
 * space and a profile. Only addresses that no image claims yet are asked.
 */
#ifndef HLG_FILTER_TRUST_BASE_SEARCH_H
#define HLG_FILTER_TRUST_BASE_SEARCH_H

#include "filter/profile/profile.h"
#include "filter/trust/addresses.h"
#include "symtab/code/base-find.h"
#include "symtab/image/space.h"

/*
 * Is the base that an image has from its file (its note, or its own addresses) refused by
 * the samples, of which *addrs holds those in no other image? It is if they do not verify
 * it, and are on boundaries, nearly all of them, at another base, and more of them than
 * here. Then *found is where; the caller finishes that in any case. Never of a base that
 * the user stated, nor where strict-base= or emit= keep to the file. 1: it is; 0: it is
 * not, or without memory -1.
 */
int hlg_base_search_refuses(const struct hlg_image *image, struct hlg_code *code,
			    const struct hlg_options *options,
			    const struct hlg_addresses *addrs, struct hlg_found *found);

/*
 * Bases at which those addresses that lie in no image of the space (arranged) fit an
 * image that has a base from its file, of KVM's records, or of guests that were searched
 * one by one: nearly all inside is on
 * boundaries, and no image is in the way. Several guests, or recordings, run it there.
 * None unless the image is verified where it is; of x86-64, and with one lane. False
 * without memory; the caller finishes *found in any case.
 */
bool hlg_base_search_also(const struct hlg_space *space, const struct hlg_image *image,
			  struct hlg_code *code, const struct hlg_options *options,
			  const struct hlg_addresses *all, struct hlg_found *found);

/*
 * Where images lie across each other (hlg_space_part), and samples refuse the base of
 * one: takes the bases that files state off those that do, so that all of them are
 * sought, and the space has no lanes. Where these are found elsewhere, what the file says
 * is in image->refused. 1: done; 0, and nothing is changed: the user stated one, or
 * strict-base= or emit= keep to the files. Fails as hlg_space_arrange does.
 */
int hlg_base_search_unplace(struct hlg_space *space, const struct hlg_options *options,
			    struct hlg_err *err);

/* Do sources of an image's base differ? Then what to warn of; to be freed, NULL without
 * memory. */
bool hlg_base_search_differs(const struct hlg_image *image);
char *hlg_base_search_warning(const struct hlg_image *image);

/* Warns on standard error of every image whose base is a guess, or not its file's, or
 * that has none: for what has no room for a report's notes. */
void hlg_base_search_warn(const struct hlg_space *space);

/*
 * Places images where KVM's records have them (base-kvm.h), and gives every image that
 * has no base then those that the samples fit, if there are any, and arranges the space
 * again; and every image whose base is refused, or is not the only one, unless
 * strict-base= or emit= keep to it. An image whose code cannot be decoded, or which no
 * base fits, is left as it is; but of several ELFs, one that no samples fit where its
 * file has it either, or where it would be assumed to be, lies nowhere. Of images that
 * fit the same samples that is placed first which more of them fit, and the others are
 * sought in what is left: in whatever order they were added. Fails without memory, or
 * when images overlap.
 */
int hlg_base_search_all(struct hlg_space *space, const struct hlg_profile *profile,
			struct hlg_err *err);

#endif
