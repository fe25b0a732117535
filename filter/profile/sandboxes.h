/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sandboxes of a recording: machines of KVM, one after another or at once in the
 * threads of a VMM. Only the command's feed tells them apart (tools/feed/turns.h).
 */
#ifndef HLG_FILTER_PROFILE_SANDBOXES_H
#define HLG_FILTER_PROFILE_SANDBOXES_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/profile/count.h"
#include "filter/profile/ports.h"

struct hlg_sandbox {
	int32_t pid, fd; /* of its first vCPU; -1: not one of all recordings */
	uint32_t vcpus;  /* how many it has, of those that ran */
	unsigned lane;   /* of images (symtab/image/lane.h), where there are several */
	struct hlg_count count;
	struct hlg_ports ports;
	/* Where it was entered first, in so many recordings; HLG_SANDBOX_SEVERAL: not at
	 * one address in all of them. */
	uint64_t entered;
	uint32_t n_entered;
};

#define HLG_SANDBOX_SEVERAL UINT64_MAX

/* All zero before the first use. */
struct hlg_sandboxes {
	struct hlg_sandbox *at;  /* that of a number is at[number - 1] */
	uint32_t n; /* 0: nothing is known of any */
	bool lost;  /* some, for want of memory: then nothing is known */
};

/* A new one, the next number's. False without memory. */
bool hlg_sandboxes_add(struct hlg_sandboxes *sandboxes, int32_t pid, int32_t fd);

/* Counts a sample of a sandbox; 0: of none that is known. */
void hlg_sandboxes_count(struct hlg_sandboxes *sandboxes, uint32_t sandbox,
			 struct hlg_count count);

/* Adds what else is known of a sandbox: of another one, or a recording of it. */
void hlg_sandboxes_use(struct hlg_sandbox *to, const struct hlg_sandbox *from);

/* Adds up those of one number, as of several recordings. */
void hlg_sandboxes_merge(struct hlg_sandboxes *to, const struct hlg_sandboxes *from);

void hlg_sandboxes_finish(struct hlg_sandboxes *sandboxes);

#endif
