// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same records as of door exits, without the recording around them: many times as
 * many inputs. They are put in order and paired; few are held, so that many are late.
 */
#include "tests/fuzz/door.h"
#include "tests/fuzz/exits-report.h"
#include "tools/exits/pair.h"
#include "tools/exits/reasons.h"

#define FEW 16

static void push(struct hlg_exits_pairing *pairing, struct door_bytes *bytes,
		 unsigned how, uint64_t time)
{
	bool wide = how & 128;
	uint64_t thread = 1 | (uint64_t)(1 + (how >> 5 & 3)) << 32;
	struct hlg_exits_item *item = hlg_exits_next(pairing);
	unsigned c;

	if (!item)
		door_fail("no memory");
	*item = (struct hlg_exits_item){
		.time = time,
		.thread = thread,
		.a = door_take(bytes, wide ? 8 : 1),
		.b = (uint32_t)door_take(bytes, wide ? 4 : 1),
		.cpu = how & 16 ? HLG_ANY_CPU : how >> 3 & 1,
		.kind = (uint8_t)(how & 7),
	};
	c = (unsigned)door_take(bytes, 1);
	item->vcpu = c & 128 ? HLG_NO_VCPU : c >> 2 & 3;
	switch (item->kind) {
	case HLG_EXITS_EXIT:
		item->c = (uint8_t)((c & 3) | (c & 16 ? HLG_EXITS_NO_RIP : 0));
		break;
	case HLG_EXITS_USER:
		item->c = c & 1 ? HLG_ISA_ERRNO : HLG_ISA_USER;
		break;
	default:
		item->c = c & 1;
	}
	hlg_exits_pushed(pairing, item);
}

static void lose(struct hlg_exits_pairing *pairing, struct door_bytes *bytes,
		 uint64_t time)
{
	unsigned how = (unsigned)door_take(bytes, 1);

	if (how & 128)
		hlg_exits_round(pairing);
	else if (how & 64)
		hlg_exits_lose_at(pairing, time);
	else
		hlg_exits_lose(pairing, time, how & 2 ? HLG_ANY_CPU : how & 1);
}

static void feed(struct hlg_exits_pairing *pairing, struct door_bytes *bytes)
{
	uint64_t time = 1000;

	while (bytes->left) {
		unsigned how = (unsigned)door_take(bytes, 1);

		time = door_take_time(bytes, time);
		if ((how & 7) == HLG_EXITS_NONE)
			lose(pairing, bytes, time);
		else
			push(pairing, bytes, how, time);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct door_bytes bytes = {data, size};
	unsigned how = (unsigned)door_take(&bytes, 1);
	struct hlg_exits_sums sums = {.exact = how & 1};
	struct hlg_exits_pairing pairing;

	hlg_exits_begin(&pairing, &sums);
	pairing.start = how & 8 ? 1500 : 0;
	pairing.stop = how & 16 ? 3000 : UINT64_MAX;
	pairing.has_runs = !(how & 32);
	if (how & 4)
		pairing.queue.limit = FEW;
	feed(&pairing, &bytes);
	hlg_exits_end(&pairing);
	hlg_exits_finish(&pairing);
	hlg_exits_settle(&sums);
	if (sums.no_memory)
		door_fail("no memory");
	door_exits_report(&sums, how);
	hlg_exits_sums_finish(&sums);
	return 0;
}
