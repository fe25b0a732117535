// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/pair.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"
#include "tools/exits/reasons.h"

#define TURNS_MAX 4096 /* KVM_MAX_VCPUS; guards memory and time */
#define INSN_MAX  15   /* bytes of an instruction */

/* One vCPU on its thread. */
struct hlg_exits_turn {
	uint32_t id;  /* HLG_NO_VCPU: not recorded */
	uint32_t row; /* in the sums' vcpus */
	/*
	 * The latest exit, as it came: copied in one piece and read field by field, which
	 * a processor can do at once; the other way round it waits for the copy.
	 */
	struct hlg_exits_item exit;
	uint64_t port;        /* of the exit */
	uint32_t user_reason; /* which the VMM was told first, since the exit */
	uint8_t user_isa;
	bool has_user;
	uint64_t entry_time;
	uint64_t vmm;       /* ns in the VMM since the exit */
	uint64_t call_time; /* of the guest call that is open */
	uint64_t call_rip;  /* of it and the one before: where it was entered; 0: none */
	uint16_t entry_cpu, call_cpu;
	bool open, in_guest, called, halted; /* called: a guest call is open */
	bool flushed;                        /* since the exit: see is_flush */
};

struct hlg_exits_thread {
	uint64_t id;                  /* see struct hlg_exits_item */
	uint64_t latest;              /* time of the last record that was taken */
	struct hlg_exits_turn *turns; /* one for each vCPU */
	uint32_t n_turns, current;    /* current: of the latest kvm_exit or kvm_entry */
	uint64_t user_time, run_time;
	struct hlg_exits_key user; /* of the userspace exit that is open, or done */
	uint64_t user_ns;          /* if done: how long it took */
	uint64_t port, insn;       /* since KVM_RUN */
	uint64_t fd;               /* of the last KVM_RUN */
	uint16_t user_cpu, run_cpu;
	bool user_open, user_done, run_open, has_insn;
	bool ran, made; /* KVM_RUN came; KVM_CREATE_VCPU, behind it */
};

static bool in_window(const struct hlg_exits_pairing *p, uint64_t time)
{
	return time >= p->start && time < p->stop;
}

/* A part of a vCPU that is looked for. */
struct part {
	const struct hlg_exits_vcpu *vcpus;
	uint32_t whole;
	int64_t sandbox;
};

static bool is_part(const void *ctx, uint32_t number)
{
	const struct part *part = ctx;
	const struct hlg_exits_vcpu *v = &part->vcpus[number],
				    *whole = &part->vcpus[part->whole];

	return v->sandbox == part->sandbox && v->pid == whole->pid &&
	       v->tid == whole->tid && v->id == whole->id;
}

/* The row of what a vCPU, which has one, ran of a sandbox; UINT32_MAX without memory. */
static uint32_t row_in(struct hlg_exits_pairing *p, uint32_t row, uint32_t sandbox)
{
	struct hlg_exits_sums *sums = p->sums;
	const struct hlg_exits_vcpu whole = sums->vcpus[row];
	const struct part part = {sums->vcpus, row, sandbox};
	uint64_t hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, row), sandbox);
	uint32_t number = hlg_index_find(&p->of_sandboxes, hash, is_part, &part);

	if (number != HLG_INDEX_NONE)
		return number;
	number = hlg_exits_add_vcpu(sums, whole.pid, whole.tid, whole.id);
	if (number == UINT32_MAX || !hlg_index_add(&p->of_sandboxes, hash, number)) {
		sums->no_memory = true;
		return UINT32_MAX;
	}
	sums->vcpus[number].sandbox = sandbox;
	return number;
}

/* Does what of the thread begins at a time count? Then *row is that of its vCPU, or where
 * sandboxes are told apart of the part of it. */
static bool is_chosen(struct hlg_exits_pairing *p, const struct hlg_exits_thread *t,
		      uint64_t time, uint32_t *row)
{
	struct hlg_sample sample = {.tid = (int32_t)(t->id >> 32), .time = time};

	if (!in_window(p, time) || (!p->sandboxes && !p->by_sandbox))
		return in_window(p, time);
	hlg_turns_tell(p->turns, &sample);
	if (p->sandboxes && !hlg_number_list_has(p->sandboxes, sample.sandbox))
		return false;
	if (p->by_sandbox)
		*row = row_in(p, *row, sample.sandbox);
	return *row != UINT32_MAX;
}

static bool is_halt(const struct hlg_exits_pairing *p, uint64_t port)
{
	return p->sums->halt && port == p->sums->halt;
}

static bool has_rip(const struct hlg_exits_turn *turn)
{
	return !(turn->exit.c & HLG_EXITS_NO_RIP);
}

/* Of the exit's reason. */
static uint8_t isa_of(const struct hlg_exits_turn *turn)
{
	return turn->exit.c & (uint8_t)~HLG_EXITS_NO_RIP;
}

/*
 * A guest that aborts writes byte by byte, and goes on behind each; behind the last one
 * the VMM does not come back, and what is entered next is another call, or another guest.
 */
static bool is_aborted(const struct hlg_exits_pairing *p,
		       const struct hlg_exits_turn *turn,
		       const struct hlg_exits_item *entry)
{
	return p->sums->halt && turn->open && turn->port == HLG_PORT_ABORT &&
	       has_rip(turn) && entry->a && entry->a - turn->exit.a > INSN_MAX;
}

/* NULL without memory, or with too many. */
static __attribute__((noinline)) struct hlg_exits_turn *other_turn(
	struct hlg_exits_pairing *p, struct hlg_exits_thread *t, uint32_t id)
{
	struct hlg_exits_turn *more;
	uint32_t row, i = 0;

	while (i < t->n_turns && t->turns[i].id != id)
		i++;
	t->current = i < t->n_turns ? i : t->current;
	if (i < t->n_turns)
		return &t->turns[i];
	if (t->n_turns == TURNS_MAX) {
		p->sums->lone.bad++;
		return NULL;
	}
	row = hlg_exits_add_vcpu(p->sums, (int32_t)(t->id & UINT32_MAX),
				 (int32_t)(t->id >> 32),
				 id == HLG_NO_VCPU ? -1 : (int64_t)id);
	more = reallocarray(t->turns, (size_t)t->n_turns + 1, sizeof(*more));
	if (more)
		t->turns = more;
	if (row == UINT32_MAX || !more) {
		p->sums->no_memory = true;
		return NULL;
	}
	more[i] = (struct hlg_exits_turn){.id = id, .row = row};
	t->current = t->n_turns++;
	return &more[i];
}

static inline struct hlg_exits_turn *turn_of(struct hlg_exits_pairing *p,
					     struct hlg_exits_thread *t, uint32_t id)
{
	if (t->n_turns && t->turns[t->current].id == id)
		return &t->turns[t->current];
	return other_turn(p, t, id);
}

/* The exit the thread is in, or NULL. */
static struct hlg_exits_turn *open_turn(const struct hlg_exits_thread *t)
{
	struct hlg_exits_turn *turn = t->n_turns ? &t->turns[t->current] : NULL;

	return turn && turn->open ? turn : NULL;
}

/* A time in the VMM is complete, and what came right behind it has had its say. */
static void settle_user(struct hlg_exits_pairing *p, struct hlg_exits_thread *t)
{
	if (!t->user_done)
		return;
	t->user_done = false;
	if (!is_chosen(p, t, t->user_time, &t->user.vcpu))
		return;
	if (is_halt(p, t->user.port)) {
		/* What KVM's own records tell is told by them. */
		if (t->n_turns &&
		    (t->turns[t->current].entry_time || (p->has_entries && open_turn(t))))
			return;
		t->user.kind = HLG_EXITS_BETWEEN;
	}
	hlg_exits_add(p->sums, &t->user, t->user_ns);
	if (t->user.kind == HLG_EXITS_VMM)
		p->sums->vcpus[t->user.vcpu].vmm += t->user_ns;
}

/* The VMM hands back to KVM. */
static void close_user(struct hlg_exits_pairing *p, struct hlg_exits_thread *t,
		       const struct hlg_exits_item *item)
{
	struct hlg_exits_turn *turn = open_turn(t);

	t->user_open = false;
	if (hlg_exits_is_torn(&p->gaps, t->user_time, t->user_cpu, item->time,
			      item->cpu)) {
		p->sums->lone.lost++;
		return;
	}
	t->user_ns = item->time - t->user_time;
	t->user_done = true;
	/* What of it lies before the exit, as no kernel would tell it, is none of its. */
	if (turn)
		turn->vmm +=
			item->time -
			(turn->exit.time > t->user_time ? turn->exit.time : t->user_time);
}

static void take_exit(struct hlg_exits_pairing *p, struct hlg_exits_thread *t,
		      const struct hlg_exits_item *item)
{
	struct hlg_exits_turn *turn = turn_of(p, t, item->vcpu);
	uint32_t row;

	if (!turn)
		return;
	row = turn->row;
	p->sums->lone.exits += turn->open;
	if (turn->in_guest && is_chosen(p, t, turn->entry_time, &row) &&
	    !hlg_exits_is_torn(&p->gaps, turn->entry_time, turn->entry_cpu, item->time,
			       item->cpu))
		p->sums->vcpus[row].guest += item->time - turn->entry_time;
	turn->in_guest = false;
	turn->open = true;
	turn->exit = *item;
	turn->port = HLG_NO_PORT;
	turn->vmm = 0;
	turn->has_user = turn->flushed = false;
	turn->user_reason = turn->user_isa = 0;
	/* What KVM did for an exit before tells nothing of this one. */
	t->port = HLG_NO_PORT;
	t->has_insn = false;
}

/*
 * On AArch64 Hyperlight's host asks KVM to finish the store that ended a call, by a
 * KVM_RUN that ends at once (kvm/aarch64.rs, run_immediate_exit): nothing was cancelled,
 * and what follows is the host's own time.
 */
static bool is_flush(struct hlg_exits_turn *turn, const struct hlg_exits_item *item)
{
	bool flush = turn && turn->halted && !turn->flushed &&
		     turn->exit.c == HLG_ISA_ARM_TRAP && item->c == HLG_ISA_ERRNO &&
		     item->b == EINTR;

	if (flush)
		turn->flushed = true;
	return flush;
}

static void close_exit(struct hlg_exits_pairing *p, const struct hlg_exits_thread *t,
		       struct hlg_exits_turn *turn, const struct hlg_exits_item *item)
{
	uint32_t row = turn->row;
	uint64_t ns = item->time - turn->exit.time;
	bool halt = is_halt(p, turn->port) || is_aborted(p, turn, item);

	turn->open = false;
	p->sums->crossed = true;
	if (hlg_exits_is_torn(&p->gaps, turn->exit.time, turn->exit.cpu, item->time,
			      item->cpu)) {
		p->sums->lone.lost++;
		return;
	}
	if (!is_chosen(p, t, turn->exit.time, &row))
		return;
	hlg_exits_add(p->sums,
		      &(struct hlg_exits_key){
			      .kind = halt ? HLG_EXITS_BETWEEN : HLG_EXITS_GUEST,
			      .rip = turn->exit.a,
			      .has_rip = has_rip(turn),
			      .port = turn->port,
			      .reason = turn->exit.b,
			      .isa = isa_of(turn),
			      .vcpu = row,
			      .other_reason = turn->user_reason,
			      .other_isa = turn->user_isa,
			      .has_other = turn->has_user,
		      },
		      ns);
	if (halt)
		return;
	p->sums->vcpus[row].outside += ns;
	p->sums->vcpus[row].inner += turn->vmm;
}

/* The guest is entered: for another call? */
static void begin_call(struct hlg_exits_turn *turn, const struct hlg_exits_item *item,
		       bool resumed)
{
	if (!turn->halted && (resumed || !item->a || item->a != turn->call_rip))
		return;
	turn->halted = false;
	turn->called = true;
	turn->call_time = item->time;
	turn->call_cpu = item->cpu;
	turn->call_rip = item->a;
}

/* The guest has written that its call is done. */
static void end_call(struct hlg_exits_pairing *p, const struct hlg_exits_thread *t,
		     struct hlg_exits_turn *turn)
{
	struct hlg_exits_key key = {.kind = HLG_EXITS_CALL,
				    .rip = turn->call_rip,
				    .has_rip = turn->call_rip != 0,
				    .port = HLG_NO_PORT,
				    .vcpu = turn->row};
	bool whole = turn->called &&
		     !hlg_exits_is_torn(&p->gaps, turn->call_time, turn->call_cpu,
					turn->exit.time, turn->exit.cpu);

	turn->called = false;
	turn->halted = true;
	if (whole && is_chosen(p, t, turn->call_time, &key.vcpu))
		hlg_exits_add(p->sums, &key, turn->exit.time - turn->call_time);
}

static void take_entry(struct hlg_exits_pairing *p, struct hlg_exits_thread *t,
		       const struct hlg_exits_item *item)
{
	struct hlg_exits_turn *turn = turn_of(p, t, item->vcpu);

	if (!turn)
		return;
	if (!p->has_runs && t->user_open) {
		close_user(p, t, item);
		t->user_done = t->user_done && !is_aborted(p, turn, item);
		settle_user(p, t);
	}
	if (is_aborted(p, turn, item)) {
		turn->called = false;
		turn->halted = true;
	}
	begin_call(turn, item, turn->exit.a == item->a);
	if (turn->open)
		close_exit(p, t, turn, item);
	else
		p->sums->lone.entries++;
	t->port = HLG_NO_PORT;
	t->has_insn = false;
	turn->in_guest = true;
	turn->entry_time = item->time;
	turn->entry_cpu = item->cpu;
}

/* Of a time in the VMM. The exit that it is in, if any is known, learns what it is. */
static struct hlg_exits_key key_of_user(const struct hlg_exits_thread *t,
					struct hlg_exits_turn *turn,
					const struct hlg_exits_item *item)
{
	struct hlg_exits_key key = {
		.kind = HLG_EXITS_VMM,
		.rip = turn          ? turn->exit.a
		       : t->has_insn ? t->insn
				     : 0,
		.has_rip = turn ? has_rip(turn) : t->has_insn,
		.port = t->port,
		.reason = item->b,
		.isa = item->c,
	};

	if (!turn)
		return key;
	key.other_reason = turn->exit.b;
	key.other_isa = isa_of(turn);
	key.has_other = true;
	if (!turn->has_user) {
		turn->user_reason = item->b;
		turn->user_isa = item->c;
		turn->has_user = true;
	}
	return key;
}

static void take_user(struct hlg_exits_pairing *p, struct hlg_exits_thread *t,
		      const struct hlg_exits_item *item)
{
	struct hlg_exits_turn *turn = open_turn(t), *any;
	uint32_t row;

	any = t->n_turns ? &t->turns[t->current] : turn_of(p, t, HLG_NO_VCPU);
	if (!any)
		return;
	row = any->row;
	p->sums->lone.user += t->user_open;
	if (t->run_open && is_chosen(p, t, t->run_time, &row) &&
	    !hlg_exits_is_torn(&p->gaps, t->run_time, t->run_cpu, item->time, item->cpu))
		p->sums->vcpus[row].run += item->time - t->run_time;
	t->run_open = false;
	if (is_flush(turn, item))
		t->port = p->sums->halt;
	t->user_open = true;
	t->user_time = item->time;
	t->user_cpu = item->cpu;
	t->user = key_of_user(t, turn, item);
	t->user.vcpu = any->row;
	t->port = HLG_NO_PORT;
	t->has_insn = false;
	if (item->c == HLG_ISA_ERRNO)
		any->called = false; /* it was cancelled, or is so in a moment */
}

/*
 * The thread runs another vCPU. What that before has left open stays open, but for the
 * host's own time behind a guest call, which goes on; and for what was cancelled.
 */
static void change_vcpu(struct hlg_exits_pairing *p, struct hlg_exits_thread *t)
{
	struct hlg_exits_turn *turn = t->n_turns ? &t->turns[t->current] : NULL;

	if (t->user_open && t->user.isa != HLG_ISA_ERRNO && !is_halt(p, t->user.port)) {
		t->user_open = false;
		p->sums->lone.user++;
	}
	if (!turn || turn->halted)
		return;
	p->sums->lone.exits += turn->open;
	turn->open = turn->called = false;
	turn->call_rip = 0;
}

static void take_run(struct hlg_exits_pairing *p, struct hlg_exits_thread *t,
		     const struct hlg_exits_item *item)
{
	if (item->b == KVM_CREATE_VCPU) {
		t->made = true;
		return;
	}
	if (t->ran && (t->made || item->a != t->fd))
		change_vcpu(p, t);
	t->ran = true;
	t->made = false;
	t->fd = item->a;
	if (t->user_open)
		close_user(p, t, item);
	else
		p->sums->lone.runs += t->run_open;
	t->run_open = true;
	t->run_time = item->time;
	t->run_cpu = item->cpu;
	t->port = HLG_NO_PORT;
	t->has_insn = false;
}

/* Hyperlight's ports on AArch64 are words of a page. */
static uint64_t port_of(const struct hlg_exits_pairing *p,
			const struct hlg_exits_item *item)
{
	uint64_t port = item->a;

	if (item->kind == HLG_EXITS_PIO)
		return item->b;
	return p->sums->io_page && hlg_ports_of_word(&port)
		       ? port
		       : HLG_PORT_MMIO | (item->a & ~UINT64_C(0xfff));
}

/*
 * What the guest writes is told when it leaves, what it reads when the answer is there:
 * behind KVM_RUN, if the VMM has given it.
 */
static void take_port(struct hlg_exits_pairing *p, struct hlg_exits_thread *t,
		      const struct hlg_exits_item *item)
{
	uint64_t port = port_of(p, item);
	uint32_t reason = item->kind == HLG_EXITS_PIO ? KVM_EXIT_IO : KVM_EXIT_MMIO;
	struct hlg_exits_turn *turn = open_turn(t);

	if (turn && turn->port == HLG_NO_PORT) {
		turn->port = port;
		if (is_halt(p, port))
			end_call(p, t, turn);
	}
	if (!item->c) {
		if (t->port == HLG_NO_PORT)
			t->port = port;
	} else if (t->user_done && t->user.port == HLG_NO_PORT &&
		   t->user.isa == HLG_ISA_USER && t->user.reason == reason) {
		t->user.port = port;
	}
}

static void take_record(struct hlg_exits_pairing *p, struct hlg_exits_thread *t,
			const struct hlg_exits_item *item)
{
	const struct hlg_exits_turn *turn = open_turn(t);

	/* The host's own time, as behind a Halt. */
	if (item->kind == HLG_EXITS_ENTRY && turn && is_aborted(p, turn, item))
		t->user_done = false;
	if (t->user_done && item->kind != HLG_EXITS_PIO && item->kind != HLG_EXITS_MMIO)
		settle_user(p, t);
	switch (item->kind) {
	case HLG_EXITS_EXIT:
		take_exit(p, t, item);
		break;
	case HLG_EXITS_ENTRY:
		take_entry(p, t, item);
		break;
	case HLG_EXITS_PIO:
	case HLG_EXITS_MMIO:
		take_port(p, t, item);
		break;
	case HLG_EXITS_USER:
		take_user(p, t, item);
		break;
	case HLG_EXITS_RUN:
		take_run(p, t, item);
		break;
	case HLG_EXITS_INSN:
		t->insn = item->a;
		t->has_insn = true;
		break;
	default:
		break;
	}
}

/* A thread that is looked for. */
struct wanted {
	struct hlg_exits_thread *const *threads;
	uint64_t id;
};

static bool is_thread(const void *ctx, uint32_t number)
{
	const struct wanted *w = ctx;

	return w->threads[number]->id == w->id;
}

static struct hlg_exits_thread *add_thread(struct hlg_exits_pairing *p, uint64_t id)
{
	struct hlg_exits_thread *t = NULL;

	if (HLG_GROW(p->threads, p->n_threads))
		t = malloc(sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct hlg_exits_thread){.id = id, .port = HLG_NO_PORT};
	if (!hlg_index_add(&p->of_threads, hlg_hash_word(HLG_HASH_SEED, id),
			   p->n_threads)) {
		free(t);
		return NULL;
	}
	return p->threads[p->n_threads++] = t;
}

/* NULL without memory. */
static __attribute__((noinline)) struct hlg_exits_thread *find_thread(
	struct hlg_exits_pairing *p, uint64_t id)
{
	const struct wanted wanted = {p->threads, id};
	uint32_t number = hlg_index_find(&p->of_threads, hlg_hash_word(HLG_HASH_SEED, id),
					 is_thread, &wanted);
	struct hlg_exits_thread *t =
		number == HLG_INDEX_NONE ? add_thread(p, id) : p->threads[number];

	p->recent[(id >> 32) % HLG_EXITS_RECENT] = t;
	return t;
}

/* Moves an address of the guest to where the ELF of whoever was there lies. */
static __attribute__((noinline)) void move(struct hlg_whose *whose,
					   struct hlg_exits_item *item)
{
	if ((item->kind == HLG_EXITS_EXIT && !(item->c & HLG_EXITS_NO_RIP)) ||
	    (item->kind == HLG_EXITS_ENTRY && item->a) || item->kind == HLG_EXITS_INSN)
		item->a +=
			hlg_whose_move(whose, (int32_t)(item->thread >> 32), item->time);
}

/* A record whose turn it is. */
static bool take(void *ctx, void *at)
{
	struct hlg_exits_pairing *p = ctx;
	struct hlg_exits_item *item = at;
	struct hlg_exits_thread *t = p->recent[(item->thread >> 32) % HLG_EXITS_RECENT];

	if (!t || t->id != item->thread)
		t = find_thread(p, item->thread);
	if (!t)
		return false;
	if (item->time < t->latest) {
		p->sums->lone.late++;
		hlg_exits_lose_at(p, item->time);
		return true;
	}
	t->latest = item->time;
	if (p->sums->whose)
		move(p->sums->whose, item);
	take_record(p, t, item);
	return true;
}

void hlg_exits_begin(struct hlg_exits_pairing *p, struct hlg_exits_sums *sums)
{
	*p = (struct hlg_exits_pairing){.sums = sums, .stop = UINT64_MAX};
	hlg_queue_init(&p->queue, sizeof(struct hlg_exits_item), take, p);
}

/* Remembers when a CPU's buffer was written to last. */
void hlg_exits_add_cpu(struct hlg_exits_pairing *p, uint16_t cpu, uint64_t time)
{
	size_t n = (size_t)cpu + 1;
	uint64_t *more = reallocarray(p->cpus, n, sizeof(*more));

	if (!more) {
		p->sums->no_memory = true;
		return;
	}
	memset(more + p->n_cpus, 0, (n - p->n_cpus) * sizeof(*more));
	p->cpus = more;
	p->n_cpus = n;
	more[cpu] = time;
}

void hlg_exits_lose(struct hlg_exits_pairing *p, uint64_t time, uint16_t cpu)
{
	uint64_t start = p->queue.out; /* what comes yet is no older */

	if (cpu != HLG_ANY_CPU && cpu < p->n_cpus && p->cpus[cpu])
		start = p->cpus[cpu];
	if (!hlg_exits_gap(&p->gaps, start, time, cpu))
		p->sums->no_memory = true;
}

void hlg_exits_lose_at(struct hlg_exits_pairing *p, uint64_t time)
{
	if (time && !hlg_exits_gap(&p->gaps, time - 1, time, HLG_ANY_CPU))
		p->sums->no_memory = true;
}

void hlg_exits_round(struct hlg_exits_pairing *p)
{
	if (!hlg_queue_round(&p->queue))
		p->sums->no_memory = true;
}

/* What is open stays without its other half. */
static void end_thread(struct hlg_exits_pairing *p, struct hlg_exits_thread *t)
{
	settle_user(p, t);
	for (uint32_t i = 0; i < t->n_turns; i++)
		p->sums->lone.exits += t->turns[i].open;
	p->sums->lone.user += t->user_open;
}

void hlg_exits_end(struct hlg_exits_pairing *p)
{
	if (!hlg_queue_end(&p->queue))
		p->sums->no_memory = true;
	for (size_t i = 0; i < p->n_threads; i++)
		end_thread(p, p->threads[i]);
}

void hlg_exits_finish(struct hlg_exits_pairing *p)
{
	for (size_t i = 0; i < p->n_threads; i++) {
		free(p->threads[i]->turns);
		free(p->threads[i]);
	}
	free(p->threads);
	hlg_index_finish(&p->of_threads);
	hlg_index_finish(&p->of_sandboxes);
	free(p->cpus);
	hlg_queue_finish(&p->queue);
	hlg_exits_gaps_finish(&p->gaps);
	*p = (struct hlg_exits_pairing){0};
}
