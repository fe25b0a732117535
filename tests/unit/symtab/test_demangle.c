// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that names are shown as their authors wrote them (C++, Rust in both manglings,
 * without hashes and without ThinLTO's suffix), that a name which only looks mangled
 * stays as it is, and that no name, however it was made up, costs more than a moment:
 * back-references can make a short name stand for terabytes of text.
 */
#include "symtab/name/demangle.h"

#include <stdio.h>
#include <string.h>

#include "tests/kit/tap.h"

struct name {
	const char *raw, *nice;
};

/* The same with and without a demangler. */
static const struct name plain[] = {
	{"", ""},
	{"main", "main"},
	{"with space", "with space"},
	{"local.llvm.1234567890123456789", "local"},
	{"local.llvm.0", "local"},
	{"local.llvm.", "local.llvm."},
	{"local.llvm.12x", "local.llvm.12x"},
	{"local.llvm.1.cold", "local.llvm.1.cold"},
	{"local.LLVM.1", "local.LLVM.1"},
	{"local_llvm.1", "local_llvm.1"},
	{"a.llvm.1.llvm.2", "a.llvm.1"},
	{".llvm.1", ".llvm.1"}, /* a name is never nothing */
	{"1234", "1234"},
	{".1", ".1"},
	{"_Z", "_Z"},
	{"_R", "_R"},
	{"_ZN", "_ZN"},
	{"_ZN9truncated", "_ZN9truncated"},
	{"_Znonsense\033[2J", "_Znonsense\033[2J"},
	{"_RNvC9truncated", "_RNvC9truncated"},
	{"_RNvB_", "_RNvB_"},
	{"_D3foo4mainFZv", "_D3foo4mainFZv"},
	{"caf\xc3\xa9\xff", "caf\xc3\xa9\xff"},
	{"wasm[0]::function[12]", "wasm[0]::function[12]"},
	{"wasm[0]::function[12]::", "wasm[0]::function[12]::"},
	{"wasm[0]::function[12]::.llvm.1", "wasm[0]::function[12]::"},
	{"wasm[0]::function[12]::fib", "wasm[0]::function[12]::fib"},
	{"wasm[0]::function[1]::_ZN9truncated", "wasm[0]::function[1]::_ZN9truncated"},
};

static const struct name mangled[] = {
	{"_Z3foov", "foo()"},
	{"_ZN3foo3barEi", "foo::bar(int)"},
	{"_Z3fooIiEvT_", "void foo<int>(int)"},
	{"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
	{"_ZTV3Foo", "vtable for Foo"},
	{"_ZN3FooD1Ev", "Foo::~Foo()"},
	{"_ZN3FooC1Ev", "Foo::Foo()"},
	{"_ZN3FooC2Ei", "Foo::Foo(int)"},
	{"_ZN3FooplERKS_", "Foo::operator+(Foo const&)"},
	{"_ZNSs6appendEPKc", "std::string::append(char const*)"},
	{"_ZSt4swapv", "std::swap()"},
	{"_ZNSaIcEC1Ev", "std::allocator<char>::allocator()"},
	{"_ZZ1fvENKUlvE_clEv", "f()::{lambda()#1}::operator()() const"},
	{"_ZN1AUt_C1Ev", "A::{unnamed type#1}::A()"},
	{"_ZZN1A1fEvENKUt_1gEv", "A::f()::{unnamed type#1}::g() const"},
	{"_ZZ1fiEd_NKUlvE_clEv",
	 "f(int)::{default arg#1}::{lambda()#1}::operator()() const"},
	{"_Z1fIiEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) f<int>(int)"},
	{"_ZN1Acv8MyStringEv", "A::operator MyString()"},
	{"_Zli3_kmy", "operator\"\" _km(unsigned long long)"},
	{"_ZN1Av03addEv", "A::operator add()"},
	{"_Z1fIXadL_Z1gvEEEvv", "void f<&(g())>()"},
	{"_Z1fILc97EEvv", "void f<(char)97>()"},
	{"_ZNKSt6vectorIiSaIiEE4sizeEv",
	 "std::vector<int, std::allocator<int> >::size() const"},
	{"_Z3foov.cold", "foo() [clone .cold]"},
	{"_ZL3foov.llvm.17", "foo()"},
	/* Rust, legacy: the hash h... goes, and so do the escapes. */
	{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	 "core::fmt::Write::write_fmt"},
	{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.42",
	 "core::fmt::Write::write_fmt"},
	{"_ZN27_$LT$Foo$u20$as$u20$Bar$GT$3baz17h0123456789abcdefE", "<Foo as Bar>::baz"},
	{"_ZN5guest4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	 "guest::main::{{closure}}"},
	/* Rust, v0: the crate's hash goes. */
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	{"_RNvCs1234_7mycrate3foo.llvm.99", "mycrate::foo"},
	{"_RNvMs_NtCs4fqI2P2rA04_4core3fmtNtB4_9Formatter3pad",
	 "<core::fmt::Formatter>::pad"},
	{"_RNvC03foo", "::foo"}, /* the crate has no name */
	{"_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>"},
	{"_RNvC7mycrateu8gdel_5qa", "mycrate::g\xc3\xb6"
				    "del"},
	/* wasmtime's */
	{"wasm[0]::function[12]::_RNvCs1234_7mycrate3foo",
	 "wasm[0]::function[12]::mycrate::foo"},
	{"wasm[0]::function[3]::_Z3foov.llvm.17", "wasm[0]::function[3]::foo()"},
};

#define N(table) ((int)(sizeof(table) / sizeof((table)[0])))

static void expect(const char *raw, const char *nice)
{
	char *got = hlg_demangle(raw);

	ck_assert_ptr_nonnull(got);
	ck_assert_str_eq(got, nice);
	free(got);
}

START_TEST(plain_names_stay)
{
	expect(plain[_i].raw, plain[_i].nice);
}
END_TEST

START_TEST(mangled_names_are_read)
{
	const struct name *n = &mangled[_i];
	char bare[128];
	size_t len = strcspn(n->raw, ".");

	if (hlg_demangle_available()) {
		expect(n->raw, n->nice);
		return;
	}
	/* Without a demangler only ThinLTO's suffix goes. */
	snprintf(bare, sizeof(bare), "%s", n->raw);
	if (!strncmp(n->raw + len, ".llvm.", 6))
		bare[len] = '\0';
	expect(n->raw, bare);
}
END_TEST

/* What becomes of a name nobody would write: something, and not endless. */
static void survive(const char *raw)
{
	char *got = hlg_demangle(raw);

	ck_assert_ptr_nonnull(got);
	ck_assert_uint_le(strlen(got), strlen(raw) > 65536 ? strlen(raw) : 65536);
	free(got);
}

/* prefix, then count times piece, then suffix. */
static void survive_repeated(const char *prefix, const char *piece, size_t count,
			     const char *suffix)
{
	char *name = malloc(strlen(prefix) + count * strlen(piece) + strlen(suffix) + 1);
	char *at = stpcpy(name, prefix);

	ck_assert_ptr_nonnull(name);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, piece);
	strcpy(at, suffix);
	survive(name);
	free(name);
}

static const struct {
	const char *prefix, *piece, *suffix;
} towers[] = {
	{"", "x", ""},
	{"_Z", "9", ""},
	{"_Z1f", "P", "i"},
	{"_Z1f", "i", ""},
	{"_ZN", "1a", "Ev"},
	{"_Z1fI", "1AI", ""},
	{"_Z1f", "F", ""},
	{"_Z1fIXL", "ng", ""},
	{"_RNvC1a", "u", "1b"},
	{"_RINvC1a1b", "R", "iE"},
	{"_RINvC1a1b", "T", "E"},
	{"_RINvC1a1b", "I", "E"},
	{"_RNv", "Nv", "C1a1b"},
	{"_ZN", "1a", "17h0123456789abcdefE"},
	{"x", ".llvm.1", ""},
	{"x.llvm.", "1", ""},
	{"_Z3foov", ".cold", ""},
};

START_TEST(long_names_are_survived)
{
	for (size_t count = 1; count <= 1000000; count *= 10)
		survive_repeated(towers[_i].prefix, towers[_i].piece, count,
				 towers[_i].suffix);
}
END_TEST

/*
 * f(A<int, int>, B<S0_, S0_>, C<S2_, S2_> ...), where each substitution is the whole
 * argument before: 40 arguments are 2^40 times the first.
 */
START_TEST(cpp_substitutions_do_not_explode)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (int depth = 1; depth <= 40; depth++) {
		char name[1024] = "_Z1f1AIiiE", *at = name + strlen(name);
		int last = 0; /* S<last>_ is the argument before */

		for (int i = 0; i < depth; i++, last += 2) {
			char ref[3] = {digits[last / 36], digits[last % 36]};
			const char *r = last < 36 ? ref + 1 : ref;

			at += sprintf(at, "1%cIS%s_S%s_E", 'a' + i % 26, r, r);
		}
		survive(name);
	}
	if (hlg_demangle_available())
		expect("_Z1f1AIiiE1BIS0_S0_E",
		       "f(A<int, int>, B<A<int, int>, A<int, int> >)");
}
END_TEST

/* The base-62 number of a v0 back-reference: none for 0, else the value less one. */
static char *put_base62(char *at, size_t value)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (value--) {
		if (value >= 62)
			*at++ = digits[value / 62];
		*at++ = digits[value % 62];
	}
	*at++ = '_';
	return at;
}

/* f::<(i32, i32), (B, B), (B, B) ...>, each B the tuple before. */
START_TEST(rust_back_references_do_not_explode)
{
	for (int depth = 1; depth <= 40; depth++) {
		char name[1024] = "_RINvC1a1fTllE", *at = name + strlen(name);
		size_t before = strlen("INvC1a1f");

		for (int i = 0; i < depth; i++) {
			char *tuple = at;

			*at++ = 'T';
			*at++ = 'B';
			at = put_base62(at, before);
			*at++ = 'B';
			at = put_base62(at, before);
			*at++ = 'E';
			before = (size_t)(tuple - name) - strlen("_R");
		}
		strcpy(at, "E");
		survive(name);
		if (depth == 1 && hlg_demangle_available())
			expect(name, "a::f::<(i32, i32), ((i32, i32), (i32, i32))>");
	}
}
END_TEST

/*
 * f(b<a<int, int>, a<S1_, S1_>, a<S2_, S2_> ...>...): nothing is written before the "..."
 * at the end has been looked for in all of it, 2^depth arguments.
 */
static void put_pack(char *name, int depth)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *at = stpcpy(name, "_Z1fDp1bI1aIiiE");

	for (int i = 1; i <= depth; i++) { /* S<i>_ is the argument before */
		char ref[3] = {digits[i / 36], digits[i % 36]};
		const char *r = i < 36 ? ref + 1 : ref;

		at += sprintf(at, "S0_IS%s_S%s_E", r, r);
	}
	strcpy(at, "E");
}

START_TEST(cpp_packs_do_not_explode)
{
	char name[1024], inside[1040];

	for (int depth = 1; depth <= 60; depth++) {
		put_pack(name, depth);
		survive(name);
		snprintf(inside, sizeof(inside), "_GLOBAL__I_%s", name);
		survive(inside);
	}
	if (!hlg_demangle_available())
		return;
	put_pack(name, 1);
	expect(name, "f((b<a<int, int>, a<a<int, int>, a<int, int> > >)...)");
	put_pack(name, 60);
	expect(name, name);
}
END_TEST

/* What is left out of the text is counted all the same: 62^8 lifetimes. */
START_TEST(rust_binders_do_not_count_for_ever)
{
	survive("_RNvMIC1aFGzzzzzzzz_EuEu1f");
	survive("_RNvMIC1aDGzzzzzzzz_C1bEL_Eu1f");
	survive_repeated("_RNvMIC1aT", "FGzz_Eu", 100000, "EEu1f");
	survive_repeated("_RNvMIC1aT", "FG", 100000, "EEu1f");
	if (!hlg_demangle_available())
		return;
	expect("_RNvMIC1aFGzzz_EuEu1f", "_RNvMIC1aFGzzz_EuEu1f");
	expect("_RNvMIC1aFGz_EuEu1f", "<()>::f");
	expect("_RINvC1a1fFG_RL0_lEuE", "a::f::<for<'a> fn(&'a i32)>");
	/* What only looks like a binder's number. */
	expect("_RNvC1a9xDGemmS_f", "_RNvC1a9xDGemmS_f");
	expect("_RNvC1a9xDGem_S_f", "a::xDGem_S_f");
}
END_TEST

/* Each letter of an identifier in Punycode is put among those before it. */
START_TEST(rust_unicode_is_not_slow)
{
	for (size_t count = 100; count <= 1000000; count *= 10) {
		char prefix[64];

		snprintf(prefix, sizeof(prefix), "_RNvC7mycrateu%zu", count);
		survive_repeated(prefix, "b", count, "");
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demangle");
	TCase *tc = tap_case(suite, "demangle");

	tcase_add_loop_test(tc, plain_names_stay, 0, N(plain));
	tcase_add_loop_test(tc, mangled_names_are_read, 0, N(mangled));
	tcase_add_loop_test(tc, long_names_are_survived, 0, N(towers));
	tcase_add_test(tc, cpp_substitutions_do_not_explode);
	tcase_add_test(tc, rust_back_references_do_not_explode);
	tcase_add_test(tc, cpp_packs_do_not_explode);
	tcase_add_test(tc, rust_binders_do_not_count_for_ever);
	tcase_add_test(tc, rust_unicode_is_not_slow);
	return tap_main(suite);
}
