// SPDX-License-Identifier: GPL-2.0-only
/*
 * -F would be for tracepoints, too, and most of their hits be left out: the frequency
 * goes into the sampling event's own words.
 */
#include "record-exits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

static bool may_read(const char *path, int mode, int *error)
{
	if (access(path, mode) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR)
		*error = errno;
	return false;
}

/* Where tracefs is: of its own, or as debugfs has it. False if there is none, or with
 * *error where something is, but cannot be read. */
static bool find_tracing(char tracing[static PATH_SIZE], const char *root, int *error)
{
	static const char *const folders[] = {"/sys/kernel/tracing",
					      "/sys/kernel/debug/tracing"};
	char path[PATH_SIZE + 16];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(tracing, PATH_SIZE, "%s%s", root, folders[i]);
		snprintf(path, sizeof(path), "%s/events", tracing);
		if (may_read(path, R_OK | X_OK, error))
			return true;
	}
	return false;
}

/* perf asks for the number of a tracepoint. */
static bool has_event(const char *tracing, const char *event, int *error)
{
	char path[PATH_SIZE + 128];

	snprintf(path, sizeof(path), "%s/events/%s/id", tracing, event);
	return may_read(path, R_OK, error);
}

static int no_tracing(int error, struct hlg_err *err)
{
	if (error == EACCES || error == EPERM)
		return hlg_err_set(
			err, HLG_ESYSTEM,
			"--exits: tracepoints may not be read by this user (as "
			"root, or: mount -o remount,mode=755 "
			"/sys/kernel/tracing)");
	if (error)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "--exits: tracefs cannot be read: %s (see what is "
				   "at /sys/kernel/tracing)",
				   strerrordesc_np(error));
	return hlg_err_set(err, HLG_ESYSTEM,
			   "--exits: tracefs is not mounted (as root: mount -t tracefs "
			   "nodev /sys/kernel/tracing)");
}

/* cycles:G as cycles/freq=997/G. */
static int sampling_word(char *word, size_t size, const char *event,
			 const char *frequency, struct hlg_err *err)
{
	const char *colon = strchr(event, ':');
	int name = colon ? (int)(colon - event) : (int)strlen(event);

	if (strpbrk(event, "/,{}") || (colon && strchr(colon + 1, ':')))
		return hlg_err_set(
			err, HLG_EINPUT,
			"-e %s: not one plain event (with --exits say as in -e "
			"cpu-clock, -e cycles:G)",
			event);
	if (strcmp(frequency, "max") == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "-F max: not with --exits (say a number)");
	snprintf(word, size, "%.*s/freq=%s/%s", name, event, frequency,
		 colon ? colon + 1 : "");
	return 0;
}

int hlg_record_exits(const char **words, size_t *n, const char *event,
		     const char *frequency, const char *root, struct hlg_err *err)
{
	static const char *const events[] = {"kvm_exit",         "kvm_entry",
					     "kvm_pio",          "kvm_mmio",
					     "kvm_emulate_insn", "kvm_userspace_exit"};
	static char sampling[256], names[6][64];
	char tracing[PATH_SIZE];
	size_t i, found = 0;
	int error = 0;
	int rc = sampling_word(sampling, sizeof(sampling), event, frequency, err);

	if (rc < 0)
		return rc;
	if (!find_tracing(tracing, root, &error))
		return no_tracing(error, err);
	words[(*n)++] = "-e";
	words[(*n)++] = sampling;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(names[i], sizeof(names[i]), "kvm/%s", events[i]);
		if (!has_event(tracing, names[i], &error))
			continue;
		names[i][3] = ':';
		words[(*n)++] = "-e";
		words[(*n)++] = names[i];
		found++;
	}
	if (!found && error)
		return no_tracing(error, err);
	if (!found)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "--exits: the kernel has no tracepoints of KVM (load "
				   "it: modprobe kvm_intel or kvm_amd)");
	if (has_event(tracing, "syscalls/sys_enter_ioctl", &error)) {
		words[(*n)++] = "-e";
		words[(*n)++] = "syscalls:sys_enter_ioctl";
		words[(*n)++] = "--filter";
		words[(*n)++] = "cmd == 0xae80"; /* KVM_RUN */
	}
	return 0;
}
