// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/sources.h"

#include <stdio.h>
#include <stdlib.h>

bool hlg_sources_open(struct hlg_sources *s, const struct hlg_space *space)
{
	*s = (struct hlg_sources){
		.space = space,
		.source = calloc(space->n_images + 1, sizeof(*s->source)),
		.tried = calloc(space->n_images + 1, sizeof(*s->tried)),
	};
	return s->source && s->tried;
}

struct hlg_source *hlg_sources_of(struct hlg_sources *s, const struct hlg_image *image)
{
	size_t i = hlg_space_has(s->space, image) ? image->number : s->space->n_images;

	if (i == s->space->n_images)
		return NULL;
	if (!s->tried[i] && !image->map) {
		struct hlg_err err;

		s->source[i] = hlg_source_open(image->path, &err);
		if (err.msg[0])
			fprintf(stderr, "hlguest: %s\n", err.msg);
	}
	s->tried[i] = true;
	return s->source[i];
}

void hlg_sources_close(struct hlg_sources *s)
{
	for (size_t i = 0; s->source && i < s->space->n_images; i++)
		hlg_source_close(s->source[i]);
	free(s->source);
	free(s->tried);
	*s = (struct hlg_sources){0};
}
