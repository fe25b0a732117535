// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/sampling.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tests/kit/scratch.h"

enum {
	FUNCTION = 64
};

/* splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014). */
uint64_t sampling_random(uint64_t *state, uint64_t n)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % n;
}

static void list_addresses(struct sampling *s)
{
	size_t room = 0;

	for (size_t i = 0; i < s->image->n_areas; i++)
		if (s->image->areas[i].code)
			room += s->image->areas[i].end - s->image->areas[i].start;
	s->on = calloc(room + 1, sizeof(*s->on));
	s->covered = calloc(room + 1, sizeof(*s->covered));
	for (size_t i = 0; i < s->image->n_areas; i++) {
		const struct hlg_area *area = &s->image->areas[i];

		for (uint64_t a = area->start; area->code && a < area->end; a++) {
			enum hlg_boundary is = hlg_code_test(s->code, a);

			if (is != HLG_BOUNDARY_UNKNOWN)
				s->covered[s->n_covered++] = a;
			if (is == HLG_BOUNDARY_ON)
				s->on[s->n_on++] = a;
		}
	}
}

bool sampling_open(struct sampling *s, const char *path)
{
	struct hlg_err err;

	*s = (struct sampling){0};
	if (hlg_image_open_elf(&s->image, path, &err) < 0 ||
	    hlg_code_open(&s->code, s->image, &err) < 0)
		return false;
	hlg_code_decode_all(s->code);
	list_addresses(s);
	return true;
}

static bool open_guest(struct sampling *s, int i)
{
	switch (i) {
	case 0:
		return sampling_open(
			s, sampling_write("even", EM_X86_64, 0x400000, SAMPLING_CODE, 0));
	case 1:
		return sampling_open(s, sampling_write("odd", EM_X86_64, 0x401230,
						       16 * SAMPLING_CODE, 0));
	case 2:
		return sampling_open(s, sampling_data("demo.elf"));
	case 3:
		return sampling_open(s, sampling_data("rusty.elf"));
	default:
		return sampling_open(s, "/lib/x86_64-linux-gnu/libc.so.6");
	}
}

bool sampling_guest(struct sampling *s, int i)
{
	bool ok = open_guest(s, i);

	/* A test that has nothing to look at proves nothing. */
	ck_assert_msg(ok || !HLG_HAVE_ZYDIS || i == 4, "guest %d is missing", i);
	if (!ok)
		printf("# skipped: guest %d\n", i);
	return ok;
}

void sampling_finish(struct sampling *s)
{
	free(s->on);
	free(s->covered);
	hlg_code_close(s->code);
	hlg_image_destroy(s->image);
	*s = (struct sampling){0};
}

const char *sampling_data(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", HLG_TEST_DATA, name);
	return path;
}

/* Fills a function; the last byte is a return. */
static void put_x86(uint8_t *at, unsigned length, uint64_t *random)
{
	static const struct {
		size_t length;
		uint8_t byte[8];
	} insns[] = {
		{1, {0x90}},
		{2, {0x31, 0xc0}},
		{3, {0x48, 0xff, 0xc0}},
		{5, {0xb8, 1, 2, 3, 4}},
		{6, {0x81, 0xc3, 1, 2, 3, 4}},
		{8, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}},
	};
	static const uint8_t mov[] = {0x48, 0x8b, 0x45, 0xf8}; /* rax, [rbp - 8] */
	size_t i = 0;

	if (length) {
		for (; i < FUNCTION; i += length)
			memcpy(at + i, length == 4 ? mov : insns[0].byte, length);
		return;
	}
	while (i < FUNCTION - 1) {
		size_t k = sampling_random(random, 6);

		if (i + insns[k].length > FUNCTION - 1)
			k = 0;
		memcpy(at + i, insns[k].byte, insns[k].length);
		i += insns[k].length;
	}
	at[i] = 0xc3;
}

static void put_a64(uint8_t *at)
{
	static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5};

	for (int i = 0; i < FUNCTION; i += 4)
		memcpy(at + i, nop, 4);
}

const char *sampling_write(const char *name, unsigned machine, uint64_t vaddr,
			   size_t size, unsigned length)
{
	size_t n = size / FUNCTION;
	uint8_t *text = calloc(n, FUNCTION);
	struct mkelf_sym *syms = calloc(n, sizeof(*syms));
	char(*names)[24] = calloc(n, sizeof(*names));
	struct mkelf_simple s;
	uint64_t random = size;
	const char *path;

	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		syms[i] = (struct mkelf_sym)MKELF_SYM(names[i], vaddr + i * FUNCTION,
						      FUNCTION, STB_GLOBAL, STT_FUNC,
						      MKELF_SEC(0));
		if (machine == EM_AARCH64)
			put_a64(text + i * FUNCTION);
		else
			put_x86(text + i * FUNCTION, length, &random);
	}
	mkelf_simple_init(&s, vaddr, text, n * FUNCTION, syms, n);
	s.elf.machine = (uint16_t)machine;
	path = scratch_elf(name, &s.elf);
	free(text);
	free(syms);
	free(names);
	return path;
}

void sampled_add(struct sampled_set *set, uint64_t ip, uint64_t samples)
{
	set->at = reallocarray(set->at, set->n + 1, sizeof(*set->at));
	ck_assert_ptr_nonnull(set->at);
	set->at[set->n++] = (struct hlg_sampled){ip, samples};
}

void sampled_draw(struct sampled_set *set, const uint64_t *addrs, size_t m, size_t n,
		  uint64_t bias, uint64_t *random)
{
	uint64_t *left = malloc(m * sizeof(*left));

	ck_assert_ptr_nonnull(left);
	memcpy(left, addrs, m * sizeof(*left));
	/* The front of a shuffle (Fisher and Yates). */
	for (size_t i = 0; i < n && i < m; i++) {
		size_t k = i + sampling_random(random, m - i);
		uint64_t addr = left[k];

		left[k] = left[i];
		sampled_add(set, addr + bias, 1 + sampling_random(random, 20));
	}
	free(left);
}

static int compare(const void *a, const void *b)
{
	const struct hlg_sampled *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

void sampled_sort(struct sampled_set *set)
{
	size_t n = 0;

	if (set->n)
		qsort(set->at, set->n, sizeof(*set->at), compare);
	for (size_t i = 0; i < set->n; i++) {
		if (n && set->at[n - 1].ip == set->at[i].ip)
			set->at[n - 1].samples += set->at[i].samples;
		else
			set->at[n++] = set->at[i];
	}
	set->n = n;
}

void sampled_finish(struct sampled_set *set)
{
	free(set->at);
	*set = (struct sampled_set){0};
}
