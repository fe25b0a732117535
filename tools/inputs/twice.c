// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/twice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/profile/index.h"
#include "symtab/escape.h"
#include "symtab/hash.h"

struct look {
	dev_t dev;
	ino_t ino;
};

/* Files that were looked at; the next one is the last. */
struct looks {
	struct look *at;
	uint32_t n;
	struct hlg_index index; /* of regular files, and folders: perf record --threads */
};

static bool is_next(const void *ctx, uint32_t number)
{
	const struct looks *looks = ctx;
	const struct look *a = &looks->at[number], *next = &looks->at[looks->n];

	return a->ino == next->ino && a->dev == next->dev;
}

/* Looks at the next file; *same becomes the number of one before, or HLG_INDEX_NONE, and
 * then it is kept. False without memory. */
static bool look_at(struct looks *looks, const char *file, uint32_t *same)
{
	struct look *next = &looks->at[looks->n];
	struct stat st;
	uint64_t hash;

	*same = HLG_INDEX_NONE;
	if (stat(file, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
		*next = (struct look){st.st_dev, st.st_ino};
		hash = (st.st_ino ^ st.st_dev * hlg_hash_factor) * hlg_hash_factor;
		*same = hlg_index_find(&looks->index, hash, is_next, looks);
		if (*same == HLG_INDEX_NONE &&
		    !hlg_index_add(&looks->index, hash, looks->n))
			return false;
	}
	looks->n += *same == HLG_INDEX_NONE;
	return true;
}

void hlg_twice_tell(const char *file, const char *same, const char *what,
		    const char *counts)
{
	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, file);
	if (strcmp(file, same) == 0) {
		fprintf(stderr, ": is named twice (it counts %s)\n", counts);
		return;
	}
	fprintf(stderr, ": is the same %s as ", what);
	hlg_escape_print(stderr, same);
	fprintf(stderr, " (it counts %s)\n", counts);
}

int hlg_twice_part(char **files, size_t n, size_t *n_once, struct hlg_err *err)
{
	struct looks looks = {.at = calloc(n + 1, sizeof(*looks.at))};
	bool ok = looks.at;

	for (size_t i = 0; ok && i < n; i++) {
		char *file = files[i];
		uint32_t once = looks.n, same;

		ok = look_at(&looks, file, &same);
		if (same != HLG_INDEX_NONE) {
			hlg_twice_tell(file, files[same], "file", "once");
			continue;
		}
		files[i] = files[once];
		files[once] = file;
	}
	free(looks.at);
	hlg_index_finish(&looks.index);
	if (!ok)
		return hlg_err_memory(err, "arguments");
	*n_once = looks.n;
	return 0;
}
