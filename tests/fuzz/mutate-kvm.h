/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other records of KVM's tracepoints from those of doors exits and pairs: one is another,
 * or stands elsewhere; some that follow each other are there again, or are another
 * thread's or CPU's; an exit gets its entry. One of four times any bytes are others.
 */
#ifndef HLG_TESTS_FUZZ_MUTATE_KVM_H
#define HLG_TESTS_FUZZ_MUTATE_KVM_H

#include "tests/fuzz/mutate.h"

enum {
	MUTATE_KVM_MOST = 1024, /* records; what stands behind stays */
	MUTATE_KVM_ROW = 6,     /* of records that are another thread's, at most */
	MUTATE_KVM_FAR = 0x80,  /* as a step in time: the time follows, door_take_time */
	MUTATE_KVM_SIZE = 23    /* bytes of a record, at most */
};

/* What the records of a door are called: the bits below 8 of their first byte. */
struct mutate_kvm_kinds {
	uint8_t lost, exit, entry;
};

struct mutate_kvm {
	const struct mutate_kvm_kinds *kinds;
	uint8_t *record[MUTATE_KVM_MOST + 1]; /* [n]: behind the last */
	size_t n, size, most;
	uint8_t *data;
};

static inline size_t mutate_kvm_length(const struct mutate_kvm *m, const uint8_t *at)
{
	size_t head = at[1] == MUTATE_KVM_FAR ? 10 : 2;

	if ((at[0] & 7) == m->kinds->lost)
		return head + 1;
	return head + (at[0] & 128 ? 13 : 3);
}

/* Finds the whole records behind the first byte, which says how all is read. */
static inline void mutate_kvm_find(struct mutate_kvm *m)
{
	uint8_t *at = m->data + 1, *end = m->data + m->size;

	m->n = 0;
	m->record[0] = at;
	while (m->n < MUTATE_KVM_MOST && end - at >= 2 &&
	       mutate_kvm_length(m, at) <= (size_t)(end - at)) {
		at += mutate_kvm_length(m, at);
		m->record[++m->n] = at;
	}
}

/* Puts n bytes before a record, if there is room. */
static inline void mutate_kvm_put(struct mutate_kvm *m, size_t before,
				  const uint8_t *bytes, size_t n)
{
	uint8_t *at = m->record[before];

	if (n > m->most - m->size)
		return;
	memmove(at + n, at, m->size - (size_t)(at - m->data));
	memcpy(at, bytes, n);
	m->size += n;
	mutate_kvm_find(m);
}

static inline void mutate_kvm_drop(struct mutate_kvm *m, size_t i)
{
	uint8_t *at = m->record[i], *behind = m->record[i + 1];

	memmove(at, behind, m->size - (size_t)(behind - m->data));
	m->size -= (size_t)(behind - at);
	mutate_kvm_find(m);
}

/* Some records that begin with i are there again, before another. */
static inline void mutate_kvm_again(struct mutate_kvm *m, struct mutate_dice *dice,
				    size_t i)
{
	size_t n = 1 + mutate_roll(dice, MUTATE_KVM_ROW);
	uint8_t row[MUTATE_KVM_ROW * MUTATE_KVM_SIZE];
	size_t size;

	n = n < m->n - i ? n : m->n - i;
	size = (size_t)(m->record[i + n] - m->record[i]);
	memcpy(row, m->record[i], size);
	mutate_kvm_put(m, mutate_roll(dice, m->n + 1), row, size);
}

/* So many from i on have other bits above their kind: CPU, thread. */
static inline void mutate_kvm_move(struct mutate_kvm *m, struct mutate_dice *dice,
				   size_t i, size_t n)
{
	uint8_t by = (uint8_t)(1 + mutate_roll(dice, 15)) << 3;

	for (; n && i < m->n; n--, i++)
		m->record[i][0] ^= by;
}

/* Another kind: what is lost is shorter. */
static inline void mutate_kvm_turn(struct mutate_kvm *m, struct mutate_dice *dice,
				   size_t i)
{
	uint8_t record[MUTATE_KVM_SIZE] = {0};
	size_t size = (size_t)(m->record[i + 1] - m->record[i]);

	memcpy(record, m->record[i], size);
	record[0] = (record[0] & ~7) | (uint8_t)mutate_roll(dice, 8);
	mutate_kvm_drop(m, i);
	mutate_kvm_put(m, i, record, mutate_kvm_length(m, record));
}

/* An exit and its entry, by the thread and CPU of record i and at its time. */
static inline void mutate_kvm_pair(struct mutate_kvm *m, struct mutate_dice *dice,
				   size_t i)
{
	uint8_t how = m->record[i][0] & 0x78, step = (uint8_t)mutate_roll(dice, 8);
	const uint8_t pair[] = {how | m->kinds->exit,
				step,
				(uint8_t)mutate_roll(dice, 256),
				(uint8_t)mutate_roll(dice, 80),
				0,
				how | m->kinds->entry,
				step,
				0,
				0,
				0};

	mutate_kvm_put(m, i, pair, sizeof(pair));
}

static inline size_t mutate_kvm(const struct mutate_kvm_kinds *kinds, uint8_t *data,
				size_t size, size_t most, unsigned seed)
{
	struct mutate_dice dice = {seed};
	struct mutate_kvm m = {.kinds = kinds, .size = size, .most = most, .data = data};
	size_t i;

	if (size)
		mutate_kvm_find(&m);
	if (mutate_roll(&dice, 4) == 0 || m.n == 0)
		return LLVMFuzzerMutate(data, size, most);
	i = mutate_roll(&dice, m.n);
	switch (mutate_roll(&dice, 8)) {
	case 0:
		mutate_kvm_again(&m, &dice, i);
		break;
	case 1:
		mutate_kvm_drop(&m, i);
		break;
	case 2: /* thread and CPU of one, of some */
		mutate_kvm_move(&m, &dice, i, 1);
		break;
	case 3:
		mutate_kvm_move(&m, &dice, i, 1 + mutate_roll(&dice, MUTATE_KVM_ROW));
		break;
	case 4:
		mutate_kvm_turn(&m, &dice, i);
		break;
	case 5:
		mutate_kvm_pair(&m, &dice, i);
		break;
	case 6: /* when; 0x80 would take what follows for the time */
		if (m.record[i][1] != MUTATE_KVM_FAR)
			m.record[i][1] = (uint8_t)(0x81 + mutate_roll(&dice, 255));
		break;
	default: /* what it says */
		mutate_inside(m.record[i] + 2,
			      (size_t)(m.record[i + 1] - m.record[i]) - 2);
	}
	return m.size;
}

#endif
