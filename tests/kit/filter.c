// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/filter.h"

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/report/build.h"

static char folder[PATH_MAX], before[PATH_MAX];

void kit_enter(void)
{
	const char *tmp = getenv("TMPDIR");

	ck_assert_ptr_nonnull(getcwd(before, sizeof(before)));
	snprintf(folder, sizeof(folder), "%s/hlg-filter.XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static int remove_entry(const char *path, const struct stat *st, int flag,
			struct FTW *where)
{
	(void)st;
	(void)flag;
	(void)where;
	return remove(path);
}

void kit_leave(void)
{
	ck_assert_int_eq(chdir(before), 0);
	ck_assert_int_eq(nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void kit_write(struct mkelf_guest *g, const char *path)
{
	ck_assert_int_eq(mkelf_build(&g->elf, &g->img), 0);
	ck_assert_int_eq(mkelf_write(&g->img, path), 0);
	mkelf_finish(&g->img);
}

void kit_guest(const char *path)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	kit_write(&g, path);
}

void kit_words(struct kit_words *words, const char *text)
{
	char *save;

	*words = (struct kit_words){.text = strdup(text)};
	for (char *w = strtok_r(words->text, " ", &save); w;
	     w = strtok_r(NULL, " ", &save)) {
		ck_assert_int_lt(words->n, 32);
		words->word[words->n++] = w;
	}
}

void kit_words_finish(struct kit_words *words)
{
	free(words->text);
}

void kit_options(struct hlg_options *options, const char *text)
{
	struct kit_words words;
	struct hlg_err err = {0};
	int rc;

	kit_words(&words, text);
	rc = hlg_options_parse(options, words.n, words.word, &err);
	kit_words_finish(&words);
	ck_assert_msg(rc == 0, "%s", err.msg);
}

void kit_start(struct hlg_run *run, const char *text)
{
	struct kit_words words;
	struct hlg_err err = {0};
	int rc;

	kit_words(&words, text);
	rc = hlg_run_start(run, words.n, words.word, &err);
	kit_words_finish(&words);
	ck_assert_msg(rc == 0, "%s: %s", text, err.msg);
	run->options.force = 1;
	run->options.border = HLG_BORDER_KEEP;
}

struct hlg_sample kit_sample(uint32_t event, uint64_t ip)
{
	return (struct hlg_sample){.ip = ip,
				   .period = 1,
				   .time = HLG_NO_TIME,
				   .pid = -1,
				   .tid = -1,
				   .cpu = -1,
				   .event = event,
				   .cpumode = HLG_MODE_GUEST_USER};
}

void kit_add(struct hlg_run *run, uint32_t event, uint64_t ip, uint64_t period,
	     unsigned n)
{
	struct hlg_sample s = kit_sample(event, ip);

	s.period = period;
	while (n--)
		hlg_profile_add(&run->profile, &s);
}

void kit_build(struct hlg_run *run, struct hlg_report *report)
{
	struct hlg_err err = {0};
	int rc = hlg_run_settle(run, &err);

	ck_assert_msg(rc == 0, "%s", err.msg);
	rc = hlg_report_build(report, &run->options, &run->space, &run->profile,
			      &run->host, NULL, NULL, &err);
	ck_assert_msg(rc == 0, "%s", err.msg);
}

char *kit_report(struct hlg_run *run)
{
	struct hlg_err err = {0};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc = hlg_run_report(run, f, &err);

	fclose(f);
	ck_assert_msg(rc == 0, "%s", err.msg);
	ck_assert_uint_eq(strlen(text), size);
	return text;
}

char *kit_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, EOF, f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	return text;
}

unsigned kit_count_files(void)
{
	DIR *dir = opendir(".");
	unsigned n = 0;

	for (struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return n;
}

/* splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014). */
uint64_t kit_random(uint64_t *state, uint64_t n)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % n;
}
