// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"

#define MARK "@snapshot:"

enum {
	DIGEST = 64 /* hexadecimal digits of a SHA-256 */
};

bool hlg_snapshot_is(const char *path)
{
	char file[4096];
	struct stat st;

	return snprintf(file, sizeof(file), "%s/oci-layout", path) < (int)sizeof(file) &&
	       stat(file, &st) == 0 && S_ISREG(st.st_mode);
}

/* Bytes of the folder that path, with a base or not, is a blob of,
 * "DIR/blobs/sha256/0e10..."; 0: none. */
static size_t folder_of_blob(const char *path)
{
	static const char blobs[] = "/blobs/sha256/";
	const char *at = strstr(path, blobs), *digest = at ? at + sizeof(blobs) - 1 : "";

	return strcspn(digest, "@") == DIGEST &&
			       strspn(digest, "0123456789abcdef") == DIGEST
		       ? (size_t)(at - path)
		       : 0;
}

/* The memory looks like an ELF that was stripped, which is what it has of one. */
static int refuse_blob(const char *given, struct hlg_err *err)
{
	size_t n = folder_of_blob(given);

	if (n == 0)
		return 0;
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: is the memory of a snapshot, without symbols (use "
			   "guest.elf@snapshot:%.*s)",
			   given, (int)n, given);
}

#if HLG_HAVE_JANSSON
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <unistd.h>

#include "symtab/file.h"
#include "symtab/image/image.h"

enum {
	LARGEST = 1 << 20 /* bytes of a JSON file that is read */
};

#define CONFIG "application/vnd.hyperlight.snapshot.config."
#define MEMORY "application/vnd.hyperlight.snapshot.memory."

#define EXACT 9007199254740992. /* 2^53: below it a real number has no gaps */

struct snapshot {
	const char *dir;
	int fd;
	struct hlg_err *err;
};

static int no_snapshot(const struct snapshot *s, const char *why)
{
	return hlg_err_set(s->err, HLG_ESYSTEM,
			   "%s: is no snapshot that Hyperlight saved: %s (name its "
			   "folder, which has oci-layout in it)",
			   s->dir, why);
}

/* The folder that the name's steps lead to: no link leads out of it. Moves *name to its
 * last step; a descriptor for the caller to close. */
static int open_folder(int from, const char **name)
{
	int folder = fcntl(from, F_DUPFD_CLOEXEC, 0);
	char step[DIGEST + 1];
	const char *slash;

	while (folder >= 0 && (slash = strchr(*name, '/'))) {
		int above = folder, error;

		snprintf(step, sizeof(step), "%.*s", (int)(slash - *name), *name);
		folder = openat(above, step,
				O_PATH | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY);
		error = errno;
		close(above);
		errno = error;
		*name = slash + 1;
	}
	return folder;
}

static int open_inside(int from, const char *name)
{
	int folder = open_folder(from, &name), fd, error;

	if (folder < 0)
		return -1;
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	error = errno;
	close(folder);
	errno = error;
	return fd;
}

/* A regular file of the folder, and its size; a descriptor for the caller to close. */
static int open_file(const struct snapshot *s, const char *name, uint64_t *size)
{
	int fd = open_inside(s->fd, name);
	struct stat st;

	if (fd < 0 && errno == EACCES)
		return hlg_err_set(s->err, HLG_ESYSTEM,
				   "%s: its %s cannot be read: %s (read it as its owner)",
				   s->dir, name, strerrordesc_np(errno));
	if (fd < 0)
		return no_snapshot(s, name);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return no_snapshot(s, name);
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

/* "blobs/sha256/0e10..." of a descriptor of OCI; false if it is none. */
static bool name_blob(char name[static DIGEST + 16], const json_t *descriptor)
{
	static const char key[] = "sha256:";
	const char *digest = json_string_value(json_object_get(descriptor, "digest"));

	if (!digest || strncmp(digest, key, sizeof(key) - 1) != 0)
		return false;
	digest += sizeof(key) - 1;
	if (strlen(digest) != DIGEST || strspn(digest, "0123456789abcdef") != DIGEST)
		return false;
	snprintf(name, DIGEST + 16, "blobs/sha256/%s", digest);
	return true;
}

/* Its JSON, to be released; NULL after an error. Numbers are real, because there are some
 * past what jansson takes for an integer: addresses in the upper half. */
static json_t *read_json(const struct snapshot *s, const char *name)
{
	json_t *json = NULL;
	char *text = NULL;
	uint64_t size = 0;
	int fd = open_file(s, name, &size);

	if (fd < 0)
		return NULL;
	if (size > 0 && size <= LARGEST)
		text = malloc(size);
	if (text && hlg_file_read(fd, text, size, 0) == 0)
		json = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);
	close(fd);
	free(text);
	if (!json)
		no_snapshot(s, name);
	return json;
}

static json_t *read_blob(const struct snapshot *s, const json_t *descriptor)
{
	char name[DIGEST + 16];

	if (name_blob(name, descriptor))
		return read_json(s, name);
	no_snapshot(s, "a digest in it is none");
	return NULL;
}

static bool has_type(const json_t *descriptor, const char *type)
{
	const char *value = json_string_value(json_object_get(descriptor, "mediaType"));

	return value && strncmp(value, type, strlen(type)) == 0;
}

/* The manifest, to be released. */
static json_t *read_manifest(const struct snapshot *s)
{
	json_t *index = read_json(s, "index.json"), *manifest = NULL;
	const json_t *all = json_object_get(index, "manifests");

	if (index && json_array_size(all) == 1)
		manifest = read_blob(s, json_array_get(all, 0));
	else if (index)
		no_snapshot(s, "there is not one manifest in it");
	json_decref(index);
	return manifest;
}

static int read_base(const struct snapshot *s, const json_t *manifest, uint64_t *base)
{
	const json_t *descriptor = json_object_get(manifest, "config");
	const json_t *value;
	json_t *config;
	int rc = 0;

	if (!has_type(descriptor, CONFIG))
		return no_snapshot(s, "it has another configuration");
	config = read_blob(s, descriptor);
	if (!config)
		return HLG_ESYSTEM;
	value = json_object_get(json_object_get(config, "layout"), "code_virt_base");
	if (json_is_real(value) && json_real_value(value) >= 0 &&
	    json_real_value(value) <= EXACT)
		*base = (uint64_t)json_real_value(value);
	else
		rc = no_snapshot(s, "its configuration has no layout.code_virt_base");
	json_decref(config);
	return rc;
}

/* The memory, for the caller to close. */
static int open_memory(const struct snapshot *s, const json_t *manifest)
{
	const json_t *layers = json_object_get(manifest, "layers"), *layer;
	char name[DIGEST + 16];
	uint64_t size;

	for (size_t i = 0; i < json_array_size(layers); i++) {
		layer = json_array_get(layers, i);
		if (has_type(layer, MEMORY) && name_blob(name, layer))
			return open_file(s, name, &size);
	}
	return no_snapshot(s, "its memory is not there");
}

/* Where the first byte of code differs, or is not there; the end if none does. */
static uint64_t first_other(const struct hlg_image *image, int fd, int memory,
			    const struct hlg_load *load)
{
	unsigned char ours[4096], theirs[sizeof(ours)];
	uint64_t end = load->addr + load->filesz, addr = load->addr;

	while (addr < end) {
		size_t n =
			end - addr < sizeof(ours) ? (size_t)(end - addr) : sizeof(ours);

		if (hlg_image_pread(image, fd, addr, ours, n) != n ||
		    hlg_file_read(memory, theirs, n, addr - image->first) < 0)
			return addr;
		for (size_t i = 0; i < n; i++)
			if (ours[i] != theirs[i])
				return addr + i;
		addr += n;
	}
	return addr;
}

static int compare(const struct snapshot *s, const struct hlg_image *image, int memory)
{
	int fd = hlg_image_reopen(image, s->err), rc = fd < 0 ? fd : 0;

	for (size_t i = 0; rc == 0 && i < image->elf.n_loads; i++) {
		const struct hlg_load *load = &image->elf.loads[i];
		uint64_t addr = load->exec ? first_other(image, fd, memory, load)
					   : load->addr + load->filesz;

		if (addr != load->addr + load->filesz)
			rc = hlg_err_set(s->err, HLG_ESYSTEM,
					 "%s: the snapshot %s is of another build: its "
					 "code differs at 0x%" PRIx64
					 " (name the ELF that was loaded)",
					 image->path, s->dir, addr);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Opens the ELF, and compares. */
static int confirm(const struct snapshot *s, const json_t *manifest, const char *file)
{
	struct hlg_image *image;
	int memory = open_memory(s, manifest), rc;

	if (memory < 0)
		return memory;
	rc = hlg_image_open_guest(&image, file, 0, s->err);
	if (rc == 0)
		rc = compare(s, image, memory);
	hlg_image_destroy(image);
	close(memory);
	return rc;
}

int hlg_snapshot_word(char **word, const char *given, struct hlg_err *err)
{
	const char *mark = strstr(given, MARK);
	struct snapshot s = {.err = err};
	json_t *manifest = NULL;
	uint64_t base = 0;
	char *file;
	int rc = 0;

	*word = NULL;
	if (!mark)
		return refuse_blob(given, err);
	s.dir = mark + strlen(MARK);
	file = strndup(given, (size_t)(mark - given));
	if (!file)
		return hlg_err_memory(err, given);
	s.fd = open(s.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.fd < 0)
		rc = hlg_file_fail(s.dir, errno, err);
	else
		manifest = read_manifest(&s);
	if (rc == 0)
		rc = manifest ? read_base(&s, manifest, &base) : HLG_ESYSTEM;
	if (rc == 0)
		rc = confirm(&s, manifest, file);
	if (rc == 0 && asprintf(word, "%s@0x%" PRIx64, file, base) < 0) {
		*word = NULL;
		rc = hlg_err_memory(err, given);
	}
	json_decref(manifest);
	if (s.fd >= 0)
		close(s.fd);
	free(file);
	return rc;
}
#else
int hlg_snapshot_word(char **word, const char *given, struct hlg_err *err)
{
	*word = NULL;
	if (!strstr(given, MARK))
		return refuse_blob(given, err);
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: this build cannot read a snapshot, which is JSON "
			   "(install libjansson-dev and build again, or use @0x4000)",
			   given);
}
#endif
