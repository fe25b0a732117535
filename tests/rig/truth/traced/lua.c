// SPDX-License-Identifier: GPL-2.0-only
/* Runs a script that sorts, joins and matches words (Lua). */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static const char script[] =
	"local words, seen = {}, {}\n"
	"local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end\n"
	"for round = 1, 12 do\n"
	"  for i = 1, 800 do words[i] = string.format('%x-%d', i * 2654435 % 65521, i) "
	"end\n"
	"  table.sort(words)\n"
	"  for _, word in ipairs(words) do\n"
	"    local key = word:match('^(%x%x)')\n"
	"    if key then seen[key] = (seen[key] or 0) + #word end\n"
	"  end\n"
	"  words = {table.concat(words, ' '):gsub('a', 'bc'):upper()}\n"
	"  fib(16)\n"
	"end\n"
	"local n = 0\n"
	"for _, length in pairs(seen) do n = n + length end\n"
	"print(n)\n";

int main(void)
{
	lua_State *lua = luaL_newstate();

	luaL_openlibs(lua);
	if (luaL_dostring(lua, script)) {
		fprintf(stderr, "%s\n", lua_tostring(lua, -1));
		return 1;
	}
	lua_close(lua);
	return 0;
}
