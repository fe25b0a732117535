// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t hlg_hash_factor = UINT64_C(0x9e3779b97f4a7c15);

/* splitmix64's last steps (Steele, Lea, Flood, 2014), with both words in it. */
uint64_t hlg_hash_choose(const uint64_t random[2])
{
	uint64_t v = (random[0] ^ random[0] >> 30) * UINT64_C(0xbf58476d1ce4e5b9);

	v ^= random[1];
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return (v ^ v >> 31) | 1;
}

/*
 * From what the kernel gives each process (AT_RANDOM of getauxval(3)): no system call,
 * and nothing that can fail. The C library's secrets come of these bytes, too, so they
 * are mixed beyond recognition.
 */
__attribute__((constructor)) static void choose(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t random[2];

	if (!bytes)
		return;
	memcpy(random, bytes, sizeof(random));
	hlg_hash_factor = hlg_hash_choose(random);
}
