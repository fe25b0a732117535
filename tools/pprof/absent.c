// SPDX-License-Identifier: GPL-2.0-only
/* pprof.h in a build without protobuf-c or zlib. */
#include "tools/pprof/pprof.h"

int hlg_pprof_check(struct hlg_err *err)
{
	return hlg_err_set(
		err, HLG_EINPUT,
		"saved profiles: not in this build (install libprotobuf-c-dev, "
		"protobuf-c-compiler and zlib1g-dev and build again)");
}

int hlg_pprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		     FILE *stream, struct hlg_err *err)
{
	(void)run, (void)sums, (void)stream;
	return hlg_pprof_check(err);
}

int hlg_pprof_read(const char *path, const struct hlg_space *space,
		   struct hlg_progress *progress, struct hlg_profile *profile,
		   struct hlg_host *host, struct hlg_recording_sums *sums,
		   struct hlg_err *err)
{
	(void)space, (void)progress, (void)profile, (void)host, (void)sums;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: saved profiles are not in this build (install "
			   "libprotobuf-c-dev, protobuf-c-compiler and zlib1g-dev and "
			   "build again)",
			   path);
}

int hlg_pprof_merge(char *const *paths, size_t n, const char *out, FILE *stream,
		    struct hlg_progress *progress, struct hlg_err *err)
{
	(void)paths, (void)n, (void)out, (void)stream, (void)progress;
	return hlg_pprof_check(err);
}

int hlg_pprof_images(struct hlg_space *space, char *const *paths, size_t n,
		     struct hlg_err *err)
{
	(void)space, (void)paths, (void)n;
	return hlg_pprof_check(err);
}
