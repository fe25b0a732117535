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

/* sampler.bpf.c's numbers in its sections, in their order. */
struct constants {
	uint64_t ns_device, ns_inode;
};

struct hlg_callers_program {
	struct bpf_object *object;
	struct bpf_map *full; /* one uint64_t */
	struct ring_buffer *ring;
	hlg_callers_stack_fn *stack;
	void *ctx;
	int fd;      /* of the program; the object's */
	bool failed; /* stack() had no memory */
};

/* libbpf tells nothing: what it would say is a page of the verifier's. */
static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct hlg_callers_stack *stack = data;
	struct hlg_callers_program *program = ctx;

	/* The kernel's part is ours; but an index is checked where it is used. */
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

/* Sets what is constant from then on, and loads. An errno. */
static int load(struct hlg_callers_program *program)
{
	struct bpf_object *object = program->object;
	struct bpf_map *constants = bpf_object__find_map_by_name(object, ".rodata");
	struct bpf_map *ring = bpf_object__find_map_by_name(object, "hlg_callers_ring");
	struct bpf_program *sample =
		bpf_object__find_program_by_name(object, "hlg_callers_sample");
	struct constants ns = {0};
	struct stat st;
	int rc;

	program->full = bpf_object__find_map_by_name(object, ".bss");
	if (stat("/proc/self/ns/pid", &st) == 0)
		ns = (struct constants){st.st_dev, st.st_ino};
	rc = bpf_map__set_initial_value(constants, &ns, sizeof(ns));
	if (rc == 0)
		rc = bpf_map__set_max_entries(ring, HLG_CALLERS_PROGRAM_RING);
	if (rc == 0)
		rc = bpf_object__load(object);
	if (rc < 0)
		return -rc;
	program->fd = bpf_program__fd(sample);
	program->ring = ring_buffer__new(bpf_map__fd(ring), on_record, program, NULL);
	return program->ring ? 0 : errno;
}

int hlg_callers_program_open(struct hlg_callers_program **program,
			     hlg_callers_stack_fn *stack, void *ctx, struct hlg_err *err)
{
	struct hlg_callers_program *new = calloc(1, sizeof(*new));
	int error;

	*program = NULL;
	if (!new)
		return hlg_err_memory(err, "guest stacks");
	new->stack = stack;
	new->ctx = ctx;
	libbpf_set_print(silent);
	new->object = bpf_object__open_mem(hlg_callers_sampler,
					   (uintptr_t)hlg_callers_sampler_end -
						   (uintptr_t)hlg_callers_sampler,
					   NULL);
	error = new->object ? load(new) : errno;
	if (error) {
		hlg_callers_program_close(new);
		return cannot_load(error, err);
	}
	*program = new;
	return 0;
}

void hlg_callers_program_close(struct hlg_callers_program *program)
{
	if (!program)
		return;
	ring_buffer__free(program->ring);
	bpf_object__close(program->object);
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
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program->fd) != 0)
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

int hlg_callers_program_attach(struct hlg_callers_program *program, pid_t perf,
			       struct hlg_err *err)
{
	int pidfd = (int)syscall(SYS_pidfd_open, perf, 0), error = 0;
	unsigned taken = 0;
	char path[64];
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)perf);
	fds = opendir(path);
	if (!fds || pidfd < 0)
		error = errno;
	else
		taken = attach_all(program, pidfd, fds, &error);
	if (fds)
		closedir(fds);
	if (pidfd >= 0)
		close(pidfd);
	if (error == EPERM || error == EACCES)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"perf's events may not be taken (kernel.yama.ptrace_scope "
			"must be 0 or 1, and perf without capabilities of its own)");
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
