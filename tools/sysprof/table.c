// SPDX-License-Identifier: GPL-2.0-only
/* The symbol table of a stream that is being read: its records, and what they say. */
#include "tools/sysprof/reader.h"

static int read_lua(struct hlg_reader *r, struct hlg_sysprof_records *records)
{
	struct hlg_symbols_entry entry = {0};
	int rc = hlg_bytes_uleb(&r->bytes, &entry.key);
	uint64_t line; /* a frame has its own */

	if (rc > 0)
		rc = hlg_bytes_string(&r->bytes);
	if (rc > 0)
		rc = hlg_bytes_uleb(&r->bytes, &line);
	if (rc <= 0)
		return rc;
	records->lua++;
	entry.name = hlg_strings_add(&r->s->names, r->bytes.text);
	return entry.name != HLG_NO_STRING && hlg_symbols_set(&r->symbols.lua, &entry)
		       ? 1
		       : hlg_reader_no_memory(r);
}

static int read_c(struct hlg_reader *r, struct hlg_sysprof_records *records)
{
	struct hlg_symbols_entry entry = {0};
	int rc = hlg_bytes_uleb(&r->bytes, &entry.key);

	if (rc > 0)
		rc = hlg_bytes_string(&r->bytes);
	if (rc <= 0)
		return rc;
	records->c++;
	entry.name = hlg_strings_add(&r->s->names, r->bytes.text);
	return entry.name != HLG_NO_STRING && hlg_symbols_set(&r->symbols.c, &entry)
		       ? 1
		       : hlg_reader_no_memory(r);
}

static int read_trace(struct hlg_reader *r, struct hlg_sysprof_records *records)
{
	struct hlg_symbols_entry entry = {0};
	int rc = hlg_bytes_uleb(&r->bytes, &entry.key);

	if (rc > 0)
		rc = hlg_bytes_uleb(&r->bytes, &entry.addr);
	if (rc > 0)
		rc = hlg_bytes_uleb(&r->bytes, &entry.line);
	if (rc <= 0)
		return rc;
	records->traces++;
	return hlg_symbols_set(&r->symbols.traces, &entry) ? 1 : hlg_reader_no_memory(r);
}

int hlg_sysprof_table_read(struct hlg_reader *r, unsigned record,
			   struct hlg_sysprof_records *records)
{
	r->generation++;
	return record == HLG_RECORD_LUA ? read_lua(r, records)
	       : record == HLG_RECORD_C ? read_c(r, records)
					: read_trace(r, records);
}

void hlg_sysprof_table_resolve(const struct hlg_reader *r,
			       struct hlg_sysprof_frame *frame)
{
	const struct hlg_symbols_entry *entry;

	if (frame->kind == HLG_FRAME_FAST)
		return;
	if (frame->kind == HLG_FRAME_TRACE) {
		entry = hlg_symbols_get(&r->symbols.traces, frame->trace);
		frame->begins_known = entry && entry->addr == frame->addr;
		frame->begins = frame->begins_known ? entry->line : 0;
	}
	entry = hlg_symbols_get(&r->symbols.lua, frame->addr);
	if (entry)
		frame->chunk = entry->name;
	entry = hlg_symbols_floor(&r->symbols.c, frame->addr);
	if (entry) {
		frame->symbol = entry->name;
		frame->start = entry->key;
	}
}
