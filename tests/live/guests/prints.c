// SPDX-License-Identifier: GPL-2.0-only
/* A C library guest that formats and parses numbers, text and dates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 3000

static char line[256];

static double numbers(int i)
{
	double back;

	snprintf(line, sizeof(line), "%.17g", sqrt(i + 0.1) * 1e3 / (i % 17 + 1));
	back = strtod(line, NULL);
	snprintf(line, sizeof(line), "%d %5u %lx %o %e", i, (unsigned int)i * 77,
		 i * 1234567L, (unsigned int)i, back);
	return back + (double)strtoul(line, NULL, 0);
}

static long fields(int i)
{
	char name[32];
	long number = 0;
	int count = 0;

	snprintf(line, sizeof(line), "%-12s|%ld|%s", "guest", i * 31L, "the rest of it");
	if (sscanf(line, "%31[a-z] |%ld|%n", name, &number, &count) < 2)
		exit(1);
	return number + count + (long)strlen(name);
}

static long dates(int i)
{
	time_t when = (time_t)i * 86401 * 7;
	struct tm parts;

	if (!gmtime_r(&when, &parts))
		exit(1);
	return (long)strftime(line, sizeof(line), "%A, %d %B %Y %H:%M:%S, week %V",
			      &parts);
}

int main(void)
{
	double total = 0;

	for (int i = 0; i < ROUNDS; i++)
		total += numbers(i) + (double)(fields(i) + dates(i));
	printf("prints: %.3f\n", total);
	return 0;
}
