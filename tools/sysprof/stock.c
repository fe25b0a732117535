// SPDX-License-Identifier: GPL-2.0-only
/*
 * As the stock parser has it, with what it leaves out (its merge() and
 * insert_lua_callchain(), and demangle() of utils/symtab.lua). Each stack there is a
 * list, root first, that frames are taken from as they are used.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/sysprof/write.h"

/* The frames of Lua that are not used yet, root first. */
struct chain {
	const struct hlg_sysprof *s;
	uint32_t *ids;
	size_t n;
};

static bool starts(const char *name, const char *with)
{
	return name && strncmp(name, with, strlen(with)) == 0;
}

static void put_chunk(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame)
{
	if (frame->alias)
		fprintf(f, "function_alias_%" PRIu32, frame->alias);
	else
		hlg_escape_print(f, hlg_names_get(&s->names, frame->chunk));
	fprintf(f, ":%" PRIu64 ";", frame->line);
}

static void put_symbol(FILE *f, const struct hlg_sysprof *s,
		       const struct hlg_sysprof_frame *frame)
{
	hlg_escape_print(f, hlg_names_get(&s->names, frame->symbol));
	fprintf(f, ":%#" PRIx64 ";", frame->start);
}

/* A fast function without a name is not there. */
static void put_frame(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame)
{
	const char *fast;

	if (frame->kind == HLG_FRAME_FAST) {
		fast = hlg_sysprof_fast(frame->addr);
		if (fast)
			fprintf(f, "%s;", fast);
	} else if (frame->addr == 0) {
		fputs("INTERNAL;", f);
	} else if (frame->chunk) {
		put_chunk(f, s, frame);
	} else if (frame->symbol) {
		put_symbol(f, s, frame);
	} else {
		fprintf(f, "CFUNC %#" PRIx64 ";", frame->addr);
	}
}

/* Up to the first C function, which is taken, too; else the last frame is. So each entry
 * into Lua may print nearly all of its frames again. */
static void insert_lua(FILE *f, struct chain *lua)
{
	size_t i = 0;

	for (; i < lua->n; i++) {
		const struct hlg_sysprof_frame *frame = &lua->s->frames[lua->ids[i]];

		if (frame->kind == HLG_FRAME_C)
			break;
		put_frame(f, lua->s, frame);
		if (ftello(f) > HLG_SYSPROF_MAX_LINE)
			return;
	}
	if (lua->n == 0)
		return;
	if (i == lua->n)
		i--;
	lua->n--;
	memmove(lua->ids + i, lua->ids + i + 1, (lua->n - i) * sizeof(*lua->ids));
}

/* What the stock parser matches is the name it prints. */
static const char *name_of(const struct hlg_sysprof *s,
			   const struct hlg_sysprof_frame *frame)
{
	return frame->alias ? NULL
			    : hlg_names_get(&s->names,
					    frame->chunk ? frame->chunk : frame->symbol);
}

static bool put(FILE *f, void *ctx, const struct hlg_sysprof_stack *stack)
{
	struct chain *lua = ctx;
	const struct hlg_sysprof *s = lua->s;
	const uint32_t *ids = s->ids + stack->at;

	lua->n = stack->state == HLG_SYSPROF_TRACE ? 0 : stack->n_lua;
	for (size_t i = 0; i < lua->n; i++)
		lua->ids[i] = ids[stack->n_lua - 1 - i];
	for (uint32_t i = stack->n_host; i-- > 0;) {
		const struct hlg_sysprof_frame *host = &s->frames[ids[stack->n_lua + i]];
		const char *name = name_of(s, host);

		put_frame(f, s, host);
		if (starts(name, "lua_cpcall") && lua->n)
			lua->n--;
		if (starts(name, "lua_call") || starts(name, "lua_pcall"))
			insert_lua(f, lua);
		if (ftello(f) > HLG_SYSPROF_MAX_LINE)
			return false;
	}
	if (ftello(f) == 0) /* no frame at all */
		fputc(';', f);
	return !ferror(f);
}

bool hlg_sysprof_stock(FILE *f, const struct hlg_sysprof *s)
{
	struct chain lua = {s, hlg_sysprof_room(s), 0};
	struct hlg_sysprof_line *lines = NULL;
	size_t n;

	if (lua.ids)
		lines = hlg_sysprof_lines(s, false, put, &lua, &n);
	free(lua.ids);
	if (!lines)
		return false;
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\t%" PRIu64 "\n", lines[i].text, lines[i].samples);
	hlg_sysprof_free_lines(lines, n);
	return true;
}
