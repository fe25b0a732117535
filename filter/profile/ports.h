/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What guests did at Hyperlight's ports, and how long they ran. Only the command's feed
 * reads the tracepoints that tell; a filter knows none.
 */
#ifndef HLG_FILTER_PROFILE_PORTS_H
#define HLG_FILTER_PROFILE_PORTS_H

#include <stdint.h>

enum {
	HLG_PORT_CALL = 101,   /* up to 0.17: a host call */
	HLG_PORT_HALT = 108,   /* a guest call is done */
	HLG_PORT_NOTIFY = 109, /* since 0.18: a host call */
};

/* All zero: nothing was seen. */
struct hlg_ports {
	uint64_t calls, halts, notifies; /* writes to these ports */
	/* From kvm_entry to kvm_exit; and from there to the next kvm_entry: of all exits
	 * but those that end a guest call, and of those for calls and notifies. ns, of a
	 * recording that has KVM_RUN, and lost nothing. */
	uint64_t guest_ns, exits_ns, calls_ns, notifies_ns;
};

/* Counts a write to a port, where it is one of these. */
static inline void hlg_ports_out(struct hlg_ports *ports, uint64_t port)
{
	ports->calls += port == HLG_PORT_CALL;
	ports->halts += port == HLG_PORT_HALT;
	ports->notifies += port == HLG_PORT_NOTIFY;
}

static inline void hlg_ports_add(struct hlg_ports *to, const struct hlg_ports *from)
{
	to->calls += from->calls;
	to->halts += from->halts;
	to->notifies += from->notifies;
	to->guest_ns += from->guest_ns;
	to->exits_ns += from->exits_ns;
	to->calls_ns += from->calls_ns;
	to->notifies_ns += from->notifies_ns;
}

#endif
