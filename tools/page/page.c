// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page.h"

#include <string.h>

#include "page-diff.h"
#include "page-flame-script.h"
#include "page-flame.h"
#include "page-report.h"
#include "page-style.h"
#include "page-windows.h"
#include "tools/svg/xml.h"

#define KIND(name)                                                                       \
	{                                                                                \
		page_##name, sizeof(page_##name) / sizeof(page_##name[0]),               \
			page_##name##_sha256                                             \
	}

const struct hlg_page_kind hlg_page_report = KIND(report);
const struct hlg_page_kind hlg_page_diff = KIND(diff);
const struct hlg_page_kind hlg_page_still = {.n = 0};

#define TEXT(name)                                                                       \
	{                                                                                \
		page_##name, sizeof(page_##name) / sizeof(page_##name[0])                \
	}

const struct hlg_page_text hlg_page_windows_style = TEXT(windows);
const struct hlg_page_text hlg_page_flame_style = TEXT(flame);
const struct hlg_page_text hlg_page_flame_script = TEXT(flame_script);

static void write_lines(FILE *f, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputs(lines[i], f);
}

void hlg_page_put(FILE *f, const struct hlg_page_text *text)
{
	write_lines(f, text->line, text->n);
}

void hlg_page_begin(FILE *f, const struct hlg_page_kind *kind, const char *title)
{
	fprintf(f,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
		"'none'; "
		"style-src 'sha256-%s'; script-src '%s%s'; base-uri 'none'; "
		"form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, "
		"initial-scale=1\">\n<meta name=\"generator\" content=\"hlguest\">\n"
		"<title>",
		page_style_sha256, kind->n ? "sha256-" : "none",
		kind->n ? kind->sha256 : "");
	hlg_xml_text(f, title);
	fputs("</title>\n<style>", f);
	write_lines(f, page_style, sizeof(page_style) / sizeof(page_style[0]));
	fputs("</style>\n</head>\n<body>\n", f);
}

static size_t bytes_of(const char *const *lines, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += strlen(lines[i]);
	return bytes;
}

size_t hlg_page_bytes(const struct hlg_page_kind *kind)
{
	return bytes_of(page_style, sizeof(page_style) / sizeof(page_style[0])) +
	       bytes_of(kind->script, kind->n);
}

void hlg_page_end(FILE *f, const struct hlg_page_kind *kind)
{
	if (kind->n) {
		fputs("<script>", f);
		write_lines(f, kind->script, kind->n);
		fputs("</script>\n", f);
	}
	fputs("</body>\n</html>\n", f);
}
