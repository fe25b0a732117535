/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What exits are called. Which table a number is of says the event itself (its field
 * isa), never the machine that recorded or the one that reads.
 */
#ifndef HLG_TOOLS_EXITS_REASONS_H
#define HLG_TOOLS_EXITS_REASONS_H

#include <stddef.h>
#include <stdint.h>

#include "filter/view/calls.h"

/* Values of isa in kvm:kvm_exit (arch/x86/kvm/trace.h), and of our own. */
enum {
	HLG_ISA_NONE = 0, /* not recorded */
	HLG_ISA_VMX = 1,  /* basic exit reasons: Intel SDM, volume 3, appendix C */
	HLG_ISA_SVM = 2,  /* exit codes: AMD APM, volume 2, appendix C */
	/*
	 * kvm:kvm_exit of arm64 has no isa: what ended the run (its field ret:
	 * ARM_EXCEPTION_* of arch/arm64/include/asm/kvm_asm.h), or where that is a trap
	 * the exception class (esr_ec: arch/arm64/include/asm/esr.h; ARM ARM, ESR_EL2).
	 */
	HLG_ISA_ARM = 64,
	HLG_ISA_ARM_TRAP = 65,
	HLG_ISA_USER = 254,  /* KVM_EXIT_* of linux/kvm.h: what the VMM gets to see */
	HLG_ISA_ERRNO = 255, /* KVM_RUN ended with this errno */
};

/* "EPT_VIOLATION", "npf", "KVM_EXIT_IO"; a number that has no name as "0x1f5". */
const char *hlg_exits_reason(unsigned isa, uint32_t reason, char *buf, size_t size);

/* "VMX", "SVM", "ARM", "KVM"; "?" where the event does not say. */
const char *hlg_exits_isa(unsigned isa);

/* Values of ret of arm64's kvm_exit. */
enum {
	HLG_ARM_TRAP = 2,
	HLG_ARM_HYP_GONE = 0xbadca11 /* HVC_STUB_ERR, arch/arm64/include/asm/virt.h */
};

enum {
	HLG_PORT_ABORT = 102
};

/* What a port is to Hyperlight; NULL for others. */
const char *hlg_exits_port(const struct hlg_calls_ports *ports, uint64_t port);

#endif
