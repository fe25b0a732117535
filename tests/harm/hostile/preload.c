// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD. Notes each variable that getenv and secure_getenv are asked for, with
 * the object that asks, as "object name" lines in the file that $HLG_ASKED names; and
 * gives $HLG_CPUINFO to who opens /proc/cpuinfo. What libc asks of itself is not seen.
 */
#undef _FILE_OFFSET_BITS /* fopen and fopen64 are two here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static char *value_of(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

static void note(const char *name, void *caller)
{
	const char *path = value_of("HLG_ASKED");
	Dl_info info;
	char line[512];
	int n, fd;

	if (!path || strncmp(program_invocation_short_name, "hlguest", 7) != 0 ||
	    !dladdr(caller, &info))
		return; /* perf has variables of its own */
	n = snprintf(line, sizeof(line), "%s %s\n", info.dli_fname, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	if (n < (int)sizeof(line) && write(fd, line, (size_t)n) < 0)
		perror(path);
	close(fd);
}

char *getenv(const char *name)
{
	note(name, __builtin_return_address(0));
	return value_of(name);
}

char *secure_getenv(const char *name)
{
	note(name, __builtin_return_address(0));
	return value_of(name);
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *path, const char *mode);
	const char *other = value_of("HLG_CPUINFO");

	*(void **)&next = dlsym(RTLD_NEXT, "fopen");
	return next(other && strcmp(path, "/proc/cpuinfo") == 0 ? other : path, mode);
}

FILE *fopen64(const char *path, const char *mode);
FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}
