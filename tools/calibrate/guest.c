// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/guest.h"

#include <assert.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/output/temp-file.h"

#define STACK_SIZE (16 * HLG_VM_PAGE_SIZE)
#define WINDOW     (HLG_GUEST_IMAGE_ROOM + STACK_SIZE)

int hlg_guest_image_open(struct hlg_guests *guests, const void *bytes, size_t size,
			 struct hlg_err *err)
{
	int rc = 0;

	*guests = (struct hlg_guests){.fd = memfd_create("guests.elf", MFD_CLOEXEC)};
	if (guests->fd < 0)
		return hlg_err_set(err, HLG_ESYSTEM, "guests: no memory file: %s (%s)",
				   strerrordesc_np(errno), "free some memory");
	snprintf(guests->path, sizeof(guests->path), "/proc/self/fd/%d", guests->fd);
	if (!hlg_temp_file_write(guests->fd, bytes, size))
		rc = hlg_err_set(err, HLG_ESYSTEM, "guests: cannot be copied: %s (%s)",
				 strerrordesc_np(errno),
				 errno == EFBIG ? "raise ulimit -f" : "free some memory");
	elf_version(EV_CURRENT);
	guests->elf = rc == 0 ? elf_begin(guests->fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (rc == 0 && !guests->elf)
		rc = hlg_err_memory(err, "guests");
	if (rc == 0)
		rc = hlg_image_open_elf(&guests->image, guests->path, err);
	if (rc == 0)
		rc = hlg_image_set_base(guests->image, GUESTS_BASE, HLG_BASE_EXEC, err);
	return rc;
}

void hlg_guest_image_finish(struct hlg_guests *guests)
{
	hlg_image_destroy(guests->image);
	elf_end(guests->elf);
	if (guests->fd >= 0)
		close(guests->fd);
	*guests = (struct hlg_guests){.fd = -1};
}

void hlg_guest_image_load(const struct hlg_guests *guests, uint8_t *memory)
{
	const char *file = elf_rawfile(guests->elf, NULL);
	GElf_Phdr segment;

	for (int i = 0; gelf_getphdr(guests->elf, i, &segment); i++)
		if (segment.p_type == PT_LOAD)
			memcpy(memory + (segment.p_vaddr - GUESTS_BASE),
			       file + segment.p_offset, segment.p_filesz);
}

/* Data too, which an image does not know. */
uint64_t hlg_guest_image_symbol(const struct hlg_guests *guests, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(guests->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *is =
				elf_strptr(guests->elf, header.sh_link, symbol.st_name);

			if (is && strcmp(is, name) == 0)
				return symbol.st_value;
		}
	}
	return 0;
}

uint64_t *hlg_guest_word(const struct hlg_guest *guest, unsigned offset)
{
	char *shared = hlg_guest_bytes(guest, "shared");

	return (uint64_t *)(void *)(shared + offset);
}

void *hlg_guest_bytes(const struct hlg_guest *guest, const char *symbol)
{
	return guest->machine.memory +
	       (hlg_guest_image_symbol(guest->guests, symbol) - GUESTS_BASE);
}

/* Maps its memory, with a handler for each exception that is measured or counted. */
static int map(struct hlg_guest *guest, struct hlg_err *err)
{
	static const struct {
		uint8_t vector; /* SDM volume 3, 6.15 */
		const char *handler;
	} handlers[] = {
		{0, "handle_lost"},
		{1, "handle_step"},
		{GUESTS_VECTOR_TRAP, "handle_int"},
		{6, "handle_ud"},
		{13, "handle_protection"},
		{14, "handle_fault"},
		{GUESTS_VECTOR_INT, "handle_int"},
	};
	struct hlg_vm_gate gates[sizeof(handlers) / sizeof(handlers[0])];
	size_t n = sizeof(handlers) / sizeof(handlers[0]);

	for (size_t i = 0; i < n; i++)
		gates[i] = (struct hlg_vm_gate){
			handlers[i].vector,
			hlg_guest_image_symbol(guest->guests, handlers[i].handler)};
	guest->machine.call = hlg_guest_image_symbol(guest->guests, "enter_syscall");
	return hlg_vm_machine_map(&guest->machine, GUESTS_BASE, gates, n, err);
}

int hlg_guest_init(struct hlg_guest *guest, const struct hlg_guests *guests,
		   struct hlg_err *err)
{
	struct hlg_vm_machine *machine = &guest->machine;
	int rc;

	*guest = (struct hlg_guest){.guests = guests};
	rc = hlg_vm_machine_init(machine, WINDOW, err);
	if (rc == 0)
		rc = map(guest, err);
	if (rc < 0)
		return rc;
	hlg_guest_image_load(guests, machine->memory);
	*hlg_guest_word(guest, GUESTS_ENTRY) =
		hlg_vm_machine_entry(machine, hlg_guest_image_symbol(guests, "field"));
	return 0;
}

void hlg_guest_finish(struct hlg_guest *guest)
{
	if (guest->machine.memory)
		hlg_vm_machine_finish(&guest->machine);
}

int hlg_guest_start(struct hlg_guest *guest, const char *function, unsigned ring,
		    bool trap, struct hlg_err *err)
{
	struct hlg_vm_start start = {
		.rip = hlg_guest_image_symbol(guest->guests, function),
		.rsp = GUESTS_BASE + WINDOW - 8,
		.ring = (uint8_t)ring,
		.trap = trap,
	};

	assert(start.rip);
	return hlg_vm_machine_start(&guest->machine, &start, err);
}

int hlg_guest_step(struct hlg_guest *guest, struct hlg_err *err)
{
	struct hlg_vm_exit exit;
	int rc = hlg_vm_machine_step(&guest->machine, &exit, err);

	if (rc < 0)
		return rc;
	if (exit.port == GUESTS_PORT_LOST)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "guest: unexpected exception (see hlguest doctor)");
	return exit.port == GUESTS_PORT_DONE;
}
