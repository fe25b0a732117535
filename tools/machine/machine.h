/* SPDX-License-Identifier: GPL-2.0-only */
/* This machine: a calibration is of its processor, kernel and KVM only. */
#ifndef HLG_TOOLS_MACHINE_MACHINE_H
#define HLG_TOOLS_MACHINE_MACHINE_H

#include <stdbool.h>

struct hlg_machine {
	char cpu[128];    /* "model name" of /proc/cpuinfo */
	char kernel[192]; /* release, version */
	char kvm[64];     /* kvm_intel, kvm_amd ...; "" without a module's name */
	char date[32];    /* ISO 8601, UTC */
	bool intel;       /* it has a processor of Intel's */
	bool guest;       /* it is a virtual machine itself */
	double load;      /* load average of the last minute, at the begin */
	long cpus;        /* online */
};

/* Fills what can be known; the rest is empty or 0. root is "" but in tests: a folder that
 * has another proc and sys in it. */
void hlg_machine_look(struct hlg_machine *machine, const char *root);

#endif
