// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/rans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

/* Room for an image. False without memory. */
static bool make_room(struct hlg_rans *rans, size_t image)
{
	while (rans->n <= image) {
		if (!HLG_GROW(rans->at, rans->n))
			return false;
		rans->at[rans->n++] = (struct hlg_ran){0};
	}
	return true;
}

/* The least of builds counts, so that the order does not. False without memory. */
static bool keep_least(struct hlg_ran *ran, const char *file, const char *id)
{
	int order = ran->file ? strcmp(file, ran->file) : -1;
	char *copy;

	if (order > 0 || (order == 0 && strcmp(id, ran->id) >= 0))
		return true;
	copy = strdup(file);
	if (!copy)
		return false;
	free(ran->file);
	free(ran->in);
	ran->file = copy;
	ran->in = NULL;
	ran->more_in = false;
	snprintf(ran->id, sizeof(ran->id), "%s", id);
	return true;
}

void hlg_rans_add(struct hlg_rans *rans, size_t image, enum hlg_identity identity,
		  const char *file, const char *id)
{
	if (!make_room(rans, image)) {
		rans->lost = true;
		return;
	}
	rans->at[image].identities |= 1u << identity;
	rans->lost |=
		hlg_rans_has_file(identity) && !keep_least(&rans->at[image], file, id);
}

/* Adds a recording in which the same build ran, which may be told twice. False without
 * memory. */
static bool add_in(struct hlg_ran *ran, const char *in)
{
	const int order = ran->in ? strcmp(in, ran->in) : -1;
	char *copy;

	ran->more_in |= ran->in && order != 0;
	if (order >= 0)
		return true;
	copy = strdup(in);
	if (!copy)
		return false;
	free(ran->in);
	ran->in = copy;
	return true;
}

void hlg_rans_name(struct hlg_rans *rans, size_t image, const char *recording)
{
	struct hlg_ran *ran = image < rans->n ? &rans->at[image] : NULL;

	if (ran && ran->file)
		rans->lost |= !add_in(ran, recording);
}

/* Of an image of which both tell the same build. */
static void merge_in(struct hlg_rans *to, const struct hlg_rans *from, size_t image)
{
	struct hlg_ran *ran = image < to->n ? &to->at[image] : NULL;
	const struct hlg_ran *more = &from->at[image];

	if (!ran || !ran->file || !more->in || strcmp(ran->file, more->file) != 0 ||
	    strcmp(ran->id, more->id) != 0)
		return;
	to->lost |= !add_in(ran, more->in);
	ran->more_in |= more->more_in;
}

void hlg_rans_written(struct hlg_rans *rans, int64_t when)
{
	if (when && (rans->written == 0 || when < rans->written))
		rans->written = when;
}

void hlg_rans_merge(struct hlg_rans *to, const struct hlg_rans *from)
{
	hlg_rans_written(to, from->written);
	to->more |= from->more;
	to->lost |= from->lost;
	for (size_t i = 0; i < from->n; i++) {
		for (int k = 0; k < HLG_N_IDENTITIES; k++)
			if (from->at[i].identities >> k & 1)
				hlg_rans_add(to, i, (enum hlg_identity)k,
					     from->at[i].file, from->at[i].id);
		merge_in(to, from, i);
	}
}

void hlg_rans_finish(struct hlg_rans *rans)
{
	for (size_t i = 0; i < rans->n; i++) {
		free(rans->at[i].file);
		free(rans->at[i].in);
	}
	free(rans->at);
	*rans = (struct hlg_rans){0};
}

enum hlg_identity hlg_rans_worst(const struct hlg_ran *ran)
{
	int worst = HLG_IDENTITY_OTHER;

	if (hlg_rans_is_absent(ran))
		return HLG_IDENTITY_OTHER;
	while (worst > HLG_IDENTITY_UNKNOWN && !(ran->identities >> worst & 1))
		worst--;
	return (enum hlg_identity)worst;
}

bool hlg_rans_is_absent(const struct hlg_ran *ran)
{
	return ran->identities == 1u << HLG_IDENTITY_ABSENT;
}

bool hlg_rans_has_file(enum hlg_identity identity)
{
	return identity == HLG_IDENTITY_OTHER || identity == HLG_IDENTITY_ABSENT;
}
