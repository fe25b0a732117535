// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/signals.h"

#include <signal.h>
#include <stddef.h>

bool hlg_signals_ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Signals noted */

static volatile sig_atomic_t noted;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

static void note(int sig)
{
	noted = sig;
}

void hlg_signals_note(void)
{
	struct sigaction action = {.sa_handler = note};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* A second ^C ends it at once; a dead pipe sends one at each write. */
		action.sa_flags = signals[i] == SIGPIPE ? 0 : (int)SA_RESETHAND;
		if (!hlg_signals_ignored(signals[i]))
			sigaction(signals[i], &action, NULL);
	}
}

int hlg_signals_check(struct hlg_err *err)
{
	return noted ? hlg_err_set(err, HLG_ESYSTEM,
				   "interrupted: nothing is written (start again)")
		     : 0;
}

void hlg_signals_end(void)
{
	if (noted) {
		signal(noted, SIG_DFL);
		raise(noted);
	}
}
