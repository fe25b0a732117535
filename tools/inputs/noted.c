// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/noted.h"

#include <stdlib.h>

#include "symtab/grow.h"
#include "tools/beside/beside.h"

/* Takes path over. */
static int add(struct hlg_noted *noted, char *path, struct hlg_err *err)
{
	if (HLG_GROW(noted->paths, noted->n)) {
		noted->paths[noted->n++] = path;
		return 0;
	}
	free(path);
	return hlg_err_memory(err, "arguments");
}

static int add_all(struct hlg_noted *noted, const char *file, struct hlg_err *err)
{
	struct hlg_beside beside;
	int rc = hlg_beside_read(&beside, file, err);

	for (size_t i = 0; rc == 0 && i < beside.n_guests; i++) {
		char *name;

		if (beside.guests[i].other)
			continue;
		rc = hlg_beside_check(&beside.guests[i], file, &name, err);
		if (rc == 0)
			rc = add(noted, name, err);
	}
	hlg_beside_finish(&beside);
	return rc;
}

int hlg_noted_find(struct hlg_noted *noted, char *const *files, size_t n,
		   struct hlg_err *err)
{
	*noted = (struct hlg_noted){0};
	for (size_t i = 0; i < n; i++) {
		int rc = add_all(noted, files[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

void hlg_noted_finish(struct hlg_noted *noted)
{
	for (size_t i = 0; i < noted->n; i++)
		free(noted->paths[i]);
	free(noted->paths);
	*noted = (struct hlg_noted){0};
}
