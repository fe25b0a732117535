/* SPDX-License-Identifier: GPL-2.0-only */
/* What FILE.hlguest says (beside.h), as JSON. */
#ifndef HLG_TOOLS_BESIDE_TEXT_H
#define HLG_TOOLS_BESIDE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "symtab/image/fingerprint.h"

#define HLG_BESIDE_GUESTS 64 /* at most, and as many others */

/* A guest's ELF as it was: the file, or that inside a host. */
struct hlg_beside_guest {
	char *file;      /* absolute */
	uint64_t inside; /* offset of the ELF in file; 0: it is the file */
	struct hlg_fingerprint print;
	bool stripped; /* it had no symbols, of a debug file neither */
	bool other;    /* not noted as a guest, but it may be one */
};

struct hlg_beside {
	uint64_t size, first_sample;     /* of the recording: bytes, ns of perf's clock */
	struct hlg_beside_guest *guests; /* the others behind them */
	size_t n_guests;
};

/* Can this build read and write it at all? */
bool hlg_beside_text_built(void);

/* Writes it to f, whose errors stay on the stream. */
int hlg_beside_text_write(FILE *f, const struct hlg_beside *beside, struct hlg_err *err);

/* Takes it apart; fails, naming path, if it is nothing of the kind. */
int hlg_beside_text_read(struct hlg_beside *beside, const char *path, const char *text,
			 size_t size, struct hlg_err *err);

#endif
