// SPDX-License-Identifier: GPL-2.0-only
#include "filter/options/nearest.h"

#include <stdbool.h>
#include <string.h>

enum {
	LONGEST = 32 /* bytes, of words that are compared */
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edits from a to b, both LONGEST bytes at most. */
static size_t count_edits(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t k = 0; k <= m; k++)
		last[k] = k;
	for (size_t i = 1; i <= n; i++) {
		size_t *next = before;

		row[0] = i;
		for (size_t k = 1; k <= m; k++) {
			row[k] = least(last[k] + 1, row[k - 1] + 1);
			row[k] = least(row[k], last[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				row[k] = least(row[k], before[k - 2] + 1);
		}
		before = last;
		last = row;
		row = next;
	}
	return last[m];
}

/* Does the word begin the known one, from three bytes on, or end in it, behind a dash? */
static bool is_part(const char *word, size_t word_n, const char *known, size_t n)
{
	if (word_n < n)
		return word_n >= 3 && memcmp(word, known, word_n) == 0;
	return word_n > n && n >= 3 && word[word_n - n - 1] == '-' &&
	       memcmp(word + word_n - n, known, n) == 0;
}

void hlg_nearest_look(struct hlg_nearest *nearest, const char *known, size_t n)
{
	size_t most = nearest->n < 6 ? 1 : nearest->n / 3, edits;

	if (nearest->n > LONGEST || n > LONGEST || nearest->n < 2)
		return;
	if (is_part(nearest->word, nearest->n, known, n))
		edits = 1;
	else
		edits = count_edits(nearest->word, nearest->n, known, n);
	if (edits > most || (nearest->best && edits >= nearest->edits))
		return;
	nearest->best = known;
	nearest->best_n = n;
	nearest->edits = edits;
}

void hlg_nearest_look_words(struct hlg_nearest *nearest, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, "|,");

		hlg_nearest_look(nearest, words, n);
		words += n + (words[n] != '\0');
	}
}
