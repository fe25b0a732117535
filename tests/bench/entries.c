// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an exit to the VMM costs it: runs a guest that does nothing but exits, and prints
 * the CPU time of one, in nanoseconds, of the median chunk of exits and of the cheaper
 * quarter. Chunks are short, so that a quarter of them is left alone by what else runs.
 *
 *     entries CHUNKS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symtab/err.h"
#include "tools/vm/machine.h"

#define BASE     UINT64_C(0x4000)
#define CHUNK    400 /* exits, some 10 ms */
#define DEADLINE 600 /* seconds */
#define NS_PER_S UINT64_C(1000000000)

/* mov $101, %edx; 10 times out %eax, %dx; mov $108, %edx; out %eax, %dx; jmp to the start
 */
static const uint8_t guest[] = {
	0xba, 101,  0,    0,    0,   0xef, 0xef, 0xef, 0xef, 0xef, 0xef, 0xef,
	0xef, 0xef, 0xef, 0xba, 108, 0,    0,    0,    0xef, 0xeb, 0xe9,
};

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int measure(struct hlg_vm_machine *machine, uint64_t *chunks, size_t n,
		   struct hlg_err *err)
{
	struct hlg_vm_exit exit;

	for (size_t i = 0; i < n; i++) {
		uint64_t begin = cpu_time();
		for (int at = 0; at < CHUNK; at++) {
			int rc = hlg_vm_machine_step(machine, &exit, err);
			if (rc < 0)
				return rc;
		}
		chunks[i] = cpu_time() - begin;
	}
	return 0;
}

static int run(uint64_t *chunks, size_t n, struct hlg_err *err)
{
	struct hlg_vm_start start = {
		.rip = BASE, .rsp = BASE + HLG_VM_PAGE_SIZE, .ring = 3};
	struct hlg_vm_machine machine;
	int rc = hlg_vm_machine_init(&machine, HLG_VM_PAGE_SIZE, err);

	if (rc < 0)
		return rc;
	memcpy(machine.memory, guest, sizeof(guest));
	rc = hlg_vm_machine_map(&machine, BASE, NULL, 0, err);
	if (rc == 0)
		rc = hlg_vm_deadline_start(DEADLINE, err);
	if (rc == 0)
		rc = hlg_vm_machine_start(&machine, &start, err);
	if (rc == 0)
		rc = measure(&machine, chunks, n, err);
	hlg_vm_deadline_stop();
	hlg_vm_machine_finish(&machine);
	return rc;
}

int main(int argc, char **argv)
{
	size_t n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0, middle, quarter;
	uint64_t *chunks = n > 0 ? calloc(n, sizeof(*chunks)) : NULL;
	struct hlg_err err;

	if (!chunks) {
		fputs("usage: entries CHUNKS\n", stderr);
		return 2;
	}
	if (run(chunks, n, &err) < 0) {
		fprintf(stderr, "entries: %s\n", err.msg);
		free(chunks);
		return 1;
	}
	middle = n / 2;
	quarter = n / 4;
	qsort(chunks, n, sizeof(*chunks), by_value);
	printf("entries: %d exits, %.0f ns of CPU time each, of the cheaper quarter "
	       "%.0f\n",
	       CHUNK * (int)n, (double)chunks[middle] / CHUNK,
	       (double)chunks[quarter] / CHUNK);
	free(chunks);
	return 0;
}
