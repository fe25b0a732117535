// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/gate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/output.h"
#include "tools/record/command.h"

#define WORD "--behind-gate="

bool hlg_gate_words(int ready, int go, const char *words[static 2])
{
	static char self[PATH_MAX], word[64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = '\0';
	/* Replaced since it was started: the kernel has it all the same. */
	if (access(self, X_OK) != 0)
		snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	snprintf(word, sizeof(word), WORD "%d,%d", ready, go);
	words[0] = self;
	words[1] = word;
	return true;
}

bool hlg_gate_is(int argc, char **argv)
{
	return argc > 2 && strncmp(argv[1], WORD, strlen(WORD)) == 0;
}

int hlg_gate_run(char **argv)
{
	char path[PATH_MAX], byte = 0, *end;
	int ready = (int)strtol(argv[1] + strlen(WORD), &end, 10);
	int go = *end == ',' ? (int)strtol(end + 1, NULL, 10) : -1;
	struct hlg_err err;
	int status;

	if (write(ready, &byte, 1) != 1)
		return 1;
	while ((status = (int)read(go, &byte, 1)) < 0 && errno == EINTR)
		;
	if (status != 1)
		return 1;
	close(ready);
	close(go);
	status = hlg_record_command_find(argv[2], path, &err);
	if (status == 0) {
		execv(path, argv + 2);
		hlg_err_set(&err, HLG_ESYSTEM, "%s: cannot be run: %s (try it by itself)",
			    argv[2], strerrordesc_np(errno));
		status = 126;
	}
	hlg_output_error(&err);
	return status;
}
