// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/verdict.h"

static struct hlg_share share_of(uint64_t on, uint64_t off)
{
	uint64_t n = on + off;

	return hlg_interval_wilson_at(n ? (double)on / (double)n : 0, (double)n,
				      HLG_INTERVAL_Z99);
}

bool hlg_verdict_is_much(uint64_t outside, uint64_t all)
{
	return outside > all / HLG_VERDICT_OUTSIDE;
}

bool hlg_verdict_is_off(const struct hlg_boundaries *b)
{
	return b->off > 0 && hlg_interval_binomial(b->off, b->on + b->off,
						   1 - HLG_VERDICT_NEARLY_ALL) < 0.01;
}

bool hlg_verdict_is_padded(const struct hlg_tested *t)
{
	const struct hlg_boundaries padding = {t->samples.on + t->samples.off, t->padding,
					       0};

	return hlg_verdict_is_off(&padding);
}

/* The first part of the rule in verdict.h, in its order. */
static enum hlg_trust_verdict judge(const struct hlg_tested *t, uint64_t stray_addrs)
{
	const struct hlg_share *addrs = &t->by_addrs;
	uint64_t n = t->addrs.on + t->addrs.off;
	double half = t->chance + (1 - t->chance) / 2;

	if (n == 0 && t->addrs.undecodable)
		return HLG_TRUST_UNTESTED;
	if (n < HLG_VERDICT_LEAST_ADDRS &&
	    (hlg_verdict_is_off(&t->samples) || hlg_verdict_is_off(&t->addrs)))
		return HLG_TRUST_MISMATCH;
	if (n < HLG_VERDICT_LEAST_ADDRS && t->addrs.on < (n ? n : 1) &&
	    stray_addrs >=
		    (t->inside ? HLG_VERDICT_LEAST_STRAY_ADDRS : HLG_VERDICT_LEAST_ADDRS))
		return HLG_TRUST_MISMATCH;
	if (n < HLG_VERDICT_LEAST_ADDRS)
		return HLG_TRUST_TOO_FEW;
	if (addrs->share >= HLG_VERDICT_NEARLY_ALL &&
	    t->by_samples.share >= HLG_VERDICT_NEARLY_ALL) {
		if (addrs->low <= half)
			return HLG_TRUST_TOO_FEW;
		return hlg_verdict_is_padded(t) ? HLG_TRUST_MIXED : HLG_TRUST_VERIFIED;
	}
	if ((addrs->share < half && hlg_verdict_is_off(&t->addrs)) ||
	    (t->by_samples.share < half && hlg_verdict_is_off(&t->samples)))
		return HLG_TRUST_MISMATCH;
	return HLG_TRUST_MIXED;
}

void hlg_verdict_judge(struct hlg_tested *t, uint64_t stray_addrs)
{
	t->chance = t->bytes > 0 ? t->starts / t->bytes : 0;
	t->by_samples = share_of(t->samples.on, t->samples.off);
	t->by_addrs = share_of(t->addrs.on, t->addrs.off);
	t->verdict = judge(t, stray_addrs);
}

/* gaps=stretch credits what lies elsewhere, which is tested no more than a gap. */
static bool is_in_symbol(const struct hlg_place *place)
{
	return place->symbol && place->addr >= place->start && place->addr < place->end;
}

enum hlg_boundary hlg_verdict_at(struct hlg_code *code, const struct hlg_place *place)
{
	if (code && place->kind == HLG_DATA)
		return HLG_BOUNDARY_OFF;
	return code && is_in_symbol(place) ? hlg_code_at(code, place)
					   : HLG_BOUNDARY_UNKNOWN;
}

void hlg_verdict_count(struct hlg_boundaries *to, enum hlg_boundary is, uint64_t n)
{
	if (is == HLG_BOUNDARY_ON)
		to->on += n;
	else if (is == HLG_BOUNDARY_OFF)
		to->off += n;
	else
		to->undecodable += n;
}

void hlg_verdict_add(struct hlg_tested *t, struct hlg_code *code,
		     const struct hlg_place *place, bool filler, uint64_t samples)
{
	enum hlg_boundary is = hlg_verdict_at(code, place);
	struct hlg_density density;

	t->stray_addrs += filler || place->kind == HLG_OUTSIDE || place->kind == HLG_DATA;
	t->inside += place->image && !filler;
	t->data_addrs += place->kind == HLG_DATA && is == HLG_BOUNDARY_OFF;
	t->padding += filler ? samples : 0;
	if (is == HLG_BOUNDARY_UNKNOWN && !is_in_symbol(place))
		return;
	hlg_verdict_count(&t->samples, is, samples);
	hlg_verdict_count(&t->addrs, is, 1);
	if (is == HLG_BOUNDARY_UNKNOWN || !is_in_symbol(place))
		return;
	density = hlg_code_density(code, place);
	t->starts += (double)samples * (double)density.starts / (double)density.bytes;
	t->bytes += (double)samples;
}

const char *hlg_verdict_word(enum hlg_trust_verdict verdict)
{
	static const char *const words[] = {
		[HLG_TRUST_UNTESTED] = "not tested",
		[HLG_TRUST_TOO_FEW] = "too few samples to tell",
		[HLG_TRUST_VERIFIED] = "verified",
		[HLG_TRUST_MIXED] = "mixed",
		[HLG_TRUST_MISMATCH] = "mismatch",
	};

	return words[verdict];
}

const char *hlg_verdict_said(enum hlg_trust_verdict verdict)
{
	static const char *const words[] = {
		[HLG_TRUST_UNTESTED] = "not checked",
		[HLG_TRUST_TOO_FEW] = "cannot tell",
		[HLG_TRUST_VERIFIED] = "OK",
		[HLG_TRUST_MIXED] = "MIXED",
		[HLG_TRUST_MISMATCH] = "WRONG ELF OR BASE",
	};

	return words[verdict];
}

enum hlg_checked_word hlg_verdict_to_checked(enum hlg_trust_verdict verdict)
{
	static const enum hlg_checked_word words[] = {
		[HLG_TRUST_UNTESTED] = HLG_CHECKED_UNTESTED,
		[HLG_TRUST_TOO_FEW] = HLG_CHECKED_TOO_FEW,
		[HLG_TRUST_VERIFIED] = HLG_CHECKED_VERIFIED,
		[HLG_TRUST_MIXED] = HLG_CHECKED_MIXED,
		[HLG_TRUST_MISMATCH] = HLG_CHECKED_MISMATCH};

	return words[verdict];
}

enum hlg_trust_verdict hlg_verdict_of_checked(enum hlg_checked_word word)
{
	static const enum hlg_trust_verdict verdicts[] = {
		[HLG_CHECKED_NOTHING] = HLG_TRUST_UNTESTED,
		[HLG_CHECKED_VERIFIED] = HLG_TRUST_VERIFIED,
		[HLG_CHECKED_TOO_FEW] = HLG_TRUST_TOO_FEW,
		[HLG_CHECKED_UNTESTED] = HLG_TRUST_UNTESTED,
		[HLG_CHECKED_MIXED] = HLG_TRUST_MIXED,
		[HLG_CHECKED_MISMATCH] = HLG_TRUST_MISMATCH};

	return verdicts[word];
}
