// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/head.h"

#include <inttypes.h>
#include <stdlib.h>

#include "filter/output/memstream.h"
#include "filter/report/banner.h"
#include "filter/stats/interval.h"
#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "symtab/image/base.h"
#include "symtab/plural.h"
#include "tools/exits/columns.h"

const struct hlg_exits_shown_time hlg_exits_shown_times[HLG_EXITS_SHOWN_TIMES] = {
	{"total", HLG_EXITS_TIMES, 8},   {"mean", HLG_EXITS_TIMES + 2, 7},
	{"p50", HLG_EXITS_TIMES + 3, 7}, {"p99", HLG_EXITS_TIMES + 5, 7},
	{"max", HLG_EXITS_TIMES + 6, 8},
};

const struct hlg_exits_unit hlg_exits_units[HLG_EXITS_UNITS] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

struct hlg_exits_unit hlg_exits_unit_of(uint64_t most)
{
	size_t i = 0;

	while (i < 3 && most / hlg_exits_units[i].ns >= 10000)
		i++;
	return hlg_exits_units[i];
}

const char *hlg_exits_time_text(char buf[static 40], uint64_t ns,
				struct hlg_exits_unit unit)
{
	uint64_t tenths = ns / unit.ns * 10 + (ns % unit.ns * 10 + unit.ns / 2) / unit.ns;

	if (unit.ns == 1)
		snprintf(buf, 40, "%" PRIu64, ns);
	else
		snprintf(buf, 40, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
	return buf;
}

void hlg_exits_write_parts(FILE *f, const struct hlg_exits_report *r,
			   const struct hlg_exits_vcpu *vcpu, const char *label)
{
	double sum = (double)hlg_exits_sum_parts(r, vcpu);
	char line[256], time[40];
	const char *name, *comma = "";
	uint64_t ns, most = 0;
	struct hlg_exits_unit unit;
	int n = snprintf(line, sizeof(line), "%s", r->picks ? "in all: " : "");

	for (size_t i = 0; hlg_exits_part_of_time(r, vcpu, i, &ns); i++)
		most = ns != UINT64_MAX && ns > most ? ns : most;
	unit = hlg_exits_unit_of(most);
	for (size_t i = 0; (name = hlg_exits_part_of_time(r, vcpu, i, &ns)); i++) {
		if (ns == UINT64_MAX)
			continue;
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%s %s %s (%.0f %%)",
			      comma, name, hlg_exits_time_text(time, ns, unit), unit.name,
			      sum > 0 ? 100 * (double)ns / sum : 0);
		comma = ", ";
	}
	hlg_text_line_wrap(f, &r->screen, label, line);
}

/* A table of one row, as a line. */
static void write_one(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t, const char *label)
{
	const struct hlg_exits_row *row = &t->rows[0];
	struct hlg_value v[HLG_EXITS_COLUMNS];
	char time[24], line[512];
	int n = snprintf(line, sizeof(line), "%" PRIu64 " %s:", row->n, row->name);

	hlg_exits_set_values(v, r, t, row);
	for (size_t k = 0; k < HLG_EXITS_MAX_SHOWN && n < (int)sizeof(line); k++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%s %s %s",
			      k ? "," : "", hlg_exits_shown_times[k].name,
			      hlg_table_ns(time, v[hlg_exits_shown_times[k].value].n));
	hlg_text_line_wrap(f, &r->screen, label, line);
}

/* "guest     demo.elf, base 0x4000 (stated)" */
static void write_guests(FILE *f, const struct hlg_exits_report *r)
{
	const char *label = "guest     ";

	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *image = r->space->images[i];
		char base[32], from[128], line[512];

		hlg_base_where(image, base, sizeof(base));
		hlg_base_describe(image, from, sizeof(from));
		snprintf(line, sizeof(line), "%s, %s (%s)", hlg_image_short_name(image),
			 base, from);
		hlg_text_line_wrap(f, &r->screen, label, line);
		label = HLG_EXITS_INDENT;
	}
}

bool hlg_exits_is_line(const struct hlg_exits_table *t, const struct hlg_exits_report *r)
{
	return t->n == 1 && t->kind != r->kind;
}

/* " (3.51 % of exit time)", of what there is. */
static void put_share(FILE *f, const struct hlg_exits_report *r, enum hlg_exits_kind kind,
		      double share)
{
	char percent[16];

	if (r->sums->total[kind])
		fprintf(f, " (%s %% of %s)", hlg_interval_percent(percent, share),
			hlg_exits_share_of(&r->tables[kind]));
}

/* "port=99: 6 exits (3.51 % of exit time), 6 to the VMM (47.17 % of VMM time)": what
 * selects, and where that leaves all else of the head as it is, how much of it rows are
 * of. False without memory. */
static bool write_selected(FILE *f, const struct hlg_exits_report *r)
{
	const struct hlg_exits_picked exits = hlg_exits_pick(r, r->kind),
				      vmm = hlg_exits_pick(r, HLG_EXITS_VMM);
	struct hlg_memstream m;
	FILE *to;
	char *line;
	bool ok;

	if (!r->picks) {
		hlg_text_head_selected(f, r->selection, &r->screen);
		return true;
	}
	to = hlg_memstream_open(&m);
	if (!to)
		return false;
	fprintf(to, "%s: %" PRIu64 " exit%s", r->selection, exits.n,
		hlg_plural_s(exits.n));
	if (r->kind == HLG_EXITS_GUEST) {
		put_share(to, r, r->kind, exits.share);
		fprintf(to, ", %" PRIu64, vmm.n);
	}
	fputs(" to the VMM", to);
	put_share(to, r, HLG_EXITS_VMM, vmm.share);
	line = hlg_memstream_close(&m);
	ok = line != NULL;
	if (ok)
		hlg_text_head_selected(f, line, &r->screen);
	free(line);
	return ok;
}

bool hlg_exits_check_is_brief(const struct hlg_exits_report *r)
{
	return hlg_banner_is_ok(r->check) && !r->verbose;
}

int hlg_exits_write_head(void *report, FILE *f, struct hlg_err *err)
{
	const struct hlg_exits_report *r = report;
	const uint64_t *pairs = r->sums->pairs;
	const char *check = hlg_exits_check_is_brief(r) ? ", check OK" : "";
	char line[160], several[40] = "", between[48] = "";

	if (r->recordings > 1)
		snprintf(several, sizeof(several), ", %" PRIu64 " recordings",
			 r->recordings);
	/* The host's own time, in no table but that of calls. It takes the place of words
	 * on a line of 80 columns. */
	if (pairs[HLG_EXITS_BETWEEN])
		snprintf(between, sizeof(between),
			 ", %" PRIu64 " more between guest calls",
			 pairs[HLG_EXITS_BETWEEN]);
	if (r->check->banner)
		hlg_text_line_wrap(f, &r->screen, "!! ", r->check->banner);
	write_guests(f, r);
	if (r->kind == HLG_EXITS_GUEST)
		snprintf(line, sizeof(line),
			 "%" PRIu64 " exit%s%s, %" PRIu64 " to the VMM%s%s%s",
			 pairs[HLG_EXITS_GUEST], hlg_plural_s(pairs[HLG_EXITS_GUEST]),
			 between[0] ? "" : " (kvm_exit to kvm_entry)",
			 pairs[HLG_EXITS_VMM], between, several, check);
	else
		snprintf(line, sizeof(line),
			 "%" PRIu64
			 " exit%s to the VMM (kvm_userspace_exit to KVM_RUN)%s%s%s",
			 pairs[HLG_EXITS_VMM], hlg_plural_s(pairs[HLG_EXITS_VMM]),
			 between, several, check);
	hlg_text_line_wrap(f, &r->screen, "recorded  ", line);
	if (!write_selected(f, r))
		return hlg_err_memory(err, "exits");
	if (!hlg_exits_check_is_brief(r))
		hlg_text_head_check(f, r->check, &r->screen);
	hlg_exits_write_parts(f, r, &r->time, "time      ");
	for (size_t i = 0; r->verbose && i < HLG_EXITS_TABLES; i++)
		if (hlg_exits_is_line(&r->tables[i], r))
			write_one(f, r, &r->tables[i], "in VMM    ");
	hlg_text_line_notes(f, &r->screen, r->notes, HLG_NOTE_WARNING);
	return 0;
}
