// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/relay.h"

#include <stdlib.h>

static void take_mark(struct hlg_exits_order *o, const struct hlg_exits_item *item)
{
	switch (item->kind) {
	case HLG_EXITS_MARK_LOST:
		hlg_exits_lose(o, item->time, item->cpu);
		break;
	case HLG_EXITS_MARK_BAD:
		o->pairing.sums->lone.bad++;
		hlg_exits_lose_at(o, item->time);
		break;
	case HLG_EXITS_MARK_ROUND:
		hlg_exits_round(o);
		break;
	default:
		o->pairing.has_runs = true;
		break;
	}
}

static inline void take(struct hlg_exits_order *o, uint64_t thread,
			const struct hlg_exits_item *item)
{
	struct hlg_exits_stream *s;

	if (item->kind >= HLG_EXITS_RECORDS) {
		take_mark(o, item);
		return;
	}
	s = hlg_exits_stream(o, thread);
	if (!s)
		return;
	*hlg_exits_next(s) = *item;
	hlg_exits_pushed(o, s, item);
}

static void take_batch(struct hlg_exits_order *o, const struct hlg_exits_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		__builtin_prefetch(&batch->entries[i] + HLG_EXITS_AHEAD);
		take(o, batch->entries[i].thread, &batch->entries[i].item);
	}
}

static void *take_all(void *arg)
{
	struct hlg_exits_relay *r = arg;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		while (r->taken == r->filled && !r->end)
			pthread_cond_wait(&r->changed, &r->lock);
		if (r->taken == r->filled)
			break;
		pthread_mutex_unlock(&r->lock);
		take_batch(r->order, &r->batches[r->taken % HLG_EXITS_BATCHES]);
		pthread_mutex_lock(&r->lock);
		r->taken++;
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

void hlg_exits_relay_start(struct hlg_exits_relay *r, struct hlg_exits_order *order,
			   unsigned threads)
{
	*r = (struct hlg_exits_relay){.order = order, .room = HLG_EXITS_FIRST};
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	if (threads > 1)
		r->batches = malloc(HLG_EXITS_BATCHES * sizeof(*r->batches));
	r->here = r->batches;
	if (r->here)
		r->here->n = 0;
}

void hlg_exits_relay_hand(struct hlg_exits_relay *r)
{
	if (r->room < HLG_EXITS_BATCH)
		r->room *= 2;
	if (!r->started)
		r->started = pthread_create(&r->thread, NULL, take_all, r) == 0;
	if (!r->started) {
		take_batch(r->order, r->here);
		r->here->n = 0;
		return;
	}
	pthread_mutex_lock(&r->lock);
	r->filled++;
	pthread_cond_signal(&r->changed);
	while (r->filled - r->taken == HLG_EXITS_BATCHES)
		pthread_cond_wait(&r->changed, &r->lock);
	r->here = &r->batches[r->filled % HLG_EXITS_BATCHES];
	pthread_mutex_unlock(&r->lock);
	r->here->n = 0;
}

void hlg_exits_relay_finish(struct hlg_exits_relay *r)
{
	if (r->started) {
		pthread_mutex_lock(&r->lock);
		r->end = true;
		pthread_cond_signal(&r->changed);
		pthread_mutex_unlock(&r->lock);
		pthread_join(r->thread, NULL);
	}
	/* The last batch is not full. */
	if (r->here)
		take_batch(r->order, r->here);
	free(r->batches);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}

void hlg_exits_relay_send(struct hlg_exits_relay *r, uint64_t thread,
			  const struct hlg_exits_item *item)
{
	if (!r->here) {
		take(r->order, thread, item);
		return;
	}
	*hlg_exits_relay_next(r) = (struct hlg_exits_entry){thread, *item};
	hlg_exits_relay_sent(r);
}

void hlg_exits_relay_mark(struct hlg_exits_relay *r, enum hlg_exits_mark mark,
			  uint64_t time, uint16_t cpu)
{
	hlg_exits_relay_send(r, 0,
			     &(struct hlg_exits_item){
				     .time = time, .cpu = cpu, .kind = (uint8_t)mark});
}
