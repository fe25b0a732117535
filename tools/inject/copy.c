// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/options.h"
#include "filter/profile/sample.h"
#include "symtab/escape.h"
#include "tools/cli/signals.h"
#include "tools/perfdata/sum.h"
#include "tools/perfdata/writer.h"

#define MOST_OFFSET 1000000000

int32_t hlg_copy_offset(int32_t highest)
{
	int32_t offset = HLG_SAMPLE_INJECTED;

	/* One below the next offset is that of -1. */
	while (highest >= offset - 1) {
		if (offset == MOST_OFFSET)
			return 0;
		offset *= 10;
	}
	return offset;
}

/* The new record as it grows, and what of the old one is used up. */
struct edit {
	uint8_t *to;
	size_t n;
	const uint8_t *from;
	size_t used;
};

static void put_u64(struct edit *e, uint64_t value)
{
	memcpy(e->to + e->n, &value, sizeof(value));
	e->n += sizeof(value);
}

/* Takes over what stands before `at` of the old record. */
static void keep_up_to(struct edit *e, const uint8_t *at)
{
	size_t n = (size_t)(at - (e->from + e->used));

	memcpy(e->to + e->n, e->from + e->used, n);
	e->n += n;
	e->used += n;
}

static bool is_marker(uint64_t value)
{
	return value >= (uint64_t)PERF_CONTEXT_MAX;
}

static bool is_guests(uint64_t value)
{
	return value == (uint64_t)PERF_CONTEXT_GUEST_KERNEL ||
	       value == (uint64_t)PERF_CONTEXT_GUEST_USER;
}

/* Only markers: the address itself, and as many markers as it takes to keep the size. */
static void put_address(struct edit *e, uint64_t n, uint64_t ip)
{
	put_u64(e, n < 2 ? 2 : n);
	put_u64(e, (uint64_t)PERF_CONTEXT_USER);
	put_u64(e, ip);
	for (uint64_t i = 2; i < n; i++)
		put_u64(e, (uint64_t)PERF_CONTEXT_USER);
}

/* Words of a chain without the end that perf would look for under the thread's old number
 * (hlg_chains_is_deferred): what was to come there is the VMM's. */
static uint64_t own_words(const struct hlg_perfdata_bytes *chain)
{
	uint64_t cookie;

	return chain->n - (hlg_chains_is_deferred(chain->at, chain->n, &cookie) ? 2 : 0);
}

/* A tail (filter/stacks/chains.h) has no frames. */
static void put_frames(struct edit *e, const struct hlg_perfdata_bytes *chain)
{
	bool tail = false;

	put_u64(e, chain->n);
	for (uint64_t i = 0; i < chain->n; i++) {
		uint64_t frame = hlg_perfdata_u64(chain->at + 8 * i);

		tail |= frame == (uint64_t)PERF_CONTEXT_GUEST;
		put_u64(e,
			tail || is_guests(frame) ? (uint64_t)PERF_CONTEXT_USER : frame);
	}
}

/* Callers that have an address; those that words stand for are nothing to perf. */
static size_t add_callers(uint64_t *words, size_t n, const struct hlg_caller *callers,
			  size_t n_callers)
{
	for (size_t i = 0; i < n_callers && n < 2 * HLG_CHAIN_MAX; i++)
		if (callers[i].kind == HLG_CALLER_RECORDED ||
		    callers[i].kind == HLG_CALLER_INSERTED)
			words[n++] = callers[i].ip;
	return n;
}

/* What the chain becomes: the host's part as it is, and the guest's as the report has it;
 * 0 words if it has none. */
static size_t mend(struct hlg_copy_callers *c, const struct hlg_perfdata_bytes *chain,
		   uint64_t ip)
{
	struct hlg_stack stack = {.guest = true, .ip = ip};
	struct hlg_caller_sums sums = {0};
	const struct hlg_caller *callers;
	size_t n = 0, n_callers;
	uint32_t number;

	if (!c || chain->n > HLG_CHAIN_MAX)
		return 0;
	memcpy(c->words, chain->at, chain->n * sizeof(*c->words));
	while (n < chain->n && !is_guests(c->words[n]))
		n++;
	if (n == chain->n)
		return 0;
	number = hlg_chains_add(&c->stacks->chains, c->words, chain->n);
	hlg_stacks_callers(c->stacks, &stack, number);
	if (number == HLG_LOST_CHAIN || stack.chain == HLG_LOST_CHAIN ||
	    !hlg_proof_find(c->proof, &stack, &callers, &n_callers, &sums)) {
		c->failed = true;
		return 0;
	}
	c->words[n++] = (uint64_t)PERF_CONTEXT_USER;
	c->words[n++] = ip;
	return add_callers(c->words, n, callers, n_callers);
}

/* room: how many bytes the record may grow by. */
static void edit_chain(struct edit *e, const struct hlg_perfdata_bytes *recorded,
		       uint64_t ip, size_t room, struct hlg_copy_callers *callers)
{
	const struct hlg_perfdata_bytes own = {recorded->at, own_words(recorded)};
	const struct hlg_perfdata_bytes *chain = &own;
	bool only_markers = true;
	size_t n;

	for (uint64_t i = 0; i < chain->n; i++)
		only_markers &= is_marker(hlg_perfdata_u64(chain->at + 8 * i));
	if (only_markers && recorded->n < 2 && room < 16)
		return;
	keep_up_to(e, chain->at - 8);
	e->used += 8 * (1 + recorded->n);
	n = only_markers ? 0 : mend(callers, chain, ip);
	if (only_markers) {
		put_address(e, chain->n, ip);
	} else if (n && 8 * n <= 8 * recorded->n + room) {
		put_u64(e, n);
		for (size_t i = 0; i < n; i++)
			put_u64(e, callers->words[i]);
	} else {
		put_frames(e, chain);
	}
}

/* Registers are behind their ABI, of which 0 says that there are none. */
static void drop_regs(struct edit *e, const struct hlg_perfdata_bytes *regs)
{
	keep_up_to(e, regs->at - 8);
	put_u64(e, PERF_SAMPLE_REGS_ABI_NONE);
	e->used += 8 * (1 + regs->n);
}

/* The stack is behind its size, and how much of it is filled is behind the stack. */
static void drop_stack(struct edit *e, const struct hlg_perfdata_bytes *stack)
{
	uint64_t room = hlg_perfdata_u64(stack->at - 8);

	keep_up_to(e, stack->at - 8);
	put_u64(e, 0);
	e->used += 8 + room + 8;
}

static void edit_fields(struct edit *e, const struct hlg_perfdata_layout *layout,
			uint16_t size, struct hlg_copy_callers *callers)
{
	const uint64_t unwinds = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	uint64_t type = layout->attr->sample_type;
	struct hlg_perfdata_fields fields;

	if (!(type & PERF_SAMPLE_CALLCHAIN) && (type & unwinds) != unwinds)
		return;
	/* What makes no sense to us, perf will not show either: it stays. */
	hlg_perfdata_decode(&fields, layout->attr, e->from, size);
	if (fields.has & PERF_SAMPLE_CALLCHAIN)
		edit_chain(e, &fields.callchain,
			   layout->ip ? hlg_perfdata_u64(e->from + layout->ip) : 0,
			   UINT16_MAX - size, callers);
	if ((fields.has & unwinds) != unwinds)
		return;
	if (fields.user_regs.at)
		drop_regs(e, &fields.user_regs);
	if (fields.user_stack.at)
		drop_stack(e, &fields.user_stack);
}

size_t hlg_copy_sample(uint8_t to[static HLG_COPY_MAX], const uint8_t *record,
		       uint16_t size, const struct hlg_perfdata_layout *layout,
		       int32_t offset, struct hlg_copy_callers *callers)
{
	struct edit e = {.to = to, .from = record};
	struct perf_event_header header;
	int32_t ids[2];

	edit_fields(&e, layout, size, callers);
	keep_up_to(&e, record + size);
	memcpy(&header, to, sizeof(header));
	header.misc = (uint16_t)((header.misc & ~PERF_RECORD_MISC_CPUMODE_MASK) |
				 PERF_RECORD_MISC_USER);
	header.size = (uint16_t)e.n;
	memcpy(to, &header, sizeof(header));
	memcpy(ids, to + layout->tid, sizeof(ids));
	ids[0] = hlg_copy_id(offset, ids[0]);
	ids[1] = hlg_copy_id(offset, ids[1]);
	memcpy(to + layout->tid, ids, sizeof(ids));
	return e.n;
}

/* "guest:VMM", or "guest:PID": what a VMM's new process is called. To be freed. */
static char *make_name(const struct hlg_scan *scan, int32_t pid)
{
	const char *comm = hlg_scan_comm(scan, pid);
	char safe[4 * HLG_SCAN_COMM]; /* perf shows all bytes */
	char *name;
	int n;

	hlg_escape(safe, sizeof(safe), comm);
	n = comm[0] ? asprintf(&name, "guest:%s", safe)
		    : asprintf(&name, "guest:%" PRId32, pid);
	return n < 0 ? NULL : name;
}

static void add_record(struct hlg_copy *copy, const uint8_t *record, size_t size)
{
	hlg_writer_put(copy->writer, record, size);
	copy->counts.added++;
}

static void add_mapping(struct hlg_copy *copy, const struct hlg_mapping *mapping,
			size_t trailer)
{
	const struct hlg_load *load =
		&copy->space->images[mapping->image]->elf.loads[mapping->load];
	const struct hlg_files_image *file = &copy->files->images[mapping->image];
	const struct hlg_build_id *id =
		file->companion ? &file->companion_id : &file->elf_id;
	uint8_t record[HLG_WRITER_RECORD_MAX];
	struct hlg_writer_map map = {
		.pid = hlg_copy_id(copy->offset, mapping->pid),
		.start = load->addr + mapping->bias,
		.size = load->end - load->addr,
		.file_offset = load->offset,
		.exec = load->exec,
		.path = file->companion ? file->companion : file->elf,
		.build_id = id->size ? id->bytes : NULL,
		.build_id_size = id->size,
	};

	add_record(copy, record, hlg_writer_mmap2(record, &map, trailer));
}

/* A VMM's new process: its name, what it maps, then its other threads. */
static int add_process(struct hlg_copy *copy, const struct hlg_scan_thread *threads,
		       size_t n, size_t trailer, struct hlg_err *err)
{
	int32_t pid = hlg_copy_id(copy->offset, threads[0].pid);
	char *name = make_name(copy->scan, threads[0].pid);
	const struct hlg_mappings *mappings = copy->mappings;
	uint8_t record[HLG_WRITER_RECORD_MAX];

	if (!name)
		return hlg_err_memory(err, "processes");
	add_record(copy, record, hlg_writer_comm(record, pid, pid, name, trailer));
	/* Mappings are in the order of processes, as these are. */
	for (; copy->mapping < mappings->n; copy->mapping++) {
		if (mappings->at[copy->mapping].pid > threads[0].pid)
			break;
		if (mappings->at[copy->mapping].pid == threads[0].pid)
			add_mapping(copy, &mappings->at[copy->mapping], trailer);
	}
	for (size_t i = 0; i < n; i++) {
		int32_t tid = hlg_copy_id(copy->offset, threads[i].tid);

		if (tid != pid)
			add_record(copy, record,
				   hlg_writer_comm(record, pid, tid, name, trailer));
	}
	free(name);
	return 0;
}

static int add_processes(struct hlg_copy *copy, const struct hlg_perfdata *pd,
			 struct hlg_err *err)
{
	const struct hlg_scan_thread *guests = copy->scan->guests;
	size_t trailer = hlg_writer_trailer(pd);
	int rc = 0;

	for (size_t i = 0, j; rc == 0 && i < copy->scan->n_guests; i = j) {
		for (j = i; j < copy->scan->n_guests && guests[j].pid == guests[i].pid;
		     j++)
			;
		rc = add_process(copy, guests + i, j - i, trailer, err);
	}
	return rc;
}

static bool is_dropped(const struct hlg_copy *copy, const uint8_t *record,
		       const struct hlg_perfdata_layout *layout)
{
	struct hlg_place place;

	if (copy->gaps != HLG_GAPS_DROP || !layout->ip)
		return false;
	hlg_space_lookup(copy->space, hlg_perfdata_u64(record + layout->ip), &place);
	return place.kind == HLG_GAP;
}

static void copy_guest(struct hlg_copy *copy, const uint8_t *record, uint16_t size,
		       const struct hlg_perfdata_layout *layout)
{
	copy->counts.guest++;
	if (!hlg_choice_has(copy->choice, record, size, layout)) {
		copy->counts.unwanted++;
		hlg_writer_put(copy->writer, record, size);
	} else if (!is_dropped(copy, record, layout)) {
		copy->counts.rewritten++;
		hlg_writer_put(copy->writer, copy->room,
			       hlg_copy_sample(copy->room, record, size, layout,
					       copy->offset, &copy->callers));
	} else if (layout->read) {
		/*
		 * perf takes the next sample's values less this one's. As a guest's it
		 * is read, but not shown.
		 */
		copy->counts.kept++;
		hlg_writer_put(copy->writer, record, size);
	} else {
		copy->counts.dropped++;
	}
}

static void count_as_is(struct hlg_copy_counts *counts,
			const struct hlg_perfdata_layout *layout)
{
	if (!layout)
		counts->other++;
	else if (layout->attr->type == PERF_TYPE_TRACEPOINT)
		counts->traced++;
	else
		counts->host++;
}

static int on_record(void *ctx, const uint8_t *record, uint16_t size,
		     const struct hlg_perfdata_layout *layout, struct hlg_err *err)
{
	struct hlg_copy *copy = ctx;
	uint32_t type = hlg_perfdata_u32(record);

	if (layout && hlg_sample_is_guest(hlg_perfdata_u32(record + 4) &
					  PERF_RECORD_MISC_CPUMODE_MASK)) {
		copy_guest(copy, record, size, layout);
		return copy->callers.failed ? hlg_err_memory(err, copy->writer->path) : 0;
	}
	count_as_is(&copy->counts, layout);
	if (type == HLG_RECORD_FINISHED_ROUND && copy->directory) {
		copy->counts.rounds++;
		return 0;
	}
	if (type == HLG_RECORD_CPU_MAP)
		hlg_writer_cpus(copy->writer, record, size);
	if (type == HLG_RECORD_AUXTRACE && size >= 16) {
		copy->payload_at = copy->writer->at;
		copy->payload_size = hlg_perfdata_u64(record + 8);
		copy->payload_done = 0;
	}
	hlg_writer_put(copy->writer, record, size);
	return 0;
}

static int on_payload(void *ctx, const uint8_t *bytes, size_t n, struct hlg_err *err)
{
	struct hlg_copy *copy = ctx;

	(void)err;
	hlg_writer_put(copy->writer, bytes, n);
	copy->payload_done += n;
	return 0;
}

static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct hlg_copy *copy = ctx;

	/* A full disk need not be written to for hours. */
	int rc = hlg_writer_check(copy->writer, err);

	(void)bytes;
	(void)samples;
	return rc < 0 ? rc : hlg_signals_check(err);
}

int hlg_copy_records(struct hlg_copy *copy, struct hlg_perfdata *pd,
		     struct hlg_writer *writer, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {
		.record = on_record, .payload = on_payload, .progress = on_progress};
	int rc;

	copy->writer = writer;
	copy->mapping = 0;
	copy->directory = hlg_perfdata_host(pd)->directory;
	rc = add_processes(copy, pd, err);
	if (rc == 0)
		rc = hlg_perfdata_read(pd, hlg_perfdata_no_sample, &sink, copy, err);
	if (rc == 0 && copy->payload_done < copy->payload_size) {
		copy->counts.other--;
		rc = hlg_writer_rewind(writer, copy->payload_at, err);
	}
	return rc;
}
