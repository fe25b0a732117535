/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FILE@snapshot:DIR: an ELF where a snapshot of Hyperlight, as 0.18 saves them, has it.
 *
 * DIR is an OCI image layout (image-spec 1.0: index.json, blobs/sha256/DIGEST). Its one
 * manifest names a configuration, application/vnd.hyperlight.snapshot.config, where
 * layout.code_virt_base is the guest's base, and the memory, which begins with the image
 * as it was loaded. Nothing outside of DIR is opened: no links, and no names but these.
 */
#ifndef HLG_TOOLS_INPUTS_SNAPSHOT_H
#define HLG_TOOLS_INPUTS_SNAPSHOT_H

#include <stdbool.h>

#include "symtab/err.h"

/* Is it such a folder, by its looks? */
bool hlg_snapshot_is(const char *path);

/*
 * *word becomes FILE@BASE, to be freed; NULL if given is no FILE@snapshot:DIR. Fails if
 * DIR cannot be read, if the code in its memory is not FILE's, byte by byte, and without
 * jansson; and for a blob of such a folder, which is no ELF to report with. All of that
 * is HLG_ESYSTEM, as words are read meanwhile (symtab/err.h), which are not at fault.
 */
int hlg_snapshot_word(char **word, const char *given, struct hlg_err *err);

#endif
