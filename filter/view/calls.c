// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/calls.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/image/image-bases.h"
#include "symtab/image/lane.h"

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

bool hlg_calls_enter(const struct hlg_image *image, const struct hlg_symbol *symbol,
		     uint64_t offset)
{
	return symbol &&
	       (offset == 0 ||
		(offset == HLG_CALLS_FLUSH && image->elf.machine == EM_AARCH64)) &&
	       strcmp(hlg_image_name(image, symbol), HLG_CALLS_DISPATCH) == 0;
}

/* How often an image was entered where it starts, not because it was left there. All
 * lanes have all that is known of an address. */
static uint64_t starts_of(const struct hlg_image *image,
			  const struct hlg_transits *transits)
{
	uint64_t starts = 0;

	for (size_t i = 0; i < hlg_image_n_bases(image); i++) {
		struct hlg_transit at = hlg_transits_at(
			transits, image->elf.entry + hlg_image_base(image, i).bias);

		if (hlg_image_bases_first(image, i) != i)
			continue;
		starts += at.entries > at.exits ? at.entries - at.exits : 0;
	}
	return starts;
}

static struct hlg_calls_ports ports_of(const struct hlg_space *space)
{
	struct hlg_calls_ports ports = {0};

	for (size_t i = 0; i < space->n_images; i++)
		hlg_calls_ports_add(&ports, space->images[i]->elf.hyperlight);
	return ports;
}

/* Is anything known of calls? */
static bool is_known(const struct hlg_calls_ports *ports,
		     const struct hlg_profile *profile)
{
	const struct hlg_transits *t = &profile->transits;

	return ports->halts && t->crossed && !t->lost;
}

/* Of those that are shown, is all? */
static bool is_whole(const struct hlg_profile *profile)
{
	return profile->deselected.samples == 0 ||
	       hlg_select_whole_sandboxes(profile->options);
}

/* starts: how many of the halts end no call. */
static struct hlg_calls calls_of(const struct hlg_ports *ports, uint64_t starts,
				 const struct hlg_calls_ports *versions)
{
	return (struct hlg_calls){
		.guest = ports->halts > starts ? ports->halts - starts : 0,
		.host = (versions->before_0_18 ? ports->calls : 0) +
			(versions->since_0_18 ? ports->notifies : 0),
		.host_ns = (versions->before_0_18 ? ports->calls_ns : 0) +
			   (versions->since_0_18 ? ports->notifies_ns : 0),
		.time_ns = ports->guest_ns + ports->exits_ns,
	};
}

static bool is_entry(const struct hlg_space *space, uint64_t ip)
{
	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		for (size_t j = 0; j < hlg_image_n_bases(image); j++)
			if (hlg_lane_ip(image->elf.entry +
					hlg_image_base(image, j).bias) == ip)
				return true;
	}
	return false;
}

bool hlg_calls_enter_at(const struct hlg_space *space, uint64_t ip)
{
	for (unsigned lane = 0; lane == 0 || lane < space->n_lanes; lane++) {
		struct hlg_place place;

		hlg_space_lookup(space, ip + hlg_lane_move(lane), &place);
		if (hlg_calls_enter(place.image, place.symbol, place.addr - place.start))
			return true;
	}
	return false;
}

/* How often a sandbox's ELF was started: once in each recording of it, or not at all if
 * it began as a snapshot. False if it began as nothing that the space has. */
static bool starts_of_sandbox(const struct hlg_sandbox *of, const struct hlg_space *space,
			      uint64_t *starts)
{
	*starts = is_entry(space, of->entered) ? of->n_entered : 0;
	/* So does a guest begin that was made of a snapshot. */
	return *starts || of->n_entered == 0 || hlg_calls_enter_at(space, of->entered);
}

bool hlg_calls_of_sandbox(struct hlg_calls *calls, const struct hlg_space *space,
			  const struct hlg_profile *profile, uint32_t number)
{
	const struct hlg_sandbox *of = &profile->sandboxes.at[number - 1];
	struct hlg_calls_ports ports = ports_of(space);
	uint64_t starts;

	if (!is_known(&ports, profile) || !is_whole(profile) ||
	    !starts_of_sandbox(of, space, &starts))
		return false;
	*calls = calls_of(&of->ports, starts, &ports);
	return true;
}

/* Of all. False if a sandbox began as nothing that the space has, or if only some of the
 * recordings tell which sandboxes began. */
static bool count_starts(uint64_t *starts, const struct hlg_space *space,
			 const struct hlg_profile *profile)
{
	const struct hlg_sandboxes *all = &profile->sandboxes;

	*starts = 0;
	if (all->n && profile->unlisted)
		return false;
	for (size_t i = 0; i < space->n_images && all->n == 0; i++)
		*starts += starts_of(space->images[i], &profile->transits);
	for (uint32_t i = 0; i < all->n; i++) {
		uint64_t of;

		if (!starts_of_sandbox(&all->at[i], space, &of))
			return false;
		*starts += of;
	}
	return true;
}

bool hlg_calls_count(struct hlg_calls *calls, const struct hlg_space *space,
		     const struct hlg_profile *profile)
{
	const struct hlg_transits *t = &profile->transits;
	struct hlg_calls_ports ports = ports_of(space);
	uint64_t starts;

	if (!is_known(&ports, profile) || profile->deselected.samples ||
	    !count_starts(&starts, space, profile))
		return false;
	*calls = calls_of(&t->ports, starts, &ports);
	return t->ports.halts + calls->host > 0;
}
