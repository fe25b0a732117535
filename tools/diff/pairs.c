// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/pairs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/hash.h"

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

/* Files that are alike have the same symbols; most that are not differ there. */
static uint64_t hash_same(const struct hlg_image *image)
{
	uint64_t hash = hlg_hash_text(HLG_HASH_SEED, image->elf.build_id);

	for (size_t i = 0; i < image->tab.n_syms && !image->elf.build_id[0]; i++) {
		const struct hlg_symbol *symbol = &image->tab.syms[i];

		hash = hlg_hash_word(hash, symbol->addr);
		hash = hlg_hash_word(hash, symbol->end);
		hash = hlg_hash_text(hash, hlg_image_name(image, symbol));
	}
	return hash;
}

static const char *base_name(const struct hlg_image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash ? slash + 1 : image->path;
}

static bool has_name_of(const struct hlg_image *a, const struct hlg_image *b)
{
	return a->map == b->map && strcmp(base_name(a), base_name(b)) == 0;
}

static uint64_t hash_name(const struct hlg_image *image)
{
	return hlg_hash_text(HLG_HASH_SEED, base_name(image));
}

static bool is_any(const struct hlg_image *a, const struct hlg_image *b)
{
	return a->map == b->map;
}

static uint64_t hash_any(const struct hlg_image *image)
{
	return hlg_hash_word(HLG_HASH_SEED, image->map);
}

/* What makes two images partners; those that are have the same hash. */
struct likeness {
	bool (*like)(const struct hlg_image *, const struct hlg_image *);
	uint64_t (*hash)(const struct hlg_image *);
};

/* Images after, and which of them have a partner. */
struct left {
	const struct hlg_space *after;
	bool *taken;
	uint64_t *hash; /* of the likeness at hand */
};

/* The first that is left and like it is taken; NULL: there is none. */
static const struct hlg_image *take(struct left *left, const struct hlg_image *image,
				    const struct likeness *by)
{
	uint64_t hash = by->hash(image);

	for (size_t k = 0; k < left->after->n_images; k++)
		if (!left->taken[k] && left->hash[k] == hash &&
		    by->like(image, left->after->images[k])) {
			left->taken[k] = true;
			return left->after->images[k];
		}
	return NULL;
}

/* Gives every image before that has no partner the first one left that is like it. */
static void match(struct hlg_diff_images *images, struct left *left,
		  const struct likeness *by, bool same)
{
	for (size_t k = 0; k < left->after->n_images; k++)
		left->hash[k] = left->taken[k] ? 0 : by->hash(left->after->images[k]);
	for (size_t i = 0; i < images->n; i++) {
		struct hlg_diff_image *pair = &images->pairs[i];

		if (pair->image[1])
			continue;
		pair->image[1] = take(left, pair->image[0], by);
		pair->same = same && pair->image[1];
	}
}

/* Notes where each image is. */
static void number_pairs(struct hlg_diff_images *images)
{
	images->same = true;
	for (size_t i = 0; i < images->n; i++) {
		const struct hlg_diff_image *pair = &images->pairs[i];

		images->same = images->same && pair->same;
		for (int s = 0; s < 2; s++)
			if (pair->image[s])
				images->of[s][pair->image[s]->number] = i;
	}
}

bool hlg_diff_images_pair(struct hlg_diff_images *images, const struct hlg_space *before,
			  const struct hlg_space *after)
{
	struct left left = {
		.after = after,
		.taken = calloc(after->n_images + 1, sizeof(*left.taken)),
		.hash = calloc(after->n_images + 1, sizeof(*left.hash)),
	};
	bool ok;

	*images = (struct hlg_diff_images){
		.of = {calloc(before->n_images + 1, sizeof(size_t)),
		       calloc(after->n_images + 1, sizeof(size_t))},
	};
	images->pairs =
		calloc(before->n_images + after->n_images + 1, sizeof(*images->pairs));
	ok = left.taken && left.hash && images->pairs && images->of[0] && images->of[1];
	if (ok) {
		for (size_t i = 0; i < before->n_images; i++)
			images->pairs[images->n++].image[0] = before->images[i];
		match(images, &left, &(struct likeness){is_same, hash_same}, true);
		match(images, &left, &(struct likeness){has_name_of, hash_name}, false);
		match(images, &left, &(struct likeness){is_any, hash_any}, false);
		for (size_t k = 0; k < after->n_images; k++)
			if (!left.taken[k])
				images->pairs[images->n++].image[1] = after->images[k];
		number_pairs(images);
	}
	free(left.taken);
	free(left.hash);
	return ok;
}

size_t hlg_diff_images_find(const struct hlg_diff_images *images, int side,
			    const struct hlg_image *image)
{
	return image ? images->of[side][image->number] : images->n;
}

void hlg_diff_images_finish(struct hlg_diff_images *images)
{
	free(images->pairs);
	free(images->of[0]);
	free(images->of[1]);
	*images = (struct hlg_diff_images){0};
}
