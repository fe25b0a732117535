// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for QEMU as it runs a program (qemu-user) that writes where the program was,
 * each N instructions, which is what perf samples of it: lines of an address, in
 * hexadecimal.
 *
 *     qemu-aarch64 -plugin trace.so,out=FILE,each=N PROGRAM
 *
 * N should be a prime, so that a loop does not keep step with it. Of threads there may be
 * one.
 */
#include "tests/rig/truth/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
				      int argc, char **argv);

static FILE *out;
static unsigned long each, left;

static void executed(unsigned int vcpu, void *addr)
{
	(void)vcpu;
	if (--left > 0)
		return;
	left = each;
	fprintf(out, "%lx\n", (unsigned long)addr);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t at = 0; at < qemu_plugin_tb_n_insns(tb); at++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, at);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, executed, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)addr);
	}
}

static void end(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (fclose(out) != 0)
		perror("trace.so");
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			char **argv)
{
	(void)info;
	for (int at = 0; at < argc; at++) {
		if (strncmp(argv[at], "out=", 4) == 0)
			out = fopen(argv[at] + 4, "w");
		else if (strncmp(argv[at], "each=", 5) == 0)
			each = strtoul(argv[at] + 5, NULL, 0);
	}
	if (out == NULL || each == 0) {
		fputs("usage: -plugin trace.so,out=FILE,each=N\n", stderr);
		return 1;
	}
	left = each;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, end, NULL);
	return 0;
}
