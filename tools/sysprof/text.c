// SPDX-License-Identifier: GPL-2.0-only
/* For people: what the VM did, then where. */
#include <inttypes.h>
#include <stdlib.h>

#include "filter/stats/interval.h"
#include "symtab/escape.h"
#include "tools/sysprof/write.h"

static const char *percent(char buf[static 16], uint64_t part, uint64_t all)
{
	return hlg_interval_percent(buf, all ? (double)part / (double)all : 0);
}

static void put_head(FILE *f, const struct hlg_sysprof *s,
		     const struct hlg_sysprof_style *style)
{
	fputs("# ", f);
	hlg_escape_print(f, style->path);
	fprintf(f, ": %" PRIu64 " samples of LuaJIT's sysprof\n", s->samples);
	fprintf(f,
		"# symbols: %" PRIu64 " of Lua, %" PRIu64 " of C, %" PRIu64
		" traces; while it ran: %" PRIu64 " of Lua, %" PRIu64 " of C, %" PRIu64
		" traces\n",
		s->table.lua, s->table.c, s->table.traces, s->changes.lua, s->changes.c,
		s->changes.traces);
	for (size_t i = 0; i < style->n_notes; i++) {
		fputs("# ", f);
		hlg_escape_print(f, style->notes[i]);
		fputc('\n', f);
	}
}

static void put_states(FILE *f, const struct hlg_sysprof *s)
{
	char buf[16];

	fprintf(f, "\n%-8s %12s %8s\n", "state", "samples", "%");
	for (int i = 0; i < HLG_SYSPROF_STATES; i++)
		fprintf(f, "%-8s %12" PRIu64 " %8s\n", hlg_sysprof_state(i), s->states[i],
			percent(buf, s->states[i], s->samples));
	fprintf(f, "%-8s %12" PRIu64 " %8s\n", "all", s->samples,
		percent(buf, s->samples, s->samples));
}

struct writer {
	const struct hlg_sysprof *s;
	const struct hlg_sysprof_style *style;
	uint32_t *list;
};

static bool put(FILE *f, void *ctx, const struct hlg_sysprof_stack *stack)
{
	const struct writer *w = ctx;

	return hlg_sysprof_frames(f, w->s, w->style, stack, w->list);
}

static bool put_stacks(FILE *f, const struct hlg_sysprof *s,
		       const struct hlg_sysprof_style *style)
{
	struct writer writer = {s, style, hlg_sysprof_room(s)};
	struct hlg_sysprof_line *lines = NULL;
	size_t n, shown;
	char buf[16];

	if (writer.list)
		lines = hlg_sysprof_lines(s, true, put, &writer, &n);
	free(writer.list);
	if (!lines)
		return false;
	shown = style->top && style->top < n ? (size_t)style->top : n;
	fprintf(f, "\n%12s %8s  %-7s %s\n", "samples", "%", "state",
		style->mode == HLG_SYSPROF_LEAF ? "leaves" : "stack");
	for (size_t i = 0; i < shown; i++)
		fprintf(f, "%12" PRIu64 " %8s  %-7s %s\n", lines[i].samples,
			percent(buf, lines[i].samples, s->samples),
			hlg_sysprof_state(lines[i].state), lines[i].text);
	if (shown < n)
		fprintf(f, "... and %zu more (--top=0 shows all)\n", n - shown);
	hlg_sysprof_free_lines(lines, n);
	return true;
}

bool hlg_sysprof_text(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_style *style)
{
	put_head(f, s, style);
	put_states(f, s);
	return style->mode == HLG_SYSPROF_COUNTERS || put_stacks(f, s, style);
}
