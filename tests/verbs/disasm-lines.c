// SPDX-License-Identifier: GPL-2.0-only
/* Lines of "ADDRESS BYTES" in hex become what annotate writes of each, as AT&T or Intel
 * does: disasm-lines att|intel */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/annotate/annotate.h"

int main(int argc, char **argv)
{
	enum hlg_syntax syntax = argc > 1 && strcmp(argv[1], "intel") == 0
					 ? HLG_SYNTAX_INTEL
					 : HLG_SYNTAX_ATT;
	char line[256], text[256];

	while (fgets(line, sizeof(line), stdin)) {
		unsigned char bytes[16] = {0};
		uint64_t addr, memory;
		bool has_memory;
		size_t n = 0;
		char *at;

		addr = strtoull(line, &at, 16);
		while (n < sizeof(bytes) && sscanf(at, " %2hhx", &bytes[n]) == 1) {
			at += strspn(at, " ") + 2;
			n++;
		}
		if (!hlg_disasm(EM_X86_64, syntax, bytes, n, addr, text, sizeof(text),
				&memory, &has_memory))
			strcpy(text, "(none)");
		puts(text);
	}
	return 0;
}
