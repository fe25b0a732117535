// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/symtab/finding.h"

#include "tests/kit/tap.h"

struct sampling finding_guest;
struct sampled_set finding_set;
struct hlg_found finding_found;

void finding_setup(void)
{
	finding_set = (struct sampled_set){0};
	finding_found = (struct hlg_found){0};
	finding_guest = (struct sampling){0};
}

void finding_teardown(void)
{
	sampled_finish(&finding_set);
	hlg_base_find_finish(&finding_found);
	hlg_base_find_finish(&finding_found); /* twice does no harm */
	sampling_finish(&finding_guest);
}

uint64_t finding_base(uint64_t *random)
{
	return sampling_random(random, UINT64_C(1) << 35) << 12;
}

void finding_draw(size_t n, uint64_t base, uint64_t *random)
{
	sampled_draw(&finding_set, finding_guest.on, finding_guest.n_on, n,
		     base - finding_guest.image->first, random);
}

void finding_run(void)
{
	hlg_base_find_finish(&finding_found);
	sampled_sort(&finding_set);
	ck_assert(hlg_base_find_all(finding_guest.code, finding_guest.image,
				    finding_set.at, finding_set.n, &finding_found));
}

void finding_expect_none(void)
{
	ck_assert_msg(finding_found.n == 0, "a base 0x%jx fits %ju of %zu",
		      (uintmax_t)finding_found.fits[0].base,
		      (uintmax_t)finding_found.fits[0].on, finding_set.n);
	ck_assert_uint_eq(finding_found.rival.on, 0);
}
