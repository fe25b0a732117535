// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/tracing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool may_read(struct hlg_record_tracing *tracing, const char *path, int mode)
{
	if (access(path, mode) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR)
		tracing->error = errno;
	return false;
}

int hlg_record_tracing_denied(const struct hlg_record_tracing *tracing,
			      struct hlg_err *err)
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

int hlg_record_tracing_find(struct hlg_record_tracing *tracing, const char *root,
			    const char *option, struct hlg_err *err)
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
	rc = hlg_record_tracing_denied(tracing, err);
	if (rc < 0)
		return rc;
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: tracefs is not mounted (as root: mount -t tracefs nodev "
			   "/sys/kernel/tracing)",
			   option);
}

bool hlg_record_tracing_has(struct hlg_record_tracing *tracing, const char *event)
{
	char path[sizeof(tracing->path) + 128];

	/* perf asks for the number of a tracepoint. */
	snprintf(path, sizeof(path), "%s/events/%s/id", tracing->path, event);
	return may_read(tracing, path, R_OK);
}

bool hlg_record_tracing_kvm_run(struct hlg_record_tracing *tracing, const char **words,
				size_t *n)
{
	if (!hlg_record_tracing_has(tracing, "syscalls/sys_enter_ioctl"))
		return false;
	words[(*n)++] = "-e";
	words[(*n)++] = "syscalls:sys_enter_ioctl";
	words[(*n)++] = "--filter";
	words[(*n)++] = "cmd == 0xae80"; /* KVM_RUN */
	return true;
}

int hlg_record_tracing_sampling(char *word, size_t size, const char *event,
				const char *frequency, const char *option,
				struct hlg_err *err)
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
