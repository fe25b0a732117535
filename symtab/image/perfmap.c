// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/image/perfmap.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/grow.h"

/* Reads one hexadecimal number and the blanks behind it; NULL if there is none. */
static char *read_hex(char *s, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)*s))
		return NULL;
	errno = 0;
	*value = strtoull(s, &end, 16);
	if (errno || (*end != ' ' && *end != '\t'))
		return NULL;
	return end + strspn(end, " \t");
}

static bool read_line(char *line, const char *names, struct hlg_symbol *out)
{
	uint64_t start, size;
	char *s = read_hex(line, &start);

	s = s ? read_hex(s, &size) : NULL;
	if (!s || *s == '\0' || size == 0 || size > UINT64_MAX - start)
		return false;
	*out = (struct hlg_symbol){
		.addr = start, .end = start + size, .name = (uint32_t)(s - names)};
	return true;
}

/* Cuts the text into lines in place and keeps the symbols of the good ones. False without
 * memory. */
static bool read_lines(struct hlg_symtab *tab, char *end, size_t *skipped)
{
	for (char *line = tab->names, *next; line < end; line = next) {
		char *stop = memchr(line, '\n', (size_t)(end - line));

		next = stop ? stop + 1 : end;
		stop = stop ? stop : end;
		if (stop > line && stop[-1] == '\r')
			stop--;
		*stop = '\0';
		if (stop == line)
			continue;
		if (!HLG_GROW(tab->syms, tab->n_syms))
			return false;
		if (tab->n_syms == HLG_MAX_SYMBOLS ||
		    strlen(line) != (size_t)(stop - line) ||
		    !read_line(line, tab->names, &tab->syms[tab->n_syms])) {
			++*skipped;
			continue;
		}
		tab->syms[tab->n_syms].index = (uint32_t)tab->n_syms;
		tab->n_syms++;
	}
	return true;
}

static int read_text(const char *path, struct hlg_symtab *tab, size_t *size,
		     struct hlg_err *err)
{
	struct hlg_file_id id;
	int fd = hlg_file_open(path, &id, err), rc = 0;

	if (fd < 0)
		return fd;
	*size = (size_t)id.size;
	if (*size < UINT32_MAX)
		tab->names = malloc(*size + 1);
	if (*size >= UINT32_MAX)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is 4 GiB or more (no perf map is; name another)",
				 path);
	else if (!tab->names)
		rc = hlg_err_memory(err, path);
	else if (hlg_file_read(fd, tab->names, *size, 0) < 0)
		rc = hlg_file_fail_read(path, errno, err);
	close(fd);
	return rc;
}

int hlg_perfmap_read(const char *path, struct hlg_symtab *tab, size_t *skipped,
		     struct hlg_err *err)
{
	size_t size;
	int rc;

	*tab = (struct hlg_symtab){.later_wins = true};
	*skipped = 0;
	rc = read_text(path, tab, &size, err);
	if (rc < 0)
		return rc;
	if (!read_lines(tab, tab->names + size, skipped))
		return hlg_err_memory(err, path);
	if (tab->n_syms == 0)
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: has no line of a perf map (START SIZE NAME, in hex)", path);
	hlg_symbol_sort(tab);
	return 0;
}

int hlg_perfmap_areas(const struct hlg_symtab *tab, const char *path,
		      struct hlg_area **areas, size_t *n_areas, struct hlg_err *err)
{
	struct hlg_area *last = NULL;

	*n_areas = 0;
	*areas = malloc(tab->n_syms * sizeof(**areas));
	if (!*areas)
		return hlg_err_memory(err, path);
	for (size_t i = 0; i < tab->n_syms; i++) {
		const struct hlg_symbol *sym = &tab->syms[i];

		if (!last || sym->addr > last->end) {
			last = &(*areas)[(*n_areas)++];
			*last = (struct hlg_area){sym->addr, sym->end, 0, true};
		} else if (sym->end > last->end) {
			last->end = sym->end;
		}
	}
	return 0;
}
