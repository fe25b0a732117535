// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void note(int sig)
{
	noted = sig;
}

void hlg_stop_begin(void)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		/* nohup's, or a shell's for what runs in the background, stays. */
		if (sigaction(signals[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

int hlg_stop_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	(void)ctx;
	(void)bytes;
	(void)samples;
	return noted ? hlg_err_set(err, HLG_ESYSTEM,
				   "interrupted: nothing is written (start again)")
		     : 0;
}

void hlg_stop_end(void)
{
	if (noted) {
		signal(noted, SIG_DFL);
		raise(noted);
	}
}
