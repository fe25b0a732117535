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

bool hlg_perf_find_program(char path[static PATH_MAX], const char *name)
{
	const char *folders = getenv("PATH");

	if (name[0] == '/' && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX)
		return is_program(path);
	for (folders = folders ? folders : "/usr/bin:/bin"; *folders;) {
		size_t len = strcspn(folders, ":");

		if (folders[0] == '/' &&
		    snprintf(path, PATH_MAX, "%.*s/%s", (int)len, folders, name) <
			    PATH_MAX &&
		    is_program(path))
			return true;
		folders += len + (folders[len] == ':');
	}
	path[0] = '\0';
	return false;
}

bool hlg_perf_find(char path[static PATH_MAX])
{
	return hlg_perf_find_program(path, "perf");
}
