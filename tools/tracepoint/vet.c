// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tracepoint/vet.h"

#include <stdbool.h>
#include <string.h>

/* Longer numbers are no offsets, and overflow libtraceevent's. */
#define DIGITS_MAX 6

/* Part of a line: [at, end). */
struct part {
	const char *at, *end;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_text(struct part *p, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

static bool take_number(struct part *p)
{
	const char *start = p->at;

	while (p->at < p->end && is_digit(*p->at))
		p->at++;
	return p->at > start && p->at - start <= DIGITS_MAX;
}

static bool take_word(struct part *p)
{
	const char *start = p->at;

	while (p->at < p->end &&
	       (is_letter(*p->at) || (p->at > start && is_digit(*p->at))))
		p->at++;
	return p->at > start;
}

/* "TYPE... NAME", at least two words a blank apart; a '*' may stand before the last. */
static bool take_declaration(struct part *p)
{
	unsigned words = 0;

	do {
		if (words && take_text(p, "*"))
			take_text(p, " ");
		if (!take_word(p))
			return false;
		words++;
	} while (take_text(p, " "));
	return words > 1;
}

static bool is_field(struct part p)
{
	return take_text(&p, "\tfield:") && take_declaration(&p) &&
	       take_text(&p, ";\toffset:") && take_number(&p) &&
	       take_text(&p, ";\tsize:") && take_number(&p) && take_text(&p, ";") &&
	       (!take_text(&p, "\tsigned:") || (take_number(&p) && take_text(&p, ";"))) &&
	       p.at == p.end;
}

static bool is_head(struct part p)
{
	if (take_text(&p, "name: ")) { /* 9p_client_req is one, too */
		while (p.at < p.end && (is_letter(*p.at) || is_digit(*p.at)))
			p.at++;
		return p.at == p.end;
	}
	if (take_text(&p, "ID: "))
		return take_number(&p) && p.at == p.end;
	return p.at == p.end || (take_text(&p, "format:") && p.at == p.end);
}

size_t hlg_trace_vet(char *out, const char *text, size_t size)
{
	static const char print[] = "\nprint fmt: \"\"\n";
	const char *end = text + size;
	char *to = out;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct part line = {text, stop ? stop : end};

		if (is_head(line) || is_field(line)) {
			memcpy(to, line.at, (size_t)(line.end - line.at));
			to += line.end - line.at;
			*to++ = '\n';
		}
		text = stop ? stop + 1 : end;
	}
	memcpy(to, print, sizeof(print));
	return (size_t)(to - out) + sizeof(print) - 1;
}
