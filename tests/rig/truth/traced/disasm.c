// SPDX-License-Identifier: GPL-2.0-only
/* Takes its own code apart (Capstone). */
#include <capstone/capstone.h>
#include <stdio.h>

extern const unsigned char code[] __asm__("main");

int main(void)
{
	csh handle;
	cs_insn *insn;
	unsigned long letters = 0;

	if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &handle))
		return 1;
	cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	for (int round = 0; round < 30; round++) {
		size_t n = cs_disasm(handle, code + 4096 * round, 8192, 0, 0, &insn);

		for (size_t i = 0; i < n; i++)
			letters += (unsigned char)insn[i].op_str[0];
		cs_free(insn, n);
	}
	printf("%lu\n", letters);
	return cs_close(&handle) != 0;
}
