/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do addresses of guests lie where code of these images can be, as those of samples do in
 * a report? For who has addresses and no samples: what is said in verdict.h of samples
 * holds of addresses then, each of which counts once.
 */
#ifndef HLG_FILTER_REPORT_ADDRESS_CHECK_H
#define HLG_FILTER_REPORT_ADDRESS_CHECK_H

#include "filter/report/report.h"

enum {
	HLG_ADDRESS_CHECK_MOST = 1 << 16 /* that are kept; more prove nothing else */
};

struct hlg_address_check {
	struct hlg_options options; /* the caller's force=, nothing else */
	struct hlg_profile profile; /* an address is a sample */
	struct hlg_host host;       /* none */
	uint32_t event;
	/* Once judged. Of it count trust.all, banner and suppressed. */
	struct hlg_report report;
};

/* Fails without memory; the caller finishes it in any case. It must not move. */
int hlg_address_check_init(struct hlg_address_check *check, bool force,
			   struct hlg_err *err);

/* Adds an address, unless it was there, or there are too many. What finds no memory is
 * left out. */
void hlg_address_check_add(struct hlg_address_check *check, uint64_t ip);

/* Adds those of all samples of guests. */
void hlg_address_check_add_samples(struct hlg_address_check *check,
				   const struct hlg_profile *from);

/* Judges them in a space that is settled, and outlives the check. */
int hlg_address_check_judge(struct hlg_address_check *check,
			    const struct hlg_space *space, struct hlg_err *err);

void hlg_address_check_finish(struct hlg_address_check *check);

#endif
