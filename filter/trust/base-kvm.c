// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/base-kvm.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "filter/view/calls.h"
#include "symtab/bsearch.h"
#include "symtab/unique.h"

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
		struct hlg_base_kvm *bases)
{
	uint64_t bias = ip - addr, base = image->first + bias;

	if (addr < image->first || addr >= image->end || ip < addr - image->first ||
	    bias % PAGE != 0 || base > UINT64_MAX - (image->end - image->first))
		return;
	bases->at[bases->n++] = base;
}

static void sort(struct hlg_base_kvm *bases)
{
	size_t n = HLG_UNIQUE(bases->at, bases->n, hlg_bsearch_compare, NULL);

	bases->left_out = n > HLG_BASE_KVM_MAX ? n - HLG_BASE_KVM_MAX : 0;
	bases->n = n - bases->left_out;
}

bool hlg_base_kvm_find(const struct hlg_image *image, const struct hlg_starts *starts,
		       struct hlg_base_kvm *bases)
{
	uint64_t dispatch = 0;
	bool dispatched;

	*bases = (struct hlg_base_kvm){0};
	if (starts->n == 0 || image->map || image->made || image->elf.wasm)
		return true;
	/* A start is one of three addresses at most. */
	bases->at = calloc(starts->n, 3 * sizeof(*bases->at));
	if (!bases->at)
		return false;
	dispatched = find_dispatch(image, &dispatch);
	for (uint32_t i = 0; i < starts->n; i++) {
		const struct hlg_start *start = &starts->at[i];

		if (dispatched)
			add(image, dispatch, start->ip, bases);
		if (dispatched && !start->halt && image->elf.machine == EM_AARCH64)
			add(image, dispatch + HLG_CALLS_FLUSH, start->ip, bases);
		if (!start->halt)
			add(image, image->elf.entry, start->ip, bases);
	}
	sort(bases);
	return true;
}

void hlg_base_kvm_finish(struct hlg_base_kvm *bases)
{
	free(bases->at);
	*bases = (struct hlg_base_kvm){0};
}

/* That one which the image has already, or NULL. */
static const uint64_t *find_own(const struct hlg_image *image,
				const struct hlg_base_kvm *bases)
{
	for (size_t i = 0; i < bases->n; i++)
		if (hlg_image_lies_at(image, bases->at[i]))
			return &bases->at[i];
	return NULL;
}

/*
 * Of bases at which the image would overlap itself one stays: that which it has, or the
 * lowest. It is one guest's; the other is another's that cannot be told apart, or of
 * another ELF, which has the same place by chance.
 */
static void drop_overlap(struct hlg_image *image, struct hlg_base_kvm *bases)
{
	const uint64_t *found = find_own(image, bases), size = image->end - image->first;
	const uint64_t own = found ? *found : 0;
	bool told = false;
	size_t n = 0;

	for (size_t i = 0; i < bases->n; i++) {
		uint64_t base = bases->at[i], in_the_way = base;

		/* Behind its own that is the last one that stays. */
		if (base < own && own - base < size)
			in_the_way = own;
		else if (n && base - bases->at[n - 1] < size)
			in_the_way = bases->at[n - 1];
		if (in_the_way == base) {
			bases->at[n++] = base;
		} else if (!told) {
			told = image->kvm_overlaps = true;
			image->kvm_base = in_the_way;
			image->kvm_other = base;
		}
	}
	bases->n = n;
}

/* The image stays where it is. Two bases that overlap are told before one that differs.
 */
static void compare(struct hlg_image *image, const struct hlg_base_kvm *bases)
{
	image->kvm_differs = !find_own(image, bases);
	if (!image->kvm_overlaps)
		image->kvm_base = bases->at[0];
}

/* The samples of guests, one by one, have the first word; of what is left KVM's records.
 */
static int add_others(const struct hlg_space *space, struct hlg_image *image,
		      const struct hlg_base_kvm *bases, bool *placed, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && space->n_lanes == 0 && i < bases->n; i++) {
		if (hlg_image_overlaps(image, bases->at[i]))
			continue;
		rc = hlg_image_add_base(image, bases->at[i], err);
		*placed = true;
	}
	if (rc == 0)
		compare(image, bases);
	return rc;
}

static int place(const struct hlg_space *space, struct hlg_image *image,
		 const struct hlg_base_kvm *bases, bool keep, bool *placed,
		 struct hlg_err *err)
{
	const enum hlg_base_from from = image->from;
	const uint64_t base = image->base;
	int rc = 0;

	/* Two that agree are one; and the samples have the last word, once they had it.
	 */
	if ((bases->n == 1 && hlg_image_lies_at(image, bases->at[0])) ||
	    (from == HLG_BASE_FOUND && image->refused_from != HLG_BASE_NONE))
		return 0;
	if (from == HLG_BASE_FOUND)
		return add_others(space, image, bases, placed, err);
	if (from == HLG_BASE_STATED || (keep && from != HLG_BASE_NONE)) {
		compare(image, bases);
		return 0;
	}
	if (from != HLG_BASE_NONE && !find_own(image, bases)) {
		image->refused = base;
		image->refused_from = from;
	}
	for (size_t i = 0; rc == 0 && i < bases->n; i++)
		rc = i ? hlg_image_add_base(image, bases->at[i], err)
		       : hlg_image_set_base(image, bases->at[i], HLG_BASE_KVM, err);
	image->kvm_left_out = bases->left_out;
	*placed = true;
	return rc;
}

int hlg_base_kvm_place(struct hlg_space *space, const struct hlg_starts *starts,
		       bool keep, bool *placed, struct hlg_err *err)
{
	struct hlg_base_kvm bases;
	int rc = 0;

	*placed = false;
	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (!hlg_base_kvm_find(image, starts, &bases))
			return hlg_err_memory(err, image->path);
		/* In lanes guests are told apart that lie across each other. */
		if (space->n_lanes == 0 || image->from != HLG_BASE_FOUND)
			drop_overlap(image, &bases);
		if (bases.n)
			rc = place(space, image, &bases, keep, placed, err);
		hlg_base_kvm_finish(&bases);
	}
	return rc;
}

/* Halts of one thread together. */
static int by_thread(const void *a, const void *b)
{
	const struct hlg_start *x = *(const struct hlg_start *const *)a;
	const struct hlg_start *y = *(const struct hlg_start *const *)b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The first halts of calls, by thread: how many; 0 also without memory. */
static uint32_t collect_halts(const struct hlg_space *space,
			      const struct hlg_starts *starts,
			      const struct hlg_start ***halts)
{
	uint32_t n = 0;

	*halts = starts->n ? calloc(starts->n, sizeof(const struct hlg_start *)) : NULL;
	for (uint32_t i = 0; *halts && i < starts->n; i++)
		if (starts->at[i].halt && hlg_calls_enter_at(space, starts->at[i].ip))
			(*halts)[n++] = &starts->at[i];
	if (n)
		qsort(*halts, n, sizeof(const struct hlg_start *), by_thread);
	return n;
}

struct hlg_base_kvm_shared hlg_base_kvm_shared(const struct hlg_space *space,
					       const struct hlg_starts *starts)
{
	struct hlg_base_kvm_shared shared = {0};
	const struct hlg_start **halts;
	uint32_t n = collect_halts(space, starts, &halts);

	for (uint32_t i = 0, next; i < n; i = next) {
		uint32_t sandboxes = 0;

		for (next = i; next < n && halts[next]->tid == halts[i]->tid; next++)
			sandboxes += halts[next]->times;
		if (sandboxes < 2)
			continue;
		if (shared.threads++ == 0)
			shared.tid = halts[i]->tid;
		shared.sandboxes += sandboxes;
	}
	free(halts);
	return shared;
}
