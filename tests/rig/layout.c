// SPDX-License-Identifier: GPL-2.0-only
/* Bits of entries are those of the Intel SDM, volume 3, 4.5. */
#include "tests/rig/layout.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symtab/err.h"

#define PAGE      HLG_VM_PAGE_SIZE
#define LARGE     (UINT64_C(2) << 20)
#define ENTRIES   512
#define USER      UINT64_C(7) /* present, writable, user */
#define IS_PAGE   UINT64_C(0x80)
#define FRAME     (~UINT64_C(0xfff))
#define TOP_SHIFT 39
#define PD_SHIFT  21
#define STRIDE    97 /* prime, and no divisor of a number of slots: an order of them */
#define APIC      UINT64_C(0xfee00000)
#define CR4_LA57  (UINT64_C(1) << 12)

static int fail(struct hlg_err *err, const char *what)
{
	int rc = -errno;

	return hlg_err_set(err, rc, "%s: %s (see --help)", what, strerror(-rc));
}

static uint64_t *table_at(const struct hlg_vm_machine *machine, uint64_t phys)
{
	return (uint64_t *)(void *)(machine->memory + phys);
}

/* The entry of 2 MiB at an address. */
static uint64_t *entry_of(const struct hlg_vm_machine *machine, uint64_t root,
			  uint64_t address)
{
	uint64_t table = root;

	for (unsigned shift = TOP_SHIFT; shift > PD_SHIFT; shift -= 9)
		table = table_at(machine, table)[address >> shift & (ENTRIES - 1)] &
			FRAME;
	return &table_at(machine, table)[address >> PD_SHIFT & (ENTRIES - 1)];
}

static void use_large_pages(struct hlg_vm_machine *machine, uint64_t base)
{
	for (uint64_t at = 0; at + LARGE <= machine->window; at += LARGE)
		*entry_of(machine, machine->root, base + at) = at | USER | IS_PAGE;
}

static uint64_t copy_table(struct hlg_vm_machine *machine, uint64_t phys)
{
	uint64_t copy = machine->next_free;

	machine->next_free += PAGE;
	memcpy(machine->memory + copy, machine->memory + phys, PAGE);
	return copy;
}

/* A second root, by which the stack's 2 MiB and some in the middle are exchanged. */
static int add_root(struct hlg_vm_layout *layout, struct hlg_vm_machine *machine,
		    uint64_t base, struct hlg_err *err)
{
	const uint64_t last = base + machine->window - LARGE;
	uint64_t *stack, *middle, other, table;

	if (machine->size - machine->next_free < 3 * PAGE)
		return hlg_err_set(err, -ENOMEM,
				   "--two-tables: no room (change --memory)");
	table = layout->roots[1] = copy_table(machine, machine->root);
	for (unsigned shift = TOP_SHIFT; shift > PD_SHIFT; shift -= 9) {
		uint64_t *entry =
			&table_at(machine, table)[last >> shift & (ENTRIES - 1)];

		table = copy_table(machine, *entry & FRAME);
		*entry = table | USER;
	}
	stack = entry_of(machine, layout->roots[1], last);
	middle = entry_of(machine, layout->roots[1], base + machine->window / 2);
	other = *stack;
	*stack = *middle;
	*middle = other;
	return 0;
}

/* Tables in the middle of the window, which no guest uses. */
enum astray {
	TO_ROOT,     /* the top table is its own entry */
	TO_SELF,     /* a table is each of its entries */
	TO_HOLE,     /* where the guest has no memory */
	TO_DEVICE,   /* nor that, but an address that devices have */
	TO_RESERVED, /* all bits are set that may be, and some more */
	TO_LARGEST,  /* pages of 1 GiB, beyond the end of memory */
	TO_TOP_PAGE, /* a page of 512 GiB, which there is none of */
	TO_EDGES,    /* pages at both ends of memory, holes between them */
	TO_CHANGING, /* one of these, another one soon */
	ASTRAY
};

static uint64_t spare(const struct hlg_vm_machine *machine, unsigned n)
{
	return machine->window / 2 / PAGE * PAGE + n * PAGE;
}

static void fill(const struct hlg_vm_machine *machine, uint64_t phys, uint64_t entry,
		 uint64_t step)
{
	for (uint64_t i = 0; i < ENTRIES; i++)
		table_at(machine, phys)[i] = entry + i * step;
}

static uint64_t entry_astray(const struct hlg_vm_machine *machine, enum astray way)
{
	switch (way) {
	case TO_ROOT:
		return machine->root | USER;
	case TO_SELF:
		return spare(machine, TO_SELF) | USER;
	case TO_HOLE:
		return UINT64_C(1) << 40 | USER;
	case TO_DEVICE:
		return APIC | USER;
	case TO_RESERVED:
		return ~IS_PAGE;
	case TO_TOP_PAGE:
		return USER | IS_PAGE;
	default:
		return spare(machine, way) | USER;
	}
}

/*
 * Four pages again and again: the last of memory, two behind it, and the first of it. The
 * last has frames that lead across its end.
 */
static void fill_edges(const struct hlg_vm_machine *machine, uint64_t code)
{
	const uint64_t here = HLG_VM_LAYOUT_HOSTILE + ((uint64_t)TO_EDGES << TOP_SHIFT);
	uint64_t low = spare(machine, ASTRAY), page = spare(machine, ASTRAY + 1);
	uint64_t *frames = table_at(machine, machine->size - PAGE);

	fill(machine, spare(machine, TO_EDGES), low | USER, 0);
	fill(machine, low, page | USER, 0);
	for (uint64_t i = 0; i < ENTRIES; i++) {
		table_at(machine, page)[i] =
			(i % 4 < 3 ? machine->size + i % 4 * PAGE - PAGE : 0) | USER;
		frames[i] = i % 2 ? code : here + (i + 2) * sizeof(*frames);
	}
}

static void *keep_changing(void *arg)
{
	struct hlg_vm_layout *layout = arg;
	uint64_t n = 1;

	while (!layout->ends) {
		n = n * UINT64_C(6364136223846793005) + 1;
		__atomic_store_n(&layout->changing[n >> 55],
				 layout->changing[ENTRIES + (n >> 40 & 7)],
				 __ATOMIC_RELAXED);
	}
	return NULL;
}

static int lead_astray(struct hlg_vm_layout *layout, struct hlg_vm_machine *machine,
		       uint64_t base, struct hlg_err *err)
{
	uint64_t changing = spare(machine, ASTRAY + 2);
	int rc;

	if (machine->next_free > machine->size - PAGE)
		return hlg_err_set(err, -ENOMEM, "--hostile: no room (change --memory)");

	fill(machine, spare(machine, TO_SELF), spare(machine, TO_SELF) | USER, 0);
	fill(machine, spare(machine, TO_LARGEST), USER | IS_PAGE, UINT64_C(1) << 30);
	fill_edges(machine, base + PAGE);
	for (unsigned way = 0; way < ASTRAY; way++) {
		uint64_t entry =
			way == TO_CHANGING ? changing | USER : entry_astray(machine, way);

		table_at(machine,
			 machine->root)[(HLG_VM_LAYOUT_HOSTILE >> TOP_SHIFT) + way] =
			entry;
		table_at(machine, changing)[ENTRIES + way % 8] = entry;
	}
	layout->changing = table_at(machine, changing);
	rc = pthread_create(&layout->thread, NULL, keep_changing, layout);
	layout->started = rc == 0;
	return rc ? hlg_err_set(err, -rc, "--hostile: no thread (see --help)") : 0;
}

/* The machine's memory becomes a file's, so that it can be at two places. */
static int share(struct hlg_vm_machine *machine, int *fd, struct hlg_err *err)
{
	*fd = memfd_create("guest", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, (off_t)machine->size) < 0)
		return fail(err, "--slots");
	for (uint64_t at = 0; at < machine->size; at += PAGE)
		if (pwrite(*fd, machine->memory + at, PAGE, (off_t)at) != (ssize_t)PAGE)
			return fail(err, "--slots");
	if (mmap(machine->memory, machine->size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, *fd, 0) == MAP_FAILED)
		return fail(err, "--slots");
	return 0;
}

static int add_slot(struct hlg_vm_machine *machine, int fd, uint64_t number,
		    uint64_t from, uint64_t size, uint8_t *to, struct hlg_err *err)
{
	struct kvm_userspace_memory_region region = {
		.slot = (uint32_t)number,
		.guest_phys_addr = from,
		.memory_size = size,
		.userspace_addr = (uintptr_t)to,
	};

	if (mmap(to, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
		 fd, (off_t)from) == MAP_FAILED ||
	    ioctl(machine->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return fail(err, "--slots");
	return 0;
}

/* The slots' places, in memory of canaries. */
static int scatter(struct hlg_vm_layout *layout, struct hlg_vm_machine *machine, int fd,
		   uint64_t n, struct hlg_err *err)
{
	uint64_t pages = machine->size / PAGE, each = (pages + n - 1) / n * PAGE;
	uint64_t size = n * (each + PAGE) + PAGE;
	uint64_t *words = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc = 0;

	if (words == MAP_FAILED)
		return fail(err, "--slots");
	layout->places = words;
	layout->places_size = size;
	for (uint64_t i = 0; i < size / sizeof(*words); i++)
		words[i] = HLG_VM_LAYOUT_CANARY;
	for (uint64_t i = 0; rc == 0 && i < n && i * each < machine->size; i++) {
		uint64_t rest = machine->size - i * each;

		rc = add_slot(machine, fd, i, i * each, rest < each ? rest : each,
			      (uint8_t *)words + i * STRIDE % n * (each + PAGE) + PAGE,
			      err);
	}
	return rc;
}

static int use_slots(struct hlg_vm_layout *layout, struct hlg_vm_machine *machine,
		     uint64_t n, struct hlg_err *err)
{
	struct kvm_userspace_memory_region none = {0};
	int fd = -1, rc = share(machine, &fd, err);

	if (rc == 0 && ioctl(machine->vm_fd, KVM_SET_USER_MEMORY_REGION, &none) < 0)
		rc = fail(err, "--slots");
	if (rc == 0)
		rc = scatter(layout, machine, fd, n, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* One above the others, whose ends lead to them: the lower half, and the upper. */
static int add_level(struct hlg_vm_layout *layout, struct hlg_vm_machine *machine,
		     struct hlg_err *err)
{
	for (unsigned i = 0; i < 2 && layout->roots[i]; i++) {
		uint64_t root = machine->next_free;

		if (machine->size - root < 2 * PAGE)
			return hlg_err_set(err, -ENOMEM,
					   "--five-levels: no room (change --memory)");
		machine->next_free += PAGE;
		table_at(machine, root)[0] = layout->roots[i] | USER;
		table_at(machine, root)[ENTRIES - 1] = layout->roots[i] | USER;
		layout->roots[i] = root;
	}
	machine->cr4 = CR4_LA57;
	return 0;
}

int hlg_vm_layout_init(struct hlg_vm_layout *layout, struct hlg_vm_machine *machine,
		       const struct hlg_vm_options *options, uint64_t base,
		       struct hlg_err *err)
{
	int rc = 0;

	if ((options->large_pages || options->two_tables) &&
	    (base % LARGE || machine->window % LARGE))
		return hlg_err_set(err, -EINVAL,
				   "base 0x%llx: no multiple of 2 MiB (change --base)",
				   (unsigned long long)base);
	layout->roots[0] = machine->root;
	if (options->large_pages)
		use_large_pages(machine, base);
	if (options->slots)
		rc = use_slots(layout, machine, options->slots, err);
	if (rc == 0 && options->two_tables)
		rc = add_root(layout, machine, base, err);
	if (rc == 0 && options->hostile)
		rc = lead_astray(layout, machine, base, err);
	if (rc == 0 && options->five_levels)
		rc = add_level(layout, machine, err);
	return rc;
}

void hlg_vm_layout_finish(struct hlg_vm_layout *layout)
{
	layout->ends = true;
	if (layout->started)
		pthread_join(layout->thread, NULL);
	layout->started = false;
	if (layout->places)
		munmap(layout->places, layout->places_size);
	layout->places = NULL;
}

void hlg_vm_layout_turn(const struct hlg_vm_layout *layout,
			struct hlg_vm_machine *machine, uint64_t runs)
{
	machine->root = layout->roots[layout->roots[1] ? runs % 2 : 0];
}
