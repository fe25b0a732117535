// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a program and does something to its nth system call, whoever makes it (libc's own
 * stdio does not go through the PLT, so that nothing preloaded would see its writes).
 *
 *	calls CLASS N ACTION TOLD PROGRAM [ARGUMENT...]
 *
 * CLASS is read: what looks at files (open, read, stat, lseek, mmap of a file ...);
 * write: what makes and fills them, but for standard error; map: mmap of a file; start:
 * what begins threads, programs and pipes to them; ask: ioctl and perf_event_open;
 * any: all. N counts from 1 on; 0 only counts. TOLD is a file for struct told. ACTION:
 *
 *	fail:ERRNO          it is not done, and fails
 *	every:ERRNO         the same, and so does each one behind it
 *	short               half of what is to be read or written is (one byte at least);
 *	                    counts only calls that have a length
 *	signal:NUMBER       the signal comes as it begins
 *	truncate:SIZE:PATH  PATH is cut to SIZE: before a read, behind an mmap
 *
 * With CALLS_NAMED in the environment, files without names (O_TMPFILE) are not to be had,
 * as on some file systems. With CALLS_LEAVE the program is alone again behind the nth
 * call, if files have names: leak sanitizer does not look at a program that is traced.
 *
 * What the dynamic loader does is not counted, nor what other processes do. The exit
 * status, or the signal, is the program's.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harm/faults/kinds.h"
#include "tests/harm/faults/told.h"

enum action {
	FAIL,
	SHORT,
	SIGNAL,
	TRUNCATE
};

static struct {
	unsigned class; /* 0: any */
	uint64_t at;
	enum action action;
	int number; /* of the error or the signal */
	bool every;
	off_t size;
	const char *path;
	bool named; /* no O_TMPFILE */
	bool leave; /* behind it */
} order;

static struct told *told;
static pid_t program;
static uint64_t loader, loader_end;

/* What is to be done when the call that a thread is in returns. */
static struct pending {
	pid_t thread;
	int error;
	enum {
		NOTHING,
		RETURN_ERROR,
		CUT
	} what;
} pending[256];

static struct pending *pending_of(pid_t thread)
{
	for (size_t i = 0; i < 256; i++) {
		if (pending[i].thread == 0)
			pending[i].thread = thread;
		if (pending[i].thread == thread)
			return &pending[i];
	}
	abort();
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* Where the loader lies: all mappings of the file that holds its base. */
static void find_loader(pid_t pid)
{
	char path[64], line[4352], object[4096] = "";
	uint64_t aux[2], start, end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	loader = 0;
	while (f && fread(aux, sizeof(aux), 1, f) == 1)
		if (aux[0] == AT_BASE)
			loader = aux[1];
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	loader_end = loader;
	while (f && fgets(line, sizeof(line), f)) {
		char name[4096] = "";

		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %4095s", &start, &end, name) <
		    2)
			continue;
		if (start == loader)
			strcpy(object, name);
		if (object[0] && strcmp(name, object) == 0)
			loader_end = end;
	}
	if (f)
		fclose(f);
}

static unsigned class_of(const struct call *call, const uint64_t *args)
{
	if (call->class != OPEN)
		return call->class;
	return args[call->flags] & (O_WRONLY | O_RDWR) ? WRITE : READ;
}

static bool matches(const struct call *call, const uint64_t *args)
{
	int fd = call && call->fd >= 0 ? (int)args[call->fd] : 0;

	if (order.class == 0)
		return true;
	if (!call || !(class_of(call, args) & order.class))
		return false;
	if (call->nr == SYS_mmap && fd < 0)
		return false;
	if ((order.class & WRITE) && fd == STDERR_FILENO)
		return false;
	return order.action != SHORT || (call->length >= 0 && args[call->length] > 1);
}

static void tell(pid_t thread, const struct call *call, long nr, const uint64_t *args)
{
	char link[64], path[256] = "";
	int fd = call && call->fd >= 0 ? (int)args[call->fd] : -1;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", thread, fd);
	if (told->at[0] || (fd >= 0 && readlink(link, path, sizeof(path) - 1) < 0))
		return;
	if (call)
		snprintf(told->at, sizeof(told->at), "%s %s", call->name, path);
	else
		snprintf(told->at, sizeof(told->at), "system call %ld", nr);
}

static void set(pid_t thread, size_t reg, unsigned long value)
{
	if (ptrace(PTRACE_POKEUSER, thread, reg, value) != 0)
		die("PTRACE_POKEUSER");
}

/* Lets the call that is about to begin fail. */
static void fail(pid_t thread, int error)
{
	struct pending *p = pending_of(thread);

	set(thread, offsetof(struct user_regs_struct, orig_rax), -1UL);
	p->what = RETURN_ERROR;
	p->error = error;
}

static void act(pid_t thread, const struct call *call, const uint64_t *args)
{
	switch (order.action) {
	case FAIL:
		fail(thread, order.number);
		break;
	case SHORT: /* the length is the third argument of all that have one */
		set(thread, offsetof(struct user_regs_struct, rdx),
		    args[call->length] / 2);
		break;
	case SIGNAL:
		kill(program, order.number);
		break;
	case TRUNCATE:
		if (order.class & MAP)
			pending_of(thread)->what = CUT;
		else if (truncate(order.path, order.size) != 0)
			die(order.path);
		break;
	}
}

static void on_entry(pid_t thread, const struct __ptrace_syscall_info *info)
{
	uint64_t args[6];
	const struct call *call = NULL;

	memcpy(args,
	       (const char *)info + offsetof(struct __ptrace_syscall_info, entry.args),
	       sizeof(args));
	if (info->instruction_pointer >= loader && info->instruction_pointer < loader_end)
		return;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if ((uint64_t)calls[i].nr == info->entry.nr)
			call = &calls[i];
	if (order.named && call && call->class == OPEN &&
	    (args[call->flags] & O_TMPFILE) == O_TMPFILE) {
		fail(thread, EOPNOTSUPP);
		return;
	}
	if (!matches(call, args))
		return;
	told->calls++;
	if (order.at == 0 || told->calls < order.at ||
	    (told->calls > order.at && !order.every))
		return;
	told->struck++;
	tell(thread, call, (long)info->entry.nr, args);
	act(thread, call, args);
}

static void on_exit_of(pid_t thread)
{
	struct pending *p = pending_of(thread);

	if (p->what == RETURN_ERROR)
		set(thread, offsetof(struct user_regs_struct, rax),
		    (unsigned long)-p->error);
	if (p->what == CUT && truncate(order.path, order.size) != 0)
		die(order.path);
	p->what = NOTHING;
}

/* Returns the signal to go on with. */
static int on_stop(pid_t thread, int status)
{
	struct __ptrace_syscall_info info;
	int sig = WSTOPSIG(status);

	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		find_loader(thread);
	if (status >> 16)
		return 0;
	if (sig != (SIGTRAP | 0x80))
		return sig == SIGSTOP ? 0 : sig; /* new threads begin with one */
	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) < 0)
		return 0; /* killed meanwhile */
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY && loader_end)
		on_entry(thread, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		on_exit_of(thread);
	return 0;
}

/* Is all done that was to be? What is to be done at a call's end is first. */
static bool is_over(pid_t thread)
{
	return order.leave && !order.named && told->struck &&
	       pending_of(thread)->what == NOTHING;
}

/* Returns the program's wait status. */
static int follow(void)
{
	int status;

	for (;;) {
		pid_t thread = waitpid(-1, &status, __WALL);

		if (thread < 0)
			die("waitpid");
		if (WIFSTOPPED(status)) {
			int sig = on_stop(thread, status);

			ptrace(is_over(thread) ? PTRACE_DETACH : PTRACE_SYSCALL, thread,
			       0, sig);
		}
		if (thread == program && !WIFSTOPPED(status))
			return status;
	}
}

static void start(char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int status;

	program = fork();
	if (program == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
			die("PTRACE_TRACEME");
		raise(SIGSTOP);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	if (program < 0 || waitpid(program, &status, 0) != program ||
	    !WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, program, 0, options) != 0 ||
	    ptrace(PTRACE_SYSCALL, program, 0, 0) != 0)
		die("cannot trace");
}

static bool read_class(const char *word)
{
	static const struct {
		const char *word;
		unsigned class;
	} words[] = {{"read", READ}, {"write", WRITE}, {"map", MAP},
		     {"start", START}, {"ask", ASK},     {"any", 0}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i].word) == 0)
			return order.class = words[i].class, true;
	return false;
}

static bool read_action(char *word)
{
	char *value = strchr(word, ':');
	long size = 0;
	int at = 0;

	order.every = strncmp(word, "every:", 6) == 0;
	order.number = value ? atoi(value + 1) : 0;
	if (strcmp(word, "short") == 0)
		order.action = SHORT;
	else if (strncmp(word, "signal:", 7) == 0)
		order.action = SIGNAL;
	else if (sscanf(word, "truncate:%ld:%n", &size, &at) == 1 && at)
		order.action = TRUNCATE;
	else
		return order.every || strncmp(word, "fail:", 5) == 0;
	order.size = size;
	order.path = word + at;
	return true;
}

int main(int argc, char **argv)
{
	struct rlimit no_core = {0, 0};
	int fd, status;

	if (argc < 6 || !read_class(argv[1]) || !read_action(argv[3])) {
		fputs("usage: calls CLASS N ACTION TOLD PROGRAM [ARGUMENT...]\n", stderr);
		return 125;
	}
	order.at = strtoull(argv[2], NULL, 10);
	fd = open(argv[4], O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, sizeof(*told)) != 0)
		die(argv[4]);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (told == MAP_FAILED)
		die(argv[4]);
	close(fd);
	order.named = getenv("CALLS_NAMED");
	order.leave = getenv("CALLS_LEAVE");
	start(argv + 5);
	status = follow();
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 125;
}
