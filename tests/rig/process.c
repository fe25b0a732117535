// SPDX-License-Identifier: GPL-2.0-only
/* The System V ABI for x86-64, 3.4.1: what is on the stack of a fresh process. */
#include "tests/rig/process.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "symtab/err.h"
#include "tests/rig/load.h"
#include "tools/vm/machine.h"

#define RANDOM_SIZE 16 /* bytes, for AT_RANDOM */
#define NAME        "guest"
#define PLATFORM    "x86_64"

int hlg_vm_process_init(struct hlg_vm_process *process, struct hlg_vm_machine *machine,
			const struct hlg_vm_image *image, size_t stack,
			struct hlg_err *err)
{
	*process = (struct hlg_vm_process){
		.machine = machine,
		.image = image,
		.stack = machine->window - stack,
		.heap = (image->size + HLG_VM_PAGE_SIZE - 1) & ~(HLG_VM_PAGE_SIZE - 1),
	};
	process->used = malloc(process->stack / HLG_VM_PAGE_SIZE);
	if (!process->used)
		return hlg_err_set(err, -ENOMEM, "guest memory map: out of memory (%s)",
				   "lower --memory");
	return 0;
}

void hlg_vm_process_finish(struct hlg_vm_process *process)
{
	free(process->used);
	process->used = NULL;
}

void *hlg_vm_process_bytes(const struct hlg_vm_process *process, uint64_t address,
			   uint64_t size)
{
	uint64_t offset = address - process->image->base;
	size_t window = process->machine->window;

	if (address < process->image->base || offset > window || size > window - offset)
		return NULL;
	return process->machine->memory + offset;
}

/* A stack that grows down in the window's memory. */
struct stack {
	uint8_t *memory; /* the window's */
	size_t at;       /* offset of its lowest byte in use */
	uint64_t base;   /* guest address of the window */
};

static uint64_t push(struct stack *stack, const void *bytes, size_t size)
{
	stack->at -= size;
	memcpy(stack->memory + stack->at, bytes, size);
	return stack->base + stack->at;
}

static uint64_t push_random(struct stack *stack)
{
	uint8_t random[RANDOM_SIZE] = {1}; /* good enough where there are none yet */

	(void)!getrandom(random, sizeof(random), GRND_NONBLOCK);
	return push(stack, random, sizeof(random));
}

/* One argument, no environment; both arrays are whole multiples of the alignment. */
static void push_vectors(struct stack *stack, const struct hlg_vm_image *image)
{
	uint64_t name = push(stack, NAME, sizeof(NAME));
	uint64_t platform = push(stack, PLATFORM, sizeof(PLATFORM));
	const uint64_t arguments[] = {1, name, 0, 0};
	const Elf64_auxv_t auxiliary[] = {
		{AT_PHDR, {image->segments}},
		{AT_PHENT, {sizeof(Elf64_Phdr)}},
		{AT_PHNUM, {image->segment_count}},
		{AT_PAGESZ, {HLG_VM_PAGE_SIZE}},
		{AT_ENTRY, {image->entry}},
		{AT_SECURE, {0}},
		{AT_CLKTCK, {100}},
		{AT_RANDOM, {push_random(stack)}},
		{AT_EXECFN, {name}},
		{AT_PLATFORM, {platform}},
		{AT_NULL, {0}},
	};
	stack->at &= ~(size_t)15;
	push(stack, auxiliary, sizeof(auxiliary));
	push(stack, arguments, sizeof(arguments));
}

int hlg_vm_process_start(struct hlg_vm_process *process, struct hlg_vm_start *start,
			 struct hlg_err *err)
{
	struct stack stack = {
		.memory = process->machine->memory,
		.at = process->machine->window,
		.base = process->image->base,
	};

	if (start->ring != 3)
		return hlg_err_set(err, -EINVAL,
				   "guest: a program that makes system calls runs in "
				   "ring 3 only (use no --ring)");
	process->brk = process->heap;
	memset(process->used, 0, process->stack / HLG_VM_PAGE_SIZE);
	memset(process->used, 1, process->heap / HLG_VM_PAGE_SIZE);
	process->fs = 0;
	process->exited = false;
	process->signal = 0;
	push_vectors(&stack, process->image);
	start->rip = process->image->entry;
	start->rsp = stack.base + stack.at;
	return 0;
}
