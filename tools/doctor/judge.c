// SPDX-License-Identifier: GPL-2.0-only
/* What the machine's state means for somebody who wants to profile a guest. */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "tools/cli/output.h"
#include "tools/doctor/doctor.h"

enum {
	TEXT_COLUMN = 20 /* behind level and topic */
};

void hlg_doctor_say(struct hlg_findings *findings, enum hlg_level level,
		    const char *topic, const char *remedy, const char *fmt, ...)
{
	struct hlg_finding *f = &findings->finding[findings->n++];
	va_list ap;

	assert(findings->n <= HLG_MAX_FINDINGS);
	*f = (struct hlg_finding){.level = level, .topic = topic};
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	if (remedy)
		snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
}

/* "ready (cpu-clock only), 1 warning" */
static void write_verdict(FILE *f, const struct hlg_findings *findings)
{
	size_t n[HLG_LEVELS] = {0};
	bool clock_only = false;

	for (size_t i = 0; i < findings->n; i++) {
		const struct hlg_finding *finding = &findings->finding[i];

		n[finding->level]++;
		if (strcmp(finding->topic, "counters") == 0)
			clock_only = finding->level != HLG_LEVEL_OK;
	}
	if (n[HLG_LEVEL_FAIL]) {
		fprintf(f, "not ready: %zu to be mended first (fail)\n",
			n[HLG_LEVEL_FAIL]);
		return;
	}
	fprintf(f, "ready%s", clock_only ? " (cpu-clock only)" : "");
	if (n[HLG_LEVEL_WARN])
		fprintf(f, ", %zu warning%s", n[HLG_LEVEL_WARN],
			n[HLG_LEVEL_WARN] == 1 ? "" : "s");
	fputc('\n', f);
}

enum hlg_level hlg_doctor_write(FILE *f, const struct hlg_findings *findings,
				bool colours)
{
	static const char *const words[] = {"ok", "info", "warn", "fail"};
	static const char *const colour[] = {"\033[32m", "\033[36m", "\033[33m",
					     "\033[31m"};
	enum hlg_level worst = HLG_LEVEL_OK;

	for (size_t i = 0; i < findings->n; i++) {
		const struct hlg_finding *finding = &findings->finding[i];

		fprintf(f, "%s%-4s%s  %-12s  ", colours ? colour[finding->level] : "",
			words[finding->level], colours ? "\033[0m" : "", finding->topic);
		hlg_output_fold(f, TEXT_COLUMN, TEXT_COLUMN, finding->text);
		if (finding->remedy[0]) {
			fprintf(f, "%*s-> ", TEXT_COLUMN, "");
			hlg_output_fold(f, TEXT_COLUMN + 3, TEXT_COLUMN + 3,
					finding->remedy);
		}
		worst = finding->level > worst ? finding->level : worst;
	}
	write_verdict(f, findings);
	return worst;
}

static bool older(const struct hlg_probes *p, unsigned major, unsigned minor)
{
	return p->major < major || (p->major == major && p->minor < minor);
}

static int line_length(const char *text)
{
	return (int)strcspn(text, "\r\n");
}

enum {
	REASON = sizeof(((struct hlg_child *)0)->text) + 64
};

/* Why a child did not do it: the first line that it wrote, else how it ended. */
static const char *reason(char text[static REASON], const struct hlg_child *child)
{
	const char *signal = sigdescr_np(child->status); /* NULL of a real-time one */
	int n = line_length(child->text);

	if (n)
		snprintf(text, REASON, "%.*s", n, child->text);
	else if (child->end == HLG_CHILD_KILLED)
		snprintf(text, REASON, "killed by signal %d (%s)", child->status,
			 signal ? signal : "a real-time one");
	else if (child->end == HLG_CHILD_FAILED)
		snprintf(text, REASON, "%s", strerrordesc_np(child->status));
	else if (child->end == HLG_CHILD_TIMEOUT)
		snprintf(text, REASON, "no answer within 5 seconds");
	else
		snprintf(text, REASON, "status %d, without a word", child->status);
	return text;
}

/* Returns whether there is a perf to speak of. */
static bool judge_perf(struct hlg_findings *f, const struct hlg_probes *p)
{
	const struct hlg_child *asked = &p->perf_asked;
	char why[REASON];

	if (!p->perf[0])
		hlg_doctor_say(f, HLG_LEVEL_FAIL, "perf",
			       "install it (Debian: linux-perf); hlguest report reads "
			       "recordings without it",
			       "none in PATH");
	else if (asked->end == HLG_CHILD_TIMEOUT)
		hlg_doctor_say(f, HLG_LEVEL_FAIL, "perf",
			       "run `perf version` by hand to see why",
			       "%s: does not answer within 5 seconds", p->perf);
	else if (asked->end != HLG_CHILD_EXITED || asked->status != 0)
		hlg_doctor_say(f, HLG_LEVEL_FAIL, "perf",
			       "install the perf of this kernel", "%s: does not run: %s",
			       p->perf, reason(why, asked));
	else if (p->major == 0)
		hlg_doctor_say(f, HLG_LEVEL_WARN, "perf",
			       "is it perf? Its dlfilters need 5.14",
			       "%s: its version is not understood: %.*s", p->perf,
			       line_length(asked->text), asked->text);
	else if (older(p, 5, 14))
		hlg_doctor_say(f, HLG_LEVEL_FAIL, "perf",
			       "take a perf of 5.14 or later, or hlguest report",
			       "%s: %u.%u has no dlfilters", p->perf, p->major, p->minor);
	else
		hlg_doctor_say(f, HLG_LEVEL_OK, "perf", NULL, "%s: %.*s", p->perf,
			       line_length(asked->text), asked->text);
	return p->major != 0 && !older(p, 5, 14);
}

static void judge_traps(struct hlg_findings *f, const struct hlg_probes *p)
{
	if (p->machine.intel && older(p, 6, 18))
		hlg_doctor_say(
			f, HLG_LEVEL_WARN, "perf",
			"use -e cycles:G or -e cpu-clock, or use hlguest record",
			"%u.%u: perf kvm record takes cycles:P, which records no guest",
			p->major, p->minor);
	if (older(p, 6, 13))
		hlg_doctor_say(f, HLG_LEVEL_INFO, "perf",
			       "for record --windows: start the VMM first, then use -p "
			       "PID, or -a",
			       "%u.%u: groups of counters miss threads that start later",
			       p->major, p->minor);
}

static void judge_filter(struct hlg_findings *f, const struct hlg_probes *p)
{
	const char *folder = p->here ? "." : p->folder;
	char why[REASON];

	if (!p->here && !p->installed) {
		hlg_doctor_say(
			f, HLG_LEVEL_INFO, "hlguest.so",
			"install it, or give perf its path: --dlfilter PATH/hlguest.so",
			p->folder[0] ? "not in %s"
				     : "perf names no folder of dlfilters%s",
			p->folder);
		return;
	}
	if (p->untrusted)
		hlg_doctor_say(
			f, HLG_LEVEL_WARN, "hlguest.so",
			"work in another folder: perf runs it for --dlfilter hlguest.so",
			"./hlguest.so: was not loaded: root does not run what the "
			"current folder has, nor others what is not theirs alone");
	else if (p->filter.end != HLG_CHILD_EXITED || p->filter.status != 0)
		hlg_doctor_say(f, HLG_LEVEL_FAIL, "hlguest.so",
			       "install what it needs, or build it on this machine",
			       "%s/hlguest.so: does not load: %s", folder,
			       reason(why, &p->filter));
	else
		hlg_doctor_say(f, HLG_LEVEL_OK, "hlguest.so", NULL,
			       "%s/hlguest.so: loads", folder);
	if (p->here && p->installed)
		hlg_doctor_say(f, HLG_LEVEL_WARN, "hlguest.so",
			       "work in another folder, or remove one of the two",
			       "the one here goes before %s/hlguest.so", p->folder);
}

/* What runs the guests: the processor, or software that does as if. */
static void judge_open_kvm(struct hlg_findings *f, const char *module)
{
	static const struct {
		const char *module, *what, *remedy;
	} kinds[] = {
		{"kvm_intel", "the processor's VMX", NULL},
		{"kvm_amd", "the processor's SVM", NULL},
		{"kvm_pvm", "no VMX or SVM; ring 0 of guests is emulated",
		 "guests in ring 0, such as Hyperlight's, want kvm_intel or kvm_amd"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(module, kinds[i].module) == 0) {
			hlg_doctor_say(f, kinds[i].remedy ? HLG_LEVEL_INFO : HLG_LEVEL_OK,
				       "/dev/kvm", kinds[i].remedy, "opens (%s: %s)",
				       module, kinds[i].what);
			return;
		}
	hlg_doctor_say(f, HLG_LEVEL_OK, "/dev/kvm", NULL, "opens (%s)", module);
}

static void judge_kvm(struct hlg_findings *f, const struct hlg_probes *p)
{
	const char *module = p->machine.kvm[0] ? p->machine.kvm : "no kvm_ module";

	if (p->kvm == 0)
		judge_open_kvm(f, module);
	else if (p->kvm == EACCES || p->kvm == EPERM)
		hlg_doctor_say(f, HLG_LEVEL_FAIL, "/dev/kvm",
			       "join its group (usermod -aG kvm USER), then log in again",
			       "may not be opened (%s)", module);
	else if (p->kvm == ENOENT)
		hlg_doctor_say(f, HLG_LEVEL_FAIL, "/dev/kvm",
			       "load kvm_intel or kvm_amd; turn virtualization on in the "
			       "firmware, or nesting in this machine's own host",
			       "is not there (%s)", module);
	else
		hlg_doctor_say(
			f, HLG_LEVEL_FAIL, "/dev/kvm", "see the kernel's log (dmesg)",
			"cannot be opened: %s (%s)", strerrordesc_np(p->kvm), module);
}

static void judge_nesting(struct hlg_findings *f, const struct hlg_probes *p)
{
	static const char *const words[] = {"unknown", "off", "on"};
	const char *word = words[p->nested + 1];

	if (p->machine.guest)
		hlg_doctor_say(f, HLG_LEVEL_INFO, "nesting",
			       "trust shares more than times: exits cost more here than "
			       "on metal",
			       "this machine is a guest itself; guests in its guests: %s",
			       word);
	else
		hlg_doctor_say(f, HLG_LEVEL_OK, "nesting", NULL,
			       "this machine is no guest; guests in its guests: %s",
			       word);
}

static void judge_rights(struct hlg_findings *f, const struct hlg_probes *p)
{
	const char *topic = "perf events";
	char paranoid[64] = "perf_event_paranoid cannot be read";

	if (p->paranoid != INT_MIN)
		snprintf(paranoid, sizeof(paranoid), "perf_event_paranoid is %d",
			 p->paranoid);
	if (p->clock == 0)
		hlg_doctor_say(f, HLG_LEVEL_OK, topic, NULL, "allowed (%s%s)", paranoid,
			       p->perfmon ? ", CAP_PERFMON is held" : "");
	else if (p->clock == ENOSYS || p->clock == ENOENT)
		hlg_doctor_say(
			f, HLG_LEVEL_FAIL, topic,
			p->clock == ENOSYS
				? "take a kernel with CONFIG_PERF_EVENTS"
				: "use hlguest report on recordings from elsewhere",
			"not in this kernel: %s", strerrordesc_np(p->clock));
	else if (p->perfmon)
		hlg_doctor_say(f, HLG_LEVEL_FAIL, topic,
			       "leave the container, or let its seccomp profile pass "
			       "perf_event_open",
			       "refused in spite of CAP_PERFMON: %s (%s)",
			       strerrordesc_np(p->clock), paranoid);
	else
		hlg_doctor_say(f, HLG_LEVEL_FAIL, topic,
			       "sysctl kernel.perf_event_paranoid=1, or run as root or "
			       "with CAP_PERFMON",
			       "refused: %s (%s)", strerrordesc_np(p->clock), paranoid);
}

static void judge_counters(struct hlg_findings *f, const struct hlg_probes *p)
{
	if (p->cycles == EACCES || p->cycles == EPERM)
		hlg_doctor_say(f, HLG_LEVEL_WARN, "counters", "see perf events above",
			       "not known: they may not be opened");
	else if (p->cycles != 0)
		hlg_doctor_say(f, HLG_LEVEL_INFO, "counters",
			       "record with -e cpu-clock; hlguest record does so itself",
			       "none of the hardware's (%s)", strerrorname_np(p->cycles));
	else
		hlg_doctor_say(f, HLG_LEVEL_OK, "counters", NULL, "the hardware's");
}

static void judge_mediation(struct hlg_findings *f, const struct hlg_probes *p)
{
	if (p->mediated == 1)
		hlg_doctor_say(
			f, HLG_LEVEL_WARN, "mediated PMU",
			"load kvm_intel or kvm_amd with enable_mediated_pmu=0, or record "
			"with -e cpu-clock",
			"on: the host's counters do not see guests that have a PMU");
	else
		hlg_doctor_say(f, HLG_LEVEL_OK, "mediated PMU", NULL, "%s",
			       p->mediated == 0 ? "off" : "not in this kernel");
}

static void judge_tracefs(struct hlg_findings *f, const struct hlg_probes *p)
{
	if (p->tracefs == ENOENT)
		hlg_doctor_say(f, HLG_LEVEL_WARN, "tracefs",
			       "mount -t tracefs nodev /sys/kernel/tracing (for host "
			       "stacks and exits)",
			       "not mounted");
	else if (p->tracefs != 0)
		hlg_doctor_say(f, HLG_LEVEL_WARN, "tracefs",
			       "run as root; or with CAP_PERFMON, and mount it with "
			       "mode=750,gid= (for host stacks and exits)",
			       "cannot be read: %s", strerrordesc_np(p->tracefs));
	else if (!p->kvm_events)
		hlg_doctor_say(f, HLG_LEVEL_WARN, "tracefs", "load kvm (for exits)",
			       "mounted, without events of kvm");
	else
		hlg_doctor_say(f, HLG_LEVEL_OK, "tracefs", NULL,
			       "mounted, with events of kvm");
}

/* "PROBLEM (what to do)": nobody needs them for anything else. */
static void judge_guest_stacks(struct hlg_findings *f, const struct hlg_probes *p)
{
	const char *remedy = strchr(p->guest_stacks, '(');
	size_t n = remedy ? strlen(remedy) : 0;
	char words[sizeof(p->guest_stacks)];

	if (p->guest_stacks[0] == '\0') {
		hlg_doctor_say(f, HLG_LEVEL_OK, "guest stacks", NULL,
			       "can be recorded (record --guest-stacks)");
		return;
	}
	if (n > 2)
		snprintf(words, sizeof(words), "%.*s", (int)n - 2, remedy + 1);
	else
		snprintf(words, sizeof(words), "see hlguest-guest-stacks(7)");
	hlg_doctor_say(f, HLG_LEVEL_INFO, "guest stacks", words, "%.*s",
		       (int)(strlen(p->guest_stacks) - (n ? n + 1 : 0)), p->guest_stacks);
}

/* "cpu-clock 95 % within 1 instruction": the windows that are known, as far as there is
 * room. */
static void list_windows(char *to, size_t size, const struct hlg_calibration_file *c)
{
	char within[48];
	size_t n = 0;

	to[0] = '\0';
	for (size_t i = 0; i < c->n_events && n < size; i++)
		if (c->events[i].known)
			n += (size_t)snprintf(
				to + n, size - n, "%s%s %s", n ? ", " : "",
				c->events[i].name,
				hlg_calibration_file_within(within, c->events[i].window));
	if (n == 0)
		snprintf(to, size, "not known");
}

/* What the last calibration says, and whether it is of this machine. */
void hlg_doctor_judge_calibration(struct hlg_findings *f, const struct hlg_probes *p)
{
	const struct hlg_calibration_file *c = &p->calibrated;
	bool other = strcmp(c->cpu, p->machine.cpu) != 0 ||
		     strcmp(c->kernel, p->machine.kernel) != 0;
	const char *topic = "calibration";
	char windows[512];

	list_windows(windows, sizeof(windows), c);
	if (p->calibration_problem[0])
		hlg_doctor_say(f, HLG_LEVEL_WARN, topic, "hlguest calibrate --save=FILE",
			       "%s", p->calibration_problem);
	else if (!p->calibration)
		hlg_doctor_say(f, HLG_LEVEL_INFO, topic, "hlguest calibrate --save=FILE",
			       "none is saved");
	else if (!c->holds)
		hlg_doctor_say(f, HLG_LEVEL_WARN, topic,
			       "run hlguest calibrate, and see its last lines",
			       "%s: known results were measured wrongly, so its figures "
			       "mean nothing",
			       c->date);
	else
		hlg_doctor_say(
			f, other ? HLG_LEVEL_WARN : HLG_LEVEL_OK, topic,
			other ? "calibrate again: it is of another processor or kernel"
			      : NULL,
			"%s: how late samples land: %s; ring 0 %s", c->date, windows,
			c->emulated < 0 ? "not measured"
			: c->emulated   ? "is emulated: exits cost more than on hardware"
					: "runs on the processor");
}

void hlg_doctor_judge(struct hlg_findings *f, const struct hlg_probes *p)
{
	if (judge_perf(f, p))
		judge_traps(f, p);
	judge_filter(f, p);
	judge_kvm(f, p);
	judge_nesting(f, p);
	judge_rights(f, p);
	judge_counters(f, p);
	judge_mediation(f, p);
	judge_tracefs(f, p);
	judge_guest_stacks(f, p);
	hlg_doctor_judge_calibration(f, p);
}
