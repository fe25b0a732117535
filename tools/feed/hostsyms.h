/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of host functions, as perf has them, from the files of this machine: what is
 * mapped in a recorded process has a path, and where the recording tells a build id, the
 * file must have it. The symbols are those of .symtab, of a stripped file those of its
 * debug file (symtab/elf/debug-file.h), else of .dynsym; of the kernel those of
 * /proc/kallsyms if the kernel that runs is the recorded one, a symbol ending where the
 * next begins. Of names of one address the one is taken that perf takes
 * (choose_best_symbol, tools/perf/util/symbol.c).
 *
 * Each file is read once, HLG_HOSTSYMS_MAX of them at most. May be asked by several
 * threads at once. Names live as long as the struct.
 */
#ifndef HLG_TOOLS_FEED_HOSTSYMS_H
#define HLG_TOOLS_FEED_HOSTSYMS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/profile/strings.h"

#define HLG_HOSTSYMS_MAX 4096

/* Build ids of a recording, by path. */
struct hlg_buildid {
	uint8_t id[20], size;
};

struct hlg_buildids {
	struct hlg_strings paths;
	struct hlg_buildid *ids; /* of each path */
};

/* The last that is said of a path counts. False without memory. */
bool hlg_hostsyms_build_ids_set(struct hlg_buildids *ids, const char *path,
				const uint8_t *id, size_t size);

/* NULL if it is not known. */
const struct hlg_buildid *hlg_hostsyms_build_ids_get(const struct hlg_buildids *ids,
						     const char *path);
void hlg_hostsyms_build_ids_finish(struct hlg_buildids *ids);

struct hlg_hostfile;
struct hlg_hostkernel;

struct hlg_hostsyms {
	pthread_mutex_t lock;
	bool demangle;
	struct hlg_strings keys, names; /* of files: build id and path; of functions */
	struct hlg_hostfile *files;     /* one for each key */
	struct hlg_hostkernel *kernel;  /* NULL: not asked for, or no memory */
	bool kernel_is_untold, kernel_is_other, file_is_other, too_many;
	char other[256]; /* the file, of all the first by name */
};

void hlg_hostsyms_init(struct hlg_hostsyms *syms, bool demangle);
void hlg_hostsyms_finish(struct hlg_hostsyms *syms);

/* The function at an offset of a file; NULL if none is known. */
const char *hlg_hostsyms_user(struct hlg_hostsyms *syms, const char *path,
			      const struct hlg_buildid *id, uint64_t offset);

/*
 * The same at a kernel's address. id is that of the recorded kernel, NULL if it is not
 * known; text is where it had _text or _stext.
 */
const char *hlg_hostsyms_kernel(struct hlg_hostsyms *syms, const struct hlg_buildid *id,
				uint64_t text, uint64_t ip);

/*
 * That kernel, from files like /proc/kallsyms and /sys/kernel/notes; what cannot be read
 * leaves it without symbols, or without a build id. NULL without memory.
 */
struct hlg_hostkernel *hlg_hostsyms_kernel_read(const char *kallsyms, const char *notes);

#endif
