// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's part where this build has none. */
#include <stddef.h>

#include "tools/callers/program.h"

bool hlg_callers_program_is_built(void)
{
	return false;
}

int hlg_callers_program_open(struct hlg_callers_program **program,
			     hlg_callers_stack_fn *stack, void *ctx, struct hlg_err *err)
{
	(void)stack;
	(void)ctx;
	*program = NULL;
	return hlg_err_set(
		err, HLG_EINPUT,
		"this hlguest was built without BPF (on x86-64, install clang and "
		"libbpf-dev, and build it again)");
}

int hlg_callers_program_open_copies(struct hlg_callers_program **program, uint64_t room,
				    hlg_callers_copy_fn *copy, void *ctx,
				    struct hlg_err *err)
{
	(void)room;
	(void)copy;
	return hlg_callers_program_open(program, NULL, ctx, err);
}

void hlg_callers_program_close(struct hlg_callers_program *program)
{
	(void)program;
}

int hlg_callers_program_attach(struct hlg_callers_program *program, pid_t perf,
			       struct hlg_err *err)
{
	(void)perf;
	return hlg_callers_program_empty(program, err);
}

int hlg_callers_program_empty(struct hlg_callers_program *program, struct hlg_err *err)
{
	(void)program;
	return hlg_err_set(err, HLG_EINPUT, "this hlguest was built without BPF");
}

uint64_t hlg_callers_program_full(const struct hlg_callers_program *program)
{
	(void)program;
	return 0;
}
