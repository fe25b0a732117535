/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sampler.bpf.c reads of the kernel: names and types only. Where a member stands is
 * found when it is loaded, from the kernel's own BTF (preserve_access_index). That of
 * vmlinux has KVM's types even where kvm is a module. Linux 5.17 and later.
 */
#ifndef HLG_TOOLS_CALLERS_KERNEL_BPF_H
#define HLG_TOOLS_CALLERS_KERNEL_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

/* linux/preempt.h: KVM alone has one, while a thread is in KVM_RUN or the like. */
struct preempt_notifier {
	struct hlist_node link;
};

/* linux/pid.h: a process has a number in each namespace that it is in, the last in its
 * own. */
struct ns_common {
	unsigned int inum; /* the inode of /proc/PID/ns/pid */
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them */
};

struct task_struct {
	struct hlist_head preempt_notifiers;
	struct task_struct *group_leader;
	struct pid *thread_pid;
};

struct kvm_memory_slot {
	struct rb_node gfn_node[2];
	unsigned long long base_gfn;
	unsigned long npages, userspace_addr;
	unsigned int flags;
};

struct kvm_memslots {
	struct rb_root gfn_tree;
	int node_idx;
};

struct inode {
	unsigned long i_ino;
};

struct dentry {
	struct inode *d_inode;
};

struct kvm {
	struct kvm_memslots *memslots[1]; /* or 2: the second is of SMM */
	struct dentry *debugfs_dentry;    /* no folder without debugfs */
};

struct kvm_mmu {
	unsigned int cpu_role; /* only its address counts */
};

/* arch/x86/include/asm/kvm_host.h: enum kvm_reg numbers the registers. */
struct kvm_vcpu_arch {
	unsigned long regs[17];
	unsigned int regs_avail;
	unsigned long cr0, cr3, cr4;
	unsigned long long efer;
	struct kvm_mmu root_mmu, *walk_mmu;
	unsigned char handling_intr_from_guest; /* enum kvm_intr_type */
};

struct kvm_vcpu_stat {
	unsigned long long exits;
};

struct kvm_vcpu {
	struct kvm *kvm;
	struct preempt_notifier preempt_notifier;
	int vcpu_id;
	struct kvm_vcpu_arch arch;
	struct kvm_vcpu_stat stat;
};

/* linux/perf_event.h */
struct perf_event {
	struct perf_event *parent;
	struct task_struct *owner; /* that opened it; NULL when that has gone */
};

struct perf_sample_data {
	unsigned long long sample_flags; /* PERF_SAMPLE_TIME: time is filled in */
	unsigned long long time;
};

/* What the program's context is before the verifier hides it. */
struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
};

#pragma clang attribute pop

#endif
