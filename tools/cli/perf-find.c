// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/perf-find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool hlg_perf_find(char path[static PATH_MAX])
{
	const char *folders = getenv("PATH");

	for (folders = folders ? folders : "/usr/bin:/bin"; *folders;) {
		size_t len = strcspn(folders, ":");

		if (folders[0] == '/' &&
		    snprintf(path, PATH_MAX, "%.*s/perf", (int)len, folders) < PATH_MAX &&
		    is_program(path))
			return true;
		folders += len + (folders[len] == ':');
	}
	path[0] = '\0';
	return false;
}
