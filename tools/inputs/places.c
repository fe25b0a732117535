// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/nearest.h"
#include "filter/options/number.h"
#include "filter/output/note-list.h"
#include "filter/view/place-name.h"
#include "symtab/escape.h"
#include "symtab/grow.h"

enum {
	/* Names that are told where there is none of the word's. */
	LAST = 24, /* of which it is the last part */
	CLOSE = 5  /* that have it in them */
};

struct search {
	struct hlg_found_places *places;
	const char *word;
	struct hlg_note_list last;  /* names whose last part is the word */
	struct hlg_note_list close; /* names that have the word in them */
	struct hlg_nearest nearest; /* of last parts of names */
	char meant[64];             /* which that is; hlg_nearest looks at none as long */
	bool found;                 /* a place, perhaps one that was there before */
	bool lost;                  /* no memory */
};

bool hlg_places_is_address(const char *word, uint64_t *ip)
{
	return strncmp(word, "0x", 2) == 0 && hlg_number_u64(word, ip);
}

struct sought {
	const struct hlg_found_places *places;
	const void *owner;
};

static bool is_same(const void *ctx, uint32_t number)
{
	const struct sought *sought = ctx;

	return sought->places->place[number].owner == sought->owner;
}

static bool add(struct hlg_found_places *places, const struct hlg_place *place)
{
	const struct sought sought = {places, place->owner};
	const uint64_t hash = (uintptr_t)place->owner;

	if (hlg_index_find(&places->by_owner, hash, is_same, &sought) != HLG_INDEX_NONE)
		return true;
	if (!HLG_GROW(places->place, places->n) ||
	    !hlg_index_add(&places->by_owner, hash, places->n))
		return false;
	places->place[places->n++] = *place;
	return true;
}

static void take(struct search *s, const struct hlg_place *place)
{
	s->found = true;
	if (!add(s->places, place))
		s->lost = true;
}

/* Is name the word, or a C++ function of that name? */
static bool is_called(const char *name, const char *word)
{
	size_t n = strlen(word);

	return strncmp(name, word, n) == 0 && (name[n] == '\0' || name[n] == '(');
}

/* The last part of a name's path, of *n bytes: round, of kinds::hash::round<T>(u64). */
static const char *last_part(const char *name, size_t *n)
{
	size_t begin = 0, end = strlen(name), depth = 0;

	for (size_t i = 0; name[i]; i++) {
		char c = name[i];

		if (depth == 0 && c == ':' && name[i + 1] == ':') {
			begin = ++i + 1;
			end = strlen(name);
		} else if (depth == 0 && i > begin && (c == '<' || c == '(') && end > i) {
			end = i;
		}
		depth += c == '<' || c == '(';
		depth -= depth && (c == ')' || (c == '>' && i && name[i - 1] != '-'));
	}
	*n = end - begin;
	return name + begin;
}

/* Once each, most at most. */
static void keep(struct hlg_note_list *names, size_t most, const char *name)
{
	if (names->n < most && !hlg_note_list_has(names, name))
		hlg_note_list_add(names, "%s", name);
}

/* Is it the nearest part so far? */
static void look(struct search *s, const char *part, size_t n)
{
	hlg_nearest_look(&s->nearest, part, n);
	if (s->nearest.best != part)
		return;
	snprintf(s->meant, sizeof(s->meant), "%.*s", (int)n, part);
	s->nearest.best = s->meant;
}

/* Keeps a name that has the word in it, or one like it. */
static void keep_close(struct search *s, const char *name)
{
	size_t n;
	const char *part = last_part(name, &n);

	look(s, part, n);
	if (!s->word[0] || !strstr(name, s->word))
		return;
	keep(&s->close, CLOSE, name);
	if (n == strlen(s->word) && strncmp(part, s->word, n) == 0)
		keep(&s->last, LAST, name);
}

/* Takes name over, which is NULL without memory. */
static bool matches(struct search *s, char *name)
{
	bool match = name && is_called(name, s->word);

	if (!name)
		s->lost = true;
	else if (!match)
		keep_close(s, name);
	free(name);
	return match;
}

static void search_symbols(struct search *s, const struct hlg_image *image)
{
	for (size_t i = 0; i < image->tab.n_syms && !s->lost; i++) {
		const struct hlg_symbol *symbol = &image->tab.syms[i];
		struct hlg_place place;

		if (strcmp(hlg_image_name(image, symbol), s->word) != 0 &&
		    !matches(s, hlg_place_name_symbol(image, symbol, true)))
			continue;
		hlg_image_lookup(image, symbol->addr, &place);
		if (place.symbol && place.start == symbol->addr)
			place.symbol = symbol;
		if (place.image)
			take(s, &place);
	}
}

/* Gaps and data have no symbols: their names are made. */
static void search_gaps(struct search *s, const struct hlg_image *image)
{
	for (size_t i = 0; i < image->spans.n && !s->lost; i++) {
		const struct hlg_span *span = &image->spans.span[i];
		struct hlg_place place;

		if (span->kind != HLG_GAP && span->kind != HLG_DATA)
			continue;
		hlg_image_lookup(image, span->start, &place);
		if (matches(s, hlg_place_name(&place, true)) ||
		    matches(s, hlg_place_name(&place, false)))
			take(s, &place);
	}
}

/* Names that the word may mean, as far as a message has room. */
static int tell_names(const struct search *s, const struct hlg_note_list *names,
		      struct hlg_err *err)
{
	char list[sizeof(err->msg) - 200] = "";
	size_t used = 0, i = 0;
	bool last = names == &s->last;

	for (; i < names->n; i++) {
		size_t n = strlen(names->line[i]) + 2;

		if (i && used + n >= sizeof(list))
			break;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 i ? ", " : "", names->line[i]);
		used = used < sizeof(list) ? used : sizeof(list) - 1;
	}
	return hlg_err_set(err, HLG_EINPUT, "%s: %s%s%s)", s->word,
			   last ? "several functions are called so (give one in full: "
			   : names->n > 1 ? "several functions have that in their names "
					    "(give one of them: "
					  : "no such function (there is ",
			   list,
			   i < names->n || names->n == (last ? LAST : CLOSE)
				   ? ", perhaps more"
				   : "");
}

static int tell_none(const struct search *s, const struct hlg_space *space,
		     struct hlg_err *err)
{
	if (s->last.n || s->close.n)
		return tell_names(s, s->last.n ? &s->last : &s->close, err);
	if (s->nearest.best)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: no such function (did you mean %s?)", s->word,
				   s->meant);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: no such function in %s%s, and no such file (hlguest "
			   "report lists those with samples)",
			   s->word, space->images[0]->path,
			   space->n_images > 1 ? " and the others" : "");
}

static void search_all(struct search *s, const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++) {
		search_symbols(s, space->images[i]);
		if (strncmp(s->word, "__gap__", 7) == 0 || s->word[0] == '[')
			search_gaps(s, space->images[i]);
	}
	s->lost |= s->close.lost || s->last.lost;
}

static void finish_names(struct search *s)
{
	hlg_note_list_finish(&s->close);
	hlg_note_list_finish(&s->last);
}

/* The one name that the word is a part of, or the last part; NULL: none, or several. */
static const char *only_name(const struct search *s)
{
	if (s->last.n)
		return s->last.n == 1 ? s->last.line[0] : NULL;
	return s->close.n == 1 ? s->close.line[0] : NULL;
}

int hlg_places_find(struct hlg_found_places *places, const struct hlg_space *space,
		    const char *word, struct hlg_err *err)
{
	struct search s = {.places = places,
			   .word = word,
			   .nearest = {.word = word, .n = strlen(word)}};
	int rc = 0;

	search_all(&s, space);
	if (!s.lost && !s.found && only_name(&s)) {
		struct search whole = {.places = places, .word = only_name(&s)};

		search_all(&whole, space);
		s.found = whole.found;
		s.lost = whole.lost;
		finish_names(&whole);
	}
	if (s.lost)
		rc = hlg_err_memory(err, word);
	else if (!s.found)
		rc = tell_none(&s, space, err);
	finish_names(&s);
	return rc;
}

int hlg_places_find_ip(struct hlg_found_places *places, const struct hlg_space *space,
		       uint64_t ip, struct hlg_err *err)
{
	struct hlg_place place;

	hlg_space_lookup(space, ip, &place);
	return add(places, &place) ? 0 : hlg_err_memory(err, "address");
}

void hlg_places_put_aliases(FILE *f, const struct hlg_place *place)
{
	const struct hlg_symbol *first;
	const char *between = "  also called ";
	size_t n;

	if (!place->symbol)
		return;
	first = hlg_image_aliases(place->image, place->symbol, &n);
	for (size_t i = 0; i < n && i < HLG_IMAGE_ALIASES; i++) {
		if (&first[i] == place->symbol)
			continue;
		fputs(between, f);
		hlg_escape_print(f, hlg_image_name(place->image, &first[i]));
		between = ", ";
	}
	if (n > HLG_IMAGE_ALIASES)
		fprintf(f, "%s...", between);
	if (n > 1)
		fputc('\n', f);
}

void hlg_places_finish(struct hlg_found_places *places)
{
	free(places->place);
	hlg_index_finish(&places->by_owner);
	*places = (struct hlg_found_places){0};
}
