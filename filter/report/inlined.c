// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/inlined.h"

#include <stdlib.h>
#include <string.h>

#include "filter/profile/index.h"
#include "symtab/grow.h"

/* An address that was asked for, and its functions in numbers. */
struct asked {
	uint64_t ip;
	size_t first, n;
};

struct hlg_inlined {
	const struct hlg_inlined_source *source;
	const struct hlg_space *space;
	struct hlg_inlined_function *functions;
	uint32_t n_functions;
	struct hlg_index function_index;
	struct asked *asked;
	uint32_t n_asked;
	struct hlg_index asked_index;
	uint32_t *numbers;
	size_t n_numbers;
};

struct hlg_inlined *hlg_inlined_open(const struct hlg_inlined_source *source,
				     const struct hlg_space *space)
{
	struct hlg_inlined *inlined = calloc(1, sizeof(*inlined));

	if (inlined) {
		inlined->source = source;
		inlined->space = space;
	}
	return inlined;
}

void hlg_inlined_close(struct hlg_inlined *inlined)
{
	if (!inlined)
		return;
	free(inlined->functions);
	free(inlined->asked);
	free(inlined->numbers);
	hlg_index_finish(&inlined->function_index);
	hlg_index_finish(&inlined->asked_index);
	free(inlined);
}

struct search {
	const struct hlg_inlined *inlined;
	struct hlg_inlined_function function;
	uint64_t ip;
};

static bool same_function(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct hlg_inlined_function *f = &search->inlined->functions[number];

	return f->image == search->function.image &&
	       strcmp(f->name, search->function.name) == 0;
}

static bool same_ip(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;

	return search->inlined->asked[number].ip == search->ip;
}

/* The number of a function, known or new; HLG_INDEX_NONE without memory. */
static uint32_t number_function(struct hlg_inlined *inlined,
				struct hlg_inlined_function function)
{
	const struct search search = {inlined, function, 0};
	uint64_t hash = hlg_hash_word(hlg_hash_text(HLG_HASH_SEED, function.name),
				      (uintptr_t)function.image);
	uint32_t known =
		hlg_index_find(&inlined->function_index, hash, same_function, &search);

	if (known != HLG_INDEX_NONE)
		return known;
	if (!HLG_GROW(inlined->functions, inlined->n_functions) ||
	    !hlg_index_add(&inlined->function_index, hash, inlined->n_functions))
		return HLG_INDEX_NONE;
	inlined->functions[inlined->n_functions] = function;
	return inlined->n_functions++;
}

/* Asks for an address the first time. False without memory. */
static bool ask(struct hlg_inlined *inlined, uint64_t ip, struct asked *asked)
{
	const char *names[HLG_INLINED_MAX];
	struct hlg_place place;
	size_t n = 0;

	hlg_space_lookup(inlined->space, ip, &place);
	if (place.image)
		n = inlined->source->at(inlined->source->ctx, place.image, place.addr,
					names, HLG_INLINED_MAX);
	if (n == HLG_INLINED_LOST)
		return false;
	*asked = (struct asked){ip, inlined->n_numbers, n};
	for (size_t i = 0; i < n; i++) {
		uint32_t number = number_function(
			inlined, (struct hlg_inlined_function){place.image, names[i]});

		if (number == HLG_INDEX_NONE ||
		    !HLG_GROW(inlined->numbers, inlined->n_numbers))
			return false;
		inlined->numbers[inlined->n_numbers++] = number;
	}
	return true;
}

bool hlg_inlined_find(struct hlg_inlined *inlined, uint64_t ip, const uint32_t **list,
		      size_t *n)
{
	const struct search search = {.inlined = inlined, .ip = ip};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, ip);
	uint32_t known = hlg_index_find(&inlined->asked_index, hash, same_ip, &search);

	if (known == HLG_INDEX_NONE) {
		struct asked asked;

		if (!ask(inlined, ip, &asked) ||
		    !HLG_GROW(inlined->asked, inlined->n_asked) ||
		    !hlg_index_add(&inlined->asked_index, hash, inlined->n_asked))
			return false;
		inlined->asked[inlined->n_asked] = asked;
		known = inlined->n_asked++;
	}
	*n = inlined->asked[known].n;
	*list = *n ? inlined->numbers + inlined->asked[known].first : NULL;
	return true;
}

uint32_t hlg_inlined_functions(const struct hlg_inlined *inlined)
{
	return inlined->n_functions;
}

const struct hlg_inlined_function *hlg_inlined_get(const struct hlg_inlined *inlined,
						   uint32_t number)
{
	return &inlined->functions[number];
}
