// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/process.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "symtab/elf/embedded.h"
#include "symtab/grow.h"
#include "tools/beside/beside.h"
#include "tools/record/command.h"

#define MACHINE "anon_inode:kvm-vm"
#define LONGEST ((size_t)1 << 21) /* bytes of a command line: ARG_MAX of Linux */

struct process {
	int32_t pid;
	char cwd[PATH_MAX];
	char **words; /* ends with NULL; the first is the program */
	size_t n;
};

/* /proc/PID/NAME, and the path that it links to. */
static bool read_link(int32_t pid, const char *name, char link[static 64],
		      char path[static PATH_MAX])
{
	ssize_t n;

	snprintf(link, 64, "/proc/%d/%s", pid, name);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return path[0] == '/';
}

static bool push(struct process *p, const char *path)
{
	if (!HLG_GROW(p->words, p->n + 1))
		return false;
	p->words[p->n] = strdup(path);
	p->words[p->n + 1] = NULL;
	return p->words[p->n] && ++p->n;
}

/* A word, or what follows the = of one, if it is a file that may be opened. */
static bool push_word(struct process *p, const char *word)
{
	const char *value = strchr(word, '=');
	char path[2 * PATH_MAX];
	struct stat st;
	int n;

	word = value ? value + 1 : word;
	n = snprintf(path, sizeof(path), "%s%s%s", word[0] == '/' ? "" : p->cwd,
		     word[0] == '/' ? "" : "/", word);
	/* What follows a = is looked at by itself. */
	if (n >= PATH_MAX || strchr(path, '=') || stat(path, &st) != 0 ||
	    !S_ISREG(st.st_mode) || !hlg_beside_is_trusted(path))
		return true;
	return push(p, path);
}

/* The command line, but for its first word. False without memory. */
static bool push_words(struct process *p)
{
	char path[64], *line = NULL;
	size_t size = 0;
	bool ok = true;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", p->pid);
	f = fopen(path, "re");
	for (size_t i = 0, sum = 0; f && ok && sum < LONGEST; i++) {
		ssize_t n = getdelim(&line, &size, '\0', f);

		if (n < 0)
			break;
		sum += (size_t)n;
		ok = i == 0 || push_word(p, line);
	}
	free(line);
	if (f)
		fclose(f);
	return ok;
}

/* Adds a path to n others; false: there is no room. */
static bool add_path(char *paths[static HLG_BESIDE_GUESTS], size_t *n, const char *path)
{
	for (size_t i = 0; i < *n; i++)
		if (hlg_record_command_same(paths[i], path))
			return true;
	if (*n == HLG_BESIDE_GUESTS)
		return false;
	paths[*n] = strdup(path);
	*n += paths[*n] != NULL;
	return true;
}

void hlg_record_guests_add(struct hlg_record_guests *guests, const char *path)
{
	guests->full |= !add_path(guests->paths, &guests->n, path);
}

/* Has a host several guests inside it? */
static bool has_several(const char *host)
{
	struct hlg_embedded_list inside = {0};
	struct hlg_err err;
	size_t n = 0;

	if (hlg_embedded_find(&inside, host, &err) == 0)
		for (size_t i = hlg_embedded_guest(&inside, 0); i < inside.n;
		     i = hlg_embedded_guest(&inside, i + 1))
			n++;
	hlg_embedded_finish(&inside);
	return n > 1;
}

/* Returns how many there are. */
static size_t add_others(struct hlg_record_guests *guests, char *const *command)
{
	const char *found[HLG_BESIDE_GUESTS];
	size_t n = hlg_record_command_others(command, found, HLG_BESIDE_GUESTS);

	for (size_t i = 0; i < n; i++)
		add_path(guests->others, &guests->n_others, found[i]);
	return n;
}

bool hlg_record_guests_add_command(struct hlg_record_guests *guests, char *const *command)
{
	/* One more than there is room for: it is told that there are more. */
	const char *found[HLG_BESIDE_GUESTS + 1];
	const char *module = hlg_record_command_module(command);
	size_t n = hlg_record_command_guests(command, found, HLG_BESIDE_GUESTS + 1);
	size_t others = add_others(guests, command);

	for (size_t i = 0; i < n; i++)
		hlg_record_guests_add(guests, found[i]);
	if (module)
		hlg_record_guests_add(guests, module);
	guests->module |= n == 1 && module;
	guests->several |=
		n > 1 || (n == 1 && found[0] == command[0] && has_several(found[0]));
	guests->several |= !n && !module && others > 1;
	return n || module;
}

void hlg_record_process_add(struct hlg_record_guests *guests, int32_t pid)
{
	struct process p = {.pid = pid};
	char link[64], path[PATH_MAX];
	bool trusted, ok, found;

	if (!read_link(pid, "root", link, path) || !hlg_record_command_same(link, "/") ||
	    !read_link(pid, "cwd", link, p.cwd) || !read_link(pid, "exe", link, path) ||
	    !hlg_record_command_same(link, path))
		return;
	trusted = hlg_beside_is_trusted(path);
	/* No program is looked into whose path has no /: command.h. */
	ok = push(&p, trusted ? path : "") && push_words(&p);
	found = ok && hlg_record_guests_add_command(guests, p.words);
	if (!found && ok && !trusted && !guests->untrusted)
		guests->untrusted = strdup(path);
	for (size_t i = 0; i < p.n; i++)
		free(p.words[i]);
	free(p.words);
}

void hlg_record_process_add_list(struct hlg_record_guests *guests, const char *pids)
{
	char *end;

	for (; *pids; pids = *end == ',' ? end + 1 : end) {
		long pid = strtol(pids, &end, 10);

		if (end == pids || (*end != ',' && *end != '\0'))
			return;
		if (pid > 0 && pid <= INT32_MAX)
			hlg_record_process_add(guests, (int32_t)pid);
	}
}

/* "$(pidof vmm)" is empty if none runs, and has blanks in between if several do; that of
 * pgrep has lines. */
static int check_words(const char *pids, struct hlg_err *err)
{
	size_t n = strlen(pids), blanks = strspn(pids, " \t\n");

	if (blanks < n && strpbrk(pids, " \t\n") && strspn(pids, "0123456789 \t\n") == n)
		return hlg_err_set(err, HLG_EWORDS,
				   "-p '%s': processes are separated by commas "
				   "(-p 17,18; pidof -S, NAME; pgrep -d, NAME)",
				   pids);
	if (blanks == n || pids[0] == ',' || pids[n - 1] == ',' || strstr(pids, ",,"))
		return hlg_err_set(err, HLG_EWORDS,
				   "-p '%s': names no process (pidof finds one by its "
				   "name, -a takes all)",
				   pids);
	return 0;
}

int hlg_record_process_check_list(const char *pids, struct hlg_err *err)
{
	int rc = check_words(pids, err);

	if (rc < 0)
		return rc;
	while (*pids) {
		size_t n = strcspn(pids, ",");
		char path[64];

		snprintf(path, sizeof(path), "/proc/%.*s", (int)(n < 40 ? n : 40), pids);
		if (n == 0 || n > 40 || strspn(pids, "0123456789") != n ||
		    (access(path, F_OK) != 0 && access("/proc/self", F_OK) == 0))
			return hlg_err_set(
				err, HLG_EINPUT,
				"-p %.*s: no such process (pidof finds one by its "
				"name, -a takes all)",
				(int)n, pids);
		pids += n + (pids[n] == ',');
	}
	return 0;
}

/* Has it a machine of KVM's? */
static bool is_vmm(int32_t pid)
{
	const struct dirent *entry;
	char path[64], to[32];
	bool found = false;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fds = opendir(path);
	while (fds && !found && (entry = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, to, sizeof(to));

		found = n == (ssize_t)strlen(MACHINE) &&
			memcmp(to, MACHINE, strlen(MACHINE)) == 0;
	}
	if (fds)
		closedir(fds);
	return found;
}

void hlg_record_process_add_vmms(struct hlg_record_guests *guests)
{
	const struct dirent *entry;
	DIR *processes = opendir("/proc");

	while (processes && (entry = readdir(processes))) {
		uint64_t pid;

		if (hlg_number_u64(entry->d_name, &pid) && pid <= INT32_MAX &&
		    is_vmm((int32_t)pid))
			hlg_record_process_add(guests, (int32_t)pid);
	}
	if (processes)
		closedir(processes);
}

const char *hlg_record_guests_only(const struct hlg_record_guests *guests)
{
	return guests->n == (guests->module ? 2 : 1) ? guests->paths[0] : NULL;
}

void hlg_record_guests_finish(struct hlg_record_guests *guests)
{
	for (size_t i = 0; i < guests->n; i++)
		free(guests->paths[i]);
	for (size_t i = 0; i < guests->n_others; i++)
		free(guests->others[i]);
	free(guests->untrusted);
	*guests = (struct hlg_record_guests){0};
}
