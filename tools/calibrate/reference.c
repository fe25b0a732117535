// SPDX-License-Identifier: GPL-2.0-only
/* Published figures, to hold one's own against. */
#include "tools/calibrate/calibration.h"

#define XPERF      "xperf, its README"
#define TORVALDS   "L. Torvalds, Google+, 30 April 2014"
#define UNTRACED   "published; its first source is not known here"
#define HYPERLIGHT "Hyperlight, benchmarks of its CI"

const struct hlg_reference hlg_references[] = {
	{"page fault, u2k, in a VM", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_u2k", 600, 600,
	 "cycles"},
	{"page fault, k2u, in a VM", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_k2u", 370, 370,
	 "cycles"},
	{"page fault, u2k, bare metal", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_u2k", 440,
	 440, "cycles"},
	{"page fault, k2u, bare metal", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_k2u", 270,
	 270, "cycles"},
	{"page fault, u2k, bare metal", "Haswell", TORVALDS, "fault_u2k", 715, 715,
	 "cycles"},
	{"iret, bare metal", "Haswell", TORVALDS, "fault_k2u", 330, 330, "cycles"},
	{"exit that KVM serves at once, and back", "Emerald Rapids", UNTRACED, "cpuid",
	 860, 1120, "cycles"},
	{"KVM_RUN and back (576 + 1,376 + 576)", "AMD, SVM", UNTRACED, "kvm_run", 2528,
	 2528, "cycles"},
	{"VMCALL and back", "i7-3960X", UNTRACED, "hypercall", 1600, 1700, "cycles"},
	{"a call into a Hyperlight guest", "not told", HYPERLIGHT, NULL, 11500, 13000,
	 "ns"},
	{"the same, which calls the host once", "not told", HYPERLIGHT, NULL, 20700,
	 24500, "ns"},
};

const size_t hlg_n_references = sizeof(hlg_references) / sizeof(hlg_references[0]);
