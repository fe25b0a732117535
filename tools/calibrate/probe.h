/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Has this thread its core for itself? Two readings of work whose core cycles are known.
 *
 * Adds that each wait for the one before take a cycle each, whoever shares the core: the
 * time of such a chain is the core's clock. Adds that wait for nothing take what adders
 * there are: they take up to twice as long while a sibling thread (SMT) has the core's
 * other half. Neither needs a counter, or to be told what runs beside: in a virtual
 * machine the sibling may be somebody else's.
 */
#ifndef HLG_TOOLS_CALIBRATE_PROBE_H
#define HLG_TOOLS_CALIBRATE_PROBE_H

#include <stdint.h>

#define HLG_PROBE_CHAIN 4000 /* dependent adds: as many core cycles */
/* Adds that wait for nothing: long enough to meet a sibling that waits for memory now and
 * then. */
#define HLG_PROBE_WIDE 32000

/*
 * Ticks of the TSC that the chain takes, without those of reading it: of eight tries the
 * fastest, since a sibling may slow it down by some percent. Not 0. About 10 us.
 */
uint64_t hlg_probe_chain(void);

/* What the others take now: one try. Not 0. About 6 us where nobody has a share. */
uint64_t hlg_probe_wide(void);

#endif
