// SPDX-License-Identifier: GPL-2.0-only
#include "stat.h"

#include <math.h>

/* The 97.5th percentile of the standard normal distribution. */
#define Z95 1.959963984540054

struct hlg_share hlg_stat_wilson(double share, double n)
{
	const double z2 = Z95 * Z95;
	double mid, half;

	if (!(n > 0))
		return (struct hlg_share){share, 0, 1};
	mid = (share + z2 / (2 * n)) / (1 + z2 / n);
	half = Z95 / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
	return (struct hlg_share){share, fmax(0, fmin(mid - half, share)),
				  fmin(1, fmax(mid + half, share))};
}

double hlg_stat_effective(uint64_t samples, uint64_t sum, hlg_u128 squares)
{
	double n;

	if (squares == 0)
		return (double)samples;
	n = (double)sum * (double)sum / (double)squares;
	return n < (double)samples ? n : (double)samples;
}
