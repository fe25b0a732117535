// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/exits.h"

#include <stdio.h>

#include "tools/record/tracing.h"

int hlg_record_exits(const char **words, size_t *n, const char *event,
		     const char *frequency, const char *root, struct hlg_err *err)
{
	static const char *const events[] = {"kvm_exit",         "kvm_entry",
					     "kvm_pio",          "kvm_mmio",
					     "kvm_emulate_insn", "kvm_userspace_exit"};
	static char sampling[256], names[6][64];
	struct hlg_record_tracing tracing;
	size_t i, found = 0;
	int rc = hlg_record_tracing_sampling(sampling, sizeof(sampling), event, frequency,
					     "--exits", err);

	if (rc == 0)
		rc = hlg_record_tracing_find(&tracing, root, "--exits", err);
	if (rc < 0)
		return rc;
	words[(*n)++] = "-e";
	words[(*n)++] = sampling;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(names[i], sizeof(names[i]), "kvm/%s", events[i]);
		if (!hlg_record_tracing_has(&tracing, names[i]))
			continue;
		names[i][3] = ':';
		words[(*n)++] = "-e";
		words[(*n)++] = names[i];
		found++;
	}
	if (!found) {
		rc = hlg_record_tracing_denied(&tracing, err);
		if (rc < 0)
			return rc;
		return hlg_err_set(err, HLG_ESYSTEM,
				   "--exits: the kernel has no tracepoints of KVM (load "
				   "it: modprobe kvm_intel or kvm_amd)");
	}
	hlg_record_tracing_kvm_run(&tracing, words, n);
	return 0;
}
