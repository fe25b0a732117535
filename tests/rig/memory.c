// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page is used or free, no more: every page of the window is mapped, readable, writable
 * and executable at any time. Free pages are zero.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "symtab/err.h"
#include "tests/rig/load.h"
#include "tests/rig/process.h"
#include "tools/vm/machine.h"

static size_t pages_of(uint64_t size)
{
	return (size + HLG_VM_PAGE_SIZE - 1) / HLG_VM_PAGE_SIZE;
}

int hlg_vm_memory_clear(struct hlg_vm_machine *machine, size_t offset, size_t size,
			struct hlg_err *err)
{
	int rc;

	if (madvise(machine->memory + offset, size, MADV_DONTNEED) == 0)
		return 0;
	rc = -errno;
	return hlg_err_set(err, rc, "guest memory: %s (report this as a bug)",
			   strerror(-rc));
}

static void release(struct hlg_vm_process *process, size_t page, size_t count)
{
	struct hlg_err ignored;
	size_t offset = page * HLG_VM_PAGE_SIZE;

	if (hlg_vm_memory_clear(process->machine, offset, count * HLG_VM_PAGE_SIZE,
				&ignored) < 0)
		memset(process->machine->memory + offset, 0, count * HLG_VM_PAGE_SIZE);
	memset(process->used + page, 0, count);
}

/* A request that cannot be met is answered with the old end, as the kernel does. */
int64_t hlg_vm_process_brk(struct hlg_vm_process *process, const uint64_t *args)
{
	uint64_t base = process->image->base;
	size_t old = pages_of(process->brk);
	size_t wanted;

	if (args[0] < base + process->heap || args[0] - base > process->stack)
		return (int64_t)(base + process->brk);
	wanted = pages_of(args[0] - base);
	for (size_t page = old; page < wanted; page++)
		if (process->used[page])
			return (int64_t)(base + process->brk);
	if (wanted > old)
		memset(process->used + old, 1, wanted - old);
	else if (wanted < old)
		release(process, wanted, old - wanted);
	process->brk = args[0] - base;
	return (int64_t)args[0];
}

/* The first page of the highest free run of count pages, or 0, which the image has. */
static size_t find_free(const struct hlg_vm_process *process, size_t count)
{
	size_t run = 0;

	for (size_t page = process->stack / HLG_VM_PAGE_SIZE; page > 0; page--) {
		run = process->used[page - 1] ? 0 : run + 1;
		if (run == count)
			return page - 1;
	}
	return 0;
}

/* The pages of [address, address + size) below the stack, or false. */
static bool pages_at(const struct hlg_vm_process *process, uint64_t address,
		     uint64_t size, size_t *page)
{
	if (address % HLG_VM_PAGE_SIZE || !hlg_vm_process_bytes(process, address, size))
		return false;
	*page = (address - process->image->base) / HLG_VM_PAGE_SIZE;
	return *page + pages_of(size) <= process->stack / HLG_VM_PAGE_SIZE;
}

/* Anonymous memory only, whatever protection is asked for; hints are not followed. */
int64_t hlg_vm_process_mmap(struct hlg_vm_process *process, const uint64_t *args)
{
	size_t count = pages_of(args[1]);
	size_t page;

	if (args[1] == 0)
		return -EINVAL;
	if (!(args[3] & MAP_ANONYMOUS))
		return -ENODEV;
	if (args[1] > process->stack)
		return -ENOMEM;
	if (args[3] & MAP_FIXED) {
		if (!pages_at(process, args[0], args[1], &page))
			return -ENOMEM;
		release(process, page, count);
	} else {
		page = find_free(process, count);
		if (page == 0)
			return -ENOMEM;
	}
	memset(process->used + page, 1, count);
	return (int64_t)(process->image->base + page * HLG_VM_PAGE_SIZE);
}

int64_t hlg_vm_process_munmap(struct hlg_vm_process *process, const uint64_t *args)
{
	size_t page;

	if (args[1] == 0 || !pages_at(process, args[0], args[1], &page))
		return -EINVAL;
	release(process, page, pages_of(args[1]));
	return 0;
}
