/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One guest in one machine, and what it did.
 *
 * The guest speaks as a Hyperlight guest speaks to its host, with out to a port, or as a
 * Linux program to its kernel. A run lasts from the entry point to Halt, hlt or exit. A
 * guest's memory is kept between its runs, but a hosted program (see load.h) starts anew.
 *
 * A sandbox is used by one thread. Functions return 0 or a negative errno with err set.
 */
#ifndef HLG_TESTS_RIG_SANDBOX_H
#define HLG_TESTS_RIG_SANDBOX_H

#include <stdint.h>
#include <sys/types.h>

#include "tests/rig/layout.h"
#include "tests/rig/load.h"
#include "tests/rig/options.h"
#include "tests/rig/process.h"
#include "tools/vm/machine.h"

struct hlg_err;

#define HLG_VM_PORT_COUNT 256

/* The caller's memory, zeroed. */
struct hlg_vm_sandbox {
	const struct hlg_vm_options *options;
	uint64_t number; /* from 0 */
	pid_t tid;       /* of the thread it runs on; perf's samples have it */
	struct hlg_vm_machine machine;
	struct hlg_vm_layout layout;
	struct hlg_vm_image image;
	struct hlg_vm_process process; /* of a hosted guest */
	uint64_t runs;
	uint64_t exits[HLG_VM_PORT_COUNT];
	uint64_t hlts;
	uint64_t calls;
};

/* Makes the machine and loads the guest, with options and number set. */
int hlg_vm_sandbox_init(struct hlg_vm_sandbox *sandbox, struct hlg_err *err);

/* Leaves the numbers. For a zeroed sandbox too, and after a failed init. */
void hlg_vm_sandbox_finish(struct hlg_vm_sandbox *sandbox);

int hlg_vm_sandbox_run(struct hlg_vm_sandbox *sandbox, struct hlg_err *err);

/* Hyperlight's name of a port with a space before it, or "". */
const char *hlg_vm_sandbox_port(unsigned int port);

#endif
