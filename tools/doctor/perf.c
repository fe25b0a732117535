// SPDX-License-Identifier: GPL-2.0-only
/* Which perf there is, and whether it will find the filter and can load it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/perf-find.h"
#include "tools/doctor/doctor.h"

#define PATIENCE 5000 /* ms for a perf to say what it is */

/* What perf looks for in a filter (perf-dlfilter(1)). */
static const char *const exports[] = {"start", "stop", "filter_event_early",
				      "filter_description", "perf_dlfilter_fns"};

static bool answers(const struct hlg_child *child)
{
	return child->end == HLG_CHILD_EXITED && child->status == 0;
}

static void ask_version(struct hlg_probes *p)
{
	char version[] = "version", *argv[] = {p->perf, version, NULL}, *number;

	hlg_child_run(&p->perf_asked, argv, PATIENCE);
	number = strstr(p->perf_asked.text, "version ");
	if (!answers(&p->perf_asked) || !number)
		return;
	number += strlen("version ");
	if (number[strspn(number, "0123456789")] != '.')
		return;
	p->major = (unsigned)strtoul(number, &number, 10);
	p->minor = (unsigned)strtoul(number + 1, NULL, 10);
}

static void ask_folder(struct hlg_probes *p)
{
	char option[] = "--exec-path", *argv[] = {p->perf, option, NULL};
	struct hlg_child child;
	size_t len;

	hlg_child_run(&child, argv, PATIENCE);
	len = strcspn(child.text, "\r\n");
	if (answers(&child) && child.text[0] == '/' && len < sizeof(child.text) - 1)
		snprintf(p->folder, sizeof(p->folder), "%.*s/dlfilters", (int)len,
			 child.text);
}

/* Runs in a child: a filter that crashes while it is loaded takes nobody along. */
static int load(void *path)
{
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle) {
		fputs(dlerror(), stderr);
		return 1;
	}
	for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++)
		if (!dlsym(handle, exports[i])) {
			fprintf(stderr, "%s: has no %s", (char *)path, exports[i]);
			return 1;
		}
	return 0;
}

/*
 * The one in the current folder, if it is the user's own and nobody else may write it: to
 * load a library is to run it. Nothing there is root's own.
 */
static int open_own(void)
{
	int fd = open("hlguest.so", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (geteuid() != 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -1;
}

/* perf takes the one in the current folder first, whosever it is. */
static void try_filter(struct hlg_probes *p)
{
	char here[32], there[PATH_MAX + 16];
	int own;

	snprintf(there, sizeof(there), "%s/hlguest.so", p->folder);
	p->here = access("hlguest.so", F_OK) == 0;
	p->installed = p->folder[0] && access(there, F_OK) == 0;
	own = p->here ? open_own() : -1;
	p->untrusted = p->here && own < 0;
	snprintf(here, sizeof(here), "/proc/self/fd/%d", own);
	if (own >= 0 || (p->installed && !p->here))
		hlg_child_call(&p->filter, load, p->here ? here : there, PATIENCE);
	if (own >= 0)
		close(own);
}

void hlg_doctor_look_at_perf(struct hlg_probes *p)
{
	if (hlg_perf_find(p->perf))
		ask_version(p);
	if (p->perf[0] && answers(&p->perf_asked))
		ask_folder(p);
	try_filter(p);
}
