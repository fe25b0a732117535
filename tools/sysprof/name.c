// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "filter/write/folded.h"
#include "symtab/escape.h"
#include "tools/sysprof/write.h"

enum {
	SHOWN = 48 /* bytes of a chunk that is text; Lua's own messages have 60 */
};

static void put(FILE *f, const char *text)
{
	hlg_folded_frame(f, text);
}

/* "@file" and "=name" as they are; else as Lua puts it, the first line of the text. */
static void put_chunk(FILE *f, const char *chunk)
{
	size_t n = strcspn(chunk, "\n");
	char first[SHOWN + 1];

	if (chunk[0] == '@' || chunk[0] == '=') {
		put(f, chunk);
		return;
	}
	if (n > SHOWN)
		n = SHOWN;
	memcpy(first, chunk, n);
	first[n] = '\0';
	fputs("[string \"", f);
	hlg_escape_print_as(f, first, SIZE_MAX, ';',
			    ":"); /* ends no name, so a count may end it */
	fputs(chunk[n] ? "...\"]" : "\"]", f);
}

static void put_function(FILE *f, const struct hlg_sysprof *s,
			 const struct hlg_sysprof_frame *frame, uint64_t line)
{
	if (frame->chunk)
		put_chunk(f, hlg_strings_get(&s->names, frame->chunk));
	else
		fprintf(f, "[Lua 0x%" PRIx64 "]", frame->addr);
	fprintf(f, ":%" PRIu64, line);
}

static void put_trace(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame)
{
	fprintf(f, "TRACE [%" PRIu64 "] ", frame->trace);
	fputs(frame->begins_known ? "started at " : "of ", f);
	put_function(f, s, frame, frame->begins_known ? frame->begins : frame->line);
}

void hlg_sysprof_name(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame)
{
	const char *name = frame->kind == HLG_FRAME_FAST
				   ? hlg_sysprof_fast(frame->addr)
				   : hlg_strings_get(&s->names, frame->symbol);

	if (frame->kind == HLG_FRAME_LUA)
		put_function(f, s, frame, frame->line);
	else if (frame->kind == HLG_FRAME_TRACE)
		put_trace(f, s, frame);
	else if (name)
		put(f, name);
	else if (frame->kind == HLG_FRAME_FAST)
		fprintf(f, "[fast function %" PRIu64 "]", frame->addr);
	else
		fprintf(f,
			frame->kind == HLG_FRAME_C ? "[C 0x%" PRIx64 "]"
						   : "[host 0x%" PRIx64 "]",
			frame->addr);
}

bool hlg_sysprof_frames(FILE *f, const struct hlg_sysprof *s,
			const struct hlg_sysprof_style *style,
			const struct hlg_sysprof_stack *stack, uint32_t *list)
{
	uint32_t n = style->mode == HLG_SYSPROF_COUNTERS ? 0
		     : style->mode == HLG_SYSPROF_LEAF
			     ? hlg_sysprof_leaves(s, stack, list)
			     : hlg_sysprof_lay(s, stack, list);

	if (n == 0)
		fprintf(f, "[%s]", hlg_sysprof_state(stack->state));
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			fputc(';', f);
		hlg_sysprof_name(f, s, &s->frames[list[i]]);
		if (ftello(f) > HLG_SYSPROF_MAX_LINE)
			return false;
	}
	return !ferror(f);
}
