// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/kernelsyms.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/bsearch.h"
#include "symtab/elf/note.h"
#include "symtab/grow.h"

struct symbol {
	uint64_t ip;
	size_t name; /* offset in text */
};

struct hlg_kernelsyms {
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

static bool add(struct hlg_kernelsyms *k, uint64_t ip, const char *name)
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

static bool read_line(struct hlg_kernelsyms *k, const char *line)
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
	return !wanted(type) || add(k, ip, name);
}

/* By address, and the file's last of each first: that is the one that perf keeps, since
 * the others end where they begin (symbols__fixup_end, then symbols__fixup_duplicate). */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->name > y->name ? -1 : x->name < y->name;
}

static void settle(struct hlg_kernelsyms *k)
{
	size_t n = 0;

	if (k->n)
		qsort(k->symbols, k->n, sizeof(*k->symbols), compare);
	for (size_t i = 0; i < k->n; i++)
		if (n == 0 || k->symbols[n - 1].ip != k->symbols[i].ip)
			k->symbols[n++] = k->symbols[i];
	k->n = n;
}

static void read_notes(struct hlg_kernelsyms *k, const char *path)
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

struct hlg_kernelsyms *hlg_kernelsyms_read(const char *kallsyms, const char *notes)
{
	struct hlg_kernelsyms *k = calloc(1, sizeof(*k));
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
		hlg_kernelsyms_destroy(k);
		return NULL;
	}
	settle(k);
	read_notes(k, notes);
	return k;
}

void hlg_kernelsyms_destroy(struct hlg_kernelsyms *k)
{
	if (!k)
		return;
	free(k->symbols);
	free(k->text);
	free(k);
}

const char *hlg_kernelsyms_build_id(const struct hlg_kernelsyms *k)
{
	return k->build_id;
}

bool hlg_kernelsyms_is_at(const struct hlg_kernelsyms *k, uint64_t text)
{
	return k->n && text && (text == k->text_ip || text == k->stext_ip);
}

const char *hlg_kernelsyms_find(const struct hlg_kernelsyms *k, uint64_t ip)
{
	size_t behind = HLG_BSEARCH_UPTO(k->symbols, k->n, ip, ip);

	return behind ? k->text + k->symbols[behind - 1].name : NULL;
}
