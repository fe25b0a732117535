// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest that runs a module of WebAssembly, as hyperlight-wasm does: it copies what
 * wasmtime compiled (tests/data/wasm/module.cwasm) to where nothing of its own lies, and
 * calls it there. In place of wasmtime's runtime stands what these functions read of it:
 * the limit of the stack, by two pointers.
 *
 * A run is ROUNDS times the module's `run` and ends with an out to Hyperlight's Halt
 * port.
 */
#include <stddef.h>
#include <stdint.h>

#define PORT_HALT 108        /* Hyperlight's */
#define HEAP      (16 << 20) /* bytes behind the ELF's first */
#define RUN       0x1120     /* of the file: .text, and wasm[0]::function[3] in it */
#define ROUNDS    500

struct store {
	uint64_t unread[3];
	uint64_t stack_limit;
};

struct context {
	uint64_t unread;
	struct store *store;
};

typedef uint32_t (*run)(struct context *own, struct context *callers, uint32_t n);

extern const uint8_t module[], module_end[];
extern uint8_t __ehdr_start[] __attribute__((visibility("hidden")));

__asm__(".section .rodata\n"
	"module: .incbin \"../../data/wasm/module.cwasm\"\n"
	"module_end:\n"
	".text\n");

volatile uint32_t sink;

static void out(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "d"(port) : "memory");
}

__attribute__((used, noreturn)) void _start(void)
{
	uint8_t *heap = __ehdr_start + HEAP;
	struct store store = {.stack_limit = 0};
	struct context context = {.store = &store};

	for (;;) {
		for (size_t i = 0; i < (size_t)(module_end - module); i++)
			heap[i] = module[i];
		for (uint32_t i = 0; i < ROUNDS; i++)
			sink += ((run)(uintptr_t)(heap + RUN))(&context, &context,
							       12 + i % 2);
		out(PORT_HALT, 0);
	}
}
