// SPDX-License-Identifier: GPL-2.0-only
/* From the bytes of a stream to frames and stacks. */
#include <stdlib.h>
#include <string.h>

#include "tools/sysprof/reader.h"

enum {
	HEADER = 7,     /* bytes: three letters, version, three reserved */
	LAST = 0x80,    /* bit: of a frame, no frame; of a record, the end */
	LJS = 3,        /* versions, of lj_symtab.h */
	LJP = 2,        /* and lj_sysprof.h */
	EVENT_SYM = 10, /* among events, records of the table begin here */
};

static int bad(const struct hlg_reader *r, const char *what)
{
	return hlg_bytes_bad(&r->bytes, r->record, what);
}

/* Puts a frame behind the stack at hand. */
static int push(struct hlg_reader *r, struct hlg_sysprof_frame frame)
{
	uint64_t hash = hlg_hash_word(hlg_hash_word(frame.kind, frame.addr), frame.line);
	struct hlg_memo *memo = &r->memos[(hash ^ hash >> 32) % HLG_MEMOS];
	const struct hlg_memo now = {r->generation, frame.addr, frame.line, frame.kind,
				     0};

	if (!hlg_sysprof_more(&r->ids, r->n_ids, 1, &r->room_ids, sizeof(*r->ids)))
		return hlg_reader_no_memory(r);
	if (memo->generation != now.generation || memo->addr != now.addr ||
	    memo->line != now.line || memo->kind != now.kind ||
	    frame.kind == HLG_FRAME_TRACE) {
		hlg_sysprof_table_resolve(r, &frame);
		*memo = now;
		memo->frame = hlg_sysprof_frame(r->s, &frame);
		if (memo->frame == HLG_INDEX_NONE) {
			memo->generation = 0;
			return hlg_reader_no_memory(r);
		}
	}
	r->ids[r->n_ids++] = memo->frame;
	return 1;
}

static int read_lua_frame(struct hlg_reader *r, uint8_t kind)
{
	struct hlg_sysprof_frame frame = {.kind = kind};
	int rc;

	if (kind < HLG_FRAME_LUA || kind > HLG_FRAME_FAST)
		return bad(r, "a frame of no known kind");
	rc = hlg_bytes_uleb(&r->bytes, &frame.addr);
	if (rc > 0 && kind == HLG_FRAME_LUA)
		rc = hlg_bytes_uleb(&r->bytes, &frame.line);
	return rc > 0 ? push(r, frame) : rc;
}

static int read_lua_stack(struct hlg_reader *r, uint32_t *n)
{
	uint8_t kind;
	int rc;

	for (*n = 0;; (*n)++) {
		rc = hlg_bytes_u8(&r->bytes, &kind);
		if (rc <= 0 || kind & LAST)
			return rc;
		if (*n == HLG_SYSPROF_MAX_FRAMES)
			return bad(r, "a stack of Lua without an end");
		rc = read_lua_frame(r, kind);
		if (rc <= 0)
			return rc;
	}
}

static int read_host_stack(struct hlg_reader *r, uint32_t *n)
{
	struct hlg_sysprof_frame frame = {.kind = HLG_FRAME_HOST};
	int rc;

	for (*n = 0;; (*n)++) {
		rc = hlg_bytes_uleb(&r->bytes, &frame.addr);
		if (rc <= 0 || frame.addr == 0)
			return rc;
		if (*n == HLG_SYSPROF_MAX_FRAMES)
			return bad(r, "a stack of the host without an end");
		rc = push(r, frame);
		if (rc <= 0)
			return rc;
	}
}

static int read_trace_sample(struct hlg_reader *r, uint32_t *n)
{
	struct hlg_sysprof_frame frame = {.kind = HLG_FRAME_TRACE};
	int rc = hlg_bytes_uleb(&r->bytes, &frame.trace);

	if (rc > 0)
		rc = hlg_bytes_uleb(&r->bytes, &frame.addr);
	if (rc > 0)
		rc = hlg_bytes_uleb(&r->bytes, &frame.line);
	*n = 1;
	return rc > 0 ? push(r, frame) : rc;
}

static int read_sample(struct hlg_reader *r, enum hlg_sysprof_state state)
{
	uint32_t n_lua = 0, n_host = 0;
	int rc = 1;

	r->n_ids = 0;
	if (state == HLG_SYSPROF_TRACE) {
		rc = read_trace_sample(r, &n_lua);
	} else {
		if (state == HLG_SYSPROF_LFUNC || state == HLG_SYSPROF_FFUNC ||
		    state == HLG_SYSPROF_CFUNC)
			rc = read_lua_stack(r, &n_lua);
		if (rc > 0)
			rc = read_host_stack(r, &n_host);
	}
	if (rc <= 0)
		return rc;
	return hlg_sysprof_count(r->s, state, r->ids, n_lua, n_host)
		       ? 1
		       : hlg_reader_no_memory(r);
}

static int read_events(struct hlg_reader *r)
{
	uint32_t n_frames;
	uint8_t event;
	int rc;

	do {
		r->record = r->bytes.at;
		n_frames = r->s->n_frames;
		rc = hlg_bytes_u8(&r->bytes, &event);
		if (rc <= 0)
			break;
		if (event & LAST) {
			r->s->ended = true;
			return hlg_bytes_drain(&r->bytes, &r->s->behind);
		}
		if (event < HLG_SYSPROF_STATES)
			rc = read_sample(r, event);
		else if (event <= EVENT_SYM + HLG_RECORD_TRACE)
			rc = hlg_sysprof_table_read(r, event - EVENT_SYM, &r->s->changes);
		else
			rc = bad(r, "an event of no known kind");
	} while (rc > 0);
	r->s->left = r->bytes.at - r->record;
	r->s->n_frames = n_frames; /* without those of a stack that was cut off */
	return rc;
}

static int read_table(struct hlg_reader *r)
{
	uint8_t header;
	int rc;

	for (;;) {
		r->record = r->bytes.at;
		rc = hlg_bytes_u8(&r->bytes, &header);
		if (rc <= 0 || header & LAST)
			return rc;
		if (header > HLG_RECORD_TRACE)
			return bad(r, "a symbol of no known kind");
		rc = hlg_sysprof_table_read(r, header, &r->s->table);
		if (rc <= 0)
			return rc;
	}
}

static int foreign(const struct hlg_reader *r, const char *magic, const uint8_t *found)
{
	const char *path = r->bytes.path;
	struct hlg_err *err = r->bytes.err;

	if (memcmp(found, "ljm", 3) == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is of memprof, LuaJIT's memory profiler (give a "
				   "stream of sysprof)",
				   path);
	if (memcmp(found, "PERFILE", 7) == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is perf's recording (hlguest report reads it)",
				   path);
	if (magic[2] == 's')
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is no stream of LuaJIT's sysprof, which begins "
				   "with ljs (profile with misc.sysprof.start)",
				   path);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: no events of sysprof (ljp) follow the symbol table (the "
			   "stream is damaged)",
			   path);
}

/* magic: "ljs" or "ljp". An end within it is told by 0. */
static int read_header(struct hlg_reader *r, const char *magic, uint8_t version)
{
	uint8_t found[HEADER] = {0};
	size_t n = 0;
	int rc = 1;

	while (n < HEADER && (rc = hlg_bytes_u8(&r->bytes, &found[n])) > 0)
		n++;
	if (rc < 0)
		return rc;
	if (memcmp(found, magic, n < 3 ? n : 3) != 0)
		return foreign(r, magic, found);
	if (n > 3 && found[3] != version)
		return hlg_err_set(r->bytes.err, HLG_EINPUT,
				   "%s: has %s of version %u (%s), and only %u is read "
				   "(profile with Tarantool from 2.11.2 or 3.0 on)",
				   r->bytes.path,
				   magic[2] == 's' ? "a symbol table" : "events",
				   found[3], magic, version);
	return rc;
}

/* The end came before the first event could be. */
static int cut_off(const struct hlg_reader *r)
{
	if (r->bytes.at == 0)
		return hlg_err_set(r->bytes.err, HLG_EINPUT,
				   "%s: is empty (a stream is written when the profiler "
				   "stops, or its buffer is full)",
				   r->bytes.path);
	return hlg_err_set(r->bytes.err, HLG_EINPUT,
			   "%s: was cut off before its first event (let the profiler "
			   "stop, misc.sysprof.stop, before it is copied)",
			   r->bytes.path);
}

static int read_stream(struct hlg_reader *r)
{
	int rc;

	r->memos = calloc(HLG_MEMOS, sizeof(*r->memos));
	if (!r->memos)
		return hlg_reader_no_memory(r);
	r->generation = 1;
	rc = read_header(r, "ljs", LJS);
	if (rc > 0)
		rc = read_table(r);
	if (rc > 0)
		rc = read_header(r, "ljp", LJP);
	if (rc == 0)
		return cut_off(r);
	if (rc > 0)
		rc = read_events(r);
	return rc < 0 ? rc : 0;
}

int hlg_sysprof_read(struct hlg_sysprof *s, const char *path, struct hlg_err *err)
{
	struct hlg_reader r = {.s = s};
	int rc = hlg_bytes_open(&r.bytes, path, err);

	if (rc == 0)
		rc = read_stream(&r);
	hlg_bytes_finish(&r.bytes);
	hlg_symbols_finish(&r.symbols);
	free(r.ids);
	free(r.memos);
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
