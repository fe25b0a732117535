// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for QEMU that keeps a guest's calling-context tree: how many instructions were
 * executed in each function, by the calls that led there.
 *
 *     -plugin tree.so,out=PREFIX,elf=FILE[,base=0x4000]
 *
 * For one sandbox at a time; what several run at once is mixed. As with count.so, two
 * marks bound what is counted; at the second PREFIX.N.tree is written. A line is
 *
 *     RETURN;RETURN;...;FUNCTION COUNT
 *
 * return addresses from the outermost on, and the address of the function that executed
 * COUNT instructions called so, all in hexadecimal and as the ELF has them. A function is
 * a symbol's beginning (of the last symbol before, whatever its kind). The frames are
 * what calls and returns make, not what is found on a stack: a return goes to the
 * innermost frame that awaits it; an exception's handler is called from the address 0,
 * until its iret; the VMM enters at the ELF's entry and at `dispatch_function`, and
 * nothing is called there.
 */
#include "tests/rig/truth/mark.h"
#include "tests/rig/truth/plugin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 65536
#define EXCEPTION   0 /* the return address of what an exception's handler interrupted */
#define OF_FUNCTION ((uint64_t)1 << 63)

PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
				      int argc, char **argv);

static struct plugin_guest guest;
static uint64_t base = 0x4000;
static const char *prefix;
static unsigned written;

/* --- symbols ------------------------------------------------------------------------ */

struct symbol {
	uint64_t addr;
	const char *name;
};

static struct symbol *symbols;
static size_t symbol_count;

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool read_symbols(void)
{
	const Elf64_Ehdr *head = (const void *)guest.file;
	const Elf64_Shdr *sections = (const void *)(guest.file + head->e_shoff);
	for (unsigned at = 0; at < head->e_shnum; at++) {
		if (sections[at].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbol =
			(const void *)(guest.file + sections[at].sh_offset);
		size_t n = sections[at].sh_size / sizeof(*symbol);
		const char *names = (const char *)guest.file +
				    sections[sections[at].sh_link].sh_offset;
		symbols = calloc(n, sizeof(*symbols));
		for (size_t i = 0; symbols != NULL && i < n; i++)
			if (symbol[i].st_value - guest.addr < guest.size &&
			    ELF64_ST_TYPE(symbol[i].st_info) <= STT_FUNC)
				symbols[symbol_count++] = (struct symbol){
					symbol[i].st_value, names + symbol[i].st_name};
		if (symbols != NULL)
			qsort(symbols, symbol_count, sizeof(*symbols), by_addr);
	}
	return symbol_count > 0;
}

/* The last symbol that begins at an address or before it, NULL if there is none. */
static const struct symbol *symbol_at(uint64_t addr)
{
	size_t low = 0, high = symbol_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (symbols[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &symbols[low - 1] : NULL;
}

/* --- the tree ----------------------------------------------------------------------- */

/* A node is known by its parent and its key: a return address, or the function that was
 * executed there, with OF_FUNCTION. Node 0 is the root. */
struct node {
	uint32_t parent;
	uint64_t key;
	uint64_t count;
};

static struct node *nodes;
static uint32_t node_count, node_room;
static uint32_t *table; /* of nodes, by hash; 0 is empty */
static uint32_t table_size;

static void *must(void *memory)
{
	if (memory == NULL) {
		fputs("tree.so: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

static uint32_t *slot_of(uint32_t parent, uint64_t key)
{
	uint64_t hash = (key ^ ((uint64_t)parent << 32)) * 0x9e3779b97f4a7c15;
	for (uint32_t at = (uint32_t)(hash >> 32) & (table_size - 1);;
	     at = (at + 1) & (table_size - 1)) {
		const struct node *node = &nodes[table[at]];
		if (table[at] == 0 || (node->parent == parent && node->key == key))
			return &table[at];
	}
}

static void grow(void)
{
	node_room = node_room > 0 ? 2 * node_room : 4096;
	nodes = must(realloc(nodes, node_room * sizeof(*nodes)));
	free(table);
	table_size = 4 * node_room;
	table = must(calloc(table_size, sizeof(*table)));
	for (uint32_t at = 1; at < node_count; at++)
		*slot_of(nodes[at].parent, nodes[at].key) = at;
}

static uint32_t child(uint32_t parent, uint64_t key)
{
	uint32_t *slot = slot_of(parent, key);
	if (*slot != 0)
		return *slot;
	if (node_count == node_room) {
		grow();
		slot = slot_of(parent, key);
	}
	nodes[node_count] = (struct node){.parent = parent, .key = key};
	return *slot = node_count++;
}

/* --- what is executed --------------------------------------------------------------- */

enum end {
	END_OTHER,
	END_CALL,
	END_RETURN,
	END_IRET
};

/* What is special of where a block begins. */
enum beginning {
	BEGIN_PLAIN,
	BEGIN_ENTRY,
	BEGIN_HANDLER
};

struct block {
	uint64_t addr;
	enum beginning beginning;
};

/* The call or return that ends a block. */
struct transfer {
	enum end end;
	uint64_t next; /* the address behind it */
};

static struct {
	uint64_t next; /* what a return to is awaited */
	uint32_t node; /* of the caller */
} frames[MOST_FRAMES];
static unsigned depth;
static uint32_t here;
static uint32_t leaf;               /* of here, and of the function that runs */
static const struct transfer *last; /* executed, and where it leads is not seen yet */

static void push(uint64_t next)
{
	if (depth == MOST_FRAMES) {
		fputs("tree.so: too deep\n", stderr);
		exit(1);
	}
	frames[depth].next = next;
	frames[depth++].node = here;
	here = child(here, next);
}

/* A return to an address that no frame awaits leaves them as they are. */
static void pop_to(uint64_t next)
{
	for (unsigned at = depth; at > 0; at--) {
		if (frames[at - 1].next == next) {
			depth = at - 1;
			here = frames[depth].node;
			return;
		}
	}
}

static void block_begins(unsigned int vcpu, void *data)
{
	(void)vcpu;
	const struct block *block = data;
	const struct transfer *by = last;
	last = NULL;
	if (block->beginning == BEGIN_ENTRY) {
		depth = 0;
		here = 0;
	} else if (block->beginning == BEGIN_HANDLER) {
		push(EXCEPTION);
	} else if (by != NULL && by->end == END_CALL) {
		push(by->next);
	} else if (by != NULL) {
		pop_to(by->end == END_IRET ? EXCEPTION : block->addr);
	}
	leaf = child(here, OF_FUNCTION); /* the next instruction tells which */
}

/* An instruction of the function at an address. */
static void executed(unsigned int vcpu, void *function)
{
	(void)vcpu;
	uint64_t key = (uint64_t)(uintptr_t)function | OF_FUNCTION;
	if (nodes[leaf].key != key)
		leaf = child(here, key);
	nodes[leaf].count++;
}

static void transfer_comes(unsigned int vcpu, void *data)
{
	(void)vcpu;
	last = data;
}

static void start(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	for (uint32_t at = 0; at < node_count; at++)
		nodes[at].count = 0;
}

static void write_path(FILE *out, uint32_t node)
{
	if (nodes[node].parent != 0)
		write_path(out, nodes[node].parent);
	fprintf(out, "%llx%s", (unsigned long long)(nodes[node].key & ~OF_FUNCTION),
		nodes[node].key & OF_FUNCTION ? "" : ";");
}

static void stop(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	char path[4096];
	snprintf(path, sizeof(path), "%s.%u.tree", prefix, ++written);
	FILE *out = must(fopen(path, "w"));
	for (uint32_t at = 1; at < node_count; at++) {
		if (nodes[at].count > 0) {
			write_path(out, at);
			fprintf(out, " %llu\n", (unsigned long long)nodes[at].count);
		}
	}
	if (fclose(out) != 0) {
		perror(path);
		exit(1);
	}
}

/* --- translation -------------------------------------------------------------------- */

/* How an instruction of x86-64 ends a block: near calls and returns, by their opcodes. */
static enum end end_of(const unsigned char *code, size_t size)
{
	size_t at = 0;
	while (at < size && (code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x3e ||
			     code[at] == 0x66))
		at++;
	bool wide = at < size && (code[at] & 0xf8) == 0x48;
	if (at < size && (code[at] & 0xf0) == 0x40)
		at++;
	if (at == size)
		return END_OTHER;
	if (code[at] == 0xe8)
		return END_CALL;
	if (code[at] == 0xff && at + 1 < size && (code[at + 1] >> 3 & 7) == 2)
		return END_CALL;
	if (code[at] == 0xc3 || code[at] == 0xc2)
		return END_RETURN;
	return wide && code[at] == 0xcf ? END_IRET : END_OTHER;
}

static enum beginning beginning_of(uint64_t addr)
{
	const Elf64_Ehdr *head = (const void *)guest.file;
	if (addr == head->e_entry)
		return BEGIN_ENTRY;
	const struct symbol *symbol = symbol_at(addr);
	for (; symbol != NULL && symbol >= symbols && symbol->addr == addr; symbol--) {
		if (strcmp(symbol->name, "dispatch_function") == 0)
			return BEGIN_ENTRY;
		if (strncmp(symbol->name, "_do_excp", 8) == 0 &&
		    strcmp(symbol->name, "_do_excp_common") != 0)
			return BEGIN_HANDLER;
	}
	return BEGIN_PLAIN;
}

static void watch_block(struct qemu_plugin_tb *tb, uint64_t addr)
{
	struct block *block = must(calloc(1, sizeof(*block)));
	block->addr = addr;
	block->beginning = beginning_of(addr);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_begins, QEMU_PLUGIN_CB_NO_REGS,
					     block);
}

static void watch_insn(struct qemu_plugin_insn *insn, uint64_t addr)
{
	const struct symbol *symbol = symbol_at(addr);
	uint64_t function = symbol != NULL ? symbol->addr : 0;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, QEMU_PLUGIN_CB_NO_REGS,
					       (void *)(uintptr_t)function);
	size_t size = qemu_plugin_insn_size(insn);
	enum end end = end_of(qemu_plugin_insn_data(insn), size);
	if (end == END_OTHER)
		return;
	struct transfer *transfer = must(calloc(1, sizeof(*transfer)));
	transfer->end = end;
	transfer->next = addr + size;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, transfer_comes,
					       QEMU_PLUGIN_CB_NO_REGS, transfer);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t at = 0; at < qemu_plugin_tb_n_insns(tb); at++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, at);
		uint64_t addr = qemu_plugin_insn_vaddr(insn) - base;
		if (plugin_is_guest(&guest, addr, insn)) {
			if (at == 0)
				watch_block(tb, addr);
			watch_insn(insn, addr);
		}
		uint32_t mark = plugin_mark(insn);
		if (mark != 0)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, mark == MARK_START ? start : stop,
				QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			char **argv)
{
	(void)info;
	bool usable = argc > 0;
	for (int at = 0; at < argc; at++) {
		if (strncmp(argv[at], "out=", 4) == 0)
			prefix = strdup(argv[at] + 4);
		else if (strncmp(argv[at], "base=", 5) == 0)
			base = strtoull(argv[at] + 5, NULL, 0);
		else
			usable = usable && strncmp(argv[at], "elf=", 4) == 0 &&
				 plugin_load(&guest, argv[at] + 4) && read_symbols();
	}
	if (!usable || prefix == NULL || symbols == NULL) {
		fputs("usage: -plugin tree.so,out=PREFIX,elf=FILE[,base=N]\n", stderr);
		return 1;
	}
	node_count = 1;
	grow();
	nodes[0] = (struct node){0};
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
