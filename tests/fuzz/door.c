// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int make(char path[DOOR_PATH])
{
	int fd = memfd_create("door", MFD_CLOEXEC);

	if (fd < 0)
		door_fail("memfd_create");
	snprintf(path, DOOR_PATH, "/proc/self/fd/%d", fd);
	return fd;
}

static void put(int fd, const void *data, size_t size)
{
	if (ftruncate(fd, (off_t)size) < 0 ||
	    (size && pwrite(fd, data, size, 0) != (ssize_t)size))
		door_fail("memfd");
}

/* One file for all inputs: making and removing one takes longer than reading it. */
const char *door_path(const void *data, size_t size)
{
	static char path[DOOR_PATH];
	static int fd = -1;

	if (fd < 0)
		fd = make(path);
	put(fd, data, size);
	return path;
}

void door_keep(const void *data, size_t size, char path[DOOR_PATH])
{
	put(make(path), data, size);
}

_Noreturn void door_fail(const char *what)
{
	fprintf(stderr, "door: %s\n", what);
	abort();
}

uint64_t door_take(struct door_bytes *bytes, size_t size)
{
	uint64_t v = 0;

	if (size > bytes->left)
		size = bytes->left;
	if (size)
		memcpy(&v, bytes->at, size);
	bytes->at += size;
	bytes->left -= size;
	return v;
}

uint64_t door_take_time(struct door_bytes *bytes, uint64_t time)
{
	int8_t step = (int8_t)door_take(bytes, 1);

	return step == -128 ? door_take(bytes, 8) : time + (uint64_t)(int64_t)step * 16;
}
