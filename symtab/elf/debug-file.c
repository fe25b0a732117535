// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/debug-file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM "/usr/lib/debug"

enum {
	BLOCK = 32768 /* on the stack */
};
/* Of more the CRC is not computed: a file with holes can be of any size. */
#define LARGEST ((off_t)4 << 30)

struct search {
	const char *path; /* of the ELF */
	const struct hlg_elf64 *elf;
	const char *name;   /* of the debug file: a link's, or made */
	const char *folder; /* the system's, or the user's */
	bool whole;         /* what is tried has the code, too */
	struct hlg_debug_file *out;
	int rc; /* less than 0: the system refused; err says what */
	struct hlg_err *err;
};

/* CRC-32 as in ISO 3309, bit by bit in a table of bytes. */
static uint32_t add_crc(uint32_t crc, const uint32_t table[256],
			const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	return crc;
}

static void make_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
}

/* Adds size bytes of a file to a CRC, from an offset on. */
static int add_file(uint32_t *sum, const uint32_t table[256], int fd, const char *path,
		    uint64_t offset, uint64_t size, struct hlg_err *err)
{
	unsigned char block[BLOCK];

	for (uint64_t at = 0; at < size; at += BLOCK) {
		size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;

		if (hlg_file_read(fd, block, n, offset + at) < 0)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: cannot be read (try a copy)", path);
		*sum = add_crc(*sum, table, block, n);
	}
	return 0;
}

int hlg_debug_file_crc(int fd, const char *path, off_t size, uint32_t *crc,
		       struct hlg_err *err)
{
	uint32_t table[256], sum = UINT32_MAX;
	int rc;

	make_table(table);
	rc = add_file(&sum, table, fd, path, 0, (uint64_t)size, err);
	*crc = ~sum;
	return rc;
}

/* Is there more code than a CRC is computed of? */
static bool is_large(const struct hlg_elf64 *elf)
{
	uint64_t left = LARGEST;

	for (size_t i = 0; i < elf->n_loads; i++) {
		const struct hlg_load *load = &elf->loads[i];

		if (load->exec && load->filesz > left)
			return true;
		left -= load->exec ? load->filesz : 0;
	}
	return false;
}

int hlg_debug_file_code_crc(int fd, const char *path, const struct hlg_elf64 *elf,
			    uint32_t *crc, struct hlg_err *err)
{
	uint32_t table[256], sum = UINT32_MAX;
	bool any = false;

	*crc = 0;
	if (is_large(elf))
		return 0;
	make_table(table);
	for (size_t i = 0; i < elf->n_loads; i++) {
		const struct hlg_load *load = &elf->loads[i];
		const uint64_t where[] = {load->addr, load->end, load->filesz};
		/* Strip changes the headers: they say where the sections are. */
		uint64_t skip =
			load->offset < elf->headers ? elf->headers - load->offset : 0;

		if (!load->exec || load->filesz <= skip)
			continue;
		sum = add_crc(sum, table, (const unsigned char *)where, sizeof(where));
		any = true;
		if (add_file(&sum, table, fd, path, load->offset + skip,
			     load->filesz - skip, err) < 0)
			return HLG_EINPUT;
	}
	*crc = any ? ~sum : 0;
	return 0;
}

/* Has the file the CRC that the ELF's link tells? */
static int check_crc(const struct search *s, const char *path, struct hlg_err *err)
{
	struct hlg_file_id id;
	uint32_t crc = 0;
	int fd, rc;

	fd = hlg_file_open(path, &id, err);
	if (fd < 0)
		return fd;
	if (id.size > LARGEST)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is larger than 4 GiB, and has no build id (give "
				 "both files one: -Wl,--build-id)",
				 path);
	else
		rc = hlg_debug_file_crc(fd, path, id.size, &crc, err);
	close(fd);
	if (rc == 0 && crc != s->elf->debuglink_crc)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is not the debug file of %s: its CRC is %08" PRIx32
				 ", not %08" PRIx32 " (use the one of the same build)",
				 path, s->path, crc, s->elf->debuglink_crc);
	return rc;
}

/* The first section of code from i on that has room; n_sections if there is none. */
static size_t next_code(const struct hlg_elf64 *elf, size_t i)
{
	while (i < elf->n_sections &&
	       (!elf->sections[i].exec || elf->sections[i].addr == elf->sections[i].end))
		i++;
	return i;
}

/* Does code lie at the same addresses? Symbols of other places would name the wrong. */
static bool is_alike(const struct hlg_elf64 *a, const struct hlg_elf64 *b)
{
	size_t i = next_code(a, 0), k = next_code(b, 0);

	for (; i < a->n_sections && k < b->n_sections;
	     i = next_code(a, i + 1), k = next_code(b, k + 1))
		if (a->sections[i].addr != b->sections[k].addr ||
		    a->sections[i].end != b->sections[k].end)
			return false;
	return a->machine == b->machine && i == a->n_sections && k == b->n_sections;
}

/* What the code of the program at path is known by; 0: it has none, or cannot be read. */
static uint32_t code_of(const char *path, const struct hlg_elf64 *elf)
{
	struct hlg_file_id id;
	struct hlg_err err;
	uint32_t crc = 0;
	int fd = hlg_file_open(path, &id, &err);

	if (fd < 0)
		return 0;
	(void)hlg_debug_file_code_crc(fd, path, elf, &crc, &err);
	close(fd);
	return crc;
}

/* Are their segments as large as the other's, and where these are? */
static bool is_loaded_alike(const struct hlg_elf64 *a, const struct hlg_elf64 *b)
{
	bool alike = a->n_loads == b->n_loads;

	for (size_t i = 0; alike && i < a->n_loads; i++)
		alike = a->loads[i].addr == b->loads[i].addr &&
			a->loads[i].end == b->loads[i].end &&
			a->loads[i].filesz == b->loads[i].filesz;
	return alike;
}

/* Fails with a message if the program at path, which has its symbols, is another one. It
 * is read only if its sizes are the ELF's. */
static int check_whole(const struct search *s, const char *path,
		       const struct hlg_elf64 *whole, struct hlg_err *err)
{
	uint32_t own;

	if (!is_loaded_alike(s->elf, whole))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is not the debug file of %s: its segments are "
				   "others (use the one of the same build)",
				   path, s->path);
	own = code_of(s->path, s->elf);
	if (own && own == code_of(path, whole))
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is not the debug file of %s: its code is another (use "
			   "the one of the same build)",
			   path, s->path);
}

/* Fails with a message if what was read from path is not the ELF's. */
static int check(const struct search *s, const char *path, const struct hlg_elf64 *debug,
		 struct hlg_err *err)
{
	const char *own = s->elf->build_id, *its = debug->build_id;
	int rc = 0;

	if (own[0] && its[0] && strcmp(own, its) != 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is not the debug file of %s: its build id is "
				   "%.16s..., not %.16s... (use the one of the same "
				   "build)",
				   path, s->path, its, own);
	if (s->whole) {
		rc = check_whole(s, path, debug, err);
	} else if (!own[0] || !its[0]) {
		if (!s->elf->debuglink)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: nothing tells whether it is the debug "
					   "file of %s (objcopy --add-gnu-debuglink "
					   "does)",
					   path, s->path);
		rc = check_crc(s, path, err);
	}
	if (rc == 0 && !is_alike(s->elf, debug))
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is not the debug file of %s: its code lies "
				 "elsewhere (use the one of the same build)",
				 path, s->path);
	return rc;
}

/* A file that is there but closed to who asks: what one does without, as with none. */
static bool is_denied(struct search *s, const char *path)
{
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || errno != EACCES)
		return false;
	if (!s->out->refused.msg[0]) {
		hlg_err_set(&s->out->refused, HLG_EINPUT,
			    "%s: is not used as the debug file of %s: permission denied "
			    "(chmod makes it readable)",
			    path, s->path);
		s->out->denied = true;
	}
	return true;
}

/* Takes the file if it is the one. True if the search is over. */
static bool take(struct search *s, const char *path)
{
	struct hlg_debug_file *out = s->out;
	const struct hlg_file_id *id = &out->elf.id;
	struct hlg_err err;
	int rc;

	if (access(path, F_OK) != 0 || is_denied(s, path))
		return false;
	rc = s->whole ? hlg_elf64_read(&out->elf, path, &err)
		      : hlg_elf64_read_debug(&out->elf, path, &err);
	/* A link may lead to the ELF itself. */
	if (rc == 0 && id->dev == s->elf->id.dev && id->ino == s->elf->id.ino) {
		hlg_elf64_finish(&out->elf);
		return false;
	}
	if (rc == 0)
		rc = check(s, path, &out->elf, &err);
	if (rc == 0)
		return true;
	hlg_elf64_finish(&out->elf);
	if (rc == HLG_ESYSTEM) {
		*s->err = err;
		s->rc = rc;
	} else if (!out->refused.msg[0] || out->denied) {
		out->refused = err;
		out->denied = false;
	}
	return s->rc < 0;
}

__attribute__((format(printf, 2, 3))) static bool try(struct search *s, const char *fmt,
						      ...)
{
	char *path;
	va_list ap;
	bool over;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&path, fmt, ap);
	va_end(ap);
	if (n < 0) {
		s->rc = hlg_err_memory(s->err, s->path);
		return true;
	}
	over = take(s, path);
	if (over && s->rc == 0)
		s->out->path = path;
	else
		free(path);
	return over;
}

/* The folder of a path, "" for the current one, else with its slash: its length. */
static int folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

static bool try_beside(struct search *s, const char *path)
{
	int n = folder_of(path);

	return try(s, "%.*s%s", n, path, s->name) ||
	       try(s, "%.*s.debug/%s", n, path, s->name);
}

/* What root does not use, though it is there. */
static void tell_root(struct search *s, const char *folder)
{
	char beside[PATH_MAX];
	int n = snprintf(beside, sizeof(beside), "%.*s%s%s%s", folder_of(s->path),
			 s->path, folder, s->name, s->whole ? ".dbg" : "");

	if (n >= (int)sizeof(beside) || access(beside, F_OK) != 0 ||
	    s->out->refused.msg[0])
		return;
	if (s->whole)
		hlg_err_set(&s->out->refused, HLG_EINPUT,
			    "%s: is not used by root, because others may have made it "
			    "(name it in place of %s, if it is to be trusted)",
			    beside, s->path);
	else
		hlg_err_set(
			&s->out->refused, HLG_EINPUT,
			"%s: is not used by root, because others may have made it "
			"(put it below %s, or run as another user; " HLG_DEBUG_FILE_ENV
			" names another folder)",
			beside, s->folder);
}

/* The program before it was stripped, as Unikraft's build leaves it. */
static void search_whole(struct search *s)
{
	static const char *const folders[] = {"", ".build/"};
	const int n = folder_of(s->path);

	s->whole = true;
	s->name = s->path + n;
	for (size_t i = 0; i < 2; i++)
		if (geteuid() == 0)
			tell_root(s, folders[i]);
		else if (try(s, "%.*s%s%s.dbg", n, s->path, folders[i], s->name))
			return;
}

static bool search_beside(struct search *s, const char *target)
{
	return try_beside(s, s->path) ||
	       (target && strcmp(target, s->path) != 0 && try_beside(s, target));
}

static void search(struct search *s)
{
	const char *id = s->elf->build_id;
	bool root = geteuid() == 0;
	char room[PATH_MAX], *target;

	if (strlen(id) > 2 && try(s, "%s/.build-id/%.2s/%s.debug", s->folder, id, id + 2))
		return;
	if (!s->name)
		return;
	target = realpath(s->path, room);
	if (!root && search_beside(s, target))
		return;
	if (target && try(s, "%s%.*s%s", s->folder, folder_of(target), target, s->name))
		return;
	if (!try(s, "%s/%s", s->folder, s->name) && root)
		tell_root(s, "");
}

int hlg_debug_file_find(struct hlg_debug_file *file, const char *path,
			const struct hlg_elf64 *elf, struct hlg_err *err)
{
	const char *base = path + folder_of(path), *named = getenv(HLG_DEBUG_FILE_ENV);
	struct search s = {.path = path, .elf = elf, .out = file, .err = err};
	char *made = NULL;

	*file = (struct hlg_debug_file){0};
	s.folder = named ? named : SYSTEM;
	if (!s.folder[0])
		return 0;
	if (elf->debuglink && strchr(elf->debuglink, '/')) {
		hlg_err_set(&file->refused, HLG_EINPUT,
			    "%s: its .gnu_debuglink names a path, which is not followed: "
			    "%s (objcopy --add-gnu-debuglink=NAME)",
			    path, elf->debuglink);
	} else if (elf->debuglink) {
		s.name = elf->debuglink;
	} else if (elf->build_id[0] && asprintf(&made, "%s.debug", base) < 0) {
		return hlg_err_memory(err, path);
	} else {
		s.name = made;
	}
	search(&s);
	free(made);
	if (s.rc == 0 && !file->path)
		search_whole(&s);
	return s.rc;
}

void hlg_debug_file_finish(struct hlg_debug_file *file)
{
	free(file->path);
	hlg_elf64_finish(&file->elf);
	*file = (struct hlg_debug_file){0};
}
