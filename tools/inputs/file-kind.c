// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/file-kind.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/output/target.h"
#include "tools/pprof/pprof.h"

/* perf record --threads makes folders, with a file data in them. */
static bool holds_recording(const char *folder)
{
	char data[4096];
	struct stat st;

	return snprintf(data, sizeof(data), "%s/data", folder) < (int)sizeof(data) &&
	       stat(data, &st) == 0 && S_ISREG(st.st_mode);
}

enum hlg_file_kind hlg_file_kind_guess(const char *path)
{
	struct stat st = {0};
	enum hlg_magic magic;

	if (strcmp(path, "-") == 0)
		return HLG_FILE_KIND_RECORDING;
	/* Of what is not there, or not to be asked, st stays empty. */
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return holds_recording(path) ? HLG_FILE_KIND_RECORDING
					     : HLG_FILE_KIND_FOLDER;
	if (S_ISFIFO(st.st_mode))
		return HLG_FILE_KIND_RECORDING;
	magic = hlg_target_magic(path);
	if (magic == HLG_MAGIC_RECORDING || hlg_pprof_is(path))
		return HLG_FILE_KIND_RECORDING;
	if (magic == HLG_MAGIC_ELF || strncmp(path, "map:", 4) == 0 || strchr(path, '@'))
		return HLG_FILE_KIND_IMAGE;
	return HLG_FILE_KIND_OTHER;
}
