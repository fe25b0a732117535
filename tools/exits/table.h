/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of crossings: what the sums say of each reason, function, port and vCPU. */
#ifndef HLG_TOOLS_EXITS_TABLE_H
#define HLG_TOOLS_EXITS_TABLE_H

#include "filter/options/number.h"
#include "filter/report/report.h"
#include "symtab/err.h"
#include "symtab/image/space.h"
#include "tools/exits/reasons.h"
#include "tools/exits/sums.h"

enum hlg_exits_by {
	HLG_EXITS_BY_REASON,
	HLG_EXITS_BY_FUNCTION,
	HLG_EXITS_BY_PORT,
	HLG_EXITS_BY_VCPU,
	HLG_EXITS_BY_CALL, /* of Hyperlight's guests, of all kinds */
	HLG_EXITS_BYS
};

#define HLG_EXITS_OCTAVES 64

struct hlg_exits_row {
	char *name;      /* not escaped */
	const char *isa; /* reasons; else NULL */
	/* Reasons, ports (HLG_PORT_MMIO and an address, HLG_NO_PORT); calls: their order.
	 */
	uint64_t number;
	enum hlg_exits_kind
		kind;     /* its table's; of calls, others too: they have no share */
	int32_t pid, tid; /* vCPUs, and if split by thread; else -1 */
	int64_t vcpu;     /* vCPUs: its number, -1 not recorded */
	int64_t sandbox;  /* if split by it; 0: none is known; else -1 */
	uint64_t n, total, min, p50, p90, p99, max; /* ns */
	const uint64_t *octaves;    /* reasons: as hlg_exits_histogram, in the table */
	struct hlg_exits_vcpu time; /* vCPUs: of all pairs */
};

/* Adds the times of one to another's. */
void hlg_exits_add_times(struct hlg_exits_vcpu *to, const struct hlg_exits_vcpu *from);

struct hlg_exits_table {
	enum hlg_exits_kind kind;
	enum hlg_exits_by by;
	struct hlg_exits_row
		*rows; /* by total, the largest first; calls by what they are */
	size_t n;
	bool several_isas;                      /* not all reasons are of one */
	uint64_t (*octaves)[HLG_EXITS_OCTAVES]; /* of reasons */
};

/* Which pairs, and how they are told apart. */
struct hlg_exits_choice {
	const char *reason; /* a name with * and ?, or a number; NULL: any */
	const struct hlg_number_list *port; /* NULL, empty: any */
	const struct hlg_calls_ports *ports;
	bool by_tid, by_sandbox;
	bool demangle;
	const struct hlg_report *check; /* of addresses: which functions are named */
};

/*
 * Pairs of a kind by what by says; the space is settled. A percentile is the value that
 * at least that part of the pairs does not exceed (nearest rank). Fails without memory;
 * finish *table in any case.
 */
int hlg_exits_tabulate(struct hlg_exits_table *table, const struct hlg_exits_sums *sums,
		       enum hlg_exits_kind kind, enum hlg_exits_by by,
		       const struct hlg_exits_choice *choice,
		       const struct hlg_space *space, struct hlg_err *err);
void hlg_exits_table_finish(struct hlg_exits_table *table);

/* Pairs of [2^i, 2^(i + 1)) ns; those of less than 2 ns are in the first. */
void hlg_exits_histogram(uint64_t octaves[HLG_EXITS_OCTAVES],
			 const struct hlg_exits_sums *sums, enum hlg_exits_kind kind,
			 const struct hlg_exits_choice *choice);

#endif
