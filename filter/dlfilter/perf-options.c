// SPDX-License-Identifier: GPL-2.0-only
#include "filter/dlfilter/perf-options.h"

#include <stdbool.h>
#include <string.h>

struct perfopt {
	const char *option, *instead;
};

/* perf-script(1): what restricts samples after the early hook has seen them. */
static const struct perfopt options[] = {
	{"--time", "time=START,STOP"},
	{"--cpu", "cpu=LIST"},
	{"-C", "cpu=LIST"},
	{"--pid", "pid=LIST"},
	{"--tid", "tid=LIST"},
	{"--comms", NULL},
	{"-c", NULL},
	{"--symbols", NULL},
	{"-S", NULL},
	{"--dsos", NULL},
};

/* "--time", "--time=1,2", "-C", "-C0" */
static bool matches(const char *word, const char *option)
{
	size_t len = strlen(option);

	if (strncmp(word, option, len) != 0)
		return false;
	return len == 2 || word[len] == '\0' || word[len] == '=';
}

/* Words whose next word is a value, in which anything may stand. */
static bool takes_value(const char *word)
{
	return strcmp(word, "--dlarg") == 0 || strcmp(word, "-i") == 0 ||
	       strcmp(word, "--input") == 0 || strcmp(word, "--dlfilter") == 0;
}

void hlg_perf_options_find(const char *cmdline, size_t size,
			   void (*found)(void *ctx, const char *option,
					 const char *instead),
			   void *ctx)
{
	const char *end = cmdline + size;
	bool value = true; /* the first word is perf itself */

	/* A word without its NUL, where the command line was cut, is not looked at. */
	for (const char *word = cmdline; memchr(word, '\0', (size_t)(end - word));
	     word += strlen(word) + 1) {
		if (value) {
			value = false;
			continue;
		}
		value = takes_value(word);
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (matches(word, options[i].option))
				found(ctx, options[i].option, options[i].instead);
	}
}
