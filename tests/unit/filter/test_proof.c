// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is made of recorded callers, on functions whose every byte is written down here:
 * each way to sample before, in and behind a frame, in a leaf, behind a tail call, with
 * calls that stand in the code and calls by pointer; return addresses that are none; how
 * chains end; and a guest that keeps no frame pointers.
 */
#include "filter/trust/proof.h"

#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "filter/report/callgraph.h"
#include "filter/report/children.h"
#include "filter/report/frames.h"
#include "filter/write/folded.h"
#include "filter/write/text-callers.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

#define START 0x1000
#define SLOT  0x20
#define MOVED UINT64_C(0x4000) /* where the guest lies, less where it was linked to */

/* Functions, by their slots. */
enum {
	ROOT,  /* calls ONE, LEAF, by pointer, HOP, PART */
	ONE,   /* calls LEAF, and itself */
	LEAF,  /* without a frame */
	HOP,   /* jumps to ONE, its frame given up */
	FAR,   /* nobody calls it: has a frame */
	PART,  /* jumps to REST with its frame */
	REST,  /* uses PART's frame */
	ANY,   /* calls by pointer */
	BARE,  /* no frame, calls ONE: what is built otherwise */
	OUTER, /* calls FROM, TWO; has TAKEN's address */
	FROM,  /* calls SELF */
	SELF,  /* no frame, calls itself, and END */
	END,   /* has a frame */
	TWO,   /* calls VIA, and jumps to ANY, its frame given up */
	VIA,   /* jumps by pointer */
	TAKEN, /* has a frame */
	USES,  /* calls BARE */
	ODD,   /* calls what is no function, LOST, BOTH; has SHY's address */
	LOST,  /* jumps to what is no function, its frame given up */
	BOTH,  /* calls LAST, and by pointer */
	SHY,   /* no frame, calls LAST */
	LAST,  /* has a frame */
	OVER,  /* calls TWICE; has HAND's address */
	TWICE, /* calls THIN, and DEEP */
	THIN,  /* no frame, calls DEEP */
	DEEP,  /* has a frame */
	HAND,  /* calls HELD */
	HELD,  /* has a frame */
	N_SLOTS,
	NONE = N_SLOTS + 5
};

#define PUSH            0x55             /* 0 */
#define SET             0x48, 0x89, 0xe5 /* 1 */
#define NOP             0x90
#define POP             0x5d
#define RET             0xc3
#define CALL_RAX        0xff, 0xd0
#define JMP_RAX         0xff, 0xe0
#define BYTE(at, to, n) (((uint32_t)(to)*SLOT - (uint32_t)(at)) >> (n)*8 & 255)
#define REL(at, to)     BYTE(at, to, 0), BYTE(at, to, 1), BYTE(at, to, 2), BYTE(at, to, 3)
#define CALL(f, at, to) 0xe8, REL((f)*SLOT + (at) + 5, to)
#define JMP(f, at, to)  0xe9, REL((f)*SLOT + (at) + 5, to)
#define LEA(f, at, to)  0x48, 0x8d, 0x05, REL((f)*SLOT + (at) + 7, to)

/* clang-format off */
static const unsigned char text[N_SLOTS][SLOT] = {
	[ROOT] = {PUSH, SET, CALL(ROOT, 4, ONE), CALL(ROOT, 9, LEAF), CALL_RAX,
		  CALL(ROOT, 16, HOP), CALL(ROOT, 21, PART), POP, RET},
	[ONE] = {PUSH, SET, CALL(ONE, 4, LEAF), CALL(ONE, 9, ONE), NOP, POP, RET},
	[LEAF] = {NOP, NOP, RET},
	[HOP] = {PUSH, SET, POP, JMP(HOP, 5, ONE)},
	[FAR] = {PUSH, SET, NOP, POP, RET},
	[PART] = {PUSH, SET, JMP(PART, 4, REST)},
	[REST] = {NOP, POP, RET},
	[ANY] = {PUSH, SET, CALL_RAX, POP, RET},
	[BARE] = {NOP, CALL(BARE, 1, ONE), RET},
	[OUTER] = {PUSH, SET, CALL(OUTER, 4, FROM), CALL(OUTER, 9, TWO),
		   LEA(OUTER, 14, TAKEN), POP, RET},
	[FROM] = {PUSH, SET, CALL(FROM, 4, SELF), POP, RET},
	[SELF] = {CALL(SELF, 0, SELF), CALL(SELF, 5, END), RET},
	[END] = {PUSH, SET, NOP, POP, RET},
	[TWO] = {PUSH, SET, CALL(TWO, 4, VIA), POP, JMP(TWO, 10, ANY)},
	[VIA] = {JMP_RAX},
	[TAKEN] = {PUSH, SET, NOP, POP, RET},
	[USES] = {PUSH, SET, CALL(USES, 4, BARE), POP, RET},
	[ODD] = {PUSH, SET, CALL(ODD, 4, NONE), CALL(ODD, 9, LOST), CALL(ODD, 14, BOTH),
		 LEA(ODD, 19, SHY), POP, RET},
	[LOST] = {PUSH, SET, POP, JMP(LOST, 5, NONE)},
	[BOTH] = {PUSH, SET, CALL(BOTH, 4, LAST), CALL_RAX, POP, RET},
	[SHY] = {NOP, CALL(SHY, 1, LAST), RET},
	[LAST] = {PUSH, SET, NOP, POP, RET},
	[OVER] = {PUSH, SET, CALL(OVER, 4, TWICE), LEA(OVER, 9, HAND), POP, RET},
	[TWICE] = {PUSH, SET, CALL(TWICE, 4, THIN), CALL(TWICE, 9, DEEP), POP, RET},
	[THIN] = {NOP, CALL(THIN, 1, DEEP), RET},
	[DEEP] = {PUSH, SET, NOP, POP, RET},
	[HAND] = {PUSH, SET, CALL(HAND, 4, HELD), POP, RET},
	[HELD] = {PUSH, SET, NOP, POP, RET},
};
/* clang-format on */
static const char *const names[N_SLOTS] = {
	"root", "one",  "leaf", "hop",   "far",  "part",  "rest", "any", "bare", "outer",
	"from", "self", "end",  "two",   "via",  "taken", "uses", "odd", "lost", "both",
	"shy",  "last", "over", "twice", "thin", "deep",  "hand", "held"};

/* Addresses in the guest: where a function is, and where its calls return to. */
#define AT(f, at) (MOVED + START + (f)*SLOT + (at))
#define R_ONE     AT(ROOT, 9)
#define R_LEAF    AT(ROOT, 14)
#define R_POINTER AT(ROOT, 16)
#define R_HOP     AT(ROOT, 21)
#define R_PART    AT(ROOT, 26)
#define ONE_LEAF  AT(ONE, 9)
#define ONE_ONE   AT(ONE, 14)
#define ANY_CALL  AT(ANY, 6)
#define BARE_ONE  AT(BARE, 6)
#define FRAMED    5 /* in a function, its frame set up */

struct expected {
	const char *what;
	uint64_t ip, callers[4];
	const char *stack; /* the outermost first; + was inserted */
	struct hlg_caller_sums sums;
};

/* The number of samples is 3; sums are edges, confirmed, indirect, wrong, inserted,
 * unknown. */
#define SUMS(e, c, i, w, in, u)                                                          \
	{                                                                                \
		.stacks = 3, .whole = 3, .edges = 3 * (e), .confirmed = 3 * (c),         \
		.indirect = 3 * (i), .wrong = 3 * (w), .inserted = 3 * (in),             \
		.unknown = 3 * (u)                                                       \
	}

static const struct expected table[] = {
	{"with a frame", AT(ONE, FRAMED), {R_ONE}, "root one", SUMS(1, 1, 0, 0, 0, 0)},
	{"deeper", AT(ONE, 15), {ONE_ONE, R_ONE}, "root one one", SUMS(2, 2, 0, 0, 0, 0)},
	{"before the push",
	 AT(LEAF, 0),
	 {R_ONE},
	 "root +one leaf",
	 SUMS(1, 1, 0, 0, 1, 0)},
	{"in a prologue, of a recursion",
	 AT(ONE, 1),
	 {R_ONE},
	 "root +one one",
	 SUMS(1, 1, 0, 0, 1, 0)},
	{"at ret",
	 AT(ONE, 16),
	 {ONE_ONE, R_ONE},
	 "root one +one one",
	 SUMS(2, 2, 0, 0, 1, 0)},
	{"by a tail call", AT(ONE, FRAMED), {R_HOP}, "root one", SUMS(1, 1, 0, 0, 0, 0)},
	{"a leaf behind a tail call",
	 AT(LEAF, 1),
	 {R_HOP},
	 "root +one leaf",
	 SUMS(1, 1, 0, 0, 1, 0)},
	{"by pointer", AT(FAR, FRAMED), {R_POINTER}, "root far", SUMS(1, 0, 1, 0, 0, 0)},
	{"a leaf of who was called by pointer",
	 AT(LEAF, 1),
	 {R_POINTER},
	 "root [caller unknown] leaf",
	 SUMS(1, 0, 1, 0, 0, 1)},
	{"a leaf of who calls by pointer",
	 AT(LEAF, 1),
	 {ANY_CALL, R_POINTER},
	 "root any [caller unknown] leaf",
	 SUMS(2, 0, 2, 0, 0, 1)},
	{"a part of a function",
	 AT(REST, 0),
	 {R_PART},
	 "root rest",
	 SUMS(1, 1, 0, 0, 0, 0)},
	{"a call elsewhere",
	 AT(FAR, FRAMED),
	 {R_ONE},
	 "root [caller unknown] far",
	 SUMS(1, 0, 0, 1, 0, 1)},
	{"a prologue nobody leads to",
	 AT(FAR, 0),
	 {R_ONE},
	 "root +one [caller unknown] far",
	 SUMS(1, 0, 0, 1, 1, 1)},
	{"through a function without a frame",
	 AT(ONE, FRAMED),
	 {BARE_ONE, R_POINTER},
	 "root [caller unknown] bare one",
	 SUMS(2, 1, 1, 0, 0, 1)},
	{"a function without a frame that calls itself",
	 AT(END, FRAMED),
	 {AT(SELF, 10), AT(OUTER, 9)},
	 "outer +from [caller unknown] self end",
	 SUMS(2, 1, 1, 0, 1, 1)},
	{"who calls one that may end up anywhere, or who is jumped to and calls by "
	 "pointer",
	 AT(TAKEN, 0),
	 {AT(OUTER, 14)},
	 "outer [caller unknown] taken",
	 SUMS(1, 0, 1, 0, 0, 1)},
	{"a prologue of the outermost",
	 AT(FAR, 0),
	 {0},
	 "[caller unknown] far",
	 SUMS(0, 0, 0, 0, 0, 1)},
	{"the outermost", AT(ROOT, FRAMED), {0}, "root", SUMS(0, 0, 0, 0, 0, 0)},
	{"a prologue of who is entered first",
	 AT(ROOT, 0),
	 {0},
	 "root",
	 SUMS(0, 0, 0, 0, 0, 0)},
	{"a call of one without a frame, which calls it",
	 AT(ONE, 0),
	 {AT(USES, 9)},
	 "uses [caller unknown] one",
	 SUMS(1, 0, 1, 0, 0, 1)},
	{"a call of what is no function",
	 AT(FAR, FRAMED),
	 {AT(ODD, 9)},
	 "odd far",
	 SUMS(1, 0, 0, 0, 0, 0)},
	{"a jump to what is no function",
	 AT(FAR, FRAMED),
	 {AT(ODD, 14)},
	 "odd far",
	 SUMS(1, 0, 1, 0, 0, 0)},
	{"who may call one by pointer that has no frame and calls it, too",
	 AT(LAST, 0),
	 {AT(ODD, 19)},
	 "odd +both [caller unknown] last",
	 SUMS(1, 0, 1, 0, 1, 1)},
	{"who calls it, and one without a frame that calls it, too",
	 AT(DEEP, 0),
	 {AT(OVER, 9)},
	 "over +twice [caller unknown] deep",
	 SUMS(1, 0, 1, 0, 1, 1)},
	{"a prologue, by who was called by pointer",
	 AT(HELD, 0),
	 {R_POINTER},
	 "root +hand held",
	 SUMS(1, 0, 1, 0, 1, 0)},
	{"what nobody can decode",
	 AT(ONE, FRAMED),
	 {UINT64_C(0x900000)},
	 "[outside] one",
	 SUMS(1, 0, 0, 0, 0, 0)},
	{"no return address",
	 AT(ONE, FRAMED),
	 {AT(ROOT, 8), R_ONE},
	 "[truncated: no return address] one",
	 {.stacks = 3, .truncated = 3, .edges = 3, .wrong = 3}},
};

static void write_guest(void)
{
	struct mkelf_sym syms[N_SLOTS];
	struct mkelf_image img;

	for (unsigned i = 0; i < N_SLOTS; i++)
		syms[i] = (struct mkelf_sym)MKELF_SYM(names[i], START + i * SLOT, SLOT,
						      STB_GLOBAL, STT_FUNC, MKELF_SEC(0));
	ck_assert_int_eq(mkelf_simple(&img, START, text, sizeof(text), syms, N_SLOTS), 0);
	ck_assert_int_eq(mkelf_write(&img, "guest.elf"), 0);
	mkelf_finish(&img);
}

/* Three samples with these callers, as they are recorded. */
static void feed(struct hlg_run *run, uint64_t ip, const uint64_t *callers,
		 struct hlg_chain_tail tail)
{
	uint64_t words[8] = {(uint64_t)PERF_CONTEXT_GUEST_USER, ip};
	uint32_t event = hlg_profile_event(&run->profile, "cpu-clock", 0);
	struct hlg_sample sample = kit_sample(event, ip);
	struct hlg_stacks_sample s = {.pid = 7, .tid = 7, .ip = ip};
	size_t n = 2;

	while (*callers)
		words[n++] = *callers++;
	words[n++] = (uint64_t)PERF_CONTEXT_GUEST;
	words[n++] = hlg_chains_tail_word(&tail);
	s.chain = hlg_chains_add(&run->stacks.chains, words, n);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(hlg_profile_add(&run->profile, &sample), HLG_GUEST);
		hlg_stacks_guest(&run->stacks, &s,
				 hlg_profile_series(&run->profile, &sample), 1);
	}
}

/* The only path there is, as the table has it. */
static void draw(const struct hlg_paths *paths, char *to, size_t size)
{
	const struct hlg_path *path = &paths->paths[0];

	ck_assert_uint_eq(paths->n, 1);
	ck_assert_uint_eq(path->count.samples, 3);
	*to = 0;
	for (size_t i = path->n; i-- > 0;) {
		const struct hlg_path_frame *frame = &paths->frames[path->first + i];

		snprintf(to + strlen(to), size - strlen(to), "%s%s%s",
			 frame->kind == HLG_CALLER_INSERTED ? "+" : "",
			 paths->places[frame->place].name, i ? " " : "");
	}
}

static struct hlg_caller_sums expect(const char *what, const char *words, uint64_t ip,
				     const uint64_t *callers, struct hlg_chain_tail tail,
				     const char *stack)
{
	struct hlg_caller_sums sums;
	struct hlg_report report;
	struct hlg_paths paths;
	struct hlg_run run;
	struct hlg_err err;
	char got[256];

	kit_start(&run, words);
	run.options.force = strstr(words, "force=yes") || !strstr(words, "force=no");
	feed(&run, ip, callers, tail);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_int_eq(hlg_paths_build(&paths, &report, &report.all, &err), 0);
	draw(&paths, got, sizeof(got));
	ck_assert_msg(strcmp(got, stack) == 0, "%s: %s, not %s", what, got, stack);
	sums = report.callers;
	/* Where callers were left out, any function may be among them. */
	ck_assert(paths.paths[0].cut || !(sums.cut + sums.refused));
	hlg_paths_finish(&paths);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
	return sums;
}

#define WORDS "guest.elf@0x5000 stacks=callgraph"

static const struct hlg_chain_tail whole = {HLG_CHAIN_END_WHOLE, HLG_CHAIN_WAY_FRAMES, 0};

START_TEST(edges)
{
	const struct expected *e = &table[_i];
	struct hlg_caller_sums sums;

	write_guest();
	sums = expect(e->what, WORDS, e->ip, e->callers, whole, e->stack);
	ck_assert_uint_eq(sums.cut,
			  strstr(e->stack, "[caller") || strstr(e->stack, "[trunc") ? 3
										    : 0);
	sums.cut = 0;
	memset(sums.ends, 0, sizeof(sums.ends));
	ck_assert_msg(memcmp(&sums, &e->sums, sizeof(sums)) == 0,
		      "%s: %ju edges, %ju confirmed, %ju indirect, %ju wrong, "
		      "%ju inserted, %ju unknown, %ju whole, %ju truncated",
		      e->what, (uintmax_t)sums.edges, (uintmax_t)sums.confirmed,
		      (uintmax_t)sums.indirect, (uintmax_t)sums.wrong,
		      (uintmax_t)sums.inserted, (uintmax_t)sums.unknown,
		      (uintmax_t)sums.whole, (uintmax_t)sums.truncated);
}
END_TEST

/* Where another image lies does not follow from where a call of it is. */
START_TEST(another_image)
{
	struct hlg_caller_sums sums;

	write_guest();
	ck_assert_int_eq(link("guest.elf", "other.elf"), 0);
	sums = expect("other", "guest.elf@0x5000 other.elf@0x105000 stacks=callgraph",
		      AT(HELD, 0) + 0x100000, (uint64_t[]){R_POINTER, 0}, whole,
		      "root [caller unknown] held");
	ck_assert_uint_eq(sums.inserted, 0);
	ck_assert_uint_eq(sums.unknown, 3);
}
END_TEST

/* A recursion counts once, inserted callers as others, and notes are no functions. */
START_TEST(inclusive)
{
	const uint64_t recursion[] = {ONE_ONE, R_ONE, 0}, pointer[] = {R_POINTER, 0};
	static const struct {
		const char *name;
		uint64_t samples, self;
	} rows[] = {{"root", 6, 0}, {"one", 3, 3}, {"leaf", 3, 3}};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_tree tree = {0};
	struct hlg_run run;
	struct hlg_err err;

	write_guest();
	kit_start(&run, WORDS " children=yes");
	feed(&run, AT(ONE, 15), recursion, whole);
	feed(&run, AT(LEAF, 1), pointer, whole);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_int_eq(hlg_children_build(&children, &report, &report.all, &err), 0);
	ck_assert_uint_eq(children.n, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct hlg_children_row *row = &children.rows[i];

		ck_assert_str_eq(children.paths.places[row->place].name, rows[i].name);
		ck_assert_uint_eq(row->count.samples, rows[i].samples);
		ck_assert_uint_eq(row->self.samples, rows[i].self);
		ck_assert_double_eq(row->share.share, (double)rows[i].samples / 6);
	}
	/* What root calls, and who calls the leaf. */
	ck_assert(hlg_children_tree(&tree, &children, &children.rows[0], false));
	ck_assert_uint_eq(tree.n, 1 + 2 + 2);
	ck_assert_uint_eq(tree.nodes[0].total.samples, 6);
	hlg_tree_finish(&tree);
	ck_assert(hlg_children_tree(&tree, &children, &children.rows[2], true));
	ck_assert_uint_eq(tree.n, 1 + 2);
	ck_assert_str_eq(hlg_tree_name(&tree, &tree.nodes[1]), HLG_CALLER_NOT_KNOWN);
	ck_assert_str_eq(hlg_tree_name(&tree, &tree.nodes[2]), "root");
	hlg_tree_finish(&tree);
	hlg_children_finish(&children);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Of 40 times three samples. At least: the limit is further by half an interval. */
static const struct {
	int cut;
	bool at_least;
} cuts[] = {{10, true}, {6, true}, {2, false}};

/* What was cut off may be any function that the stack has not already. */
START_TEST(cut)
{
	const uint64_t called[] = {R_ONE, 0};
	const struct hlg_chain_tail early = {HLG_CHAIN_END_DEEP, HLG_CHAIN_WAY_FRAMES, 0};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_err err;
	const int n = cuts[_i].cut, percent = 100 * n / 40;
	char note[256];

	write_guest();
	kit_start(&run, WORDS " children=yes");
	for (int i = 0; i < 40 - n; i++)
		feed(&run, AT(ONE, FRAMED), called, whole);
	for (int i = 0; i < n; i++)
		feed(&run, AT(ONE, FRAMED), (uint64_t[]){0}, early);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_uint_eq(report.callers.cut, 3 * n);
	ck_assert_uint_eq(report.callers.ends[HLG_CHAIN_END_DEEP], 3 * n);
	snprintf(note, sizeof(note),
		 "%d %% of the samples lack callers (mostly [truncated: too deep]), so "
		 "what a function costs with all that it calls may be shown up to %d "
		 "points too low",
		 percent, percent);
	ck_assert_str_eq(report.notes.line[report.notes.n - 1], note);
	ck_assert_int_eq(hlg_children_build(&children, &report, &report.all, &err), 0);
	ck_assert_uint_eq(children.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct hlg_children_row *row = &children.rows[i];
		bool root = row->count.samples < 120;

		ck_assert_uint_eq(row->count.samples, root ? 120 - 3 * n : 120);
		ck_assert_int_eq(row->at_least, root && cuts[_i].at_least);
		ck_assert_double_eq(row->share.high, 1);
	}
	hlg_children_finish(&children);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Of several reasons the most frequent one is told. */
static const struct {
	uint64_t refused, unknown; /* beside 30 that are too deep */
	const char *why;
	uint64_t no_return;
} reasons[] = {
	{0, 0, "(mostly [truncated: too deep]), ", 0},
	{30, 30, "(mostly [truncated: too deep]), ", 0},
	{40, 39, "(mostly callers left out), ", 0},
	{40, 50, "(mostly " HLG_CALLER_NOT_KNOWN "), ", 0},
	{30, 31, "(mostly [truncated: no return address]), ", 31},
	{0, 0, "(mostly [truncated: too deep]), ", 30},
};

START_TEST(mostly)
{
	const struct hlg_chain_tail early = {HLG_CHAIN_END_DEEP, HLG_CHAIN_WAY_FRAMES, 0};
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_err err;
	bool told = false;

	write_guest();
	kit_start(&run, WORDS);
	for (int i = 0; i < 10; i++)
		feed(&run, AT(ONE, FRAMED), (uint64_t[]){0}, early);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	report.callers.refused = reasons[_i].refused;
	report.callers.unknown = reasons[_i].unknown;
	report.callers.ends[HLG_CALLER_END_NO_RETURN] = reasons[_i].no_return;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	for (size_t i = 0; i < report.notes.n; i++)
		told |= strstr(report.notes.line[i], reasons[_i].why) != NULL;
	ck_assert(told);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Samples without callers may be of any function, too. */
START_TEST(not_recorded)
{
	const uint64_t called[] = {R_ONE, 0};
	const struct hlg_chain_tail nothing = {HLG_CHAIN_END_UNKNOWN,
					       HLG_CHAIN_WAY_FRAMES, 0};
	struct hlg_children children;
	char line[HLG_TEXT_CALLERS];
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_err err;

	write_guest();
	kit_start(&run, WORDS " children=yes");
	for (int i = 0; i < 30; i++)
		feed(&run, AT(ONE, FRAMED), called, whole);
	for (int i = 0; i < 10; i++)
		feed(&run, AT(ONE, FRAMED), (uint64_t[]){0}, nothing);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_uint_eq(report.callers.cut, 0);
	ck_assert_uint_eq(report.callers.none, 30);
	ck_assert_str_eq(report.notes.line[report.notes.n - 1],
			 "25 % of the samples lack callers (mostly no callers were "
			 "recorded), so what a function costs with all that it calls may "
			 "be shown up to 25 points too low");
	ck_assert(hlg_text_callers_check(line, &report));
	ck_assert_str_eq(
		line, HLG_HAVE_ZYDIS
			      ? "100 % of 90 stacks whole, 30 samples without callers; "
				"of calls the code proves 100 %"
			      : "100 % of 90 stacks whole, 30 samples without callers");
	/* The warning and the limits of the shares say one thing. */
	ck_assert_int_eq(hlg_children_build(&children, &report, &report.all, &err), 0);
	ck_assert_uint_eq(children.cut.samples, 30);
	hlg_children_finish(&children);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Some are never 0 %, nor all but some 100 %. */
START_TEST(few_of_many)
{
	struct hlg_report r = {
		.callers = {.stacks = 10000, .whole = 1, .truncated = 9999}};
	char line[HLG_TEXT_CALLERS];

	ck_assert(hlg_text_callers_check(line, &r));
	ck_assert_str_eq(line, "0.1 % of 10000 stacks whole");
	r.callers.whole = 9999;
	r.callers.truncated = 1;
	ck_assert(hlg_text_callers_check(line, &r));
	ck_assert_str_eq(line, "99.9 % of 10000 stacks whole");
}
END_TEST

/* VM exits that are left out are in no tree. */
START_TEST(dropped)
{
	const uint64_t one[] = {R_ONE, 0}, pointer[] = {R_POINTER, 0};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_tree tree = {0};
	struct hlg_run run;
	struct hlg_err err;

	write_guest();
	kit_start(&run, WORDS " children=yes");
	run.options.border = HLG_BORDER_DROP;
	feed(&run, AT(ONE, FRAMED), one, whole);
	feed(&run, AT(FAR, FRAMED), pointer, whole);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	for (size_t i = 0; i < report.all.n_rows; i++)
		if (strcmp(report.all.rows[i].name, "far") == 0)
			report.all.rows[i].border = true;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_int_eq(hlg_children_build(&children, &report, &report.all, &err), 0);
	ck_assert_uint_eq(children.n, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(children.rows[i].count.samples, 3);
		ck_assert(hlg_children_tree(&tree, &children, &children.rows[i], i == 1));
		ck_assert_uint_eq(tree.nodes[0].total.samples, 3);
		hlg_tree_finish(&tree);
	}
	hlg_children_finish(&children);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* A run with these words, judged; guest.elf is written. */
static void begin(struct hlg_run *run, struct hlg_report *report, const char *words)
{
	write_guest();
	kit_start(run, words);
	*report = (struct hlg_report){0};
}

static void judge(struct hlg_run *run, struct hlg_report *report,
		  struct hlg_children *children)
{
	struct hlg_err err;

	report->stacks = &run->stacks;
	ck_assert_int_eq(hlg_callgraph_judge(report, &err), 0);
	ck_assert_int_eq(hlg_children_build(children, report, &report->all, &err), 0);
}

static void end(struct hlg_run *run, struct hlg_report *report,
		struct hlg_children *children)
{
	hlg_children_finish(children);
	hlg_report_finish(report);
	hlg_run_finish(run);
}

/* In ONE, "in" and in that "deep" were inlined around its first call; "in" elsewhere. */
static size_t inlines_at(void *ctx, const struct hlg_image *image, uint64_t addr,
			 const char **found, size_t max)
{
	static const char *const chain[] = {"_Z4deepv", "in"};
	bool deep = addr == START + ONE * SLOT + 8,
	     one = addr / SLOT == START / SLOT + ONE;

	(void)ctx;
	ck_assert_str_eq(image->path, "guest.elf");
	ck_assert_uint_ge(max, 2);
	found[0] = chain[deep ? 0 : 1];
	found[1] = chain[1];
	return deep ? 2 : one;
}

/* Stands in a stack, and in the rows of children; the function has what is its own. */
START_TEST(inlined)
{
	const uint64_t one[] = {R_ONE, 0}, leaf[] = {ONE_LEAF, R_ONE, 0};
	static const struct {
		const char *name;
		uint64_t samples, self;
	} rows[] = {{"root", 6, 0},
		    {"one", 6, 3},
		    {"in (inlined)", 6, 0},
		    {"_Z4deepv (inlined)", 3, 0},
		    {"leaf", 3, 3}};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_tree tree = {0};
	struct hlg_run run;
	struct hlg_err err;
	char *folded;
	size_t size;
	FILE *f;

	write_guest();
	kit_start(&run, WORDS " children=yes demangle=no mode=guest");
	feed(&run, AT(ONE, FRAMED), one, whole);
	feed(&run, AT(LEAF, 1), leaf, whole);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	report.inlines.at = inlines_at;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_int_eq(hlg_children_build(&children, &report, &report.all, &err), 0);
	ck_assert_uint_eq(children.n, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct hlg_children_row *row = &children.rows[i];

		ck_assert_str_eq(children.paths.places[row->place].name, rows[i].name);
		ck_assert_uint_eq(row->count.samples, rows[i].samples);
		ck_assert_uint_eq(row->self.samples, rows[i].self);
		ck_assert(hlg_children_row(&children, i).inlined ==
			  (strstr(rows[i].name, HLG_INLINED_MARK) != NULL));
	}
	hlg_children_finish(&children);
	ck_assert_int_eq(hlg_frames_build(&tree, &report, &err), 0);
	f = open_memstream(&folded, &size);
	ck_assert_int_eq(hlg_folded_write(f, &tree, HLG_WEIGHT_SAMPLES, &err), 0);
	fclose(f);
	ck_assert_str_eq(
		folded,
		"[unknown];[guest];root;one;in (inlined) 3\n"
		"[unknown];[guest];root;one;in (inlined);_Z4deepv (inlined);leaf 3\n");
	free(folded);
	hlg_tree_finish(&tree);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* What is not named because it does not fit has nothing inlined either. */
START_TEST(inlined_misfit)
{
	const uint64_t one[] = {R_ONE, 0};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_run run;

	write_guest();
	kit_start(&run, WORDS " children=yes");
	feed(&run, AT(ONE, FRAMED), one, whole);
	kit_build(&run, &report);
	report.all.rows[0].misfit = _i;
	report.inlines.at = inlines_at;
	judge(&run, &report, &children);
	ck_assert_uint_eq(children.n, _i ? 2 : 3);
	end(&run, &report, &children);
}
END_TEST

/* Unwind tables leave nothing out: a leaf's caller is not inserted. */
START_TEST(by_tables)
{
	const struct hlg_chain_tail tail = {HLG_CHAIN_END_COPY, HLG_CHAIN_WAY_CFI, 0};
	const struct hlg_chain_tail outermost = {HLG_CHAIN_END_WHOLE, HLG_CHAIN_WAY_CFI,
						 0};
	struct hlg_caller_sums sums;

	write_guest();
	sums = expect("leaf", WORDS, AT(LEAF, 0), (uint64_t[]){R_LEAF, 0}, tail,
		      "[truncated: copied stack ends] root leaf");
	ck_assert_uint_eq(sums.confirmed, 3);
	ck_assert_uint_eq(sums.truncated, 3);
	/* Nor is the outermost called by anybody, where its frame is not set up yet. */
	expect("outermost", WORDS, AT(FAR, 0), (uint64_t[]){0}, outermost, "far");
}
END_TEST

START_TEST(ends)
{
	static const char *const stacks[] = {"one", "one", "[truncated: too deep] one"};

	write_guest();
	for (unsigned i = 0; i < 3; i++)
		expect("end", WORDS, AT(ONE, FRAMED), (uint64_t[]){0},
		       (struct hlg_chain_tail){.end = (enum hlg_chain_end)i}, stacks[i]);
	for (unsigned i = HLG_CHAIN_END_DEEP; i <= HLG_CALLER_END_NO_RETURN; i++)
		for (unsigned k = HLG_CHAIN_END_UNKNOWN; k < i; k++)
			ck_assert(strncmp(hlg_proof_end(i), "[truncated: ", 12) == 0 &&
				  strcmp(hlg_proof_end(i), hlg_proof_end(k)) != 0);
}
END_TEST

/* Of the functions that call others, most keep no frame pointer. */
START_TEST(without_frames)
{
	static const unsigned char code[] = {0xe8, 3, 0, 0, 0, RET, NOP, NOP, RET};
	struct mkelf_sym syms[] = {
		MKELF_SYM("root", START, 8, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
		MKELF_SYM("one", START + 8, 1, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	};
	const uint64_t callers[] = {AT(0, 5), 0};
	struct hlg_chain_tail tables = {HLG_CHAIN_END_WHOLE, HLG_CHAIN_WAY_CFI, 0};
	struct hlg_caller_sums sums;
	struct mkelf_image img;

	ck_assert_int_eq(mkelf_simple(&img, START, code, sizeof(code), syms, 2), 0);
	ck_assert_int_eq(mkelf_write(&img, "guest.elf"), 0);
	mkelf_finish(&img);
	sums = expect("refused", WORDS " force=no", AT(0, 8), callers, whole, "one");
	ck_assert_uint_eq(sums.refused, 3);
	ck_assert_uint_eq(sums.stacks, 0);
	sums = expect("forced", WORDS, AT(0, 8), callers, whole, "root one");
	ck_assert_uint_eq(sums.refused, 0);
	sums = expect("tables", WORDS " force=no", AT(0, 8), callers, tables, "root one");
	ck_assert_uint_eq(sums.refused, 0);
}
END_TEST

/* Intervals are of what the samples are worth; what exits calls nothing, so that it can
 * have nothing of what was cut off. */
START_TEST(worth_of_children)
{
	const uint64_t called[] = {R_ONE, 0}, pointer[] = {R_POINTER, 0};
	const struct hlg_chain_tail early = {HLG_CHAIN_END_DEEP, HLG_CHAIN_WAY_FRAMES, 0};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_run run;
	bool met = false;

	begin(&run, &report, WORDS " children=yes");
	for (int i = 0; i < 10; i++) {
		feed(&run, AT(ONE, FRAMED), called, whole);
		feed(&run, AT(FAR, FRAMED), pointer, whole);
		feed(&run, AT(LEAF, 1), (uint64_t[]){0}, early);
	}
	kit_build(&run, &report);
	report.all.design = 3;
	for (size_t i = 0; i < report.all.n_rows; i++)
		report.all.rows[i].border = strcmp(report.all.rows[i].name, "far") == 0;
	judge(&run, &report, &children);
	for (size_t i = 0; i < children.n; i++) {
		const struct hlg_row row = hlg_children_row(&children, i);
		const struct hlg_share share = hlg_interval_wilson(1.0 / 3, 30);

		if (!row.border)
			continue;
		met = true;
		ck_assert_double_eq(row.design, 3);
		ck_assert_double_eq(row.share.low, share.low);
		ck_assert_double_eq(row.share.high, share.high);
	}
	ck_assert(met);
	end(&run, &report, &children);
}
END_TEST

/* By their own samples min= is of these. */
START_TEST(least_of_self)
{
	const uint64_t one[] = {R_ONE, 0}, leaf[] = {ONE_LEAF, R_ONE, 0};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_run run;

	begin(&run, &report, WORDS " children=yes sort=self min=60");
	feed(&run, AT(ONE, FRAMED), one, whole);
	feed(&run, AT(LEAF, 1), leaf, whole);
	kit_build(&run, &report);
	judge(&run, &report, &children);
	ck_assert_uint_eq(children.n, 3);
	ck_assert_uint_eq(hlg_children_shown(&children, &report, 0), 0);
	run.options.min = UINT64_C(40000000000);
	ck_assert_uint_eq(hlg_children_shown(&children, &report, 0), 2);
	end(&run, &report, &children);
}
END_TEST

/* Where names are suppressed, callers are the addresses that were recorded. */
START_TEST(raw)
{
	const uint64_t one[] = {R_ONE, 0};
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_run run;
	char name[32];
	bool met = false;

	begin(&run, &report, WORDS);
	feed(&run, AT(ONE, FRAMED), one, whole);
	kit_build(&run, &report);
	report.suppressed = true;
	judge(&run, &report, &children);
	snprintf(name, sizeof(name), "0x%jx", (uintmax_t)R_ONE);
	for (uint32_t i = 0; i < children.paths.n_places; i++)
		met |= strcmp(children.paths.places[i].name, name) == 0;
	ck_assert(met);
	end(&run, &report, &children);
}
END_TEST

/* Host samples that no memory was left for are the host's; places that the VMM runs
 * guests from count once, however many stacks of guests stand there. */
START_TEST(halves_and_lost)
{
	const uint64_t one[] = {R_ONE, 0}, pointer[] = {R_POINTER, 0};
	const int modes[] = {HLG_SHOW_GUEST, HLG_SHOW_ALL};
	struct hlg_callgraph_sums sums;
	struct hlg_children children;
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_err err;
	uint32_t node;

	begin(&run, &report, WORDS);
	feed(&run, AT(ONE, FRAMED), one, whole);
	feed(&run, AT(FAR, FRAMED), pointer, whole);
	node = hlg_tree_child(&run.stacks.tree, HLG_TREE_ROOT, HLG_FRAME_HOST_USER,
			      "vmm");
	for (uint32_t i = 0; i < run.stacks.n_stacks; i++)
		run.stacks.stacks[i].node = node;
	run.stacks.lost = (struct hlg_count){5, 5};
	kit_build(&run, &report);
	judge(&run, &report, &children);
	ck_assert_int_eq(hlg_callgraph_sum(&sums, &report, &err), 0);
	ck_assert_uint_eq(sums.halves, 1);
	ck_assert_uint_eq(sums.known.samples, 6);
	for (size_t i = 0; i < 2; i++) {
		struct hlg_tree tree = {0};

		run.options.mode = modes[i];
		ck_assert_int_eq(hlg_frames_build(&tree, &report, &err), 0);
		ck_assert_uint_eq(tree.nodes[HLG_TREE_ROOT].total.samples, i ? 11 : 6);
		hlg_tree_finish(&tree);
	}
	end(&run, &report, &children);
}
END_TEST

/* Without a guest's ELF nobody knows that it keeps no frame pointers. */
START_TEST(no_callers)
{
	const struct hlg_space space = {0};

	ck_assert_ptr_nonnull(strstr(hlg_callgraph_none(&space), "--guest-stacks"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proof");
	TCase *tc = tap_case(suite, "proof");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	if (HLG_HAVE_ZYDIS)
		tcase_add_loop_test(tc, edges, 0, sizeof(table) / sizeof(table[0]));
	if (HLG_HAVE_ZYDIS)
		tcase_add_test(tc, another_image);
	if (HLG_HAVE_ZYDIS)
		tcase_add_test(tc, by_tables);
	if (HLG_HAVE_ZYDIS)
		tcase_add_test(tc, inclusive);
	if (HLG_HAVE_ZYDIS)
		tcase_add_test(tc, inlined);
	tcase_add_loop_test(tc, inlined_misfit, 0, 2);
	tcase_add_loop_test(tc, cut, 0, sizeof(cuts) / sizeof(cuts[0]));
	tcase_add_loop_test(tc, mostly, 0, sizeof(reasons) / sizeof(reasons[0]));
	tcase_add_test(tc, not_recorded);
	tcase_add_test(tc, few_of_many);
	tcase_add_test(tc, worth_of_children);
	if (HLG_HAVE_ZYDIS)
		tcase_add_test(tc, least_of_self);
	tcase_add_test(tc, raw);
	tcase_add_test(tc, halves_and_lost);
	tcase_add_test(tc, no_callers);
	tcase_add_test(tc, dropped);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, without_frames);
	return tap_main(suite);
}
