/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What guests did at Hyperlight's ports, and how long they ran. Only the command's feed
 * reads the tracepoints that tell; a filter knows none.
 */
#ifndef HLG_FILTER_PROFILE_PORTS_H
#define HLG_FILTER_PROFILE_PORTS_H

#include <stdbool.h>
#include <stdint.h>

/* Guest-physical, of Hyperlight on AArch64: a store to word N of 8 bytes of this page is
 * a write to port N (hyperlight-common, src/arch/aarch64/layout.rs, of 0.16.0 to 0.18.0).
 */
#define HLG_PORT_IO_PAGE UINT64_C(0xffffff000)

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

/* Makes a port of a guest-physical address on AArch64; false if it is none. */
static inline bool hlg_ports_of_word(uint64_t *addr)
{
	uint64_t at = *addr - HLG_PORT_IO_PAGE;

	if (*addr < HLG_PORT_IO_PAGE || at >= 4096)
		return false;
	*addr = at / sizeof(uint64_t);
	return true;
}

/* The other way round. */
static inline uint64_t hlg_ports_word(uint64_t port)
{
	return HLG_PORT_IO_PAGE + port * sizeof(uint64_t);
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
