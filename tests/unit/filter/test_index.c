// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was entered is found by what it is, through every growth and among things of the
 * same hash; what was not is not. A failed allocation loses nothing.
 */
#include "filter/profile/index.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

/* Things are numbers of their own; search for the one of value want. */
struct search {
	const uint64_t *things;
	uint64_t want;
};

static bool same(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;

	return search->things[number] == search->want;
}

static uint32_t find(const struct hlg_index *index, const uint64_t *things, uint64_t hash,
		     uint64_t want)
{
	const struct search search = {things, want};

	return hlg_index_find(index, hash, same, &search);
}

enum {
	N = 5000
};

START_TEST(found)
{
	static uint64_t things[N];
	struct hlg_index index = {0};

	ck_assert_uint_eq(find(&index, things, 1, 1), HLG_INDEX_NONE);
	for (uint32_t i = 0; i < N; i++) {
		things[i] = i * UINT64_C(0x100000001);
		ck_assert(hlg_index_add(&index, hlg_hash_word(HLG_HASH_SEED, things[i]),
					i));
	}
	ck_assert_uint_eq(index.n, N);
	ck_assert_uint_eq(index.room, 16384); /* at most half used, and not larger */
	for (uint32_t i = 0; i < N; i++) {
		ck_assert_uint_eq(find(&index, things,
				       hlg_hash_word(HLG_HASH_SEED, things[i]),
				       things[i]),
				  i);
		ck_assert_uint_eq(find(&index, things,
				       hlg_hash_word(HLG_HASH_SEED, things[i] + 1),
				       things[i] + 1),
				  HLG_INDEX_NONE);
	}
	hlg_index_finish(&index);
	ck_assert(!index.slots && index.n == 0 && index.room == 0);
}
END_TEST

/* All in one row of slots, which goes round the end. */
START_TEST(same_hash)
{
	static uint64_t things[N];
	struct hlg_index index = {0};

	for (uint32_t i = 0; i < 100; i++) {
		things[i] = i;
		ck_assert(hlg_index_add(&index, 63, i));
	}
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(find(&index, things, 63, i), i);
	ck_assert_uint_eq(find(&index, things, 63, 100), HLG_INDEX_NONE);
	ck_assert_uint_eq(find(&index, things, 62, 5), HLG_INDEX_NONE);
	hlg_index_finish(&index);
}
END_TEST

START_TEST(without_memory)
{
	static uint64_t things[N];
	struct hlg_index index = {0};
	uint32_t failed = 0;

	for (uint32_t i = 0; i < N; i++) {
		bool added, was;

		things[i] = i;
		oom_arm(1, true);
		added = hlg_index_add(&index, i, i);
		was = oom_disarm();
		ck_assert(added != was);
		failed += !added;
		ck_assert(added || hlg_index_add(&index, i, i));
	}
	ck_assert_uint_eq(failed, 9); /* 64, 128 .. 16,384 slots */
	for (uint32_t i = 0; i < N; i++)
		ck_assert_uint_eq(find(&index, things, i, i), i);
	hlg_index_finish(&index);
}
END_TEST

/* The published values of FNV-1a. */
START_TEST(known_hashes)
{
	ck_assert_uint_eq(hlg_hash_fnv(HLG_HASH_SEED, "", 0),
			  UINT64_C(0xcbf29ce484222325));
	ck_assert_uint_eq(hlg_hash_fnv(HLG_HASH_SEED, "foobar", 6),
			  UINT64_C(0x85944171f73967e8));
}
END_TEST

/* Of each length, to the last letter; and texts that only their ends tell apart. */
START_TEST(texts)
{
	char text[40] = "", last[40] = "";
	uint64_t before = 0;

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		uint64_t hash = hlg_hash_text(HLG_HASH_SEED, text);

		ck_assert_uint_ne(hash, before);
		if (i) {
			memcpy(last, text, sizeof(last));
			last[i - 1] ^= 1;
			ck_assert_uint_ne(hash, hlg_hash_text(HLG_HASH_SEED, last));
		}
		before = hash;
		text[i] = 'a';
	}
	ck_assert(hlg_hash_text(hlg_hash_text(HLG_HASH_SEED, "a"), "bc") !=
		  hlg_hash_text(hlg_hash_text(HLG_HASH_SEED, "ab"), "c"));
}
END_TEST

/* Nobody can tell beforehand where a word or a text will be. */
START_TEST(nobody_knows)
{
	const uint64_t was = hlg_hash_factor;
	uint64_t ones = 0, zeros = 0, random[2] = {0}, word, text;

	for (int i = 0; i < 64; i++) {
		for (int k = 0; k < 2; k++) {
			random[k] = 0;
			ones |= hlg_hash_choose(random);
			zeros |= ~hlg_hash_choose(random);
			random[k] = UINT64_C(1) << i;
		}
	}
	ck_assert_uint_eq(ones, UINT64_MAX);
	ck_assert_uint_eq(zeros, UINT64_MAX - 1); /* odd */
	word = hlg_hash_word(HLG_HASH_SEED, 1);
	text = hlg_hash_text(HLG_HASH_SEED, "a");
	hlg_hash_factor = hlg_hash_choose(random);
	ck_assert_uint_ne(word, hlg_hash_word(HLG_HASH_SEED, 1));
	ck_assert_uint_ne(text, hlg_hash_text(HLG_HASH_SEED, "a"));
	hlg_hash_factor = was;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("index");
	TCase *tc = tap_case(suite, "index");

	tcase_add_test(tc, found);
	tcase_add_test(tc, same_hash);
	tcase_add_test(tc, without_memory);
	tcase_add_test(tc, known_hashes);
	tcase_add_test(tc, texts);
	tcase_add_test(tc, nobody_knows);
	return tap_main(suite);
}
