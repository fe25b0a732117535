/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libdw maps the ELF and the debug files that belong to it. Where a file has become
 * shorter than its mapping, the kernel sends SIGBUS (mmap(2)): the program ends with
 * status 1 then, and one line that names the ELF.
 */
#ifndef HLG_TOOLS_SOURCE_SHRUNK_H
#define HLG_TOOLS_SOURCE_SHRUNK_H

struct hlg_shrunk {
	char line[1100]; /* as it is written */
};

void hlg_shrunk_init(struct hlg_shrunk *shrunk, const char *path);

/* SIGBUS is about this from now on, which is not moved meanwhile; NULL: about nothing. */
void hlg_shrunk_watch(const struct hlg_shrunk *shrunk);

#endif
