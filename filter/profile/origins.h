/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which recordings a profile is of: on which hosts they were made, which images they may
 * have samples of, and what was named but could not be read. Sums are the same in
 * whatever order and groups they are made, and their size goes by hosts and images.
 */
#ifndef HLG_FILTER_PROFILE_ORIGINS_H
#define HLG_FILTER_PROFILE_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Saved profiles have these numbers. */
enum hlg_origin_kind {
	HLG_ORIGIN_HOST,           /* key: its name; "" where a recording tells none */
	HLG_ORIGIN_IMAGE,          /* its build id, or without one its path */
	HLG_ORIGIN_UNREAD,         /* a recording that could not be read: what was said */
	HLG_ORIGIN_UNREAD_PROFILE, /* a saved profile, of an unknown number of them */
	HLG_N_ORIGIN_KINDS
};

enum {
	HLG_ORIGINS_UNREAD = 16 /* of each kind so many are named, the first by key */
};

struct hlg_origin {
	enum hlg_origin_kind kind;
	char *key;  /* what tells it */
	char *name; /* what to show: the smallest that was said */
	uint64_t n; /* recordings; of unread ones how often they were named */
};

/* All zero before the first. */
struct hlg_origins {
	struct hlg_origin *at; /* by kind, then key */
	size_t n;
	uint64_t unread, unread_profiles; /* all of them */
	bool lost; /* there was no memory for one: no report must be made of it */
};

/* Adds n recordings that have this origin; the texts are copied. */
void hlg_origins_add(struct hlg_origins *origins, enum hlg_origin_kind kind,
		     const char *key, const char *name, uint64_t n);

/* The same for one that could not be read, for this reason; counted in the sums, too. */
void hlg_origins_add_unread(struct hlg_origins *origins, bool profile, const char *why);

void hlg_origins_merge(struct hlg_origins *to, const struct hlg_origins *from);

/* How many there are of a kind; *first is the place of the first. */
size_t hlg_origins_of(const struct hlg_origins *origins, enum hlg_origin_kind kind,
		      size_t *first);

void hlg_origins_finish(struct hlg_origins *origins);

#endif
