/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text from files made safe to stand in XML, between tags and in attributes: escaped for
 * eyes (symtab/escape.h), then for the parser. What is written has no '<', '>', '&' or
 * quote of the text's own, and only characters that XML 1.0 allows (2.2, Char).
 */
#ifndef HLG_TOOLS_SVG_XML_H
#define HLG_TOOLS_SVG_XML_H

#include <stddef.h>
#include <stdio.h>

void hlg_xml_text(FILE *f, const char *text);

/*
 * The same in at most so many columns of a fixed-width font, with an ellipsis as the last
 * where text is longer. Characters beyond ASCII count as two: none is wider.
 */
void hlg_xml_text_cut(FILE *f, const char *text, size_t columns);

#endif
