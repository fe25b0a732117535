// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/noted-builds.h"

#include <sys/stat.h>

#include "tools/beside/beside.h"
#include "tools/perfdata/perfdata.h"
#include "tools/pprof/pprof.h"

void hlg_noted_builds_add(struct hlg_builds *builds, const char *path)
{
	struct hlg_beside beside;
	struct hlg_err err;
	struct stat st;
	int rc;

	if (!hlg_perfdata_is_kept(path))
		return;
	rc = hlg_beside_read(&beside, path, &err);
	/* A profile is saved later. */
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && !hlg_pprof_is(path))
		builds->written = st.st_mtime;
	for (size_t k = 0; rc == 0 && k < beside.n_guests; k++) {
		const struct hlg_build build = {.file = beside.guests[k].file,
						.print = beside.guests[k].print,
						.noted = !beside.guests[k].other,
						.maybe = beside.guests[k].other};

		hlg_builds_add(builds, &build);
	}
	hlg_beside_finish(&beside);
}
