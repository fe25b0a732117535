// SPDX-License-Identifier: GPL-2.0-only
/* hlguest sysprof: streams of LuaJIT's profiler as folded stacks, counters, text, JSON.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/number.h"
#include "filter/options/options.h"
#include "filter/output/out.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/sysprof/write.h"

#define TOP_OF_TEXT 40

enum {
	KEY_FORMAT = 0x100,
	KEY_MODE,
	KEY_OUT,
	KEY_ROOTS,
	KEY_TOP,
};

enum format {
	FORMAT_TEXT,
	FORMAT_FOLDED,
	FORMAT_JSON,
	FORMATS
};

static const char *const format_words[FORMATS] = {"text", "folded", "json"};

struct arguments {
	const char *path, *out;
	enum format format;
	bool top_given;
	struct hlg_sysprof_style style;
};

static void set_format(struct arguments *args, const char *value,
		       struct argp_state *state)
{
	for (int i = 0; i < FORMATS; i++)
		if (strcmp(value, format_words[i]) == 0) {
			args->format = i;
			return;
		}
	argp_error(state, "--format=%s: unknown (one of text|folded|json)", value);
}

static void set_mode(struct arguments *args, const char *value, struct argp_state *state)
{
	static const char letters[] = "CLD"; /* as enum hlg_sysprof_mode */
	const char *at = value[0] ? strchr(letters, value[0]) : NULL;

	if (!at || value[1])
		argp_error(state,
			   "--mode=%s: unknown (D: counters only, L: leaves, C: whole "
			   "stacks)",
			   value);
	else
		args->style.mode = (enum hlg_sysprof_mode)(at - letters);
}

/* Nothing is written over what is read, or what is no output of this verb. */
static int check_out(const struct arguments *args, struct hlg_err *err)
{
	int rc;

	if (hlg_target_is_stream(args->out))
		return 0;
	rc = hlg_target_check_input(args->out, args->path, err);
	return rc < 0 ? rc : hlg_target_check_magic(args->out, HLG_MAGIC_NONE, err);
}

/* Words that do not go together. */
static void check(struct arguments *args, struct argp_state *state)
{
	struct hlg_err err;

	if (args->style.by_state && args->format != FORMAT_FOLDED)
		argp_error(state, "--roots: is of folded stacks (say --format=folded)");
	if (args->top_given && args->format != FORMAT_TEXT)
		argp_error(state, "--top: is of text (leave it out)");
	if (check_out(args, &err) < 0)
		argp_error(state, "%s", err.msg);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case KEY_FORMAT:
		set_format(args, value, state);
		return 0;
	case KEY_MODE:
		set_mode(args, value, state);
		return 0;
	case KEY_OUT:
		args->out = value;
		return 0;
	case KEY_ROOTS:
		if (strcmp(value, "state") != 0)
			argp_error(state, "--roots=%s: unknown (say state)", value);
		args->style.by_state = true;
		return 0;
	case KEY_TOP:
		args->top_given = true;
		if (!hlg_number_u64(value, &args->style.top))
			argp_error(state, "--top=%s: not a number of rows (0: all)",
				   value);
		return 0;
	case ARGP_KEY_ARG:
		if (args->path)
			argp_error(state, "%s: is a second stream (one at a time)",
				   value);
		args->path = value;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no stream is given (misc.sysprof.start of Tarantool's "
				  "LuaJIT makes one)");
		return 0;
	case ARGP_KEY_SUCCESS:
		check(args, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What was not read; to be freed. NULL if all was. False without memory. */
static bool note_of(const struct hlg_sysprof *s, char **note)
{
	int n = 0;

	*note = NULL;
	if (!s->ended && s->left)
		n = asprintf(note,
			     "the stream was cut off: its last %" PRIu64
			     " bytes hold no whole record",
			     s->left);
	else if (!s->ended)
		n = asprintf(note, "the stream was cut off: its end is not marked");
	else if (s->behind)
		n = asprintf(note,
			     "%" PRIu64 " bytes behind the end of the stream were not "
			     "looked at",
			     s->behind);
	if (n < 0)
		*note = NULL;
	return n >= 0;
}

/* Where the format has no room for notes. */
static void tell(const struct arguments *args, const char *note)
{
	struct hlg_err line;

	if (!note || args->format == FORMAT_TEXT || args->format == FORMAT_JSON)
		return;
	hlg_err_set(&line, 0, "%s: %s", args->path, note);
	fprintf(stderr, "hlguest: %s\n", line.msg);
}

static int write_stream(FILE *f, const struct hlg_sysprof *s,
			const struct arguments *args, struct hlg_err *err)
{
	bool ok;

	if (args->format == FORMAT_JSON)
		return hlg_sysprof_json(f, s, &args->style, err);
	ok = args->format == FORMAT_TEXT ? hlg_sysprof_text(f, s, &args->style)
					 : hlg_sysprof_folded(f, s, &args->style);
	/* A write that failed is found when the output is closed. */
	if (ok || ferror(f))
		return 0;
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: its stacks take too much memory as text (say "
			   "--format=json, or --mode=D)",
			   args->path);
}

static int write_all(const struct hlg_sysprof *s, const struct arguments *args,
		     struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_out_open(&out, args->out, stdout, err);

	if (rc < 0)
		return rc;
	rc = write_stream(out.f, s, args, err);
	if (rc == 0)
		return hlg_out_commit(&out, err);
	hlg_out_abort(&out);
	return rc;
}

/* Returns the exit status. */
static int show(struct arguments *args)
{
	struct hlg_sysprof s = {0};
	struct hlg_err err;
	char *note = NULL;
	int rc = hlg_out_check(args->out, HLG_MAGIC_NONE, &err);

	if (rc == 0)
		rc = hlg_sysprof_read(&s, args->path, &err);
	if (rc == 0 && !note_of(&s, &note))
		rc = hlg_err_memory(&err, args->path);
	if (rc == 0) {
		args->style.notes = &note;
		args->style.n_notes = note ? 1 : 0;
		args->style.path = args->path;
		rc = write_all(&s, args, &err);
		args->style.notes = NULL;
		args->style.n_notes = 0;
	}
	if (rc == 0)
		tell(args, note);
	free(note);
	hlg_sysprof_finish(&s);
	return rc < 0 ? hlg_output_error(&err) : 0;
}

int hlg_verb_sysprof(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"format", KEY_FORMAT, "text|folded|json", 0, "text", 0},
		{"mode", KEY_MODE, "D|L|C", 0,
		 "counters of states only, leaves, or whole stacks (C)", 0},
		{"out", KEY_OUT, "FILE", 0,
		 "where it goes (standard output); whole or not at all", 0},
		{"roots", KEY_ROOTS, "state", 0,
		 "folded: the VM's state is the first frame", 0},
		{"top", KEY_TOP, "N", 0, "text: rows of stacks (40); 0: all", 0},
		{0}};
	const struct argp argp = {
		options,
		parse,
		"FILE",
		"Shows what LuaJIT's sysprof recorded: the VM's states, stacks of Lua "
		"and of the host in one.\v"
		"FILE may be -, standard input. Streams come from misc.sysprof.start of "
		"Tarantool's LuaJIT.",
		NULL,
		NULL,
		NULL};
	struct arguments args = {.style.top = TOP_OF_TEXT};

	hlg_words_parse(&argp, argc, argv, 0, &args);
	return show(&args);
}
