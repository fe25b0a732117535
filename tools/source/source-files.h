/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that the debug information of an ELF leads to. Its debug file is found by
 * symtab/elf/debug-file.h. What DWARF names besides, libdw opens by whatever name stands
 * there, waits for who writes to a FIFO, and touches devices. So it is kept from what is
 * no regular file, and root from all that does not lie below /usr/lib/debug: elsewhere
 * others may write.
 *
 * Of each file libdw inflates all compressed sections of debug information at once, to
 * whatever size they tell (Elf64_Chdr, gABI chapter 4), so they are vetted before. Each
 * may tell 1 MiB; and 32 times the bytes that it has, or 10 times if libdw makes
 * structures of them (.debug_info, .debug_types, .debug_abbrev, .debug_line: a byte of
 * lines takes a hundred of memory). Measured, in executables of C, C++, Rust and Go that
 * were compressed by zlib and zstd: up to 5 times in these, up to 13 times in others
 * (.debug_ranges of Rust). A file that tells more is not opened, nor a separate one that
 * is no ELF, as libdwfl would inflate all of it.
 */
#ifndef HLG_TOOLS_SOURCE_SOURCE_FILES_H
#define HLG_TOOLS_SOURCE_SOURCE_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "symtab/image/image.h"

/* A session that looks for debug files so, and asks no server. */
Dwfl *hlg_source_files_begin(void);

/*
 * The debug information of an image that is an ELF, or of its debug file; NULL when there
 * is none. *err (empty before) then tells if a file was left out for its size, or because
 * it is not the debug file of this ELF; *module is of dwfl, and NULL where the file
 * cannot be read.
 */
Dwarf *hlg_source_files_open(Dwfl *dwfl, const struct hlg_image *image,
			     Dwfl_Module **module, struct hlg_err *err);

/*
 * May dwarf be asked for names? Not if some are in a file that it shares with others
 * (.gnu_debugaltlink, as dwz makes it) and that is not found by its build id: libdw would
 * look for it by its name. *err as above.
 */
bool hlg_source_files_shared(Dwarf *dwarf, struct hlg_err *err);

/*
 * May unit's other half (.dwo) be looked for? path is the file that unit is in; *err as
 * above.
 */
bool hlg_source_files_split(Dwarf_Die *unit, const char *path, struct hlg_err *err);

#endif
