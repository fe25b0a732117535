// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CSV, read back by the rules of RFC 4180 alone, has as many cells in every record as
 * in the header, holds each name as it may be shown, begins no cell the way a formula
 * does, and reconciles: the functions and others are the kept guest samples, and so are
 * the regions. So does the trust block: what was tested and what was not are the samples
 * in functions and labels. Names are hostile.
 */
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "filter/view/place-name.h"
#include "tests/kit/hostile.h"
#include "tests/kit/tap.h"

enum column {
	RECORD,
	SERIES,
	KIND,
	NAME,
	SYMBOL,
	ALIASES,
	IMAGE,
	ADDR,
	SIZE,
	SAMPLES,
	PERIOD,
	PERCENT,
	LOW,
	HIGH,
	UNSURE,
	EDGE,
	N_COLUMNS
};

/* One cell off *s, in place; the character behind it is returned. */
static char next_cell(char **s, char **cell)
{
	char *from = *s, *to = *s, end;

	*cell = to;
	if (*from != '"') {
		to = from = from + strcspn(from, ",\n");
	} else {
		for (from++; *from != '"' || *++from == '"';) {
			ck_assert_int_ne(*from, '\0');
			*to++ = *from++;
		}
	}
	end = *from;
	ck_assert_msg(end == ',' || end == '\n', "behind a cell: %.20s", from);
	*to = '\0';
	*s = from + 1;
	return end;
}

static void next_record(char **s, char *cells[N_COLUMNS])
{
	for (int i = 0; i < N_COLUMNS; i++) {
		char end = next_cell(s, &cells[i]);

		ck_assert_msg(end == (i == N_COLUMNS - 1 ? '\n' : ','),
			      "cell %d of a %s record", i, cells[0]);
		ck_assert_msg(!cells[i][0] || !strchr("=+-@\t\r", cells[i][0]),
			      "a formula: %s", cells[i]);
	}
}

static char *csv(const char *words)
{
	struct hlg_run run;
	char *text;

	hostile_start(&run, words);
	text = kit_report(&run);
	hlg_run_finish(&run);
	hostile_check_safe(text);
	return text;
}

static void add(struct hlg_count *to, char *cells[N_COLUMNS])
{
	hlg_count_add(to, (struct hlg_count){strtoull(cells[SAMPLES], NULL, 10),
					     strtoull(cells[PERIOD], NULL, 10)});
}

struct sums {
	struct hlg_count seen, deselected, host, guest, kinds[HLG_N_KINDS], dropped;
	struct hlg_count functions, others, regions, host_rows, events;
	uint64_t trust; /* samples on and off boundaries, and not tested */
	size_t notes, remarks, trusts, intervals;
	double percent;
};

static struct hlg_count *total_of(struct sums *sums, const char *name)
{
	for (int k = 0; k < HLG_N_KINDS; k++)
		if (strcmp(name, hlg_place_name_kind((enum hlg_kind)k)) == 0)
			return &sums->kinds[k];
	return strcmp(name, "seen") == 0         ? &sums->seen
	       : strcmp(name, "deselected") == 0 ? &sums->deselected
	       : strcmp(name, "host") == 0       ? &sums->host
	       : strcmp(name, "guest") == 0      ? &sums->guest
	       : strcmp(name, "dropped") == 0    ? &sums->dropped
						 : NULL;
}

/* Four records in this order; the verdict stands in the first. */
static void check_trust(struct sums *sums, char *cells[N_COLUMNS])
{
	static const char *const names[] = {"on boundaries", "off boundaries",
					    "not tested", "by chance"};
	size_t i = sums->trusts++;

	ck_assert_uint_lt(i, 4);
	ck_assert_str_eq(cells[NAME], names[i]);
	ck_assert_int_eq(cells[KIND][0] != '\0', i == 0);
	ck_assert_int_eq(cells[SAMPLES][0] != '\0', i < 3);
	ck_assert_int_eq(cells[PERCENT][0] != '\0', HLG_HAVE_ZYDIS && (i == 0 || i == 3));
	ck_assert_str_eq(cells[PERIOD], "");
	sums->trust += strtoull(cells[SAMPLES], NULL, 10);
}

/* Of rows and of the check, in this order. */
static void check_interval(struct sums *sums, char *cells[N_COLUMNS])
{
	static const char *const of[][2] = {{"rows", "95.00"}, {"trust", "99.00"}};
	size_t i = sums->intervals++;

	ck_assert_uint_lt(i, 2);
	ck_assert_str_eq(cells[NAME], of[i][0]);
	ck_assert_str_eq(cells[PERCENT], of[i][1]);
}

/* Nothing but the text. */
static void check_text(char *cells[N_COLUMNS])
{
	ck_assert_str_ne(cells[NAME], "");
	for (int i = 0; i < N_COLUMNS; i++)
		if (i != RECORD && i != NAME)
			ck_assert_str_eq(cells[i], "");
}

/* Of rows only; edges only where skid= asks. */
static void check_row(char *cells[N_COLUMNS])
{
	bool row = strcmp(cells[RECORD], "function") == 0 ||
		   strcmp(cells[RECORD], "other") == 0;

	ck_assert_msg(strcmp(cells[UNSURE], "") == 0
			      ? !row
			      : row && (strcmp(cells[UNSURE], "0") == 0 ||
					strcmp(cells[UNSURE], "1") == 0),
		      "unsure of a %s: '%s'", cells[RECORD], cells[UNSURE]);
	ck_assert_str_eq(cells[EDGE], "");
}

static struct hlg_count *sum_of(struct sums *sums, char *cells[N_COLUMNS])
{
	const char *record = cells[RECORD];

	if (strcmp(record, "total") == 0)
		return total_of(sums, cells[NAME]);
	if (strcmp(record, "function") == 0)
		return &sums->functions;
	if (strcmp(record, "other") == 0)
		return &sums->others;
	if (strcmp(record, "region") == 0)
		return &sums->regions;
	if (strcmp(record, "host") == 0)
		return &sums->host_rows;
	if (strcmp(record, "event") == 0)
		return &sums->events;
	if (strcmp(record, "trust") == 0) {
		check_trust(sums, cells);
		return NULL;
	}
	if (strcmp(record, "interval") == 0) {
		check_interval(sums, cells);
		return NULL;
	}
	check_text(cells);
	if (strcmp(record, "remark") == 0) {
		sums->remarks++;
		return NULL;
	}
	ck_assert_str_eq(record, "note");
	sums->notes++;
	return NULL;
}

/* With a decimal point, whatever the locale. */
static double in_c(const char *number)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL), before = uselocale(c);
	double value = strtod(number, NULL);

	uselocale(before);
	freelocale(c);
	return value;
}

static void read_all(char *s, struct sums *sums)
{
	char *cells[N_COLUMNS];

	memset(sums, 0, sizeof(*sums));
	next_record(&s, cells);
	ck_assert_str_eq(cells[RECORD], "record");
	ck_assert_str_eq(cells[HIGH], "high");
	ck_assert_str_eq(cells[UNSURE], "unsure");
	ck_assert_str_eq(cells[EDGE], "edge");
	while (*s) {
		struct hlg_count *to;

		next_record(&s, cells);
		check_row(cells);
		to = sum_of(sums, cells);
		if (to)
			add(to, cells);
		if (to == &sums->functions || to == &sums->others)
			sums->percent += in_c(cells[PERCENT]);
	}
}

static void same(struct hlg_count a, struct hlg_count b)
{
	ck_assert_uint_eq(a.samples, b.samples);
	ck_assert_uint_eq(a.period, b.period);
}

static const char *const words[] = {
	"",
	"gaps=drop",
	"gaps=stretch",
	"by=event",
	"region=16",
	"weight=samples",
	"mode=all",
	"mode=all by=event,cpu aliases=yes",
	"demangle=no",
};

START_TEST(reconciles)
{
	char line[128], *text;
	struct sums s;
	struct hlg_count sum = {0, 0};

	snprintf(line, sizeof(line), "format=csv %s", words[_i]);
	text = csv(line);
	read_all(text, &s);
	for (int k = 0; k < HLG_N_KINDS; k++)
		hlg_count_add(&sum, s.kinds[k]);
	same(sum, s.guest);
	same(s.events, s.guest);
	hlg_count_add(&sum, s.host);
	hlg_count_add(&sum, s.deselected);
	same(sum, s.seen);
	sum = s.guest;
	hlg_count_sub(&sum, s.dropped);
	same(s.regions, sum);
	hlg_count_add(&s.functions, s.others);
	same(s.functions, sum);
	ck_assert_double_eq_tol(s.percent, 100, 0.1);
	ck_assert_uint_eq(s.host_rows.samples,
			  strstr(words[_i], "all") ? s.host.samples : 0);
	ck_assert_uint_ge(s.notes, 1);
	ck_assert_uint_ge(s.remarks, 1);
	ck_assert_uint_eq(s.trusts, 4);
	ck_assert_uint_eq(s.intervals, 2);
	ck_assert_uint_eq(s.trust,
			  s.kinds[HLG_FUNCTION].samples + s.kinds[HLG_LABEL].samples);
	free(text);
}
END_TEST

static void find(char *s, const char *record, const char *name, const char *symbol,
		 const char *aliases)
{
	char *cells[N_COLUMNS];

	while (*s) {
		next_record(&s, cells);
		if (strcmp(cells[RECORD], record) != 0 ||
		    strcmp(cells[NAME], name) != 0 || strcmp(cells[SYMBOL], symbol) != 0)
			continue;
		ck_assert_str_eq(cells[ALIASES], aliases);
		return;
	}
	ck_abort_msg("no %s record of %s", record, name);
}

/* Each name whole, a ' in front of what a spreadsheet would run. */
START_TEST(names)
{
	const struct hostile_symbol *symbol = &hostile_symbols[_i];
	char *text = csv("format=csv aliases=yes demangle=no"), cell[128];
	bool formula = strchr("=+-@", symbol->safe[0]) != NULL;

	snprintf(cell, sizeof(cell), "%s%s", formula ? "'" : "", symbol->safe);
	find(text, "function", cell, cell,
	     symbol->addr == 0x1060 ? "'+al\\x1bias,\"" : "");
	free(text);
}
END_TEST

START_TEST(other_names)
{
	char *text = csv("format=csv mode=all");

	find(text, "event", "e=\\x1bv;\"\\x0a,\\xff", "", "");
	free(text);
	text = csv("format=csv mode=all");
	find(text, "host", "'=h;os\\x0at\\xff\"", "", "");
	free(text);
	text = csv("format=csv");
	find(text, "note", "a note\\x0awith \\x1b in it, \"quoted\"", "", "");
	free(text);
	text = csv("format=csv");
	find(text, "other", "[outside]", "", "");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("csv");
	TCase *tc = tap_case(suite, "csv");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, reconciles, 0, sizeof(words) / sizeof(words[0]));
	tcase_add_loop_test(tc, names, 0, (int)hostile_n_symbols);
	tcase_add_test(tc, other_names);
	return tap_main(suite);
}
