// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/guests.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/grow.h"
#include "symtab/shell.h"
#include "tools/record/command.h"
#include "tools/record/session.h"
#include "tools/top/judge.h"

#define LOOK_NS UINT64_C(2000000000)

static int add_word(struct hlg_top_guests *g, const char *word, struct hlg_err *err)
{
	char *copy = HLG_GROW(g->words, g->n) ? strdup(word) : NULL;

	if (!copy)
		return hlg_err_memory(err, "arguments");
	g->words[g->n++] = copy;
	return 0;
}

static int add_image(struct hlg_top_guests *g, const char *word, struct hlg_err *err)
{
	int rc = add_word(g, word, err);

	g->n_images += rc == 0;
	return rc;
}

int hlg_top_guests_option(struct hlg_top_guests *g, const char *word, struct hlg_err *err)
{
	return add_word(g, word, err);
}

static int add_found(struct hlg_top_guests *g, const struct hlg_record_guests *found,
		     struct hlg_err *err)
{
	int rc = 0;

	for (; rc == 0 && g->found < found->n; g->found++)
		rc = add_image(g, found->paths[g->found], err);
	return rc;
}

/* Is the first of these processes one whose links this user may not read? */
static bool is_foreign(const char *pids)
{
	char path[64], to[8];

	snprintf(path, sizeof(path), "/proc/%.*s/exe", (int)strcspn(pids, ","), pids);
	return readlink(path, to, sizeof(to)) < 0 && errno == EACCES;
}

/* Of a command, or of processes. */
static int tell_none(const struct hlg_record_request *r, struct hlg_err *err)
{
	char word[PATH_MAX];

	if (r->guests.untrusted)
		return hlg_err_set(err, HLG_EWORDS,
				   "%s: may be written by others than root, and was not "
				   "looked into for its guest (name the guest: hlguest "
				   "top guest.elf -p %s)",
				   r->guests.untrusted, r->pid ? r->pid : "PID");
	if (r->pid && is_foreign(r->pid))
		return hlg_err_set(err, HLG_EWORDS,
				   "-p %s: this user may not look into that process for "
				   "its guest (run as root, or name it: hlguest top "
				   "guest.elf -p %s)",
				   r->pid, r->pid);
	if (r->guests.n_others)
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: has no symbols (name the file that it was stripped from: "
			"hlguest top UNSTRIPPED.elf %s %s%s)",
			r->guests.others[0], r->pid ? "-p" : "--",
			r->pid ? r->pid
			       : hlg_shell_put(word, sizeof(word), r->command[0]),
			r->pid ? "" : " ...");
	if (r->pid)
		return hlg_err_set(err, HLG_EWORDS,
				   "-p %s: that process's command line names no guest "
				   "ELF (name each that runs: hlguest top guest.elf -p "
				   "%s)",
				   r->pid, r->pid);
	return hlg_err_set(err, HLG_EWORDS,
			   "%s: " HLG_RECORD_COMMAND_LACKS
			   " (name each that runs: hlguest top guest.elf -- %s ...)",
			   r->command[0],
			   hlg_shell_put(word, sizeof(word), r->command[0]));
}

int hlg_top_guests_find(struct hlg_top_guests *g, const struct hlg_verb_texts *named,
			struct hlg_record_request *r, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < named->n; i++)
		rc = add_image(g, named->text[i], err);
	if (rc < 0 || g->n_images)
		return rc;
	g->comes = r->everything;
	if (!hlg_record_session_guest(r)) {
		if (r->pid)
			hlg_record_process_add_list(&r->guests, r->pid);
		if (r->everything)
			hlg_record_process_add_vmms(&r->guests);
	}
	if (r->guests.n == 0 && !r->everything)
		return tell_none(r, err);
	return add_found(g, &r->guests, err);
}

int hlg_top_guests_look(struct hlg_top_guests *g, struct hlg_record_request *request,
			uint64_t now, struct hlg_err *err)
{
	uint64_t began;

	if (!g->comes || now - g->looked < LOOK_NS ||
	    now - g->looked < HLG_TOP_JUDGE_PART * g->cost)
		return 0;
	g->looked = now;
	began = hlg_top_judge_cpu_time();
	hlg_record_process_add_vmms(&request->guests);
	g->cost = hlg_top_judge_cpu_time() - began;
	return add_found(g, &request->guests, err);
}

char *hlg_top_guests_leave(struct hlg_top_guests *g)
{
	if (!g->comes || g->n_images < 2 || g->n_images <= g->placed)
		return NULL;
	g->n_images--;
	return g->words[--g->n];
}

size_t hlg_top_guests_paths(const struct hlg_top_guests *guests,
			    const struct hlg_options *options,
			    const char *paths[static HLG_BESIDE_GUESTS])
{
	size_t n = 0;

	for (size_t i = guests->n - guests->n_images; guests->comes && i < guests->n; i++)
		paths[n++] = guests->words[i];
	for (size_t i = 0; !guests->comes && i < options->n_images; i++)
		if (!options->images[i].map && n < HLG_BESIDE_GUESTS)
			paths[n++] = options->images[i].path;
	return n;
}

void hlg_top_guests_finish(struct hlg_top_guests *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->words[i]);
	free(g->words);
	*g = (struct hlg_top_guests){0};
}
