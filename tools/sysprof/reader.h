/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream that is being read. Whatever a function reads is applied only once its record
 * is whole, so that a cut-off one leaves no trace. Results as in bytes.h.
 */
#ifndef HLG_TOOLS_SYSPROF_READER_H
#define HLG_TOOLS_SYSPROF_READER_H

#include "tools/sysprof/bytes.h"
#include "tools/sysprof/stacks.h"
#include "tools/sysprof/symbols.h"

/* Records of a symbol table by their number; the same among events. */
enum {
	HLG_RECORD_LUA,
	HLG_RECORD_C,
	HLG_RECORD_TRACE,
};

/* What a frame was resolved to last, while the table stays as it is. */
struct hlg_memo {
	uint64_t generation, addr, line;
	enum hlg_sysprof_kind kind;
	uint32_t frame;
};

#ifndef HLG_MEMOS
#define HLG_MEMOS 4096 /* a power of two */
#endif

struct hlg_reader {
	struct hlg_sysprof *s;
	struct hlg_bytes bytes;
	struct hlg_symbols symbols;
	uint64_t record;     /* where it begins */
	uint64_t generation; /* of the symbol table, from 1 on */
	uint32_t *ids;       /* of the stack at hand */
	size_t n_ids, room_ids;
	struct hlg_memo *memos;
};

/* A record of the symbol table, wherever it stands; counted in records. */
int hlg_sysprof_table_read(struct hlg_reader *r, unsigned record,
			   struct hlg_sysprof_records *records);

/* What the table says of a frame, as it stands now. */
void hlg_sysprof_table_resolve(const struct hlg_reader *r,
			       struct hlg_sysprof_frame *frame);

static inline int hlg_reader_no_memory(const struct hlg_reader *r)
{
	return hlg_err_memory(r->bytes.err, r->bytes.path);
}

#endif
