// SPDX-License-Identifier: GPL-2.0-only
/* hlguest sysprof: streams of LuaJIT's profiler as folded stacks, counters, text, JSON.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/number.h"
#include "filter/output/out.h"
#include "filter/write/format.h"
#include "symtab/plural.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/sysprof/sysprof.h"

struct arguments {
	const char *out;
	const struct hlg_format *format;
	bool top_given;
	struct hlg_sysprof_output output;
};

/* Data is a struct hlg_sysprof_output. */
static const struct hlg_format text = {
	.name = "text", .top = 40, .notes = true, .write = hlg_sysprof_text};
static const struct hlg_format folded = {.name = "folded", .write = hlg_sysprof_folded};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(hlg_sysprof_json)};
static const struct hlg_format *const formats[] = {&text, &folded, &json, NULL};

static int set_path(void *arguments, const struct hlg_verb_option *option, char *value,
		    struct hlg_err *err)
{
	struct arguments *args = arguments;

	(void)option;
	if (args->output.path)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a second stream (one at a time)", value);
	args->output.path = value;
	return 0;
}

static int set_mode(void *arguments, const struct hlg_verb_option *option, char *value,
		    struct hlg_err *err)
{
	static const char letters[] = "CLD"; /* as enum hlg_sysprof_mode */
	const char *at = value[0] ? strchr(letters, value[0]) : NULL;
	struct arguments *args = arguments;

	if (!at || value[1])
		return hlg_err_set(err, HLG_EINPUT,
				   "--%s=%s: unknown (D: counters only, L: leaves, C: "
				   "whole stacks)",
				   option->name, value);
	args->output.mode = (enum hlg_sysprof_mode)(at - letters);
	return 0;
}

static int set_roots(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct arguments *args = arguments;

	args->output.by_state = true;
	if (strcmp(value, option->value) == 0)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "--%s=%s: unknown (use %s)", option->name,
			   value, option->value);
}

static int set_top(void *arguments, const struct hlg_verb_option *option, char *value,
		   struct hlg_err *err)
{
	struct arguments *args = arguments;

	args->top_given = true;
	if (hlg_number_u64(value, &args->output.top))
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "--%s=%s: not a number of rows (0: all)",
			   option->name, value);
}

/* Words that do not go together; nothing is written over what is read. */
static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (!args->output.path)
		return hlg_err_set(err, HLG_EINPUT,
				   "no stream is given (misc.sysprof.start of "
				   "Tarantool's LuaJIT makes one)");
	if (args->output.by_state && args->format != &folded)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--roots: applies to folded stacks only (use --format=folded)");
	if (args->top_given && args->format != &text)
		return hlg_err_set(err, HLG_EINPUT,
				   "--top: applies to text only (leave it out)");
	if (hlg_target_check_input(args->out, args->output.path, err) < 0)
		return HLG_EINPUT;
	return hlg_target_check_magic(args->out, HLG_MAGIC_NONE, err);
}

/* What was not read. */
static void note_loss(struct hlg_note_list *notes, const struct hlg_sysprof *s)
{
	if (!s->ended && s->left)
		hlg_note_list_add(notes,
				  "the stream was cut off: its last %" PRIu64
				  " byte%s no whole record",
				  s->left, hlg_plural_word(s->left, " holds", "s hold"));
	else if (!s->ended)
		hlg_note_list_add(notes, "the stream was cut off: its end is not marked");
	else if (s->behind)
		hlg_note_list_add(notes,
				  "%" PRIu64
				  " byte%s after the end of the stream %s not read",
				  s->behind, hlg_plural_s(s->behind),
				  hlg_plural_word(s->behind, "was", "were"));
}

/* Returns the exit status. */
static int show(struct arguments *args)
{
	const struct hlg_format *format = args->format;
	struct hlg_sysprof_output *output = &args->output;
	struct hlg_options any = {.out = (char *)args->out};
	struct hlg_sysprof s = {0};
	struct hlg_err err;
	int rc = hlg_format_choose(format, &any, &err);

	output->s = &s;
	if (rc == 0)
		rc = hlg_out_check(args->out, HLG_MAGIC_NONE, &err);
	if (rc == 0)
		rc = hlg_sysprof_read(&s, output->path, &err);
	if (rc == 0) {
		note_loss(&output->notes, &s);
		if (output->notes.lost)
			rc = hlg_err_memory(&err, output->path);
	}
	if (rc == 0)
		rc = hlg_format_write(
			&(struct hlg_result){.format = format, .data = output}, args->out,
			stdout, &err);
	if (rc == 0 && !format->notes)
		hlg_output_notes(output->path, &output->notes, HLG_OUTPUT_DETAILS);
	hlg_note_list_finish(&output->notes);
	hlg_sysprof_finish(&s);
	return rc < 0 ? hlg_output_error(&err) : 0;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {.output.top = text.top};
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status))
		status = show(&args);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "format",
	 .help = "format of the result",
	 .kind = HLG_VERB_FORMAT,
	 .field = offsetof(struct arguments, format)},
	{.name = "mode",
	 .value = "D|L|C",
	 .help = "counters of states only, leaves, or whole stacks",
	 .fallback = "C",
	 .kind = HLG_VERB_ONE_OF,
	 .set = set_mode},
	HLG_VERB_OUTPUT(struct arguments, out,
			"where the result goes; written atomically"),
	{.name = "roots",
	 .value = "state",
	 .help = "folded: the VM's state is the first frame",
	 .kind = HLG_VERB_ONE_OF,
	 .set = set_roots},
	{.name = "top",
	 .value = "N",
	 .help = "text: rows of stacks; 0: all",
	 .fallback = "40",
	 .kind = HLG_VERB_NUMBER,
	 .set = set_top},
	{.kind = HLG_VERB_TEXT, .set = set_path},
	{0},
};

const struct hlg_verb hlg_verb_sysprof = {
	.name = "sysprof",
	.args = "FILE",
	.help = "what LuaJIT's sysprof recorded",
	.group = HLG_VERB_SHOWS,
	.usage = "FILE",
	.doc = "Shows what LuaJIT's sysprof recorded: the VM's states, stacks of Lua "
	       "and of the host in one.\v"
	       "FILE may be -, standard input. Streams come from misc.sysprof.start of "
	       "Tarantool's LuaJIT.",
	.examples = "hlguest sysprof sysprof.bin\tstates and the hottest stacks\n"
		    "hlguest sysprof --mode=L --top=10 sysprof.bin\tthe ten hottest "
		    "functions, without their callers\n"
		    "hlguest sysprof --format=folded -o stacks.txt sysprof.bin\tfor "
		    "flamegraph.pl",
	.files = "stream",
	.formats = formats,
	.options = options,
	.run = run,
	.check = check,
};
