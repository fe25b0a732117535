// SPDX-License-Identifier: GPL-2.0-only
/* What the last calibration says, and whether it is of this machine. */
#include <string.h>
#include <unistd.h>

#include "tools/doctor/doctor.h"

#define TOPIC "calibration"

void hlg_doctor_look_at_calibration(struct hlg_probes *p)
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

/* "cpu-clock 1, cycles:G not known": the windows, as far as there is room. */
static void list_windows(char *to, size_t size, const struct hlg_calibration_file *c)
{
	size_t n = 0;

	to[0] = '\0';
	for (size_t i = 0; i < c->n_events && n < size; i++)
		if (c->events[i].known)
			n += (size_t)snprintf(to + n, size - n, "%s%s %u", n ? ", " : "",
					      c->events[i].name,
					      (unsigned)c->events[i].window);
	if (n == 0)
		snprintf(to, size, "not known");
}

static void tell(struct hlg_finding *f, const struct hlg_calibration_file *c)
{
	char windows[512];

	list_windows(windows, sizeof(windows), c);
	snprintf(f->text, sizeof(f->text),
		 "%s: samples are late by so many instructions: %s; ring 0 %s", c->date,
		 windows,
		 c->emulated < 0 ? "not measured"
		 : c->emulated   ? "is emulated: crossings cost more than on hardware"
				 : "runs on the processor");
}

void hlg_doctor_judge_calibration(struct hlg_findings *findings,
				  const struct hlg_probes *p)
{
	const struct hlg_calibration_file *c = &p->calibrated;
	struct hlg_finding *f = hlg_doctor_add(findings, HLG_LEVEL_OK, TOPIC);
	const char *remedy = "";

	if (p->calibration_problem[0]) {
		f->level = HLG_LEVEL_WARN;
		snprintf(f->text, sizeof(f->text), "%s", p->calibration_problem);
		remedy = "hlguest calibrate --save=FILE";
	} else if (!p->calibration) {
		snprintf(f->text, sizeof(f->text),
			 "none is kept (hlguest calibrate --save=FILE makes one)");
	} else if (!c->holds) {
		f->level = HLG_LEVEL_WARN;
		snprintf(f->text, sizeof(f->text),
			 "%s: its truths did not hold, so its figures mean nothing",
			 c->date);
		remedy = "hlguest calibrate, and see its last lines";
	} else {
		tell(f, c);
		if (strcmp(c->cpu, p->machine.cpu) != 0 ||
		    strcmp(c->kernel, p->machine.kernel) != 0) {
			f->level = HLG_LEVEL_WARN;
			remedy = "calibrate again: it is of another processor or kernel";
		}
	}
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
}
