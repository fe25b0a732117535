/* SPDX-License-Identifier: GPL-2.0-only */
/* The linked guests, as they are, for guest.c. */
	.section .rodata
	.globl	hlg_guests_elf
	.globl	hlg_guests_elf_end
	.hidden	hlg_guests_elf
	.hidden	hlg_guests_elf_end
	.p2align 4
hlg_guests_elf:
	.incbin	"guests.elf"
hlg_guests_elf_end:
	.section .note.GNU-stack, "", @progbits
