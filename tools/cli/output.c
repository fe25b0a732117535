// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/output.h"

#include <errno.h>
#include <unistd.h>

#include "filter/output/out.h"

static int failure; /* errno of the first write that failed */

static bool told; /* something is known to have failed */

int hlg_output_error(const struct hlg_err *err)
{
	told = true;
	fprintf(stderr, "hlguest: %s\n", err->msg);
	return 1;
}

bool hlg_output_failed(void)
{
	if (!failure && ferror(stdout))
		failure = errno ? errno : EIO;
	return failure != 0;
}

int hlg_output_end(int status)
{
	struct hlg_err err;

	errno = 0;
	if (!failure && fflush(stdout) != 0)
		failure = errno ? errno : EIO;
	if (!hlg_output_failed())
		return status;
	hlg_out_fail("standard output", "written", failure, &err);
	return hlg_output_error(&err);
}

void hlg_output_exit(void)
{
	if (!told && hlg_output_end(0) != 0)
		_exit(1);
}
