// SPDX-License-Identifier: GPL-2.0-only
#include "image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmap.h"

static struct hlg_image *create(const char *path)
{
	struct hlg_image *image = calloc(1, sizeof(*image));

	if (image)
		image->path = strdup(path);
	if (image && !image->path) {
		free(image);
		image = NULL;
	}
	return image;
}

static int freeze(struct hlg_image *image, struct hlg_err *err)
{
	if (!hlg_spans_build(&image->spans, image->areas, image->n_areas, &image->tab))
		return hlg_err_memory(err, image->path);
	image->first = image->areas[0].start;
	image->end = image->areas[image->n_areas - 1].end;
	return 0;
}

static int load_elf(struct hlg_image *image, struct hlg_err *err)
{
	struct hlg_elf64 *elf = &image->elf;
	int rc = hlg_elf64_read(elf, image->path, err);

	if (rc == 0)
		rc = hlg_areas_build(elf, image->path, &image->areas, &image->n_areas,
				     err);
	if (rc == 0)
		rc = hlg_symtab_from_elf(&image->tab, elf, image->path, err);
	if (rc < 0)
		return rc;
	free(elf->syms);
	free(elf->shndx);
	elf->syms = NULL;
	elf->shndx = NULL;
	if (image->tab.n_syms == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no symbol that names code (it was stripped: "
				   "`strip --strip-debug` is safe, `strip -s` and, for "
				   "Rust, `strip = \"symbols\"` are not)",
				   image->path);
	return freeze(image, err);
}

static int load_map(struct hlg_image *image, struct hlg_err *err)
{
	int rc = hlg_perfmap_read(image->path, &image->tab, &image->skipped, err);

	image->map = true;
	if (rc == 0)
		rc = hlg_perfmap_areas(&image->tab, image->path, &image->areas,
				       &image->n_areas, err);
	return rc < 0 ? rc : freeze(image, err);
}

static int open_with(int (*load)(struct hlg_image *, struct hlg_err *),
		     struct hlg_image **out, const char *path, struct hlg_err *err)
{
	struct hlg_image *image = create(path);
	int rc;

	*out = NULL;
	if (!image)
		return hlg_err_memory(err, path);
	rc = load(image, err);
	if (rc < 0) {
		hlg_image_destroy(image);
		return rc;
	}
	*out = image;
	return 0;
}

int hlg_image_open_elf(struct hlg_image **image, const char *path, struct hlg_err *err)
{
	return open_with(load_elf, image, path, err);
}

int hlg_image_open_map(struct hlg_image **image, const char *path, struct hlg_err *err)
{
	return open_with(load_map, image, path, err);
}

void hlg_image_destroy(struct hlg_image *image)
{
	if (!image)
		return;
	hlg_spans_finish(&image->spans);
	hlg_symtab_finish(&image->tab);
	hlg_elf64_finish(&image->elf);
	free(image->areas);
	free(image->path);
	free(image);
}

int hlg_image_set_base(struct hlg_image *image, uint64_t base, enum hlg_base_from from,
		       struct hlg_err *err)
{
	uint64_t low = image->map ? 0 : image->first;

	/* The last byte may be the last of the address space. */
	if (image->end - 1 - low > UINT64_MAX - base)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: its %" PRIu64 " bytes at base 0x%" PRIx64
				   " pass the end of memory (give a lower base)",
				   image->path, image->end - low, base);
	image->base = base;
	image->bias = base - low;
	image->from = from;
	return 0;
}

void hlg_image_lookup(const struct hlg_image *image, uint64_t addr,
		      struct hlg_place *place)
{
	size_t i = hlg_spans_find(&image->spans, addr);
	const struct hlg_span *span;

	*place = (struct hlg_place){.kind = HLG_OUTSIDE, .addr = addr};
	if (i == SIZE_MAX)
		return;
	span = &image->spans.span[i];
	if (span->kind == HLG_OUTSIDE)
		return;
	place->image = image;
	place->kind = span->kind;
	place->start = span->start;
	place->end = span[1].start;
	if (span->kind == HLG_GAP || span->kind == HLG_DATA) {
		place->area = &image->areas[span->index];
		place->owner = span;
		return;
	}
	place->symbol = &image->tab.syms[span->index];
	place->owner = place->symbol;
	if (place->symbol->class != HLG_SYM_BARE_LABEL) {
		place->start = place->symbol->addr;
		place->end = place->symbol->end;
	}
}

const char *hlg_image_name(const struct hlg_image *image, const struct hlg_symbol *symbol)
{
	return image->tab.names + symbol->name;
}

const struct hlg_symbol *hlg_image_aliases(const struct hlg_image *image,
					   const struct hlg_symbol *symbol, size_t *n)
{
	const struct hlg_symbol *syms = image->tab.syms, *first = symbol, *last = symbol;

	while (first > syms && first[-1].addr == symbol->addr)
		first--;
	while (last + 1 < syms + image->tab.n_syms && last[1].addr == symbol->addr)
		last++;
	*n = (size_t)(last - first) + 1;
	return first;
}

const struct hlg_symbol *hlg_image_neighbour(const struct hlg_image *image,
					     const struct hlg_place *gap, int dir)
{
	size_t i = hlg_spans_find(&image->spans, gap->start);
	const struct hlg_span *span;

	/* What lies beyond the area is of another section. */
	if (dir < 0 ? gap->start == gap->area->start : gap->end == gap->area->end)
		return NULL;
	span = &image->spans.span[dir < 0 ? i - 1 : i + 1];
	return &image->tab.syms[span->index];
}

static bool same_file(const struct hlg_file_id *a, const struct hlg_file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

static const struct hlg_load *find_load(const struct hlg_elf64 *elf, uint64_t addr)
{
	for (size_t i = 0; i < elf->n_loads; i++)
		if (addr >= elf->loads[i].addr && addr < elf->loads[i].end)
			return &elf->loads[i];
	return NULL;
}

size_t hlg_image_read(const struct hlg_image *image, uint64_t addr, void *buf, size_t len)
{
	const struct hlg_load *load = find_load(&image->elf, addr);
	struct hlg_file_id now;
	struct hlg_err err;
	uint64_t off;
	int fd;

	if (!load || addr - load->addr >= load->filesz)
		return 0;
	off = addr - load->addr;
	len = len < load->filesz - off ? len : load->filesz - off;
	fd = hlg_file_open(image->path, &now, &err);
	if (fd < 0)
		return 0;
	if (!same_file(&now, &image->elf.id) ||
	    hlg_file_read(fd, buf, len, load->offset + off) < 0)
		len = 0;
	close(fd);
	return len;
}
