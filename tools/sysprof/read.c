// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the bytes of a stream to frames and stacks, each kept once. What a record says is
 * applied only once the record is whole, so that a cut-off one leaves no trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/file.h"
#include "symtab/grow.h"
#include "tools/sysprof/sysprof.h"

enum {
	HEADER = 7,    /* bytes: three letters, version, three reserved */
	LAST = 0x80,   /* bit: of a frame, no frame; of a record, the end */
	LJS = 3,       /* versions, of lj_symtab.h */
	LJP = 2,       /* and lj_sysprof.h */
	EVENT_SYM = 10 /* among events, records of the table begin here */
};

/* A longer string makes no sense: the longest are chunks that are given as text. */
#define MAX_STRING ((uint64_t)16 << 20)

/* Of a symbol table; a later one takes the place of an earlier one of the same key. */
struct symbol {
	uint64_t key;  /* address, of a Lua function the prototype's; number of a trace */
	uint32_t name; /* of the chunk, or the C function */
	uint64_t addr; /* of a trace: the prototype's */
	uint64_t line; /* of a trace: it begins there */
};

/* What reads takes no further step once rc is not 1, so rc may be looked at later. */
struct reader {
	struct hlg_sysprof *s;
	FILE *f;
	const char *path; /* for messages */
	struct hlg_err *err;
	int rc;          /* 1; 0: the input has ended; or an error, which err tells */
	uint64_t at;     /* bytes read */
	uint64_t record; /* where the one at hand begins */
	char *text;      /* of the last string */
	void *symbols[HLG_SYSPROF_SYMBOLS]; /* as they stand now: trees of tsearch(3) */
};

static void set_bad(struct reader *r, uint64_t at, const char *what)
{
	r->rc = hlg_err_set(r->err, HLG_EINPUT,
			    "%s: byte %" PRIu64 ": %s (the stream is damaged)", r->path,
			    at, what);
}

static void set_no_memory(struct reader *r)
{
	r->rc = hlg_err_memory(r->err, r->path);
}

/* Behind a read that gave less than was asked for. */
static void set_end(struct reader *r)
{
	r->rc = 0;
	if (ferror(r->f))
		r->rc = hlg_err_set(r->err, HLG_ESYSTEM,
				    "%s: cannot be read: %s (try a copy)", r->path,
				    strerrordesc_np(errno));
}

/* Values are 0 where they cannot be read. */
static uint8_t read_u8(struct reader *r)
{
	int c;

	if (r->rc <= 0)
		return 0;
	c = getc_unlocked(r->f);
	if (c == EOF) {
		set_end(r);
		return 0;
	}
	r->at++;
	return (uint8_t)c;
}

/* ULEB128 (DWARF 5, 7.6), at most ten bytes; more than 64 bits make no sense. */
static uint64_t read_uleb(struct reader *r)
{
	uint64_t start = r->at, value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = read_u8(r);

		if (shift == 63 && byte > 1) {
			set_bad(r, start, "a number of more than 64 bits");
			return 0;
		}
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

/* Memory grows with what is really there, not with what a length says. */
static void put_char(struct reader *r, size_t *n, char c)
{
	if (HLG_GROW(r->text, *n))
		r->text[(*n)++] = c;
	else
		set_no_memory(r);
}

/* A length, and as many bytes: the number of that name. A NUL is spelled out. */
static uint32_t read_name(struct reader *r)
{
	uint64_t start = r->at, len = read_uleb(r);
	uint32_t name;
	size_t n = 0;

	if (len > MAX_STRING)
		set_bad(r, start, "a name of more than 16 MiB");
	for (uint64_t i = 0; i < len && r->rc > 0; i++) {
		char c = (char)read_u8(r);

		for (const char *nul = "\\x00"; !c && *nul && r->rc > 0; nul++)
			put_char(r, &n, *nul);
		if (c)
			put_char(r, &n, c);
	}
	if (r->rc > 0)
		put_char(r, &n, '\0');
	if (r->rc <= 0)
		return HLG_NO_STRING;
	name = hlg_strings_add(&r->s->names, r->text);
	if (name == HLG_NO_STRING)
		set_no_memory(r);
	return name;
}

static int compare_keys(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static bool set_symbol(void **tree, const struct symbol *symbol)
{
	struct symbol *copy = malloc(sizeof(*copy)), **at;

	if (!copy)
		return false;
	*copy = *symbol;
	at = tsearch(copy, tree, compare_keys);
	if (at && *at != copy)
		**at = *symbol;
	if (!at || *at != copy)
		free(copy);
	return at != NULL;
}

static const struct symbol *find_symbol(void *const *tree, uint64_t key)
{
	const struct symbol wanted = {.key = key};
	struct symbol *const *at = tfind(&wanted, tree, compare_keys);

	return at ? *at : NULL;
}

/* What is asked for, and the best so far: the way down passes what is next below. */
struct floor_search {
	struct symbol wanted;
	const struct symbol *best;
};

static int compare_floor(const void *a, const void *b)
{
	struct floor_search *search = (struct floor_search *)(uintptr_t)a;
	const struct symbol *symbol = b;

	if (symbol->key <= search->wanted.key &&
	    (!search->best || symbol->key > search->best->key))
		search->best = symbol;
	return compare_keys(&search->wanted, symbol);
}

/* The last at or below key, or NULL. */
static const struct symbol *find_floor(void *const *tree, uint64_t key)
{
	struct floor_search search = {.wanted = {.key = key}};

	(void)tfind(&search, tree, compare_floor);
	return search.best;
}

/* A record of the symbol table, wherever it stands. */
static void read_symbol(struct reader *r, unsigned kind,
			uint64_t counts[static HLG_SYSPROF_SYMBOLS])
{
	struct symbol symbol = {.key = read_uleb(r)};

	if (kind == HLG_SYSPROF_TRACES) {
		symbol.addr = read_uleb(r);
		symbol.line = read_uleb(r);
	} else {
		symbol.name = read_name(r);
	}
	if (kind == HLG_SYSPROF_LUA)
		read_uleb(r); /* its line: a frame has its own */
	if (r->rc <= 0)
		return;
	counts[kind]++;
	if (!set_symbol(&r->symbols[kind], &symbol))
		set_no_memory(r);
}

/* What the table says of a frame, as it stands now. */
static void resolve(const struct reader *r, struct hlg_sysprof_frame *frame)
{
	bool is_trace = frame->kind == HLG_FRAME_TRACE;
	const struct symbol *symbol = NULL;

	if (is_trace) {
		symbol = find_symbol(&r->symbols[HLG_SYSPROF_TRACES], frame->trace);
		frame->begins_known = symbol && symbol->addr == frame->addr;
		frame->begins = frame->begins_known ? symbol->line : 0;
	}
	if (is_trace || frame->kind == HLG_FRAME_LUA)
		symbol = find_symbol(&r->symbols[HLG_SYSPROF_LUA], frame->addr);
	else if (frame->kind != HLG_FRAME_FAST)
		symbol = find_floor(&r->symbols[HLG_SYSPROF_C], frame->addr);
	if (symbol) {
		frame->name = symbol->name;
		frame->start = symbol->key;
	}
}

struct frame_search {
	const struct hlg_sysprof *s;
	const struct hlg_sysprof_frame *frame;
};

static bool same_frame(const void *ctx, uint32_t number)
{
	const struct frame_search *search = ctx;
	const struct hlg_sysprof_frame *a = search->frame,
				       *b = &search->s->frames[number];

	return a->kind == b->kind && a->addr == b->addr && a->line == b->line &&
	       a->trace == b->trace && a->begins == b->begins &&
	       a->begins_known == b->begins_known && a->name == b->name &&
	       a->start == b->start;
}

/* The number of a frame, new or known; HLG_INDEX_NONE without memory. */
static uint32_t keep_frame(struct hlg_sysprof *s, const struct hlg_sysprof_frame *frame)
{
	const struct frame_search search = {s, frame};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, frame->kind);
	uint32_t number;

	hash = hlg_hash_word(hash, frame->addr);
	hash = hlg_hash_word(hash, frame->line);
	hash = hlg_hash_word(hash, frame->trace);
	hash = hlg_hash_word(hash, frame->name);
	number = hlg_index_find(&s->frame_index, hash, same_frame, &search);
	if (number != HLG_INDEX_NONE)
		return number;
	if (!HLG_GROW(s->frames, s->n_frames) ||
	    !hlg_index_add(&s->frame_index, hash, s->n_frames))
		return HLG_INDEX_NONE;
	s->frames[s->n_frames] = *frame;
	return s->n_frames++;
}

/* Puts a frame behind the stack at hand, which is the last of the ids. */
static void push(struct reader *r, struct hlg_sysprof_frame frame)
{
	uint32_t number;

	if (r->rc <= 0)
		return;
	resolve(r, &frame);
	number = keep_frame(r->s, &frame);
	if (number != HLG_INDEX_NONE && HLG_GROW(r->s->ids, r->s->n_ids))
		r->s->ids[r->s->n_ids++] = number;
	else
		set_no_memory(r);
}

static void read_lua_stack(struct reader *r)
{
	for (uint32_t n = 0;; n++) {
		struct hlg_sysprof_frame frame = {.kind = read_u8(r)};

		if (r->rc <= 0 || frame.kind & LAST)
			return;
		if (n == HLG_SYSPROF_MAX_FRAMES) {
			set_bad(r, r->record, "a Lua stack without an end");
			return;
		}
		if (frame.kind < HLG_FRAME_LUA || frame.kind > HLG_FRAME_FAST) {
			set_bad(r, r->record, "a frame of no known kind");
			return;
		}
		frame.addr = read_uleb(r);
		if (frame.kind == HLG_FRAME_LUA)
			frame.line = read_uleb(r);
		push(r, frame);
	}
}

static void read_host_stack(struct reader *r)
{
	for (uint32_t n = 0;; n++) {
		const struct hlg_sysprof_frame frame = {.kind = HLG_FRAME_HOST,
							.addr = read_uleb(r)};

		if (r->rc <= 0 || frame.addr == 0)
			return;
		if (n == HLG_SYSPROF_MAX_FRAMES) {
			set_bad(r, r->record, "a host stack without an end");
			return;
		}
		push(r, frame);
	}
}

static void read_trace(struct reader *r)
{
	struct hlg_sysprof_frame frame = {.kind = HLG_FRAME_TRACE};

	frame.trace = read_uleb(r);
	frame.addr = read_uleb(r);
	frame.line = read_uleb(r);
	push(r, frame);
}

struct stack_search {
	const struct hlg_sysprof *s;
	const struct hlg_sysprof_stack *stack;
};

static bool same_stack(const void *ctx, uint32_t number)
{
	const struct stack_search *search = ctx;
	const uint32_t *ids = search->s->ids;
	const struct hlg_sysprof_stack *a = search->stack,
				       *b = &search->s->stacks[number];

	return a->state == b->state && a->n_lua == b->n_lua && a->n_host == b->n_host &&
	       memcmp(ids + a->at, ids + b->at,
		      ((size_t)a->n_lua + a->n_host) * sizeof(*ids)) == 0;
}

/* Counts a sample of a stack that is the last of the ids; they go if it is known. False
 * without memory. */
static bool count_sample(struct hlg_sysprof *s, const struct hlg_sysprof_stack *stack)
{
	const struct stack_search search = {s, stack};
	uint64_t hash =
		hlg_hash_word(HLG_HASH_SEED, (uint64_t)stack->state << 32 | stack->n_lua);
	uint32_t number;

	for (size_t i = stack->at; i < s->n_ids; i++)
		hash = hlg_hash_word(hash, s->ids[i]);
	number = hlg_index_find(&s->stack_index, hash, same_stack, &search);
	if (number != HLG_INDEX_NONE) {
		s->n_ids = stack->at;
	} else {
		if (!HLG_GROW(s->stacks, s->n_stacks) ||
		    !hlg_index_add(&s->stack_index, hash, s->n_stacks))
			return false;
		number = s->n_stacks++;
		s->stacks[number] = *stack;
	}
	s->stacks[number].samples++;
	s->states[stack->state]++;
	s->samples++;
	return true;
}

static void read_sample(struct reader *r, enum hlg_sysprof_state state)
{
	struct hlg_sysprof_stack stack = {.at = r->s->n_ids, .state = state};

	if (state == HLG_SYSPROF_TRACE)
		read_trace(r);
	else if (state == HLG_SYSPROF_LFUNC || state == HLG_SYSPROF_FFUNC ||
		 state == HLG_SYSPROF_CFUNC)
		read_lua_stack(r);
	stack.n_lua = (uint32_t)(r->s->n_ids - stack.at);
	if (state != HLG_SYSPROF_TRACE)
		read_host_stack(r);
	stack.n_host = (uint32_t)(r->s->n_ids - stack.at) - stack.n_lua;
	if (r->rc > 0 && !count_sample(r->s, &stack))
		set_no_memory(r);
}

/* How many bytes are behind the marked end. */
static void read_rest(struct reader *r)
{
	char room[4096];
	size_t got;

	while ((got = fread(room, 1, sizeof(room), r->f)) > 0)
		r->s->behind += got;
	set_end(r);
}

static void read_events(struct reader *r)
{
	struct hlg_sysprof *s = r->s;
	uint32_t n_frames = 0;
	size_t n_ids = 0;

	while (r->rc > 0) {
		uint8_t event;

		r->record = r->at;
		n_frames = s->n_frames;
		n_ids = s->n_ids;
		event = read_u8(r);
		if (event & LAST) {
			s->ended = true;
			read_rest(r);
			return;
		}
		if (event < HLG_SYSPROF_STATES)
			read_sample(r, event);
		else if (event < EVENT_SYM + HLG_SYSPROF_SYMBOLS)
			read_symbol(r, event - EVENT_SYM, s->changes);
		else
			set_bad(r, r->record, "an event of no known kind");
	}
	/* Without those of a stack that was cut off. */
	s->left = r->at - r->record;
	s->n_frames = n_frames;
	s->n_ids = n_ids;
}

static void read_table(struct reader *r)
{
	while (r->rc > 0) {
		uint8_t kind;

		r->record = r->at;
		kind = read_u8(r);
		if (r->rc <= 0 || kind & LAST)
			return;
		if (kind < HLG_SYSPROF_SYMBOLS)
			read_symbol(r, kind, r->s->table);
		else
			set_bad(r, r->record, "a symbol of no known kind");
	}
}

static int foreign(const struct reader *r, const char *magic, const uint8_t *found)
{
	const char *what;

	if (memcmp(found, "ljm", 3) == 0)
		what = "is of memprof, LuaJIT's memory profiler (give a stream of "
		       "sysprof)";
	else if (memcmp(found, "PERFILE", 7) == 0)
		what = "is perf's recording (hlguest report reads it)";
	else if (magic[2] == 's')
		what = "is no stream of LuaJIT's sysprof, which begins with ljs (profile "
		       "with misc.sysprof.start)";
	else
		what = "no events of sysprof (ljp) follow the symbol table (the stream "
		       "is damaged)";
	return hlg_err_set(r->err, HLG_EINPUT, "%s: %s", r->path, what);
}

/* magic: "ljs" or "ljp". */
static void read_header(struct reader *r, const char *magic, uint8_t version)
{
	uint8_t found[HEADER];
	uint64_t start = r->at, n;

	for (size_t i = 0; i < HEADER; i++)
		found[i] = read_u8(r);
	n = r->at - start;
	if (r->rc < 0)
		return;
	if (memcmp(found, magic, n < 3 ? n : 3) != 0)
		r->rc = foreign(r, magic, found);
	else if (n > 3 && found[3] != version)
		r->rc = hlg_err_set(r->err, HLG_EINPUT,
				    "%s: has %s of version %u (%s), and only %u is read "
				    "(profile with Tarantool from 2.11.2 or 3.0 on)",
				    r->path,
				    magic[2] == 's' ? "a symbol table" : "events",
				    found[3], magic, version);
}

/* The end came before the first event could be. */
static int cut_off(const struct reader *r)
{
	return hlg_err_set(r->err, HLG_EINPUT, "%s: %s", r->path,
			   r->at == 0 ? "is empty (a stream is written when the profiler "
					"stops, or its buffer is full)"
				      : "was cut off before its first event (let the "
					"profiler stop, misc.sysprof.stop, before it is "
					"copied)");
}

static int read_stream(struct reader *r)
{
	r->rc = 1;
	/* Never NULL, even where no stack has a frame. */
	if (!HLG_GROW(r->s->ids, 0))
		return hlg_err_memory(r->err, r->path);
	read_header(r, "ljs", LJS);
	if (r->rc > 0)
		read_table(r);
	if (r->rc > 0)
		read_header(r, "ljp", LJP);
	if (r->rc == 0)
		return cut_off(r);
	if (r->rc > 0)
		read_events(r);
	return r->rc;
}

static int open_stream(struct reader *r)
{
	struct hlg_file_id id;
	int fd;

	if (strcmp(r->path, "-") == 0) {
		r->path = "standard input";
		r->f = stdin;
		return 0;
	}
	fd = hlg_file_open(r->path, &id, r->err);
	if (fd < 0)
		return fd;
	r->f = fdopen(fd, "rb");
	if (r->f)
		return 0;
	close(fd);
	return hlg_err_memory(r->err, r->path);
}

int hlg_sysprof_read(struct hlg_sysprof *s, const char *path, struct hlg_err *err)
{
	struct reader r = {.s = s, .path = path, .err = err};
	int rc = open_stream(&r);

	if (rc == 0)
		rc = read_stream(&r);
	if (r.f && r.f != stdin)
		fclose(r.f);
	for (int i = 0; i < HLG_SYSPROF_SYMBOLS; i++)
		tdestroy(r.symbols[i], free);
	free(r.text);
	return rc;
}

void hlg_sysprof_finish(struct hlg_sysprof *s)
{
	hlg_strings_finish(&s->names);
	free(s->frames);
	hlg_index_finish(&s->frame_index);
	free(s->ids);
	free(s->stacks);
	hlg_index_finish(&s->stack_index);
	*s = (struct hlg_sysprof){0};
}
