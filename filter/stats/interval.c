// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stats/interval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct hlg_share hlg_interval_wilson_at(double share, double n, double z)
{
	const double z2 = z * z;
	double mid, half;

	if (!(n > 0))
		return (struct hlg_share){share, 0, 1};
	mid = (share + z2 / (2 * n)) / (1 + z2 / n);
	half = z / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
	return (struct hlg_share){share, fmax(0, fmin(mid - half, share)),
				  fmin(1, fmax(mid + half, share))};
}

struct hlg_share hlg_interval_wilson(double share, double n)
{
	return hlg_interval_wilson_at(share, n, HLG_INTERVAL_Z);
}

#define FEW   2
#define SMALL 0.1

bool hlg_interval_is_few(uint64_t samples, double share)
{
	return samples <= FEW && share < SMALL;
}

enum {
	MOST_STEPS = 1000000 /* they grow with the root of df: enough for any unsigned */
};

/* e^-x x^a / gamma(a), the factor of both expansions. */
static double gamma_factor(double a, double x)
{
	return exp(a * log(x) - x - lgamma(a));
}

/* P(a, x) = factor * sum of x^n / (a (a + 1) ... (a + n)); quick for x < a + 1. */
static double lower_gamma(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int n = 1; n < MOST_STEPS && term > sum * 1e-16; n++) {
		term *= x / (a + n);
		sum += term;
	}
	return sum * gamma_factor(a, x);
}

/*
 * Q(a, x) = factor / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)), from the
 * front by Lentz's method (Applied Optics 15, 1976); quick for x >= a + 1.
 */
static double upper_gamma(double a, double x)
{
	double b = x + 1 - a, c = INFINITY, d = 1 / b, f = d;

	for (int n = 1; n < MOST_STEPS; n++) {
		double an = n * (a - n), step;

		b += 2;
		d = 1 / (an * d + b);
		c = b + an / c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f * gamma_factor(a, x);
}

double hlg_interval_chi_square(double x, unsigned df)
{
	double a = df / 2.0;

	x /= 2;
	if (df == 0 || !(x > 0))
		return 1;
	if (isinf(x))
		return 0;
	return x < a + 1 ? 1 - lower_gamma(a, x) : upper_gamma(a, x);
}

/* The steps of 8.17.22: d(2m) and d(2m + 1). */
static double beta_step(double a, double b, double x, int n)
{
	int m = n / 2;

	if (n % 2 == 0)
		return m * (b - m) * x / ((a + n - 1) * (a + n));
	return -(a + m) * (a + b + m) * x / ((a + n - 1) * (a + n));
}

/* I(x; a, b) for x < (a + 1) / (a + b + 2), where 1 / (1 + d1 / (1 + d2 / ...)) is quick;
 * rest is 1 - x, which may be known better than that. */
static double beta_fraction(double a, double b, double x, double rest)
{
	double c = 1, d = 0, f = 1;
	double front =
		exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest)) /
		a;

	for (int n = 1; n < MOST_STEPS; n++) {
		double step = beta_step(a, b, x, n);

		d = 1 / (1 + step * d);
		c = 1 + step / c;
		f *= c * d;
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return front / f;
}

double hlg_interval_student(double t, double df)
{
	double a = df / 2, t2 = t * t, x, rest;

	if (isnan(t) || !(df > 0))
		return 1;
	if (df > 1e8) /* no digit tells it from the normal distribution */
		return erfc(fabs(t) / sqrt(2));
	if (isinf(t2) || t2 == 0)
		return t2 == 0;
	x = df / (df + t2);
	rest = t2 / (df + t2);
	if (x < (a + 1) / (a + 2.5))
		return beta_fraction(a, 0.5, x, rest);
	return 1 - beta_fraction(0.5, a, rest, x);
}

double hlg_interval_binomial(uint64_t k, uint64_t n, double p)
{
	double a = (double)k, b = (double)(n - k) + 1;

	if (k == 0)
		return 1;
	if (k > n)
		return 0;
	if (p < (a + 1) / (a + b + 2))
		return beta_fraction(a, b, p, 1 - p);
	return 1 - beta_fraction(b, a, 1 - p, p);
}

double hlg_interval_student_quantile(double tail, double df)
{
	double low = 0, high = 1;

	while (hlg_interval_student(high, df) > tail && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > high * 1e-13; i++) {
		double mid = (low + high) / 2;

		if (hlg_interval_student(mid, df) > tail)
			low = mid;
		else
			high = mid;
	}
	return high;
}

double hlg_interval_effective(uint64_t samples, uint64_t sum, hlg_u128 squares)
{
	double n;

	if (squares == 0)
		return (double)samples;
	n = (double)sum * (double)sum / (double)squares;
	return n < (double)samples ? n : (double)samples;
}

const char *hlg_interval_percent(char buf[static 16], double share)
{
	/* Fifteen characters at most: where calls count whole it may be over all. */
	unsigned long long hundredths =
		(unsigned long long)llround(fmin(share, 1e9) * 10000);

	snprintf(buf, 16, "%llu.%02llu", hundredths / 100 % 1000000000000,
		 hundredths % 100);
	return buf;
}

double hlg_interval_part_share(uint64_t part, uint64_t rest)
{
	double share = part + rest ? (double)part / (double)(part + rest) : 0;

	return rest ? fmin(share, 0.9999) : share;
}

const char *hlg_interval_part(char buf[static 16], uint64_t part, uint64_t rest)
{
	return hlg_interval_percent(buf, hlg_interval_part_share(part, rest));
}

const char *hlg_interval_margin(char buf[static 24], const struct hlg_share *s, bool few,
				bool ascii)
{
	const double side = fmax(s->high - s->share, s->share - s->low);
	const bool below = few || side > s->share;
	char points[16];

	snprintf(buf, 24, "%s%5s",
		 below   ? "<"
		 : ascii ? "+-"
			 : "\u00b1",
		 hlg_interval_percent(points, below ? s->high : side));
	return buf;
}

const char *hlg_interval_points(char buf[static 16], double share)
{
	long hundredths = lround(share * 10000), size = labs(hundredths) % 10000000;

	snprintf(buf, 16, "%c%ld.%02ld", hundredths < 0 ? '-' : '+', size / 100,
		 size % 100);
	return buf;
}
