# SPDX-License-Identifier: GPL-2.0-only
"""Small programs that are compiled for a test: with inlined code, with names alike."""
import os

from tap import must, need

SOURCE = """
#include "inlined.h"
int table[64];
__attribute__((noinline)) int outer(int x)
{
	int sum = 0;

	for (int i = 0; i < 64; i++)
		sum += mix(table[i] + x);
	return sum;
}
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc);
}
"""
INLINED = """
static inline __attribute__((always_inline)) int mix(int a)
{
	for (int i = 0; i < 3; i++)
		a = a * 31 + (a >> 3);
	return a;
}
"""
NESTED = """
static inline __attribute__((always_inline)) int step(int a)
{
	return a * 31 + (a >> 3);
}
static inline __attribute__((always_inline)) int mix(int a)
{
	for (int i = 0; i < 3; i++)
		a = step(a) ^ i;
	return a;
}
"""
TWIN = "static int __attribute__((noinline)) same(int x) { return x * %d; } "


def write(work, name, text):
    with open(os.path.join(work, name), "w", encoding="utf-8") as f:
        f.write(text)


def starts_and_sizes(work, program, function):
    """(address, size) of every function of a name, by address."""
    return sorted((int(w[1], 16), int(w[2])) for w in
                  (line.split() for line in must("readelf", "-sW", program, cwd=work)
                   .splitlines()) if len(w) == 8 and w[7] == function)


def inlined(work, header=INLINED):
    """Makes `program` with debug info: outer() has code of another file in it; with NESTED, in
    which another function was inlined."""
    need("gcc", "readelf")
    write(work, "program.c", SOURCE)
    write(work, "inlined.h", header)
    must("gcc", "-g", "-O2", "-pie", "-fPIE", "program.c", "-o", "program", cwd=work)
    return "program"


def told_apart(work):
    """Makes `told` with three functions called same(), with lines: into the one, guest::greet() is
    inlined, with a function in it and one before it, and into the other nothing; the third is a
    copy of it. Their addresses."""
    need("gcc", "readelf")
    write(work, "greets.c", """static inline __attribute__((always_inline)) int word(int x)
{
	return (x * 7 ^ (x >> 3)) * 11 ^ (x >> 5);
}
static inline __attribute__((always_inline)) int _ZN5guest5greetEi(int x)
{
	for (int i = 0; i < 40; i++)
		x = word(word(x)) * 13 ^ (x >> 7);
	return x;
}
static inline __attribute__((always_inline)) int before(int x)
{
	return (x * 5 ^ (x >> 9)) * 3 ^ (x >> 11);
}
static __attribute__((noinline)) int same(int x) { return _ZN5guest5greetEi(before(x)); }
int a(int x) { return same(x) + 1; }
""")
    write(work, "counts.c", TWIN % 3 + "\nint b(int x) { return same(x) + 1; }")
    write(work, "main.c", TWIN % 5 + "\nint a(int), b(int); int main(int c, char **v) "
                                     "{ (void)v; return same(c) + a(c) + b(c); }")
    # With loops aligned, as gcc 14 does, half of the first would be padding.
    must("gcc", "-Os", "-g", "-pie", "-fPIE", "greets.c", "counts.c", "main.c", "-o", "told", cwd=work)
    return [start for start, _ in starts_and_sizes(work, "told", "same")]


def twins(work):
    """Makes `twins` with two functions called same(); their addresses."""
    need("gcc", "readelf")
    write(work, "a.c", TWIN % 3 + "int a(int x) { return same(x) + 1; }")
    write(work, "b.c", TWIN % 5 + "int a(int); int main(int c, char **v) "
                                  "{ (void)v; return same(c) + a(c); }")
    must("gcc", "-O1", "-pie", "-fPIE", "a.c", "b.c", "-o", "twins", cwd=work)
    return [start for start, _ in starts_and_sizes(work, "twins", "same")]
