/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks, for stacks=callgraph: how the host came to where its sample lies, and into the
 * guest whose sample it is.
 *
 * A guest sample has no callchain of the host. But its thread entered the guest by
 * KVM_RUN, and where that call was recorded (a mark), its callchain is the host's half of
 * the stack, until the next mark of that thread. A guest sample of a thread without a
 * mark is an orphan. Samples have to come in the order of time, marks among them.
 *
 * Halves are kept as frames in a tree, named when they are met: what is mapped at an
 * address changes. Naming is the feed's; each chain of a process is named once. What lies
 * in the guest is kept by address, since its base may be known at the end only.
 *
 * Memory grows with distinct stacks. Without any the profile still counts a sample, and
 * its stack is missing here: see callgraph.h.
 */
#ifndef HLG_FILTER_STACKS_STACKS_H
#define HLG_FILTER_STACKS_STACKS_H

#include "filter/profile/slices.h"
#include "filter/stacks/chains.h"
#include "filter/stacks/tree.h"

/* What stands where there is no host half; the first two only where others have one. */
#define HLG_STACKS_ORPHAN "[no KVM_RUN stack]" /* no mark of the thread was seen */
#define HLG_STACKS_BARE   "[no callchain]"   /* the mark has none: recorded without -g */
#define HLG_STACKS_LOST   "[stack not kept]" /* for want of memory; saved without */

/* What the samples of an event mark. */
enum hlg_kvm_mark {
	HLG_MARK_NONE,
	HLG_MARK_IOCTL, /* syscalls:sys_enter_ioctl: hlg_stacks_is_run tells which */
	HLG_MARK_ENTRY, /* kvm:kvm_entry: each, of a thread without the former */
	HLG_MARK_OTHER  /* other tracepoints, KVM's too: none, nor are they host's time */
};

/* Old perfs and saved profiles tell no kind: KVM's events go by their names. */
enum hlg_kvm_mark hlg_stacks_event(const char *event, enum hlg_event_kind kind);

/*
 * Does a sample of such an event enter a guest? raw is its data, size bytes; of
 * sys_enter_ioctl a struct syscall_trace_enter (kernel/trace/trace.h), in which the
 * second argument, cmd, stands at byte 24 in all 64-bit kernels; KVM_RUN is _IO(0xae,
 * 0x80).
 */
bool hlg_stacks_is_run(enum hlg_kvm_mark mark, const void *raw, uint64_t size);

/* One name of a host frame; text is copied. */
struct hlg_host_frame {
	enum hlg_frame frame; /* HLG_FRAME_HOST_USER, HLG_FRAME_HOST_KERNEL */
	const char *name; /* of the function; of what is mapped, "[libc.so.6]", if that is
			     all that is known; "[unknown]" */
};

/*
 * What a host frame is called where only what is mapped there is known: "[libc.so.6]" of
 * "/usr/lib/libc.so.6", "[kernel]" of perf's "[kernel.kallsyms]", other names in brackets
 * as they are, "[unknown]" of NULL. Written to buf, size bytes, cut if it is too long;
 * returns buf.
 */
const char *hlg_stacks_dso_name(char *buf, size_t size, const char *dso);

/* The feed's: names ip as perf's callchains do, cpumode being that of its context. */
typedef void hlg_stacks_name_fn(void *ctx, uint64_t ip, unsigned cpumode,
				struct hlg_host_frame *frame);

/* Whose sample it is, and its own callchain. */
struct hlg_stacks_sample {
	int32_t pid, tid;
	uint64_t time;     /* HLG_NO_TIME */
	const char *comm;  /* NULL: not known */
	uint32_t chain;    /* of hlg_chains_add(&stacks->chains, ...) */
	uint32_t mappings; /* another number where addresses may mean something else */
	uint64_t ip;       /* of a host sample without a callchain */
	uint8_t cpumode;   /* and so */
	bool entry;        /* a kvm_entry enters */
	hlg_stacks_name_fn *name;
	void *ctx; /* for name */
};

/* A stack and what it counts. */
struct hlg_stack {
	uint32_t series;
	uint32_t node;  /* in tree: of the host */
	uint32_t chain; /* of guest callers, without the ip itself; may be lost */
	bool guest;     /* else the stack ends with node */
	uint8_t end;    /* enum hlg_chain_end: of the chain */
	uint8_t way;    /* enum hlg_chain_way: how the chain was found */
	uint64_t ip;    /* guest's */
	struct hlg_count count;
};

enum {
	HLG_STACKS_RECENT = 64
};

/* What was found of a thread that was met lately. */
struct hlg_stacks_recent {
	int32_t tid;
	uint32_t comm;   /* in the tree's names; 0: nothing yet */
	uint32_t orphan; /* its node; 0: not yet */
};

struct hlg_stacks {
	unsigned roots; /* HLG_ROOT_ bits */
	bool guests;    /* what is compared has no host halves: they are not shown */
	struct hlg_chains chains;
	struct hlg_tree tree; /* groups at the bottom, then host frames */
	struct hlg_stack *stacks;
	uint32_t n_stacks;
	bool timed;                    /* slices are wanted: options->slices */
	struct hlg_slices slices;      /* when; a series is the number of a stack */
	struct hlg_stacks_memo *memos; /* chains that were named */
	uint32_t n_memos;
	struct hlg_stacks_thread *threads; /* the last mark of each */
	uint32_t n_threads;
	struct hlg_stacks_recent recent[HLG_STACKS_RECENT];
	struct hlg_stacks_last *by_chain; /* of each chain */
	uint32_t n_by_chain;
	struct hlg_index stack_index, memo_index, thread_index;
	uint64_t marks;         /* KVM_RUNs seen, whatever is selected */
	struct hlg_count aside; /* of the profile's host samples: those of mark events */
	struct hlg_count lost;  /* of the host samples: there was no memory for a stack */
	bool lacks;             /* of any sample: there was no memory for its stack */
};

/* *stacks is all zero before; false without memory. Finish it in any case. */
bool hlg_stacks_init(struct hlg_stacks *stacks, const struct hlg_options *options);
void hlg_stacks_finish(struct hlg_stacks *stacks);

/* The thread has entered the guest. Once a thread's KVM_RUN was seen, its kvm_entries are
 * ignored: they say the same, mostly without a callchain. */
void hlg_stacks_enter(struct hlg_stacks *stacks, const struct hlg_stacks_sample *sample);

/* Guest and host samples that the profile has counted in a series. sample->comm and
 * name of a guest sample are asked for only where hlg_stacks_knows says no. */
void hlg_stacks_guest(struct hlg_stacks *stacks, const struct hlg_stacks_sample *sample,
		      uint32_t series, uint64_t period);
void hlg_stacks_host(struct hlg_stacks *stacks, const struct hlg_stacks_sample *sample,
		     uint32_t series, uint64_t period);

/* The callers inside the guest, into a stack whose ip is known: what stands behind the
 * guest's markers of a chain of stacks->chains, but for the ip itself. */
void hlg_stacks_callers(struct hlg_stacks *stacks, struct hlg_stack *stack,
			uint32_t chain);

/* Counts what is in a stack: of a series of the profile, its node and chain these
 * stacks' own. What a node or chain could not be made for is lost: HLG_NO_STACK; else
 * returns the stack's number. */
#define HLG_NO_STACK UINT32_MAX
uint32_t hlg_stacks_add(struct hlg_stacks *stacks, const struct hlg_stack *stack);

/* Is the host's half known of any guest sample? */
bool hlg_stacks_have_halves(const struct hlg_stacks *stacks);

/* Was there a mark of this thread? */
bool hlg_stacks_knows(const struct hlg_stacks *stacks, int32_t pid, int32_t tid);

/* Adds what from counted; the series are those of their profiles. */
void hlg_stacks_merge(struct hlg_stacks *to, const struct hlg_stacks *from,
		      struct hlg_profile *profile,
		      const struct hlg_profile *from_profile);

#endif
