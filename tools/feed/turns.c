// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/turns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/index.h"
#include "symtab/grow.h"
#include "tools/feed/runs.h"

/* From a time on, a thread's samples are of a sandbox. */
struct turn {
	uint64_t time;
	uint32_t sandbox, stretch;
};

struct thread {
	int32_t tid;
	uint32_t sandbox; /* of its last KVM_RUN; 0: there was none */
	uint32_t stretch;
	uint32_t vcpu;   /* the same */
	uint64_t filled; /* when it last gave memory to a machine that is not known */
	struct turn *turns;
	uint32_t n;
	uint64_t made; /* vCPUs that it made and did not run so far, */
	uint64_t last; /* when it made the last of all, */
	bool making;   /* whose own descriptor is not known so far */
};

/* What runs by a descriptor. */
struct vcpu {
	int32_t pid, fd;
	bool known; /* it ran */
	bool named; /* which machine's it is was told, not chosen */
	uint32_t machine;
	uint64_t born, ran; /* its first and its last KVM_RUN */
	struct hlg_runs run;
};

/* A virtual machine: a sandbox once one of its vCPUs has run. */
struct machine {
	int32_t fd;       /* -1: it was made before the recording */
	uint64_t ids;     /* of the vCPUs that were made: bits, of the first 64 */
	uint32_t sandbox; /* 0: none ran */
	uint32_t stretch;
	uint64_t ran, filled; /* its last KVM_RUN; when it last was given memory */
};

/* The machine that a descriptor is now. */
struct vm {
	int32_t pid, fd;
	uint32_t machine;
};

/* A vCPU that was made and did not run so far. Each that runs is looked for among all of
 * its process, of which there are at most MADE: then the oldest is forgotten. */
enum {
	MADE = 4096
};

struct made {
	int32_t tid;
	uint32_t machine;
};

struct process {
	int32_t pid;
	struct made *made;
	uint32_t n_made;
	uint64_t last; /* as of threads */
};

struct hlg_turns {
	bool each_run;
	struct hlg_sandboxes sandboxes; /* counts are zero, as others see them; and */
	struct hlg_sandbox *uses;       /* what KVM's tracepoints told of each */
	uint32_t n_uses;
	struct thread *threads;
	struct vcpu *vcpus;
	struct process *processes;
	struct machine *machines;
	struct vm *vms;
	uint32_t n_threads, n_vcpus, n_processes, n_machines, n_vms;
	struct hlg_index thread_index, vcpu_index, process_index, vm_index;
};

struct search {
	const struct hlg_turns *t;
	int32_t a, b;
};

static bool same_thread(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;

	return search->t->threads[i].tid == search->a;
}

static bool same_vcpu(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;
	const struct vcpu *vcpu = &search->t->vcpus[i];

	return vcpu->pid == search->a && vcpu->fd == search->b;
}

static bool same_process(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;

	return search->t->processes[i].pid == search->a;
}

static bool same_vm(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;
	const struct vm *vm = &search->t->vms[i];

	return vm->pid == search->a && vm->fd == search->b;
}

static uint64_t hash_of(int32_t a, int32_t b)
{
	return hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, (uint32_t)a), (uint32_t)b);
}

/* One that is known, else a new one; NULL without memory. */
static struct thread *thread_of(struct hlg_turns *t, int32_t tid)
{
	const struct search search = {t, tid, 0};
	uint64_t hash = hash_of(tid, 0);
	uint32_t i = hlg_index_find(&t->thread_index, hash, same_thread, &search);

	if (i != HLG_INDEX_NONE)
		return &t->threads[i];
	if (!HLG_GROW(t->threads, t->n_threads) ||
	    !hlg_index_add(&t->thread_index, hash, t->n_threads))
		return NULL;
	t->threads[t->n_threads] = (struct thread){.tid = tid};
	return &t->threads[t->n_threads++];
}

static struct vcpu *vcpu_of(struct hlg_turns *t, int32_t pid, int32_t fd)
{
	const struct search search = {t, pid, fd};
	uint64_t hash = hash_of(pid, fd);
	uint32_t i = hlg_index_find(&t->vcpu_index, hash, same_vcpu, &search);

	if (i != HLG_INDEX_NONE)
		return &t->vcpus[i];
	if (!HLG_GROW(t->vcpus, t->n_vcpus) ||
	    !hlg_index_add(&t->vcpu_index, hash, t->n_vcpus))
		return NULL;
	t->vcpus[t->n_vcpus] = (struct vcpu){.pid = pid, .fd = fd};
	return &t->vcpus[t->n_vcpus++];
}

static struct process *process_of(struct hlg_turns *t, int32_t pid)
{
	const struct search search = {t, pid, 0};
	uint64_t hash = hash_of(pid, 0);
	uint32_t i = hlg_index_find(&t->process_index, hash, same_process, &search);

	if (i != HLG_INDEX_NONE)
		return &t->processes[i];
	if (!HLG_GROW(t->processes, t->n_processes) ||
	    !hlg_index_add(&t->process_index, hash, t->n_processes))
		return NULL;
	t->processes[t->n_processes] = (struct process){.pid = pid};
	return &t->processes[t->n_processes++];
}

/* NULL if no machine of that descriptor was seen. */
static struct vm *find_vm(struct hlg_turns *t, int32_t pid, int32_t fd)
{
	const struct search search = {t, pid, fd};
	uint32_t i = hlg_index_find(&t->vm_index, hash_of(pid, fd), same_vm, &search);

	return i == HLG_INDEX_NONE ? NULL : &t->vms[i];
}

/* A new one; its number, UINT32_MAX without memory. */
static uint32_t add_machine(struct hlg_turns *t, int32_t fd)
{
	if (!HLG_GROW(t->machines, t->n_machines))
		return UINT32_MAX;
	t->machines[t->n_machines] = (struct machine){.fd = fd};
	return t->n_machines++;
}

/*
 * The machine that a vCPU is made of: another one than that of the same descriptor before
 * if it has a vCPU of this number already. UINT32_MAX without memory.
 */
static uint32_t machine_for(struct hlg_turns *t, const struct hlg_turns_item *item)
{
	uint64_t id = item->value < 64 ? UINT64_C(1) << item->value : 0;
	struct vm *vm = find_vm(t, item->pid, item->fd);
	uint32_t machine;

	if (vm && !(t->machines[vm->machine].ids & id)) {
		t->machines[vm->machine].ids |= id;
		return vm->machine;
	}
	machine = add_machine(t, item->fd);
	if (machine == UINT32_MAX)
		return machine;
	if (!vm) {
		if (!HLG_GROW(t->vms, t->n_vms) ||
		    !hlg_index_add(&t->vm_index, hash_of(item->pid, item->fd), t->n_vms))
			return UINT32_MAX;
		vm = &t->vms[t->n_vms++];
	}
	*vm = (struct vm){item->pid, item->fd, machine};
	t->machines[machine].ids = id;
	return machine;
}

/* One of those that were made is none of them any more. */
static void drop_made(struct hlg_turns *t, struct process *process, struct made *made)
{
	struct thread *maker = thread_of(t, made->tid);
	size_t behind = (size_t)(process->made + process->n_made - (made + 1));

	if (maker)
		maker->made--;
	memmove(made, made + 1, behind * sizeof(*made));
	process->n_made--;
}

static bool make(struct hlg_turns *t, const struct hlg_turns_item *item,
		 struct thread *thread, struct process *process)
{
	uint32_t machine = machine_for(t, item);

	if (process->n_made == MADE)
		drop_made(t, process, process->made);
	if (machine == UINT32_MAX || !HLG_GROW(process->made, process->n_made))
		return false;
	process->made[process->n_made++] = (struct made){item->tid, machine};
	thread->made++;
	thread->making = true;
	thread->last = process->last = item->time;
	return true;
}

/* One that was made belongs to a descriptor. */
static void take_made(struct hlg_turns *t, struct process *process, struct made *made,
		      struct vcpu *vcpu)
{
	vcpu->machine = made->machine;
	drop_made(t, process, made);
}

/* The first call of the vCPU that the thread has just made has its descriptor. */
static bool name(struct hlg_turns *t, const struct hlg_turns_item *item,
		 struct thread *thread, struct process *process)
{
	struct vcpu *vcpu = thread->making ? vcpu_of(t, item->pid, item->fd) : NULL;
	uint32_t i = process->n_made;

	if (!thread->making)
		return true;
	thread->making = false;
	while (i && process->made[i - 1].tid != thread->tid)
		i--;
	if (!vcpu || i == 0)
		return vcpu;
	take_made(t, process, &process->made[i - 1], vcpu);
	vcpu->known = false;
	vcpu->named = true;
	return true;
}

/* Who gets memory is known where a vCPU of it was made. */
static void fill(struct hlg_turns *t, const struct hlg_turns_item *item,
		 struct thread *thread)
{
	const struct vm *vm = find_vm(t, item->pid, item->fd);

	if (vm)
		t->machines[vm->machine].filled = item->time;
	else
		thread->filled = item->time;
}

/* Can it be another vCPU by now? */
static bool may_be_new(const struct vcpu *vcpu, const struct thread *thread,
		       const struct process *process)
{
	if (vcpu->named)
		return false;
	if (thread->made)
		return thread->last > vcpu->born;
	return thread->sandbox == 0 && process->n_made && process->last > vcpu->ran;
}

/*
 * Which of those that were made it is, not one of the machine that it is so far: one that
 * its thread made, if there is any. A machine's descriptor is as a rule older, so
 * smaller, than those of its vCPUs, and that of the next machine larger. NULL: none.
 */
static struct made *choose(const struct hlg_turns *t, const struct vcpu *vcpu,
			   const struct thread *thread, const struct process *process)
{
	struct made *best = NULL;
	int32_t best_fd = 0;

	for (uint32_t i = 0; i < process->n_made; i++) {
		struct made *made = &process->made[i];
		int32_t fd = t->machines[made->machine].fd;

		if ((thread->made && made->tid != thread->tid) ||
		    (vcpu->known && made->machine == vcpu->machine))
			continue;
		if (best && (fd > vcpu->fd || (best_fd < vcpu->fd && best_fd >= fd)))
			continue;
		best = made;
		best_fd = fd;
	}
	return best;
}

/* A sandbox begins with the first KVM_RUN of its machine. */
static bool add_sandbox(struct hlg_turns *t, const struct hlg_turns_item *item,
			struct machine *machine)
{
	if (machine->sandbox)
		t->sandboxes.at[machine->sandbox - 1].vcpus++;
	if (machine->sandbox)
		return true;
	if (!HLG_GROW(t->uses, t->n_uses) ||
	    !hlg_sandboxes_add(&t->sandboxes, item->pid, item->fd))
		return false;
	t->uses[t->n_uses++] = (struct hlg_sandbox){0};
	machine->sandbox = t->sandboxes.n;
	machine->ran = item->time;
	return true;
}

/* made: which one it is; NULL: one that is named, or was made before the recording. */
static bool begin(struct hlg_turns *t, const struct hlg_turns_item *item,
		  struct vcpu *vcpu, struct process *process, struct made *made)
{
	if (made) {
		take_made(t, process, made, vcpu);
	} else if (!vcpu->named) {
		vcpu->machine = add_machine(t, -1);
		if (vcpu->machine == UINT32_MAX)
			return false;
	}
	vcpu->known = true;
	vcpu->born = item->time;
	vcpu->run = (struct hlg_runs){0};
	return add_sandbox(t, item, &t->machines[vcpu->machine]);
}

static bool enter(struct hlg_turns *t, const struct hlg_turns_item *item,
		  struct thread *thread, struct process *process)
{
	struct vcpu *vcpu = vcpu_of(t, item->pid, item->fd);
	struct machine *machine;

	if (!vcpu)
		return false;
	if (!vcpu->known || may_be_new(vcpu, thread, process)) {
		struct made *made = vcpu->named ? NULL : choose(t, vcpu, thread, process);

		if ((made || !vcpu->known) && !begin(t, item, vcpu, process, made))
			return false;
	}
	machine = &t->machines[vcpu->machine];
	if (machine->filled > machine->ran ||
	    (machine->fd < 0 && thread->filled > machine->ran))
		machine->stretch++; /* of those not known, any may be the one */
	machine->ran = item->time;
	vcpu->ran = item->time;
	thread->vcpu = (uint32_t)(vcpu - t->vcpus);
	thread->sandbox = machine->sandbox;
	thread->stretch = machine->stretch;
	return true;
}

/* A sample, or what is told as one, finds its thread so. */
static bool see(struct thread *thread, uint64_t time)
{
	const struct turn now = {time, thread->sandbox, thread->stretch}, *last;

	last = thread->turns ? &thread->turns[thread->n - 1] : NULL;
	if (now.sandbox == 0 ||
	    (last && last->sandbox == now.sandbox && last->stretch == now.stretch))
		return true;
	if (!HLG_GROW(thread->turns, thread->n))
		return false;
	assert(thread->turns);
	thread->turns[thread->n++] = now;
	return true;
}

/* KVM tells of the vCPU that a thread runs. */
static void use(struct hlg_turns *t, const struct hlg_turns_item *item,
		const struct thread *thread)
{
	struct hlg_sandbox *of;
	struct vcpu *vcpu;

	if (thread->sandbox == 0)
		return;
	vcpu = &t->vcpus[thread->vcpu];
	of = &t->uses[thread->sandbox - 1];
	if (item->cmd == HLG_TURNS_EXIT)
		hlg_runs_leave(&vcpu->run, &of->ports, item->time);
	else if (item->cmd == HLG_TURNS_OUT)
		hlg_runs_out(&vcpu->run, &of->ports, item->value);
	else
		hlg_runs_enter(&vcpu->run, &of->ports, item->time);
	if (item->cmd == HLG_TURNS_ENTRY && of->n_entered == 0) {
		of->entered = item->value;
		of->n_entered = 1;
	}
}

static bool is_use(const struct hlg_turns_item *item)
{
	return item->cmd == HLG_TURNS_EXIT || item->cmd == HLG_TURNS_ENTRY ||
	       item->cmd == HLG_TURNS_OUT;
}

/* An item whose turn it is. */
bool hlg_turns_take(void *ctx, void *at)
{
	struct hlg_turns *t = ctx;
	const struct hlg_turns_item *item = at;
	struct thread *thread = thread_of(t, item->tid);
	struct process *process;

	if (!thread)
		return false;
	if (item->cmd == HLG_TURNS_SAMPLE)
		return see(thread, item->time);
	if (is_use(item)) {
		use(t, item, thread);
		return item->cmd != HLG_TURNS_ENTRY || see(thread, item->time);
	}
	process = process_of(t, item->pid);
	if (!process)
		return false;
	if (item->cmd == HLG_TURNS_RUN)
		return enter(t, item, thread, process) &&
		       (!t->each_run || see(thread, item->time));
	if (item->cmd == HLG_TURNS_CREATE_VCPU)
		return make(t, item, thread, process);
	if (item->cmd == HLG_TURNS_SET_CPUID2 || item->cmd == HLG_TURNS_ARM_VCPU_INIT)
		return name(t, item, thread, process);
	fill(t, item, thread);
	return true;
}

struct hlg_turns *hlg_turns_make(bool each_run)
{
	struct hlg_turns *t = calloc(1, sizeof(*t));

	if (t)
		t->each_run = each_run;
	return t;
}

void hlg_turns_free(struct hlg_turns *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->n_threads; i++)
		free(t->threads[i].turns);
	free(t->threads);
	free(t->vcpus);
	for (uint32_t i = 0; i < t->n_processes; i++)
		free(t->processes[i].made);
	free(t->processes);
	free(t->machines);
	free(t->vms);
	hlg_index_finish(&t->vm_index);
	hlg_index_finish(&t->thread_index);
	hlg_index_finish(&t->vcpu_index);
	hlg_index_finish(&t->process_index);
	hlg_sandboxes_finish(&t->sandboxes);
	free(t->uses);
	free(t);
}

const struct hlg_sandboxes *hlg_turns_sandboxes(const struct hlg_turns *turns)
{
	return &turns->sandboxes;
}

void hlg_turns_use(const struct hlg_turns *t, bool whole, struct hlg_profile *profile)
{
	for (uint32_t i = 0; t && i < t->n_uses; i++) {
		struct hlg_sandbox of = t->uses[i];

		if (!whole)
			of.ports = (struct hlg_ports){.calls = of.ports.calls,
						      .halts = of.ports.halts,
						      .notifies = of.ports.notifies};
		if (i < profile->sandboxes.n)
			hlg_sandboxes_use(&profile->sandboxes.at[i], &of);
		/* These the feed counts, also where there is no KVM_RUN. */
		of.ports.calls = of.ports.halts = of.ports.notifies = 0;
		hlg_ports_add(&profile->transits.ports, &of.ports);
	}
}

void hlg_turns_tell(const struct hlg_turns *t, struct hlg_sample *sample)
{
	const struct search search = {t, sample->tid, 0};
	const struct thread *thread;
	uint32_t i, from = 0, to;

	sample->sandbox = sample->stretch = 0;
	if (!t || sample->time == HLG_NO_TIME)
		return;
	i = hlg_index_find(&t->thread_index, hash_of(sample->tid, 0), same_thread,
			   &search);
	if (i == HLG_INDEX_NONE)
		return;
	thread = &t->threads[i];
	/* The first turn behind the time; the one before it is asked for. */
	for (to = thread->n; from < to;) {
		uint32_t mid = from + (to - from) / 2;

		if (thread->turns[mid].time <= sample->time)
			from = mid + 1;
		else
			to = mid;
	}
	if (!from)
		return;
	sample->sandbox = thread->turns[from - 1].sandbox;
	sample->stretch = thread->turns[from - 1].stretch;
}
