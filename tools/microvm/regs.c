// SPDX-License-Identifier: GPL-2.0-only
#include "regs.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../../symtab/err.h"
#include "kvm.h"

/* Intel SDM volume 3, 2.5 (control registers), 2.2.1 (EFER). */
#define CR0_LONG_MODE  0x80050033 /* PG AM WP NE ET MP PE */
#define CR4_LONG_MODE  0x620      /* OSXMMEXCPT OSFXSR PAE */
#define EFER_LONG_MODE 0x501      /* LMA LME SCE */
#define RFLAGS_START   0x2        /* the bit that is always set */
#define SEGMENT_CODE   11         /* execute, read, accessed */
#define SEGMENT_DATA   3          /* read, write, accessed */
#define SEGMENT_TSS    11         /* busy 64-bit TSS */
#define CPUID_MAX      256

#define SELECTOR_KERNEL_CODE 0x10
#define SELECTOR_KERNEL_DATA 0x18
#define SELECTOR_USER_DATA   0x28
#define SELECTOR_USER_CODE   0x30

static int fail(struct hlg_err *err, const char *what)
{
	int rc = -errno;

	return hlg_err_set(err, rc, "%s: %s (report this as a bug)", what, strerror(-rc));
}

/* The guest's CPUID is the host's, as far as KVM can serve it. */
int mvm_regs_init(struct mvm_machine *machine, struct hlg_err *err)
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
	free(cpuid);
	return rc;
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

static void set_ring(struct kvm_sregs *sregs, uint8_t ring)
{
	sregs->cs = segment(ring, ring ? SELECTOR_USER_CODE : SELECTOR_KERNEL_CODE,
			    SEGMENT_CODE);
	sregs->ss = segment(ring, ring ? SELECTOR_USER_DATA : SELECTOR_KERNEL_DATA,
			    SEGMENT_DATA);
}

static int start_sregs(struct mvm_machine *machine, uint8_t ring, struct hlg_err *err)
{
	struct kvm_sregs sregs;

	if (ioctl(machine->vcpu_fd, KVM_GET_SREGS, &sregs) < 0)
		return fail(err, "KVM_GET_SREGS");
	sregs.cr0 = CR0_LONG_MODE;
	sregs.cr3 = machine->root;
	sregs.cr4 = CR4_LONG_MODE;
	sregs.efer = EFER_LONG_MODE;
	set_ring(&sregs, ring);
	sregs.ds = sregs.ss;
	sregs.es = sregs.ss;
	sregs.fs = sregs.ss;
	sregs.gs = sregs.ss;
	sregs.tr = (struct kvm_segment){.base = MVM_TSS_ADDRESS,
					.limit = MVM_TSS_LIMIT,
					.type = SEGMENT_TSS,
					.present = 1};
	sregs.idt.limit = 0;
	sregs.gdt.limit = 0;
	if (ioctl(machine->vcpu_fd, KVM_SET_SREGS, &sregs) < 0)
		return fail(err, "KVM_SET_SREGS");
	return 0;
}

int mvm_regs_start(struct mvm_machine *machine, const struct mvm_start *start,
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
		return fail(err, "KVM_SET_REGS");
	return 0;
}
