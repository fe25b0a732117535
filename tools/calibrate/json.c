// SPDX-License-Identifier: GPL-2.0-only
/* The document that is saved, and read by report and doctor (tools/inputs). */
#include "tools/calibrate/calibration.h"

#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#include "tools/calibrate/conclusion.h"

static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static void put_number(json_t *object, const char *key, uint64_t value)
{
	put(object, key, hlg_json_number(value));
}

static void put_ticks(json_t *o, const struct hlg_calibration *c,
		      const struct hlg_ticks *t)
{
	const struct {
		const char *key;
		uint64_t ticks;
	} values[] = {{"min", t->min}, {"p50", t->p50}, {"p90", t->p90},
		      {"p99", t->p99}, {"max", t->max}, {"worst", t->worst}};
	json_t *ns = json_object();

	put_number(o, "n", t->n);
	put_number(o, "outliers", t->outliers);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		put_number(o, values[i].key, values[i].ticks);
		put(ns, values[i].key,
		    hlg_json_real(hlg_calibration_ns(c, values[i].ticks), 1));
	}
	put(o, "ns", ns);
	put_number(o, "quiet", t->quiet);
	put(o, "drift", hlg_json_real(t->drift, 4));
	put(o, "bins", hlg_json_numbers(t->bins, HLG_TICKS_BINS));
}

static json_t *batches(const struct hlg_batches *b)
{
	const uint64_t all[] = {b->least, b->most},
		       quiet[] = {b->quiet_least, b->quiet_most};
	json_t *o = json_object();

	put_number(o, "n", b->n);
	put_number(o, "quiet", b->whys[HLG_NATIVE_QUIET]);
	put_number(o, "shared", b->whys[HLG_NATIVE_SHARED]);
	put_number(o, "switched", b->whys[HLG_NATIVE_SWITCHED]);
	put_number(o, "stolen", b->whys[HLG_NATIVE_STOLEN]);
	put(o, "medians", hlg_json_numbers(all, 2));
	put(o, "quiet_medians", hlg_json_numbers(quiet, 2));
	put(o, "noise", hlg_json_real(b->raw, 4));
	put(o, "undisturbed", json_boolean(b->undisturbed));
	return o;
}

static json_t *row_of(const struct hlg_calibration *c, enum hlg_crossing_row i)
{
	const struct hlg_crossing *row = &c->crossings.rows[i];
	json_t *o = json_object();

	put(o, "row", hlg_json_text(hlg_crossing_names[i].word));
	put(o, "text", hlg_json_text(hlg_crossing_names[i].text));
	if (row->state == HLG_CROSS_SKIPPED) {
		put(o, "skipped", hlg_json_text(row->reason));
		return o;
	}
	put_ticks(o, c, &row->ticks);
	if (i >= HLG_CROSS_PAIR_HOST)
		put(o, "batches",
		    batches(&c->crossings.batches[i - HLG_CROSS_PAIR_HOST]));
	put(o, "comparable", json_boolean(row->state != HLG_CROSS_EMULATED));
	return o;
}

static json_t *reference(const struct hlg_crossing_reference *r)
{
	json_t *o = json_object();

	put(o, "what", hlg_json_text(r->what));
	if (r->word)
		put(o, "row", hlg_json_text(r->word));
	put_number(o, "low", r->low);
	put_number(o, "high", r->high);
	put(o, "unit", hlg_json_text(r->unit));
	put(o, "cpu", hlg_json_text(r->cpu));
	put(o, "source", hlg_json_text(r->source));
	return o;
}

static json_t *core_clock(const struct hlg_clock *clock)
{
	json_t *o = json_object();

	put(o, "ticks", hlg_json_real(clock->ticks, 4));
	put(o, "low", hlg_json_real(clock->low, 4));
	put(o, "high", hlg_json_real(clock->high, 4));
	put(o, "adds_in_cycle", hlg_json_real(clock->width, 2));
	return o;
}

static void put_crossings(struct hlg_json *json, const struct hlg_calibration *c)
{
	const struct hlg_crossings *all = &c->crossings;
	const struct hlg_crossing *kernel = &all->rows[HLG_CROSS_PAIR_KERNEL];

	hlg_json_open(json, "crossings");
	hlg_json_put(json, "tsc_hz", hlg_json_number((uint64_t)(all->hz + 0.5)));
	hlg_json_put(json, "ring0_emulated",
		     kernel->state == HLG_CROSS_SKIPPED ? json_null()
							: json_boolean(all->emulated));
	hlg_json_put(json, "faults_served", hlg_json_number(all->served));
	hlg_json_put(json, "faults_asked", hlg_json_number(GUESTS_CROSSINGS));
	hlg_json_put(json, "noise", hlg_json_real(hlg_crossing_noise(all, true), 4));
	hlg_json_put(json, "quiet_noise",
		     hlg_json_real(hlg_crossing_noise(all, false), 4));
	hlg_json_put(json, "quiet_share", hlg_json_real(hlg_crossing_quiet(all), 4));
	hlg_json_put(json, "idle", hlg_json_text(hlg_crossing_verdict(all)));
	hlg_json_put_line(json, "core_clock", core_clock(&all->clock));
	hlg_json_open_list(json, "rows");
	for (enum hlg_crossing_row i = 0; i < HLG_CROSS_ROWS; i++)
		hlg_json_put_line(json, NULL, row_of(c, i));
	hlg_json_close(json);
	hlg_json_open_list(json, "references");
	for (size_t i = 0; i < HLG_CROSSING_REFERENCES; i++)
		hlg_json_put_line(json, NULL, reference(&hlg_crossing_references[i]));
	hlg_json_close(json);
	hlg_json_close(json);
}

static json_t *land_of(const char *key, const char *name, const struct hlg_land *land)
{
	json_t *o = json_object();

	put(o, key, hlg_json_text(name));
	put_number(o, "guest", land->guest);
	put_number(o, "host", land->host);
	put_number(o, "lost", land->lost);
	put_number(o, "on_boundary", land->on);
	put_number(o, "off_boundary", land->off);
	put_number(o, "right", land->right);
	put_number(o, "wrong", land->wrong);
	put_number(o, "gap", land->gap);
	return o;
}

static json_t *landed_of(const struct hlg_landed *landed, const char *name)
{
	json_t *o = json_object(), *guests;
	bool known = !landed->reason[0] && landed->window != HLG_WINDOW_UNKNOWN;

	put(o, "event", hlg_json_text(name));
	put(o, "window", known ? hlg_json_number(landed->window) : json_null());
	if (landed->reason[0]) {
		put(o, "skipped", hlg_json_text(landed->reason));
		return o;
	}
	if (landed->why[0])
		put(o, "window_why", hlg_json_text(landed->why));
	guests = json_array();
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		const struct hlg_land *land = &landed->guests[i];
		json_t *guest = land_of("guest_code", hlg_landing_name(i), land);

		if (hlg_landing_hot(i))
			put(guest, "distance",
			    hlg_json_numbers(land->distance, HLG_LANDING_FAR + 1));
		json_array_append_new(guests, guest);
	}
	put(o, "guests", guests);
	return o;
}

static void put_landings(struct hlg_json *json, const struct hlg_landings *landings)
{
	hlg_json_open(json, "landing");
	if (landings->reason[0])
		hlg_json_put(json, "skipped", hlg_json_text(landings->reason));
	hlg_json_open_list(json, "events");
	for (size_t i = 0; !landings->reason[0] && i < HLG_SAMPLINGS; i++)
		hlg_json_put_line(json, NULL,
				  landed_of(&landings->events[i], hlg_samplings[i].name));
	hlg_json_close(json);
	if (landings->programs_by)
		hlg_json_put(json, "programs_by", hlg_json_text(landings->programs_by));
	else if (landings->programs_reason[0])
		hlg_json_put(json, "programs_skipped",
			     hlg_json_text(landings->programs_reason));
	hlg_json_open_list(json, "programs");
	for (size_t i = 0; landings->programs_by && i < HLG_COUNT_PROGRAMS; i++) {
		const struct hlg_land *land = &landings->programs[i];
		json_t *o = land_of("program", hlg_count_laws[i].program, land);

		put_number(o, "string", land->string);
		put_number(o, "loop", land->loop);
		hlg_json_put_line(json, NULL, o);
	}
	hlg_json_close(json);
	hlg_json_close(json);
}

static json_t *skipped(const char *reason)
{
	json_t *o = json_object();

	put(o, "skipped", hlg_json_text(reason));
	return o;
}

static json_t *variation(const uint64_t *values, size_t n)
{
	struct hlg_variation v = hlg_calibrate_variation(values, n);
	json_t *o = json_object();

	put_number(o, "min", v.min);
	put_number(o, "median", v.median);
	put_number(o, "max", v.max);
	put(o, "cov", hlg_json_real(v.cov, 6));
	return o;
}

static json_t *side_of(const struct hlg_counts *counts, size_t side, size_t i)
{
	const struct hlg_steps *steps = &counts->steps[side][i];
	const struct hlg_pmu_counted *c = &counts->counted[side][i];
	json_t *o = json_object();

	if (steps->reason[0]) {
		put(o, "skipped", hlg_json_text(steps->reason));
	} else {
		put(o, "steps", hlg_json_numbers(steps->steps, 2));
		put(o, "exact", json_boolean(steps->exact));
	}
	put_number(o, "runs", c->runs);
	for (size_t e = 0; e < HLG_PMU_EVENTS; e++) {
		const char *reason = c->reason[e][0] ? c->reason[e] : steps->reason;

		put(o, hlg_pmu_events[e],
		    c->reason[e][0] || c->runs == 0 ? skipped(reason)
						    : variation(c->values[e], c->runs));
	}
	put(o, "ticks", hlg_json_numbers(c->ticks, c->runs));
	put(o, "faults", hlg_json_numbers(c->faults, c->runs));
	put(o, "interrupts", hlg_json_numbers(c->interrupts, c->runs));
	return o;
}

static json_t *program_of(const struct hlg_counts *counts, size_t i)
{
	const struct hlg_law *law = &hlg_count_laws[i];
	const uint64_t expected[] = {hlg_calibrate_steps(law, counts->sizes[0]),
				     hlg_calibrate_steps(law, counts->sizes[1])};
	json_t *o = json_object();

	put(o, "program", hlg_json_text(law->program));
	put(o, "expected", hlg_json_numbers(expected, 2));
	put_number(o, "expected_all", hlg_calibrate_steps(law, counts->operations));
	put_number(o, "retired", hlg_calibrate_retired(law, counts->operations));
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		put(o, hlg_count_sides[side], side_of(counts, side, i));
	return o;
}

static void put_counts(struct hlg_json *json, const struct hlg_counts *counts)
{
	hlg_json_open(json, "counts");
	hlg_json_put_line(json, "stepped", hlg_json_numbers(counts->sizes, 2));
	hlg_json_put(json, "operations", hlg_json_number(counts->operations));
	hlg_json_open_list(json, "programs");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		hlg_json_put_line(json, NULL, program_of(counts, i));
	hlg_json_close(json);
	hlg_json_close(json);
}

static json_t *machine_of(const struct hlg_calibration *c)
{
	const struct hlg_machine *m = &c->machine;
	json_t *o = json_object();

	put(o, "cpu", hlg_json_text(m->cpu));
	put(o, "kernel", hlg_json_text(m->kernel));
	put(o, "kvm", hlg_json_text(m->kvm));
	put(o, "date", hlg_json_text(m->date));
	if (!c->kvm)
		put(o, "no_kvm", hlg_json_text(c->no_kvm));
	put(o, "virtual", json_boolean(m->guest));
	put_number(o, "cpus", (uint64_t)m->cpus);
	put(o, "load", hlg_json_real(m->load, 2));
	return o;
}

/* Of no truth nothing follows. */
static json_t *conclusion_of(const struct hlg_calibration *c)
{
	struct hlg_conclusion conclusion = {.n = 0};
	json_t *list = json_array();

	if (hlg_calibrate_faults(NULL, c) == 0)
		hlg_calibrate_conclude(&conclusion, c);
	for (size_t i = 0; i < conclusion.n; i++)
		json_array_append_new(list, hlg_json_text(conclusion.sentence[i]));
	return list;
}

int hlg_calibrate_json(void *calibration, FILE *f, struct hlg_err *err)
{
	const struct hlg_calibration *c = calibration;
	struct hlg_json json;

	hlg_json_begin(&json, f, 1);
	hlg_json_put(&json, "hlguest_calibration", json_integer(1));
	hlg_json_put_line(&json, "machine", machine_of(c));
	hlg_json_put(&json, "conclusion", conclusion_of(c));
	hlg_json_put(&json, "holds", json_boolean(hlg_calibrate_faults(NULL, c) == 0));
	if (c->parts & HLG_CALIBRATE_CROSSING)
		put_crossings(&json, c);
	if (c->parts & HLG_CALIBRATE_LANDING)
		put_landings(&json, &c->landings);
	if (c->parts & HLG_CALIBRATE_COUNTING)
		put_counts(&json, &c->counts);
	return hlg_json_end(&json, err);
}
#endif
