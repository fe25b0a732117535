// SPDX-License-Identifier: GPL-2.0-only
#include "pairs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What of the file is at off, up to 4096 bytes; -1 if they could not be read. */
static int read_some(int fd, const struct hlg_file_id *id, char *some, off_t off)
{
	int n = id->size - off < 4096 ? (int)(id->size - off) : 4096;

	return hlg_file_read(fd, some, (size_t)n, (uint64_t)off) < 0 ? -1 : n;
}

/* What cannot be read is missed, and a reason for the comparison to fail. */
static bool files_are_alike(const struct hlg_image *a, const struct hlg_image *b)
{
	struct hlg_file_id x = {0}, y = {0};
	struct hlg_err err;
	int f = hlg_file_open(a->path, &x, &err), g = hlg_file_open(b->path, &y, &err);
	bool alike = x.size == y.size;
	char s[4096], t[4096];

	if (f < 0)
		hlg_image_miss(a);
	if (g < 0)
		hlg_image_miss(b);
	for (off_t off = 0; f >= 0 && g >= 0 && alike && off < x.size; off += 4096) {
		int n = read_some(f, &x, s, off), m = read_some(g, &y, t, off);

		if (n < 0)
			hlg_image_miss(a);
		if (m < 0)
			hlg_image_miss(b);
		alike = n == m && n > 0 && memcmp(s, t, (size_t)n) == 0;
	}
	if (f >= 0)
		close(f);
	if (g >= 0)
		close(g);
	return f >= 0 && g >= 0 && alike;
}

static bool is_same(const struct hlg_image *a, const struct hlg_image *b)
{
	/* The symbols of one without a file end where its samples do. */
	if (a->map != b->map || a->made || b->made)
		return false;
	if (a->elf.build_id[0] || b->elf.build_id[0])
		return strcmp(a->elf.build_id, b->elf.build_id) == 0;
	return files_are_alike(a, b);
}

static bool has_name_of(const struct hlg_image *a, const struct hlg_image *b)
{
	const char *x = strrchr(a->path, '/'), *y = strrchr(b->path, '/');

	return a->map == b->map && strcmp(x ? x + 1 : a->path, y ? y + 1 : b->path) == 0;
}

static bool is_any(const struct hlg_image *a, const struct hlg_image *b)
{
	return a->map == b->map;
}

/* Gives every image before that has no partner the first one left that is like it. */
static void match(struct hlg_diff_images *images, const struct hlg_space *after,
		  bool *taken,
		  bool (*like)(const struct hlg_image *, const struct hlg_image *))
{
	for (size_t i = 0; i < images->n; i++) {
		struct hlg_diff_image *pair = &images->pairs[i];

		for (size_t k = 0; k < after->n_images && !pair->image[1]; k++) {
			if (taken[k] || !like(pair->image[0], after->images[k]))
				continue;
			pair->image[1] = after->images[k];
			pair->same = like == is_same;
			taken[k] = true;
		}
	}
}

bool hlg_diff_images_pair(struct hlg_diff_images *images, const struct hlg_space *before,
			  const struct hlg_space *after)
{
	bool *taken = calloc(after->n_images + 1, sizeof(*taken));

	*images = (struct hlg_diff_images){.same = true};
	images->pairs =
		calloc(before->n_images + after->n_images + 1, sizeof(*images->pairs));
	if (!taken || !images->pairs) {
		free(taken);
		return false;
	}
	for (size_t i = 0; i < before->n_images; i++)
		images->pairs[images->n++].image[0] = before->images[i];
	match(images, after, taken, is_same);
	match(images, after, taken, has_name_of);
	match(images, after, taken, is_any);
	for (size_t k = 0; k < after->n_images; k++)
		if (!taken[k])
			images->pairs[images->n++].image[1] = after->images[k];
	for (size_t i = 0; i < images->n; i++)
		images->same = images->same && images->pairs[i].same;
	free(taken);
	return true;
}

size_t hlg_diff_images_find(const struct hlg_diff_images *images, int side,
			    const struct hlg_image *image)
{
	size_t i = 0;

	while (i < images->n && (!image || images->pairs[i].image[side] != image))
		i++;
	return i;
}

void hlg_diff_images_finish(struct hlg_diff_images *images)
{
	free(images->pairs);
	images->pairs = NULL;
}
