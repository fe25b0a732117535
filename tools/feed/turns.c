// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/turns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/profile/index.h"
#include "symtab/grow.h"
#include "tools/feed/queue.h"
#include "tools/perfdata/perfdata.h"

enum {
	KVM_RUN = 0xae80,         /* _IO(KVMIO, 0x80), linux/kvm.h */
	KVM_CREATE_VCPU = 0xae41, /* _IO(KVMIO, 0x41) */
	/* _IOW(KVMIO, 0x46, struct kvm_userspace_memory_region) */
	KVM_SET_USER_MEMORY_REGION = 0x4020ae46,
	/* _IOW(KVMIO, 0x90, struct kvm_cpuid2): of a vCPU */
	KVM_SET_CPUID2 = 0x4008ae90
};

/* From a time on, a thread's samples are of a sandbox. */
struct turn {
	uint64_t time;
	uint32_t sandbox, stretch;
};

struct thread {
	int32_t tid;
	uint32_t sandbox; /* of its last KVM_RUN; 0: there was none */
	uint32_t stretch;
	uint64_t filled; /* when it last gave memory to a machine */
	struct turn *turns;
	uint32_t n;
	uint64_t made; /* vCPUs that it made and did not run so far, */
	uint64_t last; /* when it made the last of all */
	int32_t vm;    /* of that one, */
	bool making;   /* whose own descriptor is not known so far */
};

/* The sandbox that runs by a descriptor. */
struct vcpu {
	int32_t pid, fd;
	uint32_t sandbox, stretch;
	uint64_t born, ran; /* its first and its last KVM_RUN */
	int32_t vm;         /* the machine's descriptor, */
	bool of_vm;         /* if that is known */
	bool filled;        /* its machine was given memory since it ran */
};

struct process {
	int32_t pid;
	uint64_t made, last; /* as of threads */
};

struct hlg_turns {
	struct hlg_sandboxes sandboxes;
	struct thread *threads;
	struct vcpu *vcpus;
	struct process *processes;
	uint32_t n_threads, n_vcpus, n_processes;
	struct hlg_index thread_index, vcpu_index, process_index;
};

/* A record in the order of time. */
struct item {
	uint64_t time;
	int32_t pid, tid, fd;
	uint32_t cmd; /* 0: a sample */
};

struct reader {
	struct hlg_turns *turns;
	struct hlg_queue queue;
	const struct hlg_perfdata *pd;
	const char *path;
	uint64_t ioctl; /* config of the tracepoint */
	bool known, partial, none, lost;
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

/* Is it another vCPU by now? */
static bool is_new(const struct vcpu *vcpu, const struct thread *thread,
		   const struct process *process)
{
	if (vcpu->sandbox == 0 || vcpu->of_vm)
		return vcpu->sandbox == 0;
	if (thread->made)
		return thread->last > vcpu->born;
	return thread->sandbox == 0 && process->made && process->last > vcpu->ran;
}

static bool enter(struct hlg_turns *t, const struct item *item, struct thread *thread,
		  struct process *process)
{
	struct vcpu *vcpu = vcpu_of(t, item->pid, item->fd);

	if (!vcpu)
		return false;
	if (is_new(vcpu, thread, process)) {
		if (!hlg_sandboxes_add(&t->sandboxes, item->pid, item->fd))
			return false;
		vcpu->sandbox = t->sandboxes.n;
		vcpu->stretch = 0;
		vcpu->ran = item->time;
		vcpu->born = item->time;
		vcpu->filled = false;
		process->made -= process->made > 0 && !vcpu->of_vm;
		thread->made -= thread->made > 0 && !vcpu->of_vm;
	}
	if (vcpu->filled || thread->filled > vcpu->ran)
		vcpu->stretch++;
	vcpu->filled = false;
	vcpu->ran = item->time;
	thread->sandbox = vcpu->sandbox;
	thread->stretch = vcpu->stretch;
	return true;
}

/* A call of the vCPU that the thread has just made: its descriptor is known from here on,
 * and from which machine it is. */
static bool name(struct hlg_turns *t, const struct item *item, struct thread *thread,
		 struct process *process)
{
	struct vcpu *vcpu;

	if (!thread->making)
		return true;
	vcpu = vcpu_of(t, item->pid, item->fd);
	if (!vcpu)
		return false;
	vcpu->sandbox = 0;
	vcpu->vm = thread->vm;
	vcpu->of_vm = true;
	thread->making = false;
	process->made -= process->made > 0;
	thread->made -= thread->made > 0;
	return true;
}

/* A machine is given memory. Where its vCPU is not known, it may be any of those that
 * the thread runs. */
static void fill(struct hlg_turns *t, const struct item *item, struct thread *thread)
{
	bool any = false;

	for (uint32_t i = 0; i < t->n_vcpus; i++) {
		struct vcpu *vcpu = &t->vcpus[i];

		if (vcpu->of_vm && vcpu->pid == item->pid && vcpu->vm == item->fd)
			any = vcpu->filled = true;
	}
	if (!any)
		thread->filled = item->time;
}

/* A sample finds its thread so. */
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

/* An item whose turn it is. */
static bool take(void *ctx, void *at)
{
	struct hlg_turns *t = ctx;
	const struct item *item = at;
	struct thread *thread = thread_of(t, item->tid);
	struct process *process = item->cmd ? process_of(t, item->pid) : NULL;

	if (!thread || (item->cmd && !process))
		return false;
	if (item->cmd == KVM_RUN)
		return enter(t, item, thread, process);
	if (item->cmd == 0)
		return see(thread, item->time);
	if (item->cmd == KVM_SET_CPUID2)
		return name(t, item, thread, process);
	if (item->cmd == KVM_SET_USER_MEMORY_REGION) {
		fill(t, item, thread);
		return true;
	}
	thread->making = true;
	thread->vm = item->fd;
	thread->made++;
	process->made++;
	thread->last = process->last = item->time;
	return true;
}

static int on_event(void *ctx, const struct hlg_perfdata_event *event,
		    struct hlg_err *err)
{
	struct reader *r = ctx;

	(void)event;
	for (uint32_t i = 0; !r->known && i < hlg_perfdata_n_events(r->pd); i++) {
		const struct hlg_perfdata_event *one = hlg_perfdata_event(r->pd, i);

		if (strcmp(one->name, "syscalls:sys_enter_ioctl") != 0 ||
		    one->attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		r->known = true;
		r->ioctl = one->attr.config;
		r->partial = one->attr.freq || one->attr.sample_period > 1;
	}
	/* Nobody else sees that error: it is how reading ends here. */
	r->none = !r->known || r->partial;
	return r->none ? hlg_err_set(err, HLG_EINPUT, "%s: no KVM_RUN", r->path) : 0;
}

static int on_round(void *ctx, struct hlg_err *err)
{
	struct reader *r = ctx;

	return hlg_queue_round(&r->queue) ? 0 : hlg_err_memory(err, r->path);
}

/*
 * The system call, from its raw data: a struct syscall_trace_enter
 * (kernel/trace/trace.h), where the arguments stand behind 16 bytes in all 64-bit
 * kernels: fd, cmd. False if it is none that matters.
 */
static bool read_call(const struct hlg_perfdata_raw *raw, struct item *item)
{
	struct hlg_perfdata_bytes data;
	uint64_t fd;

	if (!hlg_perfdata_data(raw, &data) || data.n < 32)
		return false;
	fd = hlg_perfdata_u64(data.at + 16);
	item->cmd = hlg_perfdata_u32(data.at + 24);
	item->fd = (int32_t)fd;
	return (item->cmd == KVM_RUN || item->cmd == KVM_CREATE_VCPU ||
		item->cmd == KVM_SET_USER_MEMORY_REGION || item->cmd == KVM_SET_CPUID2) &&
	       fd <= INT32_MAX;
}

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	const struct perf_event_attr *attr = raw->layout->attr;
	struct hlg_sample s = hlg_perfdata_sample(raw);
	struct item item = {.time = s.time, .pid = s.pid, .tid = s.tid}, *next;
	struct reader *r = ctx;

	if (s.tid < 0 || s.time == HLG_NO_TIME)
		return;
	/* Of others, as KVM's own, nobody asks whose they are. */
	if (attr->type == PERF_TYPE_TRACEPOINT &&
	    (attr->config != r->ioctl || !read_call(raw, &item)))
		return;
	next = hlg_queue_next(&r->queue);
	if (!next) {
		r->lost = true;
		return;
	}
	*next = item;
	hlg_queue_pushed(&r->queue, item.time);
}

static int read_all(struct reader *r, struct hlg_perfdata *pd, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.event = on_event,
						      .round = on_round};
	int rc;

	r->pd = pd;
	if (hlg_perfdata_n_events(pd) && on_event(r, NULL, err) < 0)
		return 0;
	hlg_queue_init(&r->queue, sizeof(struct item), take, r->turns);
	rc = hlg_perfdata_read(pd, on_sample, &sink, r, err);
	if (rc < 0 && r->none)
		rc = 0;
	if (rc == 0 && (!hlg_queue_end(&r->queue) || r->lost))
		rc = hlg_err_memory(err, r->path);
	hlg_queue_finish(&r->queue);
	return rc;
}

bool hlg_turns_is_kept(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

int hlg_turns_read(struct hlg_turns **turns, const char *path, const char **why,
		   struct hlg_err *err)
{
	struct reader r = {.path = path, .turns = calloc(1, sizeof(**turns))};
	struct hlg_perfdata *pd;
	int rc = 0;

	*turns = NULL;
	*why = "is read through a pipe, but must be read twice to tell sandboxes apart "
	       "(save it to a file)";
	if (!r.turns)
		return hlg_err_memory(err, path);
	if (hlg_turns_is_kept(path)) {
		rc = hlg_perfdata_open(&pd, path, err);
		if (rc == 0) {
			rc = read_all(&r, pd, err);
			hlg_perfdata_close(pd);
		}
		*why = r.partial ? "has only some of its KVM_RUNs, as -F was for them, "
				   "too (record with hlguest record --sandboxes)"
				 : "has no KVM_RUN, which tells sandboxes apart (record "
				   "with hlguest record --sandboxes)";
	}
	if (rc == 0 && r.turns->sandboxes.n)
		*turns = r.turns;
	else
		hlg_turns_free(r.turns);
	return rc;
}

void hlg_turns_free(struct hlg_turns *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->n_threads; i++)
		free(t->threads[i].turns);
	free(t->threads);
	free(t->vcpus);
	free(t->processes);
	hlg_index_finish(&t->thread_index);
	hlg_index_finish(&t->vcpu_index);
	hlg_index_finish(&t->process_index);
	hlg_sandboxes_finish(&t->sandboxes);
	free(t);
}

const struct hlg_sandboxes *hlg_turns_sandboxes(const struct hlg_turns *turns)
{
	return &turns->sandboxes;
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
