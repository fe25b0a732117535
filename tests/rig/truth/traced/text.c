// SPDX-License-Identifier: GPL-2.0-only
/* Writes JSON, reads it, and searches it (jansson, and glibc: printf, qsort, regex,
 * math). */
#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static json_t *document(int round)
{
	json_t *list = json_array();

	for (int i = 0; i < 300; i++) {
		char name[40];

		snprintf(name, sizeof(name), "key-%d-%.3f", i * 7919 % 300,
			 sin(i + round));
		json_array_append_new(list, json_pack("{s:s, s:f, s:[i,i]}", "name", name,
						      "root", sqrt(i), "at", i, round));
	}
	return list;
}

int main(void)
{
	regex_t pattern;
	int found = 0;

	if (regcomp(&pattern, "key-[0-9]*7-(-0|0)\\.[5-9]+", REG_EXTENDED))
		return 1;
	for (int round = 0; round < 10; round++) {
		json_t *list = document(round);
		char *text = json_dumps(list, JSON_INDENT(1)), *lines[4000];
		json_t *back = json_loads(text, 0, NULL);
		size_t n = 0;

		found += json_equal(list, back);
		for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n"))
			lines[n++] = at;
		qsort(lines, n, sizeof(*lines), compare);
		for (size_t i = 0; i < n; i++)
			found += regexec(&pattern, lines[i], 0, NULL, 0) == 0;
		json_decref(back);
		json_decref(list);
		free(text);
	}
	regfree(&pattern);
	printf("%d\n", found);
	return found < 10;
}
