// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/event-names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/event.h"
#include "filter/profile/select.h"
#include "symtab/grow.h"

bool hlg_event_names_add(struct hlg_event_names *names, const char *recorded)
{
	char *plain;
	uint32_t number;

	if (hlg_strings_find(&names->recorded, recorded) != HLG_NO_STRING)
		return true;
	plain = hlg_event_plain(recorded);
	number = plain ? hlg_strings_find(&names->plain, plain) : HLG_NO_STRING;
	if (plain && number == HLG_NO_STRING && HLG_GROW(names->n_of, names->plain.n)) {
		number = hlg_strings_add(&names->plain, plain);
		if (number != HLG_NO_STRING)
			names->n_of[number - 1] = 0;
	}
	free(plain);
	if (number == HLG_NO_STRING ||
	    hlg_strings_add(&names->recorded, recorded) == HLG_NO_STRING)
		return false;
	names->n_of[number - 1]++;
	return true;
}

/* The colon in front of a name's modifiers, or its end. */
static const char *modifiers_of(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon && hlg_event_are_modifiers(colon + 1) ? colon : name + strlen(name);
}

/* "kvm:kvm_exit". */
static bool is_tracepoint(const char *name)
{
	return !strchr(name, '/') &&
	       memchr(name, ':', (size_t)(modifiers_of(name) - name));
}

/* "cycles:u" with slashes: "cycles//u", with more if another has that name. */
static char *with_slashes(const struct hlg_event_names *names, const char *recorded)
{
	const char *modifiers = modifiers_of(recorded);
	const size_t n = (size_t)(modifiers - recorded);
	char *name = NULL, *longer;

	if (asprintf(&name, "%.*s//%s", (int)n, recorded,
		     *modifiers ? modifiers + 1 : "") < 0)
		return NULL;
	while (name && hlg_strings_find(&names->recorded, name) != HLG_NO_STRING) {
		if (asprintf(&longer, "%.*s//%s", (int)n, recorded, name + n) < 0)
			longer = NULL;
		free(name);
		name = longer;
	}
	return name;
}

char *hlg_event_names_called(const struct hlg_event_names *names, const char *recorded,
			     const struct hlg_options *options)
{
	char *plain = hlg_event_plain(recorded), *own;
	uint32_t number = plain ? hlg_strings_find(&names->plain, plain) : HLG_NO_STRING;

	if (number == HLG_NO_STRING ||
	    (names->n_of[number - 1] == 1 &&
	     (!hlg_select_by_terms(options) || is_tracepoint(recorded))))
		return plain;
	own = strcmp(recorded, plain) == 0 ? with_slashes(names, recorded)
					   : strdup(recorded);
	free(plain);
	return own;
}

void hlg_event_names_finish(struct hlg_event_names *names)
{
	hlg_strings_finish(&names->recorded);
	hlg_strings_finish(&names->plain);
	free(names->n_of);
	memset(names, 0, sizeof(*names));
}
