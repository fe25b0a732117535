// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/hostsyms.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/bsearch.h"
#include "symtab/elf/note.h"
#include "symtab/grow.h"
#include "symtab/image/image.h"
#include "symtab/name/demangle.h"

#define HEX 41 /* bytes of a build id in hex, with its NUL */

/* A file of the host. */
struct hlg_hostfile {
	struct hlg_image *image; /* NULL: no symbols */
	struct hlg_load *loads;  /* of the file itself */
	size_t n_loads;
};

struct symbol {
	uint64_t ip;
	size_t name; /* offset in text */
};

struct hlg_hostkernel {
	struct symbol *symbols; /* sorted, one at an address */
	size_t n;
	char *text;
	size_t size, room;
	uint64_t text_ip, stext_ip; /* of _text and _stext; 0: not told */
	char build_id[HLG_NOTE_BUILD_ID];
};

/* T, W, D and B in both cases are what perf takes (symbol_type__filter). */
static bool wanted(char type)
{
	return strchr("TtWwDdBb", type) != NULL;
}

static bool add_symbol(struct hlg_hostkernel *k, uint64_t ip, const char *name)
{
	size_t size = strlen(name) + 1;

	if (size > k->room - k->size) {
		size_t room = 2 * k->room + size + 65536;
		char *text = realloc(k->text, room);

		if (!text)
			return false;
		k->text = text;
		k->room = room;
	}
	if (!HLG_GROW(k->symbols, k->n))
		return false;
	k->symbols[k->n++] = (struct symbol){ip, k->size};
	memcpy(k->text + k->size, name, size);
	k->size += size;
	return true;
}

static bool read_line(struct hlg_hostkernel *k, const char *line)
{
	char name[512], type, *end;
	uint64_t ip = strtoull(line, &end, 16);

	/* "ffffffff81000000 T _text", modules' with "[kvm]" behind */
	if (sscanf(end, " %c %511s", &type, name) != 2 || ip == 0)
		return true;
	if (strcmp(name, "_text") == 0)
		k->text_ip = ip;
	if (strcmp(name, "_stext") == 0)
		k->stext_ip = ip;
	return !wanted(type) || add_symbol(k, ip, name);
}

/* By address, and the file's last of each first: that is the one that perf keeps, since
 * the others end where they begin (symbols__fixup_end, then symbols__fixup_duplicate). */
static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->name > y->name ? -1 : x->name < y->name;
}

static void sort_symbols(struct hlg_hostkernel *k)
{
	size_t n = 0;

	if (k->n)
		qsort(k->symbols, k->n, sizeof(*k->symbols), compare_symbols);
	for (size_t i = 0; i < k->n; i++)
		if (n == 0 || k->symbols[n - 1].ip != k->symbols[i].ip)
			k->symbols[n++] = k->symbols[i];
	k->n = n;
}

static void read_notes(struct hlg_hostkernel *k, const char *path)
{
	char version[HLG_NOTE_VERSION];
	unsigned char notes[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof(notes));

	if (fd >= 0)
		close(fd);
	if (n > 0)
		hlg_note_read(k->build_id, version, notes, (size_t)n, 4);
}

static void destroy_kernel(struct hlg_hostkernel *k)
{
	if (!k)
		return;
	free(k->symbols);
	free(k->text);
	free(k);
}

struct hlg_hostkernel *hlg_hostsyms_kernel_read(const char *kallsyms, const char *notes)
{
	struct hlg_hostkernel *k = calloc(1, sizeof(*k));
	FILE *f = k ? fopen(kallsyms, "re") : NULL;
	char *line = NULL;
	size_t room = 0;
	bool ok = k;

	while (f && ok && getline(&line, &room, f) > 0)
		ok = read_line(k, line);
	free(line);
	if (f)
		fclose(f);
	if (!ok) {
		destroy_kernel(k);
		return NULL;
	}
	sort_symbols(k);
	read_notes(k, notes);
	return k;
}

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
	destroy_kernel(syms->kernel);
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
		hlg_image_open_elf(&file->image, path, &err);
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
	const struct hlg_hostkernel *k;
	size_t behind = 0;

	pthread_mutex_lock(&syms->lock);
	if (!id)
		syms->kernel_is_untold = true;
	else if (!syms->kernel)
		syms->kernel =
			hlg_hostsyms_kernel_read("/proc/kallsyms", "/sys/kernel/notes");
	k = syms->kernel;
	/* Without symbols its addresses are hidden (kernel.kptr_restrict). */
	if (id && k && k->n && text && (text == k->text_ip || text == k->stext_ip) &&
	    is_build(k->build_id, id))
		behind = HLG_BSEARCH_UPTO(k->symbols, k->n, ip, ip);
	else if (id)
		syms->kernel_is_other = true;
	pthread_mutex_unlock(&syms->lock);
	return behind ? k->text + k->symbols[behind - 1].name : NULL;
}
