// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/calls.h"

#include <stdio.h>
#include <stdlib.h>

void hlg_calls_ports_add(struct hlg_calls_ports *ports, const char *version)
{
	char digits[3][4]; /* %u would take signs and blanks */
	unsigned long number = 0;

	if (sscanf(version, "%3[0-9].%3[0-9].%3[0-9]", digits[0], digits[1], digits[2]) !=
	    3)
		return;
	for (int i = 0; i < 3; i++)
		number = 1000 * number + strtoul(digits[i], NULL, 10);
	ports->before_0_18 |= number < 18000;
	ports->since_0_18 |= number >= 18000;
	ports->halts |= number >= 13001;
}

bool hlg_calls_is_host_call(const struct hlg_calls_ports *ports, uint64_t port)
{
	return (ports->before_0_18 && port == HLG_PORT_CALL) ||
	       (ports->since_0_18 && port == HLG_PORT_NOTIFY);
}

/* How often an image was entered where it starts, not because it was left there. */
static uint64_t starts_of(const struct hlg_image *image,
			  const struct hlg_transits *transits)
{
	uint64_t starts = 0;

	for (size_t i = 0; i < hlg_image_n_bases(image); i++) {
		struct hlg_transit at = hlg_transits_at(
			transits, image->elf.entry + hlg_image_base(image, i).bias);

		starts += at.entries > at.exits ? at.entries - at.exits : 0;
	}
	return starts;
}

bool hlg_calls_count(struct hlg_calls *calls, const struct hlg_space *space,
		     const struct hlg_profile *profile)
{
	const struct hlg_transits *t = &profile->transits;
	struct hlg_calls_ports ports = {0};
	uint64_t starts = 0;

	for (size_t i = 0; i < space->n_images; i++) {
		hlg_calls_ports_add(&ports, space->images[i]->elf.hyperlight);
		starts += starts_of(space->images[i], t);
	}
	*calls = (struct hlg_calls){
		.guest = t->halts > starts ? t->halts - starts : 0,
		.host = (ports.before_0_18 ? t->calls : 0) +
			(ports.since_0_18 ? t->notifies : 0),
	};
	if (profile->deselected.samples || profile->sandboxes.n > starts)
		return false;
	return ports.halts && t->n && !t->lost && t->halts + calls->host;
}
