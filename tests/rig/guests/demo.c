// SPDX-License-Identifier: GPL-2.0-only
/*
 * The demo guest: a made-up workload whose profile is known beforehand, shaped like a
 * Hyperlight guest (static PIE, no unwind data, mangled and plain names, aliases, code
 * without symbols). Every run does the same work. General registers are enough for it, so
 * that software that emulates ring 0 can run it too.
 *
 * The share of each function is set by the counts in one_round(); tests/data/README.md
 * has the measured ones.
 */
#include "demo.h"

#define NOINLINE __attribute__((noinline))
#define WORDS    512
#define KEYS     96
#define TEXT     256

static uint64_t words[WORDS];
static uint64_t copied[WORDS];
static uint32_t keys[KEYS];
static char text[TEXT];

/* Wide results go here, so that no work can be optimised away. */
volatile uint64_t sink;

/* C++ names, so that demangling has something to do. */
uint64_t json_parse(const char *input,
		    uint64_t size) __asm__("_ZN5guest4json5parseEPKcm");
uint64_t fold_words(const uint64_t *from,
		    uint64_t count) __asm__("_ZN5guest4foldImEET_PKS1_m");

/* One copier, three names: two GLOBAL, one WEAK. */
void guest_copy(uint64_t *to, const uint64_t *from, size_t count);
void guest_move(uint64_t *to, const uint64_t *from, size_t count)
	__attribute__((alias("guest_copy")));
void weak_copy(uint64_t *to, const uint64_t *from, size_t count)
	__attribute__((weak, alias("guest_copy")));

uint64_t tick(uint64_t state);
uint64_t hash_block(const uint64_t *from, size_t count, uint64_t seed);
uint64_t never_called(uint64_t state);
void sort_keys(uint32_t *array, size_t count);
uint64_t unrolled_rounds(uint64_t state);
size_t find_byte(const char *from, size_t size, char wanted);
size_t format_decimal(char *to, uint64_t number);
void fill_tables(void);
void call_host(uint32_t function);
void log_line(uint32_t line);
void debug_print(char character);
void guest_abort(uint32_t code) __attribute__((noreturn));

/* Always by way of dx, as Hyperlight does it, even where the port would fit the opcode.
 */
static void out(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "d"(port) : "memory");
}

/* The smallest one: a single lea and a ret. */
NOINLINE uint64_t tick(uint64_t state)
{
	return state * 5 + 1234567;
}

/* The hottest one. */
NOINLINE uint64_t hash_block(const uint64_t *from, size_t count, uint64_t seed)
{
	uint64_t hash = seed;

	for (size_t i = 0; i < count; i++) {
		hash ^= from[i];
		hash *= UINT64_C(0x9e3779b97f4a7c15);
		hash = hash << 29 | hash >> 35;
		hash += hash >> 17;
	}
	return hash;
}

/* The neighbour of the hottest one: a sample here is a sample in the wrong place. */
__attribute__((used)) NOINLINE uint64_t never_called(uint64_t state)
{
	for (int i = 0; i < 64; i++)
		state = (state ^ state >> 33) * UINT64_C(0xff51afd7ed558ccd);
	return state;
}

NOINLINE void guest_copy(uint64_t *to, const uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[i] = from[i];
		__asm__ volatile("" : : : "memory");
	}
}

NOINLINE void sort_keys(uint32_t *array, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t key = array[i];
		size_t at = i;

		for (; at > 0 && array[at - 1] > key; at--)
			array[at] = array[at - 1];
		array[at] = key;
	}
}

NOINLINE uint64_t json_parse(const char *input, uint64_t size)
{
	uint64_t total = 0;
	uint64_t number = 0;

	for (uint64_t i = 0; i < size; i++) {
		char c = input[i];

		if (c >= '0' && c <= '9') {
			number = number * 10 + (uint64_t)(c - '0');
		} else if (c == ',' || c == ']') {
			total += number;
			number = 0;
		} else if (c == '\\') {
			i++;
		}
	}
	return total;
}

NOINLINE uint64_t fold_words(const uint64_t *from, uint64_t count)
{
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (from[i] < low)
			low = from[i];
		if (from[i] > high)
			high = from[i];
	}
	return high - low;
}

#define ROUND(n)                                                                         \
	state ^= state << 13;                                                            \
	state ^= state >> 7;                                                             \
	state ^= state << 17;                                                            \
	state += UINT64_C(0x1000193) * (n);
#define ROUNDS_8(n)                                                                      \
	ROUND(n)                                                                         \
	ROUND(n + 1)                                                                     \
	ROUND(n + 2) ROUND(n + 3) ROUND(n + 4) ROUND(n + 5) ROUND(n + 6) ROUND(n + 7)

/* The largest one: 2 KiB of straight code. */
NOINLINE uint64_t unrolled_rounds(uint64_t state)
{
	ROUNDS_8(1)
	ROUNDS_8(9)
	ROUNDS_8(17)
	ROUNDS_8(25)
	ROUNDS_8(33)
	ROUNDS_8(41)
	ROUNDS_8(49)
	return state;
}

static NOINLINE uint64_t collatz_steps(uint64_t number)
{
	uint64_t steps = 0;

	while (number != 1) {
		number = number & 1 ? 3 * number + 1 : number / 2;
		steps++;
	}
	return steps;
}

NOINLINE size_t find_byte(const char *from, size_t size, char wanted)
{
	size_t i = 0;

	while (i < size && from[i] != wanted)
		i++;
	return i;
}

/* Divides by a variable, which compilers leave to the slow instruction. */
NOINLINE size_t format_decimal(char *to, uint64_t number)
{
	volatile uint64_t radix = 10;
	size_t length = 0;

	do {
		to[length++] = (char)('0' + number % radix);
		number /= radix;
	} while (number != 0);
	return length;
}

/* The same tables for every run; the host keeps memory between the runs. */
NOINLINE void fill_tables(void)
{
	uint64_t state = 88172645463325252;

	for (size_t i = 0; i < WORDS; i++) {
		state = tick(state) ^ state >> 31;
		words[i] = state;
	}
	for (size_t i = 0; i < TEXT; i++)
		text[i] = i % 7 == 6 ? ',' : (char)('0' + words[i] % 8);
	text[TEXT - 1] = ']';
}

NOINLINE void call_host(uint32_t function)
{
	out(PORT_CALL, function);
}

NOINLINE void log_line(uint32_t line)
{
	out(PORT_LOG, line);
}

NOINLINE void debug_print(char character)
{
	out(PORT_PRINT, (uint32_t)(unsigned char)character);
}

/* Cold: only a broken guest gets here. */
__attribute__((cold)) NOINLINE void guest_abort(uint32_t code)
{
	for (;;)
		out(PORT_ABORT, code);
}

static NOINLINE uint64_t take_exceptions(uint64_t state)
{
	for (int i = 0; i < 24; i++)
		state = excp_page_fault(state);
	for (int i = 0; i < 12; i++)
		state = excp_general_protection(state);
	return excp_divide(state);
}

static NOINLINE uint64_t one_round(uint64_t state)
{
	char digits[24];

	for (int i = 0; i < 4; i++)
		state = hash_block(words, WORDS, state);
	for (size_t i = 0; i < KEYS; i++)
		keys[i] = (uint32_t)(words[i] >> (state & 31));
	sort_keys(keys, KEYS);
	for (int i = 0; i < 4; i++)
		state += json_parse(text, TEXT);
	state ^= fold_words(words, WORDS);
	guest_copy(copied, words, WORDS);
	state += checksum_words(copied, WORDS);
	state ^= unlabelled_mixer(copied, WORDS);
	for (int i = 0; i < 8; i++)
		state = unrolled_rounds(state);
	state += collatz_steps(871);
	state += find_byte(text, TEXT, ']');
	state += format_decimal(digits, state);
	return take_exceptions(state);
}

void guest_main(void)
{
	uint64_t state = 1;

	fill_tables();
	log_line(1);
	for (int i = 0; i < 64; i++)
		state = one_round(state);
	if (collatz_steps(27) != 111)
		guest_abort(1);
	call_host((uint32_t)state);
	debug_print('.');
	sink = state;
}
