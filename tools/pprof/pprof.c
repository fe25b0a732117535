// SPDX-License-Identifier: GPL-2.0-only
/* Which files are saved profiles, and a build without the libraries. */
#include "tools/pprof/pprof.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "symtab/file.h"

#define INSTALL                                                                          \
	"not in this build (install libprotobuf-c-dev, protobuf-c-compiler and "         \
	"zlib1g-dev and build again)"

enum {
	MAGIC = 2 /* bytes: RFC 1952, 2.3.1 */
};

/* A pipe's first bytes without taking them: through a second pipe. */
static ssize_t peek_pipe(int fd, unsigned char *magic)
{
	ssize_t got;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	got = tee(fd, ends[1], MAGIC, 0); /* waits for the writer */
	if (got > 0)
		got = read(ends[0], magic, (size_t)got);
	close(ends[0]);
	close(ends[1]);
	return got;
}

static ssize_t peek_input(unsigned char *magic)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) != 0)
		return -1;
	if (S_ISREG(st.st_mode))
		return pread(STDIN_FILENO, magic, MAGIC, 0);
	if (S_ISFIFO(st.st_mode))
		return peek_pipe(STDIN_FILENO, magic);
	if (S_ISSOCK(st.st_mode))
		return recv(STDIN_FILENO, magic, MAGIC, MSG_PEEK);
	return -1; /* what is read here would be lost */
}

static ssize_t peek_fifo(const char *path, unsigned char *magic)
{
	int fd = hlg_file_open_any(path);
	ssize_t got = fd < 0 ? -1 : peek_pipe(fd, magic);

	if (fd >= 0)
		close(fd);
	return got;
}

bool hlg_pprof_is(const char *path)
{
	unsigned char magic[MAGIC];
	struct stat st;
	ssize_t got;

	if (strcmp(path, "-") == 0)
		got = peek_input(magic);
	else if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		got = peek_fifo(path, magic);
	else
		return hlg_target_magic(path) == HLG_MAGIC_GZIP;
	/* A slow writer's first byte will do: no recording begins with it. */
	return got > 0 && magic[0] == 0x1f && (got < MAGIC || magic[1] == 0x8b);
}

#if HLG_HAVE_PPROF
int hlg_pprof_check(struct hlg_err *err)
{
	(void)err;
	return 0;
}

#else
int hlg_pprof_check(struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "saved profiles: " INSTALL);
}

int hlg_pprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		     struct hlg_pprof_server *server, const unsigned char *list,
		     FILE *stream, struct hlg_err *err)
{
	(void)run, (void)sums, (void)server, (void)list, (void)stream;
	return hlg_pprof_check(err);
}

int hlg_pprof_read(const char *path, const struct hlg_space *space,
		   const struct hlg_pprof_how *how, struct hlg_profile *profile,
		   struct hlg_host *host, struct hlg_stacks *stacks,
		   struct hlg_recording_sums *sums, struct hlg_err *err)
{
	(void)space, (void)how, (void)profile, (void)host, (void)stacks, (void)sums;
	return hlg_err_set(err, HLG_EINPUT, "%s: saved profiles are " INSTALL, path);
}

int hlg_pprof_has_stacks(const char *path, bool *found, struct hlg_err *err)
{
	(void)path, (void)err;
	*found = false;
	return 0;
}

int hlg_pprof_merge(struct hlg_pprof_merging *merging, const char *out, FILE *stream,
		    struct hlg_err *err)
{
	(void)merging, (void)out, (void)stream;
	return hlg_pprof_check(err);
}

int hlg_pprof_look(const char *path, struct hlg_pprof_of *of, struct hlg_err *err)
{
	(void)path, (void)of;
	return hlg_pprof_check(err);
}

int hlg_pprof_server_check(const struct hlg_pprof_server *server, struct hlg_err *err)
{
	(void)server, (void)err;
	return 0; /* nothing is saved at all */
}

int hlg_pprof_images(struct hlg_space *space, char *const *paths, size_t n,
		     struct hlg_err *err)
{
	(void)space, (void)paths, (void)n;
	return hlg_pprof_check(err);
}
#endif
