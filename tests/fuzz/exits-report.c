// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/exits-report.h"

#include "tests/fuzz/door.h"

static FILE *nowhere;

static void tabulate(struct hlg_exits_report *r, const struct hlg_exits_choice *choice)
{
	struct hlg_space space = {0};
	struct hlg_err err;
	size_t n = 0;

	if (hlg_space_settle(&space, &err) < 0)
		door_fail(err.msg);
	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++) {
		const struct hlg_exits_table *table = &r->tables[n++];
		uint64_t pairs = 0;

		if (hlg_exits_tabulate(&r->tables[kind], r->sums, kind,
				       HLG_EXITS_BY_REASON, choice, &space, &err) < 0)
			door_fail(err.msg);
		for (size_t i = 0; i < table->n; i++)
			pairs += table->rows[i].n;
		if (pairs != r->sums->pairs[kind])
			door_fail("pairs are not conserved");
	}
	for (int by = HLG_EXITS_BY_FUNCTION; by < HLG_EXITS_BYS; by++)
		if (hlg_exits_tabulate(&r->tables[n++], r->sums, r->kind, by, choice,
				       &space, &err) < 0)
			door_fail(err.msg);
	hlg_space_finish(&space);
}

void door_exits_report(const struct hlg_exits_sums *sums, unsigned how)
{
	const struct hlg_number_list ports = {0};
	const struct hlg_calls_ports meanings = {
		.before_0_18 = how & 2, .since_0_18 = how & 4, .halts = how & 8};
	static const struct hlg_note_list no_notes;
	static const struct hlg_space nothing;
	static const struct hlg_profile of_none;
	struct hlg_report unchecked = {.space = &nothing, .profile = &of_none};
	const struct hlg_exits_choice choice = {.port = &ports,
						.ports = &meanings,
						.by_tid = how & 2,
						.check = &unchecked};
	struct hlg_exits_report r = {
		.sums = sums,
		.notes = &no_notes,
		.kind = sums->pairs[HLG_EXITS_GUEST] ? HLG_EXITS_GUEST : HLG_EXITS_VMM,
		.by_tid = how & 2,
		.verbose = how & 4,
		.space = &nothing,
		.check = &unchecked,
	};
	const struct hlg_format *format;
	struct hlg_err err;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		door_fail("/dev/null");
	tabulate(&r, &choice);
	for (size_t i = 0; i < sums->n_vcpus; i++)
		hlg_exits_add_times(&r.time, &sums->vcpus[i]);
	hlg_exits_histogram(r.octaves, sums, r.kind, &choice);
	format = hlg_exits_formats[how >> 6 & 3];
	if (format && format->write)
		format->write(&r, nowhere, &err);
	rewind(nowhere);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		hlg_exits_table_finish(&r.tables[i]);
}
