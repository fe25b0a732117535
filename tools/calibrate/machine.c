// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* "key<blanks>: value" of a line; NULL if it is another. */
static const char *value_of(char *line, const char *key)
{
	char *colon = strchr(line, ':');

	if (strncmp(line, key, strlen(key)) != 0 || !colon)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return colon + 1 + strspn(colon + 1, " \t");
}

static void look_at_cpu(struct hlg_machine *machine)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		const char *model = value_of(line, "model name");
		const char *flags = value_of(line, "flags");

		if (model && !machine->cpu[0])
			snprintf(machine->cpu, sizeof(machine->cpu), "%s", model);
		if (flags && strstr(flags, " hypervisor"))
			machine->guest = true;
		if (flags)
			break;
	}
	free(line);
	if (f)
		fclose(f);
}

static void look_at_kvm(struct hlg_machine *machine)
{
	DIR *dir = opendir("/sys/module");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, "kvm_", 4) == 0 &&
		    strlen(entry->d_name) < sizeof(machine->kvm))
			strcpy(machine->kvm, entry->d_name);
	if (dir)
		closedir(dir);
}

void hlg_machine_look(struct hlg_machine *machine)
{
	time_t now = time(NULL);
	struct utsname name;
	struct tm utc;

	memset(machine, 0, sizeof(*machine));
	look_at_cpu(machine);
	look_at_kvm(machine);
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
