// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/both.h"

#include <stdio.h>
#include <string.h>

#include "tools/cli/output.h"

static void tell(const char *what, const char *why)
{
	char line[sizeof(((struct hlg_err *)0)->msg) + 64];

	snprintf(line, sizeof(line), "hlguest: no %s: %s", what, why);
	hlg_output_fold(stderr, 0, 0, line);
}

bool hlg_record_both_callers(const char *out)
{
	if (strcmp(out, "-") != 0)
		return true;
	tell("guest stacks",
	     "they are written when perf has ended (give a file: -o FILE)");
	return false;
}

int hlg_record_both_host(const struct hlg_record_tracing *how,
			 const struct hlg_guest_stacks *stacks, struct hlg_err *err)
{
	const char *why;
	int rc = hlg_record_tracing_check(how, err);

	if (rc == 0)
		return 1;
	if (rc == HLG_ESYSTEM && stacks->failed)
		tell("guest stacks", stacks->why.msg);
	if (rc != HLG_ESYSTEM || how->exits || how->sandboxes || !stacks->program)
		return rc;
	why = strstr(err->msg, ": ");
	tell("stacks of the host", why ? why + 2 : err->msg);
	return 0;
}
