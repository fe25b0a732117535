/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that the debug information of an ELF leads to: libdw opens them by whatever name
 * stands there, waits for who writes to a FIFO, and touches devices. So it is kept from
 * what is no regular file, and root from all that does not lie below /usr/lib/debug:
 * elsewhere others may write.
 */
#ifndef HLG_TOOLS_SOURCE_SOURCE_FILES_H
#define HLG_TOOLS_SOURCE_SOURCE_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* A session that looks for separate debug files so, and asks no server. */
Dwfl *hlg_source_files_begin(void);

/*
 * May dwarf be asked for names? Not if some are in a file that it shares with others
 * (.gnu_debugaltlink, as dwz makes it) and that is not found by its build id: libdw would
 * look for it by its name.
 */
bool hlg_source_files_shared(Dwarf *dwarf);

/* May unit's other half (.dwo) be looked for? path is the file that unit is in. */
bool hlg_source_files_split(Dwarf_Die *unit, const char *path);

#endif
