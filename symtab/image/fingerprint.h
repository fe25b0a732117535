/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is an image this build of an ELF? By what was noted of that, where it may be no more:
 * its code, which is the same before strip and after. So an ELF that was patched under
 * its build id is another, and one with another id whose code is the same has the same
 * names. Where either has no code, or none was noted, as of a file that the VMM mapped,
 * its build id tells; without one its bytes.
 */
#ifndef HLG_SYMTAB_IMAGE_FINGERPRINT_H
#define HLG_SYMTAB_IMAGE_FINGERPRINT_H

#include "symtab/image/image.h"

struct hlg_fingerprint {
	/* Lower-case hex; "": it has none. Recordings cut it to 20 bytes. */
	char build_id[HLG_NOTE_BUILD_ID];
	uint64_t size; /* bytes; 0: only the build id is known */
	uint32_t crc;  /* of these (symtab/elf/debug-file.h) */
	uint32_t code; /* of its code; 0: it has none, or only its bytes were noted */
};

enum hlg_likeness {
	HLG_LIKENESS_UNKNOWN, /* nothing can be compared */
	HLG_LIKENESS_SAME,
	HLG_LIKENESS_OTHER
};

/* An image's own fingerprint, of which no more is read than is asked for; all zero but
 * for the image before. */
struct hlg_fingerprint_reader {
	const struct hlg_image *image;
	struct hlg_fingerprint own;
	bool has_crc, has_code;
};

/* All of an image's. Fails if it cannot be read. */
int hlg_fingerprint_take(struct hlg_fingerprint *print, const struct hlg_image *image,
			 struct hlg_err *err);

/* Are two of the same file? Their code is not asked for, which one may lack. */
bool hlg_fingerprint_is_same(const struct hlg_fingerprint *a,
			     const struct hlg_fingerprint *b);

/* Is an image the very file that was noted, whose code is not read for that? False, too,
 * where it cannot be read. */
bool hlg_fingerprint_is_file(const struct hlg_image *image,
			     const struct hlg_fingerprint *noted);

/* Is the image what was noted? What cannot be read, and a perf map, is unknown. */
enum hlg_likeness hlg_fingerprint_compare(struct hlg_fingerprint_reader *reader,
					  const struct hlg_fingerprint *noted);

/* Have both a build id, and is it not the same? */
bool hlg_fingerprint_has_other_id(const struct hlg_image *image,
				  const struct hlg_fingerprint *noted);

#endif
