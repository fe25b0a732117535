/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks an image all there is to ask: where it lies, what stands at the borders of what it
 * has, what that is called, where instructions begin. What comes back must make sense.
 */
#ifndef HLG_TESTS_FUZZ_LOOK_H
#define HLG_TESTS_FUZZ_LOOK_H

#include "symtab/image/image.h"

/* Takes image over. */
void door_look(struct hlg_image *image);

#endif
