// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/stacks.h"

#include "tools/record/tracing.h"

int hlg_record_stacks(const char **words, size_t *n, const char *event,
		      const char *frequency, const char *root, struct hlg_err *err)
{
	static char sampling[256];
	struct hlg_record_tracing tracing;
	int rc = hlg_record_tracing_sampling(sampling, sizeof(sampling), event, frequency,
					     "--stacks", err);

	if (rc == 0)
		rc = hlg_record_tracing_find(&tracing, root, "--stacks", err);
	if (rc < 0)
		return rc;
	words[(*n)++] = "-g";
	/* Else perf tells which kernel it was only if a sample of the host is shown. */
	words[(*n)++] = "--buildid-all";
	words[(*n)++] = "-e";
	words[(*n)++] = sampling;
	if (hlg_record_tracing_kvm_run(&tracing, words, n))
		return 0;
	if (hlg_record_tracing_has(&tracing, "kvm/kvm_entry")) {
		words[(*n)++] = "-e";
		words[(*n)++] = "kvm:kvm_entry";
		return 0;
	}
	rc = hlg_record_tracing_denied(&tracing, err);
	if (rc < 0)
		return rc;
	return hlg_err_set(err, HLG_ESYSTEM,
			   "--stacks: the kernel traces neither system calls nor KVM "
			   "(load it: modprobe kvm_intel or kvm_amd)");
}
