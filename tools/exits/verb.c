// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest exits: what it costs to leave the guest, by reason, guest function, port and
 * vCPU, from recordings of KVM's tracepoints.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/run.h"
#include "tools/cli/output.h"
#include "tools/cli/pager.h"
#include "tools/cli/verb.h"
#include "tools/exits/columns.h"
#include "tools/exits/guest.h"
#include "tools/exits/read.h"
#include "tools/exits/write.h"
#include "tools/feed/lacks.h"
#include "tools/inputs/inputs.h"
#include "tools/perfdata/perfdata.h"
#include "tools/perfdata/sum.h"

struct arguments {
	struct hlg_inputs inputs;
	const char *reason;
	struct hlg_number_list port;
	const char *ports; /* as it was given */
	bool exact;
};

static int set_reason(void *arguments, const struct hlg_verb_option *option, char *value,
		      struct hlg_err *err)
{
	if (!value[0])
		return hlg_err_set(err, HLG_EINPUT,
				   "--%s=: not a reason (a name with * and ?, or a "
				   "number)",
				   option->name);
	((struct arguments *)arguments)->reason = value;
	return 0;
}

static int set_port(void *arguments, const struct hlg_verb_option *option, char *value,
		    struct hlg_err *err)
{
	struct arguments *args = arguments;

	hlg_number_list_finish(&args->port);
	args->ports = value;
	switch (hlg_number_list_parse(&args->port, value)) {
	case 0:
		return 0;
	case HLG_ESYSTEM:
		return hlg_err_memory(err, value);
	default:
		break;
	}
	return hlg_err_set(err, HLG_EINPUT,
			   "--%s=%s: not a list of ports (as in 101,103-105)",
			   option->name, value);
}

static void note_counts(struct hlg_run *run, const struct hlg_exits_sums *sums,
			const struct hlg_exits_counts *counts)
{
	if (!sums->crossed && sums->pairs[HLG_EXITS_VMM])
		hlg_run_note(run, "there is no pair of kvm_exit and kvm_entry (software "
				  "KVM has none): only time in the VMM is known");
	if (counts->no_rip)
		hlg_run_note(run, "kvm_exit has no guest_rip on the kernel of a "
				  "recording: such exits have no function");
	if (counts->no_isa)
		hlg_run_note(run, "kvm_exit has no isa on the kernel of a recording: "
				  "such reasons stay numbers");
	if (counts->no_vcpu)
		hlg_run_note(run,
			     "vCPUs are known by thread alone: kvm_exit or "
			     "kvm_entry has no vcpu_id on the kernel of a recording");
	if (counts->no_runs)
		hlg_run_note(run, "KVM_RUN was not recorded: time in the VMM ends with "
				  "kvm_entry (record it with " HLG_EXITS_HOW ")");
	hlg_lacks_note(&counts->lacks, "", " (a larger -m loses less)", &run->notes);
	hlg_note_list_detail(&run->notes, "times are by the clock: what a thread waited "
					  "for a CPU is in them");
	if (!sums->exact)
		hlg_note_list_detail(
			&run->notes,
			"percentiles are off by 0.8 %% at most (--exact: not "
			"at all); all else is exact");
}

static int build_tables(struct hlg_exits_report *r, const struct hlg_run *run,
			const struct hlg_exits_choice *choice, struct hlg_err *err)
{
	size_t n = 0;
	int rc = 0;

	for (int kind = 0; rc == 0 && kind < HLG_EXITS_KINDS; kind++)
		rc = hlg_exits_tabulate(&r->tables[n++], r->sums, kind,
					HLG_EXITS_BY_REASON, choice, &run->space, err);
	for (int by = HLG_EXITS_BY_FUNCTION; rc == 0 && by < HLG_EXITS_BYS; by++)
		rc = hlg_exits_tabulate(&r->tables[n++], r->sums, r->kind, by, choice,
					&run->space, err);
	return rc;
}

/* A call is not cut, as the time is. */
static void note_shares(struct hlg_run *run, const struct hlg_exits_report *r)
{
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++) {
		const struct hlg_exits_table *t = &r->tables[i];

		for (size_t k = 0; k < t->n; k++) {
			if (!hlg_exits_has_share(&t->rows[k]) ||
			    hlg_exits_share(r, t, t->rows[k].total) <= 1)
				continue;
			hlg_run_note(run,
				     "calls have over 100 %% of the time: each counts "
				     "whole, but the time is of what was selected, "
				     "without what was lost");
			return;
		}
	}
}

/* Reasons that have one number. */
struct numbered {
	const struct hlg_exits_row *at[8]; /* VMX, SVM, Arm and KVM itself number them */
	size_t n;
};

static void add_numbered(struct numbered *all, const struct hlg_exits_row *row)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->at[i]->name, row->name) == 0 &&
		    strcmp(all->at[i]->isa, row->isa) == 0)
			return;
	if (all->n < sizeof(all->at) / sizeof(all->at[0]))
		all->at[all->n++] = row;
}

/* Processors and KVM number their reasons each from 0 on: of what a number selects is
 * told what that is. */
static void note_number(struct hlg_run *run, const struct hlg_exits_report *r,
			const char *reason)
{
	struct numbered all = {0};
	char list[512] = "";
	uint64_t number;

	if (!reason || !hlg_number_u64(reason, &number))
		return;
	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++)
		for (size_t i = 0; i < r->tables[kind].n; i++)
			if (r->tables[kind].rows[i].number == number)
				add_numbered(&all, &r->tables[kind].rows[i]);
	for (size_t i = 0, k = 0; i < all.n && k < sizeof(list); i++)
		k += (size_t)snprintf(list + k, sizeof(list) - k, "%s%s (%s)",
				      i ? ", " : "", all.at[i]->name, all.at[i]->isa);
	if (all.n)
		hlg_run_note(run, "reason=%s: is the number of %s%s", reason, list,
			     all.n > 1 ? "; a name selects one of them" : "");
}

/* What no exit to the VMM goes without is not the VMM's own: KVM's way to it and back,
 * and the tracepoints. How much that is of its time is told where it is much. */
static void note_least(struct hlg_run *run, const struct hlg_exits_report *r)
{
	enum {
		PAIRS = 100, /* of fewer, the least may be any */
		PART = 4     /* of the mean: less is not told */
	};
	const struct hlg_exits_table *t = &r->tables[HLG_EXITS_VMM];
	uint64_t n = 0, total = 0, least = UINT64_MAX;
	char time[24];

	for (size_t i = 0; i < t->n; i++) {
		n += t->rows[i].n;
		total += t->rows[i].total;
		least = t->rows[i].min < least ? t->rows[i].min : least;
	}
	if (n < PAIRS || least == 0 || least < total / n / PART)
		return;
	hlg_run_note(
		run,
		"VMM time is %s at least for each exit, %.0f %% of all of it: KVM's way "
		"to the VMM and back, and the tracepoints, are in that",
		hlg_table_ns(time, least),
		100 * (double)least * (double)n / (double)total);
}

static bool has_pairs(const struct hlg_exits_sums *sums)
{
	for (int kind = 0; kind < HLG_EXITS_ALL_KINDS; kind++)
		if (sums->pairs[kind])
			return true;
	return false;
}

/* --reason and --port that select none of the exits that there are are told likewise. */
static void check_choice(const struct hlg_exits_report *r, const char *selected_by,
			 struct hlg_err *nothing)
{
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		if (r->tables[i].n)
			return;
	if (!has_pairs(r->sums) || !r->picks)
		return;
	hlg_err_set(nothing, HLG_EINPUT,
		    "%s: selects no exit (hlguest exits without it shows which there "
		    "are)",
		    selected_by);
}

/* All that is shown, but for what the options say, and what is noted of it. */
static int reckon(struct hlg_exits_report *r, struct hlg_run *run,
		  const struct hlg_exits_choice *choice, struct hlg_err *nothing,
		  struct hlg_err *err)
{
	int rc = build_tables(r, run, choice, err);

	if (rc == 0)
		check_choice(r, run->options.selected_by, nothing);
	for (size_t i = 0; i < r->sums->n_vcpus; i++)
		hlg_exits_add_times(&r->time, &r->sums->vcpus[i]);
	hlg_exits_histogram(r->octaves, r->sums, r->kind, choice);
	note_shares(run, r);
	note_number(run, r, choice->reason);
	if (!r->picks) /* those take what they take */
		note_least(run, r);
	return rc == 0 && run->notes.lost ? hlg_err_memory(err, "report") : rc;
}

/* Writes it, and tells what it does not say itself. */
static int show(struct hlg_exits_report *r, struct hlg_run *run, struct hlg_report *check,
		const struct hlg_inputs *in, const struct hlg_err *nothing,
		struct hlg_err *err)
{
	int rc = hlg_format_write(
		&(struct hlg_result){run->format, r, hlg_exits_records, &r->colours,
				     run->options.color, &r->screen,
				     nothing->msg[0] ? nothing : NULL},
		run->options.out,
		hlg_pager_stream(in->no_pager, run->format, run->options.out), err);

	check->options = &run->options; /* which say where it went */
	if (rc == 0)
		hlg_run_warn(check, run->format, "");
	if (rc == 0 && run->format->record)
		hlg_output_notes(NULL, &run->notes,
				 hlg_output_told(in->quiet, run->options.verbose));
	return rc;
}

static int report(struct hlg_run *run, const struct hlg_exits_sums *sums,
		  const struct hlg_calls_ports *ports, struct hlg_report *check,
		  const struct arguments *args, struct hlg_err *nothing,
		  struct hlg_err *err)
{
	const struct hlg_exits_choice choice = {
		.reason = args->reason,
		.port = &args->port,
		.ports = ports,
		.by_tid = run->options.by & HLG_BY_TID,
		.by_sandbox = run->options.by & HLG_BY_SANDBOX,
		.demangle = run->options.demangle,
		.check = check,
	};
	const bool fitted = run->options.top == HLG_UNSET;
	struct hlg_exits_report r = {
		.sums = sums,
		.kind = sums->crossed ? HLG_EXITS_GUEST : HLG_EXITS_VMM,
		.notes = &run->notes,
		.selection = run->options.selection,
		.picks = args->reason || args->port.n,
		.recordings = run->recordings,
		.by_tid = choice.by_tid,
		.by_sandbox = choice.by_sandbox,
		.fitted = fitted,
		.top = fitted ? run->format->top : run->options.top,
		.wide = run->options.wide,
		.verbose = run->options.verbose,
		.space = &run->space,
		.check = check,
	};
	int rc = reckon(&r, run, &choice, nothing, err);

	if (rc == 0)
		rc = show(&r, run, check, &args->inputs, nothing, err);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		hlg_exits_table_finish(&r.tables[i]);
	return rc;
}

static void add_counts(struct hlg_exits_counts *to, const struct hlg_exits_counts *from)
{
	hlg_lacks_add(&to->lacks, &from->lacks);
	to->n_samples = hlg_sum(to->n_samples, from->n_samples);
	to->no_rip |= from->no_rip;
	to->no_isa |= from->no_isa;
	to->no_vcpu |= from->no_vcpu;
	to->no_runs |= from->no_runs;
}

/* A recording counts whole or not at all. */
static int read_file(const struct hlg_inputs *in, size_t number,
		     const struct hlg_run *run, struct hlg_progress *progress,
		     struct hlg_exits_sums *sums, struct hlg_exits_counts *counts,
		     struct hlg_exits_guest *guest, struct hlg_err *err)
{
	struct hlg_exits_sums own = {.exact = sums->exact,
				     .halt = sums->halt,
				     .io_page = sums->io_page,
				     .fold = sums->fold,
				     .fold_ctx = sums->fold_ctx,
				     .whose = sums->whose};
	struct hlg_exits_counts own_counts = {.samples = counts->samples,
					      .samples_event = counts->samples_event};
	const char *path = in->files[number];
	int rc = own.whose ? hlg_whose_begin(own.whose, number, err) : 0;

	if (rc == 0)
		rc = hlg_exits_read(path, &run->options, progress, &own, &own_counts,
				    err);
	if (rc == 0 && !own.overflow) {
		hlg_exits_settle(&own);
		rc = hlg_exits_guest_identify(guest, number, path, &own, err);
	}
	if (rc == 0 && !own.overflow) {
		hlg_exits_merge(sums, &own);
		add_counts(counts, &own_counts);
		if (sums->no_memory)
			rc = hlg_err_memory(err, path);
	}
	if (rc == 0 && (own.overflow || sums->overflow))
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: its times add up to more than 2^64 ns (damaged; "
				 "record again)",
				 path);
	hlg_exits_sums_finish(&own);
	return rc;
}

/* Tells which could not be read: then *status is 1. Returns how many could. */
static size_t read_files(const struct hlg_inputs *in, const struct hlg_run *run,
			 struct hlg_exits_sums *sums, struct hlg_exits_counts *counts,
			 struct hlg_exits_guest *guest, int *status)
{
	struct hlg_progress progress;
	size_t n = 0;

	hlg_progress_init(&progress, in->files, in->n_files, in->quiet);
	for (size_t i = 0; i < in->n_files; i++) {
		struct hlg_err err;

		if (read_file(in, i, run, &progress, sums, counts, guest, &err) == 0) {
			n++;
			continue;
		}
		hlg_progress_end(&progress);
		*status = hlg_output_error(&err);
	}
	hlg_progress_end(&progress);
	return sums->no_memory || sums->overflow ? 0 : n;
}

/* Of what can be read but once it is told then. */
static int check_file(const char *path, struct hlg_err *err)
{
	const bool there = strcmp(path, "-") == 0 || access(path, F_OK) == 0;

	return there && !hlg_perfdata_is_kept(path) ? 0 : hlg_exits_check(path, err);
}

/* Leaves out recordings that have no exits: what is not shown says nothing of bases
 * either. */
static void leave_out(struct hlg_inputs *in, int *status)
{
	size_t n = 0;

	for (size_t i = 0; i < in->n_files; i++) {
		struct hlg_err err;

		if (check_file(in->files[i], &err) == 0) {
			in->files[n++] = in->files[i];
			continue;
		}
		*status = hlg_output_error(&err);
		free(in->files[i]);
	}
	in->n_files = n;
}

static void read_versions(const struct hlg_run *run, struct hlg_calls_ports *ports,
			  struct hlg_exits_sums *sums)
{
	for (size_t i = 0; i < run->space.n_images; i++)
		hlg_calls_ports_add(ports, run->space.images[i]->elf.hyperlight);
	sums->halt = ports->halts ? HLG_PORT_HALT : 0;
	for (size_t i = 0; i < run->space.n_images; i++)
		if (run->space.images[i]->elf.machine == EM_AARCH64 &&
		    run->space.images[i]->elf.hyperlight[0])
			sums->io_page = true;
}

/* Options that select no exit, of recordings that have some or not, are told: in
 * *nothing, whose message is empty else. */
static void check_selection(const struct hlg_options *options,
			    const struct hlg_exits_sums *sums, struct hlg_err *nothing)
{
	nothing->msg[0] = '\0';
	if (!has_pairs(sums) && options->selection)
		hlg_err_set(nothing, HLG_EINPUT,
			    "%s: selects no exit (hlguest exits without it shows all)",
			    options->selected_by);
}

/* What selects rows only is told with what selects records. */
static int add_choice(struct hlg_options *options, const struct arguments *args,
		      struct hlg_err *err)
{
	int rc = 0;

	if (args->reason)
		rc = hlg_options_add_selection(options, "--", "reason", args->reason,
					       err);
	if (rc == 0 && args->port.n)
		rc = hlg_options_add_selection(options, "--", "port", args->ports, err);
	return rc;
}

static int exits(struct hlg_inputs *in, const struct arguments *args)
{
	struct hlg_exits_sums sums = {.exact = args->exact};
	struct hlg_exits_counts counts = {0};
	struct hlg_calls_ports ports = {0};
	struct hlg_exits_guest *guest = calloc(1, sizeof(*guest));
	struct hlg_err nothing; /* to show, and why */
	struct hlg_run run;
	struct hlg_err err;
	int rc = hlg_run_start_apart(&run, in->n_words, in->words, &err), status = 0;

	if (rc == 0 && !guest)
		rc = hlg_err_memory(&err, "exits");

	if (rc == 0)
		rc = hlg_run_set_format(&run, in->format, &err);
	if (rc == 0)
		read_versions(&run, &ports, &sums);
	if (rc == 0)
		leave_out(in, &status);
	if (rc == 0 && in->n_files)
		rc = hlg_exits_guest_start(guest, &run, in, &sums, &counts, &err);
	if (rc == 0 && read_files(in, &run, &sums, &counts, guest, &status)) {
		check_selection(&run.options, &sums, &nothing);
		rc = hlg_exits_guest_settle(guest, &sums, counts.n_samples, &err);
		if (rc == 0)
			rc = add_choice(&run.options, args, &err);
		if (rc == 0) {
			note_counts(&run, &sums, &counts);
			run.recordings = counts.lacks.recordings;
			rc = report(&run, &sums, &ports, &guest->check.report, args,
				    &nothing, &err);
		}
	}
	if (rc < 0)
		status = hlg_output_error(&err);
	status = hlg_run_status(&run, status);
	hlg_exits_sums_finish(&sums);
	if (guest)
		hlg_exits_guest_finish(guest);
	free(guest);
	hlg_run_finish(&run);
	return status;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = exits(&args.inputs, &args);
	hlg_number_list_finish(&args.port);
	hlg_inputs_finish(&args.inputs);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "reason",
	 .value = "GLOB|NUMBER",
	 .help = "exits of this reason",
	 .kind = HLG_VERB_TEXT,
	 .set = set_reason},
	{.name = "port",
	 .value = "LIST",
	 .help = "exits of these I/O ports",
	 .kind = HLG_VERB_TEXT,
	 .set = set_port},
	{.name = "exact",
	 .help = "keep every latency (percentiles are off by up to 0.8 % otherwise)",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, exact)},
	{0},
};

const struct hlg_verb hlg_verb_exits = {
	.name = "exits",
	.args = "guest.elf [FILE...]",
	.help = "what leaving the guest costs",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE]... [FILE...]",
	.doc = "Shows what leaving the guest costs: time from kvm_exit to kvm_entry, and "
	       "in the VMM, by reason, guest function, port and vCPU.\v"
	       "Recordings come from " HLG_EXITS_HOW ".",
	.examples = "hlguest exits guest.elf perf.data.guest\ttime by reason, function, "
		    "port and vCPU\n"
		    "hlguest exits '--reason=*io*' guest.elf\texits for port I/O "
		    "only\n"
		    "hlguest exits --format=html -o exits.html guest.elf\ta page, to "
		    "send on",
	.record = "--exits",
	.files = "elf recording",
	.shared = "input quiet by color demangle force format no-pager output pid "
		  "sandbox strict-base tid time top verbose wide",
	.formats = hlg_exits_formats,
	.by = "tid,sandbox",
	.fallbacks =
		(const struct hlg_verb_fallback[]){{"top", "(20 in text, else 0)"}, {0}},
	.options = options,
	.run = run,
};
