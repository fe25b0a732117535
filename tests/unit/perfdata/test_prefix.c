// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every prefix of recordings that perf made, byte by byte up to 64 KiB and at 1,000
 * places after: refused with a message, or read. What is read never becomes less with
 * more bytes, and each byte behind the header is either in a record or told as left.
 *
 *	test_prefix RECORDING...
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"

static char **paths;

static struct kit load(const char *path)
{
	struct kit k = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0 && fstat(fd, &st) == 0, "%s", path);
	k.n = (size_t)st.st_size;
	k.at = malloc(k.n);
	ck_assert(read(fd, k.at, k.n) == st.st_size);
	close(fd);
	return k;
}

START_TEST(prefixes)
{
	struct kit k = load(paths[_i]);
	char path[64];
	uint64_t data, size;
	size_t last = SIZE_MAX;

	memcpy(&data, k.at + 40, sizeof(data));
	memcpy(&size, k.at + 48, sizeof(size));
	snprintf(path, sizeof(path), "%s", kit_name(k.at, k.n));
	for (size_t n = k.n;;) {
		size_t step = n <= 65536 ? 1 : (k.n - 65536) / 1000 + 1;
		struct kit_seen seen;

		ck_assert_int_eq(truncate(path, (off_t)n), 0);
		kit_read(&seen, path);
		ck_assert_int_eq(seen.rc, n < data ? HLG_EINPUT : 0);
		ck_assert_uint_le(seen.n, last);
		last = seen.n;
		if (n >= data && n < data + size) {
			ck_assert_uint_eq(seen.counts.missing, data + size - n);
			ck_assert_uint_lt(seen.counts.left, 65536);
			ck_assert_uint_eq(seen.tell + seen.counts.left, n);
		} else if (n == k.n) {
			ck_assert_uint_eq(seen.counts.left + seen.counts.missing, 0);
			ck_assert_uint_gt(seen.n, 0);
		}
		kit_finish(&seen);
		if (n == 0)
			break;
		n = n > step ? n - step : 0;
	}
	kit_unname(path);
	kit_free(&k);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("perfdata prefix");
	TCase *tc = tap_case(suite, "prefixes");

	paths = argv + 1;
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, prefixes, 0, argc - 1);
	return tap_main(suite);
}
