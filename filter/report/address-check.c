// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/address-check.h"

#include <string.h>

#include "filter/report/build.h"

int hlg_address_check_init(struct hlg_address_check *check, bool force,
			   struct hlg_err *err)
{
	int rc;

	memset(check, 0, sizeof(*check));
	rc = hlg_options_parse(&check->options, 0, NULL, err);
	check->options.force = force;
	check->options.border = HLG_BORDER_KEEP;
	if (rc == 0 && hlg_profile_init(&check->profile, &check->options))
		check->event = hlg_profile_event(&check->profile, "addresses", 0);
	else if (rc == 0)
		rc = hlg_err_memory(err, "check");
	check->profile.of_addresses = true;
	return rc == 0 && check->event == HLG_NO_SERIES ? hlg_err_memory(err, "check")
							: rc;
}

void hlg_address_check_add(struct hlg_address_check *check, uint64_t ip)
{
	struct hlg_profile *p = &check->profile;
	uint32_t series = p->events[check->event].series;

	if (p->n_cells == HLG_ADDRESS_CHECK_MOST ||
	    (series != HLG_NO_SERIES &&
	     hlg_profile_cell_known(p->cells, p->shift, ip, series)))
		return;
	hlg_profile_add(p, &(struct hlg_sample){.ip = ip,
						.period = 1,
						.time = HLG_NO_TIME,
						.pid = -1,
						.tid = -1,
						.cpu = -1,
						.event = check->event,
						.cpumode = HLG_MODE_GUEST_USER});
}

void hlg_address_check_add_samples(struct hlg_address_check *check,
				   const struct hlg_profile *from)
{
	for (size_t i = 0; i < hlg_profile_room(from); i++)
		if (from->cells[i].count.samples)
			hlg_address_check_add(check, from->cells[i].ip);
}

int hlg_address_check_judge(struct hlg_address_check *check,
			    const struct hlg_space *space, struct hlg_err *err)
{
	return hlg_report_build(&check->report, &check->options, space, &check->profile,
				&check->host, NULL, NULL, err);
}

void hlg_address_check_finish(struct hlg_address_check *check)
{
	hlg_report_finish(&check->report);
	hlg_profile_finish(&check->profile);
	hlg_host_finish(&check->host);
	hlg_options_finish(&check->options);
}
