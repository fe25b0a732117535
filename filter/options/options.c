// SPDX-License-Identifier: GPL-2.0-only
#include "filter/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/options/nearest.h"
#include "symtab/grow.h"

#define FIELD(name) offsetof(struct hlg_options, name)

const struct hlg_option hlg_option_table[] = {
	{"gaps", "retag|drop|stretch", "retag",
	 "samples in bytes that no symbol covers: in separate rows, left out, or "
	 "credited to the symbol before, as perf kvm does",
	 HLG_OPT_CHOICE, FIELD(gaps)},
	{"border", "split|keep|drop", "split",
	 "samples at VM exits, of entering and leaving the guest: apart from the "
	 "functions, in the function whose code exits, or left out",
	 HLG_OPT_CHOICE, FIELD(border)},
	{"region", "SIZE", "1K",
	 "window of the region histogram, a power of two; 0: none", HLG_OPT_SIZE,
	 FIELD(region)},
	{"weight", "period|samples", "period", "what percentages are shares of",
	 HLG_OPT_CHOICE, FIELD(weight)},
	{"event", "GLOB", "", "only events whose name matches", HLG_OPT_TEXT,
	 FIELD(event)},
	{"pid", "LIST", "", "only these processes (the VMM's), as in 17,20-29",
	 HLG_OPT_LIST, FIELD(pid)},
	{"tid", "LIST", "", "only these threads (the vCPUs')", HLG_OPT_LIST, FIELD(tid)},
	{"cpu", "LIST", "", "only these host CPUs, if recorded", HLG_OPT_LIST,
	 FIELD(cpu)},
	{"sandbox", "LIST", "",
	 "only these sandboxes, by the numbers that by=sandbox shows, if recorded "
	 "(record --sandboxes or --guest-stacks)",
	 HLG_OPT_LIST, FIELD(sandbox)},
	{"time", "START,STOP", "",
	 "only from START up to, not including, STOP; either may be empty: +10 and "
	 "+500ms "
	 "are from the recording's start, 10 is perf's clock; or a slice as 0%-10%, "
	 "10%/2",
	 HLG_OPT_WINDOW, FIELD(start)},
	{"mode", "guest|host|all", "guest", "whose samples are shown", HLG_OPT_CHOICE,
	 FIELD(mode)},
	{"stacks", "leaf|counters|callgraph", "leaf",
	 "samples by function; the same, and how many in which state (no image is "
	 "needed); or by function and by the stack of host and guest that led there",
	 HLG_OPT_CHOICE, FIELD(stacks)},
	{"roots", "comm,tid,image,section", "comm",
	 "with stacks=callgraph: what stands at the bottom of each stack", HLG_OPT_SET,
	 FIELD(roots)},
	{"children", "no|yes", "no",
	 "functions with all that they call, of recordings with callers in the guest "
	 "(record --guest-stacks)",
	 HLG_OPT_CHOICE, FIELD(children)},
	{"call-graph", "none|caller|callee", "none",
	 "children=yes, and under each function what it calls (caller), or who calls it "
	 "(callee)",
	 HLG_OPT_CHOICE, FIELD(call_graph)},
	{"by", "event,pid,tid,cpu,sandbox", "", "split the report by these", HLG_OPT_SET,
	 FIELD(by)},
	{"top", "N", "(40 in text, else 0)", "rows of each table; 0: all", HLG_OPT_COUNT,
	 FIELD(top)},
	{"regions", "N", "(5 in text, else as top)", "rows of regions; 0: all",
	 HLG_OPT_COUNT, FIELD(regions)},
	{"min", "PERCENT", "(0)", "leave rows below PERCENT out", HLG_OPT_PERCENT,
	 FIELD(min)},
	{"sort", "overhead|size|name|address|self", "overhead",
	 "order of the functions; top= always keeps those with most overhead, or with "
	 "most that they do not call (self)",
	 HLG_OPT_CHOICE, FIELD(sort)},
	{"demangle", "no|yes", "yes", "C++ and Rust names readable", HLG_OPT_CHOICE,
	 FIELD(demangle)},
	{"aliases", "no|yes", "no", "show all names of an address", HLG_OPT_CHOICE,
	 FIELD(aliases)},
	{"skid", "N", "0",
	 "show which part of a function's samples lies within N instructions after a "
	 "place where control enters it, and may belong to another function (edge %)",
	 HLG_OPT_COUNT, FIELD(skid)},
	{"force", "no|yes", "no",
	 "name functions although the samples do not fit the ELF or its base",
	 HLG_OPT_CHOICE, FIELD(force)},
	{"assume-shift", "no|yes", "no",
	 "where the samples fit if moved, as those of another build do: count them so",
	 HLG_OPT_CHOICE, FIELD(assume_shift)},
	{"format", "FORMAT", "text", "format of the report", HLG_OPT_TEXT, FIELD(format)},
	{"color", "auto|always|never", "auto",
	 "colours and bars in text; auto: if it goes straight to a terminal",
	 HLG_OPT_CHOICE, FIELD(color)},
	{"wide", "no|yes", "no",
	 "text: all columns and whole names, however long the lines are", HLG_OPT_CHOICE,
	 FIELD(wide)},
	{"raw", "no|yes", "no",
	 "text: periods as they were counted, not as time or in thousands",
	 HLG_OPT_CHOICE, FIELD(raw)},
	{"verbose", "no|yes", "no",
	 "text: also how the check was made, all sums, and what the events mean",
	 HLG_OPT_CHOICE, FIELD(verbose)},
	{"out", "FILE", "(standard output)", "where the report goes; written atomically",
	 HLG_OPT_TEXT, FIELD(out)},
	{"strict", "no|yes", "no",
	 "end with status 3 when the samples do not fit, or not all (MIXED)",
	 HLG_OPT_CHOICE, FIELD(strict)},
	{"strict-base", "no|yes", "no",
	 "keep to the base that the file states, also where the samples fit another",
	 HLG_OPT_CHOICE, FIELD(strict_base)},
	{"emit", "none|pass|lines", "none",
	 "besides the report: nothing; the shown samples, for perf's own output and "
	 "scripts; or a line as perf script's for each, with the true symbol",
	 HLG_OPT_CHOICE, FIELD(emit)},
};

const size_t hlg_n_options = sizeof(hlg_option_table) / sizeof(hlg_option_table[0]);

_Static_assert(sizeof(hlg_option_table) / sizeof(hlg_option_table[0]) <=
		       8 * sizeof(((struct hlg_options *)0)->given),
	       "a bit of given for each option");

int hlg_options_place(const char *words, const char *word, size_t len)
{
	for (int i = 0;; i++) {
		size_t n = strcspn(words, "|,");

		if (n == len && memcmp(words, word, len) == 0)
			return i;
		if (words[n] == '\0')
			return -1;
		words += n + 1;
	}
}

int hlg_options_unknown_value(const char *arg, const char *value, bool set,
			      const char *words, struct hlg_err *err)
{
	struct hlg_nearest nearest = {.word = value, .n = strcspn(value, set ? "," : "")};
	const char *of = set ? "any" : "one";

	hlg_nearest_look_words(&nearest, words);
	if (!nearest.best)
		return hlg_err_set(err, HLG_EINPUT, "%s: unknown value (%s of %s)", arg,
				   of, words);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: unknown value (did you mean %.*s? %s of %s)", arg,
			   (int)nearest.best_n, nearest.best, of, words);
}

static int set_bits(const char *arg, const struct hlg_option *opt, const char *value,
		    unsigned *bits, struct hlg_err *err)
{
	for (;;) {
		size_t n = strcspn(value, ",");
		int i = hlg_options_place(opt->value, value, n);

		if (i < 0)
			return hlg_options_unknown_value(arg, value, true, opt->value,
							 err);
		*bits |= 1u << i;
		if (value[n] == '\0')
			return 0;
		value += n + 1;
	}
}

static int set_size(const char *arg, const char *value, uint64_t *size,
		    struct hlg_err *err)
{
	if (hlg_number_size(value, size) && (*size & (*size - 1)) == 0)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: not a size (a power of two, as in 1K, 4096; or 0)", arg);
}

static int set_percent(const char *arg, const char *value, uint64_t *min,
		       struct hlg_err *err)
{
	if (hlg_number_nano(value, min) && *min <= UINT64_C(100000000000))
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "%s: not a percentage (0 to 100, as in 0.5)",
			   arg);
}

/* "+10", "+500ms": nothing, or an offset, in ns. */
static bool parse_offset(const char *text, uint64_t *ns)
{
	return text[0] == '+' && hlg_number_time(text + 1, ns);
}

#define ALL_PERCENT UINT64_C(100000000000) /* 100 %, in 10^-9 */

/* "10%/2", the second 10 %, or "10%-20%". */
static bool parse_slice(const char *value, uint64_t *start, uint64_t *stop)
{
	const char *percent = strchr(value, '%');
	size_t n = percent ? (size_t)(percent - value) : 0;
	char first[32], second[32];
	size_t m;
	uint64_t part;

	if (n == 0 || n >= sizeof(first))
		return false;
	memcpy(first, value, n);
	first[n] = '\0';
	if (percent[1] == '/') {
		if (!hlg_number_nano(first, stop) ||
		    !hlg_number_u64(percent + 2, &part) || part == 0 || *stop == 0 ||
		    part > ALL_PERCENT / *stop)
			return false;
		*start = *stop * (part - 1);
		*stop *= part;
		return true;
	}
	m = strlen(percent);
	if (m < 4 || percent[1] != '-' || percent[m - 1] != '%' ||
	    m - 3 >= sizeof(second))
		return false;
	memcpy(second, percent + 2, m - 3);
	second[m - 3] = '\0';
	return hlg_number_nano(first, start) && hlg_number_nano(second, stop) &&
	       *stop <= ALL_PERCENT;
}

/* "START,STOP": either is empty, and that which is not is parsed. */
static bool parse_window(const char *value, bool (*parse)(const char *, uint64_t *),
			 uint64_t *start, uint64_t *stop)
{
	const char *comma = strchr(value, ',');
	char first[32] = "";

	if (!comma || comma - value >= (long)sizeof(first))
		return false;
	memcpy(first, value, (size_t)(comma - value));
	return (first[0] == '\0' || parse(first, start)) &&
	       (comma[1] == '\0' || parse(comma + 1, stop));
}

/* "10%/1,10%/3", as perf takes them. */
static bool is_slices(const char *value)
{
	size_t n = strcspn(value, ",");
	char first[64];
	uint64_t start, stop;

	if (!value[n] || n >= sizeof(first))
		return false;
	memcpy(first, value, n);
	first[n] = '\0';
	return parse_slice(first, &start, &stop);
}

static int set_window(const char *arg, const char *value, struct hlg_options *options,
		      struct hlg_err *err)
{
	uint64_t start = 0, stop = UINT64_MAX;
	bool ok;

	if (strchr(value, '%')) {
		options->time_unit = HLG_TIME_PERCENT;
		ok = parse_slice(value, &start, &stop);
	} else if (strchr(value, '+')) {
		options->time_unit = HLG_TIME_OFFSET;
		ok = parse_window(value, parse_offset, &start, &stop);
	} else {
		ok = parse_window(value, hlg_number_nano, &start, &stop);
	}
	options->start = start;
	options->stop = stop;
	if (ok && start < stop)
		return 0;
	if (is_slices(value))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: one slice is taken, not a list (make a report of "
				   "each; or 0%%-30%% spans several)",
				   arg);
	return hlg_err_set(
		err, HLG_EINPUT,
		"%s: not a time window (START,STOP in seconds: +0,+10 from the "
		"recording's start, 12.5,13 of perf's clock; or 10%%/2, "
		"0%%-10%%)",
		arg);
}

static int set_list(const char *arg, const char *value, struct hlg_number_list *list,
		    struct hlg_err *err)
{
	switch (hlg_number_list_parse(list, value)) {
	case 0:
		return 0;
	case HLG_ESYSTEM:
		return hlg_err_memory(err, arg);
	default:
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: not a list of numbers (as in 17,20-29)", arg);
	}
}

static int set_text(const char *arg, const char *value, char **text, struct hlg_err *err)
{
	if (value[0] == '\0')
		return hlg_err_set(err, HLG_EINPUT, "%s: empty value (name one)", arg);
	free(*text); /* the fallback */
	*text = strdup(value);
	return *text ? 0 : hlg_err_memory(err, arg);
}

/* Stores one value; arg is the whole word, for messages. */
static int set(struct hlg_options *options, const struct hlg_option *opt, const char *arg,
	       const char *value, struct hlg_err *err)
{
	void *field = (char *)options + opt->field;
	int i;

	switch (opt->kind) {
	case HLG_OPT_CHOICE:
		i = hlg_options_place(opt->value, value, strlen(value));
		*(int *)field = i;
		return i >= 0 ? 0
			      : hlg_options_unknown_value(arg, value, false, opt->value,
							  err);
	case HLG_OPT_SET:
		*(unsigned *)field = 0; /* not the fallback and this */
		return set_bits(arg, opt, value, field, err);
	case HLG_OPT_SIZE:
		return set_size(arg, value, field, err);
	case HLG_OPT_COUNT:
		if (hlg_number_u64(value, field) && *(uint64_t *)field != HLG_UNSET)
			return 0;
		return hlg_err_set(err, HLG_EINPUT, "%s: not a number", arg);
	case HLG_OPT_PERCENT:
		return set_percent(arg, value, field, err);
	case HLG_OPT_LIST:
		return set_list(arg, value, field, err);
	case HLG_OPT_WINDOW:
		return set_window(arg, value, options, err);
	default:
		return set_text(arg, value, field, err);
	}
}

const struct hlg_option *hlg_options_find(const char *name, size_t n)
{
	for (size_t i = 0; i < hlg_n_options; i++)
		if (strlen(hlg_option_table[i].name) == n &&
		    memcmp(hlg_option_table[i].name, name, n) == 0)
			return &hlg_option_table[i];
	return NULL;
}

bool hlg_options_selects(const struct hlg_option *option)
{
	static const char *const names[] = {"event", "pid",     "tid",
					    "cpu",   "sandbox", "time"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(option->name, names[i]) == 0)
			return true;
	return false;
}

/* Adds a word to those of *list. */
static int add_word(char **list, const char *dashes, const char *name, const char *value,
		    struct hlg_err *err)
{
	const char *before = *list;
	char *text;

	if (asprintf(&text, "%s%s%s%s=%s", before ? before : "", before ? " " : "",
		     dashes, name, value) < 0)
		return hlg_err_memory(err, name);
	free(*list);
	*list = text;
	return 0;
}

int hlg_options_add_selection(struct hlg_options *options, const char *dashes,
			      const char *name, const char *value, struct hlg_err *err)
{
	int rc = add_word(&options->selection, "", name, value, err);

	return rc == 0 ? add_word(&options->selected_by, dashes, name, value, err) : rc;
}

/* key is in arg, which is what messages show. */
static int parse_option(struct hlg_options *options, const char *arg, const char *key,
			size_t key_len, struct hlg_err *err)
{
	struct hlg_nearest nearest = {.word = key, .n = key_len};
	const struct hlg_option *opt = hlg_options_find(key, key_len);
	int rc;

	if (opt) {
		uint64_t bit = UINT64_C(1) << (opt - hlg_option_table);

		if (options->given & bit)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: %s is given twice (give it once)", arg,
					   opt->name);
		options->given |= bit;
		rc = set(options, opt, arg, key + key_len + 1, err);
		return rc < 0 || !hlg_options_selects(opt)
			       ? rc
			       : hlg_options_add_selection(options, key > arg ? "--" : "",
							   opt->name, key + key_len + 1,
							   err);
	}
	for (size_t i = 0; i < hlg_n_options; i++)
		hlg_nearest_look(&nearest, hlg_option_table[i].name,
				 strlen(hlg_option_table[i].name));
	if (nearest.best)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: unknown option (did you mean %s=? --dlarg help "
				   "lists all)",
				   arg, nearest.best);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: unknown option (--dlarg help lists them)", arg);
}

/* What stands behind a base: "tid=17" */
static int set_who(const char *arg, const char *who, struct hlg_image_arg *image,
		   struct hlg_err *err)
{
	if (strncmp(who, "tid=", 4) == 0)
		return set_list(arg, who + 4, &image->tid, err);
	if (strncmp(who, "sandbox=", 8) == 0)
		return set_list(arg, who + 8, &image->sandbox, err);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: who runs it is tid=LIST or sandbox=LIST (as in "
			   "@0x4000:tid=17)",
			   arg);
}

char *hlg_options_base(const char *word)
{
	char *at = strrchr(word, '@');

	return at && !strchr(at, '/') ? at : NULL;
}

/* Is it no base that stands behind at, but a part of the file's name? It is if there is
 * such a file, and either none is called what stands before, or no base is behind. */
static bool is_of_name(const char *path, char *at)
{
	const bool is_base =
		strcmp(at, "@auto") == 0 || hlg_number_u64(at + 1, &(uint64_t){0});
	bool is = access(path, F_OK) == 0;

	if (is && is_base) {
		*at = '\0';
		is = access(path, F_OK) != 0;
		*at = '@';
	}
	return is;
}

/* Splits FILE@BASE[:WHO] in place. A base begins with a digit or is auto. */
static int split_base(const char *arg, struct hlg_image_arg *image, struct hlg_err *err)
{
	char *at = hlg_options_base(image->path), *who;
	size_t n = at ? strcspn(at + 1, ":") : 0;
	bool automatic = n == 4 && memcmp(at + 1, "auto", 4) == 0;
	int rc = 0;

	if (!at || (!automatic && (at[1] < '0' || at[1] > '9')) ||
	    is_of_name(image->path, at))
		return 0;
	*at = '\0';
	who = at[1 + n] ? at + 2 + n : NULL;
	at[1 + n] = '\0';
	if (who)
		rc = set_who(arg, who, image, err);
	if (rc < 0)
		return rc;
	if (at[1] == 'a') {
		image->find = true;
		return 0;
	}
	image->stated = true;
	if (!hlg_number_u64(at + 1, &image->base))
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: the base is not a number (as in 0x4000, 16384, auto)", arg);
	return 0;
}

/* Splits HOST@guest=N in place. */
static int split_guest(const char *arg, struct hlg_image_arg *image, struct hlg_err *err)
{
	char *at = hlg_options_base(image->path);
	uint64_t number;

	if (image->map || !at || strncmp(at, "@guest=", 7) != 0)
		return 0;
	if (!hlg_number_u64(at + 7, &number) || number == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: which guest inside is a number (as in "
				   "./my-host@guest=2)",
				   arg);
	*at = '\0';
	image->guest = (size_t)number;
	return 0;
}

static int parse_image(struct hlg_options *options, const char *arg, struct hlg_err *err)
{
	bool map = strncmp(arg, "map:", 4) == 0;
	struct hlg_image_arg *image;
	int rc;

	if (!HLG_GROW(options->images, options->n_images))
		return hlg_err_memory(err, arg);
	image = &options->images[options->n_images];
	*image = (struct hlg_image_arg){.path = strdup(map ? arg + 4 : arg), .map = map};
	if (!image->path)
		return hlg_err_memory(err, arg);
	options->n_images++;
	rc = split_base(arg, image, err);
	if (rc == 0)
		rc = split_guest(arg, image, err);
	if (rc == 0 && image->path[0] == '\0')
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: names no file (FILE, FILE@BASE, map:FILE or key=value)",
			arg[0] ? arg : "''");
	return rc;
}

/* Length of the key if word is key=value: only lower-case letters, and - in between. */
static size_t key_length(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz-");

	return word[n] == '=' && word[0] != '-' ? n : 0;
}

static int set_fallbacks(struct hlg_options *options, struct hlg_err *err)
{
	*options = (struct hlg_options){.top = HLG_UNSET,
					.regions = HLG_UNSET,
					.min = HLG_UNSET,
					.stop = UINT64_MAX};
	for (size_t i = 0; i < hlg_n_options; i++) {
		const struct hlg_option *opt = &hlg_option_table[i];
		int rc = 0;

		if (opt->fallback[0] && opt->fallback[0] != '(')
			rc = set(options, opt, opt->name, opt->fallback, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int hlg_options_parse(struct hlg_options *options, int argc, char *const *argv,
		      struct hlg_err *err)
{
	int rc = set_fallbacks(options, err);

	for (int i = 0; rc == 0 && i < argc; i++) {
		const char *key = argv[i] + (strncmp(argv[i], "--", 2) == 0 ? 2 : 0);
		size_t len = key_length(key);

		rc = len ? parse_option(options, argv[i], key, len, err)
			 : parse_image(options, argv[i], err);
	}
	if (options->call_graph != HLG_CALL_GRAPH_NONE)
		options->children = 1;
	if (options->children && options->stacks == HLG_STACKS_LEAF)
		options->stacks = HLG_STACKS_CALLGRAPH;
	if (rc == 0 && options->children && options->stacks == HLG_STACKS_COUNTERS)
		return hlg_err_set(err, HLG_EINPUT,
				   "children and stacks=counters: with counters no stack "
				   "is kept (leave one of them out)");
	return rc;
}

static void free_image(struct hlg_image_arg *image)
{
	free(image->path);
	hlg_number_list_finish(&image->tid);
	hlg_number_list_finish(&image->sandbox);
}

bool hlg_options_states_tid(const struct hlg_options *options)
{
	for (size_t i = 0; i < options->n_images; i++)
		if (options->images[i].tid.n)
			return true;
	return false;
}

void hlg_options_finish(struct hlg_options *options)
{
	for (size_t i = 0; i < options->n_images; i++)
		free_image(&options->images[i]);
	free(options->images);
	hlg_number_list_finish(&options->pid);
	hlg_number_list_finish(&options->tid);
	hlg_number_list_finish(&options->cpu);
	hlg_number_list_finish(&options->sandbox);
	free(options->event);
	free(options->format);
	free(options->out);
	free(options->selection);
	free(options->selected_by);
	*options = (struct hlg_options){0};
}

bool hlg_options_given(const struct hlg_options *options, const char *name)
{
	for (size_t i = 0; i < hlg_n_options; i++)
		if (strcmp(hlg_option_table[i].name, name) == 0)
			return options->given >> i & 1;
	return false;
}
