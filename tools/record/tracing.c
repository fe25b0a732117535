// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/tracing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where tracefs is, of its own or as debugfs has it. */
struct tracing {
	const char *option; /* "--exits": the subject of errors; not copied */
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
			"%s: tracepoints may not be read by this user (as root, or: "
			"mount -o remount,mode=755 /sys/kernel/tracing)",
			tracing->option);
	if (tracing->error)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: tracefs cannot be read: %s (see what is at "
				   "/sys/kernel/tracing)",
				   tracing->option, strerrordesc_np(tracing->error));
	return 0;
}

/* Finds tracefs; nothing is mounted. Fails, and says how to get it, where there is none,
 * or none to be read. */
static int find(struct tracing *tracing, const char *root, const char *option,
		struct hlg_err *err)
{
	static const char *const folders[] = {"/sys/kernel/tracing",
					      "/sys/kernel/debug/tracing"};
	char path[sizeof(tracing->path) + 16];
	int rc;

	tracing->option = option;
	tracing->error = 0;
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
			   option);
}

/* Has it "kvm/kvm_exit", and may it be read? */
static bool has(struct tracing *tracing, const char *event)
{
	char path[sizeof(tracing->path) + 128];

	/* perf asks for the number of a tracepoint. */
	snprintf(path, sizeof(path), "%s/events/%s/id", tracing->path, event);
	return may_read(tracing, path, R_OK);
}

/* Appends KVM_RUN's system call, if tracing has it; true if it has. Four words. */
static bool kvm_run(struct tracing *tracing, const char **words, size_t *n)
{
	if (!has(tracing, "syscalls/sys_enter_ioctl"))
		return false;
	words[(*n)++] = "-e";
	words[(*n)++] = "syscalls:sys_enter_ioctl";
	words[(*n)++] = "--filter";
	words[(*n)++] = "cmd == 0xae80"; /* KVM_RUN */
	return true;
}

/*
 * The sampling event with its frequency in its own words, cycles:G as cycles/freq=997/G:
 * -F would be for the tracepoints, too, and most of their hits be left out. Fails for an
 * event that perf would not take a frequency with.
 */
static int sampling(char *word, size_t size, const char *event, const char *frequency,
		    const char *option, struct hlg_err *err)
{
	const char *colon = strchr(event, ':');
	int name = colon ? (int)(colon - event) : (int)strlen(event);

	if (strpbrk(event, "/,{}") || (colon && strchr(colon + 1, ':')))
		return hlg_err_set(err, HLG_EINPUT,
				   "-e %s: not one plain event (with %s say as in -e "
				   "cpu-clock, -e cycles:G)",
				   event, option);
	if (strcmp(frequency, "max") == 0)
		return hlg_err_set(err, HLG_EINPUT, "-F max: not with %s (say a number)",
				   option);
	snprintf(word, size, "%.*s/freq=%s/%s", name, event, frequency,
		 colon ? colon + 1 : "");
	return 0;
}

int hlg_record_tracing_exits(const char **words, size_t *n, const char *event,
			     const char *frequency, const char *root, struct hlg_err *err)
{
	static const char *const events[] = {"kvm_exit",         "kvm_entry",
					     "kvm_pio",          "kvm_mmio",
					     "kvm_emulate_insn", "kvm_userspace_exit"};
	static char event_word[256], names[6][64];
	struct tracing tracing;
	size_t i, found = 0;
	int rc = sampling(event_word, sizeof(event_word), event, frequency, "--exits",
			  err);

	if (rc == 0)
		rc = find(&tracing, root, "--exits", err);
	if (rc < 0)
		return rc;
	words[(*n)++] = "-e";
	words[(*n)++] = event_word;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(names[i], sizeof(names[i]), "kvm/%s", events[i]);
		if (!has(&tracing, names[i]))
			continue;
		names[i][3] = ':';
		words[(*n)++] = "-e";
		words[(*n)++] = names[i];
		found++;
	}
	if (!found) {
		rc = denied(&tracing, err);
		if (rc < 0)
			return rc;
		return hlg_err_set(err, HLG_ESYSTEM,
				   "--exits: the kernel has no tracepoints of KVM (load "
				   "it: modprobe kvm_intel or kvm_amd)");
	}
	kvm_run(&tracing, words, n);
	return 0;
}

int hlg_record_tracing_stacks(const char **words, size_t *n, const char *event,
			      const char *frequency, const char *root,
			      struct hlg_err *err)
{
	static char event_word[256];
	struct tracing tracing;
	int rc = sampling(event_word, sizeof(event_word), event, frequency, "--stacks",
			  err);

	if (rc == 0)
		rc = find(&tracing, root, "--stacks", err);
	if (rc < 0)
		return rc;
	words[(*n)++] = "-g";
	/* Else perf tells which kernel it was only if a sample of the host is shown. */
	words[(*n)++] = "--buildid-all";
	words[(*n)++] = "-e";
	words[(*n)++] = event_word;
	if (kvm_run(&tracing, words, n))
		return 0;
	if (has(&tracing, "kvm/kvm_entry")) {
		words[(*n)++] = "-e";
		words[(*n)++] = "kvm:kvm_entry";
		return 0;
	}
	rc = denied(&tracing, err);
	if (rc < 0)
		return rc;
	return hlg_err_set(err, HLG_ESYSTEM,
			   "--stacks: the kernel traces neither system calls nor KVM "
			   "(load it: modprobe kvm_intel or kvm_amd)");
}
