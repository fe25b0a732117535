// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest-physical memory is one slot from 0: the window first, then, where ring 3 cannot
 * reach them, the page with the TSS and the page tables.
 */
#include "kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../symtab/err.h"
#include "pages.h"

/* Intel SDM volume 3, 2.5 (control registers), 2.2.1 (EFER), 4.5 (paging). */
#define CR0_LONG_MODE  0x80050033 /* PG AM WP NE ET MP PE */
#define CR4_LONG_MODE  0x620      /* OSXMMEXCPT OSFXSR PAE */
#define EFER_LONG_MODE 0x501      /* LMA LME SCE */
#define RFLAGS_START   0x2        /* the bit that is always set */
#define SEGMENT_CODE   11         /* execute, read, accessed */
#define SEGMENT_DATA   3          /* read, write, accessed */
#define SEGMENT_TSS    11         /* busy 64-bit TSS */
#define CPUID_MAX      256

/*
 * The task state segment is there for its I/O bitmap: it lets ring 3 use the ports below
 * 256, also where software emulates out and does not look at IOPL.
 */
#define TSS_ADDRESS  0xfffffd0000000000 /* guest-virtual, where Hyperlight has it */
#define TSS_MAP_BASE 102 /* offset of the bitmap's offset; SDM volume 3, 8.7 */
#define TSS_MAP      104
#define TSS_MAP_SIZE 32 /* bytes: 256 ports, a set bit forbids one */
#define TSS_LIMIT    (TSS_MAP + TSS_MAP_SIZE) /* with the byte of ones after the map */

/* What the deadline's signal stops: the vCPU of the thread it is sent to. */
static _Thread_local struct kvm_run *volatile stepping;
static _Thread_local volatile sig_atomic_t expired;

static int fail_errno(struct hlg_err *err, const char *what, const char *advice)
{
	int rc = -errno;

	return hlg_err_set(err, rc, "%s: %s (%s)", what, strerror(-rc), advice);
}

static int open_kvm(struct mvm_machine *machine, struct hlg_err *err)
{
	int version;

	machine->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (machine->kvm_fd < 0 && errno == EACCES)
		return fail_errno(err, "/dev/kvm",
				  "join the group that owns it, often kvm");
	if (machine->kvm_fd < 0)
		return fail_errno(err, "/dev/kvm",
				  "load kvm_intel or kvm_amd; in a virtual machine, "
				  "enable nesting");
	version = ioctl(machine->kvm_fd, KVM_GET_API_VERSION, 0);
	if (version != KVM_API_VERSION)
		return hlg_err_set(
			err, -ENOTSUP,
			"/dev/kvm: API version %d, not %d (use a newer kernel)", version,
			KVM_API_VERSION);
	machine->vm_fd = ioctl(machine->kvm_fd, KVM_CREATE_VM, 0);
	if (machine->vm_fd < 0)
		return fail_errno(err, "KVM_CREATE_VM",
				  "is virtualization disabled in the firmware?");
	return 0;
}

static int add_memory(struct mvm_machine *machine, size_t window, struct hlg_err *err)
{
	struct kvm_userspace_memory_region region = {0};
	void *memory;

	machine->window = window;
	machine->size = window + MVM_PAGE_SIZE + mvm_pages_size(window);
	memory = mmap(NULL, machine->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return fail_errno(err, "guest memory", "lower --memory");
	machine->memory = memory;
	region.memory_size = machine->size;
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(machine->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return fail_errno(err, "KVM_SET_USER_MEMORY_REGION", "lower --memory");
	return 0;
}

/* The guest's CPUID is the host's, as far as KVM can serve it. */
static int set_cpuid(struct mvm_machine *machine, struct hlg_err *err)
{
	struct kvm_cpuid2 *cpuid;
	int rc = 0;

	cpuid = calloc(1, sizeof(*cpuid) + CPUID_MAX * sizeof(cpuid->entries[0]));
	if (!cpuid)
		return hlg_err_set(err, -ENOMEM, "CPUID: out of memory (free some)");
	cpuid->nent = CPUID_MAX;
	if (ioctl(machine->kvm_fd, KVM_GET_SUPPORTED_CPUID, cpuid) < 0)
		rc = fail_errno(err, "KVM_GET_SUPPORTED_CPUID", "report this as a bug");
	else if (ioctl(machine->vcpu_fd, KVM_SET_CPUID2, cpuid) < 0)
		rc = fail_errno(err, "KVM_SET_CPUID2", "report this as a bug");
	free(cpuid);
	return rc;
}

static int add_vcpu(struct mvm_machine *machine, struct hlg_err *err)
{
	int size = ioctl(machine->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	void *run;

	if (size < (int)sizeof(struct kvm_run))
		return fail_errno(err, "KVM_GET_VCPU_MMAP_SIZE", "use a newer kernel");
	machine->vcpu_fd = ioctl(machine->vm_fd, KVM_CREATE_VCPU, 0);
	if (machine->vcpu_fd < 0)
		return fail_errno(err, "KVM_CREATE_VCPU", "are there too many vCPUs?");
	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, machine->vcpu_fd, 0);
	if (run == MAP_FAILED)
		return fail_errno(err, "vCPU state", "free some memory");
	machine->run = run;
	machine->run_size = size;
	return set_cpuid(machine, err);
}

int mvm_machine_init(struct mvm_machine *machine, size_t window, struct hlg_err *err)
{
	int rc;

	*machine = (struct mvm_machine){.kvm_fd = -1, .vm_fd = -1, .vcpu_fd = -1};
	if (window == 0 || window > MVM_WINDOW_MAX || window % MVM_PAGE_SIZE)
		return hlg_err_set(err, -EINVAL,
				   "guest memory: %zu bytes are not 1 page to 1 GiB, in "
				   "whole pages (change --memory)",
				   window);
	rc = open_kvm(machine, err);
	if (rc == 0)
		rc = add_memory(machine, window, err);
	if (rc == 0)
		rc = add_vcpu(machine, err);
	if (rc < 0)
		mvm_machine_finish(machine);
	return rc;
}

void mvm_machine_finish(struct mvm_machine *machine)
{
	if (machine->timer_set)
		timer_delete(machine->timer);
	if (stepping == machine->run)
		stepping = NULL;
	if (machine->run)
		munmap(machine->run, machine->run_size);
	if (machine->vcpu_fd >= 0)
		close(machine->vcpu_fd);
	if (machine->vm_fd >= 0)
		close(machine->vm_fd);
	if (machine->memory)
		munmap(machine->memory, machine->size);
	if (machine->kvm_fd >= 0)
		close(machine->kvm_fd);
	*machine = (struct mvm_machine){.kvm_fd = -1, .vm_fd = -1, .vcpu_fd = -1};
}

/* Physical address of the top page table. */
static size_t root_of(const struct mvm_machine *machine)
{
	return machine->window + MVM_PAGE_SIZE;
}

static void add_tss(struct mvm_machine *machine)
{
	uint8_t *tss = machine->memory + machine->window;

	tss[TSS_MAP_BASE] = TSS_MAP;
	tss[TSS_LIMIT] = 0xff;
}

static int map_all(struct mvm_machine *machine, uint64_t base)
{
	struct mvm_pages pages = {
		.memory = machine->memory,
		.size = machine->size,
		.root = root_of(machine),
		.next_free = root_of(machine) + MVM_PAGE_SIZE,
	};
	int rc = mvm_pages_map(&pages, TSS_ADDRESS, machine->window, false);

	for (uint64_t at = 0; rc == 0 && at < machine->window; at += MVM_PAGE_SIZE)
		rc = mvm_pages_map(&pages, base + at, at, true);
	return rc;
}

int mvm_machine_map(struct mvm_machine *machine, uint64_t base, struct hlg_err *err)
{
	int rc;

	if (base % MVM_PAGE_SIZE || base > MVM_ADDRESS_END - machine->window)
		return hlg_err_set(err, -EINVAL,
				   "base 0x%llx: not page-aligned, or its window ends "
				   "above 2^47 (choose another)",
				   (unsigned long long)base);
	rc = map_all(machine, base);
	if (rc < 0)
		return hlg_err_set(err, rc, "page tables: full (report this as a bug)");
	add_tss(machine);
	return 0;
}

static struct kvm_segment segment(uint8_t ring, uint16_t selector, uint8_t type)
{
	return (struct kvm_segment){
		.limit = 0xffffffff,
		.selector = selector | ring,
		.type = type,
		.present = 1,
		.dpl = ring,
		.db = type == SEGMENT_DATA,
		.s = 1,
		.l = type == SEGMENT_CODE,
		.g = 1,
	};
}

static int start_sregs(struct mvm_machine *machine, uint8_t ring, struct hlg_err *err)
{
	struct kvm_sregs sregs;

	if (ioctl(machine->vcpu_fd, KVM_GET_SREGS, &sregs) < 0)
		return fail_errno(err, "KVM_GET_SREGS", "report this as a bug");
	sregs.cr0 = CR0_LONG_MODE;
	sregs.cr3 = root_of(machine);
	sregs.cr4 = CR4_LONG_MODE;
	sregs.efer = EFER_LONG_MODE;
	sregs.cs = segment(ring, ring ? 0x30 : 0x10, SEGMENT_CODE);
	sregs.ss = segment(ring, ring ? 0x28 : 0x18, SEGMENT_DATA);
	sregs.ds = sregs.ss;
	sregs.es = sregs.ss;
	sregs.fs = sregs.ss;
	sregs.gs = sregs.ss;
	sregs.tr = (struct kvm_segment){.base = TSS_ADDRESS,
					.limit = TSS_LIMIT,
					.type = SEGMENT_TSS,
					.present = 1};
	sregs.idt.limit = 0;
	sregs.gdt.limit = 0;
	if (ioctl(machine->vcpu_fd, KVM_SET_SREGS, &sregs) < 0)
		return fail_errno(err, "KVM_SET_SREGS", "report this as a bug");
	return 0;
}

int mvm_machine_start(struct mvm_machine *machine, const struct mvm_start *start,
		      struct hlg_err *err)
{
	struct kvm_regs regs = {
		.rip = start->rip,
		.rsp = start->rsp,
		.rflags = RFLAGS_START,
	};
	int rc = start_sregs(machine, start->ring, err);

	if (rc < 0)
		return rc;
	if (ioctl(machine->vcpu_fd, KVM_SET_REGS, &regs) < 0)
		return fail_errno(err, "KVM_SET_REGS", "report this as a bug");
	return 0;
}

/* immediate_exit closes the gap between the test of expired and KVM_RUN. */
static void on_deadline(int signal)
{
	(void)signal;
	expired = 1;
	if (stepping)
		stepping->immediate_exit = 1;
}

int mvm_machine_deadline(struct mvm_machine *machine, unsigned int seconds,
			 struct hlg_err *err)
{
	struct sigaction action = {.sa_handler = on_deadline};
	struct itimerspec when = {.it_value.tv_sec = seconds};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};

	expired = 0;
	stepping = machine->run;
	machine->run->immediate_exit = 0;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (sigaction(SIGALRM, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &machine->timer) < 0)
		return fail_errno(err, "deadline", "free some timers");
	machine->timer_set = true;
	if (timer_settime(machine->timer, 0, &when, NULL) < 0)
		return fail_errno(err, "deadline", "choose a shorter one");
	return 0;
}

static unsigned long long rip_of(const struct mvm_machine *machine)
{
	struct kvm_regs regs;

	return ioctl(machine->vcpu_fd, KVM_GET_REGS, &regs) < 0 ? 0 : regs.rip;
}

static int fail_exit(const struct mvm_machine *machine, struct hlg_err *err)
{
	const struct kvm_run *run = machine->run;
	unsigned long long rip = rip_of(machine);

	if (run->exit_reason == KVM_EXIT_SHUTDOWN)
		return hlg_err_set(err, -EIO,
				   "guest: an exception at about rip 0x%llx, and no "
				   "handler for it (look there in the disassembly)",
				   rip);
	if (run->exit_reason == KVM_EXIT_MMIO)
		return hlg_err_set(err, -EIO,
				   "guest: access to physical address 0x%llx at rip "
				   "0x%llx (only memory is there)",
				   (unsigned long long)run->mmio.phys_addr, rip);
	if (run->exit_reason == KVM_EXIT_INTERNAL_ERROR)
		return hlg_err_set(err, -EIO,
				   "guest: KVM cannot run the instruction at rip 0x%llx, "
				   "suberror %u (ring 0 may be emulated here)",
				   rip, run->internal.suberror);
	return hlg_err_set(err, -EIO,
			   "guest: unexpected exit reason %u at rip 0x%llx (%s)",
			   run->exit_reason, rip, "see KVM_EXIT_ in linux/kvm.h");
}

static int take_out(const struct mvm_machine *machine, struct mvm_exit *exit,
		    struct hlg_err *err)
{
	const struct kvm_run *run = machine->run;

	if (run->io.direction != KVM_EXIT_IO_OUT || run->io.count != 1)
		return hlg_err_set(err, -EIO,
				   "guest: in or rep out on port %u at rip 0x%llx "
				   "(only out is served)",
				   run->io.port, rip_of(machine));
	exit->port = run->io.port;
	memcpy(&exit->value, (const uint8_t *)run + run->io.data_offset, run->io.size);
	return 0;
}

int mvm_machine_step(struct mvm_machine *machine, struct mvm_exit *exit,
		     struct hlg_err *err)
{
	int rc;

	*exit = (struct mvm_exit){0};
	do {
		if (expired)
			return hlg_err_set(err, -ETIME,
					   "guest: killed at its deadline, at rip 0x%llx "
					   "(hung? else raise --deadline)",
					   rip_of(machine));
		rc = ioctl(machine->vcpu_fd, KVM_RUN, 0);
	} while (rc < 0 && (errno == EINTR || errno == EAGAIN));
	if (rc < 0)
		return fail_errno(err, "KVM_RUN", "see the kernel's log");
	if (machine->run->exit_reason == KVM_EXIT_HLT) {
		exit->halted = true;
		return 0;
	}
	if (machine->run->exit_reason == KVM_EXIT_IO)
		return take_out(machine, exit, err);
	return fail_exit(machine, err);
}
