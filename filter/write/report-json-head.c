// SPDX-License-Identifier: GPL-2.0-only
/* What a report is of and how far it can be believed, as JSON: all that precedes its
 * rows. */
#include "filter/view/calls.h"
#include "filter/write/report-json.h"
#include "filter/write/report-table.h"
#include "symtab/image/base.h"

static json_t *base(const struct hlg_image *image)
{
	return image->from == HLG_BASE_NONE ? json_null() : hlg_json_hex(image->base);
}

/* All bases, with what lies at each. */
static json_t *bases(const struct hlg_report *r, const struct hlg_image *image)
{
	const struct hlg_image_test *ti = hlg_trust_of(&r->trust, image);
	json_t *list = json_array();

	for (size_t i = 0; ti && i < ti->n_bases; i++) {
		json_t *o = hlg_json_count(ti->bases[i].count);

		json_object_set_new(o, "base", hlg_json_hex(ti->bases[i].base));
		json_object_set_new(o, "tid",
				    ti->bases[i].tid >= 0 ? json_integer(ti->bases[i].tid)
							  : json_null());
		if (hlg_profile_sandbox_of(ti->bases[i].tid) > 0)
			json_object_set_new(
				o, "sandbox",
				json_integer(hlg_profile_sandbox_of(ti->bases[i].tid)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *images(const struct hlg_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *image = r->space->images[i];
		const char *table = image->elf.dynsym ? ".dynsym" : ".symtab";
		json_t *o = json_object();

		json_object_set_new(o, "path", hlg_json_text(image->path));
		json_object_set_new(o, "name", hlg_json_text(hlg_image_word(image)));
		json_object_set_new(o, "build_id",
				    image->elf.build_id[0]
					    ? json_string(image->elf.build_id)
					    : json_null());
		if (image->debug_path)
			json_object_set_new(o, "debug_file",
					    hlg_json_text(image->debug_path));
		if (image->inside_size)
			json_object_set_new(o, "inside", hlg_json_hex(image->inside));
		if (image->noted)
			json_object_set_new(o, "noted", json_true());
		json_object_set_new(o, "base", base(image));
		json_object_set_new(o, "bases", bases(r, image));
		json_object_set_new(o, "base_from",
				    json_string(hlg_base_word(image->from)));
		json_object_set_new(o, "symbols", hlg_json_number(image->tab.n_syms));
		json_object_set_new(o, "symbol_table",
				    json_string(image->map ? "perf map" : table));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *events(const struct hlg_report *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];
		json_t *o = json_object();

		json_object_set_new(o, "name", hlg_json_text(event->name));
		json_object_set_new(o, "precise_ip", json_integer(event->precise_ip));
		hlg_json_put_count(o, r->events[i].count);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *states(const struct hlg_report *r)
{
	json_t *o = json_object();

	for (int i = 0; i < HLG_N_STATES; i++)
		json_object_set_new(o, hlg_report_table_state((enum hlg_state)i),
				    hlg_json_count(r->profile->states[i]));
	return o;
}

/* Adds what a sandbox runs, as in text; null: it is not known. */
static void put_image(json_t *o, const struct hlg_report *r, uint32_t number,
		      unsigned lane)
{
	const struct hlg_image *image;
	uint64_t base;
	const size_t n = hlg_report_table_runs(r, number, lane, &image, &base);
	const bool known = n == 1;

	if (n > 1 && !r->space->n_lanes)
		return;
	json_object_set_new(o, "image", known ? hlg_json_text(image->path) : json_null());
	if (known && base != HLG_SPACE_NOWHERE)
		json_object_set_new(o, "base", hlg_json_hex(base));
}

static json_t *calls_of(const struct hlg_calls *calls)
{
	json_t *o = json_object();

	json_object_set_new(o, "guest", hlg_json_number(calls->guest));
	json_object_set_new(o, "host", hlg_json_number(calls->host));
	if (calls->time_ns) {
		json_object_set_new(o, "host_ns", hlg_json_number(calls->host_ns));
		json_object_set_new(o, "time_ns", hlg_json_number(calls->time_ns));
	}
	return o;
}

static json_t *sandboxes(const struct hlg_report *r)
{
	const struct hlg_sandboxes *all = &r->profile->sandboxes;
	json_t *list = json_array();

	for (uint32_t i = 0; i < all->n; i++) {
		const struct hlg_sandbox *of = &all->at[i];
		json_t *o = json_object();
		struct hlg_calls calls;

		json_object_set_new(o, "sandbox", json_integer(i + 1));
		json_object_set_new(o, "pid",
				    of->pid >= 0 ? json_integer(of->pid) : json_null());
		json_object_set_new(o, "fd",
				    of->fd >= 0 ? json_integer(of->fd) : json_null());
		json_object_set_new(o, "vcpus", json_integer(of->vcpus));
		put_image(o, r, i + 1, of->lane);
		hlg_json_put_count(o, of->count);
		if (hlg_calls_of_sandbox(&calls, r->space, r->profile, i + 1))
			json_object_set_new(o, "calls", calls_of(&calls));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *span(const struct hlg_report *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "first", hlg_json_number(r->profile->span.first));
	json_object_set_new(o, "last", hlg_json_number(r->profile->span.last));
	return o;
}

/* How many observations guest samples are as their weights differ, and how many
 * independent ones these are worth as the guest has phases. */
static json_t *effective(const struct hlg_report *r)
{
	const double n = r->all.guest_observations;
	json_t *o = json_object();

	json_object_set_new(o, "observations", hlg_json_number((uint64_t)(n + .5)));
	json_object_set_new(o, "independent",
			    hlg_json_number((uint64_t)(n / r->all.design + .5)));
	return o;
}

static json_t *totals(const struct hlg_report *r)
{
	struct hlg_report_table_sum sums[HLG_REPORT_SUMS];
	json_t *o = json_object();

	hlg_report_table_sums(sums, r);
	for (size_t i = 0; i < HLG_REPORT_SUMS; i++)
		json_object_set_new(o, sums[i].name, hlg_json_count(sums[i].count));
	if (r->options->stacks == HLG_STACKS_COUNTERS)
		json_object_set_new(o, "states", states(r));
	return o;
}

static json_t *files(const struct hlg_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_files; i++) {
		const struct hlg_report_file *file = &r->files[i];
		json_t *o = json_object();

		json_object_set_new(o, "path", hlg_json_text(file->path));
		json_object_set_new(o, "problem",
				    file->problem ? hlg_json_text(file->problem)
						  : json_null());
		json_object_set_new(o, "samples", hlg_json_number(file->samples));
		json_object_set_new(o, "guest", hlg_json_number(file->guest));
		json_object_set_new(o, "host", hlg_json_number(file->host));
		json_object_set_new(o, "tracepoint", hlg_json_number(file->traced));
		json_object_set_new(o, "lost", hlg_json_number(file->lost));
		json_object_set_new(o, "base",
				    file->fit.n_bases ? hlg_json_hex(file->fit.base)
						      : json_null());
		json_object_set_new(o, "bases", hlg_json_number(file->fit.n_bases));
		json_object_set_new(
			o, "verdict",
			file->problem ? json_null()
				      : json_string(hlg_verdict_word(file->fit.verdict)));
		json_array_append_new(list, o);
	}
	return list;
}

/* What recordings lack, in numbers; notes tell it in words. NULL if nothing is known to
 * be lacking: a filter does not see it. */
static json_t *lacks(const struct hlg_report *r)
{
	const struct hlg_recording_sums *s = r->sums;
	json_t *o;

	if (!s || !(s->lost || s->throttled || s->skipped || s->unknown || s->left ||
		    s->damaged || s->no_end))
		return NULL;
	o = json_object();
	json_object_set_new(o, "lost", hlg_json_number(s->lost));
	json_object_set_new(o, "throttled", hlg_json_number(s->throttled));
	json_object_set_new(o, "skipped", hlg_json_number(s->skipped));
	json_object_set_new(o, "unknown", hlg_json_number(s->unknown));
	json_object_set_new(o, "unread_bytes", hlg_json_number(s->left));
	json_object_set_new(o, "damaged", hlg_json_number(s->damaged));
	json_object_set_new(o, "no_end", hlg_json_number(s->no_end));
	return o;
}

static json_t *origins_of(const struct hlg_report *r, enum hlg_origin_kind kind)
{
	size_t first, n = hlg_origins_of(&r->profile->origins, kind, &first);
	json_t *list = json_array();

	for (size_t i = first; i < first + n; i++) {
		const struct hlg_origin *origin = &r->profile->origins.at[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", hlg_json_text(origin->name));
		json_object_set_new(o, "recordings", hlg_json_number(origin->n));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *problems_of(const struct hlg_report *r, enum hlg_origin_kind kind)
{
	size_t first, n = hlg_origins_of(&r->profile->origins, kind, &first);
	json_t *list = json_array();

	for (size_t i = first; i < first + n; i++)
		json_array_append_new(list, hlg_json_text(r->profile->origins.at[i].key));
	return list;
}

/* Which recordings these are, and what was named and could not be read: of that some. */
static json_t *recordings(const struct hlg_report *r)
{
	const struct hlg_origins *origins = &r->profile->origins;
	json_t *o = json_object();

	json_object_set_new(o, "read", hlg_json_number(r->recordings));
	json_object_set_new(o, "unread", hlg_json_number(origins->unread));
	json_object_set_new(o, "unread_profiles",
			    hlg_json_number(origins->unread_profiles));
	json_object_set_new(o, "problems", problems_of(r, HLG_ORIGIN_UNREAD));
	json_object_set_new(o, "problems_of_profiles",
			    problems_of(r, HLG_ORIGIN_UNREAD_PROFILE));
	json_object_set_new(o, "hosts", origins_of(r, HLG_ORIGIN_HOST));
	json_object_set_new(o, "images", origins_of(r, HLG_ORIGIN_IMAGE));
	return o;
}

void hlg_report_json_head(struct hlg_json *json, FILE *f, unsigned format,
			  const struct hlg_report *r)
{
	hlg_json_begin(json, f, format);
	hlg_json_put(
		json, "weight",
		json_string(r->all.weight == HLG_WEIGHT_SAMPLES ? "samples" : "period"));
	hlg_json_put(json, "interval_percent", hlg_json_percent(1 - HLG_INTERVAL_LEVEL));
}

void hlg_report_json_head_put(struct hlg_json *json, const struct hlg_report *r)
{
	struct hlg_calls calls;
	json_t *lacking = lacks(r);

	hlg_json_put(json, "images", images(r));
	hlg_json_put(json, "events", events(r));
	if (hlg_sample_span_known(&r->profile->span))
		hlg_json_put(json, "span", span(r));
	if (r->profile->sandboxes.n)
		hlg_json_put(json, "sandboxes", sandboxes(r));
	hlg_json_put_selected(json, r->options->selection);
	hlg_json_put(json, "totals", totals(r));
	hlg_json_put(json, "effective_samples", effective(r));
	if (r->all.guest.samples && hlg_calls_count(&calls, r->space, r->profile))
		hlg_json_put(json, "calls", calls_of(&calls));
	hlg_json_put(json, "trust", hlg_report_json_trust(r));
	hlg_json_put(json, "notes", hlg_json_lines(r->notes.line, r->notes.n));
	if (lacking)
		hlg_json_put(json, "lacks", lacking);
	if (r->recordings > 1 || r->profile->origins.unread ||
	    r->profile->origins.unread_profiles)
		hlg_json_put(json, "recordings", recordings(r));
	if (r->n_files > 1)
		hlg_json_put(json, "files", files(r));
}
