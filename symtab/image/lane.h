/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lanes: guests that lie at the same addresses, told apart. No guest has addresses of
 * more than 56 bits and their sign, so the bits above tell whose an address is: moved by
 * its lane it is an address like any other, of a space in which all guests have room.
 */
#ifndef HLG_SYMTAB_IMAGE_LANE_H
#define HLG_SYMTAB_IMAGE_LANE_H

#include <stdint.h>

enum {
	HLG_LANE_BITS = 57,
	HLG_LANE_SHARED = 125,  /* no images but those that guests of all lanes run */
	HLG_LANE_SEVERAL = 126, /* of a sandbox: it ran images of several; and */
	HLG_LANE_NOBODY = 127   /* no image is in these: for what nobody can tell */
};

/* What the addresses of a lane are moved by; of lane 0 by nothing. */
static inline uint64_t hlg_lane_move(unsigned lane)
{
	return (uint64_t)lane << HLG_LANE_BITS;
}

static inline unsigned hlg_lane_of(uint64_t ip)
{
	return (unsigned)((ip + ((uint64_t)1 << (HLG_LANE_BITS - 1))) >> HLG_LANE_BITS);
}

/* The guest's own address. */
static inline uint64_t hlg_lane_ip(uint64_t ip)
{
	return ip - hlg_lane_move(hlg_lane_of(ip));
}

#endif
