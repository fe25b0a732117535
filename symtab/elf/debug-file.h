/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the debug file of an ELF is: what was split off by objcopy --only-keep-debug or
 * eu-strip -f, with the symbols and lines that strip took away.
 *
 * FOLDER is /usr/lib/debug, or what HLGUEST_DEBUG_DIR names; empty there, none is looked
 * for. Tried, in the order of gdb's manual ("Separate Debug Files"):
 *  - FOLDER/.build-id/ab/cdef.debug, for the build id abcdef
 *  - NAME beside the ELF, and .debug/NAME there; where the ELF's name is a symbolic link,
 *    then beside the file that it leads to
 *  - FOLDER/PATH/NAME, PATH being the ELF's absolute folder, and FOLDER/NAME
 * NAME is that of .gnu_debuglink, or without one GUEST.debug. A name with a slash is
 * none. As root only what lies below FOLDER is opened: elsewhere others may write. Of the
 * file NAME beside the ELF root only asks whether it is there, to say that it is not
 * used.
 *
 * After these, the ELF as it was before strip: GUEST.dbg beside it, and .build/GUEST.dbg
 * there, as Unikraft's build has it. It is the ELF's if all their segments have the same
 * addresses and sizes, and their code is the same (hlg_debug_file_code_crc).
 *
 * Any other file is the ELF's if both have a build id and it is the same, else if its
 * CRC-32 is that of .gnu_debuglink; and if its sections of code lie where the ELF's do.
 * Only regular files are opened.
 */
#ifndef HLG_SYMTAB_ELF_DEBUG_FILE_H
#define HLG_SYMTAB_ELF_DEBUG_FILE_H

#include "symtab/elf/elf64.h"

#define HLG_DEBUG_FILE_ENV "HLGUEST_DEBUG_DIR"

struct hlg_debug_file {
	char *path;             /* NULL: none was found */
	struct hlg_elf64 elf;   /* of path, as hlg_elf64_read_debug has it */
	struct hlg_err refused; /* why the first that is not the ELF's is not used; "" */
	bool denied; /* that is so because it may not be read, and none was refused else
		      */
};

/*
 * The debug file of the ELF at path, which *elf was read from, if only in part.
 * Fails without memory, or where a file can be opened but not read; the caller finishes
 * *file in any case.
 */
int hlg_debug_file_find(struct hlg_debug_file *file, const char *path,
			const struct hlg_elf64 *elf, struct hlg_err *err);
void hlg_debug_file_finish(struct hlg_debug_file *file);

/* The CRC-32 that .gnu_debuglink has, of the first size bytes of an open file. */
int hlg_debug_file_crc(int fd, const char *path, off_t size, uint32_t *crc,
		       struct hlg_err *err);

/*
 * A CRC-32 of an ELF's code, by which it is known with and without its symbols: of each
 * segment of code in the file where it lies, and its bytes, but not the file's headers.
 * elf was read from fd. 0: it has none, or more than 4 GiB.
 */
int hlg_debug_file_code_crc(int fd, const char *path, const struct hlg_elf64 *elf,
			    uint32_t *crc, struct hlg_err *err);

#endif
