// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/hostile.h"

#include <check.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

const struct hostile_symbol hostile_symbols[] = {
	{0x1000, "\x1b[31mred\x1b[0m\x1b]0;title\a",
	 "\\x1b[31mred\\x1b[0m\\x1b]0;title\\x07", 90},
	{0x1020, "=HYPERLINK(\"x\",\"y\")", "=HYPERLINK(\"x\",\"y\")", 80},
	{0x1060, "line\nbreak\r\ttab 12", "line\\x0abreak\\x0d\\x09tab 12", 70},
	{0x1120, "a;b;c 99", "a;b;c 99", 60},
	{0x1180, "\xff\xc3(\xed\xa0\x80\xc0\xaf", "\\xff\\xc3(\\xed\\xa0\\x80\\xc0\\xaf",
	 50},
	{0x11c0, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7",
	 "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7", 40},
	{0x1200, "-\xe2\x80\xaegnirts\xc2\x9b\x7f\\\"'",
	 "-\\xe2\\x80\\xaegnirts\\xc2\\x9b\\x7f\\\"'", 30},
};
const size_t hostile_n_symbols = sizeof(hostile_symbols) / sizeof(hostile_symbols[0]);

static void write_guest(void)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	for (size_t i = 0; i < MKELF_N_SYMS; i++) {
		struct mkelf_sym *sym = &g.syms[i];

		if (sym->name && strcmp(sym->name, "compute_alias") == 0) {
			sym->name = "+al\x1bias,\"";
			continue;
		}
		for (size_t k = 0; sym->name && k < hostile_n_symbols; k++)
			if (sym->value == hostile_symbols[k].addr)
				sym->name = hostile_symbols[k].name;
	}
	kit_write(&g, HOSTILE_PATH);
}

static void feed(struct hlg_run *run)
{
	struct hlg_sample s;
	uint32_t event = hlg_profile_event(&run->profile, "e=\x1bv;\"\n,\xff", 0);

	for (size_t i = 0; i < hostile_n_symbols; i++)
		kit_add(run, event, KIT_BASE + hostile_symbols[i].addr, 10,
			hostile_symbols[i].samples);
	kit_add(run, event, KIT_BASE + 0x10e0, 10, HOSTILE_GAP);
	kit_add(run, event, 0x80000000, 10, HOSTILE_OUTSIDE);
	s = kit_sample(event, 0);
	s.cpumode = 2;
	s.period = 10;
	for (int i = 0; i < HOSTILE_HOST; i++) {
		hlg_profile_add(&run->profile, &s);
		hlg_host_add(&run->host, hlg_profile_series(&run->profile, &s),
			     "@ds\x1bo;\n\xff\"", "=h;os\nt\xff\"", 10);
	}
}

void hostile_start(struct hlg_run *run, const char *words)
{
	struct kit_words more;
	char *argv[33] = {(char[]){HOSTILE_PATH}};
	struct hlg_err err = {0};
	int rc;

	write_guest();
	kit_words(&more, words);
	memcpy(argv + 1, more.word, sizeof(more.word));
	rc = hlg_run_start(run, more.n + 1, argv, &err);
	kit_words_finish(&more);
	ck_assert_msg(rc == 0, "%s", err.msg);
	run->options.force = 1;                /* names are what is to be seen, */
	run->options.border = HLG_BORDER_KEEP; /* with all of their samples */
	feed(run);
	hlg_run_note(run, "a note\nwith \x1b in it, \"quoted\"");
}

/* iconv refuses what RFC 3629 does not allow. */
static void check_utf8(const char *text)
{
	size_t left = strlen(text), room = 4 * left + 8;
	char *in = (char *)text, *buf = malloc(room), *out = buf;
	iconv_t cd = iconv_open("UCS-4", "UTF-8");

	ck_assert(cd != (iconv_t)-1);
	ck_assert_msg(iconv(cd, &in, &left, &out, &room) != (size_t)-1,
		      "no UTF-8 at: %.20s", in);
	ck_assert_uint_eq(left, 0);
	iconv_close(cd);
	free(buf);
}

void hostile_check_safe(const char *text)
{
	for (const char *s = text; *s; s++)
		ck_assert_msg((unsigned char)*s >= 0x20 || *s == '\n',
			      "control character %d at: %.40s", *s, s);
	ck_assert_ptr_null(strchr(text, 0x7f));
	ck_assert_ptr_null(strstr(text, "\xc2\x9b"));
	ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
	check_utf8(text);
}
