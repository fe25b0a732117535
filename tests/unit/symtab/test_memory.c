// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that memory for tables is as malloc's: of the size asked for to the last byte,
 * for free(), and NULL for what nobody has; and that from 1 MiB on it begins at a huge
 * page and ends with one, without which the kernel gives none.
 */
#include "symtab/elf/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

#include "tests/kit/tap.h"

#define MIB ((size_t)1 << 20)

START_TEST(blocks)
{
	static const size_t size[] = {1,           100,         MIB - 1,     MIB,
				      MIB + 1,     2 * MIB - 1, 2 * MIB,     2 * MIB + 1,
				      5 * MIB - 3, 6 * MIB,     6 * MIB + 1, 64 * MIB};
	size_t n = size[_i], whole = (n + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
	char *p = hlg_memory_alloc(n);

	ck_assert_ptr_nonnull(p);
	memset(p, 1, n);
	if (n >= MIB) {
		ck_assert_uint_eq((uintptr_t)p % (2 * MIB), 0);
		ck_assert_uint_ge(malloc_usable_size(p), whole);
		/* malloc gives away what it skipped behind, too: less than a page of 2
		 * MiB and one of 4 KiB. */
		ck_assert_uint_le(malloc_usable_size(p), whole + 2 * MIB + 4096);
	} else {
		ck_assert_uint_lt(malloc_usable_size(p), n + 8192);
	}
	free(p);
}
END_TEST

/* Address sanitizer ends a program that asks for too much, unless it is told not to. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* Rounding up must not come around to a small number. */
START_TEST(too_large)
{
	const char *fork = getenv("CK_FORK");

	ck_assert_ptr_null(hlg_memory_alloc(SIZE_MAX / 4));
	if (fork && strcmp(fork, "no") == 0)
		return; /* valgrind takes a request for that much for an error */
	ck_assert_ptr_null(hlg_memory_alloc(SIZE_MAX));
	ck_assert_ptr_null(hlg_memory_alloc(SIZE_MAX - 1));
	ck_assert_ptr_null(hlg_memory_alloc(SIZE_MAX - 2 * MIB + 2));
	ck_assert_ptr_null(hlg_memory_alloc(SIZE_MAX - 2 * MIB));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tc = tap_case(suite, "memory");

	tcase_add_loop_test(tc, blocks, 0, 12);
	tcase_add_test(tc, too_large);
	return tap_main(suite);
}
