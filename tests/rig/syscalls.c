// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls that a libc program makes when it starts, prints and ends. A guest's
 * signal handlers never run, and it has one thread, no files and no environment.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/kvm.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "symtab/err.h"
#include "tests/rig/load.h"
#include "tests/rig/process.h"
#include "tools/vm/machine.h"

#define GUEST_PID 1
#define IOV_LIMIT 1024

/* The result or a negative errno, both for the guest. */
typedef int64_t (*handler)(struct hlg_vm_process *process, const uint64_t *args);

static bool is_output(uint64_t fd)
{
	return fd == STDOUT_FILENO || fd == STDERR_FILENO;
}

static int64_t do_write(struct hlg_vm_process *process, const uint64_t *args)
{
	const void *bytes = hlg_vm_process_bytes(process, args[1], args[2]);
	ssize_t written;

	if (!is_output(args[0]))
		return -EBADF;
	if (!bytes)
		return -EFAULT;
	written = write((int)args[0], bytes, args[2]);
	return written < 0 ? -errno : written;
}

static int64_t do_writev(struct hlg_vm_process *process, const uint64_t *args)
{
	int64_t total = 0;

	if (args[2] > IOV_LIMIT)
		return -EINVAL;
	for (uint64_t i = 0; i < args[2]; i++) {
		const void *from =
			hlg_vm_process_bytes(process, args[1] + i * sizeof(struct iovec),
					     sizeof(struct iovec));
		struct iovec part;
		int64_t written;

		if (!from)
			return -EFAULT;
		memcpy(&part, from, sizeof(part));
		written =
			do_write(process, (uint64_t[]){args[0], (uintptr_t)part.iov_base,
						       part.iov_len});
		if (written < 0)
			return total ? total : written;
		total += written;
	}
	return total;
}

/* Standard input is empty. */
static int64_t do_read(struct hlg_vm_process *process, const uint64_t *args)
{
	(void)process;
	return args[0] == STDIN_FILENO ? 0 : -EBADF;
}

/* Copies an answer into the guest. */
static int64_t answer(struct hlg_vm_process *process, uint64_t address, const void *from,
		      size_t size)
{
	void *to = hlg_vm_process_bytes(process, address, size);

	if (!to)
		return -EFAULT;
	memcpy(to, from, size);
	return 0;
}

/* All three standard streams are pipes: unlike a terminal, those need no ioctl. */
static int64_t stat_stream(struct hlg_vm_process *process, uint64_t fd, uint64_t to)
{
	struct stat stat = {.st_mode = S_IFIFO | 0600, .st_nlink = 1, .st_blksize = 4096};

	if (fd > STDERR_FILENO)
		return -EBADF;
	return answer(process, to, &stat, sizeof(stat));
}

static int64_t do_fstat(struct hlg_vm_process *process, const uint64_t *args)
{
	return stat_stream(process, args[0], args[1]);
}

static int64_t do_newfstatat(struct hlg_vm_process *process, const uint64_t *args)
{
	const char *path = hlg_vm_process_bytes(process, args[1], 1);

	if (!path)
		return -EFAULT;
	return *path ? -ENOENT : stat_stream(process, args[0], args[2]);
}

static int64_t do_getrandom(struct hlg_vm_process *process, const uint64_t *args)
{
	void *to = hlg_vm_process_bytes(process, args[0], args[1]);
	ssize_t size;

	if (!to)
		return -EFAULT;
	size = getrandom(to, args[1], 0);
	return size < 0 ? -errno : size;
}

static int64_t do_clock_gettime(struct hlg_vm_process *process, const uint64_t *args)
{
	struct timespec now;

	if (clock_gettime((clockid_t)args[0], &now) < 0)
		return -errno;
	return answer(process, args[1], &now, sizeof(now));
}

static int64_t do_prlimit64(struct hlg_vm_process *process, const uint64_t *args)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	if (args[1] == RLIMIT_STACK)
		limit.rlim_cur = process->machine->window - process->stack;
	return args[3] ? answer(process, args[3], &limit, sizeof(limit)) : 0;
}

static int64_t do_uname(struct hlg_vm_process *process, const uint64_t *args)
{
	static const struct utsname name = {
		.sysname = "Linux",
		.nodename = "guest",
		.release = "6.1.0",
		.version = "microvm",
		.machine = "x86_64",
	};

	return answer(process, args[0], &name, sizeof(name));
}

/* qsort() asks how much memory there is. */
static int64_t do_sysinfo(struct hlg_vm_process *process, const uint64_t *args)
{
	const struct sysinfo info = {
		.totalram = process->machine->window,
		.freeram = process->machine->window,
		.procs = 1,
		.mem_unit = 1,
	};

	return answer(process, args[0], &info, sizeof(info));
}

static int64_t do_arch_prctl(struct hlg_vm_process *process, const uint64_t *args)
{
	if (args[0] == ARCH_GET_FS)
		return answer(process, args[1], &process->fs, sizeof(process->fs));
	if (args[0] != ARCH_SET_FS)
		return -EINVAL;
	process->fs = args[1];
	return 0; /* hlg_vm_process_call sets the register */
}

/* Nobody else is there to wake it up, or to be woken up. */
static int64_t do_futex(struct hlg_vm_process *process, const uint64_t *args)
{
	(void)process;
	return (args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT ? -EAGAIN : 0;
}

static int64_t do_exit(struct hlg_vm_process *process, const uint64_t *args)
{
	process->exited = true;
	process->status = (int)(args[0] & 0xff);
	return 0;
}

static int64_t kill_itself(struct hlg_vm_process *process, uint64_t signal)
{
	process->exited = signal != 0;
	process->signal = (int)(signal & 0x7f);
	return 0;
}

static int64_t do_kill(struct hlg_vm_process *process, const uint64_t *args)
{
	return kill_itself(process, args[1]);
}

static int64_t do_tgkill(struct hlg_vm_process *process, const uint64_t *args)
{
	return kill_itself(process, args[2]);
}

/* A call without a handler always has the same result. */
static const struct call {
	bool known;
	int16_t result;
	handler handler;
} calls[HLG_VM_CALLS] = {
	[SYS_read] = {true, 0, do_read},
	[SYS_write] = {true, 0, do_write},
	[SYS_writev] = {true, 0, do_writev},
	[SYS_close] = {true, 0, NULL},
	[SYS_lseek] = {true, -ESPIPE, NULL},
	[SYS_open] = {true, -ENOENT, NULL},
	[SYS_openat] = {true, -ENOENT, NULL},
	[SYS_access] = {true, -ENOENT, NULL},
	[SYS_readlink] = {true, -ENOENT, NULL},
	[SYS_readlinkat] = {true, -ENOENT, NULL},
	[SYS_statx] = {true, -ENOSYS, NULL},
	[SYS_fstat] = {true, 0, do_fstat},
	[SYS_newfstatat] = {true, 0, do_newfstatat},
	[SYS_ioctl] = {true, -ENOTTY, NULL},
	[SYS_fcntl] = {true, 0, NULL},
	[SYS_poll] = {true, 0, NULL},
	[SYS_brk] = {true, 0, hlg_vm_process_brk},
	[SYS_mmap] = {true, 0, hlg_vm_process_mmap},
	[SYS_munmap] = {true, 0, hlg_vm_process_munmap},
	[SYS_mremap] = {true, -ENOMEM, NULL}, /* realloc() copies then */
	[SYS_mprotect] = {true, 0, NULL},
	[SYS_madvise] = {true, -EINVAL, NULL}, /* it may count on the pages being zero */
	[SYS_arch_prctl] = {true, 0, do_arch_prctl},
	[SYS_set_tid_address] = {true, GUEST_PID, NULL},
	[SYS_set_robust_list] = {true, 0, NULL},
	[SYS_rseq] = {true, -ENOSYS, NULL},
	[SYS_futex] = {true, 0, do_futex},
	[SYS_rt_sigaction] = {true, 0, NULL},
	[SYS_rt_sigprocmask] = {true, 0, NULL},
	[SYS_sigaltstack] = {true, 0, NULL},
	[SYS_sched_yield] = {true, 0, NULL},
	[SYS_sched_getaffinity] = {true, -ENOSYS, NULL},
	[SYS_prlimit64] = {true, 0, do_prlimit64},
	[SYS_getrandom] = {true, 0, do_getrandom},
	[SYS_clock_gettime] = {true, 0, do_clock_gettime},
	[SYS_sysinfo] = {true, 0, do_sysinfo},
	[SYS_uname] = {true, 0, do_uname},
	[SYS_getpid] = {true, GUEST_PID, NULL},
	[SYS_gettid] = {true, GUEST_PID, NULL},
	[SYS_getuid] = {true, 0, NULL},
	[SYS_geteuid] = {true, 0, NULL},
	[SYS_getgid] = {true, 0, NULL},
	[SYS_getegid] = {true, 0, NULL},
	[SYS_kill] = {true, 0, do_kill},
	[SYS_tkill] = {true, 0, do_kill},
	[SYS_tgkill] = {true, 0, do_tgkill},
	[SYS_exit] = {true, 0, do_exit},
	[SYS_exit_group] = {true, 0, do_exit},
};

static int64_t refuse(struct hlg_vm_process *process, uint64_t number)
{
	if (number >= HLG_VM_CALLS || !process->told[number])
		fprintf(stderr, "microvm: system call %llu is not served (ENOSYS)\n",
			(unsigned long long)number);
	if (number < HLG_VM_CALLS)
		process->told[number] = true;
	return -ENOSYS;
}

/* By the rules of x86-64 Linux. */
static int64_t serve(struct hlg_vm_process *process, const struct kvm_regs *regs)
{
	const uint64_t args[] = {regs->rdi, regs->rsi, regs->rdx,
				 regs->r10, regs->r8,  regs->r9};
	const struct call *known;

	if (regs->rax >= HLG_VM_CALLS || !calls[regs->rax].known)
		return refuse(process, regs->rax);
	known = &calls[regs->rax];
	return known->handler ? known->handler(process, args) : known->result;
}

static int fail(struct hlg_err *err, const char *what)
{
	int rc = -errno;

	return hlg_err_set(err, rc, "%s: %s (report this as a bug)", what, strerror(-rc));
}

/* After an emulated syscall the guest is in ring 3 already. */
static int set_sregs(const struct hlg_vm_process *process, struct hlg_err *err)
{
	int vcpu = process->machine->vcpu_fd;
	struct kvm_sregs sregs;

	if (ioctl(vcpu, KVM_GET_SREGS, &sregs) < 0)
		return fail(err, "KVM_GET_SREGS");
	sregs.fs.base = process->fs;
	if (sregs.cs.dpl == 0) {
		sregs.cs.selector = HLG_VM_USER_CODE | 3;
		sregs.ss.selector = HLG_VM_USER_DATA | 3;
		sregs.cs.dpl = 3;
		sregs.ss.dpl = 3;
	}
	if (ioctl(vcpu, KVM_SET_SREGS, &sregs) < 0)
		return fail(err, "KVM_SET_SREGS");
	return 0;
}

/* Serves a call and answers into ring 3, as sysret does. */
static int answer_call(struct hlg_vm_process *process, struct hlg_err *err)
{
	int vcpu = process->machine->vcpu_fd, rc;
	struct kvm_regs regs;

	if (ioctl(vcpu, KVM_GET_REGS, &regs) < 0)
		return fail(err, "KVM_GET_REGS");
	regs.rax = (uint64_t)serve(process, &regs);
	regs.rip = regs.rcx;
	regs.rflags = regs.r11;
	rc = set_sregs(process, err);
	if (rc == 0 && ioctl(vcpu, KVM_SET_REGS, &regs) < 0)
		return fail(err, "KVM_SET_REGS");
	return rc;
}

int hlg_vm_process_call(struct hlg_vm_process *process, struct hlg_err *err)
{
	int rc = answer_call(process, err);

	if (rc == 0 && process->exited && process->signal)
		return hlg_err_set(err, -EIO, "guest: it ended with signal %d (%s)",
				   process->signal, "see its messages");
	if (rc == 0 && process->exited && process->status)
		return hlg_err_set(err, -EIO, "guest: it exited with status %d (%s)",
				   process->status, "see its messages");
	return rc;
}
