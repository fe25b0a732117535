// SPDX-License-Identifier: GPL-2.0-only
/* A reason's name is that of its isa; what has none is a number. */
#include "tools/exits/reasons.h"

#include "tests/kit/tap.h"

#ifdef __x86_64__
#include <asm/svm.h>
#include <asm/vmx.h>
#include <linux/kvm.h>
#endif

static const struct {
	unsigned isa;
	uint32_t reason;
	const char *name;
} known[] = {
	/* SDM, volume 3, appendix C. */
	{HLG_ISA_VMX, 0, "EXCEPTION_NMI"},
	{HLG_ISA_VMX, 12, "HLT"},
	{HLG_ISA_VMX, 30, "IO_INSTRUCTION"},
	{HLG_ISA_VMX, 48, "EPT_VIOLATION"},
	{HLG_ISA_VMX, 77, "TDCALL"},
	{HLG_ISA_VMX, 0x80000021, "INVALID_STATE FAILED_VMENTRY"},
	{HLG_ISA_VMX, 0x80000023, "0x23 FAILED_VMENTRY"},
	{HLG_ISA_VMX, 35, "0x23"},
	{HLG_ISA_VMX, 0x7b, "0x7b"},
	/* APM, volume 2, appendix C. */
	{HLG_ISA_SVM, 0x4e, "PF excp"},
	{HLG_ISA_SVM, 0x78, "hlt"},
	{HLG_ISA_SVM, 0x7b, "io"},
	{HLG_ISA_SVM, 0x400, "npf"},
	{HLG_ISA_SVM, 0xffffffff, "invalid_guest_state"},
	{HLG_ISA_SVM, 0x399, "0x399"},
	/* kvm_asm.h and esr.h of arch/arm64/include/asm; what of ESR_EL2.EC has no name.
	 */
	{HLG_ISA_ARM, 0, "IRQ"},
	{HLG_ISA_ARM, 0xbadca11, "HYP_GONE"},
	{HLG_ISA_ARM, 4, "0x4"},
	{HLG_ISA_ARM_TRAP, 0, "UNKNOWN"},
	{HLG_ISA_ARM_TRAP, 0x16, "HVC64"},
	{HLG_ISA_ARM_TRAP, 0x24, "DABT_LOW"},
	{HLG_ISA_ARM_TRAP, 0x3c, "BRK64"},
	{HLG_ISA_ARM_TRAP, 0x3b, "0x3b"},
	{HLG_ISA_ARM_TRAP, 0x3d, "0x3d"},
	/* linux/kvm.h */
	{HLG_ISA_USER, 2, "KVM_EXIT_IO"},
	{HLG_ISA_USER, 17, "KVM_EXIT_INTERNAL_ERROR"},
	{HLG_ISA_USER, 39, "KVM_EXIT_MEMORY_FAULT"},
	{HLG_ISA_USER, 1000, "0x3e8"},
	{HLG_ISA_ERRNO, 4, "EINTR"},
	{HLG_ISA_NONE, 12, "0xc"},
	{77, 12, "0xc"},
};

START_TEST(names)
{
	char buf[64];

	ck_assert_str_eq(
		hlg_exits_reason(known[_i].isa, known[_i].reason, buf, sizeof(buf)),
		known[_i].name);
}
END_TEST

#ifdef __x86_64__
static const struct reason {
	uint32_t reason;
	const char *name;
} of_vmx[] = {VMX_EXIT_REASONS}, of_svm[] = {SVM_EXIT_REASONS};

static void check(unsigned isa, const struct reason *reasons, size_t n)
{
	char buf[64];

	for (size_t i = 0; i < n; i++) {
		const char *name =
			hlg_exits_reason(isa, reasons[i].reason, buf, sizeof(buf));

		if (strncmp(name, "0x", 2) != 0)
			ck_assert_str_eq(name, reasons[i].name);
	}
}

/* What both know has one name; kernel headers may be newer. */
START_TEST(names_of_the_kernel)
{
	/* The last of VMX is a bit. */
	check(HLG_ISA_VMX, of_vmx, sizeof(of_vmx) / sizeof(of_vmx[0]) - 1);
	check(HLG_ISA_SVM, of_svm, sizeof(of_svm) / sizeof(of_svm[0]));
}
END_TEST
#endif

START_TEST(ports_of_no_version)
{
	const struct hlg_calls_ports unknown = {0};

	ck_assert_str_eq(hlg_exits_port(&unknown, 101), "CallFunction");
	ck_assert_str_eq(hlg_exits_port(&unknown, 108), "Halt");
	ck_assert_ptr_null(hlg_exits_port(&unknown, 109));
	ck_assert_ptr_null(hlg_exits_port(&unknown, UINT64_MAX));
}
END_TEST

static const struct {
	const char *version;
	struct hlg_calls_ports ports;
} versions[] = {
	{"", {0}},
	{"0.18", {0}},
	{"-0.18.0", {0}},
	{"0.13.0", {.before_0_18 = true}},
	{"0.13.1", {.before_0_18 = true, .halts = true}},
	{"0.17.9", {.before_0_18 = true, .halts = true}},
	{"0.18.0", {.since_0_18 = true, .halts = true}},
	{"1.0.0-rc1", {.since_0_18 = true, .halts = true}},
};

START_TEST(ports_move)
{
	struct hlg_calls_ports ports = {0};
	bool before = versions[_i].ports.before_0_18,
	     since = versions[_i].ports.since_0_18;
	const char *call;

	hlg_calls_ports_add(&ports, versions[_i].version);
	ck_assert_int_eq(ports.before_0_18, before);
	ck_assert_int_eq(ports.since_0_18, since);
	ck_assert_int_eq(ports.halts, versions[_i].ports.halts);
	ck_assert_int_eq(hlg_calls_is_host_call(&ports, 101), before);
	ck_assert_int_eq(hlg_calls_is_host_call(&ports, 109), since);
	call = hlg_exits_port(&ports, since ? 109 : 101);
	ck_assert_str_eq(call, before || since ? "host call" : "CallFunction");
	ck_assert_int_eq(!hlg_exits_port(&ports, 99), since);
}
END_TEST

/* Guests of two versions in one recording: each has its ports. */
START_TEST(versions_add_up)
{
	struct hlg_calls_ports ports = {0};

	hlg_calls_ports_add(&ports, "0.17.0");
	hlg_calls_ports_add(&ports, "0.18.0");
	ck_assert_str_eq(hlg_exits_port(&ports, 101), "host call");
	ck_assert_str_eq(hlg_exits_port(&ports, 109), "host call");
	ck_assert_str_eq(hlg_exits_port(&ports, 99), "Log");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exits reasons");
	TCase *tc = tap_case(suite, "names");

	tcase_add_loop_test(tc, names, 0, sizeof(known) / sizeof(known[0]));
#ifdef __x86_64__
	tcase_add_test(tc, names_of_the_kernel);
#endif
	tcase_add_test(tc, ports_of_no_version);
	tcase_add_loop_test(tc, ports_move, 0, sizeof(versions) / sizeof(versions[0]));
	tcase_add_test(tc, versions_add_up);
	return tap_main(suite);
}
