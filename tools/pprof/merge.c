// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merging: threads take profiles in turn, each has a sum of its own, and these are added
 * up. Which profile is told of in an error is decided by place, not by who was first.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"
#include "tools/pprof/pprof.h"
#include "tools/pprof/sum.h"

enum {
	N_BY = 1 << HLG_SAVED_N_KEYS, /* ways in which samples are split */
	WORDS = 32                    /* bytes of all keys */
};

/* What the workers share. Places are in the order of the paths; SIZE_MAX: of none. */
struct work {
	struct hlg_pprof_merging *m;
	atomic_size_t next;
	atomic_bool stop; /* whatever comes behind makes no difference */
	pthread_mutex_t lock;
	/* Under the lock. */
	size_t by[N_BY];    /* the first that is split so */
	bool broken;        /* no sum could be had, whatever the profiles say */
	struct hlg_err why; /* that */
	size_t n_read;
};

struct worker {
	pthread_t thread;
	bool started;
	bool any, broken; /* is there a sum, and could it not take more? */
	struct work *work;
	struct hlg_pprof_sum sum;
};

/* Which profile makes a sum too large depends on who adds it to which others. */
static const char sum_name[] = "profiles";

static void leave_out(struct work *work, size_t number, const struct hlg_err *why)
{
	struct hlg_pprof_merging *m = work->m;

	if (HLG_GROW(m->left_out, m->n_left_out)) {
		m->left_out[m->n_left_out++] = (struct hlg_pprof_left_out){number, *why};
	} else {
		work->broken = true;
		hlg_err_memory(&work->why, sum_name);
		work->stop = true;
	}
	if (m->failures == HLG_PPROF_ANY)
		work->stop = true;
}

/* Notes how a profile is split. False if the sum will be none. */
static bool is_split_alike(struct work *work, size_t number, uint32_t by)
{
	size_t ways = 0;

	pthread_mutex_lock(&work->lock);
	work->n_read++;
	if (number < work->by[by])
		work->by[by] = number;
	for (size_t i = 0; i < N_BY; i++)
		ways += work->by[i] != SIZE_MAX;
	work->stop |= ways > 1;
	pthread_mutex_unlock(&work->lock);
	return ways == 1;
}

/* Adds to a worker's sum, unless that is in vain. The others are still read: what is
 * wrong with one of them is told first. */
static void add(struct worker *w, struct hlg_saved *from)
{
	struct work *work = w->work;
	struct hlg_err why;

	if (w->broken)
		return;
	w->any = true;
	if (hlg_pprof_sum_add(&w->sum, from, sum_name, &why) == 0)
		return;
	w->broken = true;
	pthread_mutex_lock(&work->lock);
	work->broken = true;
	work->why = why;
	pthread_mutex_unlock(&work->lock);
}

/* A profile, and of the list that it must be of. */
static int load(const struct hlg_pprof_merging *m, size_t number, struct hlg_saved *one,
		struct hlg_err *err)
{
	int rc = hlg_pprof_load(one, m->paths[number], m->progress, err);

	if (rc < 0 || !m->digests ||
	    (one->listed &&
	     memcmp(one->list, m->digests[number], sizeof(one->list)) == 0))
		return rc;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is of another list of recordings than it should be (run "
			   "its task again)",
			   m->paths[number]);
}

static void add_profile(struct worker *w, size_t number)
{
	struct hlg_saved one = HLG_SAVED_INIT;
	struct hlg_err why;

	if (load(w->work->m, number, &one, &why) < 0) {
		pthread_mutex_lock(&w->work->lock);
		leave_out(w->work, number, &why);
		pthread_mutex_unlock(&w->work->lock);
	} else if (is_split_alike(w->work, number, one.extra.by)) {
		add(w, &one);
	}
	hlg_saved_finish(&one);
}

static void *work_on(void *arg)
{
	struct worker *w = arg;
	size_t i;

	while (!w->work->stop &&
	       (i = atomic_fetch_add(&w->work->next, 1)) < w->work->m->n)
		add_profile(w, i);
	return NULL;
}

/* The first worker is this thread; what one that cannot be had would have taken, others
 * take. All sums become the first's. */
static void run(struct worker *workers, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		workers[i].started = pthread_create(&workers[i].thread, NULL, work_on,
						    &workers[i]) == 0;
	work_on(&workers[0]);
	for (unsigned i = 1; i < n; i++) {
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
		if (workers[i].any && !workers[i].broken && !workers[0].work->stop)
			add(&workers[0], &workers[i].sum.saved);
		hlg_pprof_sum_finish(&workers[i].sum);
	}
}

/* "pid,tid" */
static const char *split_words(char buf[static WORDS], size_t by)
{
	const char *comma = "";
	size_t n = 0;

	strcpy(buf, "nothing");
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++) {
		if (!(by >> i & 1))
			continue;
		n += (size_t)snprintf(buf + n, WORDS - n, "%s%s", comma,
				      hlg_saved_key_names[i]);
		comma = ",";
	}
	return buf;
}

/* The first of those ways in which profiles are split that is not `but`; N_BY: none. */
static size_t first_way(const struct work *work, size_t but)
{
	size_t first = N_BY;

	for (size_t i = 0; i < N_BY; i++)
		if (work->by[i] != SIZE_MAX && i != but &&
		    (first == N_BY || work->by[i] < work->by[first]))
			first = i;
	return first;
}

/* Samples of all must be split alike: of those before a place. */
static int check_split(const struct work *work, size_t before, struct hlg_err *err)
{
	char one[WORDS], another[WORDS];
	size_t first = first_way(work, N_BY), other = first_way(work, first);

	if (first == N_BY || other == N_BY || work->by[other] > before)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is split by %s, but %s by %s (save both with the "
			   "same --by=)",
			   hlg_pprof_name(work->m->paths[work->by[other]]),
			   split_words(one, other),
			   hlg_pprof_name(work->m->paths[work->by[first]]),
			   split_words(another, first));
}

static int compare_left_out(const void *a, const void *b)
{
	const struct hlg_pprof_left_out *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Is there a sum? Of what is wrong the first is told. */
static int check(struct work *work, struct hlg_err *err)
{
	struct hlg_pprof_merging *m = work->m;
	bool any = m->n_left_out && m->failures == HLG_PPROF_ANY;
	bool fails = any ||
		     (m->n_left_out && m->failures == HLG_PPROF_ALL && work->n_read == 0);
	int rc;

	if (m->n_left_out)
		qsort(m->left_out, m->n_left_out, sizeof(*m->left_out), compare_left_out);
	rc = check_split(work, any ? m->left_out[0].number : SIZE_MAX, err);
	if (rc < 0)
		return rc;
	if (fails)
		*err = m->left_out[0].err;
	else if (work->broken)
		*err = work->why;
	return fails || work->broken ? HLG_EINPUT : 0;
}

static int write_sum(struct hlg_pprof_sum *sum, const struct hlg_pprof_merging *m,
		     const char *out, FILE *stream, struct hlg_err *err)
{
	for (size_t i = 0; i < m->n_left_out; i++)
		hlg_origins_add_unread(&sum->saved.origins, true, m->left_out[i].err.msg);
	if (sum->saved.origins.lost || !hlg_pprof_resolve(&sum->saved))
		return hlg_err_memory(err, "profile");
	return hlg_pprof_write(&sum->saved, out, stream, err);
}

/* What one profile took the next one takes: to give it back and have it zeroed again
 * costs a quarter of the time. */
static void keep_memory(void)
{
	const int most = 32 << 20; /* that mallopt(3) takes for the first */

	mallopt(M_MMAP_THRESHOLD, most);
	mallopt(M_TRIM_THRESHOLD, 2 * most);
}

int hlg_pprof_merge(struct hlg_pprof_merging *m, const char *out, FILE *stream,
		    struct hlg_err *err)
{
	unsigned n = m->threads < m->n ? m->threads : (unsigned)m->n;
	struct work work = {.m = m, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct worker *workers = calloc(n ? n : 1, sizeof(*workers));
	int rc;

	keep_memory();
	m->left_out = NULL;
	m->n_left_out = 0;
	if (!workers)
		return hlg_err_memory(err, "threads");
	for (size_t i = 0; i < N_BY; i++)
		work.by[i] = SIZE_MAX;
	for (unsigned i = 0; i < (n ? n : 1); i++)
		workers[i] = (struct worker){.work = &work, .sum = HLG_PPROF_SUM_INIT};
	run(workers, n ? n : 1);
	rc = check(&work, err);
	if (rc == 0)
		rc = write_sum(&workers[0].sum, m, out, stream, err);
	hlg_pprof_sum_finish(&workers[0].sum);
	free(workers);
	return rc;
}
