/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of microvm. */
#ifndef HLG_TESTS_RIG_OPTIONS_H
#define HLG_TESTS_RIG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define HLG_VM_MIB           (UINT64_C(1) << 20)
#define HLG_VM_SANDBOXES_MAX 256

struct hlg_vm_options {
	const char *guests[HLG_VM_SANDBOXES_MAX];
	uint64_t guest_count;
	uint64_t bases[HLG_VM_SANDBOXES_MAX]; /* guest addresses, as given */
	uint64_t base_count;                  /* 0: the default of the guest's ELF type */
	bool random;                          /* every sandbox at a base of its own */
	uint64_t seed;                        /* for random */
	uint64_t ring;                        /* 0 or 3 */
	uint64_t runs;      /* of each sandbox; at least this many ... */
	uint64_t duration;  /* ... and until these ns are over */
	uint64_t sandboxes; /* VMs, 1 to HLG_VM_SANDBOXES_MAX */
	bool in_turn;       /* all on one thread */
	uint64_t memory;    /* MiB */
	uint64_t deadline;  /* seconds after duration */
	bool verbose;
	uint64_t slots; /* these five: layout.h; 0: one, as the machine has it */
	bool large_pages;
	bool two_tables;
	bool five_levels;
	bool hostile;
};

/* Fills options, which it points into argv. Ends the program if argv makes no sense. */
void hlg_vm_options_parse(struct hlg_vm_options *options, int argc, char **argv);

/* The guest of a sandbox, counted from 0. */
const char *hlg_vm_options_guest(const struct hlg_vm_options *options, uint64_t sandbox);

/* The base of a sandbox, counted from 0; HLG_VM_BASE_UNSET if none was given. */
uint64_t hlg_vm_options_base(const struct hlg_vm_options *options, uint64_t sandbox);

#endif
