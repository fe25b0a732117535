// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/number.h"
#include "filter/output/note-list.h"
#include "filter/view/place-name.h"
#include "symtab/grow.h"

enum {
	CLOSE = 3 /* names that are told where there is none of the word's */
};

struct search {
	struct hlg_found_places *places;
	const char *word;
	struct hlg_note_list close; /* CLOSE at most */
	bool found;                 /* a place, perhaps one that was there before */
	bool lost;                  /* no memory */
};

bool hlg_places_is_address(const char *word, uint64_t *ip)
{
	return strncmp(word, "0x", 2) == 0 && hlg_number_u64(word, ip);
}

static bool add(struct hlg_found_places *places, const struct hlg_place *place)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->place[i].owner == place->owner)
			return true;
	if (!HLG_GROW(places->place, places->n))
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

/* Keeps a name that has the word in it, once. */
static void keep_close(struct search *s, const char *name)
{
	if (s->close.n < CLOSE && s->word[0] && strstr(name, s->word) &&
	    !hlg_note_list_has(&s->close, name))
		hlg_note_list_add(&s->close, "%s", name);
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

static int tell_none(const struct search *s, const struct hlg_space *space,
		     struct hlg_err *err)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < s->close.n && used < sizeof(list); i++) {
		const char *comma = i ? ", " : "";

		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", comma,
					 s->close.line[i]);
	}
	if (s->close.n)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: no such function (there are %s%s)", s->word, list,
				   s->close.n == CLOSE ? ", perhaps more" : "");
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
	s->lost |= s->close.lost;
}

int hlg_places_find(struct hlg_found_places *places, const struct hlg_space *space,
		    const char *word, struct hlg_err *err)
{
	struct search s = {.places = places, .word = word};
	int rc = 0;

	search_all(&s, space);
	if (!s.lost && !s.found && s.close.n == 1) { /* word is a part of one name */
		struct search whole = {.places = places, .word = s.close.line[0]};

		search_all(&whole, space);
		s.found = whole.found;
		s.lost = whole.lost;
		hlg_note_list_finish(&whole.close);
	}
	if (s.lost)
		rc = hlg_err_memory(err, word);
	else if (!s.found)
		rc = tell_none(&s, space, err);
	hlg_note_list_finish(&s.close);
	return rc;
}

int hlg_places_find_ip(struct hlg_found_places *places, const struct hlg_space *space,
		       uint64_t ip, struct hlg_err *err)
{
	struct hlg_place place;

	hlg_space_lookup(space, ip, &place);
	return add(places, &place) ? 0 : hlg_err_memory(err, "address");
}

void hlg_places_finish(struct hlg_found_places *places)
{
	free(places->place);
	*places = (struct hlg_found_places){0};
}
