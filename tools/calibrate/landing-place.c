// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "symtab/code/code.h"
#include "tools/calibrate/landing.h"

static bool add(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct hlg_landing_truth *truth = ctx;

	(void)insn;
	if (truth->addrs)
		truth->addrs[truth->n] = addr;
	truth->n++;
	return true;
}

/* Twice: how many there are, then which. */
bool hlg_landing_place_know(struct hlg_landing_truth *truth, uint64_t hot)
{
	struct hlg_place place;

	truth->n = 0;
	hlg_image_lookup(truth->guests->image,
			 hlg_guest_image_symbol(truth->guests, truth->function), &place);
	if (!place.symbol)
		return true;
	hlg_code_walk(truth->code, &place, add, truth);
	truth->addrs = calloc(truth->n + 1, sizeof(*truth->addrs));
	if (!truth->addrs)
		return false;
	truth->n = 0;
	hlg_code_walk(truth->code, &place, add, truth);
	truth->hot = truth->n;
	for (size_t i = 0; i < truth->n; i++)
		if (truth->addrs[i] == hot)
			truth->hot = i;
	return true;
}

void hlg_landing_place_forget(struct hlg_landing_truth *truth)
{
	free(truth->addrs);
	truth->addrs = NULL;
}

static size_t find(const struct hlg_landing_truth *truth, uint64_t addr)
{
	for (size_t i = 0; i < truth->n; i++)
		if (truth->addrs[i] == addr)
			return i;
	return truth->n;
}

static void measure(struct hlg_landing_truth *truth, uint64_t addr)
{
	size_t i = find(truth, addr), distance;

	if (truth->hot == truth->n)
		return;
	if (truth->program) {
		truth->land->string += i == truth->hot;
		truth->land->loop += i == truth->hot + 1;
	}
	distance =
		i == truth->n ? HLG_LANDING_FAR : (i + truth->n - truth->hot) % truth->n;
	truth->land->distance[distance < HLG_LANDING_FAR ? distance : HLG_LANDING_FAR]++;
}

void hlg_landing_place(void *ctx, uint64_t ip, bool guest)
{
	struct hlg_landing_truth *truth = ctx;
	struct hlg_land *land = truth->land;
	const char *name = "";
	struct hlg_place place;

	if (!guest) {
		land->host++;
		return;
	}
	land->guest++;
	hlg_image_lookup(truth->guests->image, ip, &place);
	if (place.symbol)
		name = hlg_image_name(truth->guests->image, place.symbol);
	if (!place.symbol)
		land->gap++;
	else if (strcmp(name, truth->function) == 0 ||
		 (truth->caller && strcmp(name, truth->caller) == 0))
		land->right++;
	else
		land->wrong++;
	if (hlg_code_at(truth->code, &place) == HLG_BOUNDARY_OFF)
		land->off++;
	else
		land->on++;
	measure(truth, ip);
}
