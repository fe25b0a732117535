/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that somebody else may have written, unpacked by protobuf-c in memory of a
 * limit: two bytes of a file can ask for a hundred.
 */
#ifndef HLG_TOOLS_PPROF_UNPACK_H
#define HLG_TOOLS_PPROF_UNPACK_H

#include <setjmp.h>

#include "tools/pprof/saved.h"

/* Of one message at a time, of at most so much memory; begins as HLG_UNPACK_INIT. */
struct hlg_unpack {
	struct hlg_saved_arena arena; /* of the message */
	size_t most;                  /* bytes */
	bool spent, failed; /* it asked for more than that; malloc had no more */
	jmp_buf none;
};

#define HLG_UNPACK_INIT(most_bytes)                                                      \
	{                                                                                \
		.arena = {.raw = true}, .most = (most_bytes)                             \
	}

/* The message, until the next is unpacked or all is finished. NULL: it would take too
 * much, there is no memory, or (neither is set) it is no such message. */
const ProtobufCMessage *hlg_unpack_message(struct hlg_unpack *unpack,
					   const ProtobufCMessageDescriptor *descriptor,
					   const unsigned char *data, size_t size);

void hlg_unpack_finish(struct hlg_unpack *unpack);

#endif
