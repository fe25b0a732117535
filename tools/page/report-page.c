// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/report-page.h"

#include <stdlib.h>
#include <string.h>

#include "tools/page/words.h"

enum {
	AROUND = 8192 /* bytes, at most, of what is in no part: title, policy, note */
};

static void write_words(FILE *f, const struct hlg_page_parts *p)
{
	const char *sep = "";

	for (size_t i = 0; i < p->n; i++) {
		const struct hlg_page_element *e = &p->elements[i];

		if (!hlg_page_cut_any(&e->cut))
			continue;
		fprintf(f, "%s%s%s", sep, e->of ? e->of : "", e->of ? ", " : "");
		hlg_page_cut_words(f, &e->cut, p->things);
		sep = "; ";
	}
}

/* What is left out, in the page and on stderr. */
static void tell_cut(FILE *f, const struct hlg_page_parts *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++)
		any |= hlg_page_cut_any(&p->elements[i].cut);
	if (!any)
		return;
	fputs("<p class=\"summary\" id=\"cut\">So that this page stays below 10 MB: ", f);
	write_words(f, p);
	fprintf(f, " (<code>hlguest %s --format=json --top=0</code> has all).</p>\n",
		p->verb);
	fputs("hlguest: --format=html: so that the page stays below 10 MB: ", stderr);
	write_words(stderr, p);
	fprintf(stderr, " (%s --format=json --top=0 has all)\n", p->verb);
}

static void write_all(FILE *f, const struct hlg_page_parts *p, const char *header,
		      const char *rest)
{
	hlg_page_begin(f, p->kind, p->title);
	fputs(header, f);
	tell_cut(f, p);
	fputs(rest, f);
	for (size_t i = 0; i < p->n; i++)
		fputs(p->elements[i].text, f);
	hlg_page_end(f, p->kind);
}

int hlg_page_report_page(FILE *f, const struct hlg_page_parts *p, struct hlg_err *err)
{
	char *header = NULL, *rest = NULL;
	int rc = hlg_page_words_write(&header, p->header, p->ctx, err);

	if (rc == 0)
		rc = hlg_page_words_write(&rest, p->rest, p->ctx, err);
	if (rc == 0)
		rc = hlg_page_report_data(p->elements, p->n,
					  strlen(header) + strlen(rest) + AROUND +
						  hlg_page_bytes(p->kind),
					  err);
	if (rc == 0)
		write_all(f, p, header, rest);
	for (size_t i = 0; i < p->n; i++)
		free(p->elements[i].text);
	free(header);
	free(rest);
	return rc;
}
