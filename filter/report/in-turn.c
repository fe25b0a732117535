// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/in-turn.h"

#include <elf.h>
#include <stdlib.h>

#include "filter/report/banner.h"
#include "filter/trust/apart.h"
#include "filter/trust/runners.h"

/* Where several are named, it is enough that none fits. */
static bool has_share(const struct hlg_trust *trust)
{
	return trust->n_images > 1 || hlg_apart_has_share(&trust->all);
}

/* Of an ELF whose base is to be found: does none stand out, though half of the addresses
 * fit one? With instructions of one size nothing tells. */
static bool comes_near(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_image_test *ti = &trust->images[i];
		const struct hlg_image *image = ti->image;
		const struct hlg_fit *best = &ti->found.best;

		if ((image->from == HLG_BASE_NONE || image->from == HLG_BASE_DEFAULT) &&
		    image->elf.machine == EM_X86_64 && ti->found.n == 0 &&
		    best->off >= HLG_APART_TURNS && best->on >= best->off &&
		    best->on >= HLG_VERDICT_LEAST_ADDRS)
			return true;
	}
	return false;
}

/* May samples be of the ELFs where these lie, and of others? */
static bool are_mixed(const struct hlg_trust *trust)
{
	return trust->all.addrs.off >= HLG_APART_TURNS &&
	       (trust->all.verdict == HLG_TRUST_MIXED || has_share(trust));
}

static bool has_other_build(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (trust->images[i].identity == HLG_IDENTITY_OTHER)
			return true;
	return false;
}

/* Was there anything that tells guests of one thread apart, or what else it is? */
static bool is_told(const struct hlg_report *r)
{
	return r->profile->sandboxes.n || r->profile->of_addresses ||
	       hlg_space_is_made(r->space) || r->unnamed || r->trust.n_threads ||
	       has_other_build(&r->trust) || hlg_banner_is_explained(r);
}

void hlg_in_turn_note(struct hlg_report *r)
{
	const struct hlg_trust *trust = &r->trust;
	const struct hlg_options *options = r->options;
	char *again = NULL;

	if (trust->all.verdict < HLG_TRUST_MIXED || is_told(r) ||
	    !(are_mixed(trust) || comes_near(trust)))
		return;
	if (options->again)
		again = options->again(options->unnamed_of);
	hlg_note_list_warn(
		&r->remarks,
		"samples may be of guests that ran in turn on one thread, which "
		"the recording does not tell apart (" HLG_APART_ANEW "%s)",
		again ? again : HLG_RUNNERS_AGAIN);
	free(again);
}
