// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names as KVM's own tracepoints print them (arch/x86/include/uapi/asm/vmx.h and svm.h,
 * arch/arm64/include/asm/kvm_arm.h, linux/kvm.h); numbers that KVM has no name for are
 * named by the manuals.
 */
#include "tools/exits/reasons.h"

#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define VMX_BASIC        0xffff /* the rest are flags */
#define VMX_FAILED_ENTRY 0x80000000

static const char *const vmx[] = {
	[0] = "EXCEPTION_NMI",
	[1] = "EXTERNAL_INTERRUPT",
	[2] = "TRIPLE_FAULT",
	[3] = "INIT_SIGNAL",
	[4] = "SIPI_SIGNAL",
	[5] = "IO_SMI",
	[6] = "OTHER_SMI",
	[7] = "INTERRUPT_WINDOW",
	[8] = "NMI_WINDOW",
	[9] = "TASK_SWITCH",
	[10] = "CPUID",
	[11] = "GETSEC",
	[12] = "HLT",
	[13] = "INVD",
	[14] = "INVLPG",
	[15] = "RDPMC",
	[16] = "RDTSC",
	[17] = "RSM",
	[18] = "VMCALL",
	[19] = "VMCLEAR",
	[20] = "VMLAUNCH",
	[21] = "VMPTRLD",
	[22] = "VMPTRST",
	[23] = "VMREAD",
	[24] = "VMRESUME",
	[25] = "VMWRITE",
	[26] = "VMOFF",
	[27] = "VMON",
	[28] = "CR_ACCESS",
	[29] = "DR_ACCESS",
	[30] = "IO_INSTRUCTION",
	[31] = "MSR_READ",
	[32] = "MSR_WRITE",
	[33] = "INVALID_STATE",
	[34] = "MSR_LOAD_FAIL",
	[36] = "MWAIT_INSTRUCTION",
	[37] = "MONITOR_TRAP_FLAG",
	[39] = "MONITOR_INSTRUCTION",
	[40] = "PAUSE_INSTRUCTION",
	[41] = "MCE_DURING_VMENTRY",
	[43] = "TPR_BELOW_THRESHOLD",
	[44] = "APIC_ACCESS",
	[45] = "EOI_INDUCED",
	[46] = "GDTR_IDTR",
	[47] = "LDTR_TR",
	[48] = "EPT_VIOLATION",
	[49] = "EPT_MISCONFIG",
	[50] = "INVEPT",
	[51] = "RDTSCP",
	[52] = "PREEMPTION_TIMER",
	[53] = "INVVPID",
	[54] = "WBINVD",
	[55] = "XSETBV",
	[56] = "APIC_WRITE",
	[57] = "RDRAND",
	[58] = "INVPCID",
	[59] = "VMFUNC",
	[60] = "ENCLS",
	[61] = "RDSEED",
	[62] = "PML_FULL",
	[63] = "XSAVES",
	[64] = "XRSTORS",
	[65] = "PCONFIG",
	[66] = "SPP_EVENT",
	[67] = "UMWAIT",
	[68] = "TPAUSE",
	[69] = "LOADIWKEY",
	[72] = "ENQCMD_PASID",
	[73] = "ENQCMDS_PASID",
	[74] = "BUS_LOCK",
	[75] = "NOTIFY",
	[76] = "SEAMCALL",
	[77] = "TDCALL",
	[84] = "MSR_READ_IMM",
	[85] = "MSR_WRITE_IMM",
};

static const char *const svm[] = {
	[0] = "read_cr0",
	[2] = "read_cr2",
	[3] = "read_cr3",
	[4] = "read_cr4",
	[8] = "read_cr8",
	[16] = "write_cr0",
	[18] = "write_cr2",
	[19] = "write_cr3",
	[20] = "write_cr4",
	[24] = "write_cr8",
	[32] = "read_dr0",
	[33] = "read_dr1",
	[34] = "read_dr2",
	[35] = "read_dr3",
	[36] = "read_dr4",
	[37] = "read_dr5",
	[38] = "read_dr6",
	[39] = "read_dr7",
	[48] = "write_dr0",
	[49] = "write_dr1",
	[50] = "write_dr2",
	[51] = "write_dr3",
	[52] = "write_dr4",
	[53] = "write_dr5",
	[54] = "write_dr6",
	[55] = "write_dr7",
	[64] = "DE excp",
	[65] = "DB excp",
	[67] = "BP excp",
	[68] = "OF excp",
	[69] = "BR excp",
	[70] = "UD excp",
	[71] = "NM excp",
	[72] = "DF excp",
	[74] = "TS excp",
	[75] = "NP excp",
	[76] = "SS excp",
	[77] = "GP excp",
	[78] = "PF excp",
	[80] = "MF excp",
	[81] = "AC excp",
	[82] = "MC excp",
	[83] = "XF excp",
	[96] = "interrupt",
	[97] = "nmi",
	[98] = "smi",
	[99] = "init",
	[100] = "vintr",
	[101] = "cr0_sel_write",
	[102] = "read_idtr",
	[103] = "read_gdtr",
	[104] = "read_ldtr",
	[105] = "read_rt",
	[106] = "write_idtr",
	[107] = "write_gdtr",
	[108] = "write_ldtr",
	[109] = "write_rt",
	[110] = "rdtsc",
	[111] = "rdpmc",
	[112] = "pushf",
	[113] = "popf",
	[114] = "cpuid",
	[115] = "rsm",
	[116] = "iret",
	[117] = "swint",
	[118] = "invd",
	[119] = "pause",
	[120] = "hlt",
	[121] = "invlpg",
	[122] = "invlpga",
	[123] = "io",
	[124] = "msr",
	[125] = "task_switch",
	[126] = "ferr_freeze",
	[127] = "shutdown",
	[128] = "vmrun",
	[129] = "hypercall",
	[130] = "vmload",
	[131] = "vmsave",
	[132] = "stgi",
	[133] = "clgi",
	[134] = "skinit",
	[135] = "rdtscp",
	[136] = "icebp",
	[137] = "wbinvd",
	[138] = "monitor",
	[139] = "mwait",
	[140] = "mwait_conditional",
	[141] = "xsetbv",
	[142] = "rdpru",
	[143] = "write_efer_trap",
	[144] = "write_cr0_trap",
	[148] = "write_cr4_trap",
	[152] = "write_cr8_trap",
	[160] = "invlpgb",
	[161] = "invlpgb_illegal",
	[162] = "invpcid",
	[163] = "mcommit",
	[164] = "tlbsync",
	[165] = "buslock",
	[166] = "idle-halt",
};

struct name {
	uint32_t reason;
	const char *name;
};

static const struct name svm_far[] = {
	{0x400, "npf"},
	{0x401, "avic_incomplete_ipi"},
	{0x402, "avic_unaccelerated_access"},
	{0x403, "vmgexit"},
	{0x80000001, "vmgexit_mmio_read"},
	{0x80000002, "vmgexit_mmio_write"},
	{0x80000003, "vmgexit_nmi_complete"},
	{0x80000004, "vmgexit_ap_hlt_loop"},
	{0x80000005, "vmgexit_ap_jump_table"},
	{0x80000010, "vmgexit_page_state_change"},
	{0x80000011, "vmgexit_guest_request"},
	{0x80000012, "vmgexit_ext_guest_request"},
	{0x80000013, "vmgexit_ap_creation"},
	{0x8000fffd, "vmgexit_hypervisor_feature"},
	{0xffffffff, "invalid_guest_state"},
};

/* As kvm_arm_exception_class of arch/arm64/include/asm/kvm_arm.h has them; what it
 * lacks, as esr.h beside it has. */
static const char *const arm_traps[] = {
	[0x00] = "UNKNOWN",     [0x01] = "WFx",         [0x03] = "CP15_32",
	[0x04] = "CP15_64",     [0x05] = "CP14_MR",     [0x06] = "CP14_LS",
	[0x07] = "FP_ASIMD",    [0x08] = "CP10_ID",     [0x09] = "PAC",
	[0x0a] = "OTHER",       [0x0c] = "CP14_64",     [0x0d] = "BTI",
	[0x0e] = "ILL",         [0x11] = "SVC32",       [0x12] = "HVC32",
	[0x13] = "SMC32",       [0x15] = "SVC64",       [0x16] = "HVC64",
	[0x17] = "SMC64",       [0x18] = "SYS64",       [0x19] = "SVE",
	[0x1a] = "ERET",        [0x1c] = "FPAC",        [0x1d] = "SME",
	[0x1f] = "IMP_DEF",     [0x20] = "IABT_LOW",    [0x21] = "IABT_CUR",
	[0x22] = "PC_ALIGN",    [0x24] = "DABT_LOW",    [0x25] = "DABT_CUR",
	[0x26] = "SP_ALIGN",    [0x27] = "MOPS",        [0x28] = "FP_EXC32",
	[0x2c] = "FP_EXC64",    [0x2d] = "GCS",         [0x2f] = "SERROR",
	[0x30] = "BREAKPT_LOW", [0x31] = "BREAKPT_CUR", [0x32] = "SOFTSTP_LOW",
	[0x33] = "SOFTSTP_CUR", [0x34] = "WATCHPT_LOW", [0x35] = "WATCHPT_CUR",
	[0x38] = "BKPT32",      [0x3a] = "VECTOR32",    [0x3c] = "BRK64",
};

static const char *const user[] = {
	[0] = "KVM_EXIT_UNKNOWN",
	[1] = "KVM_EXIT_EXCEPTION",
	[2] = "KVM_EXIT_IO",
	[3] = "KVM_EXIT_HYPERCALL",
	[4] = "KVM_EXIT_DEBUG",
	[5] = "KVM_EXIT_HLT",
	[6] = "KVM_EXIT_MMIO",
	[7] = "KVM_EXIT_IRQ_WINDOW_OPEN",
	[8] = "KVM_EXIT_SHUTDOWN",
	[9] = "KVM_EXIT_FAIL_ENTRY",
	[10] = "KVM_EXIT_INTR",
	[11] = "KVM_EXIT_SET_TPR",
	[12] = "KVM_EXIT_TPR_ACCESS",
	[13] = "KVM_EXIT_S390_SIEIC",
	[14] = "KVM_EXIT_S390_RESET",
	[15] = "KVM_EXIT_DCR",
	[16] = "KVM_EXIT_NMI",
	[17] = "KVM_EXIT_INTERNAL_ERROR",
	[18] = "KVM_EXIT_OSI",
	[19] = "KVM_EXIT_PAPR_HCALL",
	[20] = "KVM_EXIT_S390_UCONTROL",
	[21] = "KVM_EXIT_WATCHDOG",
	[22] = "KVM_EXIT_S390_TSCH",
	[23] = "KVM_EXIT_EPR",
	[24] = "KVM_EXIT_SYSTEM_EVENT",
	[25] = "KVM_EXIT_S390_STSI",
	[26] = "KVM_EXIT_IOAPIC_EOI",
	[27] = "KVM_EXIT_HYPERV",
	[28] = "KVM_EXIT_ARM_NISV",
	[29] = "KVM_EXIT_X86_RDMSR",
	[30] = "KVM_EXIT_X86_WRMSR",
	[31] = "KVM_EXIT_DIRTY_RING_FULL",
	[32] = "KVM_EXIT_AP_RESET_HOLD",
	[33] = "KVM_EXIT_X86_BUS_LOCK",
	[34] = "KVM_EXIT_XEN",
	[35] = "KVM_EXIT_RISCV_SBI",
	[36] = "KVM_EXIT_RISCV_CSR",
	[37] = "KVM_EXIT_NOTIFY",
	[38] = "KVM_EXIT_LOONGARCH_IOCSR",
	[39] = "KVM_EXIT_MEMORY_FAULT",
	[40] = "KVM_EXIT_TDX",
};

static const struct name arm[] = {
	{0, "IRQ"},
	{1, "SERROR"},
	{HLG_ARM_TRAP, "TRAP"},
	{3, "IL"},
	{HLG_ARM_HYP_GONE, "HYP_GONE"},
};

static const struct name errors[] = {
	{4, "EINTR"}, {11, "EAGAIN"}, {14, "EFAULT"}, {22, "EINVAL"}, {133, "EHWPOISON"},
};

enum {
	PORT_LOG = 99
};

static const struct name ports_named[] = {
	{PORT_LOG, "Log"},         {HLG_PORT_CALL, "CallFunction"},
	{HLG_PORT_ABORT, "Abort"}, {103, "DebugPrint"},
	{104, "TraceBatch"},       {105, "TraceMemoryAlloc"},
	{106, "TraceMemoryFree"},  {107, "PvTimerConfig"},
	{HLG_PORT_HALT, "Halt"},
};

static const char *find(const struct name *names, size_t n, uint64_t reason)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].reason == reason)
			return names[i].name;
	return NULL;
}

static const char *name_of(unsigned isa, uint32_t reason)
{
	switch (isa) {
	case HLG_ISA_VMX:
		return reason < LENGTH(vmx) ? vmx[reason] : NULL;
	case HLG_ISA_SVM:
		return reason < LENGTH(svm) ? svm[reason]
					    : find(svm_far, LENGTH(svm_far), reason);
	case HLG_ISA_ARM:
		return find(arm, LENGTH(arm), reason);
	case HLG_ISA_ARM_TRAP:
		return reason < LENGTH(arm_traps) ? arm_traps[reason] : NULL;
	case HLG_ISA_USER:
		return reason < LENGTH(user) ? user[reason] : NULL;
	case HLG_ISA_ERRNO:
		return find(errors, LENGTH(errors), reason);
	default:
		return NULL;
	}
}

const char *hlg_exits_reason(unsigned isa, uint32_t reason, char *buf, size_t size)
{
	const char *failed = "", *name;
	uint32_t flags = 0;

	if (isa == HLG_ISA_VMX) {
		flags = reason & ~(uint32_t)VMX_BASIC;
		reason &= VMX_BASIC;
		failed = flags & VMX_FAILED_ENTRY ? " FAILED_VMENTRY" : "";
	}
	name = name_of(isa, reason);
	if (name)
		snprintf(buf, size, "%s%s", name, failed);
	else
		snprintf(buf, size, "0x%x%s", reason, failed);
	return buf;
}

const char *hlg_exits_isa(unsigned isa)
{
	switch (isa) {
	case HLG_ISA_VMX:
		return "VMX";
	case HLG_ISA_SVM:
		return "SVM";
	case HLG_ISA_ARM:
	case HLG_ISA_ARM_TRAP:
		return "ARM";
	case HLG_ISA_USER:
	case HLG_ISA_ERRNO:
		return "KVM";
	default:
		return "?";
	}
}

const char *hlg_exits_port(const struct hlg_calls_ports *ports, uint64_t port)
{
	if (hlg_calls_is_host_call(ports, port))
		return "host call";
	if ((port == PORT_LOG || port == HLG_PORT_CALL) && ports->since_0_18 &&
	    !ports->before_0_18)
		return NULL;
	return find(ports_named, LENGTH(ports_named), port);
}
