/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's part as clang made it, for program.c. */
	.section .rodata
	.globl	hlg_callers_sampler
	.globl	hlg_callers_sampler_end
	.hidden	hlg_callers_sampler
	.hidden	hlg_callers_sampler_end
	.p2align 4
hlg_callers_sampler:
	.incbin	"sampler.bpf.o"
hlg_callers_sampler_end:
	.section .note.GNU-stack, "", @progbits
