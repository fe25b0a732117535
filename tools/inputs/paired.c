// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/paired.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/bsearch.h"
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

/* For none: the order given. */
static uint64_t place_of(const struct hlg_image *image)
{
	return image->number;
}

/* What makes two images partners; those that are have the same hash. */
struct likeness {
	bool (*like)(const struct hlg_image *, const struct hlg_image *);
	uint64_t (*hash)(const struct hlg_image *);
};

/* An image after that has no partner yet. */
struct left_one {
	uint64_t hash; /* of the likeness at hand */
	const struct hlg_image *image;
	bool taken;
	size_t skip; /* of the first of a hash: how many from here on are taken */
};

struct left {
	struct left_one *at; /* by hash, those of one hash in the order given */
	size_t n;
};

static int compare_left(const void *a, const void *b)
{
	const struct left_one *x = a, *y = b;
	int by_hash = hlg_bsearch_order(x->hash, y->hash);

	return by_hash ? by_hash : hlg_bsearch_order(x->image->number, y->image->number);
}

/* The first that is left and like it is taken; NULL: there is none. */
static const struct hlg_image *take(struct left *left, const struct hlg_image *image,
				    const struct likeness *by)
{
	uint64_t hash = by->hash(image);
	size_t first = HLG_BSEARCH_BELOW(left->at, left->n, hash, hash);
	struct left_one *head = &left->at[first], *end = &left->at[left->n];

	if (head == end)
		return NULL;
	for (struct left_one *one = head + head->skip; one < end && one->hash == hash;
	     one++) {
		if (one == head + head->skip && one->taken)
			head->skip++;
		if (one->taken || !by->like(image, one->image))
			continue;
		one->taken = true;
		return one->image;
	}
	return NULL;
}

/* Those that were taken are left no longer; what is, is ordered for the next likeness. */
static void order_left(struct left *left, const struct likeness *by)
{
	size_t n = 0;

	for (size_t k = 0; k < left->n; k++)
		if (!left->at[k].taken)
			left->at[n++] =
				(struct left_one){.hash = by->hash(left->at[k].image),
						  .image = left->at[k].image};
	left->n = n;
	if (n)
		qsort(left->at, n, sizeof(*left->at), compare_left);
}

/* Gives every image before that has no partner the first one left that is like it. */
static void match(struct hlg_paired *images, struct left *left, const struct likeness *by,
		  bool same)
{
	order_left(left, by);
	for (size_t i = 0; i < images->n; i++) {
		struct hlg_paired_image *pair = &images->pairs[i];

		if (pair->image[1])
			continue;
		pair->image[1] = take(left, pair->image[0], by);
		pair->same = same && pair->image[1];
	}
}

/* What is left in the end is on one side alone. */
static void add_rest(struct hlg_paired *images, struct left *left)
{
	order_left(left, &(struct likeness){.hash = place_of});
	for (size_t k = 0; k < left->n; k++)
		images->pairs[images->n++].image[1] = left->at[k].image;
}

/* Notes where each image is. */
static void number_pairs(struct hlg_paired *images)
{
	images->same = true;
	for (size_t i = 0; i < images->n; i++) {
		const struct hlg_paired_image *pair = &images->pairs[i];

		images->same = images->same && pair->same;
		for (int s = 0; s < 2; s++)
			if (pair->image[s])
				images->of[s][pair->image[s]->number] = i;
	}
}

bool hlg_paired_make(struct hlg_paired *images, const struct hlg_space *before,
		     const struct hlg_space *after)
{
	struct left left = {
		.at = calloc(after->n_images + 1, sizeof(*left.at)),
		.n = after->n_images,
	};
	bool ok;

	*images = (struct hlg_paired){
		.of = {calloc(before->n_images + 1, sizeof(size_t)),
		       calloc(after->n_images + 1, sizeof(size_t))},
	};
	images->pairs =
		calloc(before->n_images + after->n_images + 1, sizeof(*images->pairs));
	ok = left.at && images->pairs && images->of[0] && images->of[1];
	if (ok) {
		for (size_t k = 0; k < after->n_images; k++)
			left.at[k].image = after->images[k];
		for (size_t i = 0; i < before->n_images; i++)
			images->pairs[images->n++].image[0] = before->images[i];
		match(images, &left, &(struct likeness){is_same, hash_same}, true);
		match(images, &left, &(struct likeness){has_name_of, hash_name}, false);
		match(images, &left, &(struct likeness){is_any, hash_any}, false);
		add_rest(images, &left);
		number_pairs(images);
	}
	free(left.at);
	return ok;
}

size_t hlg_paired_find(const struct hlg_paired *images, int side,
		       const struct hlg_image *image)
{
	return image ? images->of[side][image->number] : images->n;
}

bool hlg_paired_share_border(const struct hlg_paired *images,
			     struct hlg_border *const border[2])
{
	bool ok = true;

	for (size_t i = 0; ok && i < images->n; i++) {
		const struct hlg_paired_image *pair = &images->pairs[i];

		for (int s = 0; ok && pair->same && s < 2; s++)
			ok = hlg_border_share(border[s], pair->image[s], border[!s],
					      pair->image[!s]);
	}
	return ok;
}

void hlg_paired_finish(struct hlg_paired *images)
{
	free(images->pairs);
	free(images->of[0]);
	free(images->of[1]);
	*images = (struct hlg_paired){0};
}
