// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t hlg_hash_factor = UINT64_C(0x9e3779b97f4a7c15);

/*
 * From what the kernel gives each process (AT_RANDOM of getauxval(3)): no system call,
 * and nothing that can fail. The C library's secrets come of these bytes, too, so they
 * are mixed beyond recognition: splitmix64's last steps (Steele, Lea, Flood, 2014).
 */
__attribute__((constructor)) static void choose(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t v[2] = {0};

	if (!bytes)
		return;
	memcpy(v, bytes, sizeof(v));
	v[0] = (v[0] ^ v[0] >> 30) * UINT64_C(0xbf58476d1ce4e5b9) ^ v[1];
	v[0] = (v[0] ^ v[0] >> 27) * UINT64_C(0x94d049bb133111eb);
	hlg_hash_factor += v[0] >> 32 << 1;
}
