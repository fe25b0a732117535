// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks as text: what the VM did and where, for people; and folded, the input of flame
 * graph tools. Example of the latter:
 *
 *	main;lua_pcall;@a.lua:3;tostring;work 1
 *	TRACE [7] started at @a.lua:3 2
 */
#include "tools/sysprof/sysprof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/stats/interval.h"
#include "filter/write/folded.h"
#include "filter/write/table.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"
#include "symtab/plural.h"

enum {
	SHOWN = 48, /* bytes of a chunk that is text; Lua's own messages have 60 */
	MAX_LINE = 16 << 20 /* bytes of one stack; a little more is no harm */
};

/* Text that several stacks may have, and their samples. */
struct line {
	char *text;
	uint64_t samples;
	enum hlg_sysprof_state state; /* of all of them, if lines are parted by it */
};

struct lines {
	struct line
		*line; /* those to be shown first, by samples, then text, then state */
	size_t n, n_shown; /* the others have no samples left */
};

/* "@file" and "=name" as they are; else as Lua puts it, the first line of the text. */
static void put_chunk(FILE *f, const char *chunk)
{
	size_t n = strcspn(chunk, "\n");
	char first[SHOWN + 1];

	if (chunk[0] == '@' || chunk[0] == '=') {
		hlg_folded_frame(f, chunk);
		return;
	}
	snprintf(first, sizeof(first), "%.*s", (int)(n < SHOWN ? n : SHOWN), chunk);
	fputs("[string \"", f);
	/* It ends no name, so a count may end it. */
	hlg_escape_print_as(f, first, SIZE_MAX, ';', ":");
	fputs(chunk[strlen(first)] ? "...\"]" : "\"]", f);
}

static void put_function(FILE *f, const struct hlg_sysprof_frame *frame,
			 const char *chunk, uint64_t line)
{
	if (chunk)
		put_chunk(f, chunk);
	else
		fprintf(f, "[Lua 0x%" PRIx64 "]", frame->addr);
	fprintf(f, ":%" PRIu64, line);
}

void hlg_sysprof_name(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame)
{
	const char *name = frame->kind == HLG_FRAME_FAST
				   ? hlg_sysprof_fast(frame->addr)
				   : hlg_strings_get(&s->names, frame->name);

	switch (frame->kind) {
	case HLG_FRAME_LUA:
		put_function(f, frame, name, frame->line);
		return;
	case HLG_FRAME_TRACE:
		fprintf(f, "TRACE [%" PRIu64 "] %s ", frame->trace,
			frame->begins_known ? "started at" : "of");
		put_function(f, frame, name,
			     frame->begins_known ? frame->begins : frame->line);
		return;
	default:
		break;
	}
	if (name)
		hlg_folded_frame(f, name);
	else if (frame->kind == HLG_FRAME_FAST)
		fprintf(f, "[fast function %" PRIu64 "]", frame->addr);
	else
		fprintf(f, "[%s 0x%" PRIx64 "]",
			frame->kind == HLG_FRAME_C ? "C" : "host", frame->addr);
}

/* The frames that the mode wants, ';' between. False if they take too much. */
static bool put_stack(FILE *f, const struct hlg_sysprof_output *o,
		      const struct hlg_sysprof_stack *stack, uint32_t *list)
{
	uint32_t n = 0;

	if (o->mode == HLG_SYSPROF_CALLGRAPH)
		n = hlg_sysprof_lay(o->s, stack, list);
	else if (o->mode == HLG_SYSPROF_LEAF)
		n = hlg_sysprof_leaves(o->s, stack, list);
	if (n == 0 || o->by_state)
		fprintf(f, "[%s]%s", hlg_sysprof_state(stack->state), n ? ";" : "");
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			fputc(';', f);
		hlg_sysprof_name(f, o->s, &o->s->frames[list[i]]);
		if (ftello(f) > MAX_LINE)
			return false;
	}
	return true;
}

static char *text_of(const struct hlg_sysprof_output *o,
		     const struct hlg_sysprof_stack *stack)
{
	uint32_t *list = calloc((size_t)stack->n_lua + stack->n_host + 1, sizeof(*list));
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	bool ok = list && f && put_stack(f, o, stack, list);

	free(list);
	m.lost |= !ok;
	return hlg_memstream_close(&m);
}

static int compare_text(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (int)x->state - (int)y->state;
}

static int compare_samples(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return compare_text(a, b);
}

/* Adds up lines of the same text, which stand together, in the last of them. */
static void join(struct lines *lines)
{
	lines->n_shown = lines->n;
	for (size_t i = 1; i < lines->n; i++) {
		struct line *line = &lines->line[i];

		if (compare_text(&line[-1], line) != 0)
			continue;
		line->samples += line[-1].samples;
		line[-1].samples = 0;
		lines->n_shown--;
	}
}

static void free_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->line[i].text);
	free(lines->line);
}

/* A line of each stack, if parted for each state its own. False if they take too much. */
static bool add_lines(struct lines *lines, const struct hlg_sysprof_output *o,
		      bool parted)
{
	const struct hlg_sysprof *s = o->s;
	uint64_t total = 0;

	lines->line = calloc((size_t)s->n_stacks + 1, sizeof(*lines->line));
	for (uint32_t i = 0; lines->line && i < s->n_stacks; i++) {
		const struct hlg_sysprof_stack *stack = &s->stacks[i];
		char *text = text_of(o, stack);

		if (!text)
			return false;
		total += strlen(text);
		lines->line[lines->n++] =
			(struct line){text, stack->samples, parted ? stack->state : 0};
		if (total > HLG_SYSPROF_MAX_TEXT)
			return false;
	}
	return lines->line != NULL;
}

/* For free_lines, unless it fails. */
static int make_lines(struct lines *lines, const struct hlg_sysprof_output *o,
		      bool parted, struct hlg_err *err)
{
	*lines = (struct lines){0};
	if (!add_lines(lines, o, parted)) {
		free_lines(lines);
		hlg_err_set(err, HLG_ESYSTEM,
			    "%s: its stacks take too much memory as text (use "
			    "--format=json, or --mode=D)",
			    o->path);
		return HLG_ESYSTEM;
	}
	qsort(lines->line, lines->n, sizeof(*lines->line), compare_text);
	join(lines);
	qsort(lines->line, lines->n, sizeof(*lines->line), compare_samples);
	return 0;
}

int hlg_sysprof_folded(void *output, FILE *f, struct hlg_err *err)
{
	struct lines lines;
	int rc = make_lines(&lines, output, false, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < lines.n_shown; i++)
		fprintf(f, "%s %" PRIu64 "\n", lines.line[i].text, lines.line[i].samples);
	free_lines(&lines);
	return 0;
}

static void put_head(FILE *f, const struct hlg_sysprof_output *o)
{
	const struct hlg_sysprof *s = o->s;
	const uint64_t *table = s->table, *changes = s->changes;

	const struct hlg_screen screen = hlg_screen_of(f);
	char line[256];

	fputs("# ", f);
	hlg_escape_print(f, o->path);
	snprintf(line, sizeof(line), ": %" PRIu64 " sample%s of LuaJIT's sysprof",
		 s->samples, hlg_plural_s(s->samples));
	hlg_text_line_fold(f, &screen, 2 + (size_t)hlg_table_cells(o->path), "# ", line);
	snprintf(line, sizeof(line),
		 "# symbols: %" PRIu64 " of Lua, %" PRIu64 " of C, %" PRIu64
		 " trace%s; while it ran: %" PRIu64 " of Lua, %" PRIu64 " of C, %" PRIu64
		 " trace%s",
		 table[HLG_SYSPROF_LUA], table[HLG_SYSPROF_C], table[HLG_SYSPROF_TRACES],
		 hlg_plural_s(table[HLG_SYSPROF_TRACES]), changes[HLG_SYSPROF_LUA],
		 changes[HLG_SYSPROF_C], changes[HLG_SYSPROF_TRACES],
		 hlg_plural_s(changes[HLG_SYSPROF_TRACES]));
	hlg_text_line_fold(f, &screen, 0, "# ", line);
	for (size_t i = 0; i < o->notes.n; i++) {
		fputs("# ", f);
		hlg_escape_print(f, o->notes.line[i]);
		fputc('\n', f);
	}
}

static const char *percent(char buf[static 16], uint64_t part, uint64_t all)
{
	return hlg_interval_percent(buf, all ? (double)part / (double)all : 0);
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

int hlg_sysprof_text(void *output, FILE *f, struct hlg_err *err)
{
	const struct hlg_sysprof_output *o = output;
	struct lines lines;
	size_t shown;
	char buf[16];
	int rc;

	put_head(f, o);
	put_states(f, o->s);
	if (o->mode == HLG_SYSPROF_COUNTERS)
		return 0;
	rc = make_lines(&lines, o, true, err);
	if (rc < 0)
		return rc;
	shown = o->top && o->top < lines.n_shown ? (size_t)o->top : lines.n_shown;
	fprintf(f, "\n%12s %8s  %-7s %s\n", "samples", "%", "state",
		o->mode == HLG_SYSPROF_LEAF ? "leaves" : "stack");
	for (size_t i = 0; i < shown; i++)
		fprintf(f, "%12" PRIu64 " %8s  %-7s %s\n", lines.line[i].samples,
			percent(buf, lines.line[i].samples, o->s->samples),
			hlg_sysprof_state(lines.line[i].state), lines.line[i].text);
	if (shown < lines.n_shown)
		fprintf(f, "... and %zu more (--top=0 shows all)\n",
			lines.n_shown - shown);
	free_lines(&lines);
	return 0;
}
