// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <unistd.h>

#include "pprof.h"

bool hlg_pprof_is(const char *path)
{
	unsigned char magic[2] = {0, 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is;

	if (fd < 0)
		return false;
	is = read(fd, magic, sizeof(magic)) == sizeof(magic) && magic[0] == 0x1f &&
	     magic[1] == 0x8b; /* RFC 1952, 2.3.1 */
	close(fd);
	return is;
}
