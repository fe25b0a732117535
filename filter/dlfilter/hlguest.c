// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest.so: perf's side of a run. The only file that knows perf's dlfilter interface
 * (perf_dlfilter.h, perf-dlfilter(1)).
 *
 * Guest samples reach only the early hook: without a guest option perf drops them before
 * the late one. The hook counts; everything is printed by start() and stop(). perf
 * ignores what stop() returns, so a report that could not be written ends perf by
 * exit(1) from there, and one whose samples do not fit, if strict=yes, by exit(3).
 */
#include <perf/perf_dlfilter.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/dlfilter/perf-options.h"
#include "filter/options/help.h"
#include "filter/output/memstream.h"
#include "filter/report/banner.h"
#include "filter/run.h"
#include "filter/stacks/address-map.h"
#include "filter/trust/base-search.h"
#include "filter/write/perf-lines.h"
#include "symtab/escape.h"
#include "symtab/grow.h"
#include "symtab/plural.h"

#define EXPORT    __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)

/* perf fills this in when it loads the filter; it must be writable. */
EXPORT struct perf_dlfilter_fns perf_dlfilter_fns;
EXPORT int start(void **data, void *ctx);
EXPORT int stop(void *data, void *ctx);
EXPORT int filter_event_early(void *data, const struct perf_dlfilter_sample *sample,
			      void *ctx);
EXPORT const char *filter_description(const char **long_description);

/* What every perf has had since the first, 5.14; later fields are not needed. */
#define NEEDED (offsetof(struct perf_dlfilter_sample, event) + sizeof(const char *))

/* An event, by the address of perf's attr: all its samples come with that object. */
struct known_event {
	const void *key;
	uint32_t event;
};

/* The functions that perf has named in a process. */
struct callchain_process {
	struct hlg_address_map known;
	int32_t pid;
};

/* For stacks=callgraph: what perf has named so far. */
struct callchain {
	struct hlg_strings names;
	struct callchain_process *processes;
	uint32_t n;
	struct hlg_index index; /* of processes */
};

struct filter {
	struct hlg_run run;
	struct callchain chain;
	struct known_event *events;
	uint32_t n_events;
	struct hlg_event_names names;
	uint32_t sample_size; /* of the samples that were looked at so far; 0: none */
	uint64_t unjoined;    /* callchains of the host whose user's part did not come */
	uint64_t too_short;   /* samples without the fields that are needed */
	/* Of the last event, if its samples are only counted, perf's name: a text of that
	 * event's own (evsel__name), and asking for the attr takes a call. */
	const char *hot_name;
	uint32_t hot_event;
	uint64_t time; /* of the last of these; perf hands samples over in time's order */
};

/* SIGINT ends perf's reading and calls stop(): the report must say it is partial. */
static volatile sig_atomic_t interrupted;
static struct sigaction perfs_sigint;

static void on_sigint(int sig, siginfo_t *info, void *context)
{
	interrupted = 1;
	if (perfs_sigint.sa_flags & SA_SIGINFO)
		perfs_sigint.sa_sigaction(sig, info, context);
	else if (perfs_sigint.sa_handler != SIG_DFL && perfs_sigint.sa_handler != SIG_IGN)
		perfs_sigint.sa_handler(sig);
}

/*
 * perf sets its own handler after start(), so ours goes before it at the first sample. Of
 * one that comes earlier nobody tells us: the note on an empty report has it among the
 * reasons.
 */
static void chain_sigint(void)
{
	struct sigaction ours = {.sa_sigaction = on_sigint,
				 .sa_flags = SA_SIGINFO | SA_RESTART};

	if (sigaction(SIGINT, NULL, &perfs_sigint) == 0 &&
	    perfs_sigint.sa_sigaction != on_sigint && perfs_sigint.sa_handler != SIG_DFL)
		sigaction(SIGINT, &ours, NULL);
}

static void complain(const struct hlg_err *err)
{
	fflush(stdout);
	fprintf(stderr, "hlguest: %s\n", err->msg);
	fflush(stderr);
}

static void write_help(FILE *f)
{
	char words[HLG_FORMAT_WORDS];

	hlg_options_help(f, hlg_format_words(words, hlg_format_filter));
}

static _Noreturn void print_help(void)
{
	write_help(stdout);
	exit(fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1);
}

static void note_perfs_option(void *ctx, const char *option, const char *instead)
{
	struct hlg_run *run = ctx;

	hlg_note_list_warn(&run->notes, "perf's %s does not restrict this report%s%s",
			   option, instead ? "; use --dlarg " : "",
			   instead ? instead : "");
}

static void look_at_perfs_options(struct hlg_run *run)
{
	char cmdline[65536];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, cmdline, sizeof(cmdline));

	if (fd >= 0)
		close(fd);
	if (size > 0)
		hlg_perf_options_find(cmdline, (size_t)size, note_perfs_option, run);
}

static void finish_callchain(struct callchain *chain)
{
	hlg_strings_finish(&chain->names);
	for (uint32_t i = 0; i < chain->n; i++)
		hlg_address_map_finish(&chain->processes[i].known);
	free(chain->processes);
	hlg_index_finish(&chain->index);
	*chain = (struct callchain){0};
}

static void destroy(struct filter *f)
{
	finish_callchain(&f->chain);
	hlg_run_finish(&f->run);
	free(f->events);
	hlg_event_names_finish(&f->names);
	free(f);
}

int start(void **data, void *ctx)
{
	struct filter *f = calloc(1, sizeof(*f));
	struct hlg_err err;
	int argc = 0, rc;
	char **argv = perf_dlfilter_fns.args(ctx, &argc);

	*data = NULL;
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "help") == 0)
			print_help();
	rc = f ? hlg_run_start(&f->run, argc, argv, &err) : hlg_err_memory(&err, "start");
	/* Where a recording ends is not known before. */
	if (f && rc == 0 && f->run.options.time_unit == HLG_TIME_PERCENT)
		rc = hlg_err_set(&err, HLG_EINPUT,
				 "%s: slices do not work in perf script (use hlguest "
				 "report, or time=+0,+10)",
				 f->run.options.selected_by);
	if (f && rc == 0 &&
	    (f->run.options.by & HLG_BY_SANDBOX || f->run.options.sandbox.n))
		rc = hlg_err_set(&err, HLG_EINPUT,
				 "sandboxes: are not told apart in perf script (use "
				 "hlguest report)");
	if (rc < 0) {
		complain(&err);
		if (f)
			destroy(f);
		return -1;
	}
	f->hot_name = ""; /* none of perf's */
	f->time = HLG_NO_TIME;
	look_at_perfs_options(&f->run);
	*data = f;
	return 0;
}

/*
 * The profile's number of an event that was not met before. Which others the recording
 * has is known when it ends: until then an event has the name that perf has for it.
 */
static uint32_t new_event(struct filter *f, const char *name,
			  const struct perf_event_attr *attr)
{
	const struct hlg_options *options = &f->run.options;
	uint32_t event = HLG_NO_SERIES;
	char *own = NULL;

	name = name ? name : "[unknown]";
	if (!hlg_event_names_add(&f->names, name))
		return HLG_NO_SERIES;
	if (hlg_select_by_terms(options))
		name = own = hlg_event_names_called(&f->names, name, options);
	if (name)
		event = hlg_profile_event(&f->run.profile, name,
					  attr ? attr->precise_ip : 0);
	free(own);
	if (event != HLG_NO_SERIES && attr)
		hlg_profile_describe(
			&f->run.profile, event, hlg_event_kind(attr->type, attr->config),
			hlg_event_member(attr->sample_type, attr->read_format));
	return event;
}

static uint32_t find_event(struct filter *f, const struct perf_dlfilter_sample *sample,
			   const struct perf_event_attr *attr, const void *key)
{
	uint32_t event;

	for (uint32_t i = 0; i < f->n_events; i++)
		if (f->events[i].key == key)
			return f->events[i].event;
	event = new_event(f, sample->event, attr);
	/* Without memory it is asked for again. */
	if (event != HLG_NO_SERIES && HLG_GROW(f->events, f->n_events))
		f->events[f->n_events++] = (struct known_event){key, event};
	return event;
}

static const char *comm_of(void *ctx)
{
	const struct perf_dlfilter_al *al =
		perf_dlfilter_fns.resolve_ip ? perf_dlfilter_fns.resolve_ip(ctx) : NULL;

	return al && al->size >= offsetof(struct perf_dlfilter_al, comm) +
					       sizeof(al->comm)
		       ? al->comm
		       : NULL;
}

/*
 * perf's side of stacks=callgraph: callchains as the filter gets them, their frames named
 * by perf. It names an address as code of the mode its sample was taken in
 * (resolve_address, tools/perf/util/dlfilter.c). So in a chain of the kernel, the frames
 * of user space get the names of the functions that were met in chains of user space of
 * that process.
 */

/* perf_dlfilter_al as of perf 5.14: what is behind comm would have to be given back. */
#define AL_SIZE (offsetof(struct perf_dlfilter_al, comm) + sizeof(const char *))

/* A sample under way. */
struct naming {
	struct callchain *chain;
	void *ctx;
	int32_t pid;
	uint8_t cpumode;
	char *text; /* PATH_MAX bytes: too many to be zeroed for each sample */
};

static bool is_of_process(const void *ctx, uint32_t number)
{
	const struct naming *naming = ctx;

	return naming->chain->processes[number].pid == naming->pid;
}

static uint64_t hash_pid(int32_t pid)
{
	return hlg_hash_word(HLG_HASH_SEED, (uint32_t)pid);
}

/* What is known of the sample's process, NULL if nothing is. */
static struct hlg_address_map *known_of(const struct naming *naming)
{
	const struct callchain *c = naming->chain;
	uint32_t i =
		hlg_index_find(&c->index, hash_pid(naming->pid), is_of_process, naming);

	return i == HLG_INDEX_NONE ? NULL : &c->processes[i].known;
}

static struct hlg_address_map *add_process(struct callchain *c, int32_t pid)
{
	if (!HLG_GROW(c->processes, c->n) ||
	    !hlg_index_add(&c->index, hash_pid(pid), c->n))
		return NULL;
	c->processes[c->n] = (struct callchain_process){.pid = pid};
	return &c->processes[c->n++].known;
}

/*
 * A function, [start, end); the newest name counts, and what lies across it is
 * forgotten, since something else was mapped there. Without memory nothing is remembered.
 */
static void remember(const struct naming *naming, uint64_t start, uint64_t end,
		     const char *text)
{
	struct callchain *c = naming->chain;
	uint32_t name = hlg_strings_add(&c->names, text);
	struct hlg_address_map *known = known_of(naming);
	const struct hlg_address_range *there =
		known ? hlg_address_map_find(known, start) : NULL;

	if (name == HLG_NO_STRING ||
	    (there && there->start == start && there->end == end && there->name == name))
		return;
	if (!known)
		known = add_process(c, naming->pid);
	if (known)
		hlg_address_map_put(known,
				    (struct hlg_address_range){start, end, 0, name},
				    HLG_ADDRESS_MAP_FORGET);
}

static void name_frame(void *to, uint64_t ip, unsigned cpumode,
		       struct hlg_host_frame *frame)
{
	struct naming *naming = to;
	struct perf_dlfilter_al al = {.size = AL_SIZE};

	if (cpumode != naming->cpumode) {
		const struct hlg_address_map *known = known_of(naming);
		const struct hlg_address_range *at =
			known ? hlg_address_map_find(known, ip) : NULL;

		if (at)
			frame->name = hlg_strings_get(&naming->chain->names, at->name);
		return;
	}
	if (!perf_dlfilter_fns.resolve_address ||
	    perf_dlfilter_fns.resolve_address(naming->ctx, ip, &al) != 0)
		return;
	frame->name =
		al.sym ? al.sym : hlg_stacks_dso_name(naming->text, PATH_MAX, al.dso);
	if (cpumode != PERF_RECORD_MISC_USER)
		return;
	if (al.sym && al.sym_end > al.sym_start && al.symoff < al.sym_end - al.sym_start)
		remember(naming, ip - al.symoff,
			 ip - al.symoff + (al.sym_end - al.sym_start), frame->name);
	else
		remember(naming, ip, ip + 1, frame->name);
}

/* perf joins what --call-graph fp,defer took apart, where it can. */
static uint32_t add_chain(struct filter *f, const struct hlg_sample *s,
			  const struct perf_dlfilter_sample *sample)
{
	size_t n = sample->raw_callchain_nr;
	uint64_t cookie;

	if (hlg_chains_is_deferred(sample->raw_callchain, n, &cookie)) {
		n -= 2;
		f->unjoined += !hlg_sample_is_guest(s->cpumode);
	}
	return hlg_chains_add(&f->run.stacks.chains, sample->raw_callchain, n);
}

/* Takes a sample, with its disposition. Returns false if it is one of the host that gets
 * no row: it tells of KVM_RUN. */
static bool take_callchain(struct filter *f, const struct hlg_sample *s,
			   enum hlg_disposition disposition,
			   const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct hlg_stacks *stacks = &f->run.stacks;
	struct hlg_profile *profile = &f->run.profile;
	enum hlg_kvm_mark mark = hlg_stacks_event(profile->events[s->event].name,
						  profile->events[s->event].kind);
	bool runs = mark && hlg_stacks_is_run(mark, sample->raw_data, sample->raw_size);
	bool shows_host = profile->options->mode != HLG_SHOW_GUEST;
	char text[PATH_MAX];
	struct naming naming = {&f->chain, ctx, s->pid, s->cpumode, text};
	struct hlg_stacks_sample of = {.pid = s->pid,
				       .tid = s->tid,
				       .ip = s->ip,
				       .cpumode = s->cpumode,
				       .entry = mark == HLG_MARK_ENTRY,
				       .name = name_frame,
				       .ctx = &naming};

	if (runs || (disposition == HLG_HOST && shows_host && !mark) ||
	    disposition == HLG_GUEST)
		of.chain = add_chain(f, s, sample);
	if (runs || disposition == HLG_HOST || !hlg_stacks_knows(stacks, s->pid, s->tid))
		of.comm = comm_of(ctx);
	if (runs)
		hlg_stacks_enter(stacks, &of);
	if (disposition == HLG_GUEST)
		hlg_stacks_guest(stacks, &of, hlg_profile_series(profile, s), s->period);
	if (disposition != HLG_HOST)
		return true;
	if (mark)
		hlg_count_add(&stacks->aside, (struct hlg_count){1, s->period});
	else if (shows_host)
		hlg_stacks_host(stacks, &of, hlg_profile_series(profile, s), s->period);
	return !mark;
}

static void count_host(struct filter *f, const struct hlg_sample *s, void *ctx)
{
	const struct perf_dlfilter_al *al =
		perf_dlfilter_fns.resolve_ip ? perf_dlfilter_fns.resolve_ip(ctx) : NULL;

	hlg_host_add(&f->run.host, hlg_profile_series(&f->run.profile, s),
		     al ? al->dso : NULL, al ? al->comm : NULL, s->period);
}

/* What perf does with the sample afterwards: 0 keeps it, 1 filters it out. row: a host
 * sample gets one. */
static int hand_on(struct filter *f, const struct hlg_sample *s,
		   enum hlg_disposition disposition, bool row, void *ctx)
{
	const struct hlg_options *o = &f->run.options;
	struct hlg_place place;

	if (disposition == HLG_HOST) {
		if (o->mode != HLG_SHOW_GUEST && row)
			count_host(f, s, ctx);
		return o->emit != HLG_EMIT_PASS || o->mode == HLG_SHOW_GUEST;
	}
	if (disposition != HLG_GUEST || o->mode == HLG_SHOW_HOST)
		return 1;
	if (o->emit == HLG_EMIT_LINES)
		hlg_perf_lines_write(stdout, &f->run.space, o, s,
				     f->run.profile.events[s->event].name, comm_of(ctx));
	if (o->emit != HLG_EMIT_PASS)
		return 1;
	return o->gaps == HLG_GAPS_DROP &&
	       hlg_view_place(&f->run.space, o->gaps, s->ip, &place) == HLG_GAP;
}

/* Any sample, in full. */
static __attribute__((noinline)) int take(struct filter *f,
					  const struct perf_dlfilter_sample *sample,
					  void *ctx)
{
	const struct perf_event_attr *attr =
		perf_dlfilter_fns.attr ? perf_dlfilter_fns.attr(ctx) : NULL;
	struct hlg_sample s;
	enum hlg_disposition disposition;
	bool row = true;

	if (f->sample_size == 0)
		chain_sigint();
	f->sample_size = sample->size;
	if (sample->size < NEEDED) {
		f->too_short++;
		return 1;
	}
	s = (struct hlg_sample){
		.ip = sample->ip,
		.period = sample->period,
		.time = sample->time,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.cpumode = sample->cpumode,
		.event = find_event(f, sample, attr, attr ? (void *)attr : sample->event),
	};
	if (s.event == HLG_NO_SERIES) {
		f->run.profile.unrecorded++;
		return 1;
	}
	if (f->run.options.emit == HLG_EMIT_NONE && sample->event &&
	    f->run.options.stacks == HLG_STACKS_LEAF) {
		f->hot_name = sample->event;
		f->hot_event = s.event;
	}
	disposition = hlg_profile_add(&f->run.profile, &s);
	if (f->run.options.stacks == HLG_STACKS_CALLGRAPH)
		row = take_callchain(f, &s, disposition, sample, ctx);
	return hand_on(f, &s, disposition, row, ctx);
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct filter *f = data;

	if (likely(sample->size >= NEEDED && sample->event == f->hot_name &&
		   hlg_profile_hit(&f->run.profile, f->hot_event, sample->cpumode,
				   sample->ip, sample->tid, sample->period,
				   sample->time))) {
		f->time = sample->time;
		return 1;
	}
	return take(f, sample, ctx);
}

/* What has no room for warnings leaves them to standard error. */
static void tell_warnings(const struct filter *f)
{
	const struct hlg_note_list *notes = &f->run.notes;

	for (size_t i = 0; !f->run.format->notes && i < notes->n; i++) {
		if (notes->level[i] != HLG_NOTE_WARNING)
			continue;
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, notes->line[i]);
		fputc('\n', stderr);
	}
}

/* Is that there is nothing to report what failed? An empty recording has more causes here
 * than where it is read without perf. */
static bool tell_nothing(const struct filter *f, struct hlg_err *err)
{
	if (err->code != HLG_EINPUT || f->run.nothing.code != HLG_EINPUT)
		return false;
	if (f->run.profile.seen.samples == 0)
		hlg_err_set(
			err, HLG_EINPUT,
			"no samples: the recording is empty, newer than this perf can "
			"read, or perf was interrupted (use hlguest report)");
	return true;
}

/* What perf hands over of a tracepoint is read by the command alone. */
static void note_left_out(struct filter *f)
{
	const struct hlg_profile *p = &f->run.profile;

	for (uint32_t i = 0; i < p->n_events; i++) {
		if (strcmp(p->events[i].name, "kvm:kvm_exit") != 0 &&
		    strcmp(p->events[i].name, "kvm:kvm_entry") != 0 &&
		    strcmp(p->events[i].name, "kvm:kvm_emulate_insn") != 0)
			continue;
		hlg_run_note(&f->run, "KVM's events are not read here, which tell more "
				      "of VM exits (use hlguest report)");
		return;
	}
}

static void note_unjoined(struct filter *f)
{
	if (f->unjoined)
		hlg_note_list_warn(
			&f->run.notes,
			"%" PRIu64 " callchain%s in the kernel: the user part was to be "
			"recorded later (--call-graph fp,defer) and is not there (it was "
			"lost)",
			f->unjoined,
			hlg_plural_word(f->unjoined, " of the host ends",
					"s of the host end"));
}

int stop(void *data, void *ctx)
{
	struct filter *f = data;
	struct hlg_err err;
	bool strict, nothing, refused;
	int rc;

	(void)ctx;
	if (!f)
		return 0;
	strict = f->run.options.strict;
	hlg_sample_span_see(&f->run.profile.span, f->time);
	if (interrupted)
		hlg_note_list_warn(
			&f->run.notes,
			"interrupted: the report covers what was read until then");
	if (f->run.options.border != HLG_BORDER_KEEP && f->run.profile.n_cells)
		note_left_out(f);
	note_unjoined(f);
	if (f->too_short)
		rc = hlg_err_set(
			&err, HLG_EINPUT,
			"perf: its samples have %u bytes, %zu are needed (use perf "
			"5.14 or later)",
			f->sample_size, NEEDED);
	else if (!hlg_select_by_terms(&f->run.options) &&
		 !hlg_profile_call_events(&f->run.profile, &f->names))
		rc = hlg_err_memory(&err, "perf");
	else /* Standard output belongs to the samples, if any are printed there. */
		rc = hlg_run_report(
			&f->run, f->run.options.emit == HLG_EMIT_NONE ? stdout : stderr,
			&err);
	if (rc == 0 && !f->run.format->notes)
		hlg_base_search_warn(&f->run.space);
	tell_warnings(f);
	nothing = rc < 0 && tell_nothing(f, &err);
	refused = f->run.refused;
	destroy(f);
	if (rc < 0)
		complain(&err);
	/* That there is nothing to report is no failure of perf's. */
	if (rc < 0 && (strict || !nothing))
		exit(1);
	if (strict && refused)
		exit(HLG_BANNER_STATUS);
	return 0;
}

const char *filter_description(const char **long_description)
{
	static char *text;
	struct hlg_memstream m;

	if (!text && hlg_memstream_open(&m)) {
		write_help(m.f);
		text = hlg_memstream_close(&m);
	}
	*long_description = text ? text : "";
	return "guest samples by function, gap and region of the guest's own ELF";
}
