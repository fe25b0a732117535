// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/calibration.h"

#include <inttypes.h>

#include "symtab/escape.h"

const char *hlg_calibrate_kvm(const struct hlg_calibration *c)
{
	return !c->kvm             ? c->no_kvm
	       : c->machine.kvm[0] ? c->machine.kvm
				   : "no module's name";
}

static size_t fault(FILE *f, const char *line)
{
	if (f)
		fprintf(f, "  %s\n", line);
	return 1;
}

static size_t count_faults(FILE *f, const struct hlg_counts *counts)
{
	char line[256];
	size_t n = 0;

	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			const struct hlg_steps *steps = &counts->steps[side][i];
			const struct hlg_law *law = &hlg_count_laws[i];

			if (steps->reason[0] || steps->exact)
				continue;
			snprintf(line, sizeof(line),
				 "%s, %s: %" PRIu64 " steps, and its law says %" PRIu64,
				 law->program, hlg_calibrate_count_side_name(side),
				 steps->steps[0],
				 hlg_calibrate_count_steps(law, counts->sizes[0]));
			n += fault(f, line);
		}
	return n;
}

static size_t crossing_faults(FILE *f, const struct hlg_crossings *crossings, bool kvm)
{
	char line[320];
	size_t n = 0;

	if (kvm && crossings->served != GUESTS_CROSSINGS) {
		snprintf(line, sizeof(line), "page faults: %" PRIu64 " of %d were served",
			 crossings->served, GUESTS_CROSSINGS);
		n += fault(f, line);
	}
	for (enum hlg_crossing_row i = 0; i < HLG_CROSS_ROWS; i++)
		if (crossings->rows[i].unordered) {
			snprintf(line, sizeof(line), "%s: %s", hlg_crossing_text(i),
				 crossings->rows[i].reason);
			n += fault(f, line);
		}
	return n;
}

size_t hlg_calibrate_faults(FILE *f, const struct hlg_calibration *c)
{
	size_t n = 0;

	if (c->parts & HLG_CALIBRATE_CROSSING)
		n += crossing_faults(f, &c->crossings, c->kvm);
	if (c->parts & HLG_CALIBRATE_LANDING && c->landings.fault[0])
		n += fault(f, c->landings.fault);
	if (c->parts & HLG_CALIBRATE_COUNTING)
		n += count_faults(f, &c->counts);
	return n;
}

static void put_machine(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_machine *m = &c->machine;

	fputs("hlguest calibrate: ", f);
	hlg_escape_print(f, m->cpu[0] ? m->cpu : "unknown processor");
	fprintf(f, ", %ld CPUs%s\n", m->cpus,
		m->guest ? ", itself a virtual machine" : "");
	fprintf(f, "  %s, load %.2f\n  Linux ", m->date, m->load);
	hlg_escape_print(f, m->kernel);
	fputs("\n  KVM: ", f);
	hlg_escape_print(f, hlg_calibrate_kvm(c));
	fputs("\n\n", f);
}

int hlg_calibrate_text(void *calibration, FILE *f, struct hlg_err *err)
{
	const struct hlg_calibration *c = calibration;

	(void)err;
	put_machine(f, c);
	if (c->parts & HLG_CALIBRATE_CROSSING)
		hlg_crossing_text_write(f, c);
	if (c->parts & HLG_CALIBRATE_LANDING)
		hlg_landing_text_write(f, c);
	if (c->parts & HLG_CALIBRATE_COUNTING)
		hlg_count_text_write(f, c);
	if (hlg_calibrate_faults(NULL, c)) {
		fputs("\nThe truth does not hold: believe none of this\n", f);
		hlg_calibrate_faults(f, c);
	}
	return 0;
}

static const struct hlg_format text = {
	.name = "text", .notes = true, .write = hlg_calibrate_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(hlg_calibrate_json)};
static const struct hlg_format csv = {.name = "csv", .write = hlg_count_text_csv};
static const struct hlg_format html = {
	.name = "html", .notes = true, .write = hlg_calibrate_html};
const struct hlg_format *const hlg_calibration_formats[] = {&text, &json, &csv, &html,
							    NULL};
