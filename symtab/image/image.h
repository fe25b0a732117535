/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image: one guest ELF or perf map, loaded, frozen, and placed at a base.
 *
 * Two address spaces meet here and are never mixed in one variable: `addr` is the
 * image's own address, as in its symbol table; `ip` is the guest's. ip = addr + bias
 * (modulo 2^64). For an ELF, bias = base - first PT_LOAD p_vaddr; for a perf map, bias =
 * base, which is 0 unless stated. Where guests lie at the same addresses, ip is in the
 * image's lane (lane.h), and so is bias.
 *
 * A Linux kernel of x86-64 can have a segment of data at address 0, for the part of each
 * CPU (its linker script, .data..percpu), and all else in the highest 2 GiB. Such a
 * segment, at 0, without code and HLG_IMAGE_FAR or more from the next, is not the
 * image's: nothing is loaded there, and with it the image would reach over all of memory.
 *
 * Everything is settled when an opening function returns; only its base, or bases, may be
 * set later. Lookups only read. Strings and symbols live as long as the image.
 */
#ifndef HLG_SYMTAB_IMAGE_IMAGE_H
#define HLG_SYMTAB_IMAGE_IMAGE_H

#include "symtab/image/lane.h"
#include "symtab/image/span.h"

#define HLG_IMAGE_FAR (UINT64_C(2) << 30)

enum hlg_base_from {
	HLG_BASE_NONE,    /* not decided yet */
	HLG_BASE_STATED,  /* by the user */
	HLG_BASE_NOTE,    /* the Hyperlight version note */
	HLG_BASE_EXEC,    /* ET_EXEC: linked to its address */
	HLG_BASE_MAP,     /* a perf map: its addresses are the guest's */
	HLG_BASE_KVM,     /* where KVM's records have it enter and halt */
	HLG_BASE_FOUND,   /* the one that sampled addresses fit */
	HLG_BASE_DEFAULT, /* nothing said anything */
};

/* Where an image lies in the guest; bias is what own addresses move by. */
struct hlg_base {
	uint64_t base, bias;
};

struct hlg_image {
	char *path; /* what it is called; and its file, if that is NULL: hlg_image_file */
	char *file;
	char *typed; /* path, as a shell takes it: for commands that are told */
	char *label; /* hlg_image_short_name, where others are called so; or NULL */
	char *word;  /* hlg_image_word, where others have its path; or NULL */
	struct hlg_elf64 elf; /* without syms and strtab; all zero for a perf map */
	/* Where in its file the ELF lies, if that is a host program that carries its
	 * guests with it, and which of its guests it is, and the next; size 0: the ELF
	 * is the file. */
	uint64_t inside, inside_size;
	size_t guest, next_guest; /* as extract lists them, from 1 on; 0: there is none */
	char *debug_path;    /* of the debug file that has the symbols; NULL: its own */
	char *debug_refused; /* why a debug file is not used for that; NULL: none was */
	bool debug_denied;   /* it may not be read: nothing is wrong with it */
	bool map;            /* from a perf map */
	bool made;           /* by hlg_image_make */
	bool unread;         /* see hlg_image_unread() */
	bool noted;          /* the user did not name it, hlguest record did */
	bool sought;         /* whatever its file says: @auto */
	bool nowhere;        /* so, and no sample fits where its file has it either */
	bool owned;          /* the user said who runs it: nobody else does */
	size_t skipped;      /* lines of the map that could not be used */
	struct hlg_symtab tab;
	struct hlg_area *areas;
	size_t n_areas;
	struct hlg_spans spans;
	uint64_t first, end; /* lowest address, and the address behind the highest byte */
	uint64_t base, bias; /* valid unless from is HLG_BASE_NONE */
	enum hlg_base_from from;
	enum hlg_base_from refused_from; /* where the base is from that the samples do not
					  * fit, or that is not that of KVM's records, and
					  * that was not used: refused; else HLG_BASE_NONE
					  */
	uint64_t refused;
	bool kvm_differs; /* its base is kept, but KVM's records have another: kvm_base */
	uint64_t kvm_base;
	bool kvm_overlaps; /* KVM's records have it at kvm_base and at kvm_other, where it
			    * would overlap itself */
	uint64_t kvm_other;
	size_t kvm_left_out;   /* bases of KVM's records, beyond as many as it may have */
	struct hlg_base *also; /* further bases: several guests run it */
	size_t n_also;
	size_t n_also_found; /* the last of these, that only the samples tell of */
	size_t number;       /* among the images of its space, from 0 on */
	unsigned lane;       /* lane.h; 0 but in a space of several */
	/* hlg_image_bases_sum: of each base, of so many as there are; any base that is
	 * set or added makes that 0, and then they are nothing. */
	size_t *firsts, n_firsts, n_places;
	bool everywhere; /* it lies in all lanes, whoever runs it: in a space (arranged)
			  */
};

/* What is at an address. */
struct hlg_place {
	enum hlg_kind kind;
	const struct hlg_image *image;   /* NULL outside */
	const struct hlg_symbol *symbol; /* function, label; else NULL */
	const struct hlg_area *area;     /* gap, data; else NULL */
	uint64_t addr;                   /* own address; outside, the ip as it is */
	uint64_t start, end; /* own addresses of function, label, gap or data area */
	const void *owner;   /* equal for two addresses if they are of one place */
};

/*
 * Open, check and freeze. *image is for hlg_image_destroy; NULL after a failure.
 */
int hlg_image_open_elf(struct hlg_image **image, const char *path, struct hlg_err *err);
int hlg_image_open_map(struct hlg_image **image, const char *path, struct hlg_err *err);

/*
 * The same, but of a program or library of this machine, which needs a loader and has no
 * Hyperlight note, a guest inside it is taken instead, if there is one: hosts carry their
 * guests with them (elf/embedded.h). number says which, 0: the first. Of several one is
 * called as hlg_image_open_guest is told to open it again: FILE@guest=NUMBER. A number
 * that is no guest's is an error.
 */
int hlg_image_open_guest(struct hlg_image **image, const char *path, size_t number,
			 struct hlg_err *err);

/*
 * An ELF without .symtab, to tell which one it is (fingerprint.h), not what is in it: no
 * symbol is read, there are no areas and it cannot be looked up in. Fails of any other.
 */
int hlg_image_open_stripped(struct hlg_image **image, const char *path,
			    struct hlg_err *err);

/*
 * An image without a file, for what is known of one: code at own addresses [first, end),
 * first < end, with the symbols of tab, which is taken over (also after a failure) and
 * need not be sorted. path is what it is called. Nothing can be read from it.
 */
int hlg_image_make(struct hlg_image **image, const char *path, struct hlg_symtab *tab,
		   uint64_t first, uint64_t end, struct hlg_err *err);

void hlg_image_destroy(struct hlg_image *image);

/* Its only base from now on. Fails when the image would pass the end of the address
 * space. */
int hlg_image_set_base(struct hlg_image *image, uint64_t base, enum hlg_base_from from,
		       struct hlg_err *err);

/* Moves all its bases, also those to come, into a lane. */
void hlg_image_set_lane(struct hlg_image *image, unsigned lane);

/* Leaves the image without a base. */
void hlg_image_clear_base(struct hlg_image *image);

/* Adds a base to those it has. Fails as hlg_image_set_base does, and without memory. */
int hlg_image_add_base(struct hlg_image *image, uint64_t base, struct hlg_err *err);

/* All bases, in the order they were set and added: i from 0, below the number. */
size_t hlg_image_n_bases(const struct hlg_image *image);
struct hlg_base hlg_image_base(const struct hlg_image *image, size_t i);

/* Is this one of them? */
bool hlg_image_lies_at(const struct hlg_image *image, uint64_t base);

/* Would it have bytes at this base where it has some at one of its own, or is it one? */
bool hlg_image_overlaps(const struct hlg_image *image, uint64_t base);

/* The place of one of the image's own addresses; place->image is NULL if outside. */
void hlg_image_lookup(const struct hlg_image *image, uint64_t addr,
		      struct hlg_place *place);

/* A symbol's name as in the file, never NULL; escape it before it is shown. */
const char *hlg_image_name(const struct hlg_image *image,
			   const struct hlg_symbol *symbol);

/*
 * The symbols that share symbol's address, itself included: *n of them from the returned
 * one on, canonical first. There may be thousands, and many rows of one symbol: who lists
 * them lists so many, and then "...".
 */
#define HLG_IMAGE_ALIASES 1000
const struct hlg_symbol *hlg_image_aliases(const struct hlg_image *image,
					   const struct hlg_symbol *symbol, size_t *n);

/*
 * The symbol that owns the bytes just before (dir < 0) or behind (dir > 0) a gap, in the
 * same section, or NULL.
 */
const struct hlg_symbol *hlg_image_neighbour(const struct hlg_image *image,
					     const struct hlg_place *gap, int dir);

/* How many bytes from an own address on are in the file (0 for a perf map). */
uint64_t hlg_image_stored(const struct hlg_image *image, uint64_t addr);

/* Are any bytes of executable parts in the file, and where there are sections of code, of
 * these? A debug file has none. */
bool hlg_image_has_code(const struct hlg_image *image);

/* What it is called, without the folders in front. In a space (arranged) where others are
 * called so, with its first base; and where two of these are one, with its folders. */
const char *hlg_image_short_name(const struct hlg_image *image);

/* Its path; in a space (arranged) where others have it, with its first base, if it has
 * one: FILE@BASE, as a user names it, and so as programs tell it from the others. */
const char *hlg_image_word(const struct hlg_image *image);

/* What it is called without folders, whoever else is called so. */
const char *hlg_image_file_name(const struct hlg_image *image);
bool hlg_image_are_of_one_name(const struct hlg_image *a, const struct hlg_image *b);

/* Where it was opened. */
static inline const char *hlg_image_file(const struct hlg_image *image)
{
	return image->file ? image->file : image->path;
}

/*
 * Opens the image's file again, to read bytes: a descriptor for the caller to close, of a
 * guest inside of a host that of a copy of the guest alone, in memory. It is an error if
 * the file is not the one that was opened first.
 */
int hlg_image_reopen(const struct hlg_image *image, struct hlg_err *err);

/*
 * Reads bytes at own addresses [addr, addr + len) from the reopened file. Returns how
 * many could be had: less at the end of what is stored, 0 if nothing is.
 */
size_t hlg_image_pread(const struct hlg_image *image, int fd, uint64_t addr, void *buf,
		       size_t len);

/*
 * Could bytes that should be there not be had at some time, because the file has changed
 * or the disk fails? Then what was made of them is not complete, and has to say so. From
 * any thread.
 */
bool hlg_image_unread(const struct hlg_image *image);

/* Says so (hlg_image_unread) of an image whose file is read by other means. */
void hlg_image_miss(const struct hlg_image *image);

/* Fails with the message that its bytes could not be read, for who cannot do without. */
int hlg_image_fail_unread(const struct hlg_image *image, struct hlg_err *err);

/* Reads bytes as hlg_image_pread does, from the file opened for this one read; 0 if it
 * cannot be opened. */
size_t hlg_image_read(const struct hlg_image *image, uint64_t addr, void *buf,
		      size_t len);

#endif
