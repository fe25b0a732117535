// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/save.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "tools/beside/beside.h"
#include "tools/pprof/pprof.h"

enum {
	NAME = 64
};

/* "hlguest-top-20261125-131400", in local time; with "-2" and so on if there is one. */
static void make_name(char name[static NAME], unsigned again)
{
	char more[16] = "", when[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "-%Y%m%d-%H%M%S", &tm);
	if (again)
		snprintf(more, sizeof(more), "-%u", again + 1);
	snprintf(name, NAME, "hlguest-top%s%s", when, more);
}

/* Of the recording data, which is at rest. */
static int save_profile(const struct hlg_top_saving *s, const char *data,
			const char *path, struct hlg_err *err)
{
	struct hlg_top_judged *judged;
	int rc = hlg_top_judge(&judged, s->n_words, s->words, data, NULL,
			       HLG_TOP_JUDGE_SAVE, err);
	int fd = rc == 0 ? hlg_top_spool_create(path, err) : rc;
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!f) {
		if (fd >= 0) {
			close(fd);
			unlink(path);
			hlg_err_memory(err, path);
		}
		hlg_top_judge_finish(judged);
		return HLG_ESYSTEM;
	}
	rc = hlg_pprof_report(&judged->run, &judged->batch.sums, NULL, NULL, f, err);
	if (rc == 0 && (fflush(f) != 0 || fsync(fd) != 0))
		rc = hlg_out_fail(path, "written", errno, err);
	if (fclose(f) != 0 && rc == 0)
		rc = hlg_out_fail(path, "written", errno, err);
	if (rc < 0)
		unlink(path);
	hlg_top_judge_finish(judged);
	return rc;
}

void hlg_top_save(const struct hlg_top_saving *s, char *message, size_t size)
{
	char name[NAME], data[NAME + 8], profile[NAME + 8];
	struct hlg_err err;
	unsigned again = 0;

	do { /* of the second one within a second */
		make_name(name, again);
		snprintf(data, sizeof(data), "%s.data", name);
		snprintf(profile, sizeof(profile), "%s.pb.gz", name);
	} while ((access(data, F_OK) == 0 || access(profile, F_OK) == 0) &&
		 ++again < 100);
	if (hlg_top_spool_save(s->spool, s->whole, data, &err) < 0) {
		snprintf(message, size, "nothing is saved: %s", err.msg);
		return;
	}
	/* The recording is whole without the rest. */
	(void)hlg_beside_write(data, s->guests, s->n_guests,
			       (const char *const *)s->others->others,
			       s->others->n_others, &err);
	if (s->n_images == 0)
		snprintf(message, size, "saved %s", data);
	else if (hlg_pprof_check(&err) < 0 || save_profile(s, data, profile, &err) < 0)
		snprintf(message, size, "saved %s; no profile: %s", data, err.msg);
	else
		snprintf(message, size, "saved %s and %s.pb.gz", data, name);
}
