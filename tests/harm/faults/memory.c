// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program: lets its nth allocation fail, whoever asks for it, our code,
 * a library or libc (whose strdup, asprintf, fopen and getline call malloc through the
 * PLT, too).
 *
 *	FAULT_TOLD=FILE   where the outcome goes: struct told, there already and zeroed
 *	FAULT_AT=N        the call that fails, from 1 on; 0 only counts
 *	FAULT_EVERY=1     and each one behind it
 *	FAULT_FROM=NAME   counts from the first call on that comes from the library NAME,
 *	                  and never those of the program itself (for a filter in its host)
 *
 * If the program dies by a signal of its own making, the innermost object beside libc on
 * its stack is told, with the offset in it: whose fault it is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/harm/faults/told.h"

#define EXPORT __attribute__((visibility("default")))

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned)(size_t, size_t);
static void (*real_free)(void *);

static struct told *told;
static bool armed;
static uint64_t at, every;
static const char *from; /* NULL: whoever calls */
static _Atomic bool reached;
static uintptr_t program_start, program_end;

/* dlsym() allocates before it has found malloc. Never given back. */
static char first[16384] __attribute__((aligned(16)));
static size_t n_first;

static void *take_first(size_t size)
{
	void *p = first + n_first;

	size = (size + 15) & ~(size_t)15;
	if (size > sizeof(first) - n_first)
		abort();
	n_first += size;
	return p;
}

static bool is_first(const void *p)
{
	return (uintptr_t)p - (uintptr_t)first < sizeof(first);
}

static void find(void)
{
	static bool finding;

	if (finding || real_free)
		return;
	finding = true;
	*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real_aligned = dlsym(RTLD_NEXT, "aligned_alloc");
	*(void **)&real_free = dlsym(RTLD_NEXT, "free");
	finding = false;
}

static bool counts(uintptr_t caller)
{
	Dl_info info;

	if (!from)
		return true;
	if (!reached) {
		if (!dladdr((void *)caller, &info) || !strstr(info.dli_fname, from))
			return false;
		reached = true;
	}
	return caller < program_start || caller >= program_end;
}

static bool due(const void *caller)
{
	uint64_t n;

	if (!armed || !counts((uintptr_t)caller))
		return false;
	n = __atomic_add_fetch(&told->calls, 1, __ATOMIC_RELAXED);
	if (at == 0 || n < at || (n > at && !every))
		return false;
	__atomic_add_fetch(&told->struck, 1, __ATOMIC_RELAXED);
	errno = ENOMEM;
	return true;
}

EXPORT void *malloc(size_t size)
{
	find();
	if (!real_malloc)
		return take_first(size);
	return due(__builtin_return_address(0)) ? NULL : real_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	find();
	if (!real_calloc)
		return take_first(n * size); /* zeroed, and never used before */
	return due(__builtin_return_address(0)) ? NULL : real_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	find();
	if (p && is_first(p)) {
		void *moved = real_malloc(size);

		return moved ? memcpy(moved, p, size) : NULL;
	}
	return due(__builtin_return_address(0)) ? NULL : real_realloc(p, size);
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	find();
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return due(__builtin_return_address(0)) ? NULL : real_realloc(p, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	find();
	return due(__builtin_return_address(0)) ? NULL : real_aligned(alignment, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	find();
	return due(__builtin_return_address(0)) ? NULL : real_aligned(alignment, size);
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
	void *got;

	find();
	got = due(__builtin_return_address(0)) ? NULL : real_aligned(alignment, size);
	if (!got)
		return ENOMEM;
	*p = got;
	return 0;
}

EXPORT void free(void *p)
{
	find();
	if (!is_first(p))
		real_free(p);
}

/* Whose code it was: neither libc's abort() and strlen() nor ours. */
static bool is_neutral(const char *object)
{
	return strstr(object, "/libc.so") || strstr(object, "/faults.so") ||
	       strstr(object, "/ld-linux");
}

static void on_crash(int sig)
{
	void *frames[64];
	int n;

	armed = false;
	n = backtrace(frames, 64);
	for (int i = 0; i < n; i++) {
		Dl_info info;

		if (!dladdr(frames[i], &info) || is_neutral(info.dli_fname))
			continue;
		snprintf(told->at, sizeof(told->at), "%s+0x%tx", info.dli_fname,
			 (char *)frames[i] - 1 - (char *)info.dli_fbase);
		break;
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X)) {
			program_start = info->dlpi_addr + ph->p_vaddr;
			program_end = program_start + ph->p_memsz;
		}
	}
	return 1; /* the first is the program */
}

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void arm(void)
{
	static const int crashes[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL};
	const char *path = getenv("FAULT_TOLD");
	void *warm[1];
	int fd;

	find();
	if (!path)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (told == MAP_FAILED)
		abort();
	at = number("FAULT_AT");
	every = number("FAULT_EVERY");
	from = getenv("FAULT_FROM");
	dl_iterate_phdr(find_program, NULL);
	backtrace(warm, 1); /* loads libgcc, which allocates */
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], on_crash);
	armed = true;
}
