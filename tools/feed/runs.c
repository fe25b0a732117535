// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/runs.h"

/* A record of a time before the last one's has come late, or its time is rubbish. */
static uint64_t since(const struct hlg_runs *run, uint64_t time)
{
	return time > run->time ? time - run->time : 0;
}

void hlg_runs_enter(struct hlg_runs *run, struct hlg_ports *ports, uint64_t time)
{
	uint64_t ns = since(run, time);

	if (run->out && run->port != HLG_PORT_HALT)
		ports->exits_ns += ns;
	if (run->out && run->port == HLG_PORT_CALL)
		ports->calls_ns += ns;
	if (run->out && run->port == HLG_PORT_NOTIFY)
		ports->notifies_ns += ns;
	*run = (struct hlg_runs){.time = time, .in = true};
}

void hlg_runs_leave(struct hlg_runs *run, struct hlg_ports *ports, uint64_t time)
{
	if (run->in)
		ports->guest_ns += since(run, time);
	*run = (struct hlg_runs){.time = time, .out = true};
}

void hlg_runs_out(struct hlg_runs *run, struct hlg_ports *ports, uint64_t port)
{
	hlg_ports_out(ports, port);
	if (run->out && run->port == 0)
		run->port = port;
}
