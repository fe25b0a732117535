// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/hostsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/grow.h"
#include "symtab/image/image.h"
#include "symtab/name/demangle.h"
#include "tools/feed/kernelsyms.h"

#define DEBUG_FOLDER "/usr/lib/debug/.build-id"
#define HEX          41 /* bytes of a build id in hex, with its NUL */

/* A file of the host. */
struct hlg_hostfile {
	struct hlg_image *image; /* of the file or of its debug file; NULL: no symbols */
	struct hlg_load *loads;  /* of the file itself */
	size_t n_loads;
};

bool hlg_hostsyms_build_ids_set(struct hlg_buildids *ids, const char *path,
				const uint8_t *id, size_t size)
{
	uint32_t name;

	if (size > sizeof(ids->ids->id))
		return true;
	if (!HLG_GROW(ids->ids, ids->paths.n))
		return false;
	name = hlg_strings_add(&ids->paths, path);
	if (name == HLG_NO_STRING)
		return false;
	ids->ids[name - 1].size = (uint8_t)size;
	memcpy(ids->ids[name - 1].id, id, size);
	return true;
}

const struct hlg_buildid *hlg_hostsyms_build_ids_get(const struct hlg_buildids *ids,
						     const char *path)
{
	uint32_t name = hlg_strings_find(&ids->paths, path);

	return name != HLG_NO_STRING && ids->ids[name - 1].size ? &ids->ids[name - 1]
								: NULL;
}

void hlg_hostsyms_build_ids_finish(struct hlg_buildids *ids)
{
	hlg_strings_finish(&ids->paths);
	free(ids->ids);
	*ids = (struct hlg_buildids){0};
}

void hlg_hostsyms_init(struct hlg_hostsyms *syms, bool demangle)
{
	*syms = (struct hlg_hostsyms){.demangle = demangle};
	pthread_mutex_init(&syms->lock, NULL);
}

void hlg_hostsyms_finish(struct hlg_hostsyms *syms)
{
	for (uint32_t i = 0; i < syms->keys.n; i++) {
		if (syms->files[i].image)
			hlg_image_destroy(syms->files[i].image);
		free(syms->files[i].loads);
	}
	free(syms->files);
	hlg_kernelsyms_destroy(syms->kernel);
	hlg_strings_finish(&syms->keys);
	hlg_strings_finish(&syms->names);
	pthread_mutex_destroy(&syms->lock);
}

/* Returns the end. */
static char *put_hex(char *to, const struct hlg_buildid *id)
{
	*to = '\0';
	for (unsigned i = 0; i < id->size; i++)
		to += sprintf(to, "%02x", id->id[i]);
	return to;
}

/* perf pads ids with zeros to 20 bytes where it does not tell their size. */
static bool is_build(const char *build_id, const struct hlg_buildid *id)
{
	size_t n = strlen(build_id);
	char hex[HEX];

	put_hex(hex, id);
	return n && strncmp(hex, build_id, n) == 0 &&
	       strspn(hex + n, "0") == strlen(hex + n);
}

static struct hlg_image *open_debug(const struct hlg_elf64 *elf)
{
	char path[sizeof(DEBUG_FOLDER) + sizeof(elf->build_id) + 16];
	struct hlg_image *image = NULL;
	struct hlg_err err;

	if (strlen(elf->build_id) < 4)
		return NULL;
	snprintf(path, sizeof(path), DEBUG_FOLDER "/%.2s/%s.debug", elf->build_id,
		 elf->build_id + 2);
	if (access(path, R_OK) != 0 || hlg_image_open_elf(&image, path, &err) < 0)
		return NULL;
	if (strcmp(image->elf.build_id, elf->build_id) == 0 && !image->elf.dynsym)
		return image;
	hlg_image_destroy(image);
	return NULL;
}

static void say_other(struct hlg_hostsyms *syms, const char *path)
{
	/* The first by name: threads come in any order. */
	if (!syms->file_is_other || strncmp(path, syms->other, sizeof(syms->other)) < 0)
		snprintf(syms->other, sizeof(syms->other), "%s", path);
	syms->file_is_other = true;
}

static void open_file(struct hlg_hostsyms *syms, struct hlg_hostfile *file,
		      const char *path, const struct hlg_buildid *id)
{
	struct hlg_elf64 elf;
	struct hlg_err err;

	/* A file without symbols may have a debug file. */
	if (path[0] == '/' && access(path, R_OK) == 0)
		hlg_elf64_read(&elf, path, &err);
	else
		elf = (struct hlg_elf64){0};
	if (elf.n_loads && id && !is_build(elf.build_id, id)) {
		say_other(syms, path);
	} else if (elf.n_loads) {
		file->image = open_debug(&elf);
		if (!file->image && hlg_image_open_elf(&file->image, path, &err) < 0)
			file->image = NULL;
		file->loads = elf.loads;
		file->n_loads = elf.n_loads;
		elf.loads = NULL;
	}
	hlg_elf64_finish(&elf);
}

/* NULL if it is one too many, or without memory. */
static struct hlg_hostfile *find_file(struct hlg_hostsyms *syms, const char *path,
				      const struct hlg_buildid *id)
{
	char key[HEX + 4096]; /* PATH_MAX */
	char *end = id ? put_hex(key, id) : key;
	uint32_t number;

	snprintf(end, sizeof(key) - (size_t)(end - key), " %s", path);
	number = hlg_strings_find(&syms->keys, key);
	if (number != HLG_NO_STRING)
		return &syms->files[number - 1];
	if (syms->keys.n >= HLG_HOSTSYMS_MAX) {
		syms->too_many = true;
		return NULL;
	}
	if (!HLG_GROW(syms->files, syms->keys.n))
		return NULL;
	number = hlg_strings_add(&syms->keys, key);
	if (number == HLG_NO_STRING)
		return NULL;
	syms->files[number - 1] = (struct hlg_hostfile){0};
	open_file(syms, &syms->files[number - 1], path, id);
	return &syms->files[number - 1];
}

/* Less than 0 for a: fewer underscores at its front, then the longer. */
static int compare_names(const char *a, const char *b)
{
	size_t na = strspn(a, "_"), nb = strspn(b, "_");

	if (na != nb)
		return na < nb ? -1 : 1;
	na = strlen(a);
	nb = strlen(b);
	return na == nb ? 0 : na > nb ? -1 : 1;
}

/* The name that perf would take: not weak, else global, else the better. */
static const char *best_name(const struct hlg_image *image,
			     const struct hlg_symbol *symbol)
{
	enum {
		WEAK = 1
	};
	size_t n;
	const struct hlg_symbol *first = hlg_image_aliases(image, symbol, &n),
				*best = symbol;

	for (size_t i = 0; i < n; i++) {
		const struct hlg_symbol *s = &first[i];
		int order = compare_names(hlg_image_name(image, s),
					  hlg_image_name(image, best));

		if ((s->end == s->addr) != (best->end == best->addr))
			order = s->end == s->addr ? 1 : -1;
		else if ((s->bind == WEAK) != (best->bind == WEAK))
			order = s->bind == WEAK ? 1 : -1;
		else if (s->bind != best->bind)
			order = s->bind < best->bind ? -1 : 1;
		if (order < 0)
			best = s;
	}
	return hlg_image_name(image, best);
}

static const char *keep(struct hlg_hostsyms *syms, const char *name)
{
	char *readable = syms->demangle ? hlg_demangle(name) : NULL;
	uint32_t number = hlg_strings_add(&syms->names, readable ? readable : name);

	free(readable);
	return hlg_strings_get(&syms->names, number);
}

/* An offset of the file as an address of its own. */
static bool to_addr(const struct hlg_hostfile *file, uint64_t offset, uint64_t *addr)
{
	for (size_t i = 0; i < file->n_loads; i++) {
		const struct hlg_load *load = &file->loads[i];

		if (load->exec && offset >= load->offset &&
		    offset - load->offset < load->filesz) {
			*addr = load->addr + (offset - load->offset);
			return true;
		}
	}
	return false;
}

const char *hlg_hostsyms_user(struct hlg_hostsyms *syms, const char *path,
			      const struct hlg_buildid *id, uint64_t offset)
{
	const struct hlg_hostfile *file;
	const char *name = NULL;
	struct hlg_place place;
	uint64_t addr;

	pthread_mutex_lock(&syms->lock);
	file = find_file(syms, path, id);
	if (file && file->image && to_addr(file, offset, &addr)) {
		hlg_image_lookup(file->image, addr, &place);
		if (place.symbol)
			name = keep(syms, best_name(file->image, place.symbol));
	}
	pthread_mutex_unlock(&syms->lock);
	return name;
}

const char *hlg_hostsyms_kernel(struct hlg_hostsyms *syms, const struct hlg_buildid *id,
				uint64_t text, uint64_t ip)
{
	const char *name = NULL;

	pthread_mutex_lock(&syms->lock);
	if (!id)
		syms->kernel_is_untold = true;
	else if (!syms->kernel)
		syms->kernel = hlg_kernelsyms_read("/proc/kallsyms", "/sys/kernel/notes");
	if (id && syms->kernel && hlg_kernelsyms_is_at(syms->kernel, text) &&
	    is_build(hlg_kernelsyms_build_id(syms->kernel), id))
		name = hlg_kernelsyms_find(syms->kernel, ip);
	else if (id)
		syms->kernel_is_other = true;
	pthread_mutex_unlock(&syms->lock);
	return name;
}
