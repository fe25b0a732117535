// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel says of this machine, and what perf there is. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/callers/program.h"
#include "tools/cli/perf-find.h"
#include "tools/doctor/doctor.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

static void under(char path[static PATH_MAX], const char *root, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s%s", root, name) >= PATH_MAX)
		path[0] = '\0';
}

/* The begin of a small file, as text; empty if it cannot be read. */
static void slurp(char *buf, size_t size, const char *root, const char *name)
{
	char path[PATH_MAX];
	ssize_t got;
	int fd;

	buf[0] = '\0';
	under(path, root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	got = read(fd, buf, size - 1);
	buf[got > 0 ? got : 0] = '\0';
	close(fd);
}

/* A module's switch: 1, 0, or -1 where there is none. */
static int parameter(const char *root, const char *module, const char *name)
{
	char path[128], value[8];

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module, name);
	slurp(value, sizeof(value), root, path);
	if (value[0] == '\0')
		return -1;
	return value[0] == 'Y' || value[0] == 'y' || value[0] == '1';
}

static void look_at_kvm(struct hlg_probes *p, const char *root)
{
	char path[PATH_MAX];
	int fd;

	under(path, root, "/dev/kvm");
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	p->kvm = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	p->nested = parameter(root, p->machine.kvm, "nested");
	p->mediated = parameter(root, p->machine.kvm, "enable_mediated_pmu");
	if (p->mediated < 0)
		p->mediated = parameter(root, "kvm", "enable_mediated_pmu");
}

/* tracefs has two places, the older one inside debugfs. */
static void look_at_tracefs(struct hlg_probes *p, const char *root)
{
	static const char *const places[] = {"/sys/kernel/tracing/events",
					     "/sys/kernel/debug/tracing/events"};
	char path[PATH_MAX], kvm[PATH_MAX + 8];

	p->tracefs = ENOENT;
	for (size_t i = 0; i < 2 && p->tracefs != 0; i++) {
		DIR *dir;

		under(path, root, places[i]);
		dir = opendir(path);
		if (!dir) {
			p->tracefs = errno == ENOENT ? p->tracefs : errno;
			continue;
		}
		closedir(dir);
		snprintf(kvm, sizeof(kvm), "%s/kvm", path);
		p->kvm_events = access(kvm, F_OK) == 0;
		p->tracefs = 0;
	}
}

static void look_at_rights(struct hlg_probes *p, const char *root)
{
	char text[4096], *caps;
	unsigned long long held = 0;

	slurp(text, sizeof(text), root, "/proc/sys/kernel/perf_event_paranoid");
	p->paranoid = text[0] ? (int)strtol(text, NULL, 10) : INT_MIN;
	slurp(text, sizeof(text), root, "/proc/self/status");
	caps = strstr(text, "\nCapEff:");
	if (caps)
		held = strtoull(caps + strlen("\nCapEff:"), NULL, 16);
	p->perfmon = held >> CAP_PERFMON & 1 || held >> CAP_SYS_ADMIN & 1;
}

void hlg_doctor_look_at_files(struct hlg_probes *p, const char *root)
{
	hlg_machine_look(&p->machine, root);
	look_at_kvm(p, root);
	look_at_tracefs(p, root);
	look_at_rights(p, root);
}

/* Opens an event on this process, as perf would; errno of it. */
static int try_event(unsigned type, unsigned long long config, bool no_host,
		     bool no_kernel)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_host = no_host,
		.exclude_kernel = no_kernel,
		.exclude_hv = no_kernel,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void look_at_events(struct hlg_probes *p)
{
	p->clock = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, false);
	/* Is there a counter at all? Whether it may be used is the question above. */
	p->cycles = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, true);
}

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

/* Which perf there is, and whether it will find the filter and can load it. */
static void look_at_perf(struct hlg_probes *p)
{
	if (hlg_perf_find(p->perf))
		ask_version(p);
	if (p->perf[0] && answers(&p->perf_asked))
		ask_folder(p);
	try_filter(p);
}

/* Loads the program that would read them, and forgets it. */
static void look_at_guest_stacks(struct hlg_probes *p)
{
	struct hlg_callers_program *program;
	struct hlg_err err;

	if (hlg_callers_program_open(&program, NULL, NULL, &err) < 0)
		snprintf(p->guest_stacks, sizeof(p->guest_stacks), "%s", err.msg);
	hlg_callers_program_close(program);
}

static void look_at_calibration(struct hlg_probes *p)
{
	char path[PATH_MAX];
	struct hlg_err err;

	hlg_calibration_file_place(path);
	if (!path[0] || access(path, F_OK) != 0)
		return;
	if (hlg_calibration_file_read(&p->calibrated, path, &err) < 0)
		snprintf(p->calibration_problem, sizeof(p->calibration_problem), "%s",
			 err.msg);
	else
		p->calibration = true;
}

void hlg_doctor_look(struct hlg_probes *p, const char *root)
{
	memset(p, 0, sizeof(*p));
	look_at_perf(p);
	hlg_doctor_look_at_files(p, root);
	look_at_events(p);
	look_at_guest_stacks(p);
	look_at_calibration(p);
}
