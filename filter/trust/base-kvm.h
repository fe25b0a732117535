/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bases from KVM's records (filter/profile/starts.h): a thread first enters a guest at
 * its entry point, or that of a snapshot, which is dispatch_function; and with that
 * address Hyperlight's guests halt for the first time. What is written there differs from
 * the ELF's own address by the base, which is whole pages: other addresses seldom do.
 */
#ifndef HLG_FILTER_TRUST_BASE_KVM_H
#define HLG_FILTER_TRUST_BASE_KVM_H

#include "filter/profile/starts.h"
#include "symtab/image/space.h"

enum {
	HLG_BASE_KVM_MAX = 1024 /* bases of one image, at most */
};

struct hlg_base_kvm {
	uint64_t *at; /* each once, ascending */
	size_t n;
	size_t left_out; /* above them, beyond HLG_BASE_KVM_MAX */
};

/* The bases of an ELF, to be freed: hlg_base_kvm_finish. False without memory. */
bool hlg_base_kvm_find(const struct hlg_image *image, const struct hlg_starts *starts,
		       struct hlg_base_kvm *bases);
void hlg_base_kvm_finish(struct hlg_base_kvm *bases);

/*
 * Places the ELFs of a space at all bases that KVM's records have for them; of those that
 * overlap, at the one that the file states, else the lowest, and kvm_overlaps is set.
 * *placed: any was moved. kvm_left_out: bases beyond HLG_BASE_KVM_MAX. What the file said
 * otherwise is in image->refused. A base that the user stated stays, and with keep
 * (strict-base=) what the file states: then kvm_differs has it. Fails as
 * hlg_image_add_base does.
 */
int hlg_base_kvm_place(struct hlg_space *space, const struct hlg_starts *starts,
		       bool keep, bool *placed, struct hlg_err *err);

/* Threads that made several sandboxes. */
struct hlg_base_kvm_shared {
	uint32_t threads, sandboxes;
	int32_t tid; /* of that of these threads with the lowest number */
};

/*
 * Which threads' guests halted for the first time more than once, with the address that
 * an ELF of the space has for dispatch_function where it lies: each time it is another
 * sandbox. One that was made from a snapshot does not do so, and is not counted. Nothing
 * without memory: it is for a remark.
 */
struct hlg_base_kvm_shared hlg_base_kvm_shared(const struct hlg_space *space,
					       const struct hlg_starts *starts);

#endif
