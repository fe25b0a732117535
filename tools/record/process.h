/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guests of VMMs that run already: what their command lines name, or what lies inside
 * their programs (command.h). They are others' words: root opens only what root owns and
 * nobody else may write (tools/beside/beside.h), and of a process in another root folder
 * nothing is opened.
 */
#ifndef HLG_TOOLS_RECORD_PROCESS_H
#define HLG_TOOLS_RECORD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/beside/text.h"

/* All zero before the first use. */
struct hlg_record_guests {
	char *paths[HLG_BESIDE_GUESTS]; /* each file once; as they were added */
	size_t n;
	/* The same of what else may be one (command.h): where none of the above is found
	 * these are guests without symbols. */
	char *others[HLG_BESIDE_GUESTS];
	size_t n_others;
	bool module;     /* the second is one that the first runs */
	bool several;    /* one command has several, which may run in turn on a thread */
	bool full;       /* there was no room for a further one */
	char *untrusted; /* a program that root did not look into, the first; or NULL */
};

/* Adds a file. Without memory, or room, it is left out, as in the next ones. */
void hlg_record_guests_add(struct hlg_record_guests *guests, const char *path);

/* Adds the guests of a command (command.h), and a module that it runs, as far as they are
 * found; false: none with symbols is. */
bool hlg_record_guests_add_command(struct hlg_record_guests *guests,
				   char *const *command);

/* Adds the guests of a process, if any are found. */
void hlg_record_process_add(struct hlg_record_guests *guests, int32_t pid);

/* The same of a list of processes as perf's -p has it: "17,18". */
void hlg_record_process_add_list(struct hlg_record_guests *guests, const char *pids);

/* Fails if one of them does not run. */
int hlg_record_process_check_list(const char *pids, struct hlg_err *err);

/* The same as _add of all processes that have a machine of KVM's, as far as this user
 * sees them.
 */
void hlg_record_process_add_vmms(struct hlg_record_guests *guests);

/* The guest, if it is known which one runs; or NULL. */
const char *hlg_record_guests_only(const struct hlg_record_guests *guests);

void hlg_record_guests_finish(struct hlg_record_guests *guests);

#endif
