// SPDX-License-Identifier: GPL-2.0-only
/*
 * One stack from two. Example, roots first:
 *
 *	host  main lua_cpcall pmain docall lua_pcall lj_BC_TNEW lj_tab_new
 *	Lua   pmain a.lua:0 a.lua:7
 *	laid  main lua_cpcall pmain docall lua_pcall a.lua:0 a.lua:7 lj_BC_TNEW lj_tab_new
 */
#include <string.h>

#include "tools/sysprof/sysprof.h"

/* Both stacks, the leaf first as they are kept: laid from their ends on. */
struct layer {
	const struct hlg_sysprof *s;
	const uint32_t *lua, *host;
	uint32_t n_lua, n_host; /* what is left of them */
	uint32_t *list, n;      /* what is laid */
};

static const struct hlg_sysprof_frame *frame_of(const struct layer *l, uint32_t id)
{
	return &l->s->frames[id];
}

/* Is a function of the Lua stack the one that a host frame is in? */
static bool is_same(const struct layer *l, uint32_t lua, uint32_t host)
{
	const struct hlg_sysprof_frame *a = frame_of(l, lua), *b = frame_of(l, host);

	return a->kind == HLG_FRAME_C && a->name != HLG_NO_STRING &&
	       b->name != HLG_NO_STRING && a->start == b->start;
}

static bool enters_lua(const struct layer *l, uint32_t host)
{
	static const char *const words[] = {"lua_call", "lua_pcall", "lua_cpcall"};
	const char *name = hlg_strings_get(&l->s->names, frame_of(l, host)->name);

	for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/*
 * Does the next of Lua's functions stand in the host's stack, before that enters Lua
 * again? The host frame that is laid last has just entered it.
 */
static bool stands_in_host(const struct layer *l)
{
	uint32_t next = l->lua[l->n_lua - 1];

	if (frame_of(l, next)->kind != HLG_FRAME_C)
		return false;
	for (uint32_t i = l->n_host; i-- > 0;) {
		if (is_same(l, next, l->host[i]))
			return true;
		if (enters_lua(l, l->host[i]))
			return false;
	}
	return false;
}

/* From a function that C code called to one that is C code again. */
static void lay_lua(struct layer *l)
{
	bool is_c = false;

	while (l->n_lua && !is_c && !stands_in_host(l)) {
		uint32_t next = l->lua[--l->n_lua];

		is_c = frame_of(l, next)->kind == HLG_FRAME_C;
		l->list[l->n++] = next;
	}
}

uint32_t hlg_sysprof_lay(const struct hlg_sysprof *s,
			 const struct hlg_sysprof_stack *stack, uint32_t *list)
{
	struct layer l = {.s = s,
			  .lua = s->ids + stack->at,
			  .host = s->ids + stack->at + stack->n_lua,
			  .n_lua = stack->n_lua,
			  .n_host = stack->n_host,
			  .list = list};

	while (l.n_host) {
		uint32_t host = l.host[--l.n_host];

		if (l.n_lua && is_same(&l, l.lua[l.n_lua - 1], host))
			l.n_lua--;
		l.list[l.n++] = host;
		if (enters_lua(&l, host))
			lay_lua(&l);
	}
	while (l.n_lua)
		l.list[l.n++] = l.lua[--l.n_lua];
	return l.n;
}

uint32_t hlg_sysprof_leaves(const struct hlg_sysprof *s,
			    const struct hlg_sysprof_stack *stack, uint32_t *list)
{
	const struct layer l = {.s = s};
	uint32_t n = hlg_sysprof_lay(s, stack, list);
	const uint32_t *lua = s->ids + stack->at, *host = lua + stack->n_lua;
	bool host_last;

	if (stack->n_lua == 0 || stack->n_host == 0) {
		list[0] = n ? list[n - 1] : 0;
		return n ? 1 : 0;
	}
	/* The last that was laid is one of both leaves. */
	host_last = s->frames[list[n - 1]].kind == HLG_FRAME_HOST;
	if (host_last && is_same(&l, *lua, *host)) {
		list[0] = *host;
		return 1;
	}
	list[0] = host_last ? *lua : *host;
	list[1] = host_last ? *host : *lua;
	return 2;
}
