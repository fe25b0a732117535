/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the plugins here use of QEMU's plugin interface, version 1. Debian builds plugins
 * into QEMU and packages no header;
 * https://www.qemu.org/docs/master/devel/tcg-plugins.html tells what each does. QEMU
 * itself has the functions.
 */
#ifndef TRUTH_QEMU_PLUGIN_H
#define TRUTH_QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_VERSION 1

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum {
	QEMU_PLUGIN_INLINE_ADD_U64
};
enum {
	QEMU_PLUGIN_CB_NO_REGS
};

typedef void (*qemu_plugin_tb_cb)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*qemu_plugin_exec_cb)(unsigned int vcpu, void *data);
typedef void (*qemu_plugin_end_cb)(qemu_plugin_id_t, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t at);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
/* Where the instruction lies in QEMU's own memory, NULL if it is not in RAM. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  qemu_plugin_exec_cb cb, int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_exec_cb cb, int flags,
					    void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						int operation, void *at, uint64_t value);
/* At QEMU's end, which a program that it runs may cause. */
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_end_cb, void *data);

#endif
