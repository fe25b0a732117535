// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers by unwind tables: this program is stepped through calls of its own, which keep
 * no frame pointers, and after each instruction its registers and stack are those of a
 * guest that has its ELF.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/kit/tap.h"
#include "tools/callers/unwind.h"

#define STACK    (16 * 1024)
#define NOINLINE __attribute__((noinline))

extern const char __ehdr_start[];

static struct hlg_image *image;
static struct hlg_callers_unwind *unwind;
static uint64_t bias;
static struct hlg_callers_copy copy;
static uint64_t callers[HLG_WALK_ROOM];
static uint32_t n_callers;
static size_t stack_size = STACK;
static volatile uint64_t sink;
static volatile unsigned depth_wanted = 3; /* so that no clone is made for it */

static struct {
	size_t steps, wrong, cut;
	char first[512]; /* the first wrong stack */
} seen;

static void open_self(void)
{
	struct hlg_err err;
	int rc = hlg_image_open_elf(&image, "/proc/self/exe", &err);

	ck_assert_msg(rc == 0, "%s", rc ? err.msg : "");
	rc = hlg_callers_unwind_open(&unwind, image, &err);
	ck_assert_msg(rc == 0, "%s", rc ? err.msg : "");
	bias = (uint64_t)__ehdr_start - image->first;
}

static void close_self(void)
{
	hlg_callers_unwind_close(unwind);
	hlg_image_destroy(image);
	unwind = NULL;
	image = NULL;
}

static const char *name_of(uint64_t ip)
{
	struct hlg_place place;

	hlg_image_lookup(image, ip - bias, &place);
	return place.symbol ? hlg_image_name(image, place.symbol) : "?";
}

/* As the kernel's part makes one. */
static void copy_from(const ucontext_t *context, size_t size)
{
	static const int regs[HLG_CALLERS_REGS] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
		REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
		REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	struct hlg_callers_stack *head = (void *)copy.head;

	for (size_t i = 0; i < HLG_CALLERS_REGS; i++)
		copy.regs[i] = (uint64_t)context->uc_mcontext.gregs[regs[i]];
	head->end = HLG_WALK_CUT;
	copy.from = copy.regs[4] - HLG_WALK_RED_ZONE;
	/* As far as it is mapped. */
	copy.size = (uint64_t)process_vm_readv(
		getpid(), &(struct iovec){copy.bytes, size}, 1,
		&(struct iovec){(void *)copy.from, size}, 1, 0);
}

static enum hlg_walk_end walk_copy(void)
{
	return hlg_callers_unwind_stack(unwind, bias, &copy, callers, &n_callers);
}

/* The calls that are stepped through. */
static NOINLINE uint64_t saves(uint64_t state)
{
	uint64_t words[64];

	for (size_t i = 0; i < 64; i++)
		words[i] = state = state * 5 + i;
	return words[state % 64];
}

/* Without a table, as libraries of C have some. */
uint64_t bare(uint64_t state);
__asm__(".text\n"
	".type bare, @function\n"
	"bare:\n"
	"endbr64\n"
	"pushq %rbp\n"
	"pushq %r14\n"
	"pushq %rbx\n"
	"xorl %ebp, %ebp\n"
	"movq %rdi, %r14\n"
	"leaq 1(%r14), %rbx\n"
	"movq %rbx, %rax\n"
	"popq %rbx\n"
	"popq %r14\n"
	"popq %rbp\n"
	"ret\n"
	".size bare, . - bare\n");

static uint64_t (*volatile pointed)(uint64_t) = bare;

static NOINLINE uint64_t moves(uint64_t state)
{
	uint64_t *words = __builtin_alloca(8 * (1 + state % 32));

	words[0] = state;
	sink += saves(words[0]);
	sink += bare(words[0]);
	sink += pointed(words[0]);
	return words[0] + 1;
}

static NOINLINE uint64_t again(uint64_t state, unsigned depth)
{
	return depth ? again(state, depth - 1) + sink : moves(state) + 1;
}

static NOINLINE uint64_t large(uint64_t state)
{
	volatile uint8_t bytes[2 * STACK];

	bytes[state % sizeof(bytes)] = 1;
	sink += saves(state);
	return bytes[0] + sink;
}

NOINLINE uint64_t test_root(uint64_t state);
NOINLINE uint64_t test_root(uint64_t state)
{
	sink += again(state, depth_wanted);
	return moves(state) + sink;
}

NOINLINE uint64_t test_large_root(uint64_t state);
NOINLINE uint64_t test_large_root(uint64_t state)
{
	return large(state) + sink;
}

/* Outermost functions, as their tables say. */
#define OUTERMOST(name, called)                                                          \
	uint64_t name(uint64_t state);                                                   \
	__asm__(".text\n"                                                                \
		".type " #name ", @function\n" #name ":\n"                               \
		".cfi_startproc\n"                                                       \
		".cfi_undefined rip\n"                                                   \
		"pushq %rbp\n"                                                           \
		"call " #called "\n"                                                     \
		"popq %rbp\n"                                                            \
		"ret\n"                                                                  \
		".cfi_endproc\n"                                                         \
		".size " #name ", . - " #name "\n")

OUTERMOST(test_start, test_root);
OUTERMOST(test_large_start, test_large_root);

/* The frame of a function by an expression: rsp + 8, and often 0 more. */
#define EXPRESSION(name, size, times)                                                    \
	uint64_t name(uint64_t state);                                                   \
	__asm__(".text\n"                                                                \
		".type " #name ", @function\n" #name ":\n"                               \
		".cfi_startproc\n"                                                       \
		".cfi_escape 0x0f, " size ", 0x77, 0x08\n"                               \
		".rept " #times "\n"                                                     \
		".cfi_escape 0x30, 0x22\n"                                               \
		".endr\n"                                                                \
		"nop\n"                                                                  \
		"ret\n"                                                                  \
		".cfi_endproc\n"                                                         \
		".size " #name ", . - " #name "\n")

EXPRESSION(test_short, "0x16", 10);
EXPRESSION(test_long, "0x92, 0x03", 200);

/* With rules as they are in a table, byte by byte (DWARF 5, 7.24 and 7.7.1). */
#define RULES(name, bytes)                                                               \
	uint64_t name(uint64_t state);                                                   \
	__asm__(".text\n"                                                                \
		".type " #name ", @function\n" #name ":\n"                               \
		".cfi_startproc\n"                                                       \
		".cfi_escape " bytes "\n"                                                \
		"nop\n"                                                                  \
		"ret\n"                                                                  \
		".cfi_endproc\n"                                                         \
		".size " #name ", . - " #name "\n")

/* The frame is rsp, so that of its caller, which is itself, is no further up. */
RULES(test_stays, "0x0f, 0x02, 0x77, 0x00");

/* The frame is rsp + more + what 4 and 5, 5 and 5, 5 and 4, -1 and 0 compared are, as
 * bits. */
#define COMPARED(name, op, more)                                                         \
	RULES(name, "0x0f, 26, 0x34, 0x35, " op ", 0x35, 0x35, " op                      \
		    ", 0x31, 0x24, 0x22, 0x35, 0x34, " op                                \
		    ", 0x32, 0x24, 0x22, 0x30, 0x31, 0x1c, 0x30, " op                    \
		    ", 0x33, 0x24, 0x22, 0x77, " more ", 0x22")

COMPARED(test_ge, "0x2a", "0x02");
COMPARED(test_gt, "0x2b", "0x04");
COMPARED(test_le, "0x2c", "0x7d");
COMPARED(test_lt, "0x2d", "0x7f");
COMPARED(test_eq, "0x29", "0x06");
COMPARED(test_ne, "0x2e", "0x7b");

RULES(test_minus, "0x0f, 4, 0x77, 16, 0x38, 0x1c");
RULES(test_mul, "0x0f, 6, 0x77, 0, 0x32, 0x34, 0x1e, 0x22");
RULES(test_and, "0x0f, 6, 0x77, 0, 0x3c, 0x39, 0x1a, 0x22");
RULES(test_or, "0x0f, 6, 0x77, 0x7f, 0x39, 0x38, 0x21, 0x22");
RULES(test_shl, "0x0f, 6, 0x77, 4, 0x31, 0x32, 0x24, 0x22");
RULES(test_shr, "0x0f, 6, 0x77, 5, 0x4f, 0x33, 0x25, 0x22"); /* 31 >> 3 is 3 */
RULES(test_shl_all, "0x0f, 7, 0x77, 8, 0x31, 0x08, 64, 0x24, 0x22");
RULES(test_shr_all, "0x0f, 7, 0x77, 8, 0x4f, 0x08, 64, 0x25, 0x22");
RULES(test_const1u, "0x0f, 6, 0x77, 0x90, 0x7e, 0x08, 0xf8, 0x22"); /* -240 + 248 */
RULES(test_const1s, "0x0f, 5, 0x77, 16, 0x09, 0xf8, 0x22");
RULES(test_const2u, "0x0f, 6, 0x77, 0, 0x0a, 8, 0, 0x22");
RULES(test_constu, "0x0f, 5, 0x77, 0, 0x10, 8, 0x22");
RULES(test_consts, "0x0f, 5, 0x77, 16, 0x11, 0x78, 0x22");
RULES(test_plus_uconst, "0x0f, 4, 0x77, 4, 0x23, 4");
RULES(test_bregx, "0x0f, 3, 0x92, 7, 8");
RULES(test_deref, "0x0f, 3, 0x77, 8, 0x06");
RULES(test_at, "0x10, 16, 2, 0x77, 16");   /* it returns to the word at rsp + 16, */
RULES(test_value, "0x16, 16, 2, 0x73, 1"); /* to rbx + 1, */
RULES(test_register, "0x09, 16, 3");       /* to rbx */

/* None is known: not by an address of the ELF's data, of a word that is not there, by a
 * register that no guest has, with too little on the stack, by what is no operation. */
RULES(test_addr, "0x0f, 12, 0x77, 8, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0x22");
RULES(test_far, "0x0f, 4, 0x77, 0x80, 0x40, 0x06");
RULES(test_no_register, "0x0f, 3, 0x92, 17, 8");
RULES(test_shallow, "0x0f, 3, 0x77, 8, 0x22");
RULES(test_unknown, "0x0f, 5, 0x77, 8, 0x77, 8, 0x1d");

/* Who can have called whom. */
static const char *const calls[][2] = {
	{"test_root", "test_start"}, {"again", "test_root"}, {"again", "again"},
	{"moves", "again"},          {"moves", "test_root"}, {"saves", "moves"},
	{"bare", "moves"},
};

static bool is_call(const char *callee, const char *caller)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i][0], callee) == 0 && strcmp(calls[i][1], caller) == 0)
			return true;
	return false;
}

static bool is_right(enum hlg_walk_end end)
{
	const char *callee = name_of(copy.regs[16]);

	for (uint32_t i = 0; i < n_callers; i++) {
		const char *caller = name_of(callers[i] - 1);

		if (!is_call(callee, caller))
			return false;
		callee = caller;
	}
	return end == HLG_WALK_WHOLE && strcmp(callee, "test_start") == 0;
}

static void note_wrong(enum hlg_walk_end end)
{
	size_t n = 0;

	if (seen.wrong++)
		return;
	n += (size_t)snprintf(seen.first, sizeof(seen.first), "end %u: %s+0x%llx",
			      (unsigned)end, name_of(copy.regs[16]),
			      (unsigned long long)(copy.regs[16] - bias));
	for (uint32_t i = 0; i < n_callers && n < sizeof(seen.first); i++)
		n += (size_t)snprintf(seen.first + n, sizeof(seen.first) - n, " < %s",
				      name_of(callers[i] - 1));
}

/* A stack of one of the functions above; others are those that step. */
static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	const char *name = name_of((uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
	enum hlg_walk_end end;

	(void)sig;
	(void)info;
	if (strcmp(name, "test_start") != 0 && strcmp(name, "test_root") != 0 &&
	    strcmp(name, "again") != 0 && strcmp(name, "moves") != 0 &&
	    strcmp(name, "saves") != 0 && strcmp(name, "bare") != 0 &&
	    strcmp(name, "large") != 0)
		return;
	copy_from(uc, stack_size);
	end = walk_copy();
	seen.steps++;
	seen.cut += end == HLG_WALK_CUT;
	if (!is_right(end))
		note_wrong(end);
}

#define TRAP 0x100 /* TF of RFLAGS: SIGTRAP after each instruction */

static void set_trap(bool on)
{
	uint64_t flags;

	__asm__ volatile("subq $128, %%rsp\n"
			 "pushfq\n"
			 "popq %0\n"
			 "addq $128, %%rsp"
			 : "=r"(flags)
			 :
			 : "memory");
	flags = on ? flags | TRAP : flags & ~(uint64_t)TRAP;
	__asm__ volatile("subq $128, %%rsp\n"
			 "pushq %0\n"
			 "popfq\n"
			 "leaq 128(%%rsp), %%rsp"
			 :
			 : "r"(flags)
			 : "memory", "cc");
}

static void step_through(uint64_t (*start)(uint64_t))
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	set_trap(true);
	sink += start(7);
	set_trap(false);
}

/* An emulator may not step: then nothing is judged. */
START_TEST(each_instruction)
{
	open_self();
	step_through(test_start);
	ck_assert_msg(seen.wrong == 0, "%zu of %zu: %s", seen.wrong, seen.steps,
		      seen.first);
	ck_assert_uint_eq(seen.cut, 0);
	if (seen.steps)
		ck_assert_uint_gt(seen.steps, 500);
	close_self();
}
END_TEST

/* A frame that is larger than the copy ends it; what is known until there is right. */
START_TEST(cut)
{
	open_self();
	stack_size = STACK / 2;
	step_through(test_large_start);
	stack_size = STACK;
	if (seen.steps)
		ck_assert_uint_gt(seen.cut, 100);
	close_self();
}
END_TEST

static void take_copy(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	copy_from(context, stack_size);
}

/* A copy inside saves(), called by moves(). */
NOINLINE uint64_t raised(uint64_t state);
NOINLINE uint64_t raised(uint64_t state)
{
	raise(SIGUSR1);
	return state + sink;
}

static void take(void)
{
	struct sigaction action = {.sa_sigaction = take_copy, .sa_flags = SA_SIGINFO};

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	sink += raised(sink);
	/* libc's address is no place of ours: begin where it returns to raised(). */
	for (uint64_t at = copy.from + HLG_WALK_RED_ZONE; at < copy.from + STACK;
	     at += 8) {
		uint64_t word;

		memcpy(&word, copy.bytes + (at - copy.from), 8);
		if (strcmp(name_of(word), "raised") == 0) {
			copy.regs[16] = word;
			copy.regs[4] = at + 8;
			return;
		}
	}
	ck_abort_msg("raised() is not on the stack");
}

/* The stack ends: with what the guest has of it, or with the copy. */
START_TEST(sizes)
{
	struct hlg_callers_stack *head = (void *)copy.head;

	open_self();
	take();
	walk_copy();
	ck_assert_uint_ge(n_callers, 2);
	ck_assert_str_eq(name_of(callers[0] - 1), "take");
	ck_assert_str_eq(name_of(callers[1] - 1), "sizes_fn");
	copy.size = copy.regs[4] - copy.from;
	ck_assert_uint_eq(walk_copy(), HLG_WALK_CUT);
	ck_assert_uint_eq(n_callers, 0);
	head->end = HLG_WALK_UNMAPPED;
	ck_assert_uint_eq(walk_copy(), HLG_WALK_NO_CFI);
	head->end = HLG_WALK_CUT;
	copy.size = STACK;
	copy.holes = UINT64_MAX;
	ck_assert_uint_eq(walk_copy(), HLG_WALK_FAULT);
	ck_assert_uint_eq(n_callers, 0);
	copy.holes = 0;
	head->end = HLG_WALK_UNMAPPED;
	copy.size = 0;
	ck_assert_uint_eq(walk_copy(), HLG_WALK_NO_CFI);
	ck_assert_uint_eq(n_callers, 0);
	close_self();
}
END_TEST

/* Tables are an ELF's, and may be long. */
START_TEST(expressions)
{
	uint64_t back;

	open_self();
	take();
	walk_copy();
	ck_assert_uint_gt(n_callers, 0);
	back = callers[0];
	copy.regs[4] = copy.from;
	memcpy(copy.bytes, &back, 8);
	copy.regs[16] = (uint64_t)test_short;
	walk_copy();
	ck_assert_uint_gt(n_callers, 0);
	ck_assert_uint_eq(callers[0], back);
	copy.regs[16] = (uint64_t)test_long;
	ck_assert_uint_eq(walk_copy(), HLG_WALK_NO_CFI);
	ck_assert_uint_eq(n_callers, 0);
	close_self();
}
END_TEST

/* Else it would go on until there is no room for callers. */
START_TEST(frames_go_up)
{
	const uint64_t back = (uint64_t)test_stays + 1;

	open_self();
	take();
	copy.regs[4] = copy.from + 64;
	memcpy(copy.bytes + 56, &back, 8);
	copy.regs[16] = (uint64_t)test_stays;
	ck_assert_uint_eq(walk_copy(), HLG_WALK_NO_CFI);
	ck_assert_uint_eq(n_callers, 1);
	ck_assert_uint_eq(callers[0], back);
	close_self();
}
END_TEST

/* Each operation that compilers and linkers may put into tables, as DWARF has it. */
START_TEST(operations)
{
	enum {
		ABOVE,
		AT,
		VALUE,
		REGISTER,
		NOWHERE
	};
	static const struct {
		const char *name;
		uint64_t (*function)(uint64_t);
		int back; /* where it returns to stands: above rsp, or as rules have it */
	} all[] = {
#define OF(name, back) {#name, test_##name, back}
		OF(ge, ABOVE),
		OF(gt, ABOVE),
		OF(le, ABOVE),
		OF(lt, ABOVE),
		OF(eq, ABOVE),
		OF(ne, ABOVE),
		OF(minus, ABOVE),
		OF(mul, ABOVE),
		OF(and, ABOVE),
		OF(or, ABOVE),
		OF(shl, ABOVE),
		OF(shr, ABOVE),
		OF(shl_all, ABOVE),
		OF(shr_all, ABOVE),
		OF(const1u, ABOVE),
		OF(const1s, ABOVE),
		OF(const2u, ABOVE),
		OF(constu, ABOVE),
		OF(consts, ABOVE),
		OF(plus_uconst, ABOVE),
		OF(bregx, ABOVE),
		OF(deref, ABOVE),
		OF(at, AT),
		OF(value, VALUE),
		OF(register, REGISTER),
		OF(addr, NOWHERE),
		OF(far, NOWHERE),
		OF(no_register, NOWHERE),
		OF(shallow, NOWHERE),
		OF(unknown, NOWHERE),
#undef OF
	};
	uint64_t back, words[4];

	open_self();
	take();
	walk_copy();
	ck_assert_uint_gt(n_callers, 0);
	back = callers[0];
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		memset(words, 0, sizeof(words));
		if (all[i].back == ABOVE || all[i].back == NOWHERE)
			words[0] = back;
		else if (all[i].back == AT)
			words[2] = back;
		words[1] = copy.from + 8;
		memcpy(copy.bytes, words, sizeof(words));
		copy.regs[3] = all[i].back == VALUE      ? back - 1
			       : all[i].back == REGISTER ? back
							 : 0;
		copy.regs[4] = copy.from;
		copy.regs[16] = (uint64_t)all[i].function;
		walk_copy();
		if (all[i].back == NOWHERE)
			ck_assert_msg(n_callers == 0, "%s", all[i].name);
		else
			ck_assert_msg(n_callers > 0 && callers[0] == back, "%s",
				      all[i].name);
	}
	close_self();
}
END_TEST

/* Whatever stands there, each read is within the copy, and it ends. */
START_TEST(nonsense)
{
	uint64_t random = 1, where[3];

	open_self();
	take();
	where[0] = copy.regs[16];
	where[1] = (uint64_t)moves;
	where[2] = (uint64_t)test_root + 9;
	for (unsigned i = 0; i < 3000; i++) {
		for (size_t at = 0; at + 8 <= 1024; at += 8) {
			uint64_t word;

			random = random * UINT64_C(6364136223846793005) + 1442695;
			word = random >> 62 == 0   ? random
			       : random >> 62 == 1 ? where[random % 3]
						   : copy.from + random % 2048;
			memcpy(copy.bytes + at, &word, 8);
		}
		for (size_t r = 0; r < 16; r++)
			copy.regs[r] = r == 4 || random >> r & 1
					       ? copy.from + (random >> r) % 1024
					       : random;
		copy.size = 1024;
		copy.regs[16] = where[i % 3] + i % 7;
		ck_assert_uint_lt(walk_copy(), HLG_WALK_ENDS);
		ck_assert_uint_le(n_callers, HLG_WALK_FRAMES);
	}
	close_self();
}
END_TEST

/* Where an image is entered often has no table, being assembly: it has no caller. */
START_TEST(entered)
{
	open_self();
	memset(&copy, 0, sizeof(copy));
	copy.regs[HLG_CALLERS_REGS - 1] = (uintptr_t)bare + 4;
	ck_assert_int_eq(walk_copy(), HLG_WALK_NO_CFI);
	image->elf.entry = (uintptr_t)bare - bias;
	ck_assert_int_eq(walk_copy(), HLG_WALK_WHOLE);
	ck_assert_uint_eq(n_callers, 0);
	close_self();
}
END_TEST

START_TEST(counts)
{
	struct hlg_callers_unwind_count count;

	open_self();
	hlg_callers_unwind_count(unwind, &count);
	ck_assert_uint_gt(count.functions, 20);
	ck_assert(hlg_callers_unwind_is_covered(&count));
	close_self();
}
END_TEST

/* A guest without tables; one that is no ELF. */
START_TEST(without)
{
	struct hlg_image *demo;
	struct hlg_err err;
	char path[512];

	snprintf(path, sizeof(path), "%s/demo.elf", getenv("HLG_DATA"));
	ck_assert_int_eq(hlg_image_open_elf(&demo, path, &err), 0);
	ck_assert_int_lt(hlg_callers_unwind_open(&unwind, demo, &err), 0);
	ck_assert_msg(strstr(err.msg, "has no unwind tables"), "%s", err.msg);
	ck_assert_ptr_null(unwind);
	hlg_image_destroy(demo);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callers unwind");
	TCase *tc = tap_case(suite, "unwind");

	tcase_add_test(tc, each_instruction);
	tcase_add_test(tc, cut);
	tcase_add_test(tc, sizes);
	tcase_add_test(tc, expressions);
	tcase_add_test(tc, frames_go_up);
	tcase_add_test(tc, operations);
	tcase_add_test(tc, nonsense);
	tcase_add_test(tc, entered);
	tcase_add_test(tc, counts);
	tcase_add_test(tc, without);
	return tap_main(suite);
}
