/* SPDX-License-Identifier: GPL-2.0-only */
/* What an argument seems to be, by its shape and the file's first bytes. */
#ifndef HLG_TOOLS_INPUTS_FILE_KIND_H
#define HLG_TOOLS_INPUTS_FILE_KIND_H

enum hlg_argument {
	HLG_ARGUMENT_RECORDING, /* or a saved profile, standard input, a FIFO */
	HLG_ARGUMENT_IMAGE,     /* an ELF; map:FILE and FILE@BASE whatever they are */
	HLG_ARGUMENT_FOLDER,    /* but not of a recording */
	HLG_ARGUMENT_OTHER,     /* among them what does not exist, or may not be read */
};

/* Takes nothing from what can be read only once. */
enum hlg_argument hlg_argument_kind(const char *path);

#endif
