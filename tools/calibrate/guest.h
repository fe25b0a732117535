/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guests of calibrate (guests/guests.h): one ELF inside this program, whose functions
 * run in virtual machines with two rings, or natively.
 *
 * Functions return 0 or a negative value with err set, unless they say otherwise.
 */
#ifndef HLG_TOOLS_CALIBRATE_GUEST_H
#define HLG_TOOLS_CALIBRATE_GUEST_H

#include <libelf.h>

#include "symtab/image/image.h"
#include "tools/calibrate/guests/guests.h"
#include "tools/vm/machine.h"

/* The ELF, as a file without a name, and as an image with its base. */
struct hlg_guests {
	int fd;
	char path[32]; /* opens the file, in this process */
	struct hlg_image *image;
	Elf *elf; /* for symbols of data */
};

/* The bytes that are linked into this program. */
extern const char hlg_guests_elf[], hlg_guests_elf_end[];

static inline size_t hlg_guest_image_elf_size(void)
{
	return (uintptr_t)hlg_guests_elf_end - (uintptr_t)hlg_guests_elf;
}

/* bytes: an ELF made as guests.elf is. Finish *guests in any case. */
int hlg_guest_image_open(struct hlg_guests *guests, const void *bytes, size_t size,
			 struct hlg_err *err);
void hlg_guest_image_finish(struct hlg_guests *guests);

#define HLG_GUEST_IMAGE_ROOM (UINT64_C(24) << 20) /* bytes: guests.elf has less */

/* Fills HLG_GUEST_IMAGE_ROOM bytes of zeros, the first of which is at GUESTS_BASE. */
void hlg_guest_image_load(const struct hlg_guests *guests, uint8_t *memory);

/* The address of a symbol, the same in the image and the guest; 0: there is none. */
uint64_t hlg_guest_image_symbol(const struct hlg_guests *guests, const char *name);

/* A machine with the guests in it. The guests outlive it. */
struct hlg_guest {
	const struct hlg_guests *guests;
	struct hlg_vm_machine machine;
};

/* The caller finishes *guest in any case. */
int hlg_guest_init(struct hlg_guest *guest, const struct hlg_guests *guests,
		   struct hlg_err *err);
void hlg_guest_finish(struct hlg_guest *guest);

/* The next step begins the function of this name; trap: with #DB after each instruction.
 */
int hlg_guest_start(struct hlg_guest *guest, const char *function, unsigned ring,
		    bool trap, struct hlg_err *err);

/*
 * Runs up to the next exit: 1 at GUESTS_PORT_DONE, 0 at any other that a guest may make.
 * A lost exception and a passed deadline are failures.
 */
int hlg_guest_step(struct hlg_guest *guest, struct hlg_err *err);

/* A word of `shared`, by its offset; and what lies at a symbol of those shared data
 * (`shared`, `samples`, `source`). Of the guest's memory, which ends with *guest. */
uint64_t *hlg_guest_word(const struct hlg_guest *guest, unsigned offset);
void *hlg_guest_bytes(const struct hlg_guest *guest, const char *symbol);

#endif
