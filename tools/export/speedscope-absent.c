// SPDX-License-Identifier: GPL-2.0-only
/* speedscope.h in a build without jansson. */
#include "tools/export/speedscope.h"

int hlg_speedscope_check(struct hlg_err *err)
{
	return hlg_err_absent(err, "format=speedscope", NULL, "libjansson-dev");
}

int hlg_speedscope_write(FILE *f, const struct hlg_report *report,
			 const struct hlg_tree *tree, struct hlg_err *err)
{
	(void)f, (void)report, (void)tree;
	return hlg_speedscope_check(err);
}

int hlg_speedscope_report(struct hlg_run *run, FILE *stream, struct hlg_err *err)
{
	(void)run, (void)stream;
	return hlg_speedscope_check(err);
}
