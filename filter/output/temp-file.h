/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that gets its name when it is whole, in one step.
 *
 * Where the file system can (O_TMPFILE, open(2)) it has no name until then: however the
 * program ends, nothing is left. Elsewhere it is .NAME.hlguest-XXXXXXXXXXXXXXXX, beside
 * NAME, and so it is for the moment in which it takes the place of an older NAME. While
 * somebody writes it it is locked (flock(2)), so that what a killed program left can be
 * told: the next that writes NAME removes those of its own user that nobody has locked.
 *
 * Nothing but new files is written: names are made with O_EXCL, and nothing is looked up
 * in the folder by a path, so that the folder may be moved.
 */
#ifndef HLG_FILTER_OUTPUT_TEMP_FILE_H
#define HLG_FILTER_OUTPUT_TEMP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct hlg_temp_file {
	char *base;    /* the name to be, within the folder; NULL: nothing is begun */
	char *name;    /* its own; NULL: none */
	int folder;    /* open, or -1 */
	bool readable; /* folder can be synced and listed */
};

/*
 * Begins a file that is to be path. mode: what chmod() makes of it; NULL: what open()
 * gives a new file, 0666 but for the umask. Returns it, open for writing, for the caller
 * to close after the commit or abort; -1 and errno.
 */
int hlg_temp_file_open(struct hlg_temp_file *temp, const char *path, const mode_t *mode);

/*
 * Syncs fd and gives it its name, replacing what has it. Returns 0, or -1 and errno: then
 * nothing is left of it, or, if the folder alone could not be synced, it is there, whole.
 */
int hlg_temp_file_commit(struct hlg_temp_file *temp, int fd);

/*
 * A file in folder that never gets a name, for reading and writing, by its user only
 * (0600); it is gone when it is closed. Where the file system has to be given a name for
 * it, that is one for a moment. -1 and errno.
 */
int hlg_temp_file_nameless(const char *folder);

/* Where such a one goes that belongs beside nothing: $TMPDIR, or /tmp. */
const char *hlg_temp_file_folder(void);

/* Writes all bytes, also where signals come; false and errno. */
bool hlg_temp_file_write(int fd, const void *bytes, size_t n);

/* Also of what is not begun, all 0: nothing is done then. */
void hlg_temp_file_abort(struct hlg_temp_file *temp);

#endif
