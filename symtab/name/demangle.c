// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/name/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#if HLG_HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#include <setjmp.h>

/*
 * Some names libiberty (20230104) would read for hours before it writes anything, so that
 * no bound on its text can stop it. They stay mangled:
 *
 * C++: a pack expansion ("Dp", <type> of the Itanium C++ ABI, 5.1.5) is searched for its
 * parameter packs through every substitution ("S_", 5.1.10) as often as it is mentioned:
 * 40 times b<S1_, S1_>, each S1_ being the one before, are 2^40 steps.
 *
 * Rust v0: "for<'a, 'b>" of a binder ("G" and a number, RFC 2603) is counted to its end
 * also inside an impl path, which is not written. An identifier with letters beyond ASCII
 * takes the square of its length, so names over 16 KiB are costly too. What only looks
 * like a binder, "FG" or "DG" with three or more letters or digits and a "_" behind, is
 * taken for one.
 */

/* Components a name may stand for, substitutions written out: for a letter of it, and
 * besides; and never more than these. Text of 64 KiB has fewer. */
#define TIMES_STEPS 32
#define FREE_STEPS  4096
#define MAX_STEPS   65536

/* A mangled name has at most two per letter, and libiberty takes no more than these. */
#define MAX_COMPONENTS DEMANGLE_RECURSION_LIMIT

/* Letters of a Rust name: those of its Unicode ("u") identifiers are each put into its
 * place among the others, which are moved for it. */
#define MAX_RUST 16384

/* Digits of a binder's number in base 62: with two it is at most 3,845 lifetimes. */
#define MAX_BINDER 2

/* Pushes what is below a component, which libiberty describes in demangle.h. */
static size_t push_below(struct demangle_component **stack, size_t n,
			 const struct demangle_component *c)
{
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return n;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		stack[n++] = c->u.s_extended_operator.name;
		return n;
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		stack[n++] = c->u.s_fixed.length;
		return n;
	case DEMANGLE_COMPONENT_CTOR:
		stack[n++] = c->u.s_ctor.name;
		return n;
	case DEMANGLE_COMPONENT_DTOR:
		stack[n++] = c->u.s_dtor.name;
		return n;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		stack[n++] = c->u.s_unary_num.sub;
		return n;
	default:
		stack[n++] = c->u.s_binary.right;
		stack[n++] = c->u.s_binary.left;
		return n;
	}
}

/* Does writing all substitutions out take too many steps? */
static bool is_deep(struct demangle_component *tree, size_t max)
{
	/* On the way down one component waits per level, and there are not more levels.
	 */
	struct demangle_component *stack[MAX_COMPONENTS + 2];
	size_t n = 0, steps = 0;

	stack[n++] = tree;
	while (n) {
		struct demangle_component *c = stack[--n];

		if (!c)
			continue;
		if (++steps > max || n > MAX_COMPONENTS)
			return true;
		n = push_below(stack, n, c);
	}
	return false;
}

/* What a name may take: so much for a letter, and so much besides. */
static size_t bounded(const char *name, size_t times, size_t free, size_t most)
{
	size_t n = free + times * strlen(name);

	return n < most ? n : most;
}

static bool is_costly_cpp(const char *name)
{
	struct demangle_component *tree;
	void *memory = NULL;
	bool deep;

	/* "_GLOBAL__I_" and "_GLOBAL__D_" before what is constructed; ".", "_" or "$". */
	if (!strncmp(name, "_GLOBAL_", 8) && name[8] && name[9] && name[10] == '_')
		name += 11;
	/* Longer ones libiberty leaves alone. */
	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > MAX_COMPONENTS / 2)
		return false;
	tree = cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &memory);
	deep = tree && is_deep(tree, bounded(name, TIMES_STEPS, FREE_STEPS, MAX_STEPS));
	free(memory);
	return deep;
}

static const char base62[] =
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* A binder stands at the beginning of a function's type ("F") or a trait object ("D"). */
static bool is_costly_rust(const char *name)
{
	if (strncmp(name, "_R", 2) != 0)
		return false;
	if (strlen(name) > MAX_RUST)
		return true;
	while ((name = strchr(name, 'G'))) {
		size_t digits = strspn(++name, base62);

		if (name[-2] != 'F' && name[-2] != 'D')
			continue;
		name += digits;
		if (*name == '_' && digits > MAX_BINDER)
			return true;
	}
	return false;
}

/*
 * Back-references let a name of 200 bytes stand for more text than any memory holds, so
 * the text is collected in bounds; a name that passes them stays mangled. A small file
 * can have thousands of these, so a short name has less room than a long one.
 */
#define TIMES_TEXT 32
#define FREE_TEXT  4096
#define MAX_TEXT   ((size_t)64 << 10)

struct sink {
	jmp_buf full; /* libiberty has no other way to be stopped */
	char *text;
	size_t len, max;
};

static void collect(const char *s, size_t len, void *opaque)
{
	struct sink *sink = opaque;

	if (len > sink->max - sink->len)
		longjmp(sink->full, 1);
	if (len) /* of an empty name s may be NULL */
		memcpy(sink->text + sink->len, s, len);
	sink->len += len;
}

static bool demangle_into(struct sink *sink, const char *name)
{
	const int options = DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(sink->full))
		return false;
	if (rust_demangle_callback(name, options, collect, sink))
		return true;
	sink->len = 0;
	return cplus_demangle_v3_callback(name, options, collect, sink);
}

/* *nice is NULL when the name is not mangled, or hostile. False without memory. */
static bool readable(const char *name, char **nice)
{
	const size_t max = bounded(name, TIMES_TEXT, FREE_TEXT, MAX_TEXT);
	struct sink sink = {.text = malloc(max), .max = max};
	bool mangled = sink.text && !is_costly_rust(name) && !is_costly_cpp(name) &&
		       demangle_into(&sink, name);
	bool ok;

	*nice = mangled ? strndup(sink.text, sink.len) : NULL;
	ok = sink.text && (*nice || !mangled);
	free(sink.text);
	return ok;
}
#endif

/* Length of name without a `.llvm.DIGITS` at its end. */
static size_t plain_length(const char *name)
{
	size_t len = strlen(name), digits = len;
	static const char mark[] = ".llvm.";
	const size_t mark_len = sizeof(mark) - 1;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits == len || digits <= mark_len ||
	    memcmp(name + digits - mark_len, mark, mark_len) != 0)
		return len;
	return digits - mark_len;
}

#if HLG_HAVE_LIBIBERTY
/* Length of what wasmtime puts in front of a function's name, which may be mangled. */
static size_t wasm_length(const char *name)
{
	int n = 0;

	sscanf(name, "wasm[%*u]::function[%*u]::%n", &n);
	return (size_t)n;
}

/* Puts what stands in front of the name before its readable form, which it frees. */
static char *put_before(const char *name, size_t n, char *nice)
{
	char *whole;

	if (n == 0 || !nice)
		return nice;
	if (asprintf(&whole, "%.*s%s", (int)n, name, nice) < 0)
		whole = NULL;
	free(nice);
	return whole;
}
#endif

char *hlg_demangle(const char *name)
{
	char *plain = strndup(name, plain_length(name));

#if HLG_HAVE_LIBIBERTY
	size_t front = wasm_length(name);
	char *nice;

	if (plain && (!readable(plain + front, &nice) || nice)) {
		nice = put_before(plain, front, nice);
		free(plain);
		return nice;
	}
#endif
	return plain;
}

bool hlg_demangle_available(void)
{
	return HLG_HAVE_LIBIBERTY;
}
