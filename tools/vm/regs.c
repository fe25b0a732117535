// SPDX-License-Identifier: GPL-2.0-only
#include "tools/vm/regs.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "symtab/err.h"
#include "tools/vm/tables.h"

/* Intel SDM volume 3, 2.5 (control registers), 2.2.1 (EFER), 13.3 (XCR0). */
#define CR0_LONG_MODE  0x80050033 /* PG AM WP NE ET MP PE */
#define CR4_LONG_MODE  0x620      /* OSXMMEXCPT OSFXSR PAE */
#define CR4_OSXSAVE    (1 << 18)
#define EFER_LONG_MODE 0x501 /* LMA LME SCE */
#define RFLAGS_START   0x2   /* the bit that is always set */
#define RFLAGS_TRAP    0x100 /* TF */
#define SEGMENT_CODE   11    /* execute, read, accessed */
#define SEGMENT_DATA   3     /* read, write, accessed */
#define SEGMENT_TSS    11    /* busy 64-bit TSS */
#define XCR0_AVX       7     /* x87, SSE, AVX */
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

static int fail(struct hlg_err *err, const char *what)
{
	int rc = -errno;

	return hlg_err_set(err, rc, "%s: %s (report this as a bug)", what, strerror(-rc));
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
		return fail(err, "KVM_SET_XCRS");
	return 0;
}

/* The guest's CPUID is the host's, as far as KVM can serve it. */
int hlg_vm_regs_init(struct hlg_vm_machine *machine, struct hlg_err *err)
{
	struct kvm_cpuid2 *cpuid;
	int rc = 0;

	cpuid = calloc(1, sizeof(*cpuid) + CPUID_MAX * sizeof(cpuid->entries[0]));
	if (!cpuid)
		return hlg_err_set(err, -ENOMEM, "CPUID: out of memory (free some)");
	cpuid->nent = CPUID_MAX;
	if (ioctl(machine->kvm_fd, KVM_GET_SUPPORTED_CPUID, cpuid) < 0)
		rc = fail(err, "KVM_GET_SUPPORTED_CPUID");
	else if (ioctl(machine->vcpu_fd, KVM_SET_CPUID2, cpuid) < 0)
		rc = fail(err, "KVM_SET_CPUID2");
	machine->avx = rc == 0 && can_avx(cpuid);
	free(cpuid);
	return machine->avx ? set_xcr0(machine, err) : rc;
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

static int start_sregs(struct hlg_vm_machine *machine, uint8_t ring, struct hlg_err *err)
{
	struct kvm_sregs sregs;

	if (ioctl(machine->vcpu_fd, KVM_GET_SREGS, &sregs) < 0)
		return fail(err, "KVM_GET_SREGS");
	sregs.cr0 = CR0_LONG_MODE;
	sregs.cr3 = machine->pages.root;
	sregs.cr4 = CR4_LONG_MODE | (machine->avx ? CR4_OSXSAVE : 0);
	sregs.efer = EFER_LONG_MODE;
	sregs.cs =
		segment(ring, ring ? HLG_VM_USER_CODE : HLG_VM_KERNEL_CODE, SEGMENT_CODE);
	sregs.ss =
		segment(ring, ring ? HLG_VM_USER_DATA : HLG_VM_KERNEL_DATA, SEGMENT_DATA);
	sregs.ds = sregs.ss;
	sregs.es = sregs.ss;
	sregs.fs = sregs.ss;
	sregs.gs = sregs.ss;
	sregs.tr = (struct kvm_segment){.base = HLG_VM_TSS_ADDRESS,
					.limit = HLG_VM_TSS_LIMIT,
					.type = SEGMENT_TSS,
					.present = 1};
	hlg_vm_tables_load(machine, &sregs);
	if (ioctl(machine->vcpu_fd, KVM_SET_SREGS, &sregs) < 0)
		return fail(err, "KVM_SET_SREGS");
	return 0;
}

static int start_calls(struct hlg_vm_machine *machine, struct hlg_err *err)
{
	const struct kvm_msr_entry entries[] = {
		{.index = MSR_STAR, .data = STAR},
		{.index = MSR_LSTAR,
		 .data = machine->call ? machine->call : HLG_VM_CALL_ADDRESS},
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
		return fail(err, "KVM_SET_MSRS");
	if (set != sizeof(entries) / sizeof(entries[0]))
		return hlg_err_set(err, -EIO, "KVM_SET_MSRS: refuses 0x%x (%s)",
				   entries[set].index, "report this as a bug");
	return 0;
}

int hlg_vm_regs_start(struct hlg_vm_machine *machine, const struct hlg_vm_start *start,
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
		return fail(err, "KVM_SET_FPU");
	if (ioctl(machine->vcpu_fd, KVM_SET_REGS, &regs) < 0)
		return fail(err, "KVM_SET_REGS");
	return 0;
}
