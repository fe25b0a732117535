/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command that waits. perf opens its events and starts the command at once; what is to
 * be done to these events before its first instruction is done while the command stands
 * behind the gate: perf is given `hlguest --behind-gate=READY,GO COMMAND...`, which
 * writes a byte to the descriptor READY, reads one from GO, and becomes COMMAND, the same
 * process. If nothing comes from GO any more, it ends: then who opened the gate has.
 */
#ifndef HLG_TOOLS_RECORD_GATE_H
#define HLG_TOOLS_RECORD_GATE_H

#include <stdbool.h>

/* The two words to put before COMMAND, valid until the next call; false if this program's
 * own file cannot be told. */
bool hlg_gate_words(int ready, int go, const char *words[static 2]);

/* Is this command line a gate's? Then run it; it does not return but for an error, and
 * then the exit status. */
bool hlg_gate_is(int argc, char **argv);
int hlg_gate_run(char **argv);

#endif
