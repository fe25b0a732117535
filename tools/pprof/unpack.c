// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/unpack.h"

/*
 * Where there is no memory it does not return: protobuf-c 1.4 frees what it has not got
 * for a repeated field.
 */
static void *limited_alloc(void *ctx, size_t size)
{
	struct hlg_unpack *unpack = ctx;
	void *bytes = NULL;

	unpack->spent = size > unpack->most || unpack->arena.size > unpack->most - size;
	if (!unpack->spent)
		bytes = hlg_saved_arena_alloc(&unpack->arena, size, 1);
	unpack->failed = !unpack->spent && !bytes;
	if (!bytes)
		longjmp(unpack->none, 1);
	return bytes;
}

static void no_free(void *ctx, void *bytes)
{
	(void)ctx;
	(void)bytes;
}

const ProtobufCMessage *hlg_unpack_message(struct hlg_unpack *unpack,
					   const ProtobufCMessageDescriptor *descriptor,
					   const unsigned char *data, size_t size)
{
	ProtobufCAllocator allocator = {limited_alloc, no_free, unpack};

	hlg_saved_arena_clear(&unpack->arena);
	return setjmp(unpack->none) == 0
		       ? protobuf_c_message_unpack(descriptor, &allocator, size, data)
		       : NULL;
}

void hlg_unpack_finish(struct hlg_unpack *unpack)
{
	hlg_saved_arena_finish(&unpack->arena);
}
