// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words behind --dlarg, one a line; images are named and not opened. Lists and globs
 * are used as well as read.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/profile/profile.h"
#include "tests/fuzz/door.h"

#define WORDS 64

static void use(const struct hlg_options *options)
{
	struct hlg_sample sample = {.ip = 1, .period = 1, .pid = 17, .cpumode = 5};
	struct hlg_profile profile;

	if (!hlg_profile_init(&profile, options))
		door_fail("profile");
	sample.event = hlg_profile_event(&profile, "cpu-clock:u[*]", 0);
	hlg_profile_add(&profile, &sample);
	if (profile.seen.samples != 1)
		door_fail("a sample was not seen");
	hlg_profile_finish(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text, *words[WORDS];
	struct hlg_options options;
	struct hlg_err err;
	int n = 0;

	if (!text)
		door_fail("no memory");
	while (n < WORDS && rest)
		words[n++] = strsep(&rest, "\n");
	if (hlg_options_parse(&options, n, words, &err) == 0)
		use(&options);
	hlg_options_finish(&options);
	free(text);
	return 0;
}
