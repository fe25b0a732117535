// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/both.h"

#include <stdio.h>
#include <string.h>

#include "symtab/code/frame.h"
#include "tools/cli/output.h"

static void tell(const char *what, const char *why)
{
	char line[sizeof(((struct hlg_err *)0)->msg) + 64];

	snprintf(line, sizeof(line), "hlguest: no %s: %s", what, why);
	hlg_output_fold(stderr, 0, 0, line);
	fputc('\n', stderr);
}

/* False where most functions keep none; then why. */
static bool keeps_frames(const char *guest, char *why, size_t size)
{
	struct hlg_frame_count count = {0};
	struct hlg_image *image;
	struct hlg_err err;
	bool kept;

	if (hlg_image_open_elf(&image, guest, &err) < 0)
		return true;
	kept = hlg_frame_count(image, &count, &err) < 0 || hlg_frame_is_kept(&count);
	if (!kept)
		snprintf(why, size,
			 "of the guest's %zu functions that call others, %zu keep a "
			 "frame pointer (" HLG_FRAME_ADVICE ")",
			 count.calling, count.framed);
	hlg_image_destroy(image);
	return kept;
}

bool hlg_record_both_callers(const struct hlg_record_guests *guests, const char *out)
{
	char why[256] = "they are written when perf has ended (give a file: -o FILE)";

	if (strcmp(out, "-") == 0) {
		tell("guest stacks", why);
		return false;
	}
	for (size_t i = 0; i < guests->n; i++)
		if (keeps_frames(guests->paths[i], why, sizeof(why)))
			return true;
	if (guests->n)
		tell("guest stacks", why);
	return guests->n == 0;
}

int hlg_record_both_host(const struct hlg_record_tracing *how,
			 const struct hlg_guest_stacks *stacks, struct hlg_err *err)
{
	const char *words[HLG_RECORD_TRACING_WORDS], *why;
	size_t n = 0;
	int rc = hlg_record_tracing_words(how, words, &n, err);

	if (rc == 0)
		return 1;
	if (rc != HLG_ESYSTEM || how->exits || how->sandboxes || !stacks->program)
		return rc;
	why = strstr(err->msg, ": ");
	tell("stacks of the host", why ? why + 2 : err->msg);
	return 0;
}
