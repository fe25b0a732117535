// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest-physical memory is one slot from 0: the window first, then the page with the TSS,
 * that with the entry for system calls, those of tables.c, and the page tables. Of these
 * ring 3 reaches only the entry, and needs to: software that emulates syscall may stay in
 * ring 3.
 */
#include "tools/vm/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symtab/err.h"
#include "tools/vm/deadline.h"
#include "tools/vm/regs.h"
#include "tools/vm/tables.h"

#define TSS_MAP_BASE 102 /* offset of the bitmap's offset; SDM volume 3, 8.7 */

/* What the guest's syscall instruction enters: out %al, $HLG_VM_PORT_CALL; ud2. */
static const uint8_t call_stub[] = {0xe6, HLG_VM_PORT_CALL, 0x0f, 0x0b};

static int fail_errno(struct hlg_err *err, const char *what, const char *advice)
{
	int rc = -errno;

	return hlg_err_set(err, rc, "%s: %s (%s)", what, strerror(-rc), advice);
}

static int open_kvm(struct hlg_vm_machine *machine, struct hlg_err *err)
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

static int add_memory(struct hlg_vm_machine *machine, size_t window, struct hlg_err *err)
{
	struct kvm_userspace_memory_region region = {0};
	void *memory;

	size_t root = window + HLG_VM_OWN_PAGES * HLG_VM_PAGE_SIZE;

	machine->window = window;
	machine->size = root + hlg_vm_tables_size(window);
	memory = mmap(NULL, machine->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return fail_errno(err, "guest memory", "lower --memory");
	machine->memory = memory;
	machine->pages = (struct hlg_vm_pages){
		.memory = memory,
		.size = machine->size,
		.root = root,
		.next_free = root + HLG_VM_PAGE_SIZE,
	};
	region.memory_size = machine->size;
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(machine->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return fail_errno(err, "KVM_SET_USER_MEMORY_REGION", "lower --memory");
	return 0;
}

static int add_vcpu(struct hlg_vm_machine *machine, struct hlg_err *err)
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
	return hlg_vm_regs_init(machine, err);
}

int hlg_vm_machine_init(struct hlg_vm_machine *machine, size_t window,
			struct hlg_err *err)
{
	int rc;

	*machine = (struct hlg_vm_machine){.kvm_fd = -1, .vm_fd = -1, .vcpu_fd = -1};
	if (window == 0 || window > HLG_VM_WINDOW_MAX || window % HLG_VM_PAGE_SIZE)
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
		hlg_vm_machine_finish(machine);
	return rc;
}

void hlg_vm_machine_finish(struct hlg_vm_machine *machine)
{
	(void)hlg_vm_deadline_passed(NULL);
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
	*machine = (struct hlg_vm_machine){.kvm_fd = -1, .vm_fd = -1, .vcpu_fd = -1};
}

static void add_own_pages(struct hlg_vm_machine *machine)
{
	uint8_t *tss = machine->memory + machine->window;

	tss[TSS_MAP_BASE] = HLG_VM_TSS_MAP;
	tss[HLG_VM_TSS_LIMIT] = 0xff;
	memcpy(tss + HLG_VM_PAGE_SIZE, call_stub, sizeof(call_stub));
}

static int map_all(struct hlg_vm_machine *machine, uint64_t base)
{
	struct hlg_vm_pages *pages = &machine->pages;
	int rc = hlg_vm_tables_map(pages, HLG_VM_TSS_ADDRESS, machine->window, false);

	if (rc == 0)
		rc = hlg_vm_tables_map(pages, HLG_VM_CALL_ADDRESS,
				       machine->window + HLG_VM_PAGE_SIZE, true);
	for (uint64_t at = 0; rc == 0 && at < machine->window; at += HLG_VM_PAGE_SIZE)
		rc = hlg_vm_tables_map(pages, base + at, at, true);
	return rc;
}

int hlg_vm_machine_map(struct hlg_vm_machine *machine, uint64_t base, struct hlg_err *err)
{
	int rc;

	if (base % HLG_VM_PAGE_SIZE || base > HLG_VM_ADDRESS_END - machine->window)
		return hlg_err_set(err, -EINVAL,
				   "base 0x%llx: not page-aligned, or its window ends "
				   "above 2^47 (choose another)",
				   (unsigned long long)base);
	rc = map_all(machine, base);
	if (rc < 0)
		return hlg_err_set(err, rc, "page tables: full (report this as a bug)");
	add_own_pages(machine);
	return 0;
}

static unsigned long long rip_of(const struct hlg_vm_machine *machine)
{
	struct kvm_regs regs;

	return ioctl(machine->vcpu_fd, KVM_GET_REGS, &regs) < 0 ? 0 : regs.rip;
}

static int fail_exit(const struct hlg_vm_machine *machine, struct hlg_err *err)
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

static int take_out(const struct hlg_vm_machine *machine, struct hlg_vm_exit *exit,
		    struct hlg_err *err)
{
	const struct kvm_run *run = machine->run;

	if (run->io.direction != KVM_EXIT_IO_OUT || run->io.count != 1)
		return hlg_err_set(err, -EIO,
				   "guest: in or rep out on port %u at rip 0x%llx "
				   "(only out is served)",
				   run->io.port, rip_of(machine));
	exit->port = run->io.port;
	exit->call = run->io.port == HLG_VM_PORT_CALL;
	memcpy(&exit->value, (const uint8_t *)run + run->io.data_offset, run->io.size);
	return 0;
}

int hlg_vm_machine_step(struct hlg_vm_machine *machine, struct hlg_vm_exit *exit,
			struct hlg_err *err)
{
	int rc;

	*exit = (struct hlg_vm_exit){0};
	do {
		if (hlg_vm_deadline_passed(machine->run))
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
