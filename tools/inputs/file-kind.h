/* SPDX-License-Identifier: GPL-2.0-only */
/* What an argument seems to be, by its shape and the file's first bytes. */
#ifndef HLG_TOOLS_INPUTS_FILE_KIND_H
#define HLG_TOOLS_INPUTS_FILE_KIND_H

enum hlg_file_kind {
	HLG_FILE_KIND_RECORDING, /* or a saved profile, standard input, a FIFO */
	HLG_FILE_KIND_IMAGE,     /* an ELF; map:FILE and FILE@BASE whatever they are */
	HLG_FILE_KIND_FOLDER,    /* but not of a recording */
	HLG_FILE_KIND_OTHER,     /* among them what does not exist, or may not be read */
};

/* Takes nothing from what can be read only once. */
enum hlg_file_kind hlg_file_kind_guess(const char *path);

#endif
