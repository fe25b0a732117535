// SPDX-License-Identifier: GPL-2.0-only
#include "tools/callers/unwind.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/callers/bare.h"
#include "tools/source/shrunk.h"
#include "tools/source/source-files.h"

/* DWARF's numbers of registers (psABI of x86-64, figure 3.36). */
#define REGS 17
#define RSP  7
#define RIP  16 /* the return address's column */

/* Where KVM has them. */
static const uint8_t kvm_numbers[REGS] = {0, 2,  1,  3,  6,  7,  5,  4, 8,
					  9, 10, 11, 12, 13, 14, 15, 16};

#define DEEP 16 /* words of an expression's stack */
#define LONG 64 /* its operations; compilers' have ten */

#ifndef HLG_UNWIND_KEPT
#define HLG_UNWIND_KEPT 4096 /* addresses whose rules are kept; a power of two */
#endif

/* The rules at an address; frame is NULL if there are none. */
struct rules {
	uint64_t addr;
	bool known, of_signal;
	Dwarf_Frame *frame;
};

struct hlg_callers_unwind {
	Dwfl *dwfl;
	Dwarf_CFI *tables[2]; /* .eh_frame, .debug_frame; or NULL */
	const struct hlg_image *image;
	int fd; /* of its file */
	struct hlg_shrunk shrunk;
	struct rules kept[HLG_UNWIND_KEPT];
};

/* A frame: what its function had in its registers. */
struct frame {
	uint64_t regs[REGS];
	uint32_t known; /* a bit for each */
	uint64_t cfa;
	bool has_cfa;
};

struct walk {
	struct hlg_callers_unwind *unwind;
	const struct hlg_callers_copy *copy;
	uint64_t bias;
	enum hlg_walk_end why; /* of a word that is not in the copy; else _NO_CFI */
};

static Dwarf_CFI *find_tables(Dwfl_Module *module, bool eh)
{
	Dwarf_Addr bias;

	return eh ? dwfl_module_eh_cfi(module, &bias)
		  : dwfl_module_dwarf_cfi(module, &bias);
}

int hlg_callers_unwind_open(struct hlg_callers_unwind **unwind,
			    const struct hlg_image *image, struct hlg_err *err)
{
	struct hlg_callers_unwind *new;
	Dwfl_Module *module;

	*unwind = NULL;
	if (image->map || image->made || image->elf.machine != EM_X86_64)
		return hlg_err_set(err, HLG_EINPUT, "%s: is no ELF of x86-64",
				   image->path);
	new = calloc(1, sizeof(*new));
	if (new)
		new->dwfl = hlg_source_files_begin();
	if (!new || !new->dwfl) {
		free(new);
		return hlg_err_memory(err, image->path);
	}
	hlg_shrunk_init(&new->shrunk, hlg_image_file(image));
	hlg_shrunk_watch(&new->shrunk);
	new->image = image;
	new->fd = -1;
	err->msg[0] = '\0';
	hlg_source_files_open(new->dwfl, image, &module, err);
	if (module) {
		new->tables[0] = find_tables(module, true);
		new->tables[1] = find_tables(module, false);
	}
	if (new->tables[0] || new->tables[1]) {
		*unwind = new;
		new->fd = hlg_image_reopen(image, err);
		if (new->fd >= 0)
			return 0;
		*unwind = NULL;
	}
	hlg_callers_unwind_close(new);
	return err->msg[0] ? HLG_EINPUT
			   : hlg_err_set(err, HLG_EINPUT,
					 "%s: has no unwind tables "
					 "(" HLG_CALLERS_UNWIND_ADVICE ")",
					 image->path);
}

void hlg_callers_unwind_close(struct hlg_callers_unwind *unwind)
{
	if (!unwind)
		return;
	for (size_t i = 0; i < HLG_UNWIND_KEPT; i++)
		free(unwind->kept[i].frame);
	hlg_shrunk_watch(NULL);
	dwfl_end(unwind->dwfl);
	if (unwind->fd >= 0)
		close(unwind->fd);
	free(unwind);
}

/* The rules at an own address, which are kept until another needs their place. */
static const struct rules *find_rules(struct hlg_callers_unwind *unwind, uint64_t addr)
{
	struct rules *rules = &unwind->kept[(addr ^ addr >> 12) % HLG_UNWIND_KEPT];
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr start, end;

	if (rules->known && rules->addr == addr)
		return rules;
	hlg_shrunk_watch(&unwind->shrunk);
	for (size_t i = 0; i < 2 && !frame; i++)
		if (unwind->tables[i] &&
		    dwarf_cfi_addrframe(unwind->tables[i], addr, &frame) != 0)
			frame = NULL;
	free(rules->frame);
	*rules = (struct rules){.addr = addr, .known = true, .frame = frame};
	if (frame && dwarf_frame_info(frame, &start, &end, &rules->of_signal) != RIP) {
		free(frame);
		rules->frame = NULL;
	}
	return rules;
}

void hlg_callers_unwind_count(struct hlg_callers_unwind *unwind,
			      struct hlg_callers_unwind_count *count)
{
	const struct hlg_symtab *tab = &unwind->image->tab;

	*count = (struct hlg_callers_unwind_count){0};
	for (size_t i = 0; i < tab->n_syms; i++) {
		const struct hlg_symbol *symbol = &tab->syms[i];

		if (symbol->class != HLG_SYM_FUNCTION || symbol->end == symbol->addr)
			continue;
		count->functions++;
		count->covered += find_rules(unwind, symbol->addr)->frame != NULL;
	}
}

static bool is_hole(const struct hlg_callers_copy *copy, uint64_t at)
{
	return copy->holes >> (at / HLG_WALK_PAGE - copy->from / HLG_WALK_PAGE) % 64 & 1;
}

static bool read_word(struct walk *walk, uint64_t at, uint64_t *word)
{
	const struct hlg_callers_copy *copy = walk->copy;
	uint64_t offset = at - copy->from;
	const struct hlg_callers_stack *head = (const void *)copy->head;

	if (offset < copy->size && copy->size - offset >= sizeof(*word)) {
		walk->why = HLG_WALK_FAULT;
		if (is_hole(copy, at) || is_hole(copy, at + sizeof(*word) - 1))
			return false;
		memcpy(word, copy->bytes + offset, sizeof(*word));
		walk->why = HLG_WALK_NO_CFI;
		return true;
	}
	/* Far behind it no stack goes on. */
	walk->why = offset < UINT32_MAX && head->end == HLG_WALK_CUT ? HLG_WALK_CUT
								     : HLG_WALK_NO_CFI;
	return false;
}

static bool get_reg(const struct frame *frame, uint64_t number, uint64_t *value)
{
	if (number >= REGS || !(frame->known >> number & 1))
		return false;
	*value = frame->regs[number];
	return true;
}

/* An operation of two words: the upper one is b. */
static bool combine(uint8_t atom, uint64_t a, uint64_t b, uint64_t *result)
{
	switch (atom) {
	case DW_OP_plus:
		*result = a + b;
		return true;
	case DW_OP_minus:
		*result = a - b;
		return true;
	case DW_OP_mul:
		*result = a * b;
		return true;
	case DW_OP_and:
		*result = a & b;
		return true;
	case DW_OP_or:
		*result = a | b;
		return true;
	case DW_OP_shl:
		*result = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*result = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_ge:
		*result = (int64_t)a >= (int64_t)b;
		return true;
	case DW_OP_gt:
		*result = (int64_t)a > (int64_t)b;
		return true;
	case DW_OP_le:
		*result = (int64_t)a <= (int64_t)b;
		return true;
	case DW_OP_lt:
		*result = (int64_t)a < (int64_t)b;
		return true;
	case DW_OP_eq:
		*result = a == b;
		return true;
	case DW_OP_ne:
		*result = a != b;
		return true;
	default:
		return false;
	}
}

/* An operation that pushes a word. */
static bool push(const struct frame *frame, const Dwarf_Op *op, uint64_t *word)
{
	uint8_t atom = op->atom;

	if (atom == DW_OP_call_frame_cfa) {
		*word = frame->cfa;
		return frame->has_cfa;
	}
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		*word = atom - DW_OP_lit0;
		return true;
	}
	if (atom == DW_OP_addr || (atom >= DW_OP_const1u && atom <= DW_OP_consts)) {
		*word = op->number;
		return atom != DW_OP_addr; /* it would be of the ELF's data */
	}
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31 &&
	    get_reg(frame, atom - DW_OP_breg0, word)) {
		*word += op->number;
		return true;
	}
	if (atom == DW_OP_bregx && get_reg(frame, op->number, word)) {
		*word += op->number2;
		return true;
	}
	return false;
}

/* A register as the place of a value, which is then the value. */
static bool is_place(const struct frame *frame, const Dwarf_Op *op, uint64_t *value)
{
	if (op->atom == DW_OP_regx)
		return get_reg(frame, op->number, value);
	return op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31 &&
	       get_reg(frame, op->atom - DW_OP_reg0, value);
}

/*
 * What an expression comes to, without jumps: those that compilers and linkers put into
 * tables have none. *is_value: that is the value; else the address of it, or the CFA.
 */
static bool evaluate(struct walk *walk, const struct frame *frame, const Dwarf_Op *ops,
		     size_t n_ops, uint64_t *result, bool *is_value)
{
	uint64_t stack[DEEP];
	size_t n = 0;

	if (n_ops > LONG)
		return false;
	*is_value = n_ops == 1 && is_place(frame, ops, result);
	for (size_t i = 0; i < n_ops && !*is_value; i++) {
		uint8_t atom = ops[i].atom;

		if (atom == DW_OP_stack_value)
			*is_value = n > 0;
		else if (n < DEEP && push(frame, &ops[i], &stack[n]))
			n++;
		else if (n >= 1 && atom == DW_OP_plus_uconst)
			stack[n - 1] += ops[i].number;
		else if (n >= 1 && atom == DW_OP_deref) {
			if (!read_word(walk, stack[n - 1], &stack[n - 1]))
				return false;
		} else if (n >= 2 &&
			   combine(atom, stack[n - 2], stack[n - 1], &stack[n - 2]))
			n--;
		else
			return false;
		if (*is_value)
			*result = stack[n - 1];
	}
	if (n && !*is_value)
		*result = stack[n - 1];
	return n > 0 || *is_value;
}

enum found {
	KNOWN,
	UNDEFINED,
	FAILED
};

/* A register of the caller's. */
static enum found find_reg(struct walk *walk, const struct frame *frame,
			   Dwarf_Frame *rules, int number, uint64_t *value)
{
	Dwarf_Op mem[3], *ops;
	bool is_value;
	size_t n;

	if (dwarf_frame_register(rules, number, mem, &ops, &n) != 0)
		return FAILED;
	if (n == 0 && ops == mem)
		return UNDEFINED;
	if (n == 0)
		return get_reg(frame, (uint64_t)number, value) ? KNOWN : FAILED;
	if (!evaluate(walk, frame, ops, n, value, &is_value))
		return FAILED;
	return is_value || read_word(walk, *value, value) ? KNOWN : FAILED;
}

static bool find_cfa(struct walk *walk, struct frame *frame, Dwarf_Frame *rules)
{
	uint64_t before = frame->cfa, cfa;
	bool had = frame->has_cfa, is_value;
	Dwarf_Op *ops;
	size_t n;

	frame->has_cfa = false;
	if (dwarf_frame_cfa(rules, &ops, &n) != 0 || n == 0 ||
	    !evaluate(walk, frame, ops, n, &cfa, &is_value) || (had && cfa <= before))
		return false;
	frame->cfa = cfa;
	frame->has_cfa = true;
	return true;
}

/* The registers but the return address, and the stack pointer is the CFA. */
static void climb_regs(struct walk *walk, struct frame *frame, Dwarf_Frame *rules)
{
	struct frame caller = {.cfa = frame->cfa, .has_cfa = true};

	for (int i = 0; i < RIP; i++) {
		if (i == RSP || find_reg(walk, frame, rules, i, &caller.regs[i]) != KNOWN)
			continue;
		caller.known |= 1u << i;
	}
	walk->why = HLG_WALK_NO_CFI; /* a register may be missing until it is needed */
	caller.regs[RSP] = frame->cfa;
	caller.known |= 1u << RSP;
	*frame = caller;
}

static bool is_code(const struct walk *walk, uint64_t ip)
{
	struct hlg_place place;

	hlg_image_lookup(walk->unwind->image, ip - walk->bias - 1, &place);
	return place.image && place.kind != HLG_DATA;
}

/* The registers of the caller, whose return address lies at place, behind n pushes. */
static void pop(struct walk *walk, struct frame *frame, const uint8_t *pushes, size_t n,
		uint64_t place)
{
	/* rbx, rbp, rsp, r12 to r15: what a function leaves as it was. */
	frame->known &= 1u << 3 | 1u << 6 | 1u << RSP | 0xfu << 12;
	for (size_t i = 0; i < n; i++)
		for (int number = 0; number < RIP; number++)
			if (kvm_numbers[number] == pushes[i] &&
			    !read_word(walk, place - 8 * (i + 1), &frame->regs[number]))
				frame->known &= ~(1u << number);
	frame->cfa = frame->regs[RSP] = place + 8;
	frame->has_cfa = true;
}

/*
 * The innermost function has no table: *ip becomes that of its caller, if it takes no
 * more of the stack than its pushes. It may be in its prologue or its epilogue, and then
 * less than all is there; the first return address is its own, as below it there are
 * only its caller's registers.
 */
static bool climb_bare(struct walk *walk, struct frame *frame, uint64_t *ip)
{
	const struct hlg_callers_unwind *unwind = walk->unwind;
	uint8_t pushes[HLG_CALLERS_BARE_PUSHES];
	struct hlg_place place;
	size_t n;

	hlg_image_lookup(unwind->image, *ip - walk->bias, &place);
	if ((place.kind != HLG_FUNCTION && place.kind != HLG_LABEL) ||
	    !hlg_callers_bare_pushes(unwind->image, unwind->fd, place.start, pushes, &n))
		return false;
	for (size_t i = 0; i <= n; i++) {
		uint64_t at = frame->regs[RSP] + 8 * i, back;

		if (!read_word(walk, at, &back))
			return false;
		if (!is_code(walk, back) ||
		    !hlg_callers_bare_is_return(unwind->image, unwind->fd,
						back - walk->bias))
			continue;
		pop(walk, frame, pushes, i, at);
		*ip = back;
		return true;
	}
	return false;
}

/* Nothing calls what the image is entered at. */
static bool is_entry(const struct hlg_image *image, uint64_t addr)
{
	struct hlg_place place;

	hlg_image_lookup(image, image->elf.entry, &place);
	return place.symbol && addr >= place.start && addr < place.end;
}

/* To the caller: returns HLG_WALK_ENDS, and its address is in *ip; or why there is none.
 * first: *ip is the sample's; else a return address, of the instruction before. */
static enum hlg_walk_end climb(struct walk *walk, struct frame *frame, bool first,
			       bool *of_signal, uint64_t *ip)
{
	uint64_t addr = *ip - walk->bias - (first || *of_signal ? 0 : 1), back;
	const struct rules *rules = find_rules(walk->unwind, addr);
	enum found found;

	if (!rules->frame && is_entry(walk->unwind->image, addr))
		return HLG_WALK_WHOLE;
	if (!rules->frame)
		return first && climb_bare(walk, frame, ip) ? HLG_WALK_ENDS
							    : HLG_WALK_NO_CFI;
	frame->regs[RIP] = *ip;
	frame->known |= 1u << RIP;
	if (!find_cfa(walk, frame, rules->frame))
		return walk->why;
	found = find_reg(walk, frame, rules->frame, RIP, &back);
	if (found == UNDEFINED || (found == KNOWN && back == 0))
		return HLG_WALK_WHOLE;
	if (found == FAILED)
		return walk->why;
	if (!is_code(walk, back))
		return HLG_WALK_NO_CFI;
	*of_signal = rules->of_signal;
	climb_regs(walk, frame, rules->frame);
	*ip = back;
	return HLG_WALK_ENDS;
}

enum hlg_walk_end hlg_callers_unwind_stack(struct hlg_callers_unwind *unwind,
					   uint64_t bias,
					   const struct hlg_callers_copy *copy,
					   uint64_t callers[static HLG_WALK_ROOM],
					   uint32_t *n)
{
	struct walk walk = {
		.unwind = unwind, .copy = copy, .bias = bias, .why = HLG_WALK_NO_CFI};
	struct frame frame = {.known = (1u << RIP) - 1};
	uint64_t ip = copy->regs[RIP];
	enum hlg_walk_end end;
	bool of_signal = false;

	for (size_t i = 0; i < RIP; i++)
		frame.regs[i] = copy->regs[kvm_numbers[i]];
	for (*n = 0;; (*n)++) {
		end = climb(&walk, &frame, *n == 0, &of_signal, &ip);
		if (end != HLG_WALK_ENDS)
			return end;
		if (*n == HLG_WALK_FRAMES)
			return HLG_WALK_DEEP;
		callers[*n] = ip;
	}
}
