/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams of sysprof made by hand, byte by byte, for tests; and read. */
#ifndef HLG_TESTS_SYSPROF_STREAM_H
#define HLG_TESTS_SYSPROF_STREAM_H

#include "tools/sysprof/sysprof.h"

/* A stream in the making. */
struct stream {
	unsigned char *at;
	size_t n, room;
};

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

void stream_put(struct stream *s, unsigned value);
void stream_uleb(struct stream *s, uint64_t value);
void stream_text(struct stream *s, const char *word);
void stream_header(struct stream *s, const char *magic, unsigned version);

/* Symbols; type: 0 and up in the table, 10 and up among events. */
void stream_lua(struct stream *s, unsigned type, uint64_t addr, const char *chunk);
void stream_c(struct stream *s, unsigned type, uint64_t addr, const char *name);
void stream_lua_frame(struct stream *s, uint64_t addr, uint64_t line);

/* An empty stream with the table above, up to its first event. */
void stream_begin(struct stream *s);

/* As hlg_sysprof_read. */
int stream_read(struct hlg_sysprof *s, const void *bytes, size_t n, struct hlg_err *err);

/* The samples are the sum of the stacks', and of the states'. */
void stream_check(const struct hlg_sysprof *s);

/* Reads what has to be readable, and frees the stream. */
void stream_read_good(struct hlg_sysprof *s, struct stream *stream);

/* Folded stacks; to be freed. */
char *stream_folded(const struct hlg_sysprof *s, enum hlg_sysprof_mode mode);

/* One sample of state LFUNC: Lua's frames by the letters of f (FUNC), 0 (a function at
 * 0), p (pmain), w (work), t (tostring), u (a fast function of no name); then the host's.
 * Both leaf first. */
void stream_sample(struct stream *s, const char *lua, const uint64_t *host, size_t n);

#define SAMPLE(s, lua, ...)                                                              \
	stream_sample(s, lua, (const uint64_t[]){__VA_ARGS__},                           \
		      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#endif
