// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/signals.h"

#include <signal.h>
#include <stddef.h>

bool hlg_signals_ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}
