/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The doctor in three steps that know nothing of each other: probes look (and judge
 * nothing), rules judge (and look at nothing), one function writes.
 */
#ifndef HLG_TOOLS_DOCTOR_DOCTOR_H
#define HLG_TOOLS_DOCTOR_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "symtab/image/image.h"
#include "tools/cli/child.h"
#include "tools/machine/calibration-file.h"
#include "tools/machine/machine.h"

/* What was seen. An int that is called after a thing is the errno of trying it; 0: can.
 */
struct hlg_probes {
	char perf[PATH_MAX];         /* the one in PATH; empty: none */
	struct hlg_child perf_asked; /* its answer to `perf version` */
	unsigned major, minor;       /* of perf; 0.0: not understood */
	char folder[PATH_MAX];       /* its dlfilters; empty: it did not say */
	bool installed, here;        /* hlguest.so there, in the current folder */
	bool untrusted;              /* that here was not loaded: maybe another's */
	struct hlg_child filter;     /* loading the one that perf would take */
	int kvm;                     /* opening /dev/kvm for reading and writing */
	int nested, mediated;        /* kvm's parameters: 0, 1; -1: there is none */
	int paranoid;                /* perf_event_paranoid; INT_MIN: unknown */
	bool perfmon;                /* CAP_PERFMON or CAP_SYS_ADMIN is held */
	int clock, cycles;           /* opening events */
	int tracefs;                 /* opening its folder of events */
	bool kvm_events;             /* and kvm has some there */
	char guest_stacks[1024]; /* why there are none, and what helps; empty: there are
				  */
	struct hlg_machine machine;
	bool calibration;               /* there is a last one that could be read */
	char calibration_problem[1024]; /* why it could not; empty: none is there */
	struct hlg_calibration_file calibrated;
};

enum hlg_level {
	HLG_LEVEL_OK,
	HLG_LEVEL_INFO, /* to know of; hlguest does its best with it by itself */
	HLG_LEVEL_WARN, /* something can be done to get more */
	HLG_LEVEL_FAIL, /* something must be done */
	HLG_LEVELS
};

struct hlg_finding {
	enum hlg_level level;
	const char *topic;
	char text[1536];
	char remedy[256]; /* empty: none is needed */
};

#define HLG_MAX_FINDINGS 32

struct hlg_findings {
	struct hlg_finding finding[HLG_MAX_FINDINGS];
	size_t n;
};

/* Adds a finding; remedy may be NULL. */
__attribute__((format(printf, 5, 6))) void hlg_doctor_say(struct hlg_findings *findings,
							  enum hlg_level level,
							  const char *topic,
							  const char *remedy,
							  const char *fmt, ...);

/*
 * Probes, each bounded in time. root is "" but in tests: a folder that has other proc,
 * sys and dev in it.
 */
void hlg_doctor_look(struct hlg_probes *probes, const char *root);
void hlg_doctor_look_at_files(struct hlg_probes *probes, const char *root);

/* Rules: the machine, and an image that is open and has a base. */
void hlg_doctor_judge(struct hlg_findings *findings, const struct hlg_probes *probes);
void hlg_doctor_judge_calibration(struct hlg_findings *findings,
				  const struct hlg_probes *probes);
void hlg_doctor_judge_image(struct hlg_findings *findings, const struct hlg_image *image);

/* Writes a line for each finding, and one for its remedy; then what follows from all of
 * them. Returns the worst level. */
enum hlg_level hlg_doctor_write(FILE *f, const struct hlg_findings *findings,
				bool colours);

#endif
