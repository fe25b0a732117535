// SPDX-License-Identifier: GPL-2.0-only
#include "tools/machine/machine.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void look_at_cpu(struct hlg_machine *machine, const char *root)
{
	char path[PATH_MAX], text[16384];
	const char *model;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	f = fopen(path, "re");
	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	machine->intel = strstr(text, "GenuineIntel") != NULL;
	machine->guest = strstr(text, " hypervisor") != NULL;
	model = strstr(text, "model name");
	model = model ? strchr(model, ':') : NULL;
	if (!model)
		return;
	model += 1 + strspn(model + 1, " \t");
	snprintf(machine->cpu, sizeof(machine->cpu), "%.*s", (int)strcspn(model, "\n"),
		 model);
}

/* The part of kvm that knows the hardware, by its module (also when it is built in). */
static void look_at_kvm(struct hlg_machine *machine, const char *root)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/module", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, "kvm_", 4) == 0 &&
		    strlen(entry->d_name) < sizeof(machine->kvm))
			strcpy(machine->kvm, entry->d_name);
	if (dir)
		closedir(dir);
}

void hlg_machine_look(struct hlg_machine *machine, const char *root)
{
	time_t now = time(NULL);
	struct utsname name;
	struct tm utc;

	memset(machine, 0, sizeof(*machine));
	look_at_cpu(machine, root);
	look_at_kvm(machine, root);
	if (uname(&name) == 0)
		snprintf(machine->kernel, sizeof(machine->kernel), "%.64s %.64s",
			 name.release, name.version);
	if (gmtime_r(&now, &utc))
		strftime(machine->date, sizeof(machine->date), "%Y-%m-%dT%H:%M:%SZ",
			 &utc);
	if (getloadavg(&machine->load, 1) != 1)
		machine->load = 0;
	machine->cpus = sysconf(_SC_NPROCESSORS_ONLN);
}
