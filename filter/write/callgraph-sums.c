// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/callgraph-sums.h"

#include <inttypes.h>

#include "filter/report/callgraph.h"
#include "filter/write/write.h"

static void write_sum(FILE *f, const char *what, struct hlg_count count,
		      struct hlg_count of)
{
	char percent[16];

	fprintf(f, "  %-18s %8" PRIu64 " %20" PRIu64 " %8s %%\n", what, count.samples,
		count.period,
		hlg_write_percent(percent,
				  of.samples ? (double)count.samples / (double)of.samples
					     : 0));
}

int hlg_callgraph_text(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_callgraph_sums s;
	struct hlg_count guest = r->all.guest;
	int rc = r->stacks ? hlg_callgraph_sum(&s, r, err) : 0;

	if (rc < 0 || !r->stacks)
		return rc;
	fprintf(f, "%-16s %12s %20s %10s\n", "guest stacks", "samples", "period",
		"share");
	write_sum(f, "host half", s.known, guest);
	write_sum(f, "no KVM_RUN stack", s.orphan, guest);
	if (s.bare.samples)
		write_sum(f, "no callchain", s.bare, guest);
	if (s.lost.samples)
		write_sum(f, "not kept", s.lost, guest);
	if (s.called.samples)
		write_sum(f, "with guest callers", s.called, guest);
	fprintf(f,
		"  %" PRIu64 " KVM_RUNs seen, %" PRIu64
		" distinct host halves; of %" PRIu64 " host frames, %" PRIu64
		" are of no known function\n",
		s.marks, s.halves, s.frames, s.unresolved);
	if (s.aside.samples)
		fprintf(f,
			"  %" PRIu64 " of the host's samples tell of KVM_RUN, not of "
			"time: they are in no stack and no row\n",
			s.aside.samples);
	fputc('\n', f);
	return 0;
}

static void write_record(FILE *f, const char *name, uint64_t samples,
			 const uint64_t *period)
{
	fprintf(f, "stacks,,,\"%s\",,,,,,%" PRIu64 ",", name, samples);
	if (period)
		fprintf(f, "%" PRIu64, *period);
	fputs(",,,,,\n", f);
}

int hlg_callgraph_csv(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_callgraph_sums s;
	int rc = r->stacks ? hlg_callgraph_sum(&s, r, err) : 0;

	if (rc < 0 || !r->stacks)
		return rc;
	write_record(f, "host half", s.known.samples, &s.known.period);
	write_record(f, "no KVM_RUN stack", s.orphan.samples, &s.orphan.period);
	write_record(f, "no callchain", s.bare.samples, &s.bare.period);
	write_record(f, "not kept", s.lost.samples, &s.lost.period);
	write_record(f, "with guest callers", s.called.samples, &s.called.period);
	write_record(f, "aside", s.aside.samples, &s.aside.period);
	write_record(f, "KVM_RUNs", s.marks, NULL);
	write_record(f, "host halves", s.halves, NULL);
	write_record(f, "host frames", s.frames, NULL);
	write_record(f, "unresolved", s.unresolved, NULL);
	return 0;
}
