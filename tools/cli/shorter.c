// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/shorter.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Only what signal-safety(7) allows from here on: no stdio, no memory. */

static char maps[65536]; /* a piece of /proc/self/maps */

static void put(const char *text, size_t n)
{
	if (write(STDERR_FILENO, text, n) < 0)
		_exit(1);
}

/* What a terminal would act on is told as escape.h does. */
static void put_name(const char *name, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];
		char escaped[4] = {'\\', 'x', digits[c >> 4], digits[c & 15]};

		if (c < 32 || c >= 127)
			put(escaped, sizeof(escaped));
		else
			put(name + i, 1);
	}
}

static const char *read_hex(const char *p, uint64_t *n)
{
	for (*n = 0;; p++) {
		if (*p >= '0' && *p <= '9')
			*n = *n << 4 | (unsigned)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			*n = *n << 4 | (unsigned)(*p - 'a' + 10);
		else
			return p;
	}
}

/* A line of maps: "START-END rwxp OFFSET DEV INODE  /path". */
static bool holds(const char *line, uint64_t addr)
{
	uint64_t start, end;

	line = read_hex(line, &start);
	read_hex(line + (*line == '-'), &end);
	return addr >= start && addr < end;
}

/* The path of what is mapped at addr; false if it has none. */
static bool put_path(uint64_t addr)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, maps + have, sizeof(maps) - 1 - have)) > 0) {
		char *line = maps, *end;

		have += (size_t)got;
		maps[have] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			const char *path = memchr(line, '/', (size_t)(end - line));

			if (!holds(line, addr))
				continue;
			if (path)
				put_name(path, (size_t)(end - path));
			return path;
		}
		have -= (size_t)(line - maps);
		memmove(maps, line, have);
	}
	return false;
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	static const char begin[] = "hlguest: ", unknown[] = "a file",
			  end[] = ": became shorter while it was read (start again when "
				  "nobody writes it)\n";

	(void)sig;
	(void)context;
	put(begin, sizeof(begin) - 1);
	if (!put_path((uint64_t)(uintptr_t)info->si_addr))
		put(unknown, sizeof(unknown) - 1);
	put(end, sizeof(end) - 1);
	_exit(1);
}

void hlg_shorter_watch(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus,
				   .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};

	sigaction(SIGBUS, &action, NULL);
}
