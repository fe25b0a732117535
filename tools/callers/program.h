/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's part (sampler.bpf.c): loaded, attached to the events of a perf that runs,
 * and emptied. It lies in this program, is loaded once for each recording, and nothing
 * gives it a name (no file below /sys/fs/bpf): it is gone with perf's events and us,
 * however we end.
 *
 * Loading needs CAP_BPF and CAP_PERFMON, and a kernel with BTF. Attaching needs what
 * ptrace(2) needs of perf (PTRACE_MODE_ATTACH_REALCREDS, pidfd_getfd(2)), as its parent
 * has it unless yama's ptrace_scope is 2 or 3, or perf has rights of its own. Else, a
 * kernel whose functions can be traced (CONFIG_FUNCTION_TRACER, kernel.ftrace_enabled).
 */
#ifndef HLG_TOOLS_CALLERS_PROGRAM_H
#define HLG_TOOLS_CALLERS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "symtab/err.h"
#include "tools/callers/stack.h"

/* Bytes of the ring: at 16,000 samples a second with 60 callers each, one second. */
#define HLG_CALLERS_PROGRAM_RING (8u << 20)

/* Where stacks are copied, this many copies, if they are not larger than 32 KiB. */
#define HLG_CALLERS_PROGRAM_COPIES 2048

struct hlg_callers_program;

/* Gets a stack, which is gone when it returns. False ends the emptying: no memory. */
typedef bool hlg_callers_stack_fn(void *ctx, const struct hlg_callers_stack *stack);

/* The same with a copy, of which there is no more than its size. */
typedef bool hlg_callers_copy_fn(void *ctx, const struct hlg_callers_copy *copy);

/* Has this build one? */
bool hlg_callers_program_is_built(void);

/*
 * Loads it. *program is for the caller to close; NULL after an error, which says why this
 * machine, kernel, user or build cannot, and what would help.
 */
int hlg_callers_program_open(struct hlg_callers_program **program,
			     hlg_callers_stack_fn *stack, void *ctx, struct hlg_err *err);

/* The same, to copy up to room bytes of each stack (HLG_WALK_COPY_MAX at most, more than
 * 0) and to follow no frame pointers. */
int hlg_callers_program_open_copies(struct hlg_callers_program **program, uint64_t room,
				    hlg_callers_copy_fn *copy, void *ctx,
				    struct hlg_err *err);
void hlg_callers_program_close(struct hlg_callers_program *program);

/*
 * Attaches it to every event that samples, of those that the process perf has open; to
 * threads that their tasks make later it goes with the event. perf keeps its samples.
 * Where its events cannot be had, to the kernel's function that they call for each.
 * Fails if there is none that takes it.
 */
int hlg_callers_program_attach(struct hlg_callers_program *program, pid_t perf,
			       struct hlg_err *err);

/* Hands over the stacks that are there. Call it ten times a second: nothing wakes us. */
int hlg_callers_program_empty(struct hlg_callers_program *program, struct hlg_err *err);

/* Stacks that the ring had no room for. */
uint64_t hlg_callers_program_full(const struct hlg_callers_program *program);

#endif
