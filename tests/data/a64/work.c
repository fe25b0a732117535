// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of several kinds for AArch64, without a C library: text is made, compressed,
 * sorted, searched, parsed and added up. It ran under QEMU, which counted how often each
 * instruction was executed (README.md of the folder above).
 */
#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

enum {
	TEXT = 1 << 14,
	WORDS = 2048,
	SIDE = 24,
	NODES = 1024
};

struct node {
	struct node *left, *right;
	uint32_t key, count;
};

static unsigned char text[TEXT + 64], packed[2 * TEXT], again[TEXT + 64];
static uint32_t offsets[WORDS], crc_table[256];
static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
static struct node nodes[NODES];
static size_t n_nodes;
volatile uint64_t sink;

void *memset(void *to, int byte, size_t n)
{
	unsigned char *p = to;

	while (n--)
		*p++ = (unsigned char)byte;
	return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
	unsigned char *p = to;
	const unsigned char *q = from;

	while (n--)
		*p++ = *q++;
	return to;
}

static NOINLINE uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static NOINLINE size_t put_number(unsigned char *to, uint32_t value, unsigned base)
{
	unsigned char digits[33];
	size_t n = 0, i;

	do {
		unsigned digit = value % base;

		digits[n++] =
			(unsigned char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
		value /= base;
	} while (value);
	for (i = 0; i < n; i++)
		to[i] = digits[n - 1 - i];
	return n;
}

static NOINLINE size_t make_text(uint32_t *random)
{
	static const char *const words[] = {"sample", "guest", "base", "line",
					    "branch", "call",  "of",   "a"};
	size_t n = 0;

	while (n < TEXT - 48) {
		uint32_t r = next_random(random);

		switch (r & 7) {
		case 0:
			n += put_number(text + n, r >> 20, 10);
			break;
		case 1:
			n += put_number(text + n, r >> 12, 16);
			break;
		case 2:
			text[n++] = "+-*/()"[r >> 8 & 3];
			break;
		default:
			for (const char *p = words[r >> 16 & 7]; *p; p++)
				text[n++] = (unsigned char)*p;
		}
		text[n++] = r >> 30 ? ' ' : '\n';
	}
	return n;
}

static NOINLINE void make_crc_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
		crc_table[i] = crc;
	}
}

static NOINLINE uint32_t crc(const unsigned char *p, size_t n)
{
	uint32_t value = ~0U;

	for (; n; n--)
		value = value >> 8 ^ crc_table[(value ^ *p++) & 255];
	return ~value;
}

static NOINLINE size_t match_length(const unsigned char *p, const unsigned char *q,
				    size_t most)
{
	size_t n = 0;

	while (n < most && p[n] == q[n])
		n++;
	return n;
}

static NOINLINE size_t pack(size_t n)
{
	static uint16_t last[4096];
	size_t out = 0, at = 0;

	memset(last, 0, sizeof(last));
	while (at < n) {
		uint32_t hash = (text[at] * 2654435761U ^ text[at + 1] * 40503U ^
				 text[at + 2] * 977U) >>
					5 &
				4095;
		size_t from = last[hash], length = 0;

		last[hash] = (uint16_t)at;
		if (from && from < at)
			length = match_length(text + from, text + at,
					      n - at < 66 ? n - at : 66);
		if (length > 3) {
			packed[out++] = (unsigned char)(0x80 | (length - 3));
			packed[out++] = (unsigned char)((at - from) >> 8);
			packed[out++] = (unsigned char)(at - from);
			at += length;
		} else {
			packed[out++] = text[at++] & 0x7f;
		}
	}
	return out;
}

static NOINLINE size_t unpack(size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n;) {
		unsigned byte = packed[i++];

		if (byte & 0x80) {
			size_t length = (byte & 0x7f) + 3;
			size_t back = (size_t)packed[i] << 8 | packed[i + 1];

			i += 2;
			for (; length; length--, out++)
				again[out] = again[out - back];
		} else {
			again[out++] = (unsigned char)byte;
		}
	}
	return out;
}

static NOINLINE size_t split(size_t n)
{
	size_t words = 0;
	int inside = 0;

	for (size_t i = 0; i < n && words < WORDS; i++) {
		int space = text[i] == ' ' || text[i] == '\n';

		if (!space && !inside)
			offsets[words++] = (uint32_t)i;
		inside = !space;
	}
	return words;
}

static NOINLINE int compare(uint32_t x, uint32_t y)
{
	const unsigned char *p = text + x, *q = text + y;

	while (*p == *q && *p > ' ')
		p++, q++;
	return (*p > ' ' ? *p : 0) - (*q > ' ' ? *q : 0);
}

static NOINLINE void sort(uint32_t *list, long n)
{
	long i = 0, j = n - 1;
	uint32_t pivot;

	if (n < 8) {
		for (i = 1; i < n; i++)
			for (j = i; j > 0 && compare(list[j - 1], list[j]) > 0; j--) {
				uint32_t t = list[j];

				list[j] = list[j - 1];
				list[j - 1] = t;
			}
		return;
	}
	pivot = list[n / 2];
	while (i <= j) {
		while (compare(list[i], pivot) < 0)
			i++;
		while (compare(list[j], pivot) > 0)
			j--;
		if (i <= j) {
			uint32_t t = list[i];

			list[i++] = list[j];
			list[j--] = t;
		}
	}
	sort(list, j + 1);
	sort(list + i, n - i);
}

static NOINLINE size_t search(const uint32_t *list, size_t n, uint32_t what)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = (low + n) / 2;

		if (compare(list[middle], what) < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static NOINLINE void insert(uint32_t key)
{
	struct node *at = nodes, **to = NULL;

	if (n_nodes == 0)
		to = &at;
	while (n_nodes && at) {
		if (at->key == key) {
			at->count++;
			return;
		}
		to = key < at->key ? &at->left : &at->right;
		at = *to;
	}
	if (n_nodes == NODES)
		return;
	nodes[n_nodes] = (struct node){NULL, NULL, key, 1};
	*to = &nodes[n_nodes++];
}

static NOINLINE uint64_t walk(const struct node *node, unsigned depth)
{
	if (!node)
		return 0;
	return walk(node->left, depth + 1) + (uint64_t)node->count * depth +
	       walk(node->right, depth + 1);
}

static long term(const unsigned char **p);

static NOINLINE long factor(const unsigned char **p)
{
	long value = 0;

	while (**p == ' ' || **p == '\n')
		++*p;
	if (**p == '-') {
		++*p;
		return -factor(p);
	}
	if (**p < '0' || **p > '9') {
		++*p;
		return 1;
	}
	for (; **p >= '0' && **p <= '9'; ++*p)
		value = value * 10 + (**p - '0');
	return value;
}

static NOINLINE long term(const unsigned char **p)
{
	long value = factor(p);

	for (;; value %= 1000003) {
		if (**p == '*') {
			++*p;
			value *= factor(p);
		} else if (**p == '/') {
			long by;

			++*p;
			by = factor(p);
			value = by ? value / by : value;
		} else {
			return value;
		}
	}
}

static NOINLINE long evaluate(size_t n)
{
	const unsigned char *p = text;
	long sum = 0;

	while (p < text + n)
		sum += term(&p);
	return sum;
}

static NOINLINE double multiply(void)
{
	double trace = 0;

	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			double sum = 0;

			for (int k = 0; k < SIDE; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	for (int i = 0; i < SIDE; i++)
		trace += c[i][i];
	return trace;
}

static NOINLINE uint64_t histogram(size_t n)
{
	uint32_t count[256];
	uint64_t sum = 0;

	memset(count, 0, sizeof(count));
	for (size_t i = 0; i < n; i++)
		count[again[i]]++;
	for (int i = 0; i < 256; i++)
		sum += (uint64_t)count[i] * count[i];
	return sum;
}

static NOINLINE void work(uint32_t *random)
{
	size_t n = make_text(random), words, length;

	length = unpack(pack(n));
	sink += crc(again, length) + histogram(length);
	words = split(n);
	sort(offsets, (long)words);
	for (size_t i = 0; i < words; i += 3)
		sink += search(offsets, words, offsets[next_random(random) % words]);
	n_nodes = 0;
	for (int i = 0; i < 3000; i++)
		insert(next_random(random) >> 21);
	sink += walk(nodes, 1) + (uint64_t)evaluate(n);
	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i / SIDE][i % SIDE] = next_random(random) & 255;
		b[i % SIDE][i / SIDE] = i;
	}
	sink += (uint64_t)multiply();
}

static NOINLINE void leave(void)
{
	register long x0 __asm__("x0") = 0;
	register long x8 __asm__("x8") = 94; /* exit_group */

	__asm__ volatile("svc 0" : : "r"(x0), "r"(x8));
}

void _start(void)
{
	uint32_t random = 2463534242;

	make_crc_table();
	for (int i = 0; i < 10; i++)
		work(&random);
	leave();
}
