// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes that are walked: of the file, or of a compressed record while it is used up.
 */
#include "tools/perfdata/reader.h"

struct hlg_window hlg_window_rest(const struct hlg_perfdata *pd)
{
	return (struct hlg_window){pd->walk.at, pd->hard_end};
}

void hlg_window_set(struct hlg_perfdata *pd, struct hlg_window w)
{
	uint64_t here, ahead;

	pd->walk.at = w.at;
	pd->walk.end = pd->hard_end = w.end;
	if (pd->range_to == UINT64_MAX || pd->unzipping)
		return;
	here = hlg_perfdata_source_offset(&pd->source, &w);
	ahead = pd->range_to > here ? pd->range_to - here : 0;
	if (ahead < (uint64_t)(w.end - w.at))
		pd->walk.end = w.at + ahead;
}

uint64_t hlg_window_offset(const struct hlg_perfdata *pd)
{
	struct hlg_window w = hlg_window_rest(pd);

	return hlg_perfdata_source_offset(&pd->source, pd->unzipping ? &pd->raw : &w);
}

bool hlg_window_past_range(const struct hlg_perfdata *pd)
{
	return pd->range_to != UINT64_MAX && !pd->unzipping &&
	       hlg_window_offset(pd) >= pd->range_to;
}

uint64_t hlg_perfdata_tell(const struct hlg_perfdata *pd)
{
	return hlg_window_offset(pd);
}

static int unzip_more(struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct hlg_window w = hlg_window_rest(pd);
	int rc = hlg_unzip_more(pd->unzip, &w);

	if (rc < 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: compressed records before offset %ju are damaged "
				   "(record again)",
				   pd->path, (uintmax_t)hlg_window_offset(pd));
	if (rc == 0) {
		pd->unzipping = false;
		pd->unzipped = w;
		w = pd->raw;
	}
	hlg_window_set(pd, w);
	return 1;
}

int hlg_window_fill(struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct hlg_window w = hlg_window_rest(pd);
	int rc;

	if (pd->unzipping)
		return unzip_more(pd, err);
	rc = hlg_perfdata_source_fill(&pd->source, &w);
	hlg_window_set(pd, w);
	return rc < 0 ? hlg_perfdata_source_errno(pd->path, err) : rc;
}

/* Hands n bytes on to the sink. Returns how many there were, or an error. */
static int64_t hand_on(struct hlg_perfdata *pd, struct hlg_window *w, uint64_t n,
		       struct hlg_err *err)
{
	uint8_t some[16384];
	uint64_t done = 0;

	while (done < n) {
		uint64_t now = n - done < sizeof(some) ? n - done : sizeof(some);
		int64_t got = hlg_perfdata_source_take(&pd->source, w, some, now);
		int rc;

		if (got < 0)
			return hlg_perfdata_source_errno(pd->path, err);
		rc = pd->sink->payload(pd->ctx, some, (size_t)got, err);
		if (rc < 0)
			return rc;
		done += (uint64_t)got;
		if ((uint64_t)got < now)
			break;
	}
	return (int64_t)done;
}

int64_t hlg_window_take(struct hlg_perfdata *pd, void *dst, uint64_t n,
			struct hlg_err *err)
{
	struct hlg_window w = hlg_window_rest(pd);
	int64_t got;

	if (pd->unzipping)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: compressed records hold what is never compressed "
				   "(damaged; record again)",
				   pd->path);
	if (!dst && pd->sink && pd->sink->payload) {
		got = hand_on(pd, &w, n, err);
		if (got < 0)
			return got;
	} else {
		got = hlg_perfdata_source_take(&pd->source, &w, dst, n);
	}
	if (got < 0)
		return hlg_perfdata_source_errno(pd->path, err);
	hlg_window_set(pd, w);
	return got;
}
