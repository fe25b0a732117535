// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/base-kvm.h"

#include <elf.h>
#include <string.h>

#include "filter/view/calls.h"

#define PAGE UINT64_C(4096)

static bool find_dispatch(const struct hlg_image *image, uint64_t *addr)
{
	for (size_t i = 0; i < image->tab.n_syms; i++) {
		const struct hlg_symbol *symbol = &image->tab.syms[i];

		if (strcmp(hlg_image_name(image, symbol), HLG_CALLS_DISPATCH) != 0)
			continue;
		*addr = symbol->addr;
		return true;
	}
	return false;
}

/* Adds the base at which the image's own address is the guest's ip, if there is one. */
static void add(const struct hlg_image *image, uint64_t addr, uint64_t ip,
		uint64_t bases[static HLG_BASE_KVM_MAX], size_t *n)
{
	uint64_t bias = ip - addr, base = image->first + bias;

	if (addr < image->first || addr >= image->end || ip < addr - image->first ||
	    bias % PAGE != 0 || base > UINT64_MAX - (image->end - image->first))
		return;
	for (size_t i = 0; i < *n; i++)
		if (bases[i] == base)
			return;
	if (*n < HLG_BASE_KVM_MAX)
		bases[(*n)++] = base;
}

size_t hlg_base_kvm_find(const struct hlg_image *image, const struct hlg_starts *starts,
			 uint64_t bases[static HLG_BASE_KVM_MAX])
{
	uint64_t dispatch = 0;
	bool dispatched;
	size_t n = 0;

	if (starts->n == 0 || image->map || image->made || image->elf.wasm)
		return 0;
	dispatched = find_dispatch(image, &dispatch);
	for (uint32_t i = 0; i < starts->n; i++) {
		const struct hlg_start *start = &starts->at[i];

		if (dispatched)
			add(image, dispatch, start->ip, bases, &n);
		if (dispatched && !start->halt && image->elf.machine == EM_AARCH64)
			add(image, dispatch + HLG_CALLS_FLUSH, start->ip, bases, &n);
		if (!start->halt)
			add(image, image->elf.entry, start->ip, bases, &n);
	}
	return n;
}

/*
 * Of bases at which the image would overlap itself one stays, *n is 1 then: one that it
 * has, or the first. It is one guest's; the other is another's that cannot be told apart,
 * or of another ELF, which has the same place by chance.
 */
static void drop_overlap(struct hlg_image *image, uint64_t *bases, size_t *n)
{
	uint64_t size = image->end - image->first;
	size_t keep = 0, other = 0;

	for (size_t i = 0; i < *n; i++)
		for (size_t j = 0; j < i; j++)
			if (bases[i] < bases[j] + size && bases[j] < bases[i] + size)
				other = i;
	if (other == 0)
		return;
	while (keep < *n && !hlg_image_lies_at(image, bases[keep]))
		keep++;
	keep = keep < *n ? keep : 0;
	image->kvm_overlaps = true;
	image->kvm_base = bases[keep];
	image->kvm_other = bases[keep == other ? 0 : other];
	bases[0] = bases[keep];
	*n = 1;
}

static int place(struct hlg_image *image, const uint64_t *bases, size_t n, bool keep,
		 bool *placed, struct hlg_err *err)
{
	const enum hlg_base_from from = image->from;
	const uint64_t base = image->base;
	int rc = 0;

	/* Two that agree are one; and the samples have the last word, once they had it.
	 */
	if ((n == 1 && hlg_image_lies_at(image, bases[0])) ||
	    image->refused_from == HLG_BASE_KVM)
		return 0;
	if (from == HLG_BASE_STATED || (keep && from != HLG_BASE_NONE)) {
		image->kvm_differs = !hlg_image_lies_at(image, bases[0]);
		image->kvm_base = bases[0];
		return 0;
	}
	if (from != HLG_BASE_NONE && !hlg_image_lies_at(image, bases[0])) {
		image->refused = base;
		image->refused_from = from;
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = i ? hlg_image_add_base(image, bases[i], err)
		       : hlg_image_set_base(image, bases[i], HLG_BASE_KVM, err);
	*placed = true;
	return rc;
}

int hlg_base_kvm_place(struct hlg_space *space, const struct hlg_starts *starts,
		       bool keep, bool *placed, struct hlg_err *err)
{
	uint64_t bases[HLG_BASE_KVM_MAX];
	int rc = 0;

	*placed = false;
	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];
		size_t n = hlg_base_kvm_find(image, starts, bases);

		drop_overlap(image, bases, &n);
		if (n)
			rc = place(image, bases, n, keep, placed, err);
	}
	return rc;
}

/* Is it dispatch_function, of any ELF and at any of its bases? */
static bool is_dispatch(const struct hlg_space *space, uint64_t ip)
{
	uint64_t own;

	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		if (!find_dispatch(image, &own))
			continue;
		for (size_t b = 0; b < hlg_image_n_bases(image); b++)
			if (ip == own - image->first + hlg_image_base(image, b).base)
				return true;
	}
	return false;
}

struct hlg_base_kvm_shared hlg_base_kvm_shared(const struct hlg_space *space,
					       const struct hlg_starts *starts)
{
	struct hlg_base_kvm_shared shared = {0};
	bool counted[HLG_STARTS] = {false};

	for (uint32_t i = 0; i < starts->n; i++) {
		uint32_t sandboxes = 0;

		for (uint32_t j = i; j < starts->n; j++) {
			const struct hlg_start *at = &starts->at[j];

			if (counted[j] || !at->halt || at->tid != starts->at[i].tid ||
			    !is_dispatch(space, at->ip))
				continue;
			counted[j] = true;
			sandboxes += at->times;
		}
		if (sandboxes < 2)
			continue;
		if (shared.threads++ == 0)
			shared.tid = starts->at[i].tid;
		shared.sandboxes += sandboxes;
	}
	return shared;
}
