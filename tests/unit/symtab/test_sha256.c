// SPDX-License-Identifier: GPL-2.0-only
/* The examples of FIPS 180-4's authors (NIST, SHA256.pdf), and every length at which the
 * padding goes another way, by sha256sum's word. */
#include "symtab/sha256.h"

#include <string.h>

#include "tests/kit/tap.h"

static const struct {
	const char *data, *digest;
	size_t n; /* times */
} known[] = {
	{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 1},
	{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 1},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", 1},
	{"a", "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318", 55},
	{"a", "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a", 56},
	{"a", "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34", 63},
	{"a", "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb", 64},
	{"a", "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0", 65},
	{"a", "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	 1000000},
};

START_TEST(digests)
{
	char *data = malloc(known[_i].n * strlen(known[_i].data) + 1);
	unsigned char digest[HLG_SHA256_SIZE], back[HLG_SHA256_SIZE];
	char text[HLG_SHA256_TEXT];
	size_t n = 0;

	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < known[_i].n; i++, n += strlen(known[_i].data))
		memcpy(data + n, known[_i].data, strlen(known[_i].data));
	hlg_sha256(digest, data, n);
	hlg_sha256_print(text, digest);
	ck_assert_str_eq(text, known[_i].digest);
	ck_assert(hlg_sha256_parse(back, text));
	ck_assert_mem_eq(back, digest, sizeof(digest));
	free(data);
}
END_TEST

START_TEST(no_digests)
{
	unsigned char digest[HLG_SHA256_SIZE];
	char text[HLG_SHA256_TEXT + 1];

	strcpy(text, known[0].digest);
	text[10] = 'E';
	ck_assert(!hlg_sha256_parse(digest, text));
	text[10] = '\0';
	ck_assert(!hlg_sha256_parse(digest, text));
	strcpy(text, known[0].digest);
	strcat(text, "0");
	ck_assert(!hlg_sha256_parse(digest, text));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sha256");
	TCase *tc = tap_case(suite, "sha256");

	tcase_add_loop_test(tc, digests, 0, sizeof(known) / sizeof(known[0]));
	tcase_add_test(tc, no_digests);
	return tap_main(suite);
}
