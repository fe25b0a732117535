// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saved profiles that are added up: in whatever order and groups, and read one behind the
 * other, the sum has the same bytes; and of two that say different things of one, what
 * saved.h and resolve.c say is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/pprof/sum.h"

#define PARTS 4
#define SEEDS 300

/* One thing more in a list, to be filled. */
#define MORE(list)                                                                       \
	__extension__({                                                                  \
		__typeof__((list).at) one_more = HLG_SAVED_MORE(list);                   \
                                                                                         \
		ck_assert_ptr_nonnull(one_more);                                         \
		one_more;                                                                \
	})

static struct hlg_err err;

static uint64_t random_of(uint64_t *state, uint64_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % n;
}

/* Text that goes when the profile does: what a sum has must be its own. */
static char *text(struct hlg_saved *s, const char *of)
{
	char *copy = hlg_saved_text(s, of);

	ck_assert_ptr_nonnull(copy);
	return copy;
}

static uint32_t add_function(struct hlg_saved *s, const char *name, const char *symbol)
{
	struct hlg_saved_function *f = MORE(s->functions);

	*f = (struct hlg_saved_function){text(s, name), text(s, symbol)};
	return (uint32_t)s->functions.n - 1;
}

static uint32_t add_image(struct hlg_saved *s, const char *path, const char *id,
			  uint64_t base)
{
	struct hlg_saved_image *image = MORE(s->images);

	*image = (struct hlg_saved_image){.extra = PPROF__EXTRA__IMAGE__INIT,
					  .path = text(s, path),
					  .build_id = text(s, id),
					  .start = base,
					  .limit = base + 0x1000};
	image->extra.load_base = image->extra.bias = base;
	return (uint32_t)s->images.n;
}

static uint32_t add_event(struct hlg_saved *s, const char *name, uint32_t kind,
			  bool member)
{
	Pprof__Extra__Event *event = MORE(s->events);

	*event = (Pprof__Extra__Event)PPROF__EXTRA__EVENT__INIT;
	event->name = text(s, name);
	event->kind = kind;
	event->member = member;
	return (uint32_t)s->events.n - 1;
}

static void add_cell(struct hlg_saved *s, struct hlg_saved_frame at, uint32_t stack,
		     uint32_t event, int32_t pid, uint64_t samples)
{
	*MORE(s->cells) = (struct hlg_saved_cell){.at = at,
						  .stack = stack,
						  .key = {event, {pid, 0, 0, 0}},
						  .count = {samples, 10 * samples}};
}

static void add_inlines(struct hlg_saved *s, struct hlg_saved_frame at, uint32_t n,
			const uint32_t *functions)
{
	uint32_t *to = hlg_saved_add_inlines(s, at.image, at.ip, n);

	ck_assert_ptr_nonnull(to);
	memcpy(to, functions, n * sizeof(*to));
}

static void add_field(struct hlg_saved *s, void *message, unsigned tag,
		      ProtobufCWireType type, const char *data)
{
	ProtobufCMessageUnknownField field = {
		.tag = tag,
		.wire_type = type,
		.len = strlen(data),
		.data = (uint8_t *)text(s, data),
	};

	ck_assert(hlg_saved_add_unknown(s, message, &field));
}

static void add_check(struct hlg_saved *s, uint32_t word, bool suppressed,
		      const char *said)
{
	Pprof__Extra__Check *check = MORE(s->checks);

	*check = (Pprof__Extra__Check)PPROF__EXTRA__CHECK__INIT;
	check->word = word;
	check->suppressed = suppressed;
	check->said = text(s, said);
}

static const char *const letters[] = {"a", "b", "c", "d"};

/* Fields of a later hlguest, of few kinds. */
static void add_fields(struct hlg_saved *s, void *message, uint64_t *r)
{
	for (uint64_t n = random_of(r, 3); n > 0; n--)
		add_field(s, message, 100 + (unsigned)random_of(r, 2),
			  random_of(r, 2) ? PROTOBUF_C_WIRE_TYPE_64BIT
					  : PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED,
			  random_of(r, 2)   ? "12345678"
			  : random_of(r, 2) ? "87654321"
					    : "12");
}

/* One of few frames: of these parts many share each. */
static struct hlg_saved_frame frame_of(uint64_t *r, uint32_t image, uint32_t functions)
{
	struct hlg_saved_frame at = {
		.image = random_of(r, 4) ? image : 0,
		.function = functions + (uint32_t)random_of(r, 4),
	};

	at.ip = 0x100 + 0x10 * random_of(r, 2);
	return at;
}

static uint32_t add_stack(struct hlg_saved *s, uint64_t *r, uint32_t image,
			  uint32_t functions, bool of_guest)
{
	struct hlg_saved_stack *stack = MORE(s->stacks);
	struct hlg_saved_arena *arena = &s->arena;
	struct hlg_saved_stack of = {
		.end = (uint32_t)random_of(r, 2),
		.way = (uint32_t)random_of(r, 2),
		.n_callers = of_guest ? random_of(r, 2) : 0,
		.n_frames = of_guest ? random_of(r, 3) : 0,
		.n_host = random_of(r, 2),
	};

	of.callers = hlg_saved_arena_alloc(arena, of.n_callers, sizeof(*of.callers));
	of.frames = hlg_saved_arena_alloc(arena, of.n_frames, sizeof(*of.frames));
	of.host = hlg_saved_arena_alloc(arena, of.n_host, sizeof(*of.host));
	for (size_t i = 0; i < of.n_callers; i++)
		of.callers[i] = random_of(r, 2);
	for (size_t i = 0; i < of.n_frames; i++)
		of.frames[i] = frame_of(r, image, functions);
	for (size_t i = 0; i < of.n_host; i++)
		of.host[i] = (struct hlg_saved_host){
			functions + (uint32_t)random_of(r, 4), (uint32_t)random_of(r, 2)};
	*stack = of;
	return (uint32_t)s->stacks.n;
}

static void add_rows(struct hlg_saved *s, uint64_t *r, uint32_t event)
{
	Pprof__Extra__Series *series = MORE(s->series);
	Pprof__Extra__HostRow *row = MORE(s->hosts);

	*series = (Pprof__Extra__Series)PPROF__EXTRA__SERIES__INIT;
	series->event = event;
	series->pid = (int32_t)random_of(r, 2);
	series->squares_low = random_of(r, 2) ? UINT64_MAX : 7;
	add_fields(s, series, r);
	*row = (Pprof__Extra__HostRow)PPROF__EXTRA__HOST_ROW__INIT;
	row->event = event;
	row->pid = (int32_t)random_of(r, 2);
	row->samples = 1 + random_of(r, 9);
	row->period = random_of(r, 99);
	row->dso = text(s, letters[random_of(r, 2)]);
	row->process = text(s, letters[random_of(r, 2)]);
	add_fields(s, row, r);
}

static void add_images(struct hlg_saved *s, uint64_t *r)
{
	bool known = random_of(r, 2);
	struct hlg_saved_image *image;

	add_image(s, letters[random_of(r, 3)], known ? "1234" : "",
		  0x1000 * random_of(r, 2));
	image = &s->images.at[s->images.n - 1];
	image->extra.map = random_of(r, 2);
	add_fields(s, &image->extra, r);
	for (uint64_t n = random_of(r, 3); n > 0; n--)
		hlg_saved_add_ran(
			image, random_of(r, 2) ? HLG_IDENTITY_OTHER : HLG_IDENTITY_SAME,
			text(s, letters[random_of(r, 2)]),
			text(s, letters[random_of(r, 2)]));
}

/* Adds a profile that is made up, as one that is read is added. */
static void make(struct hlg_saved *s, uint64_t seed)
{
	const uint32_t events = (uint32_t)s->events.n;
	const uint32_t functions = (uint32_t)s->functions.n;
	const size_t cells = s->cells.n;
	uint64_t state = seed, *r = &state, seen = 0;
	struct hlg_origins origins = {0};
	Pprof__Extra extra = PPROF__EXTRA__INIT;

	s->extra.by = 1;
	for (size_t i = 0; i < 4; i++)
		add_function(s, letters[random_of(r, 4)], letters[random_of(r, 2)]);
	for (size_t i = 0; i < 2; i++) {
		add_event(s, i ? "cycles" : "cpu-clock", (uint32_t)random_of(r, 3),
			  random_of(r, 2));
		add_fields(s, &s->events.at[s->events.n - 1], r);
	}
	for (uint64_t n = 1 + random_of(r, 2); n > 0; n--) {
		add_images(s, r);
		for (uint64_t k = random_of(r, 9); k > 0; k--) {
			uint32_t image = (uint32_t)s->images.n;
			uint32_t stack =
				random_of(r, 2) ? 0
						: add_stack(s, r, image, functions, true);

			add_cell(s, frame_of(r, image, functions), stack,
				 events + (uint32_t)random_of(r, 2),
				 (int32_t)random_of(r, 2), 1 + random_of(r, 9));
			seen += s->cells.at[s->cells.n - 1].count.samples;
			hlg_moments_add(&s->moments, random_of(r, 1000), 0,
					(uint32_t)s->cells.n - 1);
		}
	}
	/* What was inlined is told where there are samples. */
	for (size_t i = cells; i < s->cells.n; i++) {
		uint32_t list[2] = {functions + (uint32_t)random_of(r, 4),
				    functions + (uint32_t)random_of(r, 4)};

		if (s->cells.at[i].at.image && random_of(r, 2))
			add_inlines(s, s->cells.at[i].at, 1 + (uint32_t)random_of(r, 2),
				    list);
	}
	for (uint64_t k = random_of(r, 3); k > 0; k--) {
		uint32_t stack = add_stack(s, r, 0, functions, false);

		*MORE(s->host_stacks) = (struct hlg_saved_cell){
			.stack = stack,
			.key = {events + (uint32_t)random_of(r, 2), {1, 0, 0, 0}},
			.count = {1, random_of(r, 9)}};
	}
	add_rows(s, r, events + (uint32_t)random_of(r, 2));
	add_check(s, 1 + (uint32_t)random_of(r, 3), random_of(r, 2),
		  letters[random_of(r, 3)]);
	add_fields(s, &s->checks.at[s->checks.n - 1], r);
	add_fields(s, &s->extra, r);
	hlg_origins_add(&origins, HLG_ORIGIN_IMAGE, letters[random_of(r, 2)],
			letters[random_of(r, 3)], 1);
	hlg_origins_merge(&s->origins, &origins);
	hlg_origins_finish(&origins);
	s->recordings++;
	extra.seen_samples = seen + random_of(r, 9);
	extra.lost = random_of(r, 3);
	ck_assert(hlg_saved_add_totals(s, &extra, 5 + random_of(r, 9), random_of(r, 9)));
}

static unsigned char *bytes_of(struct hlg_saved *s, size_t *size)
{
	unsigned char *bytes;

	ck_assert(hlg_pprof_resolve(s));
	ck_assert_int_eq(hlg_pprof_encode(s, &bytes, size, &err), 0);
	return bytes;
}

/* Of some parts, in an order of its own, by way of a sum of some of them. */
static void add_up(struct hlg_pprof_sum *sum, const uint64_t *seeds, size_t n,
		   uint64_t *r)
{
	for (size_t i = 0, some; i < n; i += some) {
		struct hlg_saved one = HLG_SAVED_INIT;

		some = n > 1 ? 1 + random_of(r, n - i < n ? n - i : n - 1) : 1;
		if (some > 1) {
			struct hlg_pprof_sum inner = HLG_PPROF_SUM_INIT;

			add_up(&inner, seeds + i, some, r);
			if (random_of(r, 2))
				ck_assert(hlg_pprof_resolve(&inner.saved));
			ck_assert_int_eq(hlg_pprof_sum_add(sum, &inner.saved, "x", &err),
					 0);
			hlg_pprof_sum_finish(&inner);
			continue;
		}
		make(&one, seeds[i]);
		if (random_of(r, 2))
			ck_assert(hlg_pprof_resolve(&one));
		ck_assert_int_eq(hlg_pprof_sum_add(sum, &one, "x", &err), 0);
		hlg_saved_finish(&one);
	}
}

START_TEST(ways_agree)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct hlg_saved all = HLG_SAVED_INIT;
		uint64_t r = seed, seeds[PARTS];
		unsigned char *bytes;
		size_t size;

		for (size_t i = 0; i < PARTS; i++) {
			seeds[i] = seed * PARTS + i;
			make(&all, seeds[i]);
		}
		bytes = bytes_of(&all, &size);
		for (int way = 0; way < 3; way++) {
			struct hlg_pprof_sum sum = HLG_PPROF_SUM_INIT;
			unsigned char *again;
			size_t n;

			for (size_t i = PARTS; i-- > 1;) {
				size_t k = random_of(&r, i + 1);
				uint64_t swap = seeds[i];

				seeds[i] = seeds[k];
				seeds[k] = swap;
			}
			add_up(&sum, seeds, PARTS, &r);
			again = bytes_of(&sum.saved, &n);
			ck_assert_msg(n == size && memcmp(again, bytes, n) == 0,
				      "seed %d, way %d", (int)seed, way);
			free(again);
			hlg_pprof_sum_finish(&sum);
		}
		free(bytes);
		hlg_saved_finish(&all);
	}
}
END_TEST

/* The sum of two profiles, or what is read of both, in either order. */
static void each_way(void (*one)(struct hlg_saved *), void (*other)(struct hlg_saved *),
		     void (*check)(const struct hlg_saved *))
{
	void (*const parts[])(struct hlg_saved *) = {one, other};

	for (int way = 0; way < 4; way++) {
		struct hlg_pprof_sum sum = HLG_PPROF_SUM_INIT;

		for (int i = 0; i < 2; i++) {
			struct hlg_saved part = HLG_SAVED_INIT;

			if (way < 2) {
				parts[i ^ way](&sum.saved);
				continue;
			}
			parts[i ^ (way - 2)](&part);
			ck_assert_int_eq(hlg_pprof_sum_add(&sum, &part, "x", &err), 0);
			hlg_saved_finish(&part);
		}
		ck_assert(hlg_pprof_resolve(&sum.saved));
		check(&sum.saved);
		hlg_pprof_sum_finish(&sum);
	}
}

/* A build under two names, what ran there, what an event is, what a check said. */
static void add_rest(struct hlg_saved *s, bool b)
{
	struct hlg_saved_stack *stack = MORE(s->stacks);
	struct hlg_saved_frame outside = {
		0x5000, 0, b ? add_function(s, "g", "g") : add_function(s, "h", "h")};
	Pprof__Extra__Series *series = MORE(s->series);
	Pprof__Extra more = PPROF__EXTRA__INIT;

	/* What is less precise; a timer, where that is known. */
	add_event(s, "cycles", HLG_EVENT_COUNTER, false);
	s->events.at[s->events.n - 1].precise_ip = 1;
	add_event(s, "clock", b ? HLG_EVENT_TIMER : HLG_EVENT_UNKNOWN, false);
	*series = (Pprof__Extra__Series)PPROF__EXTRA__SERIES__INIT;
	series->event = (uint32_t)s->events.n - 1;
	series->squares_low = UINT64_MAX;
	*stack = (struct hlg_saved_stack){.n_frames = 1};
	stack->frames = hlg_saved_arena_alloc(&s->arena, 1, sizeof(outside));
	*stack->frames = outside;
	add_cell(s, (struct hlg_saved_frame){0x6000, 0, outside.function},
		 (uint32_t)s->stacks.n, series->event, 1, 1);
	more.overflow = b;
	ck_assert(hlg_saved_add_totals(s, &more, 0, 0));
}

static void make_a(struct hlg_saved *s)
{
	uint32_t image = add_image(s, "a", "1234", 0), event;

	hlg_saved_add_ran(&s->images.at[image - 1], HLG_IDENTITY_OTHER, text(s, "b"),
			  text(s, "2"));
	event = add_event(s, "cycles", HLG_EVENT_COUNTER, false);
	add_cell(s, (struct hlg_saved_frame){0x10, image, add_function(s, "b", "b")}, 0,
		 event, 1, 2);
	add_check(s, 1, false, "b");
	add_field(s, &s->extra, 101, PROTOBUF_C_WIRE_TYPE_64BIT, "12345678");
	add_field(s, &s->extra, 102, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, "12");
	add_rest(s, false);
	add_field(s, &s->extra, 100, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, "1");
}

static void make_b(struct hlg_saved *s)
{
	uint32_t image = add_image(s, "b", "1234", 0), event;

	hlg_saved_add_ran(&s->images.at[image - 1], HLG_IDENTITY_OTHER, text(s, "b"),
			  text(s, "1"));
	hlg_saved_add_ran(&s->images.at[image - 1], HLG_IDENTITY_SAME, "", "");
	event = add_event(s, "cycles", HLG_EVENT_COUNTER, true);
	add_cell(s, (struct hlg_saved_frame){0x10, image, add_function(s, "a", "a")}, 0,
		 event, 1, 3);
	add_check(s, 1, false, "a");
	add_field(s, &s->extra, 100, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, "1");
	add_field(s, &s->extra, 100, PROTOBUF_C_WIRE_TYPE_64BIT, "12345678");
	add_field(s, &s->extra, 102, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, "123");
	add_rest(s, true);
}

static void check_kept(const struct hlg_saved *s)
{
	const ProtobufCMessageUnknownField *f = s->extra.base.unknown_fields;

	ck_assert_uint_eq(s->images.n, 1);
	ck_assert_str_eq(s->images.at[0].path, "a");
	ck_assert_uint_eq(s->images.at[0].identities,
			  1u << HLG_IDENTITY_OTHER | 1u << HLG_IDENTITY_SAME);
	ck_assert_str_eq(s->images.at[0].ran_id, "1");
	ck_assert_uint_eq(s->events.n, 3);
	ck_assert_uint_eq(s->events.at[0].kind, HLG_EVENT_TIMER);
	ck_assert(s->events.at[1].member);
	ck_assert_uint_eq(s->events.at[1].precise_ip, 0);
	ck_assert_uint_eq(s->events.at[2].precise_ip, 1);
	ck_assert_uint_eq(s->cells.n, 2);
	ck_assert_uint_eq(s->cells.at[1].count.samples, 5);
	ck_assert_uint_eq(s->cells.at[1].count.period, 50);
	ck_assert_uint_eq(s->functions.n, 2);
	ck_assert_str_eq(s->functions.at[s->cells.at[1].at.function].name, "a");
	ck_assert_uint_eq(s->stacks.n, 1);
	ck_assert_str_eq(s->functions.at[s->stacks.at[0].frames[0].function].name, "g");
	ck_assert_uint_eq(s->series.n, 1);
	ck_assert_uint_eq(s->series.at[0].squares_low, UINT64_MAX - 1);
	ck_assert_uint_eq(s->series.at[0].squares_high, 1);
	ck_assert(s->extra.overflow);
	ck_assert_uint_eq(s->checks.n, 1);
	ck_assert_str_eq(s->checks.at[0].said, "a");
	ck_assert_uint_eq(s->extra.base.n_unknown_fields, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(f[i].tag, i < 2 ? 100 : i < 3 ? 101 : 102);
		ck_assert_uint_eq(f[i].len, i == 1 ? 1 : i == 3 ? 2 : i == 4 ? 3 : 8);
		ck_assert_uint_eq(f[i].wire_type,
				  i == 1 || i > 2 ? PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED
						  : PROTOBUF_C_WIRE_TYPE_64BIT);
	}
}

START_TEST(the_smaller_name_is_kept)
{
	each_way(make_a, make_b, check_kept);
}
END_TEST

/* What was inlined: at 0x10 by one more here, at 0x20 others; at 0x30 there is no sample
 * there. */
static void make_inlined(struct hlg_saved *s, bool b)
{
	uint32_t image = add_image(s, "a", "1234", 0), event = add_event(s, "x", 0, 0);
	uint32_t function = add_function(s, "f", "f"), x = add_function(s, "x", "x");
	uint32_t y = add_function(s, "y", "y"), z = add_function(s, "z", "z");
	struct hlg_saved_frame at = {0x10, image, function};

	add_cell(s, at, 0, event, 1, 1);
	add_inlines(s, at, b ? 2 : 1, (uint32_t[]){b ? z : x, z});
	at.ip = 0x20;
	add_cell(s, at, 0, event, 1, 1);
	add_inlines(s, at, 2, (uint32_t[]){x, b ? y : z});
	at.ip = 0x30;
	add_inlines(s, at, 1, (uint32_t[]){b ? x : y});
	at.image = add_image(s, "a", "5678", 0);
	add_cell(s, at, 0, event, 1, 1);
}

static void make_inlined_a(struct hlg_saved *s)
{
	make_inlined(s, false);
}

static void make_inlined_b(struct hlg_saved *s)
{
	make_inlined(s, true);
}

static void check_inlined(const struct hlg_saved *s)
{
	const struct hlg_saved_inlines *at;

	ck_assert_uint_eq(s->inlines.n, 2);
	for (size_t i = 0; i < 2; i++) {
		at = hlg_saved_inlines_at(s, &s->cells.at[i].at);
		ck_assert_ptr_nonnull(at);
		ck_assert_uint_eq(at->n, 2);
		ck_assert_str_eq(s->functions.at[at->functions[0]].name, i ? "x" : "z");
		ck_assert_str_eq(s->functions.at[at->functions[1]].name, i ? "y" : "z");
	}
	ck_assert_ptr_null(hlg_saved_inlines_at(
		s, &(struct hlg_saved_frame){0x30, 1, s->cells.at[0].at.function}));
}

START_TEST(the_longer_inlining_is_kept)
{
	each_way(make_inlined_a, make_inlined_b, check_inlined);
}
END_TEST

/* By function of the same image into which the same was inlined, and no further. */
START_TEST(addresses_are_forgotten)
{
	static const struct {
		uint64_t ip;
		int image, function, inlined; /* -1: nothing */
		uint64_t becomes;
	} all[] = {
		{0x10, 0, 0, -1, 0x10},     {0x20, 0, 0, -1, 0x10},
		{0x30, 0, 0, 2, 0x30},      {0x40, 0, 0, 3, 0x40},
		{0x50, 0, 0, 2, 0x30},      {0x60, 0, 1, -1, 0x60},
		{0x70, 0, 1, 2, 0x70},      {0x1010, 1, 0, -1, 0x1010},
		{0x1020, 1, 0, -1, 0x1010},
	};
	struct hlg_saved s = HLG_SAVED_INIT;
	uint32_t images[2], functions[4], event;
	uint64_t samples[2] = {0};

	for (size_t i = 0; i < 4; i++)
		functions[i] = add_function(&s, letters[i], letters[i]);
	for (size_t i = 0; i < 2; i++)
		images[i] = add_image(&s, "a", "1234", 0x1000 * i);
	event = add_event(&s, "cycles", 0, false);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct hlg_saved_frame at = {all[i].ip, images[all[i].image],
					     functions[all[i].function]};

		add_cell(&s, at, 0, event, 1, 1 + i);
		samples[0] += 1 + i;
		if (all[i].inlined >= 0)
			add_inlines(&s, at, 1, &functions[all[i].inlined]);
	}
	ck_assert(hlg_pprof_resolve(&s));
	ck_assert_uint_eq(s.cells.n, sizeof(all) / sizeof(all[0]));
	ck_assert(hlg_pprof_forget_addresses(&s));
	ck_assert_uint_eq(s.cells.n, 6);
	for (size_t i = 0; i < s.cells.n; i++) {
		const struct hlg_saved_cell *cell = &s.cells.at[i];
		uint64_t expected = 0;

		for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
			if (all[k].becomes == cell->at.ip)
				expected += 1 + k;
		ck_assert_uint_eq(cell->count.samples, expected);
		samples[1] += expected;
	}
	ck_assert_uint_eq(samples[0], samples[1]);
	ck_assert_uint_eq(s.inlines.n, 3);
	hlg_saved_finish(&s);
}
END_TEST

/* Profiles of before there were kinds tell a clock by its name. */
START_TEST(clocks)
{
	static const struct {
		const char *name;
		uint32_t kind;
		bool is;
	} all[] = {
		{"cpu-clock", HLG_EVENT_UNKNOWN, true},
		{"cpu-clock:u", HLG_EVENT_UNKNOWN, true},
		{"task-clock", HLG_EVENT_UNKNOWN, true},
		{"task-clock/freq=9/", HLG_EVENT_UNKNOWN, true},
		{"cpu-clocks", HLG_EVENT_UNKNOWN, false},
		{"cpu-cloc", HLG_EVENT_UNKNOWN, false},
		{"instructions", HLG_EVENT_UNKNOWN, false},
		{"bus-clock", HLG_EVENT_UNKNOWN, false},
		{"mine", HLG_EVENT_TIMER, true},
		{"cpu-clock", HLG_EVENT_COUNTER, false},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		Pprof__Extra__Event event = PPROF__EXTRA__EVENT__INIT;
		char name[32];

		strcpy(name, all[i].name);
		event.name = name;
		event.kind = all[i].kind;
		ck_assert_msg(hlg_saved_event_is_clock(&event) == all[i].is, "%s", name);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pprof sum");
	TCase *tc = tap_case(suite, "sum");

	tcase_add_test(tc, ways_agree);
	tcase_add_test(tc, the_smaller_name_is_kept);
	tcase_add_test(tc, the_longer_inlining_is_kept);
	tcase_add_test(tc, addresses_are_forgotten);
	tcase_add_test(tc, clocks);
	return tap_main(suite);
}
