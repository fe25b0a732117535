// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every option takes the values its help names and refuses others with one whole line
 * that names the argument and what is allowed. Proved value by value, message by message;
 * and the table itself is checked: each entry is in the help, with its words, in lines of
 * at most 78 columns, and its stated default is what an empty command line gives.
 */
#include "filter/options/help.h"
#include "filter/options/options.h"

#include <string.h>

#include "filter/output/memstream.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static int parse(struct hlg_options *options, const char *text, struct hlg_err *err)
{
	struct kit_words words;
	int rc;

	kit_words(&words, text);
	rc = hlg_options_parse(options, words.n, words.word, err);
	kit_words_finish(&words);
	return rc;
}

#define INT(word, field, value)                                                          \
	{                                                                                \
		word, offsetof(struct hlg_options, field), sizeof(int), value            \
	}
#define U64(word, field, value)                                                          \
	{                                                                                \
		word, offsetof(struct hlg_options, field), sizeof(uint64_t), value       \
	}

static const struct accepted {
	const char *word;
	size_t field, size;
	uint64_t value;
} accepted[] = {
	INT("border=split", border, HLG_BORDER_SPLIT),
	INT("border=keep", border, HLG_BORDER_KEEP),
	INT("border=drop", border, HLG_BORDER_DROP),
	INT("gaps=retag", gaps, HLG_GAPS_RETAG),
	INT("children=no", children, 0),
	INT("children=yes", children, 1),
	INT("children=yes", stacks, HLG_STACKS_CALLGRAPH),
	INT("call-graph=none", call_graph, HLG_CALL_GRAPH_NONE),
	INT("call-graph=caller", call_graph, HLG_CALL_GRAPH_CALLER),
	INT("call-graph=callee", call_graph, HLG_CALL_GRAPH_CALLEE),
	INT("call-graph=callee", children, 1),
	INT("gaps=drop", gaps, HLG_GAPS_DROP),
	INT("gaps=stretch", gaps, HLG_GAPS_STRETCH),
	INT("weight=period", weight, HLG_WEIGHT_PERIOD),
	INT("weight=samples", weight, HLG_WEIGHT_SAMPLES),
	INT("mode=guest", mode, HLG_SHOW_GUEST),
	INT("mode=host", mode, HLG_SHOW_HOST),
	INT("mode=all", mode, HLG_SHOW_ALL),
	INT("color=auto", color, HLG_COLOR_AUTO),
	INT("color=always", color, HLG_COLOR_ALWAYS),
	INT("color=never", color, HLG_COLOR_NEVER),
	INT("emit=none", emit, HLG_EMIT_NONE),
	INT("emit=pass", emit, HLG_EMIT_PASS),
	INT("emit=lines", emit, HLG_EMIT_LINES),
	INT("stacks=leaf", stacks, HLG_STACKS_LEAF),
	INT("stacks=counters", stacks, HLG_STACKS_COUNTERS),
	INT("stacks=callgraph", stacks, HLG_STACKS_CALLGRAPH),
	INT("roots=comm", roots, HLG_ROOT_COMM),
	INT("roots=tid", roots, HLG_ROOT_TID),
	INT("roots=image", roots, HLG_ROOT_IMAGE),
	INT("roots=section", roots, HLG_ROOT_SECTION),
	INT("sort=overhead", sort, HLG_SORT_OVERHEAD),
	INT("sort=self", sort, HLG_SORT_SELF),
	INT("sort=size", sort, HLG_SORT_SIZE),
	INT("sort=name", sort, HLG_SORT_NAME),
	INT("sort=address", sort, HLG_SORT_ADDRESS),
	INT("wide=no", wide, 0),
	INT("wide=yes", wide, 1),
	INT("raw=no", raw, 0),
	INT("raw=yes", raw, 1),
	INT("verbose=no", verbose, 0),
	INT("verbose=yes", verbose, 1),
	INT("force=no", force, 0),
	INT("force=yes", force, 1),
	INT("assume-shift=no", assume_shift, 0),
	INT("assume-shift=yes", assume_shift, 1),
	INT("strict=no", strict, 0),
	INT("strict=yes", strict, 1),
	INT("strict-base=no", strict_base, 0),
	INT("strict-base=yes", strict_base, 1),
	INT("demangle=no", demangle, 0),
	INT("demangle=yes", demangle, 1),
	INT("aliases=no", aliases, 0),
	INT("aliases=yes", aliases, 1),
	INT("by=event", by, HLG_BY_EVENT),
	INT("by=pid", by, HLG_BY_PID),
	INT("by=tid", by, HLG_BY_TID),
	INT("by=cpu", by, HLG_BY_CPU),
	INT("by=cpu,event", by, HLG_BY_EVENT | HLG_BY_CPU),
	INT("by=tid,tid", by, HLG_BY_TID),
	INT("by=event,pid,tid,cpu", by, 15),
	INT("by=sandbox", by, HLG_BY_SANDBOX),
	U64("region=0", region, 0),
	U64("region=1", region, 1),
	U64("region=4096", region, 4096),
	U64("region=2M", region, 2097152),
	U64("region=0x8000000000000000", region, UINT64_C(1) << 63),
	U64("top=0", top, 0),
	U64("top=17", top, 17),
	U64("top=18446744073709551614", top, UINT64_MAX - 1),
	U64("min=0", min, 0),
	U64("min=0.5", min, 500000000),
	U64("min=100", min, UINT64_C(100000000000)),
	U64("min=0.000000001", min, 1),
	U64("time=1.5,", start, 1500000000),
	U64("time=1.5,", stop, UINT64_MAX),
	U64("time=,2", start, 0),
	U64("time=,2", stop, 2000000000),
	U64("time=0.000000001,0.000000002", start, 1),
	U64("time=0.000000001,0.000000002", stop, 2),
	U64("pid=1,2", pid.n, 2),
	U64("tid=1,2-3,4", tid.n, 3),
	U64("cpu=0", cpu.n, 1),
};

START_TEST(accepts)
{
	const struct accepted *a = &accepted[_i];
	struct hlg_options o;
	struct hlg_err err = {0};
	uint64_t value = 0;

	ck_assert_msg(parse(&o, a->word, &err) == 0, "%s", err.msg);
	/* Little-endian, as everything this project reads. */
	memcpy(&value, (char *)&o + a->field, a->size);
	ck_assert_msg(value == a->value, "%s is %ju", a->word, (uintmax_t)value);
	hlg_options_finish(&o);
}
END_TEST

/* The place of a word in the table is its value: each word is among the above. */
START_TEST(words_are_the_enums)
{
	const struct hlg_option *opt = &hlg_option_table[_i];

	if (opt->kind != HLG_OPT_CHOICE && opt->kind != HLG_OPT_SET)
		return;
	for (const char *word = opt->value; word[0];) {
		size_t n = strcspn(word, "|,");
		bool found = false;
		char whole[64];

		snprintf(whole, sizeof(whole), "%s=%.*s", opt->name, (int)n, word);
		for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
			found |= strcmp(accepted[i].word, whole) == 0;
		ck_assert_msg(found, "%s is not tested", whole);
		word += n + (word[n] != '\0');
	}
}
END_TEST

#define ONE_OF(words) ": unknown value (one of " words ")"
#define ANY_OF        ": unknown value (any of event,pid,tid,cpu,sandbox)"
#define MEANT(word, of, words)                                                           \
	": unknown value (did you mean " word "? " of " of " words ")"
#define NOT_SIZE    ": not a size (a power of two, as in 1K, 4096; or 0)"
#define NOT_PERCENT ": not a percentage (0 to 100, as in 0.5)"
#define NOT_LIST    ": not a list of numbers (as in 17,20-29)"
#define NOT_WINDOW                                                                       \
	": not a time window (START,STOP in seconds: +0,+10 from the recording's "       \
	"start, "                                                                        \
	"12.5,13 of perf's clock; or 10%/2, 0%-10%)"
#define UNKNOWN  ": unknown option (--dlarg help lists them)"
#define NO_FILE  ": names no file (FILE, FILE@BASE, map:FILE or key=value)"
#define NOT_BASE ": the base is not a number (as in 0x4000, 16384, auto)"

/* The message is the last word of the line and then the rest. */
static const struct {
	const char *words, *rest;
} refused[] = {
	{"gaps=", ONE_OF("retag|drop|stretch")},
	{"gaps=none", ONE_OF("retag|drop|stretch")},
	{"gaps=Drop", MEANT("drop", "one", "retag|drop|stretch")},
	{"gaps=retag|drop", ONE_OF("retag|drop|stretch")},
	{"weight=ret", ONE_OF("period|samples")},
	{"mode=both", ONE_OF("guest|host|all")},
	{"emit=line", MEANT("lines", "one", "none|pass|lines")},
	{"demangle=true", ONE_OF("no|yes")},
	{"aliases=1", ONE_OF("no|yes")},
	{"by=", ANY_OF},
	{"by=vcpu", MEANT("cpu", "any", "event,pid,tid,cpu,sandbox")},
	{"by=tid,", ANY_OF},
	{"by=tid|pid", ANY_OF},
	{"region=", NOT_SIZE},
	{"region=3", NOT_SIZE},
	{"region=1000", NOT_SIZE},
	{"region=1.5K", NOT_SIZE},
	{"region=-1", NOT_SIZE},
	{"top=", ": not a number"},
	{"top=-1", ": not a number"},
	{"top=all", ": not a number"},
	{"top=18446744073709551615", ": not a number"},
	{"min=", NOT_PERCENT},
	{"min=100.000000001", NOT_PERCENT},
	{"min=1%", NOT_PERCENT},
	{"min=-1", NOT_PERCENT},
	{"min=1,5", NOT_PERCENT},
	{"pid=", NOT_LIST},
	{"pid=qemu", NOT_LIST},
	{"tid=9-1", NOT_LIST},
	{"cpu=-1", NOT_LIST},
	{"time=", NOT_WINDOW},
	{"time=1", NOT_WINDOW},
	{"time=2,1", NOT_WINDOW},
	{"time=1,1", NOT_WINDOW},
	{"time=a,b", NOT_WINDOW},
	{"time=1,2,3", NOT_WINDOW},
	{"time=10%,20%", NOT_WINDOW},
	{"time=00000000000000000000000000000001,2", NOT_WINDOW},
	{"time=1,18446744074", NOT_WINDOW},
	{"event=", ": empty value (name one)"},
	{"out=", ": empty value (name one)"},
	{"gap=drop", ": unknown option (did you mean gaps=? --dlarg help lists all)"},
	{"outs=x", ": unknown option (did you mean out=? --dlarg help lists all)"},
	{"ou=x", ": unknown option (did you mean out=? --dlarg help lists all)"},
	{"x=", UNKNOWN},
	{"a=b@0x1000", UNKNOWN},
	{"map:", NO_FILE},
	{"@0x4000", NO_FILE},
	{"@auto", NO_FILE},
	{"map:@0", NO_FILE},
	{"guest.elf@0x", NOT_BASE},
	{"guest.elf@12q", NOT_BASE},
	{"guest.elf@0x10000000000000000", NOT_BASE},
	{"map:jit.map@1.5", NOT_BASE},
	{"gaps=drop gaps=drop", ": gaps is given twice (give it once)"},
	{"top=1 min=2 top=3", ": top is given twice (give it once)"},
	{"pid=1 pid=2", ": pid is given twice (give it once)"},
	{"out=a out=b", ": out is given twice (give it once)"},
	{"time=1, time=,2", ": time is given twice (give it once)"},
	{"a.elf gaps=drop bad=1", UNKNOWN},
	{"event=\x1b[2J pid=\x1b[2J", NULL},
};

START_TEST(refuses)
{
	const char *words = refused[_i].words, *last = strrchr(words, ' ');
	struct hlg_options o;
	struct hlg_err err = {0};
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", last ? last + 1 : words, refused[_i].rest);
	if (!refused[_i].rest)
		snprintf(whole, sizeof(whole), "pid=\\x1b[2J%s", NOT_LIST);
	ck_assert_int_eq(parse(&o, words, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, whole);
	hlg_options_finish(&o);
}
END_TEST

START_TEST(empty_word)
{
	char *argv[] = {(char[]){""}};
	struct hlg_options o;
	struct hlg_err err = {0};

	ck_assert_int_eq(hlg_options_parse(&o, 1, argv, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, "''" NO_FILE);
	hlg_options_finish(&o);
}
END_TEST

static const struct {
	const char *word, *path;
	uint64_t base;
	bool stated, map;
} images[] = {
	{"guest.elf", "guest.elf", 0, false, false},
	{"guest.elf@0x4000", "guest.elf", 0x4000, true, false},
	{"name@2.0/guest.elf", "name@2.0/guest.elf", 0, false, false},
	{"name@2.0/guest.elf@0x4000", "name@2.0/guest.elf", 0x4000, true, false},
	{"guest.elf@16384", "guest.elf", 16384, true, false},
	{"guest.elf@0", "guest.elf", 0, true, false},
	{"guest.elf@auto", "guest.elf", 0, false, false},
	{"guest.elf@0xffffffffffffffff", "guest.elf", UINT64_MAX, true, false},
	{"map:perf-7.map", "perf-7.map", 0, false, true},
	{"map:perf-7.map@4096", "perf-7.map", 4096, true, true},
	{"map:perf-7.map@auto", "perf-7.map", 0, false, true},
	{"map:map:x", "map:x", 0, false, true},
	{"/a@b/guest", "/a@b/guest", 0, false, false},
	{"guest@", "guest@", 0, false, false},
	{"guest@Auto", "guest@Auto", 0, false, false},
	{"guest@automatic", "guest@automatic", 0, false, false},
	{"guest@latest@1", "guest@latest", 1, true, false},
	{"guest@1@auto", "guest@1", 0, false, false},
	{"guest@1@2", "guest@1", 2, true, false},
	{"guest@2:tid=7,9", "guest", 2, true, false},
	{"guest@auto:sandbox=1", "guest", 0, false, false},
	{"guest:tid=7", "guest:tid=7", 0, false, false},
	{"./gaps=drop", "./gaps=drop", 0, false, false},
	{"map:a=b", "a=b", 0, false, true},
	{"=x", "=x", 0, false, false},
	{"A=x", "A=x", 0, false, false},
	{"a1=x", "a1=x", 0, false, false},
	{"gaps", "gaps", 0, false, false},
	{"MAP:x", "MAP:x", 0, false, false},
};

START_TEST(image)
{
	struct hlg_options o;
	struct hlg_err err = {0};

	ck_assert_msg(parse(&o, images[_i].word, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(o.n_images, 1);
	ck_assert_str_eq(o.images[0].path, images[_i].path);
	ck_assert_uint_eq(o.images[0].base, images[_i].base);
	ck_assert_int_eq(o.images[0].stated, images[_i].stated);
	ck_assert_int_eq(o.images[0].map, images[_i].map);
	hlg_options_finish(&o);
}
END_TEST

START_TEST(images_keep_their_order)
{
	struct hlg_options o;
	struct hlg_err err = {0};

	ck_assert_int_eq(parse(&o, "b@1 top=3 a map:c b@1 out=/x/y=z event=a*", &err), 0);
	ck_assert_uint_eq(o.n_images, 4);
	ck_assert_str_eq(o.images[0].path, "b");
	ck_assert_str_eq(o.images[1].path, "a");
	ck_assert_str_eq(o.images[2].path, "c");
	ck_assert_str_eq(o.images[3].path, "b");
	ck_assert_str_eq(o.out, "/x/y=z");
	ck_assert_str_eq(o.event, "a*");
	ck_assert_uint_eq(o.top, 3);
	hlg_options_finish(&o);
}
END_TEST

/* An empty command line is what the help says in parentheses. */
START_TEST(defaults)
{
	struct hlg_options o;
	struct hlg_err err = {0};

	ck_assert_int_eq(parse(&o, "", &err), 0);
	ck_assert_uint_eq(o.n_images, 0);
	ck_assert_int_eq(o.gaps, HLG_GAPS_RETAG);
	ck_assert_int_eq(o.weight, HLG_WEIGHT_PERIOD);
	ck_assert_int_eq(o.mode, HLG_SHOW_GUEST);
	ck_assert_str_eq(o.format, "text");
	ck_assert_int_eq(o.emit, HLG_EMIT_NONE);
	ck_assert_int_eq(o.demangle, 1);
	ck_assert_int_eq(o.aliases, 0);
	ck_assert_uint_eq(o.by, 0);
	ck_assert_uint_eq(o.region, 1024);
	ck_assert_uint_eq(o.top, HLG_UNSET);
	ck_assert_uint_eq(o.min, HLG_UNSET);
	ck_assert_uint_eq(o.start, 0);
	ck_assert_uint_eq(o.stop, UINT64_MAX);
	ck_assert_uint_eq(o.pid.n + o.tid.n + o.cpu.n, 0);
	ck_assert_ptr_null(o.event);
	ck_assert_ptr_null(o.out);
	ck_assert_uint_eq(o.given, 0);
	hlg_options_finish(&o);
}
END_TEST

START_TEST(given_says_which)
{
	struct hlg_options o;
	struct hlg_err err = {0};

	ck_assert_int_eq(parse(&o, "gaps=retag top=40", &err), 0);
	for (size_t i = 0; i < hlg_n_options; i++) {
		const char *name = hlg_option_table[i].name;
		bool given = strcmp(name, "gaps") == 0 || strcmp(name, "top") == 0;

		ck_assert_int_eq(o.given >> i & 1, given);
	}
	hlg_options_finish(&o);
}
END_TEST

/* The words of a help text, one blank between them. */
static char *squeeze(const char *text)
{
	char *flat = malloc(strlen(text) + 2), *to = flat;

	for (; *text; text++)
		if (*text != ' ' && *text != '\n')
			*to++ = *text;
		else if (to > flat && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
	return flat;
}

static char *help_text(void)
{
	struct hlg_memstream m;

	hlg_options_help(hlg_memstream_open(&m), "these|those");
	return hlg_memstream_close(&m);
}

START_TEST(help)
{
	char *text = help_text(), *flat = squeeze(text);

	for (size_t i = 0; i < hlg_n_options; i++) {
		const struct hlg_option *opt = &hlg_option_table[i];
		const char *f = opt->fallback;
		char entry[512];

		ck_assert_uint_gt(strlen(opt->help), 0);
		snprintf(entry, sizeof(entry), "%s=%s %s%s%s%s%s ", opt->name,
			 strcmp(opt->name, "format") == 0 ? "these|those" : opt->value,
			 f[0] ? "(default: " : "", f + (f[0] == '('),
			 f[0] && f[0] != '(' ? ")" : "", f[0] ? " " : "", opt->help);
		ck_assert_msg(strstr(flat, entry), "not in the help: %s", entry);
	}
	ck_assert_ptr_eq(strstr(text, "FILE[@BASE]  an image"), text);
	ck_assert_ptr_nonnull(strstr(text, "\nmap:FILE[@BASE]  "));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t n = strcspn(line, "\n");

		ck_assert_msg(n <= 78, "%zu columns: %.*s", n, (int)n, line);
		ck_assert(n == 0 || line[n - 1] != ' ');
		ck_assert_int_eq(line[n], '\n');
	}
	free(flat);
	free(text);
}
END_TEST

/* Each heading stands in front of its options. */
START_TEST(help_headings)
{
	char *text = help_text(), line[64];
	const char *last, *found;

	for (size_t i = 0; i < hlg_n_options; i++) {
		const struct hlg_option *opt = &hlg_option_table[i];
		size_t heading = hlg_options_help_heading(opt->name);

		ck_assert_ptr_nonnull(hlg_options_help_heading_text(heading));
		snprintf(line, sizeof(line), "\n\n%s\n",
			 hlg_options_help_heading_text(heading));
		found = strstr(text, line);
		ck_assert_msg(found, "no %s", hlg_options_help_heading_text(heading));
		last = hlg_options_help_heading_text(heading + 1)
			       ? strstr(found, hlg_options_help_heading_text(heading + 1))
			       : text + strlen(text);
		snprintf(line, sizeof(line), "\n%s=", opt->name);
		found = strstr(found, line);
		ck_assert_msg(found && found < last, "%s is elsewhere", opt->name);
	}
	ck_assert_uint_eq(hlg_options_help_heading("nosuch"),
			  hlg_options_help_heading("top"));
	ck_assert_uint_ne(hlg_options_help_heading("pi"),
			  hlg_options_help_heading("pid"));
	free(text);
}
END_TEST

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tc = tap_case(suite, "options");

	tcase_add_loop_test(tc, accepts, 0, LENGTH(accepted));
	tcase_add_loop_test(tc, words_are_the_enums, 0, (int)hlg_n_options);
	tcase_add_loop_test(tc, refuses, 0, LENGTH(refused));
	tcase_add_test(tc, empty_word);
	tcase_add_loop_test(tc, image, 0, LENGTH(images));
	tcase_add_test(tc, images_keep_their_order);
	tcase_add_test(tc, defaults);
	tcase_add_test(tc, given_says_which);
	tcase_add_test(tc, help);
	tcase_add_test(tc, help_headings);
	return tap_main(suite);
}
