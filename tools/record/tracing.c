// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/tracing.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "filter/profile/ports.h"
#include "filter/profile/starts.h"

/* Where tracefs is, of its own or as debugfs has it. */
struct tracing {
	const char *option; /* the subject of errors */
	char path[4096];
	int error; /* errno of what is there and cannot be read; 0: none so far */
};

static bool may_read(struct tracing *tracing, const char *path, int mode)
{
	if (access(path, mode) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR)
		tracing->error = errno;
	return false;
}

/* The error for no tracepoint found: that it cannot be read, if so; else none, which is
 * for the caller to tell, and 0. */
static int denied(const struct tracing *tracing, struct hlg_err *err)
{
	if (tracing->error == EACCES || tracing->error == EPERM)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"%s: tracepoints may not be read by this user (as root; or with "
			"CAP_PERFMON, and: mount -o remount,mode=750,gid=%u "
			"/sys/kernel/tracing)",
			tracing->option, (unsigned)getegid());
	if (tracing->error)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: tracefs cannot be read: %s (see what is at "
				   "/sys/kernel/tracing)",
				   tracing->option, strerrordesc_np(tracing->error));
	return 0;
}

/* Finds tracefs; nothing is mounted. Fails, and says how to get it, where there is none,
 * or none to be read. */
static int find(struct tracing *tracing, const char *root, struct hlg_err *err)
{
	static const char *const folders[] = {"/sys/kernel/tracing",
					      "/sys/kernel/debug/tracing"};
	char path[sizeof(tracing->path) + 16];
	int rc;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(tracing->path, sizeof(tracing->path), "%s%s", root, folders[i]);
		snprintf(path, sizeof(path), "%s/events", tracing->path);
		if (may_read(tracing, path, R_OK | X_OK))
			return 0;
	}
	rc = denied(tracing, err);
	if (rc < 0)
		return rc;
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: tracefs is not mounted (as root: mount -t tracefs nodev "
			   "/sys/kernel/tracing)",
			   tracing->option);
}

/* Has it "kvm/kvm_exit", and may it be read? */
static bool has(struct tracing *tracing, const char *event)
{
	char path[sizeof(tracing->path) + 128];

	/* perf asks for the number of a tracepoint. */
	snprintf(path, sizeof(path), "%s/events/%s/id", tracing->path, event);
	return may_read(tracing, path, R_OK);
}

/* Appends -e and a tracepoint, "kvm:kvm_exit" or with perf's terms behind it
 * "kvm:kvm_exit/call-graph=no/", if tracing has it; true if it has. */
static bool add(struct tracing *tracing, const char *event, const char **words, size_t *n)
{
	char path[128];

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(event, "/"), event);
	*strchr(path, ':') = '/';
	if (!has(tracing, path))
		return false;
	words[(*n)++] = "-e";
	words[(*n)++] = event;
	return true;
}

/* KVM_RUN's system call, and those that make, name and fill what it runs: a few for each,
 * by which sandboxes are told from vCPUs. */
static bool add_kvm_run(struct tracing *tracing, const char **words, size_t *n)
{
	if (!add(tracing, "syscalls:sys_enter_ioctl", words, n))
		return false;
	words[(*n)++] = "--filter";
	words[(*n)++] = "cmd == 0xae80 || cmd == 0xae41 || cmd == 0x4008ae90 || "
			"cmd == 0x4020ae46 || cmd == 0x4020aeae";
	return true;
}

/*
 * KVM's own, without KVM_RUN. With -g nobody asks for their callchains, which would be
 * most of the recording; but for kvm_entry's where it stands in for KVM_RUN.
 */
static bool add_exits(struct tracing *tracing, bool stacks, const char **words, size_t *n)
{
	static const char *const events[][2] = {
		{"kvm:kvm_exit", "kvm:kvm_exit/call-graph=no/"},
		{"kvm:kvm_entry", "kvm:kvm_entry/call-graph=no/"},
		{"kvm:kvm_pio", "kvm:kvm_pio/call-graph=no/"},
		{"kvm:kvm_mmio", "kvm:kvm_mmio/call-graph=no/"},
		{"kvm:kvm_emulate_insn", "kvm:kvm_emulate_insn/call-graph=no/"},
		{"kvm:kvm_userspace_exit", "kvm:kvm_userspace_exit/call-graph=no/"},
	};
	enum {
		ENTRY = 1
	};
	bool runs = has(tracing, "syscalls/sys_enter_ioctl"), any = false;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		any |= add(tracing, events[i][stacks && (runs || i != ENTRY)], words, n);
	return any;
}

/* The writes to Hyperlight's port Halt that can be an address. KVM on arm64 has no ports,
 * and no kvm_pio. */
static bool add_halt(struct tracing *tracing, const char **words, size_t *n)
{
	static char filter[128];
	char port[64];

	if (add(tracing, "kvm:kvm_pio", words, n))
		snprintf(port, sizeof(port), "port == %#x", HLG_STARTS_HALT);
	else if (add(tracing, "kvm:kvm_mmio", words, n))
		snprintf(port, sizeof(port), "type == 2 && gpa == %#" PRIx64,
			 hlg_ports_word(HLG_STARTS_HALT));
	else
		return false;
	snprintf(filter, sizeof(filter), "%s && val >= %#x && val < %#x", port,
		 HLG_STARTS_HALT_MIN, HLG_STARTS_HALT_MAX);
	words[(*n)++] = "--filter";
	words[(*n)++] = filter;
	return true;
}

/* All that is asked for. False: something is missing. */
static bool add_all(struct tracing *tracing, const struct hlg_record_tracing *how,
		    const char **words, size_t *n)
{
	if (how->exits && !add_exits(tracing, how->stacks, words, n))
		return false;
	if (!how->exits) /* with exits every write is recorded */
		add_halt(tracing, words, n);
	return add_kvm_run(tracing, words, n) ||
	       (!how->sandboxes &&
		(how->exits || add(tracing, "kvm:kvm_entry", words, n)));
}

/*
 * The sampling event with its frequency in its own words, cycles:G as cycles/freq=997/G:
 * -F would be for the tracepoints, too, and most of their hits be left out. Fails for an
 * event that perf would not take a frequency with.
 */
static int sampling(char *word, size_t size, const struct hlg_record_tracing *how,
		    const char *option, struct hlg_err *err)
{
	const char *event = how->event, *frequency = how->frequency;
	const char *colon = strchr(event, ':');
	int name = colon ? (int)(colon - event) : (int)strlen(event);

	if (strpbrk(event, "/,{}") || (colon && strchr(colon + 1, ':')))
		return hlg_err_set(err, HLG_EINPUT,
				   "-e %s: not one plain event (with %s use -e "
				   "cpu-clock or -e cycles:G)",
				   event, option);
	if (strcmp(frequency, "max") == 0)
		return hlg_err_set(err, HLG_EINPUT, "-F max: not with %s (use a number)",
				   option);
	if ((size_t)snprintf(word, size, "%.*s/freq=%s/%s", name, event, frequency,
			     colon ? colon + 1 : "") >= size)
		return hlg_err_set(err, HLG_EINPUT,
				   "-e %.40s...: too long a name with %s (use -e "
				   "cpu-clock or -e cycles:G)",
				   event, option);
	return 0;
}

/* What the tracepoints are for. */
static const char *option_of(const struct hlg_record_tracing *how)
{
	return how->sandboxes ? "--sandboxes" : how->exits ? "--exits" : "--stacks";
}

int hlg_record_tracing_words(const struct hlg_record_tracing *how, const char **words,
			     size_t *n, struct hlg_err *err)
{
	static char event_word[256];
	struct tracing tracing = {.option = option_of(how)};
	int rc = sampling(event_word, sizeof(event_word), how, tracing.option, err);

	if (rc == 0)
		rc = find(&tracing, how->root, err);
	if (rc < 0)
		return rc;
	if (how->stacks) {
		words[(*n)++] = "-g";
		/* Else perf tells which kernel it was only if a sample of the host is
		 * shown. */
		words[(*n)++] = "--buildid-all";
	}
	words[(*n)++] = "-e";
	words[(*n)++] = event_word;
	if (add_all(&tracing, how, words, n))
		return 0;
	rc = denied(&tracing, err);
	if (rc < 0)
		return rc;
	if (how->sandboxes && !has(&tracing, "syscalls/sys_enter_ioctl"))
		return hlg_err_set(err, HLG_ESYSTEM,
				   "--sandboxes: the kernel does not trace system calls "
				   "(one with CONFIG_FTRACE_SYSCALLS does)");
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: the kernel %s (load it: modprobe kvm_intel or kvm_amd)",
			   how->exits ? "--exits" : tracing.option,
			   how->exits ? "has no tracepoints of KVM"
				      : "traces neither system calls nor KVM");
}

/* May this user have the fields of a tracepoint? That is for root and CAP_PERFMON, unless
 * perf_event_paranoid is -1. */
static bool may_record(const struct tracing *tracing, const char *event)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .sample_type = PERF_SAMPLE_RAW,
				       .sample_period = 1,
				       .disabled = 1};
	char path[sizeof(tracing->path) + 128];
	char text[24] = "";
	uint64_t id;
	FILE *f;
	long fd;

	snprintf(path, sizeof(path), "%s/events/%s/id", tracing->path, event);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	if (!hlg_number_u64(text, &id))
		return false;
	attr.config = id;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	close((int)fd);
	return true;
}

int hlg_record_tracing_check(const struct hlg_record_tracing *how, struct hlg_err *err)
{
	static const char *const events[] = {"syscalls/sys_enter_ioctl", "kvm/kvm_exit",
					     "kvm/kvm_entry"};
	struct tracing tracing = {.option = option_of(how)};
	const char *words[HLG_RECORD_TRACING_WORDS];
	size_t n = 0;
	int rc = hlg_record_tracing_words(how, words, &n, err);

	if (rc == 0)
		rc = find(&tracing, how->root, err);
	for (size_t i = 0; rc == 0 && i < sizeof(events) / sizeof(events[0]); i++) {
		if (!has(&tracing, events[i]))
			continue;
		if (!may_record(&tracing, events[i]))
			rc = hlg_err_set(err, HLG_ESYSTEM,
					 "%s: tracepoints may not be recorded by this "
					 "user (as root, or with CAP_PERFMON)",
					 tracing.option);
		break; /* all are allowed, or none */
	}
	return rc;
}

bool hlg_record_tracing_halt(const char *root, const char **words, size_t *n)
{
	struct tracing tracing = {.option = "record"};
	struct hlg_err err;

	return find(&tracing, root, &err) == 0 &&
	       may_record(&tracing, has(&tracing, "kvm/kvm_pio") ? "kvm/kvm_pio"
								 : "kvm/kvm_mmio") &&
	       add_halt(&tracing, words, n);
}
