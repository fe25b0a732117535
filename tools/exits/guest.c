// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/guest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/select.h"
#include "filter/report/banner.h"
#include "filter/report/notes.h"
#include "filter/trust/base-search.h"
#include "filter/trust/identity.h"
#include "symtab/image/base.h"
#include "tools/feed/noted-builds.h"
#include "tools/inputs/unnamed.h"

enum {
	ENOUGH = 100, /* samples, to find a base by them alone */
	FEW = 128,    /* addresses; if they fit, the next are counted by function, */
	MANY = 4096   /* and behind so many in any case */
};

/* Are all stated? Then nothing moves them. */
static bool are_stated(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (space->images[i]->from != HLG_BASE_STATED && !space->images[i]->map)
			return false;
	return true;
}

/*
 * Bases as report has them, and who runs which ELF or lies at which base where these
 * overlap, from what report counts: for that the recordings are read beforehand, if they
 * can be read twice. *n_samples: of guests.
 */
static int learn(struct hlg_exits_guest *g, const struct hlg_inputs *in,
		 struct hlg_exits_sums *sums, uint64_t *n_samples, struct hlg_err *err)
{
	struct hlg_run *run = g->run;
	int rc;

	g->whose.noted = g->noted;
	g->knows = run->space.n_lanes || (!are_stated(&run->space) &&
					  hlg_whose_may_learn(in->files, in->n_files));
	if (!g->knows)
		return 0;
	rc = hlg_whose_learn(&g->whose, run, in->files, in->n_files, in->threads, err);
	*n_samples = g->whose.batch.sums.guest;
	/* Which recordings are shown is told of each when its exits are read. */
	hlg_origins_finish(&run->profile.origins);
	/* Where nothing can be told of a recording, its own error says why. */
	sums->whose =
		g->whose.parted || g->whose.batch.n_read < in->n_files ? &g->whose : NULL;
	if (rc == 0)
		rc = hlg_base_search_all(&run->space, &run->profile, err);
	return rc == 0 ? hlg_space_share(&run->space, err) : rc;
}

/* Of the addresses of a function one, so that sums do not grow with them. */
static uint64_t function_of(struct hlg_exits_guest *g, uint64_t ip)
{
	struct hlg_place place, start;
	uint64_t first;

	hlg_space_lookup(&g->run->space, ip, &place);
	if (place.kind == HLG_OUTSIDE) {
		if (!g->any_outside)
			g->outside = ip;
		g->any_outside = true;
		return g->outside;
	}
	/* Of two functions that begin together the start is but one's. */
	first = ip - (place.addr - place.start);
	hlg_space_lookup(&g->run->space, first, &start);
	return start.owner == place.owner && start.kind == place.kind ? first : ip;
}

/* Do the addresses so far fit? Where they do not, none is named: they stay apart. */
static bool fits_so_far(struct hlg_exits_guest *g)
{
	struct hlg_report *report = &g->check.report;
	struct hlg_profile *profile = &g->check.profile;
	struct hlg_err err;
	bool fits;

	for (size_t i = 0; i < g->n_noted; i++)
		hlg_builds_merge(&profile->builds, &g->noted[i]);
	hlg_identity_judge(profile, &g->run->space, NULL);
	fits = hlg_address_check_judge(&g->check, &g->run->space, &err) == 0 &&
	       !report->suppressed;
	hlg_report_finish(report);
	/* Of each recording by itself it is asked later. */
	hlg_rans_finish(&profile->ran);
	return fits;
}

static __attribute__((noinline)) uint64_t look_up(struct hlg_exits_guest *g, uint64_t ip)
{
	hlg_address_check_add(&g->check, ip);
	if (g->n++ == FEW && fits_so_far(g)) {
		g->fits = true;
		memset(g->known, 0, sizeof(g->known)); /* which are apart */
	}
	return g->n > MANY || (g->n > FEW && g->fits) ? function_of(g, ip) : ip;
}

/* An address of the same place, for all of its addresses the same if they are many. */
static uint64_t fold_address(void *arg, uint64_t ip)
{
	struct hlg_exits_guest *g = arg;
	/* Fibonacci hashing, to 12 bits. */
	size_t i = ip * UINT64_C(0x9e3779b97f4a7c15) >> 52;

	if (g->known[i].ip != ip) {
		g->known[i].ip = ip;
		g->known[i].to = look_up(g, ip);
	}
	return g->known[i].to;
}

/* Where no base has to be found from the addresses, functions can be counted at once. */
static int start_fold(struct hlg_exits_guest *g, struct hlg_exits_sums *sums,
		      struct hlg_err *err)
{
	struct hlg_space *space = &g->run->space;

	for (size_t i = 0; i < space->n_images; i++)
		if (space->images[i]->from == HLG_BASE_NONE)
			return 0;
	if (hlg_space_settle(space, err) < 0)
		return HLG_EINPUT;
	g->folds = true;
	sums->fold = fold_address;
	sums->fold_ctx = g;
	return 0;
}

/* Where a base has to be found, and was not looked for, samples of the guest help; where
 * it is stated, they may tell that it is none. */
static int start_samples(struct hlg_exits_guest *g, struct hlg_exits_counts *counts,
			 struct hlg_err *err)
{
	struct hlg_profile *profile = &g->run->profile;

	/* What comes to the profile has been selected. */
	profile->window = (struct hlg_select_window){0, UINT64_MAX, false};
	if (g->knows)
		return 0;
	g->spare = are_stated(&g->run->space);
	if (g->folds && !g->spare)
		return 0;
	counts->samples = profile;
	counts->samples_event = hlg_profile_event(profile, "samples", 0);
	return counts->samples_event == HLG_NO_SERIES ? hlg_err_memory(err, "exits") : 0;
}

/* What is noted beside the recordings, whatever of them is read then. */
static int read_noted(struct hlg_exits_guest *g, const struct hlg_inputs *in,
		      struct hlg_err *err)
{
	g->noted = calloc(in->n_files + 1, sizeof(*g->noted));
	if (!g->noted)
		return hlg_err_memory(err, "exits");
	g->n_noted = in->n_files;
	for (size_t i = 0; i < in->n_files; i++)
		hlg_noted_builds_add(&g->noted[i], in->files[i]);
	return 0;
}

int hlg_exits_guest_start(struct hlg_exits_guest *g, struct hlg_run *run,
			  const struct hlg_inputs *in, struct hlg_exits_sums *sums,
			  struct hlg_exits_counts *counts, struct hlg_err *err)
{
	int rc = hlg_address_check_init(&g->check, run->options.force, err);

	g->run = run;
	hlg_unnamed_ask(in, &g->check.options);
	if (rc == 0)
		rc = read_noted(g, in, err);
	if (rc == 0)
		rc = learn(g, in, sums, &counts->n_samples, err);
	if (rc == 0)
		rc = start_fold(g, sums, err);
	return rc == 0 ? start_samples(g, counts, err) : rc;
}

/* The addresses that exits left from, which are those of a few instructions. */
static int add_exits(struct hlg_profile *profile, const struct hlg_exits_sums *sums,
		     struct hlg_err *err)
{
	uint32_t event = hlg_profile_event(profile, "kvm:kvm_exit", 0);

	if (event == HLG_NO_SERIES)
		return hlg_err_memory(err, "exits");
	for (size_t i = 0; i < sums->n_cells; i++) {
		const struct hlg_exits_cell *cell = &sums->cells[i];
		const struct hlg_exits_vcpu *vcpu = &sums->vcpus[cell->key.vcpu];
		const struct hlg_sample sample = {.ip = cell->key.rip,
						  .period = 1,
						  .pid = vcpu->pid,
						  .tid = vcpu->tid,
						  .cpu = -1,
						  .event = event,
						  .cpumode = HLG_MODE_GUEST_USER};

		if (cell->key.has_rip)
			hlg_profile_add_many(profile, &sample,
					     (struct hlg_count){cell->n, cell->n},
					     cell->n);
	}
	return 0;
}

int hlg_exits_guest_identify(struct hlg_exits_guest *g, size_t recording,
			     const char *path, const struct hlg_exits_sums *sums,
			     struct hlg_err *err)
{
	/* What is in the sums has been selected. */
	struct hlg_options all = hlg_select_all(&g->run->options);
	struct hlg_profile own;
	int rc = hlg_profile_init(&own, &all) ? 0 : hlg_err_memory(err, "exits");

	own.window = (struct hlg_select_window){0, UINT64_MAX, false};
	if (rc == 0)
		rc = add_exits(&own, sums, err);
	if (rc == 0) {
		hlg_builds_merge(&own.builds, &g->noted[recording]);
		hlg_identity_judge(&own, &g->run->space, path);
		hlg_profile_merge_told(&g->run->profile, &own);
	}
	hlg_profile_finish(&own);
	return rc;
}

static int note_bases(struct hlg_run *run, struct hlg_err *err)
{
	for (size_t i = 0; i < run->space.n_images; i++) {
		const struct hlg_image *image = run->space.images[i];
		char base[32], from[128];

		hlg_base_where(image, base, sizeof(base));
		hlg_base_describe(image, from, sizeof(from));
		if (hlg_base_search_differs(image)) {
			char *warning = hlg_base_search_warning(image);

			if (!warning)
				return hlg_err_memory(err, "exits");
			hlg_note_list_warn(&run->notes, "%s", warning);
			free(warning);
		}
		hlg_note_list_detail(&run->notes, "image: %s, %s (%s)", image->path, base,
				     from);
	}
	return 0;
}

/* Are there exits, and is where they left from in no image? */
static bool are_outside(const struct hlg_space *space, const struct hlg_exits_sums *sums)
{
	bool any = false;

	for (size_t i = 0; i < sums->n_cells; i++) {
		struct hlg_place place;

		if (!sums->cells[i].key.has_rip)
			continue;
		any = true;
		hlg_space_lookup(space, sums->cells[i].key.rip, &place);
		if (place.image)
			return false;
	}
	return any;
}

static bool is_any_inside(const struct hlg_space *space,
			  const struct hlg_profile *profile)
{
	for (size_t i = 0; i < hlg_profile_room(profile); i++) {
		struct hlg_place place;

		hlg_space_lookup(space, profile->cells[i].ip, &place);
		if (profile->cells[i].count.samples && place.image)
			return true;
	}
	return false;
}

/* The check without what it has. */
static int begin_check(struct hlg_exits_guest *g, struct hlg_err *err)
{
	const struct hlg_inputs *in = g->check.options.unnamed_of;
	int rc;

	hlg_address_check_finish(&g->check);
	rc = hlg_address_check_init(&g->check, g->run->options.force, err);
	hlg_unnamed_ask(in, &g->check.options);
	return rc;
}

/* Do the samples fit the ELFs, whatever exits do? */
static int vouch(struct hlg_exits_guest *g, bool *fit, struct hlg_err *err)
{
	struct hlg_address_check samples;
	int rc = hlg_address_check_init(&samples, false, err);

	if (rc == 0) {
		hlg_address_check_add_samples(&samples, &g->run->profile);
		hlg_profile_merge_told(&samples.profile, &g->run->profile);
		rc = hlg_address_check_judge(&samples, &g->run->space, err);
	}
	*fit = rc == 0 && samples.report.trust.all.verdict == HLG_TRUST_VERIFIED;
	hlg_address_check_finish(&samples);
	return rc;
}

/* All that there is to judge. Where no exit is of the ELFs, that samples are says nothing
 * of what is shown, but of the ELFs: exits are judged if these do not fit. That samples
 * are not either says that the ELFs lie elsewhere. */
static int gather(struct hlg_exits_guest *g, const struct hlg_exits_sums *sums,
		  bool *vouched, struct hlg_err *err)
{
	struct hlg_run *run = g->run;
	bool outside = are_outside(&run->space, sums);
	int rc = 0;

	*vouched = false;
	if (outside && !is_any_inside(&run->space, &run->profile)) {
		hlg_address_check_add_samples(&g->check, &run->profile);
	} else if (outside) {
		rc = vouch(g, vouched, err);
		if (rc == 0)
			rc = begin_check(g, err);
	}
	if (rc < 0)
		return rc;
	for (size_t i = 0; !*vouched && (outside || !g->folds) && i < sums->n_cells; i++)
		if (sums->cells[i].key.has_rip)
			hlg_address_check_add(&g->check, sums->cells[i].key.rip);
	hlg_profile_merge_told(&g->check.profile, &run->profile);
	return 0;
}

static void tell_outside(struct hlg_exits_guest *g)
{
	struct hlg_report *r = &g->check.report;

	if (r->vouched)
		hlg_note_list_warn(&g->run->notes, "no exit left from the ELF%s: %s",
				   g->run->space.n_images > 1 ? "s" : "",
				   r->unnamed
					   ? r->unnamed
					   : "all are of other code (the VMM's own, or "
					     "another guest's: name that ELF, too)");
	else
		hlg_notes_tell_outside(r, &g->run->notes);
}

static int check(struct hlg_exits_guest *g, const struct hlg_exits_sums *sums,
		 struct hlg_err *err)
{
	struct hlg_run *run = g->run;
	bool vouched;
	int rc = gather(g, sums, &vouched, err);

	if (rc == 0)
		rc = hlg_address_check_judge(&g->check, &run->space, err);
	g->check.report.vouched = vouched;
	run->refused = rc == 0 && hlg_banner_is_refusal(&g->check.report);
	if (rc == 0 && g->check.report.suppressed)
		hlg_note_list_warn(&run->notes, "%s",
				   hlg_banner_suppressed(&g->check.report));
	if (rc == 0)
		tell_outside(g);
	if (rc == 0)
		hlg_notes_tell_elsewhere(&g->check.report, &run->notes);
	if (rc == 0)
		hlg_notes_tell_unnamed(&g->check.report, &run->notes);
	/* The first halt of a guest that the ELF is not of is taken for a call's end. */
	if (rc == 0 && g->check.report.trust.all.verdict >= HLG_TRUST_MIXED &&
	    sums->pairs[HLG_EXITS_CALL])
		hlg_note_list_warn(&run->notes,
				   "guest calls of guests that do not fit may be counted "
				   "wrongly: their start is taken for one");
	return rc;
}

int hlg_exits_guest_settle(struct hlg_exits_guest *g, const struct hlg_exits_sums *sums,
			   uint64_t n_samples, struct hlg_err *err)
{
	struct hlg_run *run = g->run;
	int rc = 0;

	hlg_whose_note(&g->whose, "exits and entries", &run->notes);
	if (!g->spare)
		hlg_address_check_add_samples(&g->check, &run->profile);
	if (n_samples < ENOUGH)
		rc = add_exits(&run->profile, sums, err);
	if (rc == 0)
		rc = hlg_run_settle(run, err);
	if (rc == 0)
		rc = note_bases(run, err);
	return rc == 0 ? check(g, sums, err) : rc;
}

void hlg_exits_guest_finish(struct hlg_exits_guest *g)
{
	hlg_address_check_finish(&g->check);
	for (size_t i = 0; i < g->n_noted; i++)
		hlg_builds_finish(&g->noted[i]);
	free(g->noted);
	hlg_whose_finish(&g->whose);
}
