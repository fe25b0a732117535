/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FILE.hlguest, which record puts beside the recording FILE: what it knew and the
 * recording does not say. JSON: version and format as all of hlguest's documents, the
 * identity of the recording, and its guests.
 *
 *	{"hlguest": "0.1.0", "format": 1,
 *	 "recording": {"size": BYTES, "first_sample": NS},
 *	 "guests": [{"file": PATH, "inside": "0x20b69", "size": BYTES,
 *		     "build_id": null, "crc32": "0x1234abcd",
 *		     "code_crc32": "0x89abcdef"}]}
 *
 * and of a guest without symbols "stripped": true. Behind these may be a list "others" of
 * the same: what may have run as well. Nothing is named by it, but who names one of these
 * is not told that only the guests ran.
 *
 * It is a foreign file to who reads it. So it is read only if it is a regular file of the
 * user's own, or root's, that others may not write, and of the very recording that it
 * stands beside; and an ELF is taken on its word only if it is what was noted, and, by
 * root, only if root owns it and nobody else may write it.
 */
#ifndef HLG_TOOLS_BESIDE_BESIDE_H
#define HLG_TOOLS_BESIDE_BESIDE_H

#include <limits.h>
#include <stdbool.h>

#include "tools/beside/text.h"

/* FILE.hlguest; false if that is too long to be a name. */
bool hlg_beside_place(char place[static PATH_MAX], const char *recording);

/*
 * Reads what was noted of a recording. Returns 0; 1 if there is nothing: no such file, no
 * regular recording, or a build without jansson; an error, if what is there cannot be
 * used, that says why. The caller finishes *beside in any case.
 */
int hlg_beside_read(struct hlg_beside *beside, const char *recording,
		    struct hlg_err *err);
void hlg_beside_finish(struct hlg_beside *beside);

/* May a file that the user did not name be opened? Root believes root only. */
bool hlg_beside_is_trusted(const char *file);

/*
 * What to name to have the ELF of this guest of a recording: its file, or which of the
 * guests inside it (symtab/image/image.h); to be freed. Fails, and *name is NULL, if it
 * is not there any more, is another one now, or is not to be believed as root.
 */
int hlg_beside_check(const struct hlg_beside_guest *guest, const char *recording,
		     char **name, struct hlg_err *err);

/* Is it this guest's ELF that a file is or has inside, with its symbols or without, or a
 * debug file that has its build id (symtab/image/fingerprint.h)? number: which of those
 * inside, from 1 on; 0: any. */
bool hlg_beside_is(const struct hlg_beside_guest *guest, const char *file, size_t number);

/* Are two the same ELF, at one place of whatever file? */
bool hlg_beside_is_same(const struct hlg_beside_guest *a,
			const struct hlg_beside_guest *b);

/* As hlg_beside_check, for who only tells the user what to name: of a file that is not to
 * be believed as root just the size is looked at. NULL where that fails. */
char *hlg_beside_name(const struct hlg_beside_guest *guest, const char *recording);

/*
 * Notes the n guests, ELFs, stripped or not, or hosts with some inside, of a recording
 * just made; none: it is not known. What was noted of the recording before goes to
 * FILE.old.hlguest with that, or away; and what was noted of this very one are others, as
 * are those files that can be read. Without a guest nothing is written, nor without
 * jansson. Fails, too, where a file that is not of this kind has the name, which is left
 * alone.
 */
int hlg_beside_write(const char *recording, const char *const *guests, size_t n,
		     const char *const *others, size_t n_others, struct hlg_err *err);

#endif
