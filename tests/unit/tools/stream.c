// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/tools/stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/tap.h"

void stream_put(struct stream *s, unsigned value)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->at = realloc(s->at, s->room);
		ck_assert_ptr_nonnull(s->at);
	}
	s->at[s->n++] = (unsigned char)value;
}

void stream_uleb(struct stream *s, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		stream_put(s, (unsigned)(0x80 | (value & 0x7f)));
	stream_put(s, (unsigned)value);
}

void stream_text(struct stream *s, const char *word)
{
	stream_uleb(s, strlen(word));
	for (; *word; word++)
		stream_put(s, (unsigned char)*word);
}

void stream_header(struct stream *s, const char *magic, unsigned version)
{
	for (int i = 0; i < 3; i++)
		stream_put(s, (unsigned char)magic[i]);
	stream_put(s, version);
	for (int i = 0; i < 3; i++)
		stream_put(s, 0);
}

void stream_lua(struct stream *s, unsigned type, uint64_t addr, const char *chunk)
{
	stream_put(s, type);
	stream_uleb(s, addr);
	stream_text(s, chunk);
	stream_uleb(s, 1);
}

void stream_c(struct stream *s, unsigned type, uint64_t addr, const char *name)
{
	stream_put(s, type);
	stream_uleb(s, addr);
	stream_text(s, name);
}

void stream_lua_frame(struct stream *s, uint64_t addr, uint64_t line)
{
	stream_put(s, HLG_FRAME_LUA);
	stream_uleb(s, addr);
	stream_uleb(s, line);
}

void stream_begin(struct stream *s)
{
	*s = (struct stream){0};
	stream_header(s, "ljs", 3);
	stream_c(s, 1, MAIN, "main");
	stream_c(s, 1, PCALL, "lua_pcall");
	stream_c(s, 1, DOCALL, "docall");
	stream_c(s, 1, PMAIN, "pmain");
	stream_c(s, 1, WORK, "work");
	stream_c(s, 1, CPCALL, "lua_cpcall");
	stream_lua(s, 0, FUNC, "@a.lua");
	stream_put(s, 0x80);
	stream_header(s, "ljp", 2);
}

int stream_read(struct hlg_sysprof *s, const void *bytes, size_t n, struct hlg_err *err)
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

void stream_check(const struct hlg_sysprof *s)
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

void stream_read_good(struct hlg_sysprof *s, struct stream *stream)
{
	struct hlg_err err;
	int rc = stream_read(s, stream->at, stream->n, &err);

	ck_assert_msg(rc == 0, "%s", rc < 0 ? err.msg : "");
	stream_check(s);
	free(stream->at);
}

char *stream_folded(const struct hlg_sysprof *s, enum hlg_sysprof_mode mode)
{
	struct hlg_sysprof_output output = {.s = s, .mode = mode, .path = ""};
	struct hlg_err err;
	char *made;
	size_t size;
	FILE *f = open_memstream(&made, &size);

	ck_assert_int_eq(hlg_sysprof_folded(&output, f, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	return made;
}

void stream_sample(struct stream *s, const char *lua, const uint64_t *host, size_t n)
{
	stream_put(s, HLG_SYSPROF_LFUNC);
	for (; *lua; lua++) {
		bool fast = *lua == 't' || *lua == 'u';

		if (*lua == 'f' || *lua == '0') {
			stream_lua_frame(s, *lua == 'f' ? FUNC : 0, 7);
			continue;
		}
		stream_put(s, fast ? HLG_FRAME_FAST : HLG_FRAME_C);
		stream_uleb(s, *lua == 't'   ? 18
			       : *lua == 'u' ? 250
			       : *lua == 'p' ? PMAIN
					     : WORK);
	}
	stream_put(s, 0x80);
	for (size_t i = 0; i < n; i++)
		stream_uleb(s, host[i] + 5);
	stream_uleb(s, 0);
}
