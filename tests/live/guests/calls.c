// SPDX-License-Identifier: GPL-2.0-only
/*
 * A C library guest that asks its kernel for everything microvm serves, and prints what a
 * program cannot tell from a real kernel. With -DEND=END_ABORT or the like, it ends
 * badly.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MIB     (1UL << 20)
#define UNKNOWN 499 /* no kernel has this system call */

enum end {
	END_WELL,
	END_STATUS,
	END_ABORT,
	END_FAULT,
	END_NEVER,
};

#ifndef END
#define END END_WELL
#endif

static int runs;
static _Thread_local int counter = 7;

static int all_zero(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return 0;
	return 1;
}

static int failure(long number, long first, long second, long third)
{
	return syscall(number, first, second, third) == -1 ? errno : 0;
}

static void use_memory(void)
{
	int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *kept = mmap(NULL, MIB, prot, flags, -1, 0);
	char *first = mmap(NULL, MIB, prot, flags, -1, 0), *more;
	char *end = sbrk(0);

	memset(kept, 1, MIB);
	memset(first, 2, MIB);
	printf("munmap %d\n", munmap(first, MIB));
	first = mmap(NULL, MIB, prot, flags, -1, 0);
	printf("zero again %d, the other kept %d\n", all_zero(first, MIB), kept[MIB - 1]);
	printf("fixed %d\n",
	       mmap(kept, 4096, prot, flags | MAP_FIXED, -1, 0) == (void *)kept);
	printf("zero %d, then %d\n", kept[0], kept[4096]);
	printf("brk %d\n", sbrk(MIB) == (void *)end && all_zero(end, MIB));
	memset(end, 3, MIB);
	printf("shrunk %d\n",
	       sbrk(-(intptr_t)MIB) != (void *)-1 && sbrk(0) == (void *)end);
	printf("zero again %d\n", sbrk(MIB) == (void *)end && all_zero(end, MIB));
	first = memset(calloc(1, MIB), 4, MIB);
	more = realloc(first, 3 * MIB);
	if (more)
		first = more;
	printf("realloc %d\n", first[MIB - 1]);
	free(first);
}

static void ask(void)
{
	struct timespec before;
	struct timespec after;
	struct rlimit limit;
	char random[16] = {0};

	clock_gettime(CLOCK_MONOTONIC, &before);
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("time goes on %d\n",
	       after.tv_sec > before.tv_sec || (after.tv_sec == before.tv_sec &&
						after.tv_nsec >= before.tv_nsec));
	printf("random %zd\n", getrandom(random, sizeof(random), 0));
	printf("of zeroes %d\n", all_zero(random, sizeof(random)));
	printf("stack limit %d\n", getrlimit(RLIMIT_STACK, &limit));
	printf("signal %d\n", signal(SIGUSR1, SIG_IGN) == SIG_DFL);
	printf("bad pointer %d\n", failure(SYS_write, 1, -4096, 16));
	printf("bad file %d\n", failure(SYS_write, 77, (long)random, 1));
	printf("unknown %d\n", failure(UNKNOWN, 0, 0, 0));
	printf("unknown %d\n", failure(UNKNOWN, 0, 0, 0));
}

int main(int argc, char **argv)
{
	struct iovec parts[] = {{"two ", 4}, {"parts\n", 6}};

	printf("arguments %d %d %d\n", argc, argv[0] != NULL, argv[argc] == NULL);
	printf("runs %d, counter %d\n", ++runs, counter++);
	printf("avx %d\n", !!__builtin_cpu_supports("avx2"));
	ask();
	use_memory();
	fflush(stdout);
	if (writev(STDOUT_FILENO, parts, 2) != 10)
		return 1;
	fprintf(stderr, "to standard error\n");
	if (END == END_ABORT)
		abort();
	if (END == END_FAULT)
		*(volatile char *)(1UL << 46) = 1;
	while (END == END_NEVER)
		;
	return END == END_STATUS ? 3 : 0;
}
