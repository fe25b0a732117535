// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/pprof/saved.h"

enum {
	MOST_LABELS = 20, /* of Pyroscope's 30, some are the server's, and four ours */
	LONGEST_KEY = 1024,
	LONGEST_VALUE = 2048,
	FEWEST = 16 /* samples, when bytes are too many */
};

/* What a server takes in one profile; 0: what there is. */
static const struct {
	size_t samples, bytes;
} limits[] = {
	[HLG_PPROF_PYROSCOPE] = {16000, (size_t)4 << 20},
	[HLG_PPROF_PARCA] = {0, (size_t)32 << 20},
};

const char *hlg_pprof_server_name(enum hlg_pprof_reader reader)
{
	static const char *const names[] = {"hlguest", "pyroscope", "parca"};

	return names[reader];
}

/* Labels */

static size_t key_length(const char *label)
{
	return strcspn(label, "=");
}

static bool is_key(const char *label, size_t n)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
		"0123456789";

	return n && n <= LONGEST_KEY && strspn(label, letters) >= n &&
	       (label[0] < '0' || label[0] > '9') && strncmp(label, "__", 2) != 0;
}

static bool is_plain(const char *value)
{
	size_t n;

	if (strlen(value) > LONGEST_VALUE)
		return false;
	for (; *value; value += n)
		if (!(n = hlg_escape_plain(value)))
			return false;
	return true;
}

static int check_label(const char *label, struct hlg_err *err)
{
	size_t n = key_length(label);

	if (label[n] == '\0' || label[n + 1] == '\0')
		return hlg_err_set(err, HLG_EINPUT,
				   "--label=%s: lacks a value (write KEY=VALUE)", label);
	if (!is_key(label, n))
		return hlg_err_set(err, HLG_EINPUT,
				   "--label=%s: no server takes that name (letters, "
				   "digits and _, no digit first, and no __)",
				   label);
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (strlen(hlg_saved_key_names[i]) == n &&
		    strncmp(label, hlg_saved_key_names[i], n) == 0)
			return hlg_err_set(err, HLG_EINPUT,
					   "--label=%s: hlguest says that itself "
					   "(--by=%s)",
					   label, hlg_saved_key_names[i]);
	if (!is_plain(label + n + 1))
		return hlg_err_set(err, HLG_EINPUT,
				   "--label=%.*s: its value is no plain UTF-8 of at most "
				   "%d bytes",
				   (int)n, label, LONGEST_VALUE);
	return 0;
}

int hlg_pprof_server_check(const struct hlg_pprof_server *server, struct hlg_err *err)
{
	int rc = 0;

	if (server->n_labels && server->reader == HLG_PPROF_HLGUEST)
		return hlg_err_set(err, HLG_EINPUT,
				   "--label: is for a server (give --for, too)");
	if (server->n_labels > MOST_LABELS)
		return hlg_err_set(err, HLG_EINPUT,
				   "--label: more than %d (leave out some)", MOST_LABELS);
	for (size_t i = 0; rc == 0 && i < server->n_labels; i++) {
		size_t n = key_length(server->labels[i]) + 1;

		rc = check_label(server->labels[i], err);
		for (size_t k = 0; rc == 0 && k < i; k++)
			if (strncmp(server->labels[k], server->labels[i], n) == 0)
				rc = hlg_err_set(err, HLG_EINPUT,
						 "--label=%s: the name is given twice",
						 server->labels[i]);
	}
	return rc;
}

const struct hlg_pprof_label *hlg_pprof_server_labels(const struct hlg_pprof_server *to,
						      struct hlg_saved_arena *arena)
{
	struct hlg_pprof_label *labels =
		hlg_saved_arena_alloc(arena, to->n_labels, sizeof(*labels));

	for (size_t i = 0; labels && i < to->n_labels; i++) {
		size_t n = key_length(to->labels[i]);
		char *key = hlg_saved_arena_alloc(arena, n + 1, 1);

		if (!key)
			return NULL;
		memcpy(key, to->labels[i], n);
		labels[i] = (struct hlg_pprof_label){key, to->labels[i] + n + 1};
	}
	return labels;
}

/* Value types */

char *hlg_pprof_server_type(const char *event, bool clock)
{
	/* What perf-list(1) says may stand behind a last colon. */
	const char *colon = strrchr(event, ':');
	bool modified =
		colon && colon[1] && colon[1 + strspn(colon + 1, "ukhIGHpPSDWeb")] == 0;
	size_t n = modified ? (size_t)(colon - event) : strlen(event);
	char *type = clock ? strdup("cpu") : strndup(event, n);

	for (char *c = type; c && *c; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') &&
		    !(*c >= '0' && *c <= '9'))
			*c = '_';
	return type;
}

/* Samples */

/* Cells of one sample stand side by side, each of another event. */
struct group {
	size_t first, n;
	uint64_t samples, period;
};

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if (x->period != y->period)
		return x->period > y->period ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* The samples in *groups, to be freed, the most frequent first; NULL without memory. */
static struct group *find_groups(const struct hlg_saved *saved, size_t *n)
{
	const struct hlg_saved_cell *cells = saved->cells.at;
	struct group *groups = calloc(saved->cells.n + 1, sizeof(*groups)), *to = groups;

	for (size_t i = 0; groups && i < saved->cells.n; i++) {
		if (i && !hlg_saved_same_sample(&cells[i - 1], &cells[i]))
			to++;
		if (to->n++ == 0)
			to->first = i;
		to->samples += cells[i].count.samples;
		to->period += cells[i].count.period;
	}
	*n = groups ? (size_t)(to - groups) + (saved->cells.n > 0) : 0;
	if (*n)
		qsort(groups, *n, sizeof(*groups), compare_groups);
	return groups;
}

static size_t count_samples(const struct hlg_saved *saved)
{
	size_t n = 0;

	for (size_t i = 0; i < saved->cells.n; i++)
		n += i == 0 ||
		     !hlg_saved_same_sample(&saved->cells.at[i - 1], &saved->cells.at[i]);
	return n;
}

/* All samples but the `most` - 1 most frequent become one. False without memory. */
static bool fold_rare(struct hlg_saved *saved, size_t most)
{
	struct hlg_saved_function *rare = HLG_SAVED_MORE(saved->functions);
	struct hlg_saved_cell one = {.at.function = (uint32_t)saved->functions.n - 1};
	struct group *groups;
	size_t n;

	if (!rare)
		return false;
	rare->name = rare->symbol = HLG_PPROF_SERVER_FOLDED;
	groups = find_groups(saved, &n);
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		one.key.part[i] = saved->extra.by >> i & 1 ? -1 : 0;
	for (size_t i = most - 1; groups && i < n; i++)
		for (size_t k = 0; k < groups[i].n; k++) {
			struct hlg_saved_cell *cell =
				&saved->cells.at[groups[i].first + k];

			one.key.event = cell->key.event;
			one.count = cell->count;
			*cell = one;
		}
	free(groups);
	return groups && hlg_pprof_resolve(saved);
}

/* What only hlguest reads, and would keep samples apart. */
static bool forget_ours(struct hlg_saved *saved)
{
	for (size_t i = 0; i < saved->stacks.n; i++) {
		struct hlg_saved_stack *s = &saved->stacks.at[i];

		s->end = s->way = 0;
		s->n_callers = s->n_host = 0;
		s->callers = NULL;
		s->host = NULL;
	}
	saved->host_stacks.n = 0;
	saved->moments.n = 0;
	for (size_t i = 0; i < saved->cells.n; i++) {
		uint32_t *stack = &saved->cells.at[i].stack;

		if (*stack && saved->stacks.at[*stack - 1].n_frames == 0)
			*stack = 0;
	}
	return hlg_pprof_resolve(saved);
}

static uint64_t count_folded(const struct hlg_saved *saved)
{
	uint64_t n = 0;

	for (size_t i = 0; i < saved->cells.n; i++) {
		uint32_t function = saved->cells.at[i].at.function;

		if (strcmp(saved->functions.at[function].name, HLG_PPROF_SERVER_FOLDED) ==
		    0)
			n += saved->cells.at[i].count.samples;
	}
	return n;
}

/* SIZE_MAX: more than any profile may have. */
static int encoded_size(const struct hlg_saved *saved, size_t *size, struct hlg_err *err)
{
	unsigned char *data;
	int rc = hlg_pprof_encode(saved, &data, size, err);

	free(data);
	if (rc != HLG_EINPUT)
		return rc;
	*size = SIZE_MAX;
	return 0;
}

/* Until the server takes it. */
static int fit(struct hlg_saved *saved, struct hlg_pprof_server *server,
	       struct hlg_err *err)
{
	size_t most = limits[server->reader].samples,
	       bytes = limits[server->reader].bytes;
	size_t n = count_samples(saved), size;
	int rc = encoded_size(saved, &size, err);

	if (rc < 0 || ((!most || n <= most) && size <= bytes))
		return rc;
	if (!hlg_pprof_forget_addresses(saved))
		return hlg_err_memory(err, "profile");
	server->addresses = n - count_samples(saved);
	n = count_samples(saved);
	most = most ? most : n;
	while (rc == 0) {
		if (n > most && !fold_rare(saved, most))
			return hlg_err_memory(err, "profile");
		rc = encoded_size(saved, &size, err);
		if (rc < 0 || size <= bytes)
			return rc;
		n = count_samples(saved);
		most = n / 2;
		if (most < FEWEST)
			rc = hlg_err_set(
				err, HLG_EINPUT,
				"profile: its names alone are more than %zu "
				"bytes, which the server takes (leave out stacks: "
				"--stacks=leaf)",
				bytes);
	}
	return rc;
}

int hlg_pprof_server_write(struct hlg_saved *saved, struct hlg_pprof_server *server,
			   const char *path, FILE *stream, struct hlg_err *err)
{
	int rc;

	saved->server = server;
	if (!forget_ours(saved))
		return hlg_err_memory(err, "profile");
	rc = fit(saved, server, err);
	server->folded = count_folded(saved);
	return rc < 0 ? rc : hlg_pprof_write(saved, path, stream, err);
}
