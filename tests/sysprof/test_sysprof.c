// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of sysprof made by hand, byte by byte: what is read of them, how stacks are
 * laid into one, and what is refused. Every truncation and every single flipped bit of a
 * stream with all kinds of records is read to the end or refused, and loses no sample it
 * counted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tools/sysprof/symbols.h"
#include "../../tools/sysprof/sysprof.h"
#include "../../tools/sysprof/write.h"
#include "../tap.h"

/* A stream in the making. */
struct stream {
	unsigned char *at;
	size_t n, room;
};

static void put(struct stream *s, unsigned value)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->at = realloc(s->at, s->room);
		ck_assert_ptr_nonnull(s->at);
	}
	s->at[s->n++] = (unsigned char)value;
}

static void uleb(struct stream *s, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(s, (unsigned)(0x80 | (value & 0x7f)));
	put(s, (unsigned)value);
}

static void text(struct stream *s, const char *word)
{
	uleb(s, strlen(word));
	for (; *word; word++)
		put(s, (unsigned char)*word);
}

static void header(struct stream *s, const char *magic, unsigned version)
{
	for (int i = 0; i < 3; i++)
		put(s, (unsigned char)magic[i]);
	put(s, version);
	for (int i = 0; i < 3; i++)
		put(s, 0);
}

/* type: 0 and up in the table, 10 and up among events */
static void lua_symbol(struct stream *s, unsigned type, uint64_t addr, const char *chunk)
{
	put(s, type);
	uleb(s, addr);
	text(s, chunk);
	uleb(s, 1);
}

static void c_symbol(struct stream *s, unsigned type, uint64_t addr, const char *name)
{
	put(s, type);
	uleb(s, addr);
	text(s, name);
}

static void lua_frame(struct stream *s, uint64_t addr, uint64_t line)
{
	put(s, HLG_FRAME_LUA);
	uleb(s, addr);
	uleb(s, line);
}

/* A table of C functions, spread wide: main, lua_pcall, docall, pmain, work, lua_cpcall.
 */
enum {
	MAIN = 0x1000,
	PCALL = 0x2000,
	DOCALL = 0x3000,
	PMAIN = 0x4000,
	WORK = 0x5000,
	CPCALL = 0x6000,
	FUNC = 0x900000, /* a Lua function */
};

static void begin(struct stream *s)
{
	*s = (struct stream){0};
	header(s, "ljs", 3);
	c_symbol(s, 1, MAIN, "main");
	c_symbol(s, 1, PCALL, "lua_pcall");
	c_symbol(s, 1, DOCALL, "docall");
	c_symbol(s, 1, PMAIN, "pmain");
	c_symbol(s, 1, WORK, "work");
	c_symbol(s, 1, CPCALL, "lua_cpcall");
	lua_symbol(s, 0, FUNC, "@a.lua");
	put(s, 0x80);
	header(s, "ljp", 2);
}

static int read_bytes(struct hlg_sysprof *s, const void *bytes, size_t n,
		      struct hlg_err *err)
{
	int fd = memfd_create("stream", MFD_CLOEXEC), rc;
	char path[32];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*s = (struct hlg_sysprof){0};
	rc = hlg_sysprof_read(s, path, err);
	close(fd);
	return rc;
}

/* The samples are the sum of the stacks', and of the states'. */
static void check_sums(const struct hlg_sysprof *s)
{
	uint64_t stacks = 0, states = 0;

	for (uint32_t i = 0; i < s->n_stacks; i++) {
		stacks += s->stacks[i].samples;
		for (uint32_t k = 0; k < s->stacks[i].n_lua + s->stacks[i].n_host; k++)
			ck_assert_uint_lt(s->ids[s->stacks[i].at + k], s->n_frames);
	}
	for (int i = 0; i < HLG_SYSPROF_STATES; i++)
		states += s->states[i];
	ck_assert_uint_eq(stacks, s->samples);
	ck_assert_uint_eq(states, s->samples);
}

static void read_good(struct hlg_sysprof *s, struct stream *stream)
{
	struct hlg_err err;
	int rc = read_bytes(s, stream->at, stream->n, &err);

	ck_assert_msg(rc == 0, "%s", rc < 0 ? err.msg : "");
	check_sums(s);
	free(stream->at);
}

static void refuse(struct stream *stream, const char *said)
{
	struct hlg_sysprof s;
	struct hlg_err err;

	ck_assert_int_lt(read_bytes(&s, stream->at, stream->n, &err), 0);
	ck_assert_msg(strstr(err.msg, said), "%s", err.msg);
	hlg_sysprof_finish(&s);
	free(stream->at);
}

/* What a writer makes of it; to be freed. */
static char *folded(const struct hlg_sysprof *s, enum hlg_sysprof_mode mode)
{
	const struct hlg_sysprof_style style = {.mode = mode};
	char *made;
	size_t size;
	FILE *f = open_memstream(&made, &size);

	ck_assert(hlg_sysprof_folded(f, s, &style));
	ck_assert_int_eq(fclose(f), 0);
	return made;
}

static void check_folded(struct stream *stream, enum hlg_sysprof_mode mode,
			 const char *expected)
{
	struct hlg_sysprof s;
	char *made;

	put(stream, 0x80);
	read_good(&s, stream);
	made = folded(&s, mode);
	ck_assert_str_eq(made, expected);
	free(made);
	hlg_sysprof_finish(&s);
}

/* One sample of state LFUNC: Lua's frames by the letters of f (FUNC), 0 (a function at
 * 0), p (pmain), w (work), t (tostring), u (a fast function of no name); then the host's.
 * Both leaf first. */
static void sample(struct stream *s, const char *lua, const uint64_t *host, size_t n)
{
	put(s, HLG_SYSPROF_LFUNC);
	for (; *lua; lua++) {
		bool fast = *lua == 't' || *lua == 'u';

		if (*lua == 'f' || *lua == '0') {
			lua_frame(s, *lua == 'f' ? FUNC : 0, 7);
			continue;
		}
		put(s, fast ? HLG_FRAME_FAST : HLG_FRAME_C);
		uleb(s, *lua == 't'   ? 18
			: *lua == 'u' ? 250
			: *lua == 'p' ? PMAIN
				      : WORK);
	}
	put(s, 0x80);
	for (size_t i = 0; i < n; i++)
		uleb(s, host[i] + 5);
	uleb(s, 0);
}

#define SAMPLE(s, lua, ...)                                                              \
	sample(s, lua, (const uint64_t[]){__VA_ARGS__},                                  \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* clang-format off */
static const struct {
	const char *lua;
	uint64_t host[8];
	const char *laid, *leaves;
} stacks[] = {
	/* Lua lies on what called it, C code it called on Lua */
	{"f", {WORK, PCALL, MAIN}, "main;lua_pcall;@a.lua:7;work", "@a.lua:7;work"},
	/* a C function of both stacks stands where the host has it */
	{"wf", {WORK, PCALL, MAIN}, "main;lua_pcall;@a.lua:7;work", "work"},
	{"ffp", {WORK, PCALL, DOCALL, PMAIN, CPCALL, MAIN},
	 "main;lua_cpcall;pmain;docall;lua_pcall;@a.lua:7;@a.lua:7;work", "@a.lua:7;work"},
	/* Lua called C, which called Lua */
	{"fwf", {PCALL, WORK, PCALL, MAIN},
	 "main;lua_pcall;@a.lua:7;work;lua_pcall;@a.lua:7", "lua_pcall;@a.lua:7"},
	/* the same where the host's stack lacks the C function */
	{"fwf", {PCALL, DOCALL, PCALL, MAIN},
	 "main;lua_pcall;@a.lua:7;work;docall;lua_pcall;@a.lua:7", "lua_pcall;@a.lua:7"},
	/* and once more, where a later one of the host's is another call of it */
	{"fwfwf", {PCALL, WORK, PCALL, DOCALL, PCALL, MAIN},
	 "main;lua_pcall;@a.lua:7;work;docall;lua_pcall;@a.lua:7;work;lua_pcall;@a.lua:7",
	 "lua_pcall;@a.lua:7"},
	/* a host stack that was lost leaves Lua on top; a fast function stays in place */
	{"tfp", {MAIN}, "main;pmain;@a.lua:7;tostring", "main;tostring"},
	{"f", {0}, "@a.lua:7", "@a.lua:7"},
	{"", {WORK, MAIN}, "main;work", "work"},
	{"", {0}, "[LFUNC]", "[LFUNC]"},
};
/* clang-format on */

START_TEST(lays_stacks)
{
	for (int mode = HLG_SYSPROF_CALLGRAPH; mode <= HLG_SYSPROF_LEAF; mode++) {
		struct stream s;
		char expected[256];
		size_t n = 0;

		begin(&s);
		while (n < 8 && stacks[_i].host[n])
			n++;
		sample(&s, stacks[_i].lua, stacks[_i].host, n);
		snprintf(expected, sizeof(expected), "%s 1\n",
			 mode == HLG_SYSPROF_LEAF ? stacks[_i].leaves : stacks[_i].laid);
		check_folded(&s, mode, expected);
	}
}
END_TEST

/* clang-format off */
/* What Tarantool's parser prints for them. */
static const struct {
	const char *lua;
	uint64_t host[8];
	const char *printed;
} stocks[] = {
	{"ff", {PCALL, PCALL, PCALL, MAIN},
	 "main:0x1000;lua_pcall:0x2000;@a.lua:7;@a.lua:7;lua_pcall:0x2000;@a.lua:7;"
	 "lua_pcall:0x2000;\t1\n"},
	{"tfp", {PCALL, PCALL, CPCALL, MAIN},
	 "main:0x1000;lua_cpcall:0x6000;lua_pcall:0x2000;lua_pcall:0x2000;@a.lua:7;\t1\n"},
	{"tfp", {PCALL, PCALL, MAIN},
	 "main:0x1000;lua_pcall:0x2000;lua_pcall:0x2000;@a.lua:7;tostring;\t1\n"},
	{"uf", {PCALL, MAIN}, "main:0x1000;lua_pcall:0x2000;@a.lua:7;\t1\n"},
	{"0f", {PCALL}, "lua_pcall:0x2000;@a.lua:7;INTERNAL;\t1\n"},
	{"f", {FUNC - 5, PCALL, 0x10},
	 "CFUNC 0x15;lua_pcall:0x2000;@a.lua:7;@a.lua:0;\t1\n"},
	{"fwf", {PCALL, WORK, PCALL, MAIN},
	 "main:0x1000;lua_pcall:0x2000;@a.lua:7;work:0x5000;lua_pcall:0x2000;@a.lua:7;"
	 "@a.lua:7;\t1\n"},
	{"", {PCALL, MAIN}, "main:0x1000;lua_pcall:0x2000;\t1\n"},
	{"f", {0}, ";\t1\n"},
};
/* clang-format on */

START_TEST(prints_as_stock)
{
	struct hlg_sysprof read;
	struct stream s;
	size_t n = 0, size;
	char *made;
	FILE *f;

	begin(&s);
	while (n < 8 && stocks[_i].host[n])
		n++;
	sample(&s, stocks[_i].lua, stocks[_i].host, n);
	put(&s, 0x80);
	read_good(&read, &s);
	f = open_memstream(&made, &size);
	ck_assert(hlg_sysprof_stock(f, &read));
	fclose(f);
	ck_assert_str_eq(made, stocks[_i].printed);
	free(made);
	hlg_sysprof_finish(&read);
}
END_TEST

START_TEST(counts_states)
{
	struct stream s;

	begin(&s);
	SAMPLE(&s, "f", MAIN);
	SAMPLE(&s, "f", MAIN);
	for (unsigned state = HLG_SYSPROF_GC; state <= HLG_SYSPROF_ASM; state++) {
		put(&s, state);
		uleb(&s, 0);
	}
	check_folded(&s, HLG_SYSPROF_COUNTERS,
		     "[LFUNC] 2\n[ASM] 1\n[EXIT] 1\n[GC] 1\n[OPT] 1\n[RECORD] 1\n");
}
END_TEST

/* An address is what it was called last; what was read before keeps its name. */
START_TEST(follows_changes)
{
	struct stream s;

	begin(&s);
	SAMPLE(&s, "f", MAIN);
	lua_symbol(&s, 10, FUNC, "=new");
	c_symbol(&s, 11, MAIN, "start");
	SAMPLE(&s, "f", MAIN);
	c_symbol(&s, 11, MAIN + 3, "nearer");
	SAMPLE(&s, "f", MAIN);
	check_folded(&s, HLG_SYSPROF_CALLGRAPH,
		     "main;@a.lua:7 1\nnearer;=new:7 1\nstart;=new:7 1\n");
}
END_TEST

START_TEST(names_traces)
{
	struct stream s;

	begin(&s);
	for (uint64_t number = 1; number <= 2; number++)
		for (uint64_t addr = FUNC; addr <= FUNC + 1; addr++) {
			put(&s, HLG_SYSPROF_TRACE);
			uleb(&s, number);
			uleb(&s, addr);
			uleb(&s, 3);
			if (number == 1 && addr == FUNC) {
				put(&s, 12);
				uleb(&s, 2);
				uleb(&s, FUNC);
				uleb(&s, 9);
			}
		}
	check_folded(
		&s, HLG_SYSPROF_CALLGRAPH,
		"TRACE [1] of @a.lua:3 1\nTRACE [1] of [Lua 0x900001]:3 1\n"
		"TRACE [2] of [Lua 0x900001]:3 1\nTRACE [2] started at @a.lua:9 1\n");
}
END_TEST

/* Names that nothing is known of, and those that nobody should have. */
START_TEST(names_strangers)
{
	struct stream s;

	begin(&s);
	lua_symbol(&s, 10, FUNC, "return 1\nreturn 2");
	c_symbol(&s, 11, WORK, "a;b\x1b[31m");
	put(&s, HLG_SYSPROF_FFUNC);
	put(&s, HLG_FRAME_FAST);
	uleb(&s, 209);
	put(&s, HLG_FRAME_FAST);
	uleb(&s, 208);
	lua_frame(&s, 5, 1);
	lua_frame(&s, FUNC, 1);
	put(&s, HLG_FRAME_C);
	uleb(&s, 6);
	put(&s, 0x80);
	uleb(&s, WORK);
	uleb(&s, 7);
	uleb(&s, 0);
	check_folded(&s, HLG_SYSPROF_CALLGRAPH,
		     "[host 0x7];a:b\\x1b[31m;[C 0x6];[string \"return 1...\"]:1;"
		     "[Lua 0x5]:1;misc.memprof.stop;[fast function 209] 1\n");
}
END_TEST

START_TEST(spells_out_nul)
{
	struct stream s;

	begin(&s);
	put(&s, 11);
	uleb(&s, WORK);
	uleb(&s, 3);
	put(&s, 'a');
	put(&s, 0);
	put(&s, 'b');
	SAMPLE(&s, "", WORK);
	check_folded(&s, HLG_SYSPROF_CALLGRAPH, "a\\x00b 1\n");
}
END_TEST

/* Ten bytes hold 64 bits, whatever they begin with; one bit more makes no sense. */
START_TEST(bounds_numbers)
{
	static const unsigned last[] = {0x01, 0x02, 0x81, 0x7f};
	struct hlg_sysprof read;
	struct stream s;

	begin(&s);
	put(&s, HLG_SYSPROF_GC);
	for (int i = 0; i < 9; i++)
		put(&s, 0xff);
	put(&s, last[_i]);
	if (_i) {
		refuse(&s, "a number of more than 64 bits");
		return;
	}
	uleb(&s, 0);
	read_good(&read, &s);
	ck_assert_uint_eq(read.samples, 1);
	ck_assert(!read.ended);
	ck_assert_uint_eq(read.frames[0].addr, UINT64_MAX);
	hlg_sysprof_finish(&read);
}
END_TEST

/* A length is no promise: memory is taken for what is there. */
START_TEST(bounds_names)
{
	struct hlg_sysprof read;
	struct stream s;

	begin(&s);
	put(&s, 11);
	uleb(&s, WORK);
	uleb(&s, ((uint64_t)16 << 20) + (uint64_t)_i);
	put(&s, 'x');
	if (_i) {
		refuse(&s, "a name of more than 16 MiB");
		return;
	}
	read_good(&read, &s);
	ck_assert_uint_eq(read.left, 9);
	hlg_sysprof_finish(&read);
}
END_TEST

START_TEST(bounds_stacks)
{
	struct hlg_sysprof read;
	struct stream s;
	char *made;

	begin(&s);
	put(&s, HLG_SYSPROF_LFUNC);
	for (uint32_t i = 0; i < HLG_SYSPROF_MAX_FRAMES + (_i == 1); i++) {
		put(&s, HLG_FRAME_C);
		uleb(&s, WORK);
	}
	put(&s, 0x80);
	for (uint32_t i = 0; i < HLG_SYSPROF_MAX_FRAMES + (_i == 2); i++)
		uleb(&s, PCALL);
	uleb(&s, 0);
	if (_i) {
		refuse(&s, _i == 1 ? "a stack of Lua without an end"
				   : "a stack of the host without an end");
		return;
	}
	read_good(&read, &s);
	made = folded(&read, HLG_SYSPROF_CALLGRAPH);
	ck_assert_uint_eq(strlen(made),
			  HLG_SYSPROF_MAX_FRAMES * strlen("work;lua_pcall;") +
				  strlen(" 1\n") - 1);
	free(made);
	hlg_sysprof_finish(&read);
}
END_TEST

/* A long name for each of many frames is too much text, but for no other format. */
START_TEST(bounds_text)
{
	const struct hlg_sysprof_style style = {.path = ""};
	struct hlg_sysprof read;
	struct stream s;
	FILE *f = fopen("/dev/null", "w");

	begin(&s);
	put(&s, 11);
	uleb(&s, WORK);
	uleb(&s, 1 << 20);
	for (int i = 0; i < 1 << 20; i++)
		put(&s, 'x');
	SAMPLE(&s, "", WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK);
	if (_i)
		SAMPLE(&s, "", WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK,
		       WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK);
	read_good(&read, &s);
	ck_assert_int_eq(hlg_sysprof_folded(f, &read, &style), _i == 0);
	ck_assert_int_eq(hlg_sysprof_text(f, &read, &style), _i == 0);
	ck_assert_int_eq(hlg_sysprof_stock(f, &read), _i == 0);
	hlg_sysprof_finish(&read);
	fclose(f);
}
END_TEST

/* clang-format off */
static const struct {
	const char *bytes;
	size_t n;
	const char *said;
} foreign[] = {
	{"", 0, "is empty"},
	{"l", 1, "was cut off before its first event"},
	{"ljs\3\0\0\0", 7, "was cut off before its first event"},
	{"ljs\3\0\0\0\x80", 8, "was cut off before its first event"},
	{"ljs\3\0\0\0\x80ljp\2\0\0", 14, "was cut off before its first event"},
	{"ljs\2\0\0\0\x80", 8, "a symbol table of version 2 (ljs), and only 3 is read"},
	{"ljs\1\0\0\0\x80", 8, "a symbol table of version 1 (ljs), and only 3 is read"},
	{"ljs\4\0\0\0\x80", 8, "a symbol table of version 4 (ljs), and only 3 is read"},
	{"ljs\3\0\0\0\x80ljp\1\0\0\0\x80", 16, "events of version 1 (ljp), and only 2 is read"},
	{"ljs\3\0\0\0\x80ljp\3\0\0\0\x80", 16, "events of version 3 (ljp), and only 2 is read"},
	{"ljs\3\0\0\0\x80ljm\2\0\0\0\x80", 16, "is of memprof"},
	{"ljs\3\0\0\0\x80ljs\3\0\0\0\x80", 16, "no events of sysprof (ljp) follow"},
	{"ljp\2\0\0\0\x80", 8, "is no stream of LuaJIT's sysprof"},
	{"PERFILE2", 8, "is perf's recording"},
	{"ljs\3\0\0\0\3", 8, "byte 7: a symbol of no known kind"},
	{"ljs\3\0\0\0\x80ljp\2\0\0\0\x0d", 16, "byte 15: an event of no known kind"},
	{"ljs\3\0\0\0\x80ljp\2\0\0\0\1\4", 17, "byte 15: a frame of no known kind"},
};
/* clang-format on */

START_TEST(refuses)
{
	struct stream s = {0};

	for (size_t i = 0; i < foreign[_i].n; i++)
		put(&s, (unsigned char)foreign[_i].bytes[i]);
	if (s.n == 0)
		s.at = calloc(1, 1);
	refuse(&s, foreign[_i].said);
}
END_TEST

START_TEST(tells_what_is_behind)
{
	struct hlg_sysprof read;
	struct stream s;

	begin(&s);
	put(&s, 0x80);
	text(&s, "more");
	read_good(&read, &s);
	ck_assert(read.ended);
	ck_assert_uint_eq(read.behind, 5);
	hlg_sysprof_finish(&read);
}
END_TEST

/* The file with all kinds of records, to be freed. */
static unsigned char *load_all_records(size_t *n)
{
	const char *folder = getenv("HLG_DATA");
	unsigned char *bytes = malloc(4096);
	char path[4096];
	FILE *f;

	ck_assert_ptr_nonnull(folder);
	snprintf(path, sizeof(path), "%s/sysprof/all-records.bin", folder);
	f = fopen(path, "rb");
	ck_assert_ptr_nonnull(f);
	*n = fread(bytes, 1, 4096, f);
	ck_assert_uint_eq(*n, 372);
	fclose(f);
	return bytes;
}

/* Reads it, or not; all writers stand what was read. Returns the samples. */
static uint64_t survive(const unsigned char *bytes, size_t n)
{
	struct hlg_sysprof s;
	struct hlg_err err;
	uint64_t samples = 0;
	FILE *f;

	if (read_bytes(&s, bytes, n, &err) == 0) {
		check_sums(&s);
		samples = s.samples;
		f = fopen("/dev/null", "w");
		ck_assert(hlg_sysprof_stock(f, &s));
		for (int mode = 0; mode <= HLG_SYSPROF_COUNTERS; mode++) {
			const struct hlg_sysprof_style style = {.mode = mode, .path = ""};

			ck_assert(hlg_sysprof_folded(f, &s, &style));
			ck_assert(hlg_sysprof_text(f, &s, &style));
		}
		fclose(f);
	}
	hlg_sysprof_finish(&s);
	return samples;
}

START_TEST(survives_truncation)
{
	size_t n;
	unsigned char *bytes = load_all_records(&n);
	uint64_t before = 0, samples;

	for (size_t i = 0; i <= n; i++) {
		samples = survive(bytes, i);
		ck_assert_uint_ge(samples, before);
		ck_assert_uint_le(samples, before + 1);
		before = samples;
	}
	ck_assert_uint_eq(before, 13);
	free(bytes);
}
END_TEST

START_TEST(survives_flipped_bits)
{
	size_t n;
	unsigned char *bytes = load_all_records(&n);

	for (size_t i = 0; i < 8 * n; i++) {
		bytes[i / 8] ^= (unsigned char)(1 << i % 8);
		survive(bytes, n);
		bytes[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	free(bytes);
}
END_TEST

/* The floor in a tree against a look at everything. */
START_TEST(finds_floors)
{
	struct hlg_symbols symbols = {0};
	uint64_t keys[200], random = 1;

	for (size_t i = 0; i < 200; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		keys[i] = random >> 55; /* some are alike: the last counts */
		ck_assert(hlg_symbols_set(
			&symbols.c, &(struct hlg_symbols_entry){
					    .key = keys[i], .name = (uint32_t)i + 1}));
		for (uint64_t key = 0; key < 520; key++) {
			const struct hlg_symbols_entry *found =
				hlg_symbols_floor(&symbols.c, key);
			size_t best = SIZE_MAX;

			for (size_t k = 0; k <= i; k++)
				if (keys[k] <= key &&
				    (best == SIZE_MAX || keys[k] >= keys[best]))
					best = k;
			ck_assert_uint_eq(found ? found->name : 0,
					  best == SIZE_MAX ? 0 : best + 1);
		}
	}
	hlg_symbols_finish(&symbols);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sysprof");
	TCase *tc = tap_case(suite, "read");

	tcase_add_test(tc, counts_states);
	tcase_add_test(tc, follows_changes);
	tcase_add_test(tc, names_traces);
	tcase_add_test(tc, names_strangers);
	tcase_add_test(tc, spells_out_nul);
	tcase_add_test(tc, tells_what_is_behind);
	tcase_add_test(tc, finds_floors);
	tc = tap_case(suite, "lay");
	tcase_add_loop_test(tc, lays_stacks, 0, sizeof(stacks) / sizeof(stacks[0]));
	tcase_add_loop_test(tc, prints_as_stock, 0, sizeof(stocks) / sizeof(stocks[0]));
	tc = tap_case(suite, "hostile");
	tcase_add_loop_test(tc, bounds_numbers, 0, 4);
	tcase_add_loop_test(tc, bounds_names, 0, 2);
	tcase_add_loop_test(tc, bounds_stacks, 0, 3);
	tcase_add_loop_test(tc, bounds_text, 0, 2);
	tcase_add_loop_test(tc, refuses, 0, sizeof(foreign) / sizeof(foreign[0]));
	tcase_add_test(tc, survives_truncation);
	tcase_add_test(tc, survives_flipped_bits);
	return tap_main(suite);
}
