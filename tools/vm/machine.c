// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest-physical memory is one slot from 0: the window first, then the monitor's own
 * pages, then the page tables. Numbers are those of the Intel SDM, volume 3: 2.5 (control
 * registers), 2.2.1 (EFER), 3.4.5 (segment descriptors), 4.5 (pages: four levels, each
 * indexed by nine bits of the address), 6.14 (gates and stacks of 64 bits), 8.7 (TSS),
 * 13.3 (XCR0).
 */
#include "tools/vm/machine.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "symtab/err.h"

/*
 * The monitor's own pages lie outside of every window: Hyperlight has its TSS there too.
 * The TSS exists for its I/O bitmap, which lets ring 3 use the ports below 256, also
 * where software emulates out and does not look at IOPL; and for the handlers' stack.
 * Ring 3 reaches only the entry for system calls, and needs to: software that emulates
 * syscall may stay in ring 3.
 */
enum own_page {
	PAGE_TSS,
	PAGE_CALL, /* what syscall enters, if the guest has nothing else */
	PAGE_GDT,
	PAGE_IDT,
	PAGE_STACK,
	OWN_PAGES
};

/* Guest addresses of an own page, and of the page tables. */
#define OWN_ADDRESS(page) (UINT64_C(0xfffffd0000000000) + (page)*HLG_VM_PAGE_SIZE)
#define TABLES_ADDRESS    OWN_ADDRESS(16)

#define TSS_RSP0     4   /* offsets in the TSS: the stack of ring 0 ... */
#define TSS_MAP_BASE 102 /* ... the bitmap's offset ... */
#define TSS_MAP      104 /* ... and the bitmap: a set bit forbids a port */
#define TSS_LIMIT    (TSS_MAP + 256 / 8) /* a byte of ones is there */

#define ENTRIES      512
#define TOP_SHIFT    39
#define PAGE_SHIFT   12
#define LEVEL_BITS   9
#define ENTRY_SYSTEM UINT64_C(0x3) /* present, writable */
#define ENTRY_USER   UINT64_C(0x7) /* present, writable, user */
#define ENTRY_FRAME  (~UINT64_C(0xfff))

#define DESCRIPTOR_CODE UINT64_C(0x00af9b000000ffff) /* 64-bit, execute and read */
#define DESCRIPTOR_DATA UINT64_C(0x00cf93000000ffff) /* read and write */
#define DESCRIPTOR_USER (UINT64_C(3) << 45)          /* DPL 3 */

#define GATE_SIZE  16
#define GATE_FLAGS 0xee /* present, DPL 3, interrupt gate */

#define CR0_LONG_MODE  0x80050033 /* PG AM WP NE ET MP PE */
#define CR4_LONG_MODE  0x620      /* OSXMMEXCPT OSFXSR PAE */
#define CR4_OSXSAVE    (1 << 18)
#define EFER_LONG_MODE 0x501 /* LMA LME SCE */
#define RFLAGS_START   0x2   /* the bit that is always set */
#define RFLAGS_TRAP    0x100 /* TF */
#define SEGMENT_CODE   11    /* execute, read, accessed */
#define SEGMENT_DATA   3     /* read, write, accessed */
#define SEGMENT_TSS    11    /* busy 64-bit TSS, as ltr leaves it: VMX wants no other */
#define TSS_QEMU       9     /* available: QEMU's own processor reads no bitmap else */
#define CPUID_VMM      0x40000000 /* a name in ebx, ecx, edx */
#define RESET_RIP      0xfff0     /* SDM volume 3, 10.1.4 */
#define XCR0_AVX       7          /* x87, SSE, AVX */
#define CPUID_MAX      256
#define CPUID_XSAVE    0xd /* subleaf 0: eax has the bits XCR0 may have */

/* SDM volume 4: the model-specific registers of syscall. */
#define MSR_STAR   0xc0000081
#define MSR_LSTAR  0xc0000082
#define MSR_SFMASK 0xc0000084

/* sysret adds 16 for cs, 8 for ss. */
#define STAR (UINT64_C(0x0023) << 48 | (uint64_t)HLG_VM_KERNEL_CODE << 32)

/* What a processor has after fninit, and mxcsr after reset. */
#define FCW_START   0x37f
#define MXCSR_START 0x1f80

static const uint64_t gdt[] = {
	[HLG_VM_KERNEL_CODE / 8] = DESCRIPTOR_CODE,
	[HLG_VM_KERNEL_DATA / 8] = DESCRIPTOR_DATA,
	[HLG_VM_USER_DATA / 8] = DESCRIPTOR_DATA | DESCRIPTOR_USER,
	[HLG_VM_USER_CODE / 8] = DESCRIPTOR_CODE | DESCRIPTOR_USER,
};

/* What the guest's syscall instruction enters: out %al, $HLG_VM_PORT_CALL; ud2. */
static const uint8_t call_stub[] = {0xe6, HLG_VM_PORT_CALL, 0x0f, 0x0b};

static int fail_errno(struct hlg_err *err, const char *what, const char *advice)
{
	int rc = -errno;

	if (rc == -EMFILE || rc == -ENFILE)
		advice = "close some, or raise ulimit -n";
	return hlg_err_set(err, rc, "%s: %s (%s)", what, strerror(-rc), advice);
}

/* What the signal stops: the vCPU of the thread it is sent to. */
static _Thread_local struct kvm_run *volatile stepping;
static _Thread_local volatile sig_atomic_t expired;
static _Thread_local timer_t timer;
static _Thread_local bool timer_set;

/* immediate_exit closes the gap between the test of expired and KVM_RUN. */
static void on_deadline(int signal)
{
	(void)signal;
	expired = 1;
	if (stepping)
		stepping->immediate_exit = 1;
}

int hlg_vm_deadline_start(unsigned int seconds, struct hlg_err *err)
{
	struct sigaction action = {.sa_handler = on_deadline};
	struct itimerspec when = {.it_value.tv_sec = seconds};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};

	expired = 0;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (sigaction(SIGALRM, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return fail_errno(err, "deadline", "free some timers");
	timer_set = true;
	if (timer_settime(timer, 0, &when, NULL) < 0)
		return fail_errno(err, "deadline", "choose a shorter one");
	return 0;
}

void hlg_vm_deadline_stop(void)
{
	if (timer_set)
		timer_delete(timer);
	timer_set = false;
	stepping = NULL;
}

unsigned int hlg_vm_deadline_left(unsigned int none)
{
	struct itimerspec left;

	if (!timer_set || timer_gettime(timer, &left) < 0)
		return none;
	return (unsigned int)(left.it_value.tv_sec * 1000 +
			      left.it_value.tv_nsec / 1000000) +
	       1;
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

static size_t tables_size(size_t window)
{
	/*
	 * One table of the lowest level for each 2 MiB and one more when the window
	 * starts inside one; up to 1 GiB, the three levels above need at most 2 + 2 + 1.
	 * The own pages and the page tables have four of their own at worst.
	 */
	return (window / HLG_VM_PAGE_SIZE / ENTRIES + 12) * HLG_VM_PAGE_SIZE;
}

static int add_memory(struct hlg_vm_machine *machine, size_t window, struct hlg_err *err)
{
	size_t root = window + OWN_PAGES * HLG_VM_PAGE_SIZE;
	struct kvm_userspace_memory_region region = {0};
	void *memory;

	machine->window = window;
	machine->size = root + tables_size(window);
	memory = mmap(NULL, machine->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return fail_errno(err, "guest memory", "lower --memory");
	machine->memory = memory;
	machine->root = root;
	machine->next_free = root + HLG_VM_PAGE_SIZE;
	region.memory_size = machine->size;
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(machine->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return fail_errno(err, "KVM_SET_USER_MEMORY_REGION", "lower --memory");
	return 0;
}

static bool can_avx(const struct kvm_cpuid2 *cpuid)
{
	for (uint32_t i = 0; i < cpuid->nent; i++) {
		const struct kvm_cpuid_entry2 *entry = &cpuid->entries[i];

		if (entry->function == CPUID_XSAVE && entry->index == 0)
			return (entry->eax & XCR0_AVX) == XCR0_AVX;
	}
	return false;
}

static int set_xcr0(struct hlg_vm_machine *machine, struct hlg_err *err)
{
	struct kvm_xcrs xcrs = {.nr_xcrs = 1, .xcrs[0].value = XCR0_AVX};

	if (ioctl(machine->vcpu_fd, KVM_SET_XCRS, &xcrs) < 0)
		return fail_errno(err, "KVM_SET_XCRS", "report this as a bug");
	return 0;
}

/* The guest's CPUID is the host's, as far as KVM can serve it. */
static int set_cpuid(struct hlg_vm_machine *machine, struct hlg_err *err)
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
	machine->avx = rc == 0 && can_avx(cpuid);
	free(cpuid);
	return machine->avx ? set_xcr0(machine, err) : rc;
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
	/* Each exit leaves the registers there; a kernel that does not know of it (before
	 * 4.17) would refuse to run. */
	if (ioctl(machine->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_SYNC_REGS) &
	    KVM_SYNC_X86_REGS)
		machine->run->kvm_valid_regs = KVM_SYNC_X86_REGS;
	return set_cpuid(machine, err);
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
	*machine = (struct hlg_vm_machine){.kvm_fd = -1, .vm_fd = -1, .vcpu_fd = -1};
}

/* The entry for address in the table at offset, whose entries span 1 << shift bytes. */
static uint64_t *entry_at(const struct hlg_vm_machine *machine, size_t offset,
			  uint64_t address, unsigned int shift)
{
	uint64_t *table = (uint64_t *)(void *)(machine->memory + offset);

	return &table[(address >> shift) & (ENTRIES - 1)];
}

static int add_table(struct hlg_vm_machine *machine, uint64_t *entry)
{
	if (machine->size - machine->next_free < HLG_VM_PAGE_SIZE)
		return -ENOMEM;
	*entry = machine->next_free | ENTRY_USER;
	machine->next_free += HLG_VM_PAGE_SIZE;
	return 0;
}

/* Maps size bytes at a guest address onto those of the frame; all are page-aligned. */
static int map(struct hlg_vm_machine *machine, uint64_t address, uint64_t frame,
	       uint64_t size, uint64_t flags)
{
	for (uint64_t at = 0; at < size; at += HLG_VM_PAGE_SIZE) {
		size_t table = machine->root;

		for (unsigned int shift = TOP_SHIFT; shift > PAGE_SHIFT;
		     shift -= LEVEL_BITS) {
			uint64_t *entry = entry_at(machine, table, address + at, shift);

			if (*entry == 0 && add_table(machine, entry) < 0)
				return -ENOMEM;
			table = *entry & ENTRY_FRAME;
		}
		*entry_at(machine, table, address + at, PAGE_SHIFT) =
			(frame + at) | flags;
	}
	return 0;
}

static int map_own(struct hlg_vm_machine *machine)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < OWN_PAGES; i++)
		rc = map(machine, OWN_ADDRESS(i), machine->window + i * HLG_VM_PAGE_SIZE,
			 HLG_VM_PAGE_SIZE, i == PAGE_CALL ? ENTRY_USER : ENTRY_SYSTEM);
	return rc < 0 ? rc
		      : map(machine, TABLES_ADDRESS, machine->root,
			    machine->size - machine->root, ENTRY_SYSTEM);
}

static uint8_t *own_page(const struct hlg_vm_machine *machine, enum own_page page)
{
	return machine->memory + machine->window + page * HLG_VM_PAGE_SIZE;
}

static void fill_gate(uint8_t *idt, const struct hlg_vm_gate *gate)
{
	const uint64_t words[2] = {
		(gate->handler & 0xffff) | (uint64_t)HLG_VM_KERNEL_CODE << 16 |
			(uint64_t)GATE_FLAGS << 40 | (gate->handler >> 16 & 0xffff) << 48,
		gate->handler >> 32,
	};

	memcpy(idt + (size_t)gate->vector * GATE_SIZE, words, sizeof(words));
}

static int fill_tables(struct hlg_vm_machine *machine, uint64_t base,
		       const struct hlg_vm_gate *gates, size_t n)
{
	const uint64_t stack = OWN_ADDRESS(PAGE_STACK) + HLG_VM_PAGE_SIZE;
	uint8_t *tss = own_page(machine, PAGE_TSS);
	int rc = map(machine, base, 0, machine->window, ENTRY_USER);

	if (rc == 0)
		rc = map_own(machine);
	if (rc < 0)
		return rc;
	memcpy(tss + TSS_RSP0, &stack, sizeof(stack));
	tss[TSS_MAP_BASE] = TSS_MAP;
	tss[TSS_LIMIT] = 0xff;
	memcpy(own_page(machine, PAGE_CALL), call_stub, sizeof(call_stub));
	memcpy(own_page(machine, PAGE_GDT), gdt, sizeof(gdt));
	for (size_t i = 0; i < n; i++)
		fill_gate(own_page(machine, PAGE_IDT), &gates[i]);
	return 0;
}

int hlg_vm_machine_map(struct hlg_vm_machine *machine, uint64_t base,
		       const struct hlg_vm_gate *gates, size_t n, struct hlg_err *err)
{
	int rc;

	if (base % HLG_VM_PAGE_SIZE || base > HLG_VM_ADDRESS_END - machine->window)
		return hlg_err_set(err, -EINVAL,
				   "base 0x%llx: not page-aligned, or its window ends "
				   "above 2^47 (choose another)",
				   (unsigned long long)base);
	rc = fill_tables(machine, base, gates, n);
	if (rc < 0)
		return hlg_err_set(err, rc, "page tables: full (report this as a bug)");
	return 0;
}

uint64_t hlg_vm_machine_entry(const struct hlg_vm_machine *machine, uint64_t address)
{
	size_t table = machine->root;

	for (unsigned int shift = TOP_SHIFT; shift > PAGE_SHIFT; shift -= LEVEL_BITS)
		table = *entry_at(machine, table, address, shift) & ENTRY_FRAME;
	return TABLES_ADDRESS + (table - machine->root) +
	       (address >> PAGE_SHIFT & (ENTRIES - 1)) * sizeof(uint64_t);
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

/* Does this machine's hypervisor emulate every instruction, SVM's too? */
static bool under_qemu_tcg(void)
{
	uint32_t highest, name[3];

	__cpuid(CPUID_VMM, highest, name[0], name[1], name[2]);
	return memcmp(name, "TCGTCGTCGTCG", sizeof(name)) == 0;
}

static int start_sregs(struct hlg_vm_machine *machine, uint8_t ring, struct hlg_err *err)
{
	struct kvm_sregs sregs;

	if (ioctl(machine->vcpu_fd, KVM_GET_SREGS, &sregs) < 0)
		return fail_errno(err, "KVM_GET_SREGS", "report this as a bug");
	sregs.cr0 = CR0_LONG_MODE;
	sregs.cr3 = machine->root;
	sregs.cr4 = CR4_LONG_MODE | (machine->avx ? CR4_OSXSAVE : 0) | machine->cr4;
	sregs.efer = EFER_LONG_MODE;
	sregs.cs =
		segment(ring, ring ? HLG_VM_USER_CODE : HLG_VM_KERNEL_CODE, SEGMENT_CODE);
	sregs.ss =
		segment(ring, ring ? HLG_VM_USER_DATA : HLG_VM_KERNEL_DATA, SEGMENT_DATA);
	sregs.ds = sregs.ss;
	sregs.es = sregs.ss;
	sregs.fs = sregs.ss;
	sregs.gs = sregs.ss;
	sregs.tr = (struct kvm_segment){.base = OWN_ADDRESS(PAGE_TSS),
					.limit = TSS_LIMIT,
					.type = under_qemu_tcg() ? TSS_QEMU : SEGMENT_TSS,
					.present = 1};
	sregs.gdt = (struct kvm_dtable){.base = OWN_ADDRESS(PAGE_GDT),
					.limit = sizeof(gdt) - 1};
	sregs.idt = (struct kvm_dtable){.base = OWN_ADDRESS(PAGE_IDT),
					.limit = 256 * GATE_SIZE - 1};
	if (ioctl(machine->vcpu_fd, KVM_SET_SREGS, &sregs) < 0)
		return fail_errno(err, "KVM_SET_SREGS", "report this as a bug");
	return 0;
}

static int start_calls(struct hlg_vm_machine *machine, struct hlg_err *err)
{
	const struct kvm_msr_entry entries[] = {
		{.index = MSR_STAR, .data = STAR},
		{.index = MSR_LSTAR,
		 .data = machine->call ? machine->call : OWN_ADDRESS(PAGE_CALL)},
		{.index = MSR_SFMASK, .data = 0},
	};
	struct kvm_msrs *msrs = calloc(1, sizeof(*msrs) + sizeof(entries));
	int set;

	if (!msrs)
		return hlg_err_set(err, -ENOMEM, "registers: out of memory (free some)");
	msrs->nmsrs = sizeof(entries) / sizeof(entries[0]);
	memcpy(msrs->entries, entries, sizeof(entries));
	set = ioctl(machine->vcpu_fd, KVM_SET_MSRS, msrs);
	free(msrs);
	if (set < 0)
		return fail_errno(err, "KVM_SET_MSRS", "report this as a bug");
	if (set != sizeof(entries) / sizeof(entries[0]))
		return hlg_err_set(err, -EIO, "KVM_SET_MSRS: refuses 0x%x (%s)",
				   entries[set].index, "report this as a bug");
	return 0;
}

int hlg_vm_machine_start(struct hlg_vm_machine *machine, const struct hlg_vm_start *start,
			 struct hlg_err *err)
{
	struct kvm_regs regs = {
		.rip = start->rip,
		.rsp = start->rsp,
		.rflags = RFLAGS_START | (start->trap ? RFLAGS_TRAP : 0),
	};
	struct kvm_fpu fpu = {.fcw = FCW_START, .mxcsr = MXCSR_START};
	int rc = start_sregs(machine, start->ring, err);

	if (rc == 0)
		rc = start_calls(machine, err);
	if (rc < 0)
		return rc;
	if (ioctl(machine->vcpu_fd, KVM_SET_FPU, &fpu) < 0)
		return fail_errno(err, "KVM_SET_FPU", "report this as a bug");
	if (ioctl(machine->vcpu_fd, KVM_SET_REGS, &regs) < 0)
		return fail_errno(err, "KVM_SET_REGS", "report this as a bug");
	machine->run->s.regs.regs.rip = start->rip;
	machine->ran = false;
	return 0;
}

static unsigned long long rip_of(const struct hlg_vm_machine *machine)
{
	struct kvm_regs regs;

	return ioctl(machine->vcpu_fd, KVM_GET_REGS, &regs) < 0 ? 0 : regs.rip;
}

/* A processor that shuts down keeps its registers under VMX; under SVM KVM resets it. */
static int fail_shutdown(struct hlg_err *err, unsigned long long rip,
			 unsigned long long before)
{
	if (rip == RESET_RIP)
		return hlg_err_set(
			err, -EIO,
			"guest: triple fault, an exception without a handler, "
			"some time after rip 0x%llx (KVM on AMD keeps no closer "
			"address; look from there on in the disassembly)",
			before);
	return hlg_err_set(err, -EIO,
			   "guest: triple fault, an exception without a handler, at "
			   "about rip 0x%llx (look there in the disassembly)",
			   rip);
}

/* before: the rip when the guest was entered. */
static int fail_exit(const struct hlg_vm_machine *machine, unsigned long long before,
		     struct hlg_err *err)
{
	const struct kvm_run *run = machine->run;
	unsigned long long rip = rip_of(machine);

	if (run->exit_reason == KVM_EXIT_SHUTDOWN)
		return fail_shutdown(err, rip, before);
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

/* What never ran is not what hung. */
static int fail_deadline(const struct hlg_vm_machine *machine, struct hlg_err *err)
{
	if (!machine->ran)
		return hlg_err_set(err, -ETIME, "guest: " HLG_VM_NOT_RUN);
	return hlg_err_set(err, -ETIME,
			   "guest: killed at its deadline, at rip 0x%llx (hung? else "
			   "raise --deadline)",
			   rip_of(machine));
}

int hlg_vm_machine_step(struct hlg_vm_machine *machine, struct hlg_vm_exit *exit,
			struct hlg_err *err)
{
	uint64_t before = machine->run->s.regs.regs.rip;
	int rc;

	*exit = (struct hlg_vm_exit){0};
	do {
		stepping = machine->run;
		if (expired)
			return fail_deadline(machine, err);
		machine->ran = true;
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
	return fail_exit(machine, before, err);
}
