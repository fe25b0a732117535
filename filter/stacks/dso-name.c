// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stacks/dso-name.h"

#include <stdio.h>
#include <string.h>

const char *hlg_mapped_name(char *buf, size_t size, const char *dso)
{
	const char *slash = dso ? strrchr(dso, '/') : NULL;

	if (!dso || !dso[0])
		dso = "[unknown]";
	if (strncmp(dso, "[kernel.kallsyms]", 17) == 0)
		dso = "[kernel]";
	if (dso[0] == '[')
		snprintf(buf, size, "%s", dso);
	else
		snprintf(buf, size, "[%s]", slash ? slash + 1 : dso);
	return buf;
}
