// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page.h"

#include <stddef.h>

#include "page-script.h"
#include "page-style.h"
#include "tools/svg/xml.h"

static void write_lines(FILE *f, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputs(lines[i], f);
}

void hlg_page_begin(FILE *f, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	      "'none'; "
	      "style-src 'sha256-" page_style_sha256
	      "'; script-src 'sha256-" page_script_sha256
	      "'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n<meta name=\"generator\" content=\"hlguest\">\n"
	      "<title>",
	      f);
	hlg_xml_text(f, title);
	fputs("</title>\n<style>", f);
	write_lines(f, page_style, sizeof(page_style) / sizeof(page_style[0]));
	fputs("</style>\n</head>\n<body>\n", f);
}

void hlg_page_end(FILE *f)
{
	fputs("<script>", f);
	write_lines(f, page_script, sizeof(page_script) / sizeof(page_script[0]));
	fputs("</script>\n</body>\n</html>\n", f);
}
