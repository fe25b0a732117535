/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols in the format of /proc/kallsyms, `%016x T name`, for perf kvm --guestkallsyms.
 *
 * The format has no sizes: to perf a symbol ends where the next line begins. Write errors
 * stay on the stream.
 */
#ifndef HLG_TOOLS_KALLSYMS_KALLSYMS_H
#define HLG_TOOLS_KALLSYMS_KALLSYMS_H

#include <stdio.h>

#include "symtab/image/space.h"

/*
 * All symbols of a settled space as hlguest attributes them, by guest address: a line
 * wherever the owner of the bytes changes, `__gap__` where nobody owns them, so also
 * behind the last symbol; `_text` and `_stext` in front, at the first address of code
 * (perf takes the start of the guest's map from them).
 */
int hlg_kallsyms_write(FILE *f, const struct hlg_space *space, struct hlg_err *err);

#endif
