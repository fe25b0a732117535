// SPDX-License-Identifier: GPL-2.0-only
#include "tests/rig/sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symtab/err.h"

#define STACK_SHARE 16 /* of the window, the stack is one part in so many */

enum port {
	PORT_LOG = 99,
	PORT_CALL = 101,
	PORT_ABORT = 102,
	PORT_PRINT = 103,
	PORT_HALT = 108,
};

const char *hlg_vm_sandbox_port(unsigned int port)
{
	switch (port) {
	case PORT_LOG:
		return " Log";
	case PORT_CALL:
		return " CallFunction";
	case PORT_ABORT:
		return " Abort";
	case PORT_PRINT:
		return " DebugPrint";
	case PORT_HALT:
		return " Halt";
	default:
		return "";
	}
}

static int load(struct hlg_vm_sandbox *sandbox, struct hlg_err *err)
{
	const struct hlg_vm_machine *machine = &sandbox->machine;
	struct hlg_vm_window window = {
		.mem = machine->memory,
		.size = machine->window - machine->window / STACK_SHARE,
	};

	return hlg_vm_load(hlg_vm_options_guest(sandbox->options, sandbox->number),
			   hlg_vm_options_base(sandbox->options, sandbox->number), window,
			   &sandbox->image, err);
}

int hlg_vm_sandbox_init(struct hlg_vm_sandbox *sandbox, struct hlg_err *err)
{
	struct hlg_vm_machine *machine = &sandbox->machine;
	int rc = hlg_vm_machine_init(machine, sandbox->options->memory * HLG_VM_MIB, err);

	if (rc < 0)
		return rc;
	sandbox->tid = (pid_t)syscall(SYS_gettid);
	rc = load(sandbox, err);
	if (rc == 0)
		rc = hlg_vm_machine_map(machine, sandbox->image.base, NULL, 0, err);
	if (rc == 0)
		rc = hlg_vm_layout_init(&sandbox->layout, machine, sandbox->options,
					sandbox->image.base, err);
	if (rc == 0 && sandbox->image.hosted)
		rc = hlg_vm_process_init(&sandbox->process, machine, &sandbox->image,
					 machine->window / STACK_SHARE, err);
	return rc;
}

void hlg_vm_sandbox_finish(struct hlg_vm_sandbox *sandbox)
{
	hlg_vm_process_finish(&sandbox->process);
	hlg_vm_layout_finish(&sandbox->layout);
	if (sandbox->machine.memory)
		hlg_vm_machine_finish(&sandbox->machine);
}

/* A hosted program has written to its data, and counts on zeroes elsewhere. */
static int start_hosted(struct hlg_vm_sandbox *sandbox, struct hlg_vm_start *start,
			struct hlg_err *err)
{
	struct hlg_vm_machine *machine = &sandbox->machine;
	int rc = 0;

	if (sandbox->runs > 0) {
		rc = hlg_vm_memory_clear(machine, 0, machine->window, err);
		if (rc == 0)
			rc = load(sandbox, err);
	}
	return rc < 0 ? rc : hlg_vm_process_start(&sandbox->process, start, err);
}

static int start(struct hlg_vm_sandbox *sandbox, struct hlg_err *err)
{
	const struct hlg_vm_image *image = &sandbox->image;
	struct hlg_vm_start start = {
		.rip = image->entry,
		/* As if called: 8 below a multiple of 16 (System V ABI, 3.2.2). */
		.rsp = image->base + sandbox->machine.window - 8,
		.ring = (uint8_t)sandbox->options->ring,
	};
	int rc = 0;

	hlg_vm_layout_turn(&sandbox->layout, &sandbox->machine, sandbox->runs);
	if (image->hosted)
		rc = start_hosted(sandbox, &start, err);
	return rc < 0 ? rc : hlg_vm_machine_start(&sandbox->machine, &start, err);
}

static int take_call(struct hlg_vm_sandbox *sandbox, struct hlg_err *err)
{
	int rc;

	sandbox->calls++;
	if (!sandbox->image.hosted)
		return hlg_err_set(err, -EIO,
				   "guest: a system call, but it has no PT_TLS (only "
				   "programs that a C library starts may make any)");
	rc = hlg_vm_process_call(&sandbox->process, err);
	return rc < 0 ? rc : sandbox->process.exited;
}

/* Returns 1 if the exit ends the run, 0 if the guest goes on, or a negative errno. */
static int take_exit(struct hlg_vm_sandbox *sandbox, const struct hlg_vm_exit *exit,
		     struct hlg_err *err)
{
	if (exit->halted) {
		sandbox->hlts++;
		return 1;
	}
	if (exit->call)
		return take_call(sandbox, err);
	if (sandbox->options->verbose)
		printf("port %u%s: 0x%" PRIx32 "\n", exit->port,
		       hlg_vm_sandbox_port(exit->port), exit->value);
	if (exit->port >= HLG_VM_PORT_COUNT)
		return hlg_err_set(err, -EIO,
				   "guest: out to port %u (only ports below %d are used)",
				   exit->port, HLG_VM_PORT_COUNT);
	sandbox->exits[exit->port]++;
	if (exit->port == PORT_ABORT)
		return hlg_err_set(err, -EIO,
				   "guest: it aborted with code 0x%" PRIx32
				   " (see --verbose)",
				   exit->value);
	return exit->port == PORT_HALT;
}

int hlg_vm_sandbox_run(struct hlg_vm_sandbox *sandbox, struct hlg_err *err)
{
	struct hlg_vm_exit exit;
	int rc = start(sandbox, err);

	while (rc == 0) {
		rc = hlg_vm_machine_step(&sandbox->machine, &exit, err);
		if (rc == 0)
			rc = take_exit(sandbox, &exit, err);
	}
	if (rc < 0)
		return rc;
	sandbox->runs++;
	return 0;
}
