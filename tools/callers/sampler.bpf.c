// SPDX-License-Identifier: GPL-2.0-only
/*
 * At each overflow of an event that perf samples: is this thread's vCPU in its guest?
 * Then the guest's callers go to the ring, or a copy of its stack. perf's own sample is
 * left as it is.
 *
 * There are two programs, of which one is loaded: for perf's events; or, where these may
 * not be taken from perf, for the kernel's function that asks for a sample's room. All
 * samples of this machine pass by there, so that it has to know those of perf.
 *
 * The kernel asks the same of KVM for the sample's mode and address (perf_guest_state, in
 * arch/x86/kvm/x86.c kvm_guest_state): handling_intr_from_guest is set from the exit that
 * an interrupt made until that was handled.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "tools/callers/kernel.bpf.h"
#include "tools/callers/stack.h"
#include "tools/callers/walk-env.h"

/* enum kvm_reg */
#define RSP 4
#define RBP 5
#define RIP 16

char hlg_callers_license[] SEC("license") = "GPL";

/* Samples without a stack, as the ring was full; read when all is over. */
uint64_t hlg_callers_full = 0;

/* The namespace of process numbers that the session is in: of /proc/self/ns/pid. */
const volatile uint64_t hlg_callers_ns_device = 0, hlg_callers_ns_inode = 0;

/* Its process number there, for hlg_callers_output. */
const volatile uint64_t hlg_callers_perf = 0;

/* Not 0: so many bytes of the stack are copied, and nothing is walked. */
const volatile uint64_t hlg_callers_room = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* set anew when it is loaded */
} hlg_callers_ring SEC(".maps");

struct scratch {
	struct hlg_walk walk;
	struct hlg_callers_stack stack;
};

/* One program at a time runs on a CPU (bpf_prog_active, kernel/events/core.c). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} hlg_callers_scratch SEC(".maps");

/* A value of the kind above has 32 KiB at most. One of each CPU: set when it is loaded.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct hlg_callers_copy);
} hlg_callers_copies SEC(".maps");

#include "tools/callers/walk.c"

/* The vCPU that this thread runs, and whose guest the interrupt has left; or NULL. */
static inline const struct kvm_vcpu *find_vcpu(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const char *link = (const char *)BPF_CORE_READ(task, preempt_notifiers.first);
	const struct kvm_vcpu *vcpu;

	if (!link)
		return NULL;
	vcpu = (const void *)(link - bpf_core_field_offset(struct kvm_vcpu,
							   preempt_notifier.link));
	if (!BPF_CORE_READ(vcpu, arch.handling_intr_from_guest))
		return NULL;
	/* A guest of a guest: its page tables are the guest's own business. */
	if ((const void *)BPF_CORE_READ(vcpu, arch.walk_mmu) !=
	    (const void *)__builtin_preserve_access_index(&vcpu->arch.root_mmu))
		return NULL;
	return vcpu;
}

static inline void begin_walk(struct hlg_walk *walk, const struct kvm_vcpu *vcpu)
{
	const struct kvm_memslots *slots = BPF_CORE_READ(vcpu, kvm, memslots[0]);
	int which = BPF_CORE_READ(slots, node_idx);

	walk->cr0 = BPF_CORE_READ(vcpu, arch.cr0);
	walk->cr3 = BPF_CORE_READ(vcpu, arch.cr3);
	walk->cr4 = BPF_CORE_READ(vcpu, arch.cr4);
	walk->efer = BPF_CORE_READ(vcpu, arch.efer);
	walk->rbp = BPF_CORE_READ(vcpu, arch.regs[RBP]);
	walk->root = (uint64_t)BPF_CORE_READ(slots, gfn_tree.rb_node);
	walk->back = bpf_core_field_offset(struct kvm_memory_slot, gfn_node) +
		     (which & 1) * bpf_core_type_size(struct rb_node);
}

/*
 * The machine's number in debugfs, where each has a folder of its own (mounted or not):
 * the kernel counts them, so that no later one has it. With its address, as that count
 * has 32 bits; without debugfs that alone.
 */
static inline uint64_t name_machine(const struct kvm_vcpu *vcpu)
{
	uint64_t address = (uint64_t)BPF_CORE_READ(vcpu, kvm);
	uint64_t folder = BPF_CORE_READ(vcpu, kvm, debugfs_dentry, d_inode, i_ino);

	return folder ? folder << 32 | (uint32_t)address : address;
}

static inline void identify(struct hlg_callers_stack *stack, const struct kvm_vcpu *vcpu)
{
	struct bpf_pidns_info ids = {0};
	uint64_t both = bpf_get_current_pid_tgid();

	stack->tid = (int32_t)both;
	stack->pid = (int32_t)(both >> 32);
	if (bpf_get_ns_current_pid_tgid(hlg_callers_ns_device, hlg_callers_ns_inode, &ids,
					sizeof(ids)) == 0) {
		stack->tid = (int32_t)ids.pid;
		stack->pid = (int32_t)ids.tgid;
	}
	stack->machine = name_machine(vcpu);
	stack->vcpu = BPF_CORE_READ(vcpu, vcpu_id);
	stack->exits = BPF_CORE_READ(vcpu, stat.exits);
	stack->ip = BPF_CORE_READ(vcpu, arch.regs_avail) & 1u << RIP
			    ? BPF_CORE_READ(vcpu, arch.regs[RIP])
			    : 0;
}

static inline void copy_callers(struct hlg_callers_stack *stack,
				const struct hlg_walk *walk)
{
	uint32_t size = walk->n * 8;

	stack->end = (uint8_t)walk->end;
	stack->n = (uint16_t)walk->n;
	if (size <= sizeof(stack->callers))
		bpf_probe_read_kernel(stack->callers, size, walk->callers);
}

/*
 * When perf takes the sample. From Linux 6.3 on it has, before it asks us; in earlier
 * ones it will do so next.
 */
static inline void stamp(struct hlg_callers_stack *stack, void *context)
{
	const struct bpf_perf_event_data_kern *kernel = context;
	const struct perf_sample_data *data = NULL;
	uint64_t flags = 0;

	stack->time = bpf_ktime_get_ns();
	stack->exact = 0;
	if (!bpf_core_field_exists(struct perf_sample_data, sample_flags))
		return;
	bpf_core_read(&data, sizeof(data), &kernel->data);
	bpf_core_read(&flags, sizeof(flags), &data->sample_flags);
	if (flags & PERF_SAMPLE_TIME) {
		bpf_core_read(&stack->time, sizeof(stack->time), &data->time);
		stack->exact = 1;
	}
}

static inline void hand_over(void *record, uint64_t size)
{
	if (bpf_ringbuf_output(&hlg_callers_ring, record, size, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&hlg_callers_full, 1);
}

static inline void copy_stack(struct scratch *scratch, const struct kvm_vcpu *vcpu)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct hlg_callers_copy *copy = bpf_map_lookup_elem(&hlg_callers_copies, &cpu);
	struct hlg_walk_copy to = {.walk = &scratch->walk};
	uint64_t size;

	if (!copy)
		return;
	to.bytes = copy->bytes;
	BPF_CORE_READ_INTO(&copy->regs, vcpu, arch.regs);
	scratch->walk.rsp = copy->regs[RSP];
	scratch->walk.room = hlg_callers_room;
	scratch->walk.copied = 0;
	scratch->walk.end = HLG_WALK_NO_RSP;
	if (scratch->stack.ip && BPF_CORE_READ(vcpu, arch.regs_avail) & 1u << RSP)
		hlg_walk_stack(&to);
	scratch->stack.end = (uint8_t)scratch->walk.end;
	scratch->stack.n = 0;
	__builtin_memcpy(copy->head, &scratch->stack, sizeof(copy->head));
	copy->from = scratch->walk.from;
	copy->holes = scratch->walk.holes;
	size = scratch->walk.copied;
	copy->size = size;
	if (size <= HLG_WALK_COPY_MAX)
		hand_over(copy, HLG_CALLERS_COPY_SIZE(size));
}

static inline void walk_stack(struct scratch *scratch)
{
	uint64_t size;

	hlg_walk_callers(&scratch->walk);
	copy_callers(&scratch->stack, &scratch->walk);
	size = HLG_CALLERS_STACK_SIZE((uint64_t)scratch->walk.n);
	if (size <= sizeof(scratch->stack))
		hand_over(&scratch->stack, size);
}

static inline void take_stack(struct scratch *scratch, const struct kvm_vcpu *vcpu)
{
	identify(&scratch->stack, vcpu);
	begin_walk(&scratch->walk, vcpu);
	if (hlg_callers_room)
		copy_stack(scratch, vcpu);
	else
		walk_stack(scratch);
}

SEC("perf_event")
int hlg_callers_sample(void *context)
{
	const struct kvm_vcpu *vcpu = find_vcpu();
	struct scratch *scratch;
	uint32_t zero = 0;

	if (!vcpu)
		return 1;
	scratch = bpf_map_lookup_elem(&hlg_callers_scratch, &zero);
	if (!scratch)
		return 1;
	stamp(&scratch->stack, context);
	take_stack(scratch, vcpu);
	return 1;
}

/* Did perf open this event, or the one that a thread made later has it of? */
static inline bool is_of_perf(const struct perf_event *event)
{
	const struct perf_event *opened = event->parent ? event->parent : event;
	const struct pid *pid = BPF_CORE_READ(opened, owner, group_leader, thread_pid);
	const char *numbers =
		(const void *)__builtin_preserve_access_index(&pid->numbers);
	const struct upid *last =
		(const void *)(numbers + BPF_CORE_READ(pid, level) *
						 bpf_core_type_size(struct upid));

	return (uint64_t)BPF_CORE_READ(last, nr) == hlg_callers_perf &&
	       BPF_CORE_READ(last, ns, ns.inum) == hlg_callers_ns_inode;
}

/*
 * Its arguments: a handle, the sample, its event, a size. Nothing else calls it, but for
 * perf record --overwrite there is another (kernel/events/ring_buffer.c). The sample is
 * ready; in core.c, where that is done, nothing can be traced.
 */
SEC("fentry/perf_output_begin_forward")
int hlg_callers_output(const uint64_t *arguments)
{
	const struct perf_sample_data *data = (const void *)arguments[1];
	const struct perf_event *event = (const void *)arguments[2];
	const struct kvm_vcpu *vcpu = find_vcpu();
	struct scratch *scratch;
	uint32_t zero = 0;

	if (!vcpu || !is_of_perf(event))
		return 0;
	scratch = bpf_map_lookup_elem(&hlg_callers_scratch, &zero);
	if (!scratch)
		return 0;
	scratch->stack.time = data->time;
	scratch->stack.exact = 1;
	take_stack(scratch, vcpu);
	return 0;
}
