// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-callers.h"
#include "symtab/plural.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "filter/write/text-line.h"

#define LABEL "callers   "
#define BLANK "          "

/* "99.5 %"; never 100 where some are not, nor 0 where some are. */
static const char *percent(char buf[static 32], uint64_t n, uint64_t of)
{
	uint64_t tenths = of ? (uint64_t)((double)n / (double)of * 1000 + 0.5) : 0;

	if (n < of && tenths == 1000)
		tenths = 999;
	if (n > 0 && tenths == 0)
		tenths = 1;
	if (n == of)
		snprintf(buf, 32, "100 %%");
	else
		snprintf(buf, 32, "%ju.%ju %%", (uintmax_t)tenths / 10,
			 (uintmax_t)tenths % 10);
	return buf;
}

struct line {
	char *text;
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *fmt,
						      ...)
{
	size_t room = HLG_TEXT_CALLERS - line->n;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line->text + line->n, room, fmt, ap);
	va_end(ap);
	line->n += n > 0 && (size_t)n < room ? (size_t)n : 0;
}

static void add_calls(struct line *line, const struct hlg_caller_sums *c)
{
	const uint64_t known = c->confirmed + c->indirect + c->wrong;
	char buf[32];

	if (known == 0)
		return;
	add(line, "; of calls the code proves %s", percent(buf, c->confirmed, c->edges));
	if (c->indirect)
		add(line, ", %s go by pointer", percent(buf, c->indirect, c->edges));
	if (c->wrong)
		add(line, ", %s are wrong", percent(buf, c->wrong, c->edges));
	if (c->edges > known)
		add(line, ", %s cannot be told",
		    percent(buf, c->edges - known, c->edges));
}

bool hlg_text_callers_check(char text[static HLG_TEXT_CALLERS],
			    const struct hlg_report *r)
{
	const struct hlg_caller_sums *c = &r->callers;
	struct line line = {.text = text};
	char buf[32];

	if (!c->stacks)
		return false;
	if (c->whole + c->truncated)
		add(&line, "%s of %" PRIu64 " stack%s whole",
		    percent(buf, c->whole, c->whole + c->truncated),
		    c->whole + c->truncated, hlg_plural_s(c->whole + c->truncated));
	else
		add(&line, "%" PRIu64 " stack%s", c->stacks, hlg_plural_s(c->stacks));
	if (c->none)
		add(&line, ", %" PRIu64 " sample%s without callers", c->none,
		    c->none == 1 ? "" : "s");
	if (c->unknown)
		add(&line, ", %" PRIu64 " lack%s a caller", c->unknown,
		    c->unknown == 1 ? "s" : "");
	add_calls(&line, c);
	return true;
}

/* one: the words where n is 1; NULL: the same. */
static void tell(FILE *f, const struct hlg_screen *screen, const char *label, uint64_t n,
		 const char *words, const char *one)
{
	enum {
		NUMBER = 10
	};
	char indent[] = BLANK "           "; /* behind the number and a blank */

	if (!n)
		return;
	fprintf(f, "%s%*" PRIu64 " ", label, NUMBER, n);
	hlg_text_line_fold(f, screen, strlen(indent), indent,
			   one ? hlg_plural_word(n, one, words) : words);
}

void hlg_text_callers_details(FILE *f, const struct hlg_report *r)
{
	const struct hlg_caller_sums *c = &r->callers;

	tell(f, &r->screen, LABEL, c->stacks,
	     "samples have callers:", "sample has callers:");
	tell(f, &r->screen, BLANK, c->whole, "up to the outermost function", NULL);
	tell(f, &r->screen, BLANK, c->truncated, "not so far: [truncated: ...] says why",
	     NULL);
	tell(f, &r->screen, BLANK, c->unknown, "with a [caller unknown]", NULL);
	tell(f, &r->screen, BLANK, c->edges,
	     "calls in these stacks:", "call in these stacks:");
	tell(f, &r->screen, BLANK, c->confirmed, "lead to the function that is there",
	     "leads to the function that is there");
	tell(f, &r->screen, BLANK, c->indirect,
	     "go by pointer: where to cannot be checked",
	     "goes by pointer: where to cannot be checked");
	tell(f, &r->screen, BLANK, c->wrong, "lead elsewhere", "leads elsewhere");
	tell(f, &r->screen, BLANK, c->inserted,
	     "callers were inserted: their call proves them, but the stack did not have "
	     "them yet",
	     "caller was inserted: its call proves it, but the stack did not have it "
	     "yet");
	tell(f, &r->screen, BLANK, c->stacks ? c->none : 0, "samples have none recorded",
	     "sample has none recorded");
	tell(f, &r->screen, c->stacks ? BLANK : LABEL, c->refused,
	     "samples whose callers are left out: the guest keeps no frame pointers",
	     "sample whose callers are left out: the guest keeps no frame pointers");
}
