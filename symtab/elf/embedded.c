// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/embedded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symtab/elf/debug-file.h"
#include "symtab/grow.h"

enum {
	CHUNK = 1 << 20,
	OVERLAP = 4 /* as often as any byte may be read for an ELF, in the mean */
};

/* e_ident as far as it is the same in all that are looked for: class, order, version. */
static const unsigned char ident[] = {ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
				      ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

struct search {
	const char *path;
	int fd;
	uint64_t size; /* of the file */
	uint64_t left; /* bytes that may be read for ELF files */
	struct hlg_embedded_list *list;
	struct hlg_err *err;
};

/* Reads what lies at an offset of the ELF that begins at start; false: not in the file.
 */
static bool read_part(const struct search *s, uint64_t start, uint64_t at, void *buf,
		      size_t n)
{
	return at <= s->size - start && n <= s->size - start - at &&
	       hlg_file_read(s->fd, buf, n, start + at) == 0;
}

/* Makes *end reach to the end of [at, at + n); false if that passes the rest's end. */
static bool reach(uint64_t *end, uint64_t rest, uint64_t at, uint64_t n)
{
	if (at > rest || n > rest - at)
		return false;
	if (n && at + n > *end)
		*end = at + n;
	return true;
}

static bool reach_segments(const struct search *s, uint64_t start, const Elf64_Ehdr *eh,
			   uint64_t *end)
{
	uint64_t rest = s->size - start;

	if (eh->e_phentsize != sizeof(Elf64_Phdr) ||
	    !reach(end, rest, eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr)))
		return false;
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;

		if (!read_part(s, start, eh->e_phoff + i * sizeof(ph), &ph, sizeof(ph)) ||
		    !reach(end, rest, ph.p_offset, ph.p_filesz))
			return false;
	}
	return eh->e_phnum > 0;
}

static bool reach_sections(const struct search *s, uint64_t start, const Elf64_Ehdr *eh,
			   uint64_t *end)
{
	uint64_t rest = s->size - start;

	if (eh->e_shnum == 0)
		return true;
	if (eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    !reach(end, rest, eh->e_shoff, eh->e_shnum * sizeof(Elf64_Shdr)))
		return false;
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		Elf64_Shdr sh;

		if (!read_part(s, start, eh->e_shoff + i * sizeof(sh), &sh, sizeof(sh)))
			return false;
		if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
		    !reach(end, rest, sh.sh_offset, sh.sh_size))
			return false;
	}
	return true;
}

/* Bytes of the tables of an ELF, those past the file's end left out. */
static uint64_t tables_size(const struct search *s, uint64_t start, const Elf64_Ehdr *eh)
{
	uint64_t n = eh->e_phnum * sizeof(Elf64_Phdr) + eh->e_shnum * sizeof(Elf64_Shdr);

	return n < s->size - start ? n : s->size - start;
}

/* Takes n bytes from what may be read. Files inside that share bytes would else be read
 * in the square of the file's size. */
static int spend(struct search *s, uint64_t n)
{
	if (n > s->left)
		return hlg_err_set(s->err, HLG_EINPUT,
				   "%s: has too many ELF files inside that overlap (is "
				   "it the host program?)",
				   s->path);
	s->left -= n;
	return 0;
}

/* How many bytes the ELF at start has; 0: there is none, or not all of it. */
static int measure(struct search *s, uint64_t start, uint64_t *size)
{
	uint64_t end = sizeof(Elf64_Ehdr);
	Elf64_Ehdr eh;
	int rc;

	*size = 0;
	if (!read_part(s, start, 0, &eh, sizeof(eh)) ||
	    (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) ||
	    (eh.e_machine != EM_X86_64 && eh.e_machine != EM_AARCH64))
		return 0;
	if (!reach_segments(s, start, &eh, &end) || !reach_sections(s, start, &eh, &end))
		end = 0;
	/* Its tables, as far as the file may have them, and then a copy of it. */
	rc = spend(s, end ? end : tables_size(s, start, &eh));
	*size = end;
	return rc;
}

/* Of the copy: files in memory are as large as files may be, or it is used up. */
static int fail_copy(const char *path, int error, struct hlg_err *err)
{
	if (error != EFBIG)
		return hlg_err_memory(err, path);
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: the ELF inside it cannot be copied: %s (raise ulimit -f)",
			   path, strerrordesc_np(error));
}

/* Copies size bytes from start on. */
static int copy(const struct search *s, uint64_t start, uint64_t size, FILE *to)
{
	char buf[1 << 16];

	for (uint64_t at = 0; at < size;) {
		size_t n = size - at < sizeof(buf) ? size - at : sizeof(buf);

		if (hlg_file_read(s->fd, buf, n, start + at) < 0)
			return hlg_file_fail_read(s->path, errno, s->err);
		if (fwrite(buf, 1, n, to) != n)
			break; /* which the stream keeps */
		at += n;
	}
	return 0;
}

int hlg_embedded_open(const struct hlg_embedded *embedded, int fd, const char *path,
		      struct hlg_err *err)
{
	const struct search s = {.path = path, .fd = fd, .err = err};
	int memory = memfd_create("guest", MFD_CLOEXEC);
	int other = memory < 0 ? -1 : dup(memory), error, rc;
	FILE *f = other < 0 ? NULL : fdopen(other, "w");

	if (f) {
		rc = copy(&s, embedded->offset, embedded->size, f);
		error = ferror(f) ? errno : 0;
		if (fclose(f) != 0 && !error)
			error = errno;
		if (rc == 0 && error)
			rc = fail_copy(path, error, err);
	} else {
		rc = hlg_file_fail(path, errno, err);
		if (other >= 0)
			close(other);
	}
	if (rc == 0)
		return memory;
	if (memory >= 0)
		close(memory);
	return rc;
}

/* What the ELF says: by a copy in memory, as libelf reads files from their beginning. */
static int read_elf(const struct search *s, struct hlg_embedded *found)
{
	struct hlg_err refused = {0};
	int fd = hlg_embedded_open(found, s->fd, s->path, s->err), rc;
	char *subject;

	if (fd < 0)
		return HLG_ESYSTEM;
	if (asprintf(&subject, "%s, the ELF inside it", s->path) < 0) {
		close(fd);
		return hlg_err_memory(s->err, s->path);
	}
	rc = hlg_elf64_read_fd(&found->elf, fd, found->size, subject, &refused);
	free(subject);
	if (rc == HLG_ESYSTEM)
		*s->err = refused;
	if (rc == HLG_EINPUT && !s->list->refused.msg[0])
		s->list->refused = refused;
	if (rc == 0)
		rc = hlg_debug_file_crc(fd, s->path, (off_t)found->size, &found->crc,
					s->err);
	close(fd);
	return rc;
}

/* The file at start, if there is one: *next is where the search goes on. */
static int look(struct search *s, uint64_t start, uint64_t *next)
{
	struct hlg_embedded found = {.offset = start};
	struct hlg_embedded_list *list = s->list;
	int rc = measure(s, start, &found.size);

	*next = start + 1;
	if (rc < 0 || found.size == 0)
		return rc;
	rc = read_elf(s, &found);
	if (rc < 0) {
		hlg_elf64_finish(&found.elf);
		return rc == HLG_EINPUT ? 0 : rc;
	}
	*next = start + found.size;
	if (!HLG_GROW(list->at, list->n)) {
		hlg_elf64_finish(&found.elf);
		return hlg_err_memory(s->err, s->path);
	}
	list->at[list->n++] = found;
	return 0;
}

/* Looks at what begins in the n bytes at *at, and says where to go on. */
static int search_chunk(struct search *s, const unsigned char *chunk, size_t n,
			uint64_t *at)
{
	uint64_t start = *at, end = *at + n - (sizeof(ident) - 1);

	while (*at < end) {
		const unsigned char *from = chunk + (*at - start);
		const unsigned char *hit =
			memmem(from, (size_t)(chunk + n - from), ident, sizeof(ident));
		int rc = 0;

		if (hit)
			rc = look(s, start + (uint64_t)(hit - chunk), at);
		else
			*at = end;
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int search_all(struct search *s, unsigned char *chunk)
{
	uint64_t at = 1; /* at 0 is the file itself */
	int rc = 0;

	while (rc == 0 && at < s->size && s->size - at >= sizeof(Elf64_Ehdr)) {
		size_t n = s->size - at < CHUNK ? s->size - at : CHUNK;

		if (hlg_file_read(s->fd, chunk, n, at) < 0)
			return hlg_file_fail_read(s->path, errno, s->err);
		rc = search_chunk(s, chunk, n, &at);
	}
	return rc;
}

int hlg_embedded_find(struct hlg_embedded_list *list, const char *path,
		      struct hlg_err *err)
{
	struct search s = {.path = path, .list = list, .err = err};
	unsigned char *chunk = malloc(CHUNK);
	struct hlg_file_id id;
	int rc;

	*list = (struct hlg_embedded_list){0};
	if (!chunk)
		return hlg_err_memory(err, path);
	rc = s.fd = hlg_file_open(path, &id, err);
	if (rc >= 0) {
		s.size = (uint64_t)id.size;
		s.left = s.size * OVERLAP;
		rc = search_all(&s, chunk);
		close(s.fd);
	}
	free(chunk);
	return rc;
}

/* Is it one of those before it once more? */
static bool is_again(const struct hlg_embedded_list *list, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (list->at[k].size == list->at[i].size &&
		    list->at[k].crc == list->at[i].crc)
			return true;
	return false;
}

size_t hlg_embedded_guest(const struct hlg_embedded_list *list, size_t from)
{
	while (from < list->n &&
	       (!list->at[from].elf.hyperlight[0] || is_again(list, from)))
		from++;
	return from;
}

void hlg_embedded_finish(struct hlg_embedded_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		hlg_elf64_finish(&list->at[i].elf);
	free(list->at);
	*list = (struct hlg_embedded_list){0};
}

int hlg_embedded_copy(const struct hlg_embedded *embedded, const char *path, FILE *to,
		      struct hlg_err *err)
{
	struct search s = {.path = path, .err = err};
	struct hlg_file_id id;
	int rc = s.fd = hlg_file_open(path, &id, err);

	if (rc < 0)
		return rc;
	rc = copy(&s, embedded->offset, embedded->size, to);
	close(s.fd);
	return rc;
}
