// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/walked.h"

#include <stddef.h>
#include <string.h>

struct walked *walked;

/* Slots may overlap, or end behind all memory. */
static bool is_inside(const struct walked *guest, uint64_t hva)
{
	for (size_t i = 0; i < WALKED_SLOTS; i++) {
		const struct hlg_walk_slot *slot = &guest->slots[i];

		if (slot->pages && !slot->invalid && hva - slot->hva < slot->pages * 4096)
			return true;
	}
	return false;
}

bool hlg_walk_env_read(uint64_t host, uint64_t *to)
{
	uint64_t at = host - WALKED_HVA;

	walked->reads++;
	walked->outside |= !is_inside(walked, host) || host % 8;
	if (at >= WALKED_SIZE || host % 8 || at - walked->hole < walked->hole_size)
		return false;
	*to = walked->memory[at / 8];
	if (walked->chaos) {
		/* Often nearly what stands there: present, in memory, or a little higher.
		 */
		walked->chaos = walked->chaos * UINT64_C(6364136223846793005) + 1442695;
		if (walked->chaos >> 62)
			*to += walked->chaos >> 40 & 0x3f8;
		else
			*to = (walked->chaos >> 12 & (WALKED_SIZE - 1)) | 7;
	}
	return true;
}

bool hlg_walk_env_copy(struct hlg_walk_copy *copy, uint64_t at, uint64_t host, uint64_t n)
{
	uint64_t from = host - WALKED_HVA;

	walked->reads++;
	walked->outside |= !is_inside(walked, host) || !is_inside(walked, host + n - 1) ||
			   n == 0 || n > HLG_WALK_PAGE || at >= HLG_WALK_COPY_MAX;
	if (walked->outside || from >= WALKED_SIZE || n > WALKED_SIZE - from ||
	    from - walked->hole < walked->hole_size)
		return false;
	memcpy(copy->bytes + at, (const uint8_t *)walked->memory + from, n);
	return true;
}

bool hlg_walk_env_slot(uint64_t node, uint64_t back, struct hlg_walk_slot *slot)
{
	(void)back;
	walked->nodes++;
	if (node == 0 || node > WALKED_SLOTS)
		return false;
	*slot = walked->slots[node - 1];
	return true;
}

void hlg_walk_env_repeat(uint32_t n, hlg_walk_step_fn *step, struct hlg_walk *walk)
{
	for (uint32_t i = 0; i < n && step(i, &walk) == 0; i++)
		;
}

void hlg_walk_env_repeat_copy(uint32_t n, hlg_walk_step_fn *step,
			      struct hlg_walk_copy *copy)
{
	for (uint32_t i = 0; i < n && step(i, copy) == 0; i++)
		;
}

void walked_map(struct walked *guest, uint64_t cr3, unsigned levels, uint64_t virt,
		uint64_t phys, uint64_t size, uint64_t *next)
{
	uint64_t table = cr3;

	for (unsigned level = levels;; level--) {
		unsigned shift = 12 + 9 * (level - 1);
		uint64_t *entry = &guest->memory[table / 8 + (virt >> shift) % 512];

		if (size >> shift == 1) {
			*entry = phys | 1 | (level > 1 ? 0x80 : 0);
			return;
		}
		if (!*entry) {
			*entry = *next | 1;
			*next += 4096;
		}
		table = *entry & ~UINT64_C(4095);
	}
}
