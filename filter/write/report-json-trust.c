// SPDX-License-Identifier: GPL-2.0-only
/* How far the report can be believed, as JSON. */
#include "filter/write/report-json.h"
#include "symtab/image/base.h"

static json_t *boundary(const struct hlg_tested *t, const struct hlg_boundaries *b,
			const struct hlg_share *share)
{
	bool told = b->on + b->off != 0;
	json_t *o = json_object();

	json_object_set_new(o, "on", hlg_json_number(b->on));
	json_object_set_new(o, "off", hlg_json_number(b->off));
	json_object_set_new(o, "undecodable", hlg_json_number(b->undecodable));
	json_object_set_new(o, "share",
			    told ? hlg_json_percent(share->share) : json_null());
	json_object_set_new(o, "low", hlg_json_percent(share->low));
	json_object_set_new(o, "high", hlg_json_percent(share->high));
	json_object_set_new(o, "interval_percent",
			    hlg_json_percent(1 - HLG_INTERVAL_LEVEL99));
	json_object_set_new(o, "chance",
			    t->bytes > 0 ? hlg_json_percent(t->chance) : json_null());
	return o;
}

static json_t *fit(const struct hlg_fit *fit)
{
	double tested = (double)(fit->on_samples + fit->off_samples);
	json_t *o = json_object();

	json_object_set_new(o, "base", hlg_json_hex(fit->base));
	json_object_set_new(o, "samples", hlg_json_number(fit->samples));
	json_object_set_new(
		o, "share",
		hlg_json_percent(tested > 0 ? (double)fit->on_samples / tested : 0));
	return o;
}

/* An image's base and, if its samples do not fit there, those that they fit. */
static json_t *moved(const struct hlg_tail *tail)
{
	json_t *o = json_object();

	json_object_set_new(o, "from", hlg_json_hex(tail->from));
	json_object_set_new(o, "by", json_integer(tail->shift));
	json_object_set_new(o, "samples", hlg_json_number(tail->samples));
	return o;
}

static json_t *trusted_base(const struct hlg_image_test *ti)
{
	json_t *o = json_object(), *elsewhere = json_array();

	json_object_set_new(o, "image", hlg_json_text(ti->image->path));
	json_object_set_new(o, "verdict",
			    json_string(hlg_verdict_word(ti->tested.verdict)));
	json_object_set_new(o, "base",
			    ti->image->from == HLG_BASE_NONE
				    ? json_null()
				    : hlg_json_hex(ti->image->base));
	json_object_set_new(o, "from", json_string(hlg_base_word(ti->image->from)));
	json_object_set_new(o, "bases", hlg_json_number(ti->n_bases));
	for (size_t i = 0; i < ti->found.n; i++)
		json_array_append_new(elsewhere, fit(&ti->found.fits[i]));
	json_object_set_new(o, "fits", elsewhere);
	json_object_set_new(o, "moved", ti->tail.shift ? moved(&ti->tail) : json_null());
	return o;
}

/* What is known of the events that have samples: one word, or "several". */
static void put_event(json_t *o, const struct hlg_report *r)
{
	const struct hlg_event *only = NULL;
	bool several = false;

	for (uint32_t i = 0; i < r->n_events; i++) {
		if (r->events[i].count.samples == 0)
			continue;
		several |= only != NULL;
		only = &r->profile->events[r->events[i].event];
	}
	json_object_set_new(o, "precise_ip",
			    only && !several ? json_integer(only->precise_ip)
					     : json_null());
	json_object_set_new(o, "event_kind",
			    json_string(several ? "several"
					: only  ? hlg_event_word(only->kind)
						: "none"));
}

json_t *hlg_report_json_trust(const struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;
	double guest = (double)r->all.guest.samples;
	json_t *o = json_object(), *images = json_array();

	json_object_set_new(o, "verdict", json_string(hlg_verdict_word(t->verdict)));
	json_object_set_new(o, "boundary", boundary(t, &t->samples, &t->by_samples));
	json_object_set_new(o, "addresses", boundary(t, &t->addrs, &t->by_addrs));
	json_object_set_new(o, "base",
			    r->trust.n_images ? trusted_base(&r->trust.images[0])
					      : json_null());
	for (size_t i = 1; i < r->trust.n_images; i++)
		json_array_append_new(images, trusted_base(&r->trust.images[i]));
	json_object_set_new(o, "more_images", images);
	json_object_set_new(
		o, "gap_share",
		hlg_json_percent(guest > 0 ? (double)r->all.kinds[HLG_GAP].samples / guest
					   : 0));
	put_event(o, r);
	json_object_set_new(o, "banner", hlg_json_text(r->banner));
	/* What it was called before, for one version. */
	json_object_set(o, "shout", json_object_get(o, "banner"));
	json_object_set_new(o, "notes", hlg_json_lines(r->remarks.line, r->remarks.n));
	return o;
}
