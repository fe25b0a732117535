// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/image/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/bsearch.h"
#include "symtab/elf/debug-file.h"
#include "symtab/elf/embedded.h"
#include "symtab/grow.h"
#include "symtab/image/perfmap.h"
#include "symtab/shell.h"

#define UNIKRAFT "elfloader_hyperlight" /* a kernel's name, before its architecture */

static struct hlg_image *create(const char *path)
{
	struct hlg_image *image = calloc(1, sizeof(*image));

	if (image)
		image->path = strdup(path);
	if (image && image->path)
		image->typed = hlg_shell_quote(path);
	if (image && !image->typed) {
		free(image->path);
		free(image);
		image = NULL;
	}
	return image;
}

static int freeze(struct hlg_image *image, struct hlg_err *err)
{
	if (!hlg_span_build(&image->spans, image->areas, image->n_areas, &image->tab))
		return hlg_err_memory(err, image->path);
	image->first = image->areas[0].start;
	image->end = image->areas[image->n_areas - 1].end;
	return 0;
}

/* Takes the symbols of a debug file over, if it has some that name code. */
static int take_debug(struct hlg_image *image, struct hlg_debug_file *file,
		      struct hlg_err *err)
{
	int rc = hlg_symbol_from_elf(&image->tab, &file->elf, file->path, err);

	if (rc < 0 || image->tab.n_syms == 0) {
		hlg_symbol_finish(&image->tab);
		return rc;
	}
	image->debug_path = file->path;
	file->path = NULL;
	image->elf.dynsym = false;
	image->elf.by_name = file->elf.by_name;
	return 0;
}

/* Where a kernel of hyperlight-unikraft, which it strips, has its symbols. */
static int fail_unikraft(const struct hlg_image *image, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: has no symbols (hyperlight-unikraft has them in its "
			   "kernel/.build/%s.dbg: name that)",
			   image->path, hlg_image_short_name(image));
}

/*
 * Looks for the symbols of an ELF without .symtab in its debug file; rc and *err are what
 * came of reading the ELF's own. Fails if there are neither.
 */
static int load_debug(struct hlg_image *image, int rc, struct hlg_err *err)
{
	struct hlg_debug_file file;
	struct hlg_err why = {0};
	int found = hlg_debug_file_find(&file, hlg_image_file(image), &image->elf, &why);

	if (found == 0 && file.path)
		found = take_debug(image, &file, &why);
	if (found == 0 && !image->debug_path && file.refused.msg[0]) {
		image->debug_refused = strdup(file.refused.msg);
		image->debug_denied = file.denied;
		if (!image->debug_refused)
			found = hlg_err_memory(&why, image->path);
	}
	hlg_debug_file_finish(&file);
	if (found < 0) {
		*err = why;
		return found;
	}
	if (rc < 0 && !image->debug_path && image->debug_refused)
		return hlg_err_set(err, rc, "%s: has no symbols, and %s", image->path,
				   image->debug_refused);
	if (rc < 0 && !image->debug_path &&
	    strncmp(hlg_image_short_name(image), UNIKRAFT, strlen(UNIKRAFT)) == 0)
		return fail_unikraft(image, err);
	return image->debug_path ? 0 : rc;
}

/* Drops the segment that a Linux kernel of x86-64 has for the data of each CPU: image.h.
 */
static void leave_out_cpu_area(struct hlg_elf64 *elf)
{
	const struct hlg_load *load = elf->loads;

	if (elf->wasm || elf->n_loads < 2 || load[0].addr != 0 || load[0].exec ||
	    load[1].addr - load[0].end < HLG_IMAGE_FAR)
		return;
	elf->n_loads--;
	memmove(elf->loads, elf->loads + 1, elf->n_loads * sizeof(*elf->loads));
}

/* Calls one of several guests of a host FILE@guest=NUMBER. */
static int name_guest(struct hlg_image *image, struct hlg_err *err)
{
	char *name;

	if (asprintf(&name, "%s@guest=%zu", image->path, image->guest) < 0)
		return hlg_err_memory(err, image->path);
	image->file = image->path;
	image->path = name;
	free(image->typed);
	image->typed = hlg_shell_quote(name);
	if (!image->typed)
		return hlg_err_memory(err, image->path);
	return 0;
}

/* Takes a guest of a host's as the image's ELF: that of a number, 0: the first. 1: there
 * is none. */
static int take_guest(struct hlg_image *image, struct hlg_embedded_list *list,
		      size_t number, struct hlg_err *err)
{
	size_t first = hlg_embedded_guest(list, 0), next;
	size_t at = number ? number - 1 : first;
	struct hlg_embedded *guest;

	if (number && (at >= list->n || hlg_embedded_guest(list, at) != at))
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: has no guest %zu inside (hlguest extract %s lists "
			"those that it has)",
			image->path, number, image->typed);
	if (at >= list->n)
		return 1;
	guest = &list->at[at];
	next = hlg_embedded_guest(list, at + 1);
	image->guest = at + 1;
	image->next_guest = next < list->n ? next + 1 : 0;
	guest->elf.id = image->elf.id;
	hlg_elf64_finish(&image->elf);
	image->elf = guest->elf;
	guest->elf = (struct hlg_elf64){0};
	image->inside = guest->offset;
	image->inside_size = guest->size;
	return at != first || image->next_guest ? name_guest(image, err) : 0;
}

/* Makes a guest inside the file the image's ELF. 1: it has none, and *err stays. */
static int look_inside(struct hlg_image *image, size_t number, struct hlg_err *err)
{
	struct hlg_embedded_list list;
	struct hlg_err why;
	int found = hlg_embedded_find(&list, image->path, &why);

	if (found == 0)
		found = take_guest(image, &list, number, &why);
	hlg_embedded_finish(&list);
	if (found < 0)
		*err = why;
	return found;
}

static void forget_tables(struct hlg_elf64 *elf)
{
	free(elf->syms);
	free(elf->shndx);
	free(elf->strtab);
	elf->syms = NULL;
	elf->shndx = NULL;
	elf->strtab = NULL;
}

/* The rest of loading, rc being what came of reading the ELF. */
static int load_symbols(struct hlg_image *image, int rc, struct hlg_err *err)
{
	struct hlg_elf64 *elf = &image->elf;

	if (elf->dynsym && rc != HLG_ESYSTEM)
		rc = load_debug(image, rc, err);
	if (rc == 0)
		leave_out_cpu_area(elf);
	if (rc == 0)
		rc = hlg_area_build(elf, image->path, &image->areas, &image->n_areas,
				    err);
	if (rc == 0 && !image->debug_path)
		rc = hlg_symbol_from_elf(&image->tab, elf, image->path, err);
	if (rc < 0)
		return rc;
	forget_tables(elf);
	if (image->tab.n_syms == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no symbol that names code (it was stripped: "
				   "`strip --strip-debug` is safe, `strip -s` and, for "
				   "Rust, `strip = \"symbols\"` are not)",
				   image->path);
	return freeze(image, err);
}

static int load_elf(struct hlg_image *image, size_t number, struct hlg_err *err)
{
	(void)number;
	return load_symbols(image, hlg_elf64_read(&image->elf, image->path, err), err);
}

/* What is wrong with its dynamic symbols is nothing to who reads none. */
static int load_stripped(struct hlg_image *image, size_t number, struct hlg_err *err)
{
	int rc = hlg_elf64_read(&image->elf, image->path, err);

	(void)number;
	if (rc != HLG_ESYSTEM && image->elf.dynsym) {
		forget_tables(&image->elf);
		return 0;
	}
	return rc < 0 ? rc
		      : hlg_err_set(err, HLG_EINPUT,
				    "%s: has symbols (open it as a guest)", image->path);
}

static int load_guest(struct hlg_image *image, size_t number, struct hlg_err *err)
{
	struct hlg_elf64 *elf = &image->elf;
	int rc = hlg_elf64_read(elf, image->path, err), inside = 1;

	if (rc != HLG_ESYSTEM && (number || (elf->needs_loader && !elf->hyperlight[0])))
		inside = look_inside(image, number, err);
	if (inside < 0)
		return inside; /* which no debug file of the host mends */
	return load_symbols(image, inside == 0 ? 0 : rc, err);
}

static int load_map(struct hlg_image *image, size_t number, struct hlg_err *err)
{
	int rc = hlg_perfmap_read(image->path, &image->tab, &image->skipped, err);

	(void)number;
	image->map = true;
	if (rc == 0)
		rc = hlg_perfmap_areas(&image->tab, image->path, &image->areas,
				       &image->n_areas, err);
	return rc < 0 ? rc : freeze(image, err);
}

static int open_with(int (*load)(struct hlg_image *, size_t, struct hlg_err *),
		     struct hlg_image **out, const char *path, size_t number,
		     struct hlg_err *err)
{
	struct hlg_image *image = create(path);
	int rc;

	*out = NULL;
	if (!image)
		return hlg_err_memory(err, path);
	rc = load(image, number, err);
	if (rc < 0) {
		hlg_image_destroy(image);
		return rc;
	}
	*out = image;
	return 0;
}

int hlg_image_open_elf(struct hlg_image **image, const char *path, struct hlg_err *err)
{
	return open_with(load_elf, image, path, 0, err);
}

int hlg_image_open_guest(struct hlg_image **image, const char *path, size_t number,
			 struct hlg_err *err)
{
	return open_with(load_guest, image, path, number, err);
}

int hlg_image_open_stripped(struct hlg_image **image, const char *path,
			    struct hlg_err *err)
{
	return open_with(load_stripped, image, path, 0, err);
}

int hlg_image_open_map(struct hlg_image **image, const char *path, struct hlg_err *err)
{
	return open_with(load_map, image, path, 0, err);
}

int hlg_image_make(struct hlg_image **out, const char *path, struct hlg_symtab *tab,
		   uint64_t first, uint64_t end, struct hlg_err *err)
{
	struct hlg_image *image = create(path);
	int rc = 0;

	*out = NULL;
	if (!image) {
		hlg_symbol_finish(tab);
		return hlg_err_memory(err, path);
	}
	image->made = true;
	image->tab = *tab;
	memset(tab, 0, sizeof(*tab));
	image->areas = malloc(sizeof(*image->areas));
	if (!image->areas) {
		rc = hlg_err_memory(err, path);
	} else {
		hlg_symbol_sort(&image->tab);
		image->n_areas = 1;
		image->areas[0] = (struct hlg_area){first, end, 0, true};
		rc = freeze(image, err);
	}
	if (rc < 0)
		hlg_image_destroy(image);
	else
		*out = image;
	return rc;
}

void hlg_image_destroy(struct hlg_image *image)
{
	if (!image)
		return;
	hlg_span_finish(&image->spans);
	hlg_symbol_finish(&image->tab);
	hlg_elf64_finish(&image->elf);
	free(image->debug_path);
	free(image->debug_refused);
	free(image->also);
	free(image->firsts);
	free(image->areas);
	free(image->path);
	free(image->file);
	free(image->typed);
	free(image->label);
	free(image->word);
	free(image);
}

static int place_at(const struct hlg_image *image, uint64_t base, struct hlg_base *at,
		    struct hlg_err *err)
{
	uint64_t low = image->map ? 0 : image->first;

	/* The last byte may be the last of the address space. */
	if (image->end - 1 - low > UINT64_MAX - base)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: its %" PRIu64 " bytes at base 0x%" PRIx64
				   " pass the end of memory (give a lower base)",
				   image->path, image->end - low, base);
	*at = (struct hlg_base){base, base - low + hlg_lane_move(image->lane)};
	return 0;
}

int hlg_image_set_base(struct hlg_image *image, uint64_t base, enum hlg_base_from from,
		       struct hlg_err *err)
{
	struct hlg_base at = {0};
	int rc = place_at(image, base, &at, err);

	if (rc < 0)
		return rc;
	image->base = at.base;
	image->bias = at.bias;
	image->from = from;
	image->n_also = image->n_also_found = 0;
	image->n_firsts = 0;
	return 0;
}

void hlg_image_set_lane(struct hlg_image *image, unsigned lane)
{
	uint64_t by = hlg_lane_move(lane) - hlg_lane_move(image->lane);

	image->bias += by;
	for (size_t i = 0; i < image->n_also; i++)
		image->also[i].bias += by;
	image->lane = lane;
}

void hlg_image_clear_base(struct hlg_image *image)
{
	image->base = image->bias = 0;
	image->from = HLG_BASE_NONE;
	image->n_also = image->n_also_found = 0;
	image->n_firsts = 0;
}

int hlg_image_add_base(struct hlg_image *image, uint64_t base, struct hlg_err *err)
{
	struct hlg_base at = {0};
	int rc = place_at(image, base, &at, err);

	if (rc < 0)
		return rc;
	if (!HLG_GROW(image->also, image->n_also))
		return hlg_err_memory(err, image->path);
	image->also[image->n_also++] = at;
	image->n_firsts = 0;
	return 0;
}

size_t hlg_image_n_bases(const struct hlg_image *image)
{
	return image->from == HLG_BASE_NONE ? 0 : 1 + image->n_also;
}

struct hlg_base hlg_image_base(const struct hlg_image *image, size_t i)
{
	return i ? image->also[i - 1] : (struct hlg_base){image->base, image->bias};
}

bool hlg_image_lies_at(const struct hlg_image *image, uint64_t base)
{
	for (size_t i = 0; i < hlg_image_n_bases(image); i++)
		if (hlg_image_base(image, i).base == base)
			return true;
	return false;
}

bool hlg_image_overlaps(const struct hlg_image *image, uint64_t base)
{
	uint64_t size = image->end - image->first;

	for (size_t i = 0; i < hlg_image_n_bases(image); i++) {
		uint64_t other = hlg_image_base(image, i).base;

		if (base - other < size || other - base < size)
			return true;
	}
	return false;
}

void hlg_image_lookup(const struct hlg_image *image, uint64_t addr,
		      struct hlg_place *place)
{
	size_t i = hlg_span_find(&image->spans, addr);
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
	const struct hlg_symtab *tab = &image->tab;
	uint64_t addr = symbol->addr;
	size_t first =
		addr ? HLG_BSEARCH_UPTO(tab->syms, tab->n_syms, addr, addr - 1) : 0;

	*n = HLG_BSEARCH_UPTO(tab->syms, tab->n_syms, addr, addr) - first;
	return tab->syms + first;
}

const struct hlg_symbol *hlg_image_neighbour(const struct hlg_image *image,
					     const struct hlg_place *gap, int dir)
{
	size_t i = hlg_span_find(&image->spans, gap->start);
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

const char *hlg_image_file_name(const struct hlg_image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash && slash[1] ? slash + 1 : image->path;
}

bool hlg_image_are_of_one_name(const struct hlg_image *a, const struct hlg_image *b)
{
	return strcmp(hlg_image_file_name(a), hlg_image_file_name(b)) == 0;
}

const char *hlg_image_short_name(const struct hlg_image *image)
{
	return image->label ? image->label : hlg_image_file_name(image);
}

const char *hlg_image_word(const struct hlg_image *image)
{
	return image->word ? image->word : image->path;
}

uint64_t hlg_image_stored(const struct hlg_image *image, uint64_t addr)
{
	const struct hlg_load *load = find_load(&image->elf, addr);

	if (!load || addr - load->addr >= load->filesz)
		return 0;
	return load->filesz - (addr - load->addr);
}

bool hlg_image_has_code(const struct hlg_image *image)
{
	bool any = false, sections = false;

	for (size_t i = 0; i < image->n_areas; i++) {
		const struct hlg_area *area = &image->areas[i];
		const bool stored = area->code && hlg_image_stored(image, area->start);

		if (stored && area->section)
			return true;
		any |= stored;
		sections |= area->code && area->section;
	}
	return any && !sections;
}

/* All images are made here, and none is constant: only who asks for bytes has it so. */
void hlg_image_miss(const struct hlg_image *image)
{
	__atomic_store_n(&((struct hlg_image *)image)->unread, true, __ATOMIC_RELAXED);
}

bool hlg_image_unread(const struct hlg_image *image)
{
	return __atomic_load_n(&image->unread, __ATOMIC_RELAXED);
}

int hlg_image_fail_unread(const struct hlg_image *image, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: cannot be read again: it has changed, or the disk fails "
			   "(start again)",
			   image->path);
}

/* From the host's descriptor, which is closed, to one of the guest's bytes. */
static int reopen_inside(const struct hlg_image *image, int fd, struct hlg_err *err)
{
	const struct hlg_embedded guest = {.offset = image->inside,
					   .size = image->inside_size};
	int memory = hlg_embedded_open(&guest, fd, hlg_image_file(image), err);

	close(fd);
	if (memory < 0)
		hlg_image_miss(image);
	return memory;
}

int hlg_image_reopen(const struct hlg_image *image, struct hlg_err *err)
{
	struct hlg_file_id now;
	int fd = hlg_file_open(hlg_image_file(image), &now, err);

	if (fd >= 0 && same_file(&now, &image->elf.id))
		return image->inside_size ? reopen_inside(image, fd, err) : fd;
	hlg_image_miss(image);
	if (fd < 0)
		return fd;
	close(fd);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: has changed since it was opened (start again)",
			   image->path);
}

size_t hlg_image_pread(const struct hlg_image *image, int fd, uint64_t addr, void *buf,
		       size_t len)
{
	const struct hlg_load *load = find_load(&image->elf, addr);
	uint64_t stored = hlg_image_stored(image, addr);

	len = len < stored ? len : stored;
	if (len == 0)
		return 0;
	if (hlg_file_read(fd, buf, len, load->offset + (addr - load->addr)) < 0) {
		hlg_image_miss(image);
		return 0;
	}
	return len;
}

size_t hlg_image_read(const struct hlg_image *image, uint64_t addr, void *buf, size_t len)
{
	struct hlg_err err;
	int fd = hlg_image_stored(image, addr) ? hlg_image_reopen(image, &err) : -1;

	if (fd < 0)
		return 0;
	len = hlg_image_pread(image, fd, addr, buf, len);
	close(fd);
	return len;
}
