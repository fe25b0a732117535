/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sysprof: what LuaJIT's profiler of that name (Tarantool's) streams to a file. Format:
 * Tarantool's RFC "lua: system-wide profiler", and lj_sysprof.h and lj_symtab.h of its
 * LuaJIT; read are symbol table version 3 with events of version 2.
 *
 * A stream is a symbol table and events: a sample (a VM state, and the stack of Lua, of
 * the host, or both) or a change of the table. Addresses are used again once what they
 * named is collected, so frames get their names as they are met, and two frames of one
 * address may differ. Everything is kept once: names, frames, and stacks with how many
 * samples they had.
 *
 * The stream has no times, does not say how often it was sampled, nor in which mode: a
 * stream of mode L has no host frames beyond the first, if any.
 *
 * Memory grows with distinct frames and stacks, never with samples.
 */
#ifndef HLG_TOOLS_SYSPROF_SYSPROF_H
#define HLG_TOOLS_SYSPROF_SYSPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "filter/output/note-list.h"
#include "filter/profile/index.h"
#include "filter/profile/strings.h"
#include "symtab/err.h"

/* What the VM was doing; numbers as in the stream (lj_obj.h, LJ_VMST_). */
enum hlg_sysprof_state {
	HLG_SYSPROF_INTERP,
	HLG_SYSPROF_LFUNC,
	HLG_SYSPROF_FFUNC,
	HLG_SYSPROF_CFUNC,
	HLG_SYSPROF_GC,
	HLG_SYSPROF_EXIT,
	HLG_SYSPROF_RECORD,
	HLG_SYSPROF_OPT,
	HLG_SYSPROF_ASM,
	HLG_SYSPROF_TRACE,
	HLG_SYSPROF_STATES
};

/* "INTERP", "LFUNC" ... */
const char *hlg_sysprof_state(enum hlg_sysprof_state state);

enum hlg_sysprof_kind {
	HLG_FRAME_LUA = 1,  /* a Lua function */
	HLG_FRAME_C = 2,    /* a C function that Lua called */
	HLG_FRAME_FAST = 3, /* of the VM's own library: a number */
	HLG_FRAME_HOST,     /* of the C stack */
	HLG_FRAME_TRACE,    /* compiled */
};

struct hlg_sysprof_frame {
	enum hlg_sysprof_kind kind;
	uint64_t addr;   /* code, or of LUA and TRACE the prototype; of FAST its number */
	uint64_t line;   /* of LUA and TRACE: the function's first; else 0 */
	uint64_t trace;  /* of TRACE: its number */
	uint64_t begins; /* of TRACE: the line it begins in, if begins_known */
	bool begins_known;
	/* Of LUA and TRACE: the chunk of the Lua function at addr, as LuaJIT has it. Of C
	 * and HOST: the last C function at or below addr, and its address. */
	uint32_t name; /* or HLG_NO_STRING */
	uint64_t start;
};

/* frames[at ...]: n_lua of Lua, or one of a trace, then n_host; both the leaf first. */
struct hlg_sysprof_stack {
	uint64_t samples;
	size_t at;
	uint32_t n_lua, n_host;
	enum hlg_sysprof_state state;
};

/* Records of a symbol table; numbers as in the stream. */
enum {
	HLG_SYSPROF_LUA,
	HLG_SYSPROF_C,
	HLG_SYSPROF_TRACES,
	HLG_SYSPROF_SYMBOLS
};

struct hlg_sysprof {
	struct hlg_strings names; /* a NUL in a name is spelled out, \x00; not escaped */
	struct hlg_sysprof_frame *frames; /* distinct ones */
	uint32_t n_frames;
	struct hlg_index frame_index;
	uint32_t *ids; /* of frames, for the stacks */
	size_t n_ids;
	struct hlg_sysprof_stack *stacks; /* in the order they were met */
	uint32_t n_stacks;
	struct hlg_index stack_index;
	uint64_t samples, states[HLG_SYSPROF_STATES];
	/* Records of symbols, at the head and among the events. */
	uint64_t table[HLG_SYSPROF_SYMBOLS], changes[HLG_SYSPROF_SYMBOLS];
	bool ended;      /* the end is marked */
	uint64_t left;   /* bytes behind the last whole record, if it is not */
	uint64_t behind; /* bytes behind the marked end, if it is: not looked at */
};

/*
 * Reads the stream at path ("-" is standard input). A stream that was cut off among its
 * events is read to its last whole record, and left says what was lost. Fails for all
 * else that is no such stream, for other versions, for records that make no sense.
 * *s is zero before; the caller finishes it in any case.
 */
int hlg_sysprof_read(struct hlg_sysprof *s, const char *path, struct hlg_err *err);

void hlg_sysprof_finish(struct hlg_sysprof *s);

/* A stack of more frames, of Lua or of the host, makes no sense: LuaJIT's own has at
 * most 65,500 slots (luaconf.h, LUAI_MAXSTACK). */
#define HLG_SYSPROF_MAX_FRAMES ((uint32_t)1 << 17)

/*
 * Lays the stacks of Lua and of the host into one, root first: ids of frames into list,
 * which has room for n_lua + n_host. Returns how many.
 *
 * Lua's frames follow the host frame that entered Lua (lua_call, lua_pcall, lua_cpcall),
 * up to the next C function; one that stands in both stacks is taken from the host's. No
 * other frame is left out: what no such host frame has let in stands at the end.
 */
uint32_t hlg_sysprof_lay(const struct hlg_sysprof *s,
			 const struct hlg_sysprof_stack *stack, uint32_t *list);

/*
 * Lays the two leaves only, of Lua and of the host (at most 2), in the order they
 * have in the whole. list has the same room.
 */
uint32_t hlg_sysprof_leaves(const struct hlg_sysprof *s,
			    const struct hlg_sysprof_stack *stack, uint32_t *list);

/*
 * The name of a fast function, "os.clock"; NULL for a number that has none. Numbers are
 * those of Tarantool's LuaJIT 2.1 with sysprof, without Lua 5.2's extensions: its
 * branches 2.11, 3.2 and master have the same.
 */
const char *hlg_sysprof_fast(uint64_t number);

/* What a reader wants to see, by the letters of the profiler's own modes. */
enum hlg_sysprof_mode {
	HLG_SYSPROF_CALLGRAPH, /* whole stacks */
	HLG_SYSPROF_LEAF,      /* the leaves, of Lua and of the host */
	HLG_SYSPROF_COUNTERS,  /* states only */
};

/* Data of the writers. */
struct hlg_sysprof_output {
	const struct hlg_sysprof *s;
	enum hlg_sysprof_mode mode;
	bool by_state;    /* folded: the state is a frame, the first */
	uint64_t top;     /* rows of stacks in text; 0: all */
	const char *path; /* of the stream */
	struct hlg_note_list notes;
};

/*
 * The writers of a stream that was read, as struct hlg_format has them. They fail without
 * memory, and where text would take too much of it: a few bytes can call for a long name
 * again and again. What cannot be written stays on f, for hlg_out_commit to find. Nothing
 * a stream holds reaches f unescaped.
 *
 * For people: the states, then stacks, those with most samples first.
 */
int hlg_sysprof_text(void *output, FILE *f, struct hlg_err *err);

/*
 * "frame;frame NUMBER", root first; all samples are in it. A stack without frames is its
 * state, "[INTERP]".
 */
int hlg_sysprof_folded(void *output, FILE *f, struct hlg_err *err);

/* JSON: see hlguest-sysprof(1). In a build with jansson only. */
int hlg_sysprof_json(void *output, FILE *f, struct hlg_err *err);

/* The name of a frame; escaped, and without the ';' that ends a frame. */
void hlg_sysprof_name(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame);

/* Bytes of all stacks as text, or of all frames twice; a little more is no harm. */
#define HLG_SYSPROF_MAX_TEXT ((uint64_t)512 << 20)

#endif
