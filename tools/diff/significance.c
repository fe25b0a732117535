// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/significance.h"

#include <stdlib.h>

#include "filter/stats/compare.h"

static struct hlg_proportion proportion(uint64_t count, struct hlg_diff_total total)
{
	double share = total.weight ? (double)count / (double)total.weight : 0;

	return (struct hlg_proportion){share < 1 ? share : 1,
				       total.weight ? total.observations : 0};
}

bool hlg_diff_significance(struct hlg_diff_change *changes, size_t n,
			   struct hlg_diff_total before, struct hlg_diff_total after)
{
	double *p = calloc(n + 1, sizeof(*p)), *q = calloc(n + 1, sizeof(*q));
	bool ok = p && q;

	for (size_t i = 0; ok && i < n; i++) {
		struct hlg_diff_change *c = &changes[i];
		struct hlg_proportion a = proportion(c->before, before);
		struct hlg_proportion b = proportion(c->after, after);
		struct hlg_compared compared;

		hlg_compare_samples(&compared, a, b);
		c->share[0] = a.share;
		c->share[1] = b.share;
		p[i] = compared.p;
	}
	ok = ok && hlg_compare_adjust(q, p, n);
	for (size_t i = 0; ok && i < n; i++) {
		struct hlg_diff_change *c = &changes[i];
		bool established = q[i] <= HLG_COMPARE_LEVEL;

		c->p = p[i];
		c->q = q[i];
		c->sign = !established ? 0 : c->share[1] > c->share[0] ? 1 : -1;
	}
	free(p);
	free(q);
	return ok;
}
