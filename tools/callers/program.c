// SPDX-License-Identifier: GPL-2.0-only
#include "tools/callers/program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter/options/number.h"

/* embed.S */
extern const char hlg_callers_sampler[], hlg_callers_sampler_end[];

#define MOST_RING (64u << 20) /* bytes */

/* sampler.bpf.c's numbers in its sections, in their order. */
struct constants {
	uint64_t ns_device, ns_inode, perf, room;
};

struct hlg_callers_program {
	struct bpf_object *object;
	struct bpf_link *link; /* of hlg_callers_output; or NULL */
	struct bpf_map *full;  /* one uint64_t */
	struct ring_buffer *ring;
	hlg_callers_stack_fn *stack;
	hlg_callers_copy_fn *copy; /* if room is not 0 */
	void *ctx;
	uint64_t room;
	struct bpf_program *chosen; /* the object's */
	bool failed;                /* stack() or copy() had no memory */
};

/* libbpf tells nothing: what it would say is a page of the verifier's. */
static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* The kernel's part is ours; but an index is checked where it is used. */
static int on_copy(void *ctx, void *data, size_t size)
{
	const struct hlg_callers_copy *copy = data;
	struct hlg_callers_program *program = ctx;

	if (size < HLG_CALLERS_COPY_SIZE(0) || copy->size > HLG_WALK_COPY_MAX ||
	    size < HLG_CALLERS_COPY_SIZE(copy->size))
		return 0;
	program->failed |= !program->copy(program->ctx, copy);
	return program->failed ? -ENOMEM : 0;
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct hlg_callers_stack *stack = data;
	struct hlg_callers_program *program = ctx;

	if (size < HLG_CALLERS_STACK_SIZE(0) || stack->n > HLG_WALK_FRAMES ||
	    size < HLG_CALLERS_STACK_SIZE((size_t)stack->n))
		return 0;
	program->failed |= !program->stack(program->ctx, stack);
	return program->failed ? -ENOMEM : 0;
}

static int cannot_load(int error, struct hlg_err *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"this kernel does not describe its types (one built with "
			"CONFIG_DEBUG_INFO_BTF does, as distributions' are)");
	if (error == EPERM || error == EACCES)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"this user may not load BPF programs (run as root, or with "
			"CAP_BPF and CAP_PERFMON)");
	if (error == ENOSYS)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "this kernel has no BPF (one built with "
				   "CONFIG_BPF_SYSCALL has)");
	return hlg_err_set(err, HLG_ESYSTEM,
			   "this kernel does not take the BPF program: %s (Linux 5.17 or "
			   "later with KVM is needed)",
			   strerrordesc_np(error) ? strerrordesc_np(error)
						  : "unknown reason");
}

/* How large the ring is, and how many copies there are at a time. */
static int set_sizes(const struct hlg_callers_program *program, struct bpf_map *ring)
{
	uint32_t size = HLG_CALLERS_PROGRAM_RING;
	struct bpf_map *copies;
	int rc, cpus;

	if (!program->room)
		return bpf_map__set_max_entries(ring, size);
	while (size < program->room * HLG_CALLERS_PROGRAM_COPIES && size < MOST_RING)
		size *= 2;
	rc = bpf_map__set_max_entries(ring, size);
	cpus = rc == 0 ? libbpf_num_possible_cpus() : rc;
	copies = bpf_object__find_map_by_name(program->object, "hlg_callers_copies");
	return cpus < 0 ? cpus : bpf_map__set_max_entries(copies, (uint32_t)cpus);
}

/* Sets what is constant from then on, and loads hlg_callers_sample, or hlg_callers_output
 * for a perf that is not 0. An errno. */
static int load(struct hlg_callers_program *program, pid_t perf)
{
	struct bpf_object *object = program->object;
	struct bpf_map *constants = bpf_object__find_map_by_name(object, ".rodata");
	struct bpf_map *ring = bpf_object__find_map_by_name(object, "hlg_callers_ring");
	struct bpf_program *sample =
		bpf_object__find_program_by_name(object, "hlg_callers_sample");
	struct bpf_program *output =
		bpf_object__find_program_by_name(object, "hlg_callers_output");
	struct constants known = {.perf = (uint64_t)perf, .room = program->room};
	struct stat st;
	int rc;

	bpf_program__set_autoload(sample, !perf);
	bpf_program__set_autoload(output, perf);
	program->full = bpf_object__find_map_by_name(object, ".bss");
	if (stat("/proc/self/ns/pid", &st) == 0) {
		known.ns_device = st.st_dev;
		known.ns_inode = st.st_ino;
	}
	rc = bpf_map__set_initial_value(constants, &known, sizeof(known));
	if (rc == 0)
		rc = set_sizes(program, ring);
	if (rc == 0)
		rc = bpf_object__load(object);
	if (rc < 0)
		return -rc;
	program->chosen = perf ? output : sample;
	program->ring = ring_buffer__new(
		bpf_map__fd(ring), program->room ? on_copy : on_record, program, NULL);
	return program->ring ? 0 : errno;
}

static void unload(struct hlg_callers_program *program)
{
	bpf_link__destroy(program->link);
	ring_buffer__free(program->ring);
	bpf_object__close(program->object);
	program->link = NULL;
	program->ring = NULL;
	program->object = NULL;
}

/* Opens and loads, as load(). */
static int open_one(struct hlg_callers_program *program, pid_t perf)
{
	libbpf_set_print(silent);
	program->object = bpf_object__open_mem(hlg_callers_sampler,
					       (uintptr_t)hlg_callers_sampler_end -
						       (uintptr_t)hlg_callers_sampler,
					       NULL);
	return program->object ? load(program, perf) : errno;
}

/* Opens and loads what is as how says; *program is NULL before. */
static int open_as(struct hlg_callers_program **program,
		   const struct hlg_callers_program *how, struct hlg_err *err)
{
	struct hlg_callers_program *new = malloc(sizeof(*new));
	int error;

	if (!new)
		return hlg_err_memory(err, "guest stacks");
	*new = *how;
	error = open_one(new, 0);
	if (error) {
		hlg_callers_program_close(new);
		return cannot_load(error, err);
	}
	*program = new;
	return 0;
}

bool hlg_callers_program_is_built(void)
{
	return true;
}

int hlg_callers_program_open(struct hlg_callers_program **program,
			     hlg_callers_stack_fn *stack, void *ctx, struct hlg_err *err)
{
	const struct hlg_callers_program how = {.stack = stack, .ctx = ctx};

	*program = NULL;
	return open_as(program, &how, err);
}

int hlg_callers_program_open_copies(struct hlg_callers_program **program, uint64_t room,
				    hlg_callers_copy_fn *copy, void *ctx,
				    struct hlg_err *err)
{
	const struct hlg_callers_program how = {
		.room = room < HLG_WALK_COPY_MAX ? room : HLG_WALK_COPY_MAX,
		.copy = copy,
		.ctx = ctx};

	*program = NULL;
	return open_as(program, &how, err);
}

void hlg_callers_program_close(struct hlg_callers_program *program)
{
	if (!program)
		return;
	unload(program);
	free(program);
}

static bool is_event(int folder, const char *name)
{
	static const char wanted[] = "anon_inode:[perf_event]";
	char link[sizeof(wanted)];
	ssize_t n = readlinkat(folder, name, link, sizeof(link));

	return n == (ssize_t)sizeof(wanted) - 1 && memcmp(link, wanted, (size_t)n) == 0;
}

/*
 * Attaches to perf's descriptor. Returns 0 if the event took the program; else an errno,
 * EINVAL for tracepoints, which take programs of another kind.
 */
static int attach_one(const struct hlg_callers_program *program, int pidfd,
		      const char *number)
{
	int fd, error = 0;
	uint64_t theirs;

	if (!hlg_number_u64(number, &theirs))
		return EINVAL;
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)theirs, 0);
	if (fd < 0)
		return errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(program->chosen)) != 0)
		error = errno;
	close(fd);
	return error;
}

/* How many took it; *error is the last that is no tracepoint's. */
static unsigned attach_all(const struct hlg_callers_program *program, int pidfd, DIR *fds,
			   int *error)
{
	const struct dirent *entry;
	unsigned taken = 0;

	while ((entry = readdir(fds))) {
		int rc;

		if (!is_event(dirfd(fds), entry->d_name))
			continue;
		rc = attach_one(program, pidfd, entry->d_name);
		if (rc == 0)
			taken++;
		else if (rc != EINVAL)
			*error = rc;
	}
	return taken;
}

/* Takes perf's events; returns how many, and in *error why not all. */
static unsigned take_events(const struct hlg_callers_program *program, pid_t perf,
			    int *error)
{
	int pidfd = (int)syscall(SYS_pidfd_open, perf, 0);
	unsigned taken = 0;
	char path[64];
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)perf);
	fds = opendir(path);
	if (!fds || pidfd < 0)
		*error = errno;
	else
		taken = attach_all(program, pidfd, fds, error);
	if (fds)
		closedir(fds);
	if (pidfd >= 0)
		close(pidfd);
	return taken;
}

/* Else programs are attached, and never run (kernel/trace/ftrace.c). */
static bool is_tracing_on(void)
{
	FILE *f = fopen("/proc/sys/kernel/ftrace_enabled", "re");
	bool on = f && fgetc(f) != '0';

	if (f)
		fclose(f);
	return on;
}

/* In place of perf's events: the function by which their samples go. */
static bool trace_output(struct hlg_callers_program *program, pid_t perf)
{
	unload(program);
	if (open_one(program, perf) == 0)
		program->link = bpf_program__attach(program->chosen);
	return program->link;
}

int hlg_callers_program_attach(struct hlg_callers_program *program, pid_t perf,
			       struct hlg_err *err)
{
	int error = 0;
	unsigned taken = take_events(program, perf, &error);

	if (error && !taken && is_tracing_on() && trace_output(program, perf))
		return 0;
	if (error == EPERM || error == EACCES)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"perf's events may not be taken (kernel.yama.ptrace_scope "
			"must be 0 or 1, and perf without capabilities of its own), nor "
			"this kernel's functions be traced");
	if (error)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"perf's events cannot be taken: %s (Linux 5.17 or later "
			"is needed)",
			strerrordesc_np(error));
	if (!taken)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "none of perf's events takes a BPF program (try "
				   "-e cpu-clock)");
	return 0;
}

int hlg_callers_program_empty(struct hlg_callers_program *program, struct hlg_err *err)
{
	int rc = ring_buffer__consume(program->ring);

	if (program->failed)
		return hlg_err_memory(err, "guest stacks");
	if (rc < 0)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"guest stacks: cannot be read from the kernel: %s (record "
			"again)",
			strerrordesc_np(-rc));
	return 0;
}

uint64_t hlg_callers_program_full(const struct hlg_callers_program *program)
{
	uint32_t zero = 0;
	uint64_t n = 0;

	bpf_map_lookup_elem(bpf_map__fd(program->full), &zero, &n);
	return n;
}
