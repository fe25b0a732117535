// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest base: at which bases do the samples of recordings fit an ELF? What the file or
 * the user says of a base is not asked, but compared with the answer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/output/out.h"
#include "filter/report/banner.h"
#include "filter/report/notes.h"
#include "filter/report/nothing.h"
#include "filter/run.h"
#include "filter/stats/interval.h"
#include "filter/trust/addresses.h"
#include "filter/trust/base-kvm.h"
#include "filter/write/table.h"
#include "filter/write/text-line.h"
#include "symtab/bsearch.h"
#include "symtab/escape.h"
#include "symtab/grow.h"
#include "symtab/image/base.h"
#include "symtab/image/lane.h"
#include "tools/base/not-found.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/inputs.h"

/* A base that is known, before it is found. */
struct claim {
	bool any;
	uint64_t base;
	char from[128];
	size_t image; /* its number */
};

/* One for each word; of an image that is named twice there are two. */
struct claims {
	struct claim *at;
	size_t n;
};

enum {
	WIDTH = 88 /* columns of a terminal that has room for all and a name */
};

/* A line of the table, and what else is said of it. */
struct line {
	const struct hlg_fit *fit;
	const struct hlg_image *image; /* NULL: the runner-up */
	const struct claim *claim;     /* of this base; NULL: there is none */
	const struct hlg_base_kvm *kvm;
};

static const struct claim *claim_of(const struct claims *claims,
				    const struct hlg_image *image, uint64_t base)
{
	for (size_t i = 0; image && i < claims->n; i++) {
		const struct claim *claim = &claims->at[i];

		if (claim->any && claim->image == image->number && claim->base == base)
			return claim;
	}
	return NULL;
}

static bool is_recorded(const struct hlg_base_kvm *kvm, uint64_t base)
{
	for (size_t i = 0; i < kvm->n; i++)
		if (kvm->at[i] == base)
			return true;
	return false;
}

static void put_remark(FILE *f, const struct line *line)
{
	if (line->claim) {
		fputs("  (as expected: ", f);
		hlg_escape_print(f, line->claim->from);
		fputc(')', f);
	}
	if (line->image && is_recorded(line->kvm, line->fit->base))
		fputs("  (KVM's records have it there)", f);
}

/* Of a name a terminal shows what has room, and the remark below. */
static void put_name(FILE *f, const void *of)
{
	enum {
		BEFORE = 72, /* cells, */
		FEW = 47     /* without the addresses */
	};
	const struct line *line = of;
	const char *name = line->image ? line->image->path : "runner-up";
	const struct hlg_screen screen = hlg_screen_of(f);

	if (screen.lines) {
		const long used = screen.columns < WIDTH ? FEW : BEFORE;

		hlg_table_cut(f, name, (long)screen.columns - used, screen.ascii);
	} else {
		hlg_escape_print(f, name);
		put_remark(f, line);
	}
}

/* On a terminal: the remark. */
static void put_below(FILE *f, const struct line *line)
{
	const struct hlg_screen screen = hlg_screen_of(f);
	struct hlg_memstream m;
	char *text;

	if (!screen.lines)
		return;
	if (hlg_memstream_open(&m))
		put_remark(m.f, line);
	text = hlg_memstream_close(&m);
	if (text && *text) {
		fputs(HLG_TEXT_INDENT, f);
		hlg_text_line_fold(f, &screen, strlen(HLG_TEXT_INDENT), HLG_TEXT_INDENT,
				   text + strspn(text, " "));
	}
	free(text);
}

static const struct hlg_column columns[] = {
	{"base", "base", .type = HLG_VALUE_WORD, .width = -18},
	{"samples", "samples", .type = HLG_VALUE_COUNT, 1, 12},
	{"on_boundary", "on starts", .type = HLG_VALUE_PERCENT, 1, 11, .unit = " %"},
	{"addresses", "addresses", .type = HLG_VALUE_COUNT, 1, 12},
	{"addresses_on_boundary", "on starts", .type = HLG_VALUE_PERCENT, 1, 11,
	 .unit = " %"},
	{NULL, "guest", .type = HLG_VALUE_TEXT, 2},
};
static const struct hlg_table whole = {columns,
				       .n = sizeof(columns) / sizeof(columns[0])};

/* Without the addresses, where a terminal has no room for them and a name. */
static struct hlg_table table_for(FILE *f)
{
	static const unsigned char few[] = {0, 1, 2, 5};
	const struct hlg_screen screen = hlg_screen_of(f);

	return screen.lines && screen.columns < WIDTH
		       ? (struct hlg_table){columns, few, .n = sizeof(few)}
		       : whole;
}

static void print_fit(FILE *f, const struct hlg_fit *fit, const struct hlg_image *image,
		      const struct claims *claims, const struct hlg_base_kvm *kvm)
{
	const struct line line = {fit, image, claim_of(claims, image, fit->base), kvm};
	const struct hlg_table table = table_for(f);
	char base[32] = "";
	const struct hlg_value values[] = {
		hlg_table_text_value(base),
		hlg_table_count_value(fit->samples),
		hlg_table_number_value(
			hlg_interval_part_share(fit->on_samples, fit->off_samples)),
		hlg_table_count_value(fit->on + fit->off),
		hlg_table_number_value(hlg_interval_part_share(fit->on, fit->off)),
		{.tail = put_name, .of = &line},
	};

	snprintf(base, sizeof(base), "%s0x%" PRIx64, image ? "" : "  not ", fit->base);
	hlg_table_text_row(f, &table, values, 0);
	put_below(f, &line);
}

static void print_bases(FILE *f, const struct hlg_image *image,
			const struct hlg_found *found, const struct claims *claims,
			const struct hlg_base_kvm *kvm, bool first)
{
	const struct hlg_table table = table_for(f);

	if (first)
		hlg_table_text_head(f, &table);
	for (size_t i = 0; i < found->n; i++)
		print_fit(f, &found->fits[i], image, claims, kvm);
	if (found->rival.on)
		print_fit(f, &found->rival, NULL, claims, kvm);
}

/* What an image has at a base, in whatever lanes it lies there, as of one; all is sorted.
 * False without memory. */
static bool test_base(struct hlg_fit *fit, const struct hlg_image *image,
		      struct hlg_code *code, const struct hlg_addresses *all,
		      uint64_t base)
{
	const uint64_t size = image->end - image->first;
	struct hlg_addresses addrs = {0};
	bool ok = true;

	for (size_t k = 0; k < hlg_image_n_bases(image); k++) {
		const struct hlg_base at = hlg_image_base(image, k);
		const uint64_t first = at.bias + image->first;
		size_t i = HLG_BSEARCH_BELOW(all->at, all->n, ip, first);

		for (;
		     at.base == base && ok && i < all->n && all->at[i].ip - first < size;
		     i++) {
			ok = HLG_GROW(addrs.at, addrs.n);
			if (ok)
				addrs.at[addrs.n++] = (struct hlg_sampled){
					hlg_lane_ip(all->at[i].ip), all->at[i].samples};
		}
	}
	if (addrs.n)
		hlg_addresses_sort(&addrs);
	hlg_base_find_fit(code, image, addrs.at, addrs.n, base, fit);
	hlg_addresses_finish(&addrs);
	return ok;
}

static bool has_fit(const struct hlg_found *found, uint64_t base)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->fits[i].base == base)
			return true;
	return false;
}

/* How the guests that were searched one by one lie, and behind them what else is found in
 * the samples that are left. False without memory. */
static bool test_guests(struct hlg_found *found, const struct hlg_image *image,
			struct hlg_code *code, const struct hlg_addresses *all,
			const struct hlg_addresses *left)
{
	struct hlg_found more;
	bool ok = hlg_base_find_all(code, image, left->at, left->n, &more);

	*found = (struct hlg_found){0};
	for (size_t i = 0; ok && i < hlg_image_n_bases(image); i++) {
		const uint64_t base = hlg_image_base(image, i).base;

		if (has_fit(found, base))
			continue;
		ok = HLG_GROW(found->fits, found->n) &&
		     test_base(&found->fits[found->n], image, code, all, base);
		found->n += ok;
	}
	for (size_t i = 0; ok && i < more.n; i++) {
		ok = HLG_GROW(found->fits, found->n);
		if (ok)
			found->fits[found->n++] = more.fits[i];
	}
	hlg_base_find_sort(found);
	hlg_base_find_finish(&more);
	return ok;
}

/* Says when what is known and what is found differ. Returns the status. */
static int compare(const struct hlg_image *image, const struct hlg_found *found,
		   const struct claims *claims)
{
	struct hlg_err err;
	int status = 0;

	for (size_t i = 0; i < claims->n; i++) {
		const struct claim *claim = &claims->at[i];

		if (!claim->any || claim->image != image->number ||
		    has_fit(found, claim->base))
			continue;
		hlg_err_set(&err, HLG_EINPUT,
			    "%s: base 0x%" PRIx64
			    " (%s) does not fit the samples (use %s@0x%" PRIx64 ")",
			    image->path, claim->base, claim->from, image->typed,
			    found->fits[0].base);
		hlg_output_error(&err);
		status = HLG_BANNER_STATUS;
	}
	return status;
}

/* Says where KVM's records have an image, if the samples found it elsewhere, or nowhere:
 * then that is the answer. Returns the status. */
static int tell_recorded(FILE *f, const struct hlg_image *image,
			 const struct hlg_found *found, const struct hlg_base_kvm *kvm)
{
	struct hlg_err err;

	for (size_t i = 0; found->n == 0 && i < kvm->n; i++) {
		fprintf(f, "0x%-16" PRIx64 " ", kvm->at[i]);
		hlg_escape_print(f, image->path);
		fputs("  (from KVM's records; the samples find no base)\n", f);
	}
	for (size_t i = 0; i < found->n; i++)
		if (kvm->n == 0 || is_recorded(kvm, found->fits[i].base))
			return 0;
	if (found->n == 0)
		return 0;
	hlg_err_set(&err, HLG_EINPUT,
		    "%s: KVM's records have the guest at 0x%" PRIx64
		    ", the samples fit 0x%" PRIx64 " (hlguest report believes KVM's, "
		    "unless the samples refuse it)",
		    image->path, kvm->at[0], found->fits[0].base);
	hlg_output_error(&err);
	return HLG_BANNER_STATUS;
}

/* Takes out what an image explains where it was found, or else where it is recorded.
 * Others may lie across it there. */
static void take_out(struct hlg_addresses *left, const struct hlg_image *image,
		     struct hlg_found *found, const struct hlg_base_kvm *kvm)
{
	hlg_addresses_leave_out(left, image, found);
	for (size_t i = 0; found->n == 0 && i < kvm->n; i++) {
		struct hlg_fit at = {.base = kvm->at[i]};

		hlg_addresses_leave_out(left, image,
					&(struct hlg_found){.fits = &at, .n = 1});
	}
}

/* Bases of all images so far: that samples find, and that KVM's records alone have. */
struct tally {
	size_t found, recorded;
};

/* One image; left: what no image before it explains. */
static int find(FILE *f, struct hlg_run *run, struct hlg_image *image,
		const struct claims *claims, const struct hlg_addresses *all,
		struct hlg_addresses *left, struct tally *tally, struct hlg_err *err)
{
	struct hlg_found found = {0};
	struct hlg_base_kvm kvm = {0};
	struct hlg_code *code;
	/* Were they placed while recordings were read, guest by guest? */
	const bool guests = image->from == HLG_BASE_FOUND;
	int rc = hlg_code_open(&code, image, err), status = 1;

	if (rc < 0)
		return hlg_output_error(err);
	if (!hlg_base_kvm_find(image, &run->profile.starts, &kvm) ||
	    !(guests ? test_guests(&found, image, code, all, left)
		     : hlg_base_find_all(code, image, left->at, left->n, &found))) {
		hlg_err_memory(err, image->path);
		status = hlg_output_error(err);
	} else if (hlg_image_unread(image)) {
		hlg_image_fail_unread(image, err);
		status = hlg_output_error(err);
	} else if (found.n == 0 && kvm.n == 0) {
		status = hlg_not_found_tell(run, image, all, left, &found.best,
					    tally->found + tally->recorded != 0);
	} else {
		if (found.n)
			print_bases(f, image, &found, claims, &kvm, tally->found == 0);
		tally->found += found.n;
		tally->recorded += found.n ? 0 : kvm.n;
		status = tell_recorded(f, image, &found, &kvm);
		if (found.n && compare(image, &found, claims) != 0)
			status = HLG_BANNER_STATUS;
		take_out(left, image, &found, &kvm);
	}
	hlg_base_kvm_finish(&kvm);
	hlg_base_find_finish(&found);
	hlg_code_close(code);
	return status;
}

/* The image of a path, if there is one already. */
static const struct hlg_image *named_before(const struct hlg_space *space,
					    const char *path)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (strcmp(space->images[i]->path, path) == 0)
			return space->images[i];
	return NULL;
}

/* Opens an image and takes its base off it: a claim remembers that. One that is named
 * twice is opened once. */
static int open_image(struct hlg_run *run, const struct hlg_image_arg *arg,
		      struct claim *claim, struct hlg_err *err)
{
	const struct hlg_image *before;
	struct hlg_image *image;
	int rc = hlg_run_open_image(&image, arg, err);

	if (rc == 0 && !arg->find)
		rc = hlg_base_read(image, err);
	if (rc < 0) {
		hlg_image_destroy(image);
		return rc;
	}
	claim->any = image->from != HLG_BASE_NONE;
	claim->base = image->base;
	hlg_base_describe(image, claim->from, sizeof(claim->from));
	hlg_image_clear_base(image);
	before = named_before(&run->space, image->path);
	if (before)
		hlg_image_destroy(image);
	else
		rc = hlg_space_add(&run->space, image, err);
	claim->image = before ? before->number : run->space.n_images - 1;
	return rc;
}

/* A run whose images lie nowhere. claims->at is to be freed. */
static int start(struct hlg_run *run, const struct hlg_inputs *in, struct claims *claims,
		 struct hlg_err *err)
{
	int rc;

	*run = (struct hlg_run){0};
	*claims = (struct claims){0};
	rc = hlg_options_parse(&run->options, in->n_words, in->words, err);
	if (rc == 0)
		rc = hlg_out_check(run->options.out, HLG_MAGIC_NONE, err);
	if (rc == 0) {
		claims->at = calloc(run->options.n_images + 1, sizeof(*claims->at));
		run->apart = run->apart_only = true;
		if (!claims->at || !hlg_profile_init(&run->profile, &run->options))
			rc = hlg_err_memory(err, "base");
	}
	for (size_t i = 0; rc == 0 && i < run->options.n_images; i++)
		rc = open_image(run, &run->options.images[i], &claims->at[claims->n++],
				err);
	return rc < 0 ? rc : hlg_space_arrange(&run->space, err);
}

static int find_all(FILE *f, struct hlg_run *run, const struct claims *claims,
		    struct tally *tally, struct hlg_err *err)
{
	struct hlg_addresses addrs = {0}, left = {0};
	int status = 0;

	*tally = (struct tally){0};
	if (hlg_addresses_collect(&addrs, &run->profile) &&
	    hlg_addresses_pick(&left, &addrs, &run->space, NULL)) {
		for (size_t i = 0; i < run->space.n_images; i++) {
			int one = find(f, run, run->space.images[i], claims, &addrs,
				       &left, tally, err);

			status = status == 1 || one == 0 ? status : one;
		}
	} else {
		hlg_err_memory(err, "samples");
		status = hlg_output_error(err);
	}
	hlg_addresses_finish(&addrs);
	hlg_addresses_finish(&left);
	return status;
}

/* What is found is written, also if that is not all; a file only if anything is. */
static int write_all(struct hlg_run *run, const struct claims *claims,
		     struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_out_open(&out, run->options.out, stdout, err), status;
	struct tally tally;

	if (rc < 0)
		return hlg_output_error(err);
	status = find_all(out.f, run, claims, &tally, err);
	if (tally.found + tally.recorded == 0) {
		hlg_out_abort(&out);
		return status;
	}
	rc = hlg_out_commit(&out, err);
	return rc < 0 ? hlg_output_error(err) : status;
}

/* Where another build ran, the base may be that build's; and none is as expected, as what
 * this ELF states says nothing of it. Returns the status. */
static int check_builds(struct hlg_run *run, struct claims *claims, struct hlg_err *err)
{
	int status = 0;

	for (size_t i = 0; i < run->profile.ran.n && i < run->space.n_images; i++) {
		const struct hlg_image *image = run->space.images[i];
		const struct hlg_ran *ran = &run->profile.ran.at[i];
		const enum hlg_trust_verdict told = hlg_identity_verdict(ran);
		char *said;

		if (told == HLG_TRUST_UNTESTED)
			continue;
		said = hlg_banner_build(&run->profile, image, ran);
		run->notes.lost |= !said;
		status = HLG_BANNER_STATUS;
		if (said && told == HLG_TRUST_MISMATCH) {
			hlg_err_set(err, HLG_EINPUT, "%s", said);
			hlg_output_error(err);
			for (size_t k = 0; k < claims->n; k++)
				claims->at[k].any &= claims->at[k].image != i;
		} else if (said) {
			hlg_note_list_warn(&run->notes, "%s", said);
		}
		free(said);
	}
	return status;
}

static int base(const struct hlg_inputs *in)
{
	struct hlg_batch batch = {0};
	struct claims claims;
	struct hlg_run run;
	struct hlg_err err;
	int rc = start(&run, in, &claims, &err), status = 0, ran = 0;

	if (rc == 0)
		rc = hlg_inputs_read(in, &run, &batch, &status, &err);
	if (rc == 0 && run.profile.unrecorded)
		rc = hlg_err_memory(&err, "base");
	if (rc == 0 && batch.n_read)
		rc = hlg_nothing_check(&run.profile, "", &err);
	if (rc == 0 && batch.n_read)
		ran = check_builds(&run, &claims, &err);
	if (batch.n_read) {
		hlg_batch_note(&batch, &run);
		hlg_output_notes(NULL, &run.notes, HLG_OUTPUT_WARNINGS);
	}
	if (rc == 0 && run.notes.lost)
		rc = hlg_err_memory(&err, "base");
	if (rc < 0) {
		status = hlg_output_error(&err);
	} else if (batch.n_read) {
		int found = write_all(&run, &claims, &err);

		status = status ? status : found ? found : ran;
	}
	hlg_batch_finish(&batch);
	hlg_run_finish(&run);
	free(claims.at);
	return status;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct hlg_inputs in = {0};
	int status;

	if (hlg_inputs_parse(&in, verb, argc, argv, &status))
		status = base(&in);
	hlg_inputs_finish(&in);
	return status;
}

const struct hlg_verb hlg_verb_base = {
	.name = "base",
	.args = "guest.elf [FILE...]",
	.help = "find where the guest's ELF lay",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf... [FILE...]",
	.doc = "Finds where a guest's ELF lay when recordings were made: at which bases "
	       "the samples are on instruction starts.\v"
	       "A base that the ELF or FILE@BASE states is not used; the two are "
	       "compared.",
	.examples = "hlguest base guest.elf\twhere the guest lay in perf.data.guest\n"
		    "hlguest base guest.elf a.data b.data\tfrom two recordings\n"
		    "hlguest base guest.elf perf.data.guest -o base.txt\tinto a file",
	.files = "elf recording profile",
	.shared = "input jobs quiet cpu event output pid sandbox tid time",
	.run = run,
};
