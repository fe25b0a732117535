// SPDX-License-Identifier: GPL-2.0-only
/* A C library guest that matches patterns, walks trees and computes with libm. */
#include <fnmatch.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 400
#define WAVES 4000

static int compare(const void *left, const void *right)
{
	return strcmp(left, right);
}

static int match(void)
{
	static const char *const lines[] = {
		"GET /index.html 200 1234",   "POST /form?a=1&b=2 302 0",
		"GET /images/logo.png 404 9", "PUT /store/item/77 201 55",
		"no such line at all",        "DELETE /store/item/78 500 12",
	};
	regex_t regex;
	int found = 0;

	if (regcomp(&regex, "^([A-Z]+) (/[^ ?]*)(\\?[^ ]*)? ([0-9]{3}) ([0-9]+)$",
		    REG_EXTENDED))
		exit(1);
	for (size_t i = 0; i < 6 * sizeof(lines) / sizeof(lines[0]); i++) {
		const char *line = lines[i % (sizeof(lines) / sizeof(lines[0]))];
		regmatch_t groups[6];

		found += regexec(&regex, line, 6, groups, 0) == 0;
		found += fnmatch("*[Gg]ET*/im*.p?g *", line, 0) == 0;
	}
	regfree(&regex);
	return found;
}

static int walk(void)
{
	static char names[NODES][16];
	void *root = NULL;
	int found = 0;

	for (unsigned int i = 0; i < NODES; i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i * 7919 % 1000);
		if (!tsearch(names[i], &root, compare))
			exit(1);
	}
	for (int i = 0; i < NODES; i++)
		found += tfind(names[NODES - 1 - i], &root, compare) != NULL;
	for (int i = 0; i < NODES; i++)
		tdelete(names[i], &root, compare);
	return found;
}

static double waves(void)
{
	double sum = 0;

	for (int i = 1; i < WAVES; i++) {
		double x = i * 0.37;

		sum += sin(x) * exp(-x / WAVES) + log(x) / pow(x, 1.25) + atan2(x, sum);
		sum = fmod(sum, 1000) + cbrt(x) + floor(x / 3);
	}
	return sum;
}

int main(void)
{
	int found = 0;
	double sum = 0;

	for (int i = 0; i < 6; i++) {
		found += match() + walk();
		sum += waves();
	}
	printf("finds: %d %.3f\n", found, sum);
	return 0;
}
